"""Test state conditions learnt from refusals, in tau2-bench's worlds.

    python benchmarks/toolworld_conditions.py [--world retail,airline,telecom]
        [--files FILE ...] [--draws N] [--rounds N] [--seed N] [--first N]

Queries first explore each scenario's initial state. Then writing calls are drawn from the correct
calls of all scenarios. They are unchanged, or one value is replaced by another of its kind from the
queries (such as another order of the user). The environment itself accepts or refuses them; after
an accepted call the next scenario begins. Before each call, the confirmed conditions predict
whether it will be refused; they learn from it afterwards, so no call is judged by its own outcome.

calls      drawn calls, and the number of scenarios
refused    calls that the environment refused, for any reason
foretold   refused calls predicted by a confirmed condition
wrongly    accepted calls that a confirmed condition predicted to be refused
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from toolworld_findings import Findings
from toolworlds import DATA, TAU2, Scenario, explored, scenarios_of

from hvr.errors import HvrError
from hvr.tools.calling.calls import CallFailure, Json, ToolCall
from hvr.tools.catalogue.schema import Effect
from hvr.tools.navigation.known_values import key
from hvr.tools.navigation.preconditions import LearntConditions, StateCondition
from hvr.tools.navigation.request import NamedValue, given_leaves


def main() -> None:
    """Measure each world, and print a row with the confirmed conditions."""
    options = _options()
    print(conditions(options.seed))
    print("world | calls | scenarios | refused | foretold | wrongly | confirmed | candidates")
    for world in options.world.split(","):
        scenarios = scenarios_of(world, options.part, options.data, options.files)
        _measure(world, scenarios[: options.first], options)


def _measure(world: str, scenarios: Sequence[Scenario], options: argparse.Namespace) -> None:
    visits = [*scenarios] * options.rounds
    learnt, drawn = LearntConditions(), random.Random(f"{options.seed} {world}")
    names = [tool.name for tool in scenarios[0].open().catalogue.tools]
    calls = refused = foretold = wrongly = 0
    for scenario in visits:
        tools = scenario.open()
        schemas = {tool.name: tool for tool in tools.catalogue.tools}
        told = [NamedValue(n, v) for c in scenario.gold for _, n, v in given_leaves(c.arguments)]
        seen = explored(tools, [*scenario.said, *told], (), schemas, None)
        own = [c for c in scenario.gold if schemas[c.tool].effect is not Effect.READS]
        for _ in range(options.draws if own else 0):
            call = drawn_call(drawn.choice(own), seen, drawn)
            known = seen.graph.known_by(call.arguments)
            doubted = learnt.violated(call.tool, known) is not None
            outcome = tools.call(call)
            learnt.observe(outcome, known)
            calls += 1
            refused += outcome.failure is CallFailure.REFUSED
            foretold += doubted and outcome.failure is CallFailure.REFUSED
            wrongly += doubted and outcome.ok
            if outcome.ok:
                break
    found = [one for name in names for one in learnt.conditions(name)]
    sure = [one for one in found if one.confirmed]
    print(f"{world} | {calls} | {len(visits)} | {refused} | {foretold} | {wrongly} "
          f"| {len(sure)} | {len(found) - len(sure)}", flush=True)  # fmt: skip
    for one in sure:
        print("   ", _said(one))


def drawn_call(template: ToolCall, seen: Findings, drawn: random.Random) -> ToolCall:
    """Return a call, unchanged or with one value replaced by a value from a query's result."""
    arguments: dict[str, Json] = dict(template.arguments)
    plain = [n for n, v in arguments.items() if isinstance(v, str)]
    others = {
        name: sorted({str(found.value) for found in seen.suiting(name, template.tool)
                      if found.call >= 0 and key(found.value) != key(arguments[name])
                      and isinstance(found.value, str)})
        for name in plain
    }  # fmt: skip
    possible = [name for name, values in others.items() if values]
    if possible and drawn.random() < 0.7:
        name = drawn.choice(possible)
        arguments[name] = drawn.choice(others[name])
    return ToolCall(template.tool, arguments)


def _said(one: StateCondition) -> str:
    values = " or ".join(map(str, one.values))
    return (f"{one.tool}: {' '.join(sorted(one.name))} of {one.parameter} is {values} "
            f"({one.well} accepted, {one.refused} refused since it was proposed)")  # fmt: skip


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--world", default=",".join(TAU2))
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--files", type=Path, nargs="+")
    parser.add_argument("--part", choices=("development", "kept"), default="development")
    parser.add_argument("--draws", type=int, default=8, help="maximum number of calls per scenario")
    parser.add_argument("--rounds", type=int, default=4, help="visits of each scenario")
    parser.add_argument("--first", type=int, default=None, help="scenarios of each world")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    try:
        main()
    except HvrError as error:
        sys.exit(f"toolworld_conditions: {error}")
