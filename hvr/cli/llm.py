"""`hvr llm`: does a model answer, and what did a run use."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hvr.errors import LLMError, UsageError

if TYPE_CHECKING:
    from hvr.llm.config import Chosen
    from hvr.llm.usage import Amount, Totals

app = typer.Typer(
    name="llm",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Check that a language model answers; sum up what a run used.",
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_QUESTION = "Answer with the single word: ready"
# Models that think first need room before their answer.
_ANSWER_TOKENS = 256
_SHOWN = 60


@app.command()
def check(
    model: Annotated[
        str | None,
        typer.Argument(
            help="openai:MODEL, gemini:MODEL, hf:NAME or replay:PATH. Default: HVR_LLM."
        ),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of the server, such as http://localhost:8000/v1.")
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds to wait.")] = 30.0,
    as_json: Json = False,
) -> None:
    """Say in one line whether a model answers.

    Keys come from the environment: HVR_LLM_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY.
    The exit code is 0 when it answers, 1 when it does not, 2 when it cannot be asked.

    Examples:

    - `hvr llm check openai:gpt-4o-mini`
    - `hvr llm check openai:llama3.2 --base-url http://localhost:11434/v1`
    - `hvr llm check gemini:gemini-2.0-flash --json`
    """
    from hvr.llm.config import read_config

    found = _ask(read_config(model, base_url=base_url, timeout=timeout))
    if as_json:
        _print_json(found)
    else:
        typer.echo(_line(found))
    if not found["answers"]:
        raise typer.Exit(1)


@app.command()
def usage(
    file: Annotated[Path, typer.Argument(help="A transcript, or the folder of a run.")],
    as_json: Json = False,
) -> None:
    """Sum up the calls, tokens, cost and time of a transcript by purpose.

    Examples:

    - `hvr llm usage runs/20260101-120000-make-coffee`
    - `hvr llm usage llm.jsonl --json`
    """
    from hvr.llm import transcript
    from hvr.llm.usage import Totals

    header, exchanges = transcript.read(file)
    by_purpose: dict[str, Totals] = {}
    for exchange in exchanges:
        purpose = str(exchange.line["purpose"])
        by_purpose[purpose] = by_purpose.get(purpose, Totals()).plus(
            exchange.usage, seconds=exchange.line["seconds"], failed=exchange.failed
        )
    total = sum(by_purpose.values(), Totals())
    simulated = bool(header.get("simulated"))
    if as_json:
        _print_json(
            {
                "model": header["model"],
                "simulated": simulated,
                "purposes": {name: t.to_json() for name, t in by_purpose.items()},
                "total": total.to_json(),
            }
        )
    else:
        title = f"{header['model']}{' (simulated)' if simulated else ''}"
        _print_totals(title, {**by_purpose, "total": total})


def _ask(chosen: Chosen) -> dict[str, Any]:
    from hvr.llm.factory import make_model
    from hvr.llm.model import Message, Request
    from hvr.llm.replay import Replay

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
    found: dict[str, Any] = {"model": chosen.spec, "answers": False}
    start = time.monotonic()
    try:
        answer = model.answer(request)
    except LLMError as error:
        return found | {"problem": str(error), "seconds": round(time.monotonic() - start, 2)}
    found["seconds"] = round(time.monotonic() - start, 2)
    if answer.finish == "filter":
        return found | {"problem": f"the provider withheld the answer: {_brief(answer.text)}"}
    return found | {
        "answers": True,
        "said": chosen.options.scrubber.text(answer.text),
        "answered_by": answer.model,
        "usage": asdict(answer.usage),
    }


def _line(found: dict[str, Any]) -> str:
    if not found["answers"]:
        return f"{found['model']} answers: no. {found['problem']}"
    used = found["usage"]
    tokens = (
        f"{_number(used['input'])} tokens in, {_number(used['output'])} out"
        if used["input"] is not None or used["output"] is not None
        else "tokens unknown"
    )
    return (
        f"{found['model']} answers: yes, {_brief(found['said'])!r} "
        f"({found['seconds']:.2f} s, {tokens})"
    )


def _print_totals(title: str, rows: dict[str, Totals]) -> None:
    from rich import box
    from rich.console import Console
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
    console = Console()
    console.print(table)
    if any("≥" in _amount(a) for a in (rows["total"].input, rows["total"].cost)):
        console.print("≥: this much is known, and more was used that is unknown")


def _amount(amount: Amount) -> str:
    if amount.unknown:
        return f"≥ {amount.known:.6g}" if amount.known else "unknown"
    return f"{amount.known:.6g}" if isinstance(amount.known, float) else str(amount.known)


def _number(value: int | None) -> str:
    return "unknown" if value is None else str(value)


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"


def _print_json(data: Any) -> None:
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False))
