"""Check that payments happen exactly once despite kills, and measure the guard's overhead.

Each of `--kills` processes pays once and is killed by SIGKILL at a random moment around its
payment; then two more processes make the same call. The script counts the actual payments and
reads the ledger's status. Call times are measured with and without the guard.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions

from hvr.tools.calling.calls import Provenance, Source, ToolCall
from hvr.tools.calling.guard import AgentGuard, CallPolicy, GuardedTools, ProposedCall
from hvr.tools.calling.log import CallLedger
from hvr.tools.calling.mcp_world import McpServer, McpTools
from hvr.tools.catalogue.schema import Effect
from tests.tools.calling.paying import PAY, bank, paid
from tests.tools.calling.test_ledger import killed

SERVER = Path(__file__).parents[1] / "tests" / "calling" / "library_server.py"
SAID = dict.fromkeys([("to",), ("amount",)], Source(Provenance.SAID))


def new_only(proposed: ProposedCall) -> bool | None:
    """Approve first-time calls, and leave the others undecided."""
    return True if proposed.before is None else None


def kills(number: int, seed: int) -> dict[str, int]:
    """Return the numbers of payments made, by the ledger's status after a kill."""
    drawn, seen = random.Random(seed), Counter[str]()
    for _ in range(number):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            killed(folder, drawn.uniform(0, 0.06))
            first = paid(folder)
            for _ in range(2):
                ledger = CallLedger(folder / "ledger.jsonl", "pay Bob")
                tools = GuardedTools(bank(folder), "bank", None, ledger, new_only)
                tools.call_with(PAY, SAID)
            asked = bool(tools.waiting) and tools.waiting[0].before is not None
            unclear = asked and bool(tools.uncertain)
            seen["paid before the kill"] += first
            seen["paid twice"] += paid(folder) > 1
            seen["asked about"] += asked
            seen["asked as uncertain"] += unclear
            seen["not paid and not asked about"] += not paid(folder) and not asked
    return dict(seen)


def timed(call: Callable[[int], object], times: int) -> float:
    took = []
    for number in range(times):
        start = time.perf_counter()
        call(number)
        took.append(1_000 * (time.perf_counter() - start))
    return round(median(took), 2)


def overhead(times: int) -> dict[str, float]:
    """Return the times of calls over stdio in milliseconds, with and without the guard."""
    with tempfile.TemporaryDirectory() as name:
        written, ledger = Path(name) / "written", Path(name) / "ledger.jsonl"
        tools = McpTools(McpServer((sys.executable, str(SERVER), str(written)), trusted=True))
        schemas = {one["name"]: one["inputSchema"] for one in tools.listed}
        guard = AgentGuard(
            tools, "library", schemas, CallPolicy(10 * times), CallLedger(ledger, "a"),
            {Effect.WRITES},
        )  # fmt: skip
        guard.say([" ".join(f"L-{number}" for number in range(times))])

        def reads(_: int) -> ToolCall:
            return ToolCall("list_loans", {"member_id": "M-2"})

        def writes(number: int) -> ToolCall:
            return ToolCall("return_book", {"loan_id": f"L-{number}"})

        try:
            return {
                "reading": timed(lambda n: tools.call(reads(n)), times),
                "reading, guarded": timed(lambda n: guard.call(reads(n)), times),
                "writing": timed(lambda n: tools.call(writes(n)), times),
                "writing, guarded": timed(lambda n: guard.call(writes(n)), times),
            }
        finally:
            tools.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    print(conditions(args.seed))
    print(json.dumps({"kills": args.kills, **kills(args.kills, args.seed)}))
    print(json.dumps({"milliseconds": overhead(args.times)}))


if __name__ == "__main__":
    main()
