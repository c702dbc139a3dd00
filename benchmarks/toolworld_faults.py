"""Measure goals reached despite failing tools, with and without recovery, graph and pruning.

    python benchmarks/toolworld_faults.py [--world retail,airline,telecom,bfcl] [--data DIR]
        [--files FILE ...] [--part development|kept] [--first N] [--skip N] [--shares .1,.3]
        [--back N] [--seeds N,...] [--budget N] [--settings NAME,...]
        [--runs FILE] [--missed]

Scenarios, goal calls and facts come from toolworld_goals.py. A random share of a scenario's tools
fails: each refuses, times out, returns a result of another type, or returns nothing, until `--back`
calls of any tool were made. Without `--back` it fails permanently. The faults are SIMULATED: a
failing call never reaches the environment.

reachable   hvr reaches the goal without faults; no goal call's tool fails permanently; and the
            remaining tools, called in every way before each goal call, return every unresolved
            value with all of its described properties (an indistinguishable value would be a
            guess). With `--back`, all tools count.
at hand     as "reachable", but the values need not be distinguishable from others
reached     reachable goals that end in the state of the correct calls; "all" counts all scenarios
loops       runs that used up the budget
asked       questions to the user whether a failed call took effect nevertheless (the simulated
            user answers truthfully, from the state)
twice       writing calls that changed the state although an equal call had, and one was intended
back <= 10  tools that failed, recovered and worked again for hvr within 10 calls of recovery

whole              the graph learnt from the correct calls of other scenarios, which also learns
                   from these calls; a tool that has just failed rests for some calls
without graph      no earlier experience: schemas alone
with pruning       the whole graph, pruned every five calls: failing tools are removed, and some
                   are tried again
without recombining hvr only repeats the same call, at most five times

Each run is appended to `--runs FILE` as it ends, and recorded runs are skipped, so a measurement
can be stopped, resumed, and made in parts. The table covers all requested runs.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import measured
from tool_faults import FaultyTools, ToolFault, draw_faults
from toolworld_findings import Findings, trait
from toolworlds import (
    DATA,
    REFUSALS,
    WORLDS,
    Ledger,
    Scenario,
    explore,
    oracle,
    read_rows,
    replay,
    scenarios_of,
)

from hvr.errors import DataFileError
from hvr.tools.calling.calls import CallOutcome, Json, ToolCall, ToolEnvironment, find_tool
from hvr.tools.calling.guard import CallPolicy, GuardedTools
from hvr.tools.catalogue.schema import Effect, ToolSchema
from hvr.tools.navigation.execution import carry_out
from hvr.tools.navigation.experience import (
    CountedExperience,
    Experience,
    GraphExperience,
    observed_session,
)
from hvr.tools.navigation.graph import NavigationGraph
from hvr.tools.navigation.known_values import ParameterMatcher, key
from hvr.tools.navigation.queries import call_key
from hvr.tools.navigation.request import EntityQuery, ToolRequest, at, leaves
from hvr.tools.navigation.tasks import FailureHandling, Learnt

_READER = ToolSchema("", effect=Effect.READS)
SETTINGS = ("whole", "without graph", "with pruning", "without recombining")


@dataclass(frozen=True)
class Prepared:
    """A scenario with its request, and the outcomes and final state of the correct calls."""

    scenario: Scenario
    truth: Sequence[CallOutcome]
    state: Json
    request: ToolRequest
    learnt: NavigationGraph


@dataclass(frozen=True)
class Case:
    """The inputs of a run: a scenario, the faults drawn with a seed, and a setting."""

    world: str
    scenario: str
    seed: int
    share: float
    setting: str
    back: int | None
    budget: int


@dataclass(frozen=True)
class Run:
    """The outcome of a scenario with faults; `why` gives the reason for each goal call not made."""

    reached: bool
    looped: bool
    asked: int
    twice: int
    back: Sequence[int]
    calls: int
    why: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """A case with its outcome, and whether its goal is reachable and its values are at hand."""

    case: Case
    reachable: bool
    at_hand: bool
    run: Run


class Rows:
    """The runs so far, by case, kept in a file or, if None, in memory.

    Raises:
        DataFileError: The file exists but has different content.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._rows: dict[Case, Row] = {}
        for row in read_rows(file) if file and file.exists() else ():
            try:
                case, run = Case(**row["case"]), Run(**row["run"])
                self._rows[case] = Row(case, row["reachable"], row["at_hand"], run)
            except (KeyError, TypeError) as error:
                raise DataFileError(
                    f"{file}: not a file of runs of this benchmark: {error!r}"
                ) from None

    def get(self, case: Case) -> Row | None:
        return self._rows.get(case)

    def add(self, row: Row) -> Row:
        self._rows[row.case] = row
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(asdict(row)) + "\n")
        return row


