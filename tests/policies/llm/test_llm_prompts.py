"""Prompt templates: hvr's own and a user's folder."""

from __future__ import annotations

import hashlib
from pathlib import Path
from string import Template

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import DataFileError
from hvr.policies.llm.dialogue import MAX_TOKENS
from hvr.policies.llm.prompts import DEFAULT_PROMPTS, NAMES, STRUCTURED_NAMES, Prompts, load_prompts

OWN = load_prompts()
STRUCTURED = load_prompts(structured=True)
ANY_WORLD = load_prompts(world=DEFAULT_PROMPTS, structured=True)
USER = "[user]\nTask: $request, kinds: $classes\n"


def own_folder(tmp_path: Path, name: str, content: str | bytes) -> Path:
    data = content if isinstance(content, bytes) else content.encode()
    (tmp_path / f"{name}.txt").write_bytes(data)
    return tmp_path


@pytest.mark.parametrize("name", sorted(NAMES))
def test_the_placeholders_of_a_template_are_exactly_those_that_are_filled(name: str) -> None:
    found = {i for _, text in OWN[name].turns for i in Template(text).get_identifiers()}
    assert found == NAMES[name]


@pytest.mark.parametrize("name", sorted(NAMES))
def test_each_template_can_be_filled_and_asks_the_user_at_last(name: str) -> None:
    values = {placeholder: f"<the {placeholder} of it>" for placeholder in NAMES[name]}
    messages = OWN[name].fill(values)
    text = "\n".join(m.text for m in messages)
    assert all(value in text for value in values.values())
    assert "$" not in text
    assert messages[-1].role == "user"
    assert [m.role for m in messages].count("system") == 1
    assert name in MAX_TOKENS


@pytest.mark.parametrize("name", sorted(STRUCTURED_NAMES))
def test_structured_templates_use_only_values_that_are_filled(name: str) -> None:
    for prompts in (STRUCTURED, ANY_WORLD):
        found = {i for _, text in prompts[name].turns for i in Template(text).get_identifiers()}
        assert found <= STRUCTURED_NAMES[name]
        assert prompts[name] != OWN.by_name.get(name)


@given(st.text(max_size=60))
def test_what_is_filled_in_is_taken_as_it_is(value: str) -> None:
    filled = OWN["select"].fill({"request": value, "classes": "$request [user]"})
    assert len(filled) == len(OWN["select"].turns)
    assert value in filled[-1].text
    assert "$request [user]" in filled[-1].text


def test_a_users_template_takes_the_place_of_hvrs_own(tmp_path: Path) -> None:
    prompts = load_prompts(own_folder(tmp_path, "select", USER))
    filled = prompts["select"].fill({"request": "make tea", "classes": "Mug"})
    assert [(m.role, m.text) for m in filled] == [("user", "Task: make tea, kinds: Mug")]
    for name in NAMES.keys() - {"select"}:
        assert prompts[name] == OWN[name]


def test_an_empty_folder_changes_nothing(tmp_path: Path) -> None:
    assert load_prompts(tmp_path) == OWN


def digests_of(tmp_path: Path, content: bytes) -> dict[str, str]:
    return load_prompts(own_folder(tmp_path, "select", content)).digests


def test_a_digest_changes_with_one_byte_and_with_nothing_else(tmp_path: Path) -> None:
    first = digests_of(tmp_path, USER.encode())
    second = digests_of(tmp_path, USER.replace("kinds", "kindz").encode())
    blank = digests_of(tmp_path, (USER + "\n").encode())
    assert len({first["select"], second["select"], blank["select"], OWN.digests["select"]}) == 4
    assert digests_of(tmp_path, USER.encode()) == first
    assert first["select"] == hashlib.sha256(USER.encode()).hexdigest()
    others = NAMES.keys() - {"select"}
    assert {n: first[n] for n in others} == {n: OWN.digests[n] for n in others}
    assert first.keys() == NAMES.keys()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[user]\nThe goal is $goal\n", r"'\$goal' is not a placeholder"),
        ("[user]\nA $macro\n", r"'\$macro' is not a placeholder"),
        ("[user]\nIt costs 3 $ or so\n", "dollar"),
        ("", "begin with a line"),
        ("Task: $request\n", "begin with a line"),
        ("first this\n" + USER, "begin with a line"),
        (USER + "[assistant]\nMug\n", r"end with a \[user\] turn"),
        (b"[user]\n\xff\xfe\n", "is not UTF-8"),
    ],
)
def test_a_template_that_cannot_be_used_is_named(
    tmp_path: Path, content: str | bytes, said: str
) -> None:
    with pytest.raises(DataFileError, match=said) as error:
        load_prompts(own_folder(tmp_path, "select", content))
    assert str(tmp_path / "select.txt") in str(error.value)


def test_the_names_that_are_known_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"placeholders: \$classes, \$request"):
        load_prompts(own_folder(tmp_path, "select", "[user]\n$requst"))


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="no such prompt folder"):
        load_prompts(tmp_path / "missing")


def test_a_template_that_is_no_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "block.txt").mkdir()
    with pytest.raises(DataFileError, match=r"block\.txt: it is a folder"):
        load_prompts(tmp_path)


def test_a_dollar_is_written_twice(tmp_path: Path) -> None:
    prompts: Prompts = load_prompts(own_folder(tmp_path, "select", "[user]\n$$5 for $request"))
    (message,) = prompts["select"].fill({"request": "tea", "classes": ""})
    assert message.text == "$5 for tea"
