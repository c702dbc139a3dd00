"""The options that say which language model is asked, and how: one group for all commands."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.cli.arguments import real, whole, words

if TYPE_CHECKING:
    from hvr.llm.budget import Limits
    from hvr.llm.choice import ModelChoice

# By the fields of ModelChoice; a limit is `max_` and a field of its Limits.
_OPTIONS: dict[str, dict[str, Any]] = {
    "spec": {
        "flag": "--llm", "metavar": "MODEL", "type": words,
        "help": "openai:MODEL, gemini:MODEL, hf:NAME, replay:RUN or scripted:... "
                "(default: $HVR_LLM)",
    },
    "base_url": {"metavar": "URL", "type": words, "help": "address of the model's server"},
    "setting": {
        "default": "HVR+",
        "help": "HVR+, HVR, HV, HR, VR, R or LLM, and switches, as in HVR+planner_repair "
                "(default: %(default)s)",
    },
    "embedder": {
        "default": "lexical",
        "help": "what maps names to objects: lexical, minilm, st:NAME, openai:MODEL or "
                "gemini:MODEL (default: %(default)s)",
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
        "metavar": "T", "type": real, "default": 0.0,
        "help": "of the model's sampling (default: %(default)s)",
    },
    "max_calls": {"metavar": "N", "type": whole, "help": "requests to the model at most"},
    "max_tokens": {"metavar": "N", "type": whole, "help": "tokens at most, prompts and answers"},
    "max_dollars": {"metavar": "N", "type": real, "help": "US dollars at most"},
}  # fmt: skip
_LIMITS = ("calls", "tokens", "dollars")


def add_model_options(
    parser: argparse.ArgumentParser, fields: Sequence[str] = tuple(_OPTIONS)
) -> None:
    """Add the options, or those of some fields only, as a group of their own."""
    group = parser.add_argument_group("language model")
    for field in fields:
        settings = dict(_OPTIONS[field])
        flag = settings.pop("flag", f"--{field.replace('_', '-')}")
        if field == "library":
            settings["default"] = os.environ.get("HVR_LIBRARY") or None
        group.add_argument(flag, dest=field, **settings)


def model_choice(args: argparse.Namespace) -> ModelChoice:
    """Return what was chosen; fields without an option keep their usual values."""
    from hvr.llm.choice import ModelChoice

    given = vars(args)
    fields = [field for field in _OPTIONS if not field.startswith("max_")]
    limits = {name: given.get(f"max_{name}") for name in _LIMITS}
    limited = any(limit is not None for limit in limits.values())
    return ModelChoice(
        **{field: given[field] for field in fields if field in given},
        limits=_limits(limits) if limited else None,
    )


def _limits(values: dict[str, Any]) -> Limits:
    from hvr.llm.budget import Limits

    return Limits(**values)
