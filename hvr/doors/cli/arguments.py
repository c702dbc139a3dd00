"""Command-line arguments: the parser, types of values, and options shared by commands."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from hvr.base import texts
from hvr.errors import HvrError, UsageError

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

    from hvr.base.engines.registry import EngineChoice
    from hvr.models.choice import ModelChoice
    from hvr.models.limits import Limits


# Arguments ----------------------------------------------------------------------------------------
# Parsing of arguments: errors become `UsageError`, and values have a range.

HELP = ("--help", "-h")
_MOST_JOBS = 256
_COLUMNS = (60, 80, 100)
_T = TypeVar("_T")


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """A help formatter that keeps line breaks and wraps lines at `columns()` characters."""

    def __init__(self, prog: str) -> None:
        # By default argparse imports shutil to find the width, even if no help is printed.
        super().__init__(prog, width=columns())


class ArgumentParser(argparse.ArgumentParser):
    """The parser of a command; it raises errors instead of printing usage and exiting.

    The `dest` of an option is the name of the library's parameter, so that `with_flags` can name
    the option in the library's errors.
    """

    hands_on = False
    """Whether the command parses its arguments itself; it then gets them as `words`."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, formatter_class=HelpFormatter, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} ({self.prog} --help shows options and examples)")

    def read(self, given: Sequence[str]) -> argparse.Namespace:
        """Parse arguments, with options in any position; raise a UsageError for invalid ones."""
        if self.hands_on:
            return argparse.Namespace(words=list(given))
        if self.usage is None:  # argparse's default lists every option
            shown = map(_shown, self._get_positional_actions())
            self.usage = " ".join([self.prog, "[OPTIONS]", *shown])
        args, surplus = self.parse_known_intermixed_args(list(given))
        if surplus:
            self._refuse(surplus)
        return args

    def listed(self) -> Sequence[argparse.Action]:
        """Return the arguments that the help lists, in order."""
        return [action for action in self._actions if action.help is not argparse.SUPPRESS]

    def flag(self, field: str) -> str | None:
        """Return the name of the option or argument that sets a field, or None."""
        for action in self._actions:
            if action.dest == field:
                long = [name for name in action.option_strings if name.startswith("--")]
                return long[0] if long else str(action.metavar or action.dest)
        return None

    def with_flags(self, error: HvrError) -> str:
        """Return an error's message with the name of the option in place of the field.

        If the message does not mention the field, the option is appended. If no option sets the
        field, the message is unchanged.
        """
        message = str(error)
        flag = self.flag(error.field) if error.field is not None else None
        if error.field is None or flag is None:
            return message
        named, times = re.subn(rf"(?<![\w./-]){error.field}(?![\w./:-])", flag, message)
        return named if times else f"{message} ({flag})"

    def _refuse(self, surplus: Sequence[str]) -> NoReturn:
        options = [word.partition("=")[0] for word in surplus if word.startswith("-")]
        if not options:
            self.error(f"unexpected argument {surplus[0]!r}")
        from hvr.base.printable import nearest

        near = nearest(options[0], self._option_string_actions)
        hint = f"; did you mean {near}?" if near else ""
        self.error(f"no option named {options[0]}{hint}")


def asks_for_help(given: Sequence[str]) -> bool:
    """Return whether `-h` or `--help` occurs before `--`; help takes precedence over errors."""
    options = given[: given.index("--")] if "--" in given else given
    return any(word in options for word in HELP)


def add_json(parser: argparse._ActionsContainer, text: str = "print JSON") -> None:
    parser.add_argument("--json", action="store_true", help=text)


def add_path(
    parser: argparse._ActionsContainer, name: str, text: str, metavar: str = "FILE", **more: Any
) -> None:
    """Add an option that takes a file or folder; `text` is its help."""
    parser.add_argument(name, metavar=metavar, type=as_path, help=text, **more)


def as_path(text: str) -> Path:
    from pathlib import Path

    return Path(text)


def utf8_text(text: str) -> str:
    """Return an argument, which must be valid UTF-8 because it is sent to a server or store."""
    try:
        # Python represents undecodable bytes as surrogates.
        return os.fsencode(text).decode("utf-8") if re.search("[\ud800-\udfff]", text) else text
    except UnicodeError:
        raise argparse.ArgumentTypeError(f"{text!a} is not UTF-8") from None


def number(text: str) -> Fraction:
    """Parse a number from 0 to 1,000,000 as an exact fraction."""
    _read(texts.parse_real, text)
    from fractions import Fraction

    return Fraction(text)


def real(text: str) -> float:
    return _read(texts.parse_real, text)


def seconds(text: str) -> float:
    """Parse a time in seconds, above 0 and at most 1,000,000."""
    value = real(text)
    if not value:
        raise argparse.ArgumentTypeError(f"a time must be positive, got {text}")
    return value


def gibibytes(text: str) -> int:
    """Parse a positive amount of memory in GiB, and return it in bytes."""
    value = real(text)
    if not value:
        raise argparse.ArgumentTypeError(f"an amount of memory must be positive, got {text}")
    return round(value * (1 << 30))


