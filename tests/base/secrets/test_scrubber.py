"""Keys are removed from texts in any spelling, and ordinary texts are unchanged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hvr
from hvr.base.secrets import Scrubber
from tests.base.secrets.keys import IN_CONTEXT, KNOWN, LOOKALIKES, spellings, traces

ROOT = Path(hvr.__file__).parent.parent
PROSE = "1. (navigate_to_obj, mug-1): pick up the mug.\n"


@pytest.mark.parametrize("spelled", [text for _, text in spellings(KNOWN)],
                         ids=[name for name, _ in spellings(KNOWN)])  # fmt: skip
def test_a_known_key_is_found_however_it_is_spelled(spelled: str) -> None:
    scrubber = Scrubber((KNOWN,))
    for text in (spelled, f'{PROSE}{{"k": "{spelled}"}} {PROSE}', f"x{spelled}x", spelled * 3):
        left = scrubber.text(text).lower()
        assert "[key]" in left
        assert not [trace for trace in traces(KNOWN) if trace in left]
    assert scrubber.text(f"{PROSE}{spelled}{PROSE}").startswith(PROSE[:20])


keys = st.text("abcXYZ019-_./+=", min_size=8, max_size=60).filter(
    lambda key: len(key.replace("+", "")) >= 8
)


@pytest.mark.slow
@given(keys, st.integers(0, 30), st.text(max_size=20), st.text(max_size=20))
def test_any_key_is_found_in_any_spelling_between_any_texts(
    key: str, way: int, before: str, behind: str
) -> None:
    ways = [text for name, text in spellings(key) if "part" not in name]
    scrubber = Scrubber((key,))
    once = scrubber.text(before + ways[way % len(ways)] + behind)
    assert key.lower() not in once.lower()
    assert scrubber.text(once) == once


@pytest.mark.parametrize("kind", LOOKALIKES)
@pytest.mark.parametrize(
    "text",
    ["{}", "key: {}.", "\\n{}\\n", '{{"a": "{}"}}', "%20{}", "Incorrect API key ({})", "a={}&b"],
)
def test_what_looks_like_a_key_is_taken_out(kind: str, text: str) -> None:
    key = LOOKALIKES[kind]
    left = Scrubber().text(text.format(key))
    assert "[key]" in left
    assert key not in left and key[6:-4] not in left


@pytest.mark.parametrize("kind", IN_CONTEXT)
def test_what_stands_where_a_key_stands_is_taken_out(kind: str) -> None:
    text, key = IN_CONTEXT[kind]
    left = Scrubber().text(text.format(key))
    assert left == text.format("[key]").replace("robot:[key]", "[key]")


def test_a_private_key_is_taken_out_whole() -> None:
    lines = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"] * 9)
    text = f"a -----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY----- b"
    assert Scrubber().text(text) == "a [key] b"


def test_the_keys_of_an_environment_are_known() -> None:
    environ = {
        "HVR_LLM_API_KEY": "only-small-letters",
        "MY_SERVER_TOKEN": "q7zw9qp2lm4nk6jh",
        "AWS_SECRET_ACCESS_KEY": LOOKALIKES["AWS, secret"],
        "DB_PASSWORD": "Tr0ub4dor-and-3",
    }
    scrubber = Scrubber.of(environ, "given-by-a-caller")
    assert scrubber.text(" ".join([*environ.values(), "given-by-a-caller"])) == " ".join(
        ["[key]"] * 5
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HVR_LLM_API_KEY", "none"),
        ("OPENAI_API_KEY", "EMPTY"),
        ("SERVICE_TOKEN", "version2"),
        ("SIGNING_KEY", "/home/robot/keys/signing-1.pem"),
        ("MAX_TOKEN", "1000000000000"),
        ("BUILD_SECRET", "not-set-in-this-place"),
        ("MONKEYS", "q7zw9qp2lm4nk6jh"),
    ],
)
def test_placeholders_paths_and_numbers_are_no_keys(name: str, value: str) -> None:
    assert Scrubber.of({name: value}).text(f"it says {value} here") == f"it says {value} here"


def corpus() -> list[Path]:
    """Return texts that hvr reads and prints: domains, tasks, prompts, words, pages."""
    names = ("domains", "ontology", "tasks", "docs", "hvr")
    folders = [ROOT / name for name in names]
    kinds = {".pddl", ".ttl", ".txt", ".json", ".yaml", ".md"}
    return sorted(
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.suffix in kinds and path.stat().st_size < 1_000_000
    )


@pytest.mark.slow
def test_ordinary_texts_stay_as_they_are() -> None:
    scrubber = Scrubber((KNOWN, *LOOKALIKES.values()))
    texts = {path: path.read_text(encoding="utf-8") for path in corpus()}
    assert len(texts) > 50
    assert [path for path, text in texts.items() if scrubber.text(text) != text] == []


@pytest.mark.parametrize(
    "text",
    [
        "Slice the basic ingredients16 and put them on the basic FloorPlan16 plate",
        "the bearer of responsibilities brings the mug-1",
        "KeyChain: KeyChain|-01.23|+00.91|-02.17",
        '{"max_tokens": 1024, "usage": {"prompt_tokens": 123456789}}',
        "token: navigate_to_obj",
        "a task-specific-goal-condition-1 of a desk-lamp-on-the-table-12",
        "see http://localhost:8000/v1/chat/completions, mail me@example.org",
        "sha256 5f2b9c1e8d7a6f5e4d3c2b1a0f9e8d7c6b5a4f3e2d1c0b9a8f7e6d5c4b3a2f1e",
        "4d3c2b1a0f9e8d7c6b5a4f3e2d1c0b9a8f7e6d5c is a commit",
        "the api key is missing; password: required",
        "put tomatosliced-1 in/on the countertop-2",
    ],
)
def test_ordinary_sentences_stay_as_they_are(text: str) -> None:
    assert Scrubber((KNOWN,)).text(text) == text


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    ["a", "\\", "%25", "&#0", "eyJ", "eyJaaaaaa.", "sk-", "bearer ", "://a:", "?key=", "api_key",
     'api_key":', "api_key        ", "AKIA", "key ", "-----BEGIN PRIVATE KEY-----", KNOWN,
     KNOWN[:-1], KNOWN[:12], "\u200b"],
)  # fmt: skip
def test_no_text_makes_it_look_again_and_again(part: str) -> None:
    """The test would never end if the time were not linear in the length."""
    scrubber = Scrubber((KNOWN, "a" * 40))
    assert scrubber.text(part * (300_000 // len(part))) is not None


def test_values_are_freed_of_keys_wherever_they_stand() -> None:
    value = {"a": [KNOWN, {"b": (1, None, True, f"x {KNOWN}")}], KNOWN: 2.5}
    cleaned = Scrubber((KNOWN,)).value(value)
    assert cleaned == {"a": ["[key]", {"b": [1, None, True, "x [key]"]}], "[key]": 2.5}
    assert json.loads(Scrubber((KNOWN,)).text(json.dumps(value))) == json.loads(json.dumps(cleaned))


def test_a_scrubber_does_not_show_what_it_knows() -> None:
    assert KNOWN not in repr(Scrubber((KNOWN,)))