def main() -> None:
    options = _options()
    print(conditions())
    back = f"until {options.back} calls were made" if options.back else "permanent"
    print(f"SIMULATED faults, {back}; seeds {options.seeds}; budget {options.budget}")  # fmt: skip
    print("world | share | setting | at hand | reachable | reached | all | calls | loops | asked "
          "| twice | back <= 10", flush=True)  # fmt: skip
    rows = Rows(options.runs)
    for world in options.world.split(","):
        found = [*_measured(world, rows, options)]
        for share in map(float, options.shares.split(",")):
            for setting in options.settings.split(","):
                some = [r for r in found if (r.case.share, r.case.setting) == (share, setting)]
                _print(world, share, setting, some, options.missed)


def _measured(world: str, rows: Rows, options: argparse.Namespace) -> Iterator[Row]:
    """Run those scenarios of a world that succeed without faults, with each seed."""
    scenarios = scenarios_of(world, options.part, options.data, options.files)
    cases = _Cases(scenarios, options)
    some = range(len(scenarios))[options.skip :][: options.first]
    for seed in map(int, options.seeds.split(",")):
        for number in some:
            whole = cases.case(number, 0, 0.0, "whole")
            if not (rows.get(whole) or rows.add(cases.row(whole, number))).run.reached:
                continue
            for share in map(float, options.shares.split(",")):
                for setting in options.settings.split(","):
                    case = cases.case(number, seed, share, setting)
                    yield rows.get(case) or rows.add(cases.row(case, number))


class _Cases:
    """The scenarios of a world, each prepared when it is first run."""

    def __init__(self, scenarios: Sequence[Scenario], options: argparse.Namespace) -> None:
        self._scenarios, self._options = scenarios, options
        self._replayed: list[tuple[list[CallOutcome], Json]] = []
        self._prepared: tuple[int, Prepared] | None = None
        self._told: dict[tuple[str, int, float], tuple[bool, bool]] = {}

    def case(self, number: int, seed: int, share: float, setting: str) -> Case:
        scenario, options = self._scenarios[number], self._options
        back = options.back if share else None
        return Case(scenario.world, scenario.id, seed, share, setting, back, options.budget)

    def row(self, case: Case, number: int) -> Row:
        one = self._ready(number)
        draw = random.Random(f"{case.seed} {case.scenario}").randrange(2**32)
        faults = draw_faults(one.scenario.open().catalogue, case.share, draw, case.back)
        place = case.scenario, case.seed, case.share
        if place not in self._told:
            self._told[place] = reachable(one, faults)
        return Row(case, *self._told[place], _run(one, faults, case.setting, case.budget))

    def _ready(self, number: int) -> Prepared:
        """Return a scenario with the experience from all other scenarios."""
        if self._prepared is None or self._prepared[0] != number:
            self._replayed = self._replayed or [replay(one) for one in self._scenarios]
            scenario, (truth, state) = self._scenarios[number], self._replayed[number]
            others = [outcomes for n, (outcomes, _) in enumerate(self._replayed) if n != number]
            learnt = GraphExperience([observed_session(outcomes) for outcomes in others])
            request = oracle(scenario, truth, Ledger(), learnt.flow)
            self._prepared = number, Prepared(scenario, truth, state, request, learnt.graph)
        return self._prepared[1]


