"""Goals reached though some of the tools fail: what recovery, the graph and pruning bring.

    python benchmarks/toolworld_faults.py [--world retail,airline,telecom,bfcl] [--data DIR]
        [--files FILE ...] [--part development|kept] [--first N] [--skip N] [--shares .1,.3]
        [--back N] [--seeds N] [--budget N] [--settings NAME,...] [--without NAME,...]

The scenarios, wants and facts are those of toolworld_goals.py. Of the tools of a scenario a share
fails, drawn by seed: each refuses, times out, gives a result of another type, or nothing, until
`--back` calls of any tool were made; without `--back` for good (SIMULATED faults; a call that
fails never reaches the environment).

reachable   without faults hvr reaches the goal; no wanted tool fails for good; and what the tools
            that do not fail for good say of the true state, called in every way before each wanted
            call, has every value that is sought, and has of it all by which it is described: of
            values that nothing tells apart the right one is a guess. With `--back` all tools count.
at hand     the same without the last condition: the value is there, whether it can be told or not
reached     end states equal that after the correct calls, of the reachable; all: of all scenarios
loops       runs that used up the budget
asked       questions to the user whether a call that failed was done all the same (the simulated
            user answers truly, by the state)
twice       writing calls that changed the state though an equal one had, and one was wanted
back <= 10  tools that failed, came back and worked again for hvr: within 10 calls from their return

whole              the graph learnt from the correct calls of other scenarios, which also learns
                   from these calls; tools that fail are removed from it, rest and are tried again
without graph      nothing learnt before: schemas alone
without pruning    the graph, but tools that fail are neither removed nor rest
without recombining the same call again, at most five times; no other way
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    explore,
    leave_out,
    oracle,
    replay,
    scenarios_of,
)

from hvr.calling.checks import find_tool
from hvr.calling.environment import ToolEnvironment
from hvr.calling.faults import FaultyTools, ToolFault, draw_faults
from hvr.calling.guard import CallPolicy, GuardedTools
from hvr.calling.values import CallOutcome, Json, ToolCall
from hvr.navigation.acting import carry_out
from hvr.navigation.errands import Learnt, Retrying
from hvr.navigation.experience import CountedExperience, Experience
from hvr.navigation.findings import Findings, key, trait
from hvr.navigation.graph import NavigationGraph
from hvr.navigation.graph_experience import GraphExperience, observed_session
from hvr.navigation.lookups import call_key
from hvr.navigation.suiting import Suiting
from hvr.navigation.wants import Errand, Sought, at, leaves
from hvr.tools.catalogue.schema import Effect, ToolSchema

_READER = ToolSchema("", effect=Effect.READS)
SETTINGS = ("whole", "without graph", "without pruning", "without recombining")


@dataclass(frozen=True)
class Prepared:
    """A scenario with its errand, and what the correct calls come to."""

    scenario: Scenario
    truth: Sequence[CallOutcome]
    state: Json
    errand: Errand
    learnt: NavigationGraph


@dataclass(frozen=True)
class Run:
    """How a scenario went with faults."""

    reached: bool
    looped: bool
    asked: int
    twice: int
    back: tuple[int, ...]
    calls: int


def main() -> None:
    """Measure each world, and print a table."""
    options = _options()
    leave_out(options.without)
    print(conditions())
    back = f"until {options.back} calls were made" if options.back else "for good"
    print(f"SIMULATED faults {back}; seeds 0 to {options.seeds - 1}; budget {options.budget}; "
          f"without: {options.without or 'nothing'}")  # fmt: skip
    print("world | share | setting | at hand | reachable | reached | all | calls | loops | asked "
          "| twice | back <= 10")  # fmt: skip
    for world in options.world.split(","):
        scenarios = scenarios_of(world, options.part, options.data, options.files)
        prepared = [
            one
            for one in _prepared(scenarios, options.skip, options.first)
            if _run(one, {}, "whole", options.budget).reached
        ]
        for share in options.shares.split(","):
            _measure(world, prepared, float(share), options)


def _measure(
    world: str, prepared: Sequence[Prepared], share: float, options: argparse.Namespace
) -> None:
    """Run scenarios with each seed's faults in each setting; print a row for each setting."""
    cases = []
    catalogues = {one.scenario.id: one.scenario.open().catalogue for one in prepared}
    for seed in range(options.seeds):
        for one in prepared:
            draw = random.Random(f"{seed} {one.scenario.id}").randrange(2**32)
            faults = draw_faults(catalogues[one.scenario.id], share, draw, options.back)
            told = reachable(one, faults)
            cases.append((one, faults, told, told or reachable(one, faults, told=False)))
    for setting in options.settings.split(","):
        runs = [_run(one, faults, setting, options.budget) for one, faults, *_ in cases]
        can = [run for run, case in zip(runs, cases, strict=True) if case[2]]
        there = sum(case[3] for case in cases)
        again = [number for run in runs for number in run.back]
        soon = sum(number <= 10 for number in again)
        print(
            f"{world} | {share:.0%} | {setting} | {there} "
            f"| {len(can)}/{len(cases)} | {_share(can)} | {_share(runs)} "
            f"| {sum(run.calls for run in runs)} | {sum(run.looped for run in runs)} "
            f"| {sum(run.asked for run in runs)} | {sum(run.twice for run in runs)} "
            f"| {soon}/{len(again)}",
            flush=True,
        )


