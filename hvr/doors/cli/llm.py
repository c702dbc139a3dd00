"""`hvr llm`: checks that a model answers, and summarises the usage in a run."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.base.printable import console
from hvr.doors.cli.arguments import add_json, add_trust, seconds, utf8_text
from hvr.doors.cli.output import print_json
from hvr.errors import LLMError, UsageError

if TYPE_CHECKING:
    from hvr.models.config import ConfiguredModel
    from hvr.models.model import Amount, Totals


# Check --------------------------------------------------------------------------------------------

_CHECK_DESCRIPTION = """\
Check whether a model answers, and print one line.

Keys come from the environment: HVR_LLM_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY,
GEMINI_API_KEY.
"""

_CHECK_EPILOG = """\
examples:
  hvr llm check openai:gpt-4o-mini
  hvr llm check openai:llama3.2 --base-url http://localhost:11434/v1
  hvr llm check openai:llama3.2 --base-url http://localhost:11434/v1 --full
  hvr llm check gemini:gemini-2.0-flash --json

exit codes:
  0  the model answers
  1  it does not answer
  2  no usable model is named
"""

_QUESTION = "Answer with the single word: ready"
# Reasoning models need tokens before their answer.
_ANSWER_TOKENS = 256
_SHOWN = 60


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _CHECK_DESCRIPTION, _CHECK_EPILOG
    parser.add_argument(
        "spec",
        metavar="MODEL",
        nargs="?",
        type=utf8_text,
        help="openai:MODEL, responses:MODEL, anthropic:MODEL, gemini:MODEL or hf:NAME "
        "(default: $HVR_LLM)",
    )
    parser.add_argument(
        "--base-url",
        metavar="URL",
        type=utf8_text,
        help="address of the server, such as http://localhost:8000/v1",
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        help="time limit of the answer (default: $HVR_LLM_TIMEOUT, or 60)",
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="also test whether the model follows schemas and calls tools, and find how long "
        "its context is, and what it costs (up to 8 more short requests)",
    )
    add_trust(parser)
    add_json(parser)


def run_check(args: argparse.Namespace) -> int:
    from hvr.models.choice import ModelChoice
    from hvr.models.config import read_config

    names = ("spec", "base_url", "timeout", "trust_project")
    chosen = read_config(ModelChoice(**{name: getattr(args, name) for name in names}))
    result = _ask(chosen.trusted(), full=args.full)
    if args.json:
        print_json(result, indent=2)
    else:
        print(_line(result))
        for line in result.get("abilities", {}).values():
            print(line)
    return 0 if result["answers"] else 1


def _ask(chosen: ConfiguredModel, *, full: bool = False) -> dict[str, Any]:
    from hvr.models.connect import make_model
    from hvr.models.meter import notices
    from hvr.models.model import Message, Request
    from hvr.models.recording import Replay

    if chosen.spec is None:
        raise UsageError(
            "name a model, such as openai:gpt-4o-mini, on the command line, in the variable "
            "HVR_LLM, or as model in [tool.hvr.llm] of pyproject.toml"
        )
    model = make_model(chosen.spec, chosen.options)
    request = Request(
        messages=(Message("user", _QUESTION),), purpose="check", max_tokens=_ANSWER_TOKENS
    )
    if isinstance(model, Replay):
        raise UsageError(f"{chosen.spec} is a recording: use `hvr llm usage` to show its contents")
    result: dict[str, Any] = {"model": chosen.spec, "answers": False}
    start = time.monotonic()
    try:
        with notices():
            answer = model.answer(request)
    except LLMError as error:
        return result | {"problem": str(error), "seconds": round(time.monotonic() - start, 2)}
    result["seconds"] = round(time.monotonic() - start, 2)
    result |= {
        "answers": True,
        "said": answer.text,
        "answered_by": answer.model,
        "usage": asdict(answer.usage),
    }
    if full:
        from hvr.models.config import abilities_of

        with notices():
            result["abilities"] = abilities_of(model, chosen)
    return result


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


# Usage --------------------------------------------------------------------------------------------

_USAGE_DESCRIPTION = """\
Sum up the calls, tokens, cost and time of a transcript by purpose, including aborted attempts of
the run.
"""

_USAGE_EPILOG = """\
examples:
  hvr llm usage runs/20260101-120000-make-coffee
  hvr llm usage llm.jsonl --json
"""


def add_usage_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _USAGE_DESCRIPTION, _USAGE_EPILOG
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="a transcript, or the folder of a run"
    )
    add_json(parser)


def run_usage(args: argparse.Namespace) -> int:
    from hvr.models import recording
    from hvr.models.model import Totals
    from hvr.models.recording import set_aside

    path = recording.file_of(args.file)
    header, exchanges = recording.read(path)
    purposes: dict[str, Totals] = {}
    for exchange in (*exchanges, *set_aside(path)):
        purpose = str(exchange.line["purpose"])
        purposes[purpose] = purposes.get(purpose, Totals()).plus(
            exchange.usage, seconds=exchange.line["seconds"], failed=exchange.failed
        )
    total = sum(purposes.values(), Totals())
    simulated = bool(header.get("simulated"))
    if args.json:
        print_json(
            {
                "model": header["model"],
                "simulated": simulated,
                "purposes": {name: t.to_json() for name, t in purposes.items()},
                "total": total.to_json(),
            },
            indent=2,
        )
    else:
        title = f"{header['model']}{' (simulated)' if simulated else ''}"
        _print_totals(title, {**purposes, "total": total})
    return 0


def _print_totals(title: str, rows: dict[str, Totals]) -> None:
    from rich import box
    from rich.table import Table

    table = Table(
        title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False
    )
    table.add_column("purpose")
    for name in ("calls", "failed", "in", "cached", "out", "thought", "cost $", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, t in rows.items():
        if name == "total":
            table.add_section()
        amounts = (t.input, t.cached, t.output, t.reasoning, t.cost, t.seconds)
        table.add_row(name or "-", str(t.calls), str(t.failed), *map(_amount, amounts))
    screen = console()
    screen.print(table)
    if any("≥" in _amount(a) for a in (rows["total"].input, rows["total"].cost)):
        screen.print("≥: lower bound, since some usage is unknown")


def _amount(amount: Amount) -> str:
    if amount.unknown:
        return f"≥ {amount.known:.6g}" if amount.known else "unknown"
    return f"{amount.known:.6g}" if isinstance(amount.known, float) else str(amount.known)