def whole_number(text: str) -> int:
    """Parse a non-negative integer."""
    return _read(texts.parse_integer, text)


def jobs(text: str) -> int:
    """Parse a number of processes; 0 means one per processor core."""
    value = whole_number(text)
    if value > _MOST_JOBS:
        raise argparse.ArgumentTypeError(f"must be at most {_MOST_JOBS} processes, got {value}")
    return value


def columns() -> int:
    """Return the width of help text: `$COLUMNS` or the terminal's width, within 60–100, else 80."""
    least, usual, most = _COLUMNS
    text = os.environ.get("COLUMNS", "")
    if text.isdecimal():
        return max(least, min(most, int(text)))
    try:
        return max(least, min(most, os.get_terminal_size().columns))
    except (OSError, ValueError, AttributeError):
        return usual


def _shown(positional: argparse.Action) -> str:
    name = str(positional.metavar or positional.dest)
    forms = {"?": f"[{name}]", "*": f"[{name}...]", "+": f"{name}..."}
    return forms.get(str(positional.nargs), name)


def _read(read: Callable[[str], _T], text: str) -> _T:
    try:
        return read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


# Options ------------------------------------------------------------------------------------------
# Options shared by several commands: trust, engines, language models.

# Trust --------------------------------------------------------------------------------------------


