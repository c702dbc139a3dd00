"""Common features of all commands: help, hints, completion, and errors that name options."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hvr
from hvr.doors.cli.arguments import ArgumentParser, add_model_options, model_choice
from hvr.doors.cli.completion import SHELLS, bash, places
from hvr.doors.cli.main import HVR, Command, Group
from hvr.errors import DataFileError, HvrError, PlannerError, UsageError
from hvr.models.choice import ModelChoice
from hvr.models.limits import Limits
from tests.command_line import Hvr, commands

SOURCES = Path(hvr.__file__).resolve().parents[1]
ALL = tuple(commands())


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# Help -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("words", "command"), ALL, ids=[" ".join(words) for words, _ in ALL])
def test_every_command_explains_itself_with_an_example(
    words: tuple[str, ...], command: Command | Group, hvr_: Hvr, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    ended = hvr_(*words, "--help")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0].startswith(f"usage: hvr {' '.join(words)} ")
    called = f"hvr {' '.join(words)}".removesuffix(" run")  # optional in a call
    assert any(called in line for line in lines[1:]), "an example"
    assert max(map(len, lines)) <= 100
    if isinstance(command, Group):
        assert all(f"  {one.name} " in ended.out for one in command.commands)
    assert hvr_(*words, "-h").out == ended.out


def test_the_list_of_commands_costs_nothing() -> None:
    code = (
        "import sys; from hvr.doors.cli.main import main; main(['--help'])\n"
        "print(*sorted(m for m in sys.modules if m.startswith('hvr')))\n"
        "print(*({'rich', 'unified_planning', 'rdflib', 'dataclasses', 'json'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
    )  # fmt: skip
    *page, loaded, heavy = done.stdout.splitlines()
    assert loaded.split() == [
        "hvr", "hvr.base", "hvr.base.forks", "hvr.base.texts", "hvr.doors", "hvr.doors.cli",
        "hvr.doors.cli.arguments", "hvr.doors.cli.main", "hvr.doors.cli.process",
        "hvr.errors", "hvr.values",
    ]  # fmt: skip
    assert not heavy
    assert all(f"  {command.name} " in "\n".join(page) for command in HVR.commands)


@pytest.mark.parametrize("command", ["validate", "lint"])
def test_the_help_of_the_validator_loads_no_pddl(command: str) -> None:
    code = (
        f"import sys; from hvr.doors.cli.main import main; main([{command!r}, '--help'])\n"
        "print(*sorted(m for m in sys.modules if m.startswith('hvr.pddl')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
    )  # fmt: skip
    assert "usage: hvr" in done.stdout
    assert not done.stdout.splitlines()[-1]


@pytest.mark.slow
def test_options_are_known_without_what_commands_need() -> None:
    """Completion loads all parsers; slow imports wait until a command runs."""
    code = (
        "import sys; from hvr.doors.cli.main import main; main(['completion', 'bash'])\n"
        "print(*({'rich', 'rdflib', 'hvr.runs', 'hvr.knowledge', 'torch', 'numpy'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == ""


def test_without_a_command_the_commands_are_listed(hvr_: Hvr) -> None:
    for words in ((), ("kg",), ("llm",)):
        ended = hvr_(*words)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err == hvr_(*words, "--help").out


def test_the_version(hvr_: Hvr) -> None:
    assert hvr_("--version").out == f"hvr {hvr.__version__}\n"


# Hints ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["plna"], ["'plna'", "did you mean 'plan'?"]),
        (["--verison"], ["'--verison'", "did you mean '--version'?"]),
        (["kg", "shwo"], ["'shwo'", "did you mean 'show'?"]),
        (["kg", "--version"], ["hvr kg: no option named"]),
        (["plan", "--bduget", "3", "x"], ["--bduget", "did you mean --budget?"]),
        (["plan", "--bduget=3", "x"], ["--bduget", "did you mean --budget?"]),
        (["plan", "--scen", "FloorPlan1", "x"], ["--scen", "did you mean --scene?"]),
        (["plan", "--zzz"], ["no option named --zzz ("]),
        (["plan", "boil", "water"], ["unexpected argument 'water'"]),
        (["plan", "x", "--seed", "1.5"], ["--seed", "'1.5' is not a whole number"]),
        (["plan", "x", "--budget", "soon"], ["--budget", "'soon' is not a number"]),
        (["plan", "x", "--budget"], ["--budget", "expected one argument"]),
        (["kg", "query"], ["SPARQL"]),
        (["verify", "train", "plans.jsonl"], ["--tools"]),
        (["completion", "csh"], ["csh", "fish"]),
    ],
)
def test_a_slip_is_answered_in_one_line(words: list[str], parts: list[str], hvr_: Hvr) -> None:
    ended = hvr_(*words)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: ") and ended.err.count("\n") == 1
    for part in (*parts, "--help"):
        assert part in ended.err


def test_options_may_stand_among_arguments() -> None:
    parser = ArgumentParser("x")
    parser.add_argument("one")
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--flag", action="store_true")
    parser.add_argument("--value")
    args = parser.read(["a", "--flag", "b", "--value", "v", "c", "--", "--d"])
    assert (args.one, args.rest, args.flag, args.value) == ("a", ["b", "c", "--d"], True, "v")


# Errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (UsageError("max_replans must not be negative"), "max_replans must not be negative"),
        (
            UsageError("max_replans must not be negative", field="max_replans"),
            "--max-replans must not be negative",
        ),
        (PlannerError("a larger budget helps", field="budget"), "a larger --budget helps"),
        (DataFileError("save: choose another", field="save"), "save: choose another (--save)"),
        (DataFileError("/x/save is full", field="save"), "/x/save is full (--save)"),
        (UsageError("no model is named", field="spec"), "no model is named (--llm)"),
        (UsageError("it is empty", field="text"), "it is empty (TEXT)"),
        (UsageError("nobody knows it", field="other"), "nobody knows it"),
    ],
)
def test_a_field_is_told_as_its_option(error: HvrError, message: str) -> None:
    parser = ArgumentParser("x")
    parser.add_argument("text", metavar="TEXT")
    parser.add_argument("--llm", dest="spec")
    parser.add_argument("-s", "--save")
    parser.add_argument("--budget", action=argparse.BooleanOptionalAction)
    parser.add_argument("--max-replans")
    assert parser.with_flags(error) == message


def test_the_command_line_names_options_and_the_library_fields(hvr_: Hvr) -> None:
    from hvr.planning.search.planners import make_planner

    with pytest.raises(UsageError, match="budget must be positive") as raised:
        make_planner("fast-downward", 0)
    assert raised.value.field == "budget"
    ended = hvr_("plan", "open the fridge", "--error-rate", 0.7)
    assert "error: --error-rate must be at least 0 and below 0.5" in ended.err


# The language model ---------------------------------------------------------------------------


def test_the_choice_of_a_model_is_read_from_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HVR_LIBRARY", "mine.ttl")
    parser = ArgumentParser("x")
    add_model_options(parser)
    words = "--llm openai:m --cache c --temperature 0.5 --max-calls 3 --max-dollars 0"
    assert model_choice(parser.read(words.split())) == ModelChoice(
        spec="openai:m", cache=Path("c"), temperature=0.5, library=Path("mine.ttl"),
        limits=Limits(calls=3, dollars=0.0),
    )  # fmt: skip
    monkeypatch.setenv("HVR_LIBRARY", "")
    parser = ArgumentParser("x")
    add_model_options(parser, ("cache", "library"))
    assert model_choice(parser.read([])) == ModelChoice()


@pytest.mark.parametrize(
    "words",
    ["--max-calls 3", "--setting HVR+", "--temperature 0", "--cache c", "--base-url http://x/v1",
     "--embedder lexical", "--library l.ttl", "--timeout 5", "--prompts p", "--policy symbolic "
     "--max-dollars 1"],
)  # fmt: skip
def test_options_of_a_model_are_refused_where_none_plans(hvr_: Hvr, words: str) -> None:
    ended = hvr_("plan", "make coffee", *words.split())
    flag = words.split()[-2]
    assert ended.code == 2 and f"error: {flag} requires a language model" in ended.err
    assert "add --llm MODEL" in ended.err


def test_a_library_of_the_environment_is_not_refused(
    hvr_: Hvr, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HVR_LIBRARY", "mine.ttl")
    ended = hvr_("plan", "make coffee", "--scene", "nowhere")
    assert "nowhere" in ended.err and "language model" not in ended.err


@pytest.mark.parametrize("command", [("plan",), ("bench",)])
def test_the_help_says_how_many_calls_a_plan_may_take(hvr_: Hvr, command: tuple[str, ...]) -> None:
    told = " ".join(hvr_(*command, "--help").out.split())
    assert "$HVR_LLM_CALLS_PER_PLAN, or 100" in told and "$HVR_LLM_TIMEOUT, or 60" in told


@pytest.mark.slow
def test_the_environment_says_whether_plans_are_scored(
    hvr_: Hvr, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HVR_VERIFY", "perhaps")
    ended = hvr_("plan", "open the fridge", "--dry-run")
    assert ended.code == 2 and "HVR_VERIFY must be 1 or 0" in ended.err
    assert hvr_("plan", "open the fridge", "--dry-run", "--no-verify").code == 0


# Completion -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "offered", "not_offered"),
    [
        ([""], {"plan", "kg", "completion"}, {"--help"}),
        (["va"], {"validate"}, {"plan"}),
        (["--"], {"--version", "--help"}, {"plan"}),
        (["kg", ""], {"query", "show", "export", "check"}, {"plan"}),
        (["kg", "query", "--"], {"--scene", "--run", "--json"}, {"--budget"}),
        (["plan", "make coffee", "--max"], {"--max-replans", "--max-calls"}, {"--save"}),
        (["plan", "--env", "thor", "--no-"], {"--no-verify", "--no-dry-run"}, {"--verify"}),
        (["plan", "--save", ""], set(), {"plan", "--save"}),
        (["validate", "d", "p", "--format", "s"], {"sarif"}, {"text"}),
        (["validate", "--al"], {"--all-failures"}, set()),
        (["verify", ""], {"plan", "train", "correct"}, {"--svg"}),
        (["verify", "--s"], {"--svg"}, {"--seed"}),
        (["verify", "train", "--s"], {"--seed"}, {"--svg"}),
        (["bench", "--se"], {"--settings", "--seeds"}, {"show"}),
        (["completion", ""], {"bash", "zsh", "fish"}, set()),
    ],
)
def test_bash_completes(
    words: list[str], offered: set[str], not_offered: set[str], tmp_path: Path
) -> None:
    shell = shutil.which("bash")
    if shell is None:
        pytest.skip("bash is not installed")
    (tmp_path / "hvr.bash").write_text(bash(tuple(places(HVR, "hvr"))), encoding="utf-8")
    script = (
        'source hvr.bash; complete -p hvr >&2; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
        '_hvr; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        [shell, "--norc", "-euc", script, "bash", "hvr", *words],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "-F _hvr" in done.stderr
    completions = set(done.stdout.split())
    assert offered <= completions and not not_offered & completions
    assert all(completion.startswith(words[-1]) for completion in completions)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_gets_every_command_and_option(shell: str, hvr_: Hvr) -> None:
    script = hvr_("completion", shell).out
    for place in places(HVR, "hvr"):
        assert place.path in script
        for option in place.options:
            for name in option.names:
                assert (name.lstrip("-") if shell == "fish" else name) in script
    program = shutil.which(shell)
    if program is not None:
        subprocess.run([program, "-n"], input=script, text=True, check=True)
