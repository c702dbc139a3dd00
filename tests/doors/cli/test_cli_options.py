"""Any value of any option is either accepted or rejected in one line."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import pytest

from hvr.errors import UsageError
from tests.base.test_numbers import HOSTILE
from tests.command_line import COMMANDS, Hvr, parser_of


def numeric(words: tuple[str, ...]) -> list[argparse.Action]:
    """Return the numeric options of a command."""
    actions = [a for a in parser_of(words)._actions if a.option_strings and a.type is not None]
    return [a for a in actions if not isinstance(value_of(a, "3"), str | Path)]


def value_of(action: argparse.Action, text: str) -> object:
    assert callable(action.type)
    return action.type(text)


NUMERIC = [(words, action) for words in COMMANDS for action in numeric(words)]


def test_the_options_are_found() -> None:
    flags = {" ".join(words) + " " + a.option_strings[0] for words, a in NUMERIC}
    assert flags >= {
        "plan --budget", "plan --seed", "plan --max-tokens", "plan --temperature",
        "validate --jobs", "validate --epsilon", "bench run --jobs", "scene serve --wait",
        "llm check --timeout", "tools train --epochs", "verify train --seed",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "action"), NUMERIC, ids=[f"{' '.join(w)} {a.option_strings[0]}" for w, a in NUMERIC]
)
def test_a_number_that_makes_no_sense_is_refused_with_its_option(
    words: tuple[str, ...], action: argparse.Action
) -> None:
    parser = parser_of(words)
    parser.hands_on = False
    flag = action.option_strings[0]
    for text in (*HOSTILE, "-1"):
        with pytest.raises(UsageError) as refused:
            # A single word, because the text may look like an option.
            parser.read([f"{flag}={text}"] if flag.startswith("--") else [flag, text])
        said = str(refused.value)
        assert flag in said and "\n" not in said and len(said) < 300, said
    usual = value_of(action, "3")
    assert isinstance(usual, int | float) or float(usual) == 3  # type: ignore[arg-type]
    assert math.isfinite(float(usual))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["plan", "make coffee"], "--budget"),
        (["bench"], "--jobs"),
        (["bench"], "--seeds"),
        (["validate", "d", "p", "plan"], "--tolerance"),
        (["scene", "serve"], "--port"),
        (["llm", "check", "openai:m"], "--timeout"),
    ],
)
@pytest.mark.parametrize("text", ["nan", "-1", "1e400", "", "1_000"])
def test_the_command_line_says_so(
    words: list[str], option: str, text: str, hvr_: Hvr, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    ended = hvr_(*words, f"{option}={text}")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: ") and ended.err.count("\n") == 1
    assert option in ended.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ["plan", "bring the caf\udce9"],
        ["plan", "x", "--llm", "openai:caf\udce9"],
        ["plan", "x", "--llm", "openai:m", "--base-url", "http://localhost/\udce9"],
        ["kg", "query", "ASK { ?caf\udce9 ?p ?o }"],
        ["llm", "check", "openai:\udce9"],
        ["tools", "retrieve", "model", "caf\udce9"],
        ["verify", "plan.json", "--request", "caf\udce9"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_texts_that_are_not_utf8_are_refused(words: list[str], hvr_: Hvr) -> None:
    ended = hvr_(*words)
    assert (ended.code, ended.out) == (2, "")
    assert "is not UTF-8" in ended.err and ended.err.count("\n") == 1


def test_a_minus_is_no_file_to_write(hvr_: Hvr, tmp_path: Path) -> None:
    ended = hvr_("show", tmp_path, "--html", "-")
    assert ended.code == 2 and "/dev/stdout" in ended.err