def add_trust(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add `--trust-project`, unless the parser already has it."""
    if parser.get_default("trust_project") is not None:
        return
    parser.add_argument(
        "--trust-project",
        action="store_true",
        default=False,
        help=(
            "trust the code, engines, model and model address named by worlds and the nearest "
            "pyproject.toml (see SECURITY.md)"
        ),
    )


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add `--run` to a command that otherwise only inspects a world."""
    parser.add_argument(
        "--run",
        action="store_true",
        help="run the world's own code: open its environment or tools, or start its server",
    )


# Engine options -----------------------------------------------------------------------------------

_SECTION = "tool.hvr.engine"
_SETTINGS = ("name", "address")
_OWN = (None, "here", "processes")
"""Engines that a project's settings may select, since they run no third-party code and no other
machine.
"""


def add_engine_options(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup, when: str = ""
) -> None:
    """Add `--engine` and `--address`, whose help begins with `when`, and `--trust-project`."""
    parser.add_argument(
        "--engine",
        metavar="NAME",
        help=(
            f"{when}engine that does the work: here (in this process), processes, or ray, which "
            "needs the extra ray (default: HVR_ENGINE, then name in [tool.hvr.engine] of "
            "pyproject.toml, then processes if --jobs is above 1)"
        ),
    )
    parser.add_argument(
        "--address",
        help=(
            f"{when}address of a Ray cluster, such as auto or ray://HOST:10001, which needs "
            "ray[client] (default: address in [tool.hvr.engine]; else start a local cluster)"
        ),
    )
    add_trust(parser)


def engine_choice(args: argparse.Namespace) -> EngineChoice:
    """Return the engine named by an option, or else by HVR_ENGINE, or else by pyproject.toml.

    If none is named, the number of jobs decides. Unless the project is trusted, engines that run
    third-party code and addresses in pyproject.toml are ignored, and a note is printed.
    """
    from hvr.base.engines.registry import EngineChoice
    from hvr.doors.cli.process import prepare_worker

    name, address = _named(args)
    return EngineChoice(name, args.jobs, address, prepare_worker)


def other_engine(args: argparse.Namespace) -> EngineChoice | None:
    """Return the engine of `engine_choice`, or None if the work is to be done in this process."""
    name, address = _named(args)
    if name in (None, "here") and address is None and (name == "here" or args.jobs == 1):
        return None
    return engine_choice(args)


def _named(args: argparse.Namespace) -> tuple[str | None, str | None]:
    from pathlib import Path

    section, file = _section(Path.cwd())
    name = args.engine or os.environ.get("HVR_ENGINE") or section.get("name")
    address = section.get("address") if name == section.get("name") else None
    if not args.trust_project:
        if name not in (args.engine, os.environ.get("HVR_ENGINE"), *_OWN):
            _ignored(file, f"name = {name!r}", f"--engine {name}")
            return None, args.address
        if address is not None and args.address is None:
            _ignored(file, f"address = {address!r}", f"--address {address}")
            address = None
    return name, args.address or address


def _ignored(file: Path | None, setting: str, option: str) -> None:
    from hvr.base.printable import one_line

    note = f"{file}: {setting} in [{_SECTION}] is ignored: a project must not choose what code "
    note += f"runs or where; give {option}, or --trust-project"
    print(f"note: {one_line(note)}", file=sys.stderr)


def _section(folder: Path) -> tuple[dict[str, str], Path | None]:
    from hvr.base.texts import read_toml

    for place in (folder, *folder.parents):
        file = place / "pyproject.toml"
        if not file.is_file():
            continue
        found = read_toml(file).get("tool", {}).get("hvr", {}).get("engine", {})
        if not isinstance(found, dict):
            raise UsageError(f"{file}: [{_SECTION}] must be a table")
        for key, value in found.items():
            if key not in _SETTINGS or not isinstance(value, str):
                raise UsageError(
                    f"{file}: [{_SECTION}] may contain only the strings name and "
                    f"address, got {key!r}"
                )
        return found, file
    return {}, None


# Model options ------------------------------------------------------------------------------------

# Keys are fields of ModelChoice, or of its Limits if they begin with `max_`.
_OPTIONS: dict[str, dict[str, Any]] = {
    "spec": {
        "flag": "--llm",
        "metavar": "MODEL",
        "type": utf8_text,
        "help": "openai:MODEL, gemini:MODEL, hf:NAME, replay:RUN or scripted:... "
        "(default: $HVR_LLM)",
    },
    "base_url": {"metavar": "URL", "type": utf8_text, "help": "address of the model's server"},
    "setting": {
        "help": "HVR+, HVR, HV, HR, VR, R or LLM, and switches, as in HVR+planner_repair; or "
        "LLM+P for the policy goal (default: HVR+)"
    },
    "embedder": {
        "help": "embedder that maps names to objects: lexical, minilm, st:NAME, openai:MODEL or "
        "gemini:MODEL (default: lexical)"
    },
    "prompts": {"metavar": "FOLDER", "type": as_path, "help": "folder of custom prompts"},
    "library": {
        "metavar": "FILE",
        "type": as_path,
        "help": "library of macro actions to use and extend (default: $HVR_LIBRARY, or none)",
    },
    "cache": {"metavar": "FILE", "type": as_path, "help": "cache file of answers"},
    "temperature": {
        "metavar": "T",
        "type": real,
        "help": "sampling temperature of the model (default: 0)",
    },
    "timeout": {
        "metavar": "SECONDS",
        "type": seconds,
        "help": "time limit of a request (default: $HVR_LLM_TIMEOUT, or 60)",
    },
    "calls_per_plan": {
        "metavar": "N",
        "type": whole_number,
        "help": "maximum number of requests per plan (default: $HVR_LLM_CALLS_PER_PLAN, or 100)",
    },
    "max_calls": {
        "metavar": "N",
        "type": whole_number,
        "help": "maximum number of requests (default: $HVR_LLM_CALLS_PER_PLAN, or 100)",
    },
    "max_tokens": {
        "metavar": "N",
        "type": whole_number,
        "help": "maximum number of tokens in prompts and answers",
    },
    "max_dollars": {"metavar": "N", "type": real, "help": "maximum cost in US dollars"},
}
_OF_MANY_PLANS = {
    "max_calls": {"metavar": "N", "type": whole_number, "help": "maximum total of requests"}
}
_LIMITS = ("calls", "tokens", "dollars")
_LIBRARY = "HVR_LIBRARY"

PLAN_FIELDS = tuple(field for field in _OPTIONS if field != "calls_per_plan")
"""Model options of commands that make one plan; their `max_calls` is the limit for this plan."""


def add_model_options(parser: argparse.ArgumentParser, fields: Sequence[str] = PLAN_FIELDS) -> None:
    """Add a group of model options, one for each field, and `--trust-project`.

    Options that are not given stay unset, except the library, whose default is `$HVR_LIBRARY`.
    """
    options = _OPTIONS | (_OF_MANY_PLANS if "calls_per_plan" in fields else {})
    group = parser.add_argument_group("language model")
    for field in fields:
        settings = {"default": argparse.SUPPRESS, **options[field]}
        flag = settings.pop("flag", f"--{field.replace('_', '-')}")
        if field == "library":
            settings["default"] = os.environ.get(_LIBRARY) or None
        group.add_argument(flag, dest=field, **settings)
    add_trust(group)


def refuse_model_options(args: argparse.Namespace, why: str) -> None:
    """Raise UsageError, with the reason `why`, if model options other than `--llm` are given."""
    given = next((name for name in given_model_options(args) if name != "spec"), None)
    if given is not None:
        raise UsageError(f"{given} requires a language model, but {why}", field=given)


def given_model_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the model options of the command line by field; `$HVR_LIBRARY` is not included."""
    given = {field: value for field, value in vars(args).items() if field in _OPTIONS}
    if str(given.get("library")) == str(os.environ.get(_LIBRARY) or None):
        given.pop("library", None)
    return given


def model_choice(args: argparse.Namespace) -> ModelChoice:
    """Return the chosen model; fields without an option have their defaults."""
    from hvr.models.choice import ModelChoice

    given = vars(args)
    fields = [field for field in _OPTIONS if not field.startswith("max_")]
    limits = {name: given.get(f"max_{name}") for name in _LIMITS}
    limited = any(limit is not None for limit in limits.values())
    return ModelChoice(
        trust_project=given.get("trust_project", False),
        **{field: given[field] for field in fields if field in given},
        limits=_limits(limits) if limited else None,
    )


def _limits(values: dict[str, Any]) -> Limits:
    from hvr.models.limits import Limits

    return Limits(**values)
