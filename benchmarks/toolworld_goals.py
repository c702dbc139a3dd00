"""Goals reached by planned calls, in tau2-bench's worlds and BFCL's: does the end state match?

    python benchmarks/toolworld_goals.py [--world retail,airline,telecom,bfcl] [--data DIR]
        [--files FILE ...] [--part development|kept] [--order request|none]
        [--experience graph|counts|none] [--granted sought|given] [--seed N] [--budget N]
        [--first N] [--skip N] [--failed] [--without NAME,...]

The scenarios are those of shared/data/toolworlds (its training and development half), or of other
files in the same format (`--files`, with one world). Of each, the writing calls of its correct
calls are what is wanted; `benchmarks/toolworlds.py` says what of their values is given, what is
only described, and what are facts beside them. hvr sees neither the correct calls nor the values
that look-ups yield: it plans the look-ups, picks entities by their features, and makes the calls.
What was learnt from calls are the correct calls of the *other* scenarios: how often each tool went
well, what its results held, which values were passed on from where; in the learnt graph, in plain
counts, or nothing at all (`--experience`).

granted sought  what the correct calls take for granted, hvr has to look up
granted given   it is given, so that both make the same look-ups, if hvr is right

order request   the wants in the order in which the request has them (that of the correct calls)
order none      in an order drawn at random: hvr finds out by refusals

reached   the environment's state at the end equals that after the correct calls
calls     made by hvr; truth: correct calls; needed: of these those that write, and look-ups whose
          results later correct calls take a value from
beside    calls that are not among the correct ones (tool and arguments), per correct call
granted   of these, look-ups in scenarios in which the correct calls take a value for granted that
          the request does not give and none of their look-ups yields (an id, say): hvr has to look
          it up; the last column is `beside` without them
unneeded  calls to tools that no correct call of the scenario uses
several   scenarios that end with a question, since several values suit what is to be written
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import measured
from toolworlds import (
    DATA,
    NUMBERS,
    REFUSALS,
    WORLDS,
    Ledger,
    Scenario,
    leave_out,
    oracle,
    replay,
    scenarios_of,
)

from hvr.calling.guard import CallPolicy, GuardedTools
from hvr.calling.values import CallOutcome
from hvr.navigation.acting import ToolRun, carry_out
from hvr.navigation.errands import Learnt, Retrying
from hvr.navigation.experience import CountedExperience, Experience
from hvr.navigation.findings import entities, key
from hvr.navigation.graph_experience import GraphExperience, observed_session
from hvr.navigation.lookups import call_key
from hvr.navigation.request import EntityQuery, ToolRequest, at, leaves, scalars_in
from hvr.tools.catalogue.schema import Catalogue, Effect

EXPERIENCES = ("graph", "counts", "none")


@dataclass(frozen=True)
class Result:
    """How one scenario went."""

    scenario: Scenario
    truth: Sequence[CallOutcome]
    carried: ToolRun
    reached: bool
    needed: int
    beside: int
    granted: int
    unneeded: int


def main() -> None:
    """Measure each world, and print a table."""
    options = _options()
    leave_out(options.without)
    print(conditions(options.seed))
    print(f"part: {options.part if not options.files else 'files'}; order of wants: "
          f"{options.order}; experience: {options.experience}; granted: {options.granted}; "
          f"without: {options.without or 'nothing'}; "
          f"at most {options.budget} calls a scenario")  # fmt: skip
    head = ("world", "scenarios", "reached", "calls", "truth", "needed", "beside", "granted",
            "beside without", "unneeded", "several")  # fmt: skip
    print(" | ".join(head))
    ledger = Ledger()
    for world in options.world.split(","):
        scenarios = scenarios_of(world, options.part, options.data, options.files)
        results = measure(scenarios, ledger, options)
        _print(world, results, options.failed)
    print("values:", ", ".join(f"{n} {name}" for name, n in sorted(ledger.values.items())))


def measure(
    scenarios: Sequence[Scenario], ledger: Ledger, options: argparse.Namespace
) -> list[Result]:
    """Return how each scenario went, with what was learnt from the others."""
    replayed = [replay(scenario) for scenario in scenarios]
    seen = [observed_session(outcomes) for outcomes, _ in replayed]
    results = []
    end = options.first and options.skip + options.first
    some = [*enumerate(zip(scenarios, replayed, strict=True))][options.skip : end]
    for number, (scenario, (truth, state)) in some:
        others = [outcomes for n, (outcomes, _) in enumerate(replayed) if n != number]
        experience: Experience = GraphExperience(seen[:number] + seen[number + 1 :])
        if options.experience != "graph":
            experience = CountedExperience(others if options.experience == "counts" else ())
        errand = oracle(
            scenario, truth, ledger, experience.flow, granted=options.granted == "given"
        )
        granted = _takes_for_granted(truth, errand, scenario.open().catalogue)
        if options.order == "none":
            wants = list(errand.goals)
            random.Random(f"{options.seed} {scenario.id}").shuffle(wants)
            errand = replace(errand, goals=tuple(wants), ordered=False)
        tools = GuardedTools(scenario.open(), scenario.world, CallPolicy(options.budget))
        carried = carry_out(tools, errand, Learnt(experience), retrying=Retrying(refusals=REFUSALS))
        results.append(_result(scenario, truth, carried, tools, granted, tools.state() == state))
    return results


def _result(
    scenario: Scenario, truth: Sequence[CallOutcome], carried: ToolRun, tools: GuardedTools,
    granted: bool, reached: bool,
) -> Result:  # fmt: skip
    effects = {tool.name: tool.effect for tool in tools.catalogue.tools}
    used = Counter(call_key(outcome.call) for outcome in truth)
    made = Counter(call_key(outcome.call) for outcome in carried.outcomes)
    names = {outcome.call.tool for outcome in truth}
    needed = 0
    for number, outcome in enumerate(truth):
        later = {key(v) for o in truth[number + 1 :] for v in scalars_in(o.call.arguments)}
        yields = {key(value) for _, value, _ in entities(outcome.result, traits=False)}
        needed += effects[outcome.call.tool] is not Effect.READS or bool(later & yields)
    reads = {call_key(o.call) for o in carried.outcomes if effects[o.call.tool] is Effect.READS}
    beside = made - used
    looked = sum(times for name, times in beside.items() if name in reads)
    return Result(
        scenario, truth, carried, reached, needed, beside.total(),
        looked if granted else 0,
        sum(outcome.call.tool not in names for outcome in carried.outcomes),
    )  # fmt: skip


def _takes_for_granted(
    truth: Sequence[CallOutcome], errand: ToolRequest, catalogue: Catalogue
) -> bool:
    """Say whether correct calls use a value that is sought and that no correct look-up yields."""
    reading = {tool.name for tool in catalogue.tools if tool.effect is Effect.READS}
    reads = [outcome for outcome in truth if outcome.call.tool in reading]
    writes = [outcome for outcome in truth if outcome.ok and outcome.call.tool not in reading]
    yielded = {key(v) for o in reads for _, v, _ in entities(o.result, traits=False)}
    return any(
        isinstance(value, EntityQuery) and key(at(outcome.call.arguments, place)) not in yielded
        for want, outcome in zip(errand.goals, writes, strict=True)
        for place, _, value in leaves(want.arguments)
    )


def _print(world: str, results: Sequence[Result], failed: bool) -> None:
    if not results:
        return
    reached = sum(result.reached for result in results)
    calls = sum(len(result.carried.outcomes) for result in results)
    truth = sum(len(result.truth) for result in results)
    needed = sum(result.needed for result in results)
    beside = sum(result.beside for result in results)
    unneeded = sum(result.unneeded for result in results)
    granted = sum(result.granted for result in results)
    asked = sum(bool(result.carried.questions) for result in results)
    print(
        f"{world} | {len(results)} | {reached} = {reached / len(results):.1%} | {calls} | {truth} "
        f"| {needed} | {beside} = {beside / truth:.1%} "
        f"| {granted} | {(beside - granted) / truth:.1%} | {unneeded} = {unneeded / truth:.1%} "
        f"| {asked}",
        flush=True,
    )
    for result in results if failed else ():
        if not result.reached or result.beside:
            why = "beside" if result.reached else f"not reached {result.carried.steps.why_not()}"
            print(" ", result.scenario.id, why)
            used = Counter(call_key(outcome.call) for outcome in result.truth)
            for outcome in result.carried.outcomes:
                used[call_key(outcome.call)] -= 1
                mark = " " if used[call_key(outcome.call)] >= 0 else "+"
                said = outcome.failure and f"{outcome.failure.value}: {outcome.error[:80]}"
                print("   ", mark, outcome.call.tool, dict(outcome.call.arguments), said or "")
            print("      left out:", [name for name, times in used.items() if times > 0])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--world", default=",".join(WORLDS))
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--files", type=Path, nargs="+")
    parser.add_argument("--part", choices=("development", "kept"), default="development")
    parser.add_argument("--order", choices=("request", "none"), default="request")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=int, default=60)
    parser.add_argument("--first", type=int, default=None, help="scenarios of each world")
    parser.add_argument("--skip", type=int, default=0, help="scenarios before these")
    parser.add_argument("--experience", choices=EXPERIENCES, default="graph")
    parser.add_argument("--granted", choices=("sought", "given"), default="sought",
                        help="values that no correct call before yields")  # fmt: skip
    parser.add_argument(
        "--without", default="", help="numbers of the engine: " + ", ".join(NUMBERS)
    )
    parser.add_argument("--failed", action="store_true",
                        help="list what was not reached, and calls beside")  # fmt: skip
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(measured(main))
