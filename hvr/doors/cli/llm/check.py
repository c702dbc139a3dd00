"""`hvr llm check`: does a model answer?"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from hvr.doors.cli.arguments import add_json, seconds, words
from hvr.doors.cli.output import print_json
from hvr.doors.cli.trust import add_trust
from hvr.errors import LLMError, UsageError

if TYPE_CHECKING:
    from hvr.models.config import Chosen

_DESCRIPTION = """\
Say in one line whether a model answers.

Keys come from the environment: HVR_LLM_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY.
"""

_EPILOG = """\
examples:
  hvr llm check openai:gpt-4o-mini
  hvr llm check openai:llama3.2 --base-url http://localhost:11434/v1
  hvr llm check gemini:gemini-2.0-flash --json

exit codes:
  0  it answers
  1  it does not
  2  it cannot be asked
"""

_QUESTION = "Answer with the single word: ready"
# Models that think first need room before their answer.
_ANSWER_TOKENS = 256
_SHOWN = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument(
        "spec", metavar="MODEL", nargs="?", type=words,
        help="openai:MODEL, gemini:MODEL or hf:NAME (default: $HVR_LLM)",
    )  # fmt: skip
    parser.add_argument(
        "--base-url", metavar="URL", type=words,
        help="address of the server, such as http://localhost:8000/v1",
    )  # fmt: skip
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=seconds,
        help="how long to wait (default: $HVR_LLM_TIMEOUT, or 60)",
    )  # fmt: skip
    add_trust(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        UsageError: no model is named, or one that cannot be asked.
        MissingExtraError: a package that the model needs is not installed.
    """
    from hvr.models.config import read_config

    chosen = read_config(
        args.spec, base_url=args.base_url, timeout=args.timeout, trust_project=args.trust_project
    )
    result = _ask(chosen.trusted())
    if args.json:
        print_json(result, indent=2)
    else:
        print(_line(result))
    return 0 if result["answers"] else 1


def _ask(chosen: Chosen) -> dict[str, Any]:
    from hvr.models.factory import make_model
    from hvr.models.model import Message, Request
    from hvr.models.notices import notices
    from hvr.models.replay import Replay

    if chosen.spec is None:
        raise UsageError(
            "name a model, such as openai:gpt-4o-mini, here or in the variable HVR_LLM, or as "
            "model in [tool.hvr.llm] of pyproject.toml"
        )
    model = make_model(chosen.spec, chosen.options)
    request = Request(
        messages=(Message("user", _QUESTION),), purpose="check", max_tokens=_ANSWER_TOKENS
    )
    if isinstance(model, Replay):
        raise UsageError(f"{chosen.spec} is a recording: `hvr llm usage` shows what is in it")
    result: dict[str, Any] = {"model": chosen.spec, "answers": False}
    start = time.monotonic()
    try:
        with notices():
            answer = model.answer(request)
    except LLMError as error:
        return result | {"problem": str(error), "seconds": round(time.monotonic() - start, 2)}
    result["seconds"] = round(time.monotonic() - start, 2)
    return result | {
        "answers": True,
        "said": answer.text,
        "answered_by": answer.model,
        "usage": asdict(answer.usage),
    }


def _line(result: dict[str, Any]) -> str:
    if not result["answers"]:
        return f"{result['model']} answers: no. {result['problem']}"
    used = result["usage"]
    tokens = (
        f"{_number(used['input'])} tokens in, {_number(used['output'])} out"
        if used["input"] is not None or used["output"] is not None
        else "tokens unknown"
    )
    return (
        f"{result['model']} answers: yes, {_brief(result['said'])!r} "
        f"({result['seconds']:.2f} s, {tokens})"
    )


def _number(value: int | None) -> str:
    return "unknown" if value is None else str(value)


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"
