"""Measure goals reached by calls in tau2-bench's and BFCL's worlds, from the user's words.

    python benchmarks/toolworld_goals.py [--world retail,airline,telecom,bfcl] [--data DIR]
        [--setting said|described|granted] [--engine hvr|greedy] [--answers]
        [--files FILE ...] [--part development|kept] [--order request|none]
        [--experience graph|counts|none] [--seed N] [--budget N]
        [--first N] [--skip N] [--failed]

The scenarios come from shared/data/toolworlds (its training and development half), or other
files in the same format (`--files`, with one world). The goal calls are the writing calls among a
scenario's correct calls: their tools, order and filled parameters. hvr sees neither the correct
calls nor the values that queries return. It learns from the correct calls of the *other* scenarios,
as a graph, as plain counts, or not at all (`--experience`).

setting said       a value, or a property that describes it, is given only if the words contain it
                   (`benchmarks/toolworld_said.py`): the default
setting described  reference properties are given: as many as distinguish the value's entity from
                   others, stated or not (`benchmarks/toolworlds.py`)
setting granted    as "described", and the values that no earlier correct call returns are given
engine greedy      a baseline: the first value of each name, without planning (`greedy`)
order none         goal calls in random order: hvr learns the order from refusals

no write         scenarios without a writing call; all other columns leave them out
reached          the environment's end state equals that after the correct calls
asked rightly    hvr ends with a question, has written nothing wrong, and asks only for values that
                 the words neither state nor identify; "otherwise" counts other questions
wrong writes     successful writing calls that are not among the correct ones (tool and
                 arguments), and the scenarios that have some
answered         with `--answers`: reached after the user has answered the right questions; each
                 answer restarts the scenario
calls            calls that reached the tools; "truth" counts the correct calls, and "needed" the
                 correct writing calls and the queries whose results later correct calls use
beside           calls that are not among the correct ones (tool and arguments), per correct call
granted          queries beside, in scenarios whose correct calls use a value that neither the
                 request nor any correct query provides; the last columns are `beside` without
                 them, and calls to tools that no correct call of the scenario uses
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import measured
from toolworld_findings import entities, trait
from toolworld_said import SaidRequest, said_request, wrong_writes
from toolworlds import DATA, REFUSALS, WORLDS, Ledger, Scenario, oracle, replay, scenarios_of

from hvr.tools.calling.calls import CallFailure, CallOutcome, Json, ToolCall, ToolEnvironment
from hvr.tools.calling.guard import CallPolicy, GuardedTools
from hvr.tools.catalogue.schema import Catalogue, Effect
from hvr.tools.navigation.chains import NextMove
from hvr.tools.navigation.execution import carry_out
from hvr.tools.navigation.experience import (
    CountedExperience,
    Experience,
    GraphExperience,
    observed_session,
)
from hvr.tools.navigation.known_values import Flow, compatibility, key
from hvr.tools.navigation.queries import call_key
from hvr.tools.navigation.request import (
    EntityQuery,
    Place,
    ToolRequest,
    at,
    filled,
    leaves,
    scalars_in,
)
from hvr.tools.navigation.tasks import FailureHandling, Learnt

EXPERIENCES = ("graph", "counts", "none")
SETTINGS = ("said", "described", "granted")
ENGINES = ("hvr", "greedy")
LIKE = 0.8
"""Minimum similarity of a name to a parameter."""

_ROW = re.compile(r" \d+$")


@dataclass(frozen=True)
class Ended:
    """The end of a request.

    Args:
        asked: Parameters for which the user was asked.
        why: Reason for stopping.
        state: Final state of the environment.
    """

    outcomes: Sequence[CallOutcome]
    asked: tuple[str, ...]
    why: str
    state: Json


@dataclass(frozen=True)
class Result:
    scenario: Scenario
    truth: Sequence[CallOutcome]
    ended: Ended
    reached: bool
    rightly: bool
    answered: bool
    wrong: int
    needed: int
    beside: int
    granted: int
    unneeded: int


def greedy(tools: ToolEnvironment, request: ToolRequest) -> tuple[list[CallOutcome], str]:
    """Call each callable query tool once, then make the goal calls with the first values.

    A value with the properties that a query describes is preferred to others of the same name.

    Returns:
        The outcomes, and the parameter asked for, if any.
    """
    outcomes: list[CallOutcome] = []

    def values(name: str, wanted: EntityQuery) -> Iterator[Json]:
        features = {trait(one) for one in wanted.constraints}
        said = [
            fact.value for fact in request.said if compatibility(name, (fact.name,), "") >= LIKE
        ]
        found = [(value, traits) for o in outcomes for path, value, traits in entities(o.result)
                 if o.ok and compatibility(name, path, o.call.tool) >= LIKE]  # fmt: skip
        yield from [value for value, traits in found if features and features <= traits]
        yield from [*said, *(value for value, _ in found)]

    readers = [tool for tool in tools.catalogue.tools if tool.effect is Effect.READS]
    while readers:
        for tool in readers:
            needed = [p.name for p in tool.takes if p.required]
            first = [next(values(name, EntityQuery()), None) for name in needed]
            if None not in first:
                outcomes.append(
                    tools.call(ToolCall(tool.name, dict(zip(needed, first, strict=True))))
                )
                readers.remove(tool)
                break
        else:
            break
    for goal in request.goals:
        taken: dict[Place, Json] = {}
        for place, name, value in leaves(goal.arguments):
            if isinstance(value, EntityQuery):
                new = (one for one in values(name, value) if one not in taken.values())
                if (first_one := next(new, None)) is None:
                    return outcomes, name
                taken[place] = first_one
        outcomes.append(tools.call(ToolCall(goal.tool, filled(goal.arguments, taken))))
    return outcomes, ""


def main() -> None:
    options = _options()
    print(conditions(options.seed))
    print(f"setting: {options.setting}; engine: {options.engine}; "
          f"part: {options.part if not options.files else 'files'}; order of goal calls: "
          f"{options.order}; experience: {options.experience}; "
          f"at most {options.budget} calls per scenario")  # fmt: skip
    head = ("world", "scenarios", "no write", "reached", "asked rightly", "either",
            "asked otherwise", "wrong writes", "answered", "calls", "truth", "needed", "beside",
            "granted", "beside without", "unneeded")  # fmt: skip
    print(" | ".join(head))
    values: Counter[str] = Counter()
    for world in options.world.split(","):
        scenarios = scenarios_of(world, options.part, options.data, options.files)
        results, idle = measure(scenarios, values, options)
        _print(world, results, idle, options)
    print("values:", ", ".join(f"{n} {name}" for name, n in sorted(values.items())))


def measure(
    scenarios: Sequence[Scenario], values: Counter[str], options: argparse.Namespace
) -> tuple[list[Result], int]:
    """Run each scenario with the experience from the other scenarios.

    Returns:
        The results, and the number of scenarios without a writing call.
    """
    replayed = [replay(scenario) for scenario in scenarios]
    seen = [observed_session(outcomes) for outcomes, _ in replayed]
    results, idle = [], 0
    end = options.first and options.skip + options.first
    some = [*enumerate(zip(scenarios, replayed, strict=True))][options.skip : end]
    for number, (scenario, (truth, state)) in some:

        def experience(number: int = number) -> Experience:
            if options.experience == "graph":
                return GraphExperience(seen[:number] + seen[number + 1 :])
            others = [outcomes for n, (outcomes, _) in enumerate(replayed) if n != number]
            return CountedExperience(others if options.experience == "counts" else ())

        posed = _posed(scenario, truth, values, experience().flow, options.setting)
        if not posed.request.goals:
            idle += 1
            continue
        ended = _carried(scenario, posed.request, experience(), options)
        answered, told = ended, posed
        while options.answers and _rightly(told, answered) and answered.state != state:
            told = told.answered(answered.asked)
            answered = _carried(scenario, told.request, experience(), options)
        result = _result(scenario, truth, posed, ended, state)
        results.append(replace(result, answered=answered.state == state))
    return results, idle


def _posed(
    scenario: Scenario, truth: Sequence[CallOutcome], values: Counter[str], flow: Flow,
    setting: str,
) -> SaidRequest:  # fmt: skip
    """Return the request of a scenario in a setting; given properties leave nothing open."""
    if setting == "said":
        posed = said_request(scenario, truth, flow)
        values.update(posed.counted)
        return posed
    ledger = Ledger(values)
    request = oracle(scenario, truth, ledger, flow, granted=setting == "granted")
    nothing: frozenset[str] = frozenset()
    reading = _readers(scenario.open().catalogue)
    writes = tuple(o.call for o in truth if o.ok and o.call.tool not in reading)
    return SaidRequest(request, writes, (nothing,) * len(writes), {}, {})


def _carried(
    scenario: Scenario, request: ToolRequest, experience: Experience, options: argparse.Namespace
) -> Ended:
    if options.order == "none":
        goals = list(request.goals)
        random.Random(f"{options.seed} {scenario.id}").shuffle(goals)
        request = replace(request, goals=tuple(goals), ordered=False)
    if options.engine == "greedy":
        world = scenario.open()
        outcomes, name = greedy(world, request)
        return Ended(outcomes, (name,) if name else (), "", world.state())
    tools = GuardedTools(scenario.open(), scenario.world, CallPolicy(options.budget))
    carried = carry_out(
        tools, request, Learnt(experience), retrying=FailureHandling(refusals=REFUSALS)
    )
    asks = carried.decision.ask if carried.decision.move is NextMove.ASK else ()
    made = [o for o in carried.outcomes if o.failure is not CallFailure.NOT_ALLOWED]
    return Ended(made, tuple(map(_parameter, asks)), carried.decision.why, tools.state())


def _parameter(asked: str) -> str:
    """Return the parameter of a question: `item_id` for `item_id 2 of exchange`."""
    return _ROW.sub("", asked.partition(" of ")[0])


def _rightly(posed: SaidRequest, ended: Ended) -> bool:
    return bool(ended.asked) and all(map(posed.may_ask, ended.asked))


def _readers(catalogue: Catalogue) -> set[str]:
    return {tool.name for tool in catalogue.tools if tool.effect is Effect.READS}


def _result(
    scenario: Scenario, truth: Sequence[CallOutcome], posed: SaidRequest, ended: Ended, state: Json
) -> Result:
    catalogue = scenario.open().catalogue
    reading = _readers(catalogue)
    used = Counter(call_key(outcome.call) for outcome in truth)
    made = Counter(call_key(outcome.call) for outcome in ended.outcomes)
    names = {outcome.call.tool for outcome in truth}
    needed = 0
    for number, outcome in enumerate(truth):
        later = {key(v) for o in truth[number + 1 :] for v in scalars_in(o.call.arguments)}
        yields = {key(value) for _, value, _ in entities(outcome.result, traits=False)}
        needed += outcome.call.tool not in reading or bool(later & yields)
    reads = {call_key(o.call) for o in ended.outcomes if o.call.tool in reading}
    beside = made - used
    looked = sum(times for name, times in beside.items() if name in reads)
    schemas = {tool.name: tool for tool in catalogue.tools}
    wrong = len(wrong_writes(ended.outcomes, posed.truth, schemas))
    return Result(
        scenario, truth, ended, ended.state == state, not wrong and _rightly(posed, ended), False,
        wrong, needed, beside.total(),
        looked if _takes_for_granted(truth, posed.request, catalogue) else 0,
        sum(outcome.call.tool not in names for outcome in ended.outcomes),
    )  # fmt: skip


def _takes_for_granted(
    truth: Sequence[CallOutcome], request: ToolRequest, catalogue: Catalogue
) -> bool:
    """Return whether correct calls use an unresolved value that no correct query returns."""
    reading = _readers(catalogue)
    reads = [outcome for outcome in truth if outcome.call.tool in reading]
    writes = [outcome for outcome in truth if outcome.ok and outcome.call.tool not in reading]
    yielded = {key(v) for o in reads for _, v, _ in entities(o.result, traits=False)}
    return any(
        isinstance(value, EntityQuery) and key(at(outcome.call.arguments, place)) not in yielded
        for goal, outcome in zip(request.goals, writes, strict=True)
        for place, _, value in leaves(goal.arguments)
    )


def _print(world: str, results: Sequence[Result], idle: int, options: argparse.Namespace) -> None:
    if not results:
        return
    reached = sum(result.reached for result in results)
    rightly = sum(result.rightly and not result.reached for result in results)
    otherwise = sum(
        bool(one.ended.asked) and not one.rightly and not one.reached for one in results
    )
    wrong, wronged = sum(one.wrong for one in results), sum(one.wrong > 0 for one in results)
    answered = sum(result.answered for result in results) if options.answers else "-"
    calls = sum(len(result.ended.outcomes) for result in results)
    truth = sum(len(result.truth) for result in results)
    needed = sum(result.needed for result in results)
    beside = sum(result.beside for result in results)
    unneeded = sum(result.unneeded for result in results)
    granted = sum(result.granted for result in results)
    of = len(results)
    print(
        f"{world} | {of} | {idle} | {reached} = {reached / of:.1%} | {rightly} "
        f"| {(reached + rightly) / of:.1%} | {otherwise} | {wrong} in {wronged} | {answered} "
        f"| {calls} | {truth} | {needed} | {beside} = {beside / truth:.1%} "
        f"| {granted} | {(beside - granted) / truth:.1%} | {unneeded} = {unneeded / truth:.1%}",
        flush=True,
    )
    for result in results if options.failed else ():
        if (result.reached or result.rightly) and not result.beside and not result.wrong:
            continue
        ended = result.ended
        asked = f"asked for {', '.join(ended.asked)}" if ended.asked else ended.why
        went = "reached" if result.reached else "rightly asked" if result.rightly else asked
        print(" ", result.scenario.id, went, f"wrong writes: {result.wrong}" * bool(result.wrong))
        used = Counter(call_key(outcome.call) for outcome in result.truth)
        for outcome in ended.outcomes:
            used[call_key(outcome.call)] -= 1
            mark = " " if used[call_key(outcome.call)] >= 0 else "+"
            said = outcome.failure and f"{outcome.failure.value}: {outcome.error[:80]}"
            print("   ", mark, outcome.call.tool, dict(outcome.call.arguments), said or "")
        print("      unmatched:", [name for name, times in used.items() if times > 0])


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
    parser.add_argument("--skip", type=int, default=0, help="number of scenarios to skip")
    parser.add_argument("--experience", choices=EXPERIENCES, default="graph")
    parser.add_argument("--setting", choices=SETTINGS, default="said")
    parser.add_argument("--engine", choices=ENGINES, default="hvr")
    parser.add_argument("--answers", action="store_true",
                        help="let the user answer right questions, and restart")  # fmt: skip
    parser.add_argument("--failed", action="store_true",
                        help="list unreached goals and the calls beside")  # fmt: skip
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(measured(main))
