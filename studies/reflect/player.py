"""Execution of a scenario, with its fault, in the kitchen under observation.

Each action is checked against the domain in the observed state, executed, and compared with the
effects that the domain predicts. As in REFLECT, the robot first goes to the action's object if it
is not near, and the plan continues after any failure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hvr.execution.deviations import Deviation, DeviationKind
from hvr.execution.monitor import SceneMonitor, goal_unmet
from hvr.execution.perception import Sensors
from hvr.execution.world import open_world
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.relevance import Relevant, relevant_objects
from hvr.pddl import Domain, Task, TypedName, parse_formula
from hvr.pddl.formulas import Atom, Expression
from hvr.pddl.model import GroundAction
from hvr.planning.plans import Plan, Planned
from hvr.validation import Validator
from hvr.worlds import Kitchen, Names, scene_graph
from hvr.worlds.faults import Fault, FaultyEnvironment, Injection, Schedule
from studies.detection_scoring import RIGHT
from studies.reflect.binding import Binding
from studies.reflect.scenarios import Scenario

_BEFORE = {"dirty_obj": "DirtyObject"}


@dataclass(frozen=True)
class StepPlayed:
    """One atomic action of a scenario; `index` is the 0-based index of its high-level action."""

    index: int
    action: GroundAction
    success: bool
    error: str
    failures: tuple[Deviation, ...]


@dataclass(frozen=True)
class Played:
    """The result of a scenario; `reached` tells whether the goal holds at the end."""

    scenario: Scenario
    steps: tuple[StepPlayed, ...]
    injected: tuple[Injection, ...]
    reached: bool


def play(
    scenario: Scenario,
    ontology: Ontology,
    domain: Domain,
    *,
    faults: bool = True,
    sensors: Sensors | None = None,
) -> Played:
    """Execute a scenario.

    Args:
        domain: Domain that predicts the effects.
        sensors: The robot's sensors; by default perfect.
    """
    fault = scenario.fault if faults else None
    if fault is not None and scenario.at is not None:
        first = _Run(scenario, ontology, domain, None, sensors)
        first.go(until=scenario.at)
        fault = replace(fault, when=replace(fault.when, step=first.env.steps + 1))
    run = _Run(scenario, ontology, domain, fault, sensors)
    run.go()
    return Played(scenario, tuple(run.steps), run.env.log, not run.watch.unmet_goal())


class _Run:
    def __init__(
        self,
        scenario: Scenario,
        ontology: Ontology,
        domain: Domain,
        fault: Fault | None,
        sensors: Sensors | None,
    ) -> None:
        self.scenario = scenario
        self.steps: list[StepPlayed] = []
        kitchen = Kitchen(scenario.scene)
        names = Names.from_metadata(kitchen.last_event.metadata)
        self.binding = Binding(names)
        scene = scene_graph(kitchen.last_event.metadata, names)
        for action, word in scenario.before:
            target = names.object_id(self.binding.name(word, scene))
            kitchen.step(_BEFORE[action], objectId=target, forceAction=True)
        bound = () if fault is None else (self.binding.fault(fault, scene),)
        self.env = FaultyEnvironment(kitchen, Schedule(bound))
        self.world = open_world(self.env, ontology=ontology, sensors=sensors)
        self.planned = self._planned(domain)
        self.watch = SceneMonitor(self.world, self.planned)
        self.expected = self.watch.state

    def go(self, until: int | None = None) -> None:
        """Execute the actions before index `until`; if None, execute all and check the goal."""
        for index, action in enumerate(self.scenario.actions[:until]):
            step = self.binding.action(action, self.world)
            for target in self._out_of_reach(step):
                self._do(index, GroundAction("navigate_to_obj", (target,)))
            self._do(index, step)
        if until is None and (unmet := self.watch.unmet_goal()):
            last = self.steps[-1]
            failure = goal_unmet(len(self.steps), unmet)
            self.steps[-1] = replace(last, failures=(*last.failures, failure))

    def _do(self, index: int, action: GroundAction) -> None:
        number = len(self.steps) + 1
        validator = Validator(self.planned.task, state=self.expected)
        before = validator.state
        report = validator.apply(action)
        if report.ok:
            done = self.watch.step(number, action, index, before, report)
            played = StepPlayed(index, action, done.success, done.error, done.failures)
            validator = self.watch.resumed(done.difference) if done.difference else validator
            self.expected = validator.state
        else:
            failure = self.watch.cannot(number, action)
            result = self.world.act(number, action, ()).result
            played = StepPlayed(index, action, result.success, result.error, (failure,))
            self.watch = SceneMonitor(self.world, self.planned)
            self.expected = self.watch.state
        self.steps.append(played)

    def _out_of_reach(self, action: GroundAction) -> tuple[str, ...]:
        """Return the objects to approach before an action whose other preconditions hold."""
        if action.name == "navigate_to_obj":
            return ()
        unmet = self.watch.unmet(action)
        if not unmet or any(_predicate(e) not in _REACH for e in unmet):
            return ()
        return action.args[-1:]

    def _planned(self, domain: Domain) -> Planned:
        """Return the problem over the objects that the scenario may mention, with an empty plan."""
        graph, inventory = self.world.graph, self.world.inventory()
        objects = [TypedName(n, (graph.pddl_type(n),)) for n in inventory.classes]
        goal = parse_formula(self.scenario.goal, domain, objects, file=self.scenario.id)
        reasons = dict(relevant_objects([goal], inventory).reasons)
        words = {w.split("-")[0] for a in self.scenario.actions for w in a[1:]} | {"Sink"}
        if self.scenario.fault is not None:
            words |= {self.scenario.fault.what.target, self.scenario.fault.what.other}
        for name, kind in inventory.classes.items():
            if kind in words or kind in _ALSO:
                reasons.setdefault(name, "named by the scenario")
        relevant = Relevant(reasons)
        problem = graph.problem(domain, "scenario", relevant.names, goal)
        return Planned(problem, Task(domain, problem), relevant, Plan((), False, "", 0.0), 0)


_REACH = frozenset({"near"})
_ALSO = frozenset({"SinkBasin", "Faucet", "StoveKnob", "Floor"})


def _predicate(literal: Expression) -> str:
    return literal.predicate if isinstance(literal, Atom) else ""


# Score --------------------------------------------------------------------------------------------
# Scores of whether a scenario's failure was detected at the right step and as the right kind.


@dataclass(frozen=True)
class Score:
    """The score of a scenario.

    Args:
        failing: Index of the failing action.
        noticed: Index of the first action with a detected failure; None if none was detected.
        right_step: Whether `noticed` is the failing action, or the first to show its effect.
        right_kind: Whether one of the kinds is correct for the injected fault.
    """

    id: str
    failing: int
    noticed: int | None
    kinds: tuple[DeviationKind, ...]
    right_step: bool
    right_kind: bool
    explanation: str = ""

    @property
    def exact(self) -> bool:
        return self.noticed == self.failing


def score(played: Played) -> Score:
    scenario = played.scenario
    first = next((s for s in played.steps if s.failures), None)
    if first is None:
        return Score(scenario.id, scenario.failing, None, (), False, False)
    failures = [f for s in played.steps if s.index == first.index for f in s.failures]
    right = next((f for f in failures if f.kind in RIGHT[scenario.scored_as]), None)
    return Score(
        id=scenario.id,
        failing=scenario.failing,
        noticed=first.index,
        kinds=tuple(failure.kind for failure in failures),
        right_step=first.index in scenario.right_steps,
        right_kind=right is not None,
        explanation=(right or failures[0]).explanation,
    )