def _share(runs: Sequence[Run]) -> str:
    reached = sum(run.reached for run in runs)
    return f"{reached} = {reached / max(1, len(runs)):.1%}"


def _prepared(scenarios: Sequence[Scenario], skip: int, first: int | None) -> list[Prepared]:
    """Return some of the scenarios, each with what was learnt from all the others."""
    replayed = [replay(scenario) for scenario in scenarios]
    seen = [observed_session(outcomes) for outcomes, _ in replayed]
    found = []
    some = [*enumerate(zip(scenarios, replayed, strict=True))][skip:][:first]
    for number, (scenario, (truth, state)) in some:
        learnt = GraphExperience(seen[:number] + seen[number + 1 :])
        errand = oracle(scenario, truth, Ledger(), learnt.flow)
        found.append(Prepared(scenario, truth, state, errand, learnt.graph))
    return found


def reachable(one: Prepared, faults: Mapping[str, ToolFault], *, told: bool = True) -> bool:
    """Say whether a goal can be reached with the tools that do not fail for good.

    Args:
        one: the scenario.
        faults: of its tools.
        told: whether what describes a value has to be seen of it.
    """
    gone = {name for name, fault in faults.items() if fault.calls is None}
    if any(want.tool in gone for want in one.errand.wants):
        return False
    if not gone:
        return True
    tools = one.scenario.open()
    schemas = {t.name: t for t in tools.catalogue.tools if t.name not in gone}
    seen = Findings(one.errand.facts, (), Suiting(GraphExperience(graph=one.learnt).flow))
    written = [o for o in one.truth if o.ok and schemas.get(o.call.tool, _READER).effect
               is not Effect.READS]  # fmt: skip
    for want, outcome in zip(one.errand.wants, written, strict=True):
        sought = {p: v for p, _, v in leaves(want.arguments) if isinstance(v, Sought)}
        if sought:
            explore(tools, seen, schemas, most=60, inputs=3)
        at_hand = {key(found.value): found for found in seen.all}
        for place, value in sought.items():
            found = at_hand.get(key(at(outcome.call.arguments, place)))
            wanted = {trait(feature) for feature in value.features} if told else set()
            if found is None or not seen.has(found, wanted):
                return False
        seen.add(tools.call(outcome.call))
    return True


class _Watched:
    """An environment that remembers which calls have changed its state, and when tools worked."""

    def __init__(self, inner: ToolEnvironment) -> None:
        self._inner = inner
        self.catalogue = inner.catalogue
        self.changed: list[str] = []

    def reset(self) -> None:
        self._inner.reset()

    def call(self, call: ToolCall) -> CallOutcome:
        tool = find_tool(self.catalogue, call.tool)
        if tool is None or tool.effect is Effect.READS:
            return self._inner.call(call)
        before = self._inner.state()
        outcome = self._inner.call(call)
        if self._inner.state() != before:
            self.changed.append(call_key(call))
        return outcome

    def state(self) -> Json:
        return self._inner.state()

    def close(self) -> None:
        self._inner.close()


def _run(one: Prepared, faults: Mapping[str, ToolFault], setting: str, budget: int) -> Run:
    watched = _Watched(one.scenario.open())
    tools = GuardedTools(FaultyTools(watched, faults), "faults", CallPolicy(budget))
    experience: Experience = GraphExperience(graph=one.learnt)
    if setting == "without graph":
        experience = CountedExperience()
    elif setting == "without pruning":
        experience = GraphExperience(rest=0, look=0, graph=one.learnt)
    asked: list[ToolCall] = []

    def was_done(call: ToolCall) -> bool:
        asked.append(call)
        return call_key(call) in watched.changed

    retrying = Retrying(setting != "without recombining", REFUSALS)
    carried = carry_out(tools, one.errand, Learnt(experience), retrying=retrying, was_done=was_done)
    wanted = [call_key(outcome.call) for outcome in one.truth]
    twice = sum(
        watched.changed.count(name) - max(1, wanted.count(name))
        for name in set(watched.changed)
        if watched.changed.count(name) > max(1, wanted.count(name))
    )
    return Run(
        watched.state() == one.state, len(carried.outcomes) >= budget, len(asked), twice,
        _returns(carried.outcomes, faults), len(carried.outcomes),
    )  # fmt: skip


def _returns(outcomes: Sequence[CallOutcome], faults: Mapping[str, ToolFault]) -> tuple[int, ...]:
    """Return for each tool that failed and worked again how many calls after its return."""
    found = []
    for name, fault in faults.items():
        mine = [(n, o.ok) for n, o in enumerate(outcomes) if o.call.tool == name]
        worked = [n for n, ok in mine if ok]
        if fault.calls is not None and worked and not mine[0][1]:
            found.append(worked[0] + 1 - fault.calls)
    return tuple(found)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--world", default=",".join(WORLDS))
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--files", type=Path, nargs="+")
    parser.add_argument("--part", choices=("development", "kept"), default="development")
    parser.add_argument("--skip", type=int, default=0, help="scenarios of each world to leave out")
    parser.add_argument("--shares", default="0.1,0.3")
    parser.add_argument("--back", type=int, default=None)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=None)
    parser.add_argument("--budget", type=int, default=60)
    parser.add_argument(
        "--without", default="", help="numbers of the engine: " + ", ".join(NUMBERS)
    )
    parser.add_argument("--settings", default=",".join(SETTINGS))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(measured(main))
