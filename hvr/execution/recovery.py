"""Recovery strategies: what may be tried when a plan cannot go on, cheapest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

from hvr.errors import ImpossibleGoalError
from hvr.execution.deviations import Deviation, DeviationKind, Difference
from hvr.execution.events import Recovery, StepDone
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.scene_graph import SceneGraph
from hvr.knowledge.wording import Wording
from hvr.pddl import Atom, Expression, GroundAction, Task
from hvr.pddl.state import State
from hvr.planning.plans import Planned, RecoveryStrategies
from hvr.planning.search.navigation import find_navigation
from hvr.validation import Validator
from hvr.validation.report import StepReport
from hvr.validation.trajectory import ConstraintMonitor
from hvr.values import Value

# Recovery -----------------------------------------------------------------------------------------
# The recovery strategies: what may be tried when a plan cannot go on, cheapest first.
#
#     retry              do the step again           an action that did not take
#     re-navigate        go there again, do it       something out of reach or in the way
#     satisfy            plan from what is seen      a condition that is missing or was undone
#     make room          take others away            a microwave that somebody put a lettuce in
#     replace            plan with another object    one that is gone, broken or blocked
#     ask                tell the policy             what no strategy above can repair
#
# The first two go on with the plan as it is, the others make a new one. A step is proposed only
# if the domain says that the plan then reaches its goal. The last resort is to give up, with a
# report of what remains.

REPAIR_SECONDS = 2.0
"""Seconds that `satisfy` may look for steps."""

MAX_MOVED = 3
"""Most things that are taken away to make room."""

Steps = tuple[GroundAction, ...]


class Impasse(Value):
    """A point at which a plan cannot go on, and the reason.

    Args:
        failures: the deviations that were noticed.
        action: the step that went wrong or cannot be tried; None at the end of a plan.
        done: the step was reported as done, so that it need not be done again.
        rest: the steps that were to follow.
        task: the problem.
        state: what is observed.
        step: number of the last step that was done.
        why: another way is better now, though nothing failed; empty if something did.
    """

    failures: tuple[Deviation, ...]
    action: GroundAction | None
    done: bool
    rest: Steps
    task: Task
    state: State
    step: int = 0
    why: str = ""

    @property
    def reason(self) -> str:
        """The deviations in sentences."""
        return self.why or " ".join(f.explanation for f in self.failures)

    def if_it_works(self, *first: GroundAction) -> Steps | None:
        """Return some steps and then the rest, if the domain says that they reach the goal."""
        steps = (*first, *self.rest)
        return steps if Validator(self.task, state=self.state).check(steps).valid else None


Strategy = Callable[[Impasse], Steps | None]
"""All steps to do from here on to the end of the plan; None when this does not help."""


def retry(impasse: Impasse) -> Steps | None:
    """Do the step again, where nothing speaks against it.

    Helps if the mug was not grasped, though it stands there. Not where there is no room or
    something is in the way, which would be so again.
    """
    again = {DeviationKind.OCCUPIED, DeviationKind.BLOCKED}
    if impasse.action is None or any(f.kind in again for f in impasse.failures):
        return None
    return impasse.if_it_works(impasse.action)


def renavigate(impasse: Impasse) -> Steps | None:
    """Go to an object of the step again and do it from there.

    Helps if the cup is too far away, or cannot be seen from here.
    """
    if impasse.action is None or any(f.kind is DeviationKind.OCCUPIED for f in impasse.failures):
        return None
    navigation = find_navigation(impasse.task.domain)
    if navigation is None or impasse.action.name in navigation.actions:
        return None
    # The last argument is the place, which a step is done at: from there the rest is in reach.
    for name in reversed(impasse.action.args):
        for move in sorted(navigation.actions):
            steps = impasse.if_it_works(GroundAction(move, (name,)), impasse.action)
            if steps is not None:
                return steps
    return None


def satisfy(impasse: Impasse) -> Steps | None:
    """Put in the steps that supply what is missing, as the validator's advice does.

    Helps if the fridge has been closed again. For policies that do not plan from the observed
    state themselves; a classical planner makes a new plan instead.
    """
    # Slow to import, and most runs never need it.
    from hvr.validation.repair import find_repair

    again = () if impasse.action is None or impasse.done else (impasse.action,)
    steps = (*again, *impasse.rest)
    validator = Validator(impasse.task, state=impasse.state)
    report = validator.check(steps)
    if report.valid:
        return None  # nothing is missing
    advice, _ = find_repair(validator, steps, report, seconds=REPAIR_SECONDS)
    if advice is None or not advice.completes:
        return None
    place = len(steps) if advice.step is None else advice.step - 1
    return (*steps[:place], *advice.actions, *steps[place:])


Strategies = tuple[tuple[str, Strategy], ...]

PLAN_REPAIRS: Mapping[str, Strategy] = {
    "retry": retry,
    "re-navigate": renavigate,
    "satisfy": satisfy,
}
"""The strategies that keep the plan, by the names that policies use in
`hvr.planning.plans.RecoveryStrategies`."""

REPLANNING_STRATEGIES = ("satisfy", "replace", "ask")
"""The strategies that make a new plan, which the executor tries in turn."""


def crowded_place(
    impasse: Impasse, relevant: Collection[str], scene: SceneGraph, *, new: bool
) -> tuple[str, tuple[str, ...]]:
    """Return the place that has no room, and the things to take away from it.

    Nothing of the plan's own is taken away: the plan has put it there, or will use it.

    Args:
        impasse: why the plan cannot go on.
        relevant: names of the objects of the plan.
        scene: where everything is.
        new: only what the deviations speak of, which has just come there.

    Returns:
        The place, empty if want of room is not the reason, and names of the things.
    """
    place = next((f.objects[0] for f in impasse.failures if f.kind is DeviationKind.OCCUPIED), "")
    named = {n for f in impasse.failures for n in f.objects}
    strangers = [
        o.name
        for o in scene.objects.values()
        if place in o.parents
        and o.name not in relevant
        and o.attributes.get("pickupable")
        and (o.name in named or not new)
    ]
    return place, tuple(strangers[:MAX_MOVED])


def replaceable(
    impasse: Impasse, graph: KnowledgeGraph, inventory: Inventory, avoid: frozenset[str]
) -> str | None:
    """Return the object of an impasse that another one could stand in for, or None.

    The other one is of the same class, has the same affordances, and is there.
    """
    # What the deviations speak of comes first: the action may name what is as it should be.
    named = [n for f in impasse.failures for n in f.objects]
    named += impasse.action.args if impasse.action is not None else ()
    held = set(inventory.held)
    for name in dict.fromkeys(named):
        if name not in inventory.classes or name in held | avoid:
            continue
        good_for = _affordances(name, inventory, impasse.task)
        others = inventory.of(graph.object_class(name))
        if any(
            other != name
            and other not in avoid
            and inventory.true("present", other)
            and _affordances(other, inventory, impasse.task) == good_for
            for other in others
        ):
            return name
    return None


def _affordances(name: str, inventory: Inventory, task: Task) -> frozenset[str]:
    return frozenset(
        predicate
        for predicate in task.domain.predicates
        if predicate not in task.fluent_predicates and Atom(predicate, (name,)) in inventory.facts
    )


# Recovery progress --------------------------------------------------------------------------------
# Recovery: the next strategy, the outcome of the last one, and counts.


class _Use(NamedTuple):
    """A use of a strategy whose outcome is not known yet.

    Args:
        strategy: Its name.
        reason: the deviations in sentences.
        step: number of the step after which it was used.
        left: steps that it added and that are not done yet.
    """

    strategy: str
    reason: str
    step: int
    left: int


@dataclass
class RecoveryProgress:
    """The recovery strategies of one run, with a record of their use.

    Args:
        repairs: The strategies that keep the plan, cheapest first.
        listen: is called for each use of a strategy, when its outcome is known.
        max_tries: how often a strategy that keeps the plan may be used for the same step.
    """

    repairs: Strategies
    listen: Callable[[Recovery], None]
    max_tries: int = 1
    used: Counter[str] = field(default_factory=Counter, init=False)
    """How often each strategy was used in the run."""
    _tried: Counter[tuple[str, GroundAction | None]] = field(default_factory=Counter, init=False)
    _pending: _Use | None = field(default=None, init=False)

    def repair(self, impasse: Impasse) -> Steps | None:
        """Return the steps of the first strategy that helps and is not used up for this step."""
        for name, strategy in self.repairs:
            if self._tried[name, impasse.action] >= self.max_tries:
                continue
            steps = strategy(impasse)
            if steps is not None:
                self.take(name, impasse)
                # It has worked when the steps that it added are done; the rest was planned before.
                added = max(1, len(steps) - len(impasse.rest))
                self._pending = _Use(name, impasse.reason, impasse.step, added)
                return steps
        return None

    def done(self) -> None:
        """Take note that a step was done and the plan goes on."""
        if self._pending is not None:
            use = self._pending
            self._pending = use._replace(left=use.left - 1) if use.left > 1 else None
            if use.left == 1:
                self.listen(Recovery(use.strategy, use.reason, "worked", use.step))

    def stuck(self) -> None:
        """Take note that the plan cannot go on."""
        if self._pending is not None:
            use, self._pending = self._pending, None
            self.listen(Recovery(use.strategy, use.reason, "failed", use.step))

    def least_tried(self, names: tuple[str, ...], impasse: Impasse) -> tuple[str, ...]:
        """Return strategies in the order in which to use them: least used for this step first."""
        return tuple(sorted(names, key=lambda name: self._tried[name, impasse.action]))

    def take(self, name: str, impasse: Impasse) -> None:
        """Count the use of a strategy."""
        self._tried[name, impasse.action] += 1
        self.used[name] += 1


# Execution world ----------------------------------------------------------------------------------
# What the loop of `hvr.execution.executor` needs of a world: plans, a watch, and ways out.
#
# The kitchen's world (`hvr.execution.world`) keeps a knowledge graph and looks at a scene; a world
# of facts (`hvr.execution.facts.acting`) compares sets of facts. The loop is the same.

Goal = TypeVar("Goal")


class RecoverablePolicy(Protocol[Goal]):
    """What the loop asks of a policy itself; a `hvr.planning.plans.Policy` has it."""

    @property
    def recovery_strategies(self) -> RecoveryStrategies:
        """The recovery strategies that suit it."""
        ...

    def clearing(self, things: Sequence[str], place: str) -> Goal:
        """Return the goal of taking things away from a place."""
        ...

    def keeping(self, stage: Goal, constraints: Sequence[str]) -> Goal:
        """Return a goal to be reached under other constraints, as PDDL, than its own."""
        ...


class BeliefMonitor(Protocol):
    """Keeps the believed state in step with the world while a plan runs."""

    @property
    def state(self) -> State:
        """The observed state, with what is believed where nothing is seen."""
        ...

    def step(
        self, number: int, action: GroundAction, block: int, before: State, report: StepReport
    ) -> StepDone:
        """Execute a step that is applicable, and compare what is seen with what is expected."""
        ...

    def cannot(self, number: int, action: GroundAction) -> Deviation:
        """Return the deviation that keeps a step from being tried in the observed state."""
        ...

    def unmet_goal(self) -> tuple[Expression, ...]:
        """Return the literals that the goal needs and that do not hold in the observed state."""
        ...

    def ahead(self, state: State) -> tuple[Task, State]:
        """Return the task with what is left of its constraints, and a state of it."""
        ...

    def resumed(self, differing: Difference) -> Validator:
        """Return a validator that goes on from what is observed."""
        ...

    def outdated(self, rest: Sequence[GroundAction]) -> str:
        """Return why the rest of a plan is given up though it would work; empty if it is not."""
        ...


class ExecutionWorld(Protocol):
    """A world to act in.

    A class that inherits from this one has to define `wording`, `plan`, `watch` and
    `look_around`; the rest has defaults for a world in which all things are seen and none has a
    place.
    """

    @property
    def wording(self) -> Wording | None:
        """How literals are said; None for hvr's own words."""
        ...

    def plan(self, policy: Any, stage: Any, avoid: frozenset[str], reason: str) -> Planned:
        """Return a plan from the world as observed.

        Args:
            policy: who plans, of the kind that suits this world.
            stage: what to reach, as the policy has it.
            avoid: objects that are not to be used.
            reason: why an earlier plan could not be carried on; empty at first.

        Raises:
            ImpossibleGoalError: it is proven that there is no plan.
            PlannerError: none was found in the time allowed.
        """
        ...

    def watch(
        self, planned: Planned, constraints: ConstraintMonitor, *, aside: bool = False
    ) -> BeliefMonitor:
        """Return a watch over a plan that begins now; see `hvr.execution.monitor.SceneMonitor`."""
        ...

    def crowding(
        self, impasse: Impasse, relevant: Collection[str], *, new: bool
    ) -> tuple[str, tuple[str, ...]]:
        """Return the place that has no room, and the things to take away from it."""
        del impasse, relevant, new
        return "", ()

    def replaceable(self, impasse: Impasse, avoid: frozenset[str]) -> str | None:
        """Return the object of an impasse that another one could stand in for, or None."""
        del impasse, avoid
        return None

    def missing(self, policy: Any, stage: Any, *, spare: bool = False) -> tuple[str, ...]:
        """Return the things that a stage needs and of which nobody knows where they are.

        Args:
            policy: who plans.
            stage: what to reach.
            spare: also those of a kind of which there are others.
        """
        del policy, stage, spare
        return ()

    def unplaced(self) -> frozenset[str]:
        """Return all things of which nobody knows where they are."""
        return frozenset()

    def place_to_open(self, sought: Sequence[str], shut: Collection[str]) -> str | None:
        """Return the closed place to look into next for some things, or None."""
        del sought, shut
        return None

    def opening(self, policy: Any, place: str, closing: tuple[str, ...], stage: Any) -> Planned:
        """Return a plan that opens a place; see `hvr.planning.plans.Policy.opening`.

        Raises:
            ImpossibleGoalError, PlannerError: there is none, or none was found.
        """
        del policy, closing, stage
        raise ImpossibleGoalError(f"nothing is known of how {place} opens")

    def look_around(self, step: int, everything: bool = False) -> tuple[str, ...]:
        """Look for what is lost, or at everything again; return names of what was found."""
        ...

    def notice(self, step: int, failures: Iterable[Deviation]) -> None:
        """Take note of deviations that belong to no executed step."""
        del step, failures
