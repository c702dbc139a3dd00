"""The options that say which language model is asked, and how: one group for all commands."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.doors.cli.arguments import real, seconds, whole, words
from hvr.doors.cli.trust import add_trust
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.models.budget import Limits
    from hvr.models.choice import ModelChoice

# By the fields of ModelChoice; a limit is `max_` and a field of its Limits.
_OPTIONS: dict[str, dict[str, Any]] = {
    "spec": {
        "flag": "--llm", "metavar": "MODEL", "type": words,
        "help": "openai:MODEL, gemini:MODEL, hf:NAME, replay:RUN or scripted:... "
                "(default: $HVR_LLM)",
    },
    "base_url": {"metavar": "URL", "type": words, "help": "address of the model's server"},
    "setting": {
        "help": "HVR+, HVR, HV, HR, VR, R or LLM, and switches, as in HVR+planner_repair; or "
                "LLM+P, the policy goal (default: HVR+)",
    },
    "embedder": {
        "help": "what maps names to objects: lexical, minilm, st:NAME, openai:MODEL or "
                "gemini:MODEL (default: lexical)",
    },
    "prompts": {"metavar": "FOLDER", "type": Path, "help": "folder of your own prompts"},
    "library": {
        "metavar": "FILE", "type": Path,
        "help": "macro actions to use and to add to (default: $HVR_LIBRARY, or none)",
    },
    "cache": {
        "metavar": "FILE", "type": Path,
        "help": "file of answers, so that none is paid for twice",
    },
    "temperature": {
        "metavar": "T", "type": real, "help": "of the model's sampling (default: 0)",
    },
    "timeout": {
        "metavar": "SECONDS", "type": seconds,
        "help": "for a request at most (default: $HVR_LLM_TIMEOUT, or 60)",
    },
    "calls_per_plan": {
        "metavar": "N", "type": whole,
        "help": "requests for a plan at most (default: $HVR_LLM_CALLS_PER_PLAN, or 100)",
    },
    "max_calls": {
        "metavar": "N", "type": whole,
        "help": "requests to the model at most (default: $HVR_LLM_CALLS_PER_PLAN, or 100)",
    },
    "max_tokens": {"metavar": "N", "type": whole, "help": "tokens at most, prompts and answers"},
    "max_dollars": {"metavar": "N", "type": real, "help": "US dollars at most"},
}  # fmt: skip
_OF_MANY_PLANS = {"max_calls": {"metavar": "N", "type": whole, "help": "requests at most, in all"}}
_LIMITS = ("calls", "tokens", "dollars")
_LIBRARY = "HVR_LIBRARY"

OF_A_PLAN = tuple(field for field in _OPTIONS if field != "calls_per_plan")
"""The fields of a command that makes one plan: the most calls are those of the plan."""


def add_model_options(parser: argparse.ArgumentParser, fields: Sequence[str] = OF_A_PLAN) -> None:
    """Add the options of some fields as a group of their own; what is not given stays unset."""
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
    """Raise if options were given that only matter where a language model is asked.

    Args:
        args: what was read.
        why: why none is asked, and what to do.

    Raises:
        UsageError: there are such options.
    """
    given = next((name for name in given_model_options(args) if name != "spec"), None)
    if given is not None:
        raise UsageError(f"{given} is for a language model, and {why}", field=given)


def given_model_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options that were given, by their fields; not those of the environment."""
    given = {field: value for field, value in vars(args).items() if field in _OPTIONS}
    if str(given.get("library")) == str(os.environ.get(_LIBRARY) or None):
        given.pop("library", None)
    return given


def model_choice(args: argparse.Namespace) -> ModelChoice:
    """Return what was chosen; fields without an option keep their usual values."""
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
    from hvr.models.budget import Limits

    return Limits(**values)
