"""`hvr llm usage`: what a run used."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.base.printable import console
from hvr.doors.cli.arguments import add_json
from hvr.doors.cli.output import print_json

if TYPE_CHECKING:
    from hvr.models.usage import Amount, Totals

_DESCRIPTION = """\
Sum up the calls, tokens, cost and time of a transcript by purpose. What earlier tries of a run
that broke off paid for in vain is counted, too.
"""

_EPILOG = """\
examples:
  hvr llm usage runs/20260101-120000-make-coffee
  hvr llm usage llm.jsonl --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="a transcript, or the folder of a run"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        DataFileError: there is no transcript, or it is damaged.
    """
    from hvr.models import transcript
    from hvr.models.earlier import set_aside
    from hvr.models.usage import Totals

    path = transcript.file_of(args.file)
    header, exchanges = transcript.read(path)
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
        screen.print("≥: this much is known, and more was used that is unknown")


def _amount(amount: Amount) -> str:
    if amount.unknown:
        return f"≥ {amount.known:.6g}" if amount.known else "unknown"
    return f"{amount.known:.6g}" if isinstance(amount.known, float) else str(amount.known)
