"""A bank that records payments as lines of a file; as a program it pays once."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from hvr.tools.calling.calls import Provenance, Source, ToolCall
from hvr.tools.calling.guard import GuardedTools
from hvr.tools.calling.log import CallLedger
from hvr.tools.calling.python_world import PythonTools
from hvr.tools.catalogue.schema import Catalogue, Effect, ToolParameter, ToolSchema

PAY = ToolCall("pay", {"to": "Bob", "amount": 5})


def pay(folder: Path, seconds: float = 0) -> Callable[[str, int], None]:
    """Return a payment function with delays before and after the payment."""

    def paying(to: str, amount: int) -> None:
        time.sleep(seconds)
        with (folder / "payments").open("a") as file:
            file.write(f"{to} {amount}\n")
        time.sleep(seconds)

    return paying


def bank(folder: Path, seconds: float = 0) -> PythonTools:
    """Return the tools of a bank."""
    takes = (ToolParameter("to", "string", required=True),
             ToolParameter("amount", "integer", required=True))  # fmt: skip
    tools = (
        ToolSchema("pay", takes=takes, effect=Effect.WRITES),
        ToolSchema("balance", effect=Effect.READS),
    )
    return PythonTools(Catalogue(tools), {"pay": pay(folder, seconds), "balance": lambda: 0})


def paid(folder: Path) -> int:
    """Return the number of payments."""
    file = folder / "payments"
    return len(file.read_text().splitlines()) if file.exists() else 0


if __name__ == "__main__":
    place = Path(sys.argv[1])
    guarded = GuardedTools(
        bank(place, 0.01), "bank", None, CallLedger(place / "ledger.jsonl", "pay Bob"),
        lambda proposed: True if proposed.before is None else None,
    )  # fmt: skip
    print("ready", flush=True)
    guarded.call_with(PAY, dict.fromkeys([("to",), ("amount",)], Source(Provenance.SAID)))
