"""Options that several commands share: trust, engines, language models."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.doors.cli.arguments import real, seconds, utf8_text, whole_number
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.base.engines.registry import EngineChoice
    from hvr.models.choice import ModelChoice
    from hvr.models.limits import Limits


# Trust --------------------------------------------------------------------------------------------


def add_trust(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add `--trust-project`, unless the parser has it."""
    if parser.get_default("trust_project") is not None:
        return
    parser.add_argument(
        "--trust-project",
        action="store_true",
        default=False,
        help=(
            "trust what worlds and the nearest pyproject.toml name: code, engines, a model and its "
            "address (SECURITY.md)"
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
"""Engines that a project may choose: they run no foreign code and stay on this machine."""


def add_engine_options(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup, when: str = ""
) -> None:
    """Add `--engine` and `--address`; the command itself adds `--jobs`.

    Args:
        parser: The parser or group to extend.
        when: Beginning of the help texts, such as a condition for the options.
    """
    parser.add_argument(
        "--engine",
        metavar="NAME",
        help=(
            f"{when}where to do the work: here, processes, or ray (the extra ray) (default: "
            "HVR_ENGINE, then name in [tool.hvr.engine] of pyproject.toml, then processes if "
            "--jobs is above 1)"
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
    """Return the engine chosen by options, environment or pyproject.toml, in this order.

    Raises:
        UsageError: A name is unknown, or a setting is invalid.
        DataFileError: pyproject.toml cannot be read.
    """
    from hvr.base.engines.registry import EngineChoice
    from hvr.doors.cli.process import prepare_worker

    name, address = _named(args)
    return EngineChoice(name, args.jobs, address, prepare_worker)


def other_engine(args: argparse.Namespace) -> EngineChoice | None:
    """Return the chosen engine, or None for this process; see `engine_choice`."""
    name, address = _named(args)
    if name in (None, "here") and address is None and (name == "here" or args.jobs == 1):
        return None
    return engine_choice(args)


def _named(args: argparse.Namespace) -> tuple[str | None, str | None]:
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
    """Return the settings of the nearest pyproject.toml, and the file."""
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
                    f"{file}: [{_SECTION}] may contain only name and address as texts, got {key!r}"
                )
        return found, file
    return {}, None


# Model options ------------------------------------------------------------------------------------

# Keys are fields of ModelChoice; `max_` begins a field of its Limits.
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
        "LLM+P, the policy goal (default: HVR+)"
    },
    "embedder": {
        "help": "how to map names to objects: lexical, minilm, st:NAME, openai:MODEL or "
        "gemini:MODEL (default: lexical)"
    },
    "prompts": {"metavar": "FOLDER", "type": Path, "help": "folder of custom prompts"},
    "library": {
        "metavar": "FILE",
        "type": Path,
        "help": "library of macro actions to use and extend (default: $HVR_LIBRARY, or none)",
    },
    "cache": {"metavar": "FILE", "type": Path, "help": "cache file of answers"},
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
"""The fields of a command that makes one plan, so `max_calls` is the limit of that plan."""


def add_model_options(parser: argparse.ArgumentParser, fields: Sequence[str] = PLAN_FIELDS) -> None:
    """Add the options of some fields as a group; options that are not given stay unset."""
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
    """Refuse options that have no effect without a language model.

    Args:
        args: The parsed arguments.
        why: Why no model is used, and what to do.

    Raises:
        UsageError: Such options are given.
    """
    given = next((name for name in given_model_options(args) if name != "spec"), None)
    if given is not None:
        raise UsageError(f"{given} requires a language model, but {why}", field=given)


def given_model_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the given options by field, without defaults from the environment."""
    given = {field: value for field, value in vars(args).items() if field in _OPTIONS}
    if str(given.get("library")) == str(os.environ.get(_LIBRARY) or None):
        given.pop("library", None)
    return given


def model_choice(args: argparse.Namespace) -> ModelChoice:
    """Return the chosen model; fields without an option keep their defaults."""
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