def _print(world: str, share: float, setting: str, rows: Sequence[Row], missed: bool) -> None:
    runs = [row.run for row in rows]
    can = [row.run for row in rows if row.reachable]
    again = [number for run in runs for number in run.back]
    print(
        f"{world} | {share:.0%} | {setting} | {sum(row.at_hand for row in rows)} "
        f"| {len(can)}/{len(rows)} | {_share(can)} | {_share(runs)} "
        f"| {sum(run.calls for run in runs)} | {sum(run.looped for run in runs)} "
        f"| {sum(run.asked for run in runs)} | {sum(run.twice for run in runs)} "
        f"| {sum(number <= 10 for number in again)}/{len(again)}",
        flush=True,
    )
    for row in rows if missed else ():
        if row.reachable and not row.run.reached:
            print("  missed:", row.case.scenario, f"seed {row.case.seed}", dict(row.run.why))


def _share(runs: Sequence[Run]) -> str:
    reached = sum(run.reached for run in runs)
    return f"{reached} = {reached / max(1, len(runs)):.1%}"


def reachable(one: Prepared, faults: Mapping[str, ToolFault]) -> tuple[bool, bool]:
    """Return whether a goal is reachable with the tools that do not fail permanently.

    Returns:
        Whether the unresolved values can be distinguished, and whether they are available at all.
    """
    gone = {name for name, fault in faults.items() if fault.calls is None}
    if any(goal.tool in gone for goal in one.request.goals):
        return False, False
    if not gone:
        return True, True
    tools = one.scenario.open()
    schemas = {t.name: t for t in tools.catalogue.tools if t.name not in gone}
    seen = Findings(one.request.said, (), ParameterMatcher(GraphExperience(graph=one.learnt).flow))
    written = [o for o in one.truth if o.ok and schemas.get(o.call.tool, _READER).effect
               is not Effect.READS]  # fmt: skip
    told = True
    for goal, outcome in zip(one.request.goals, written, strict=True):
        sought = {p: v for p, _, v in leaves(goal.arguments) if isinstance(v, EntityQuery)}
        if sought:
            explore(tools, seen, schemas, most=60, inputs=3)
        at_hand = {key(found.value): found for found in seen.all}
        for place, value in sought.items():
            found = at_hand.get(key(at(outcome.call.arguments, place)))
            if found is None:
                return False, False
            told = told and seen.has(found, {trait(feature) for feature in value.constraints})
        seen.add(tools.call(outcome.call))
    return told, True


class _Watched:
    """An environment that records state-changing calls and when tools worked."""

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
    elif setting == "with pruning":
        experience = GraphExperience(look=5, graph=one.learnt)
    asked: list[ToolCall] = []

    def was_done(call: ToolCall) -> bool:
        asked.append(call)
        return call_key(call) in watched.changed

    retrying = FailureHandling(setting != "without recombining", REFUSALS)
    carried = carry_out(
        tools, one.request, Learnt(experience), retrying=retrying, was_done=was_done
    )
    wanted = [call_key(outcome.call) for outcome in one.truth]
    twice = sum(
        watched.changed.count(name) - max(1, wanted.count(name))
        for name in set(watched.changed)
        if watched.changed.count(name) > max(1, wanted.count(name))
    )
    return Run(
        watched.state() == one.state, len(carried.outcomes) >= budget, len(asked), twice,
        _returns(carried.outcomes, faults), len(carried.outcomes),
        {str(n): why for n, why in carried.steps.why_not().items()},
    )  # fmt: skip


def _returns(outcomes: Sequence[CallOutcome], faults: Mapping[str, ToolFault]) -> tuple[int, ...]:
    """Return, for each tool that recovered, the number of calls until it worked again for hvr."""
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
    parser.add_argument(
        "--skip", type=int, default=0, help="number of scenarios to skip in each world"
    )
    parser.add_argument("--shares", default="0.1,0.3")
    parser.add_argument("--back", type=int, default=None)
    parser.add_argument("--seeds", default="0", help="comma-separated seeds of the faults")
    parser.add_argument("--first", type=int, default=None)
    parser.add_argument("--budget", type=int, default=120)
    parser.add_argument("--settings", default=",".join(SETTINGS))
    parser.add_argument("--runs", type=Path, help="file of runs to resume from and append to")
    parser.add_argument("--missed", action="store_true",
                        help="list missed reachable goals and the reasons")  # fmt: skip
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(measured(main))
