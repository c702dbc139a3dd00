"""Recovery strategies: ways to continue when a plan fails, cheapest first."""

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
from hvr.validation.report import StepReport
from hvr.validation.trajectory import ConstraintMonitor
from hvr.validation.validator import Validator
from hvr.values import Value

# Recovery -----------------------------------------------------------------------------------------
# The recovery strategies, cheapest first: name, steps, and the impasse they help with.
#
#     retry              repeat the step             an action without effect
#     re-navigate        go there again, repeat      an object out of reach or obstructed
#     satisfy            plan from the observation   a missing or undone precondition
#     make room          clear a place               a microwave with a lettuce in it
#     replace            use another object          an object that is gone, broken or blocked
#     ask                tell the policy             anything that no strategy above can repair
#
# The first two continue the plan, the others make a new one. A step is proposed only if the domain
# predicts that the plan then reaches its goal. If all fail, the run ends with a report of the
# unmet goal.

REPAIR_SECONDS = 2.0
"""Time limit in seconds of the search in `satisfy`."""

MAX_MOVED = 3
"""Maximum number of objects that are moved to make room."""

Steps = tuple[GroundAction, ...]


class Impasse(Value):
    """A point at which hvr stops following a plan.

    Args:
        action: The step that failed or is inapplicable; None if the goal is unmet at the end of
            the plan, or if `why` is set.
        done: Whether the environment reported success, so that the step need not be repeated.
        why: Reason to prefer a new plan although nothing failed; empty after a failure.
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
        """Why hvr stops following the plan, in sentences."""
        return self.why or " ".join(f.explanation for f in self.failures)

    def if_it_works(self, *first: GroundAction) -> Steps | None:
        """Return `first` and the remaining steps, or None if they are not a valid plan."""
        steps = (*first, *self.rest)
        return steps if Validator(self.task, state=self.state).check(steps).valid else None


Strategy = Callable[[Impasse], Steps | None]
"""Returns all steps up to the end of the plan, or None if the strategy does not help."""


def retry(impasse: Impasse) -> Steps | None:
    """Repeat the step, unless it would fail for the same reason.

    Helps if a grasp failed, but not if the place is full or blocked.
    """
    again = {DeviationKind.OCCUPIED, DeviationKind.BLOCKED}
    if impasse.action is None or any(f.kind in again for f in impasse.failures):
        return None
    return impasse.if_it_works(impasse.action)


def renavigate(impasse: Impasse) -> Steps | None:
    """Go to an object of the step again and repeat the step.

    Helps if the object is out of reach or out of view, or if the way was blocked for a moment.
    """
    if impasse.action is None or any(f.kind is DeviationKind.OCCUPIED for f in impasse.failures):
        return None
    navigation = find_navigation(impasse.task.domain)
    if navigation is None:
        return None
    if impasse.action.name in navigation.actions:
        # What blocked the way, which is not part of the belief, may have moved on.
        blocked = any(f.kind is DeviationKind.BLOCKED for f in impasse.failures)
        return impasse.if_it_works(impasse.action) if blocked else None
    # The last argument is usually the place of the step, which brings the rest into reach.
    for name in reversed(impasse.action.args):
        for move in sorted(navigation.actions):
            steps = impasse.if_it_works(GroundAction(move, (name,)), impasse.action)
            if steps is not None:
                return steps
    return None


def satisfy(impasse: Impasse) -> Steps | None:
    """Insert steps that restore missing conditions, as the validator's repair does.

    Helps if another agent has closed the fridge, for example. It is meant for policies that cannot
    plan from the observed state; a classical planner makes a new plan instead.
    """
    # Imported here because it is slow to import and rarely needed.
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
"""The strategies that keep the plan, by the names used in `RecoveryStrategies`."""

REPLANNING_STRATEGIES = ("satisfy", "replace", "ask")
"""The strategies that make a new plan, in the executor's order."""


def crowded_place(
    impasse: Impasse, relevant: Collection[str], scene: SceneGraph, *, new: bool
) -> tuple[str, tuple[str, ...]]:
    """Return the place that lacks room (empty if no place does), and the objects to move away.

    There are at most `MAX_MOVED` of them. Objects that the plan has placed or will use are not
    moved.

    Args:
        relevant: Objects that the plan has placed or will use.
        new: Whether to move only objects named by the deviations, which have just arrived.
    """
    place = next((f.objects[0] for f in impasse.failures if f.kind is DeviationKind.OCCUPIED), "")
    named = {n for f in impasse.failures for n in f.objects}
    occupants = [
        o.name
        for o in scene.objects.values()
        if place in o.parents
        and o.name not in relevant
        and o.attributes.get("pickupable")
        and (o.name in named or not new)
    ]
    return place, tuple(occupants[:MAX_MOVED])


def replaceable(
    impasse: Impasse, graph: KnowledgeGraph, inventory: Inventory, avoid: frozenset[str]
) -> str | None:
    """Return an object of the impasse that another object can replace, or None.

    The replacement must be present and have the same class and affordances.
    """
    # Objects of the deviations come first: the action also names objects that are fine.
    named = [n for f in impasse.failures for n in f.objects]
    named += impasse.action.args if impasse.action is not None else ()
    held = set(inventory.held)
    for name in dict.fromkeys(named):
        if name not in inventory.classes or name in held | avoid:
            continue
        affordances = _affordances(name, inventory, impasse.task)
        others = inventory.of(graph.object_class(name))
        if any(
            other != name
            and other not in avoid
            and inventory.true("present", other)
            and _affordances(other, inventory, impasse.task) == affordances
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


class _Use(NamedTuple):
    """A use of a strategy with an open outcome; `left` counts inserted steps not yet done."""

    strategy: str
    reason: str
    step: int
    left: int


@dataclass
class RecoveryProgress:
    """Tries the recovery strategies of one run and reports each use to `listen`."""

    repairs: Strategies
    listen: Callable[[Recovery], None]
    max_tries: int = 1
    used: Counter[str] = field(default_factory=Counter, init=False)
    """Number of uses of each strategy in the run."""
    _tried: Counter[tuple[str, GroundAction | None]] = field(default_factory=Counter, init=False)
    _pending: _Use | None = field(default=None, init=False)

    def repair(self, impasse: Impasse) -> Steps | None:
        """Return the steps of the first strategy that helps and is not exhausted for this step."""
        for name, strategy in self.repairs:
            if self._tried[name, impasse.action] >= self.max_tries:
                continue
            steps = strategy(impasse)
            if steps is not None:
                self.count_use(name, impasse)
                # The strategy has worked once its added steps are done; the rest was planned
                # before.
                added = max(1, len(steps) - len(impasse.rest))
                self._pending = _Use(name, impasse.reason, impasse.step, added)
                return steps
        return None

    def done(self) -> None:
        """Record that a step succeeded, which may complete the pending strategy."""
        if self._pending is not None:
            use = self._pending
            self._pending = use._replace(left=use.left - 1) if use.left > 1 else None
            if use.left == 1:
                self.listen(Recovery(use.strategy, use.reason, "worked", use.step))

    def stuck(self) -> None:
        if self._pending is not None:
            use, self._pending = self._pending, None
            self.listen(Recovery(use.strategy, use.reason, "failed", use.step))

    def least_tried(self, names: tuple[str, ...], impasse: Impasse) -> tuple[str, ...]:
        """Sort strategies by how often they were used for the impasse's step, rarest first."""
        return tuple(sorted(names, key=lambda name: self._tried[name, impasse.action]))

    def count_use(self, name: str, impasse: Impasse) -> None:
        self._tried[name, impasse.action] += 1
        self.used[name] += 1


# Execution world ----------------------------------------------------------------------------------
# The interface between the loop in `hvr.execution.executor` and a world. The kitchen's world
# (`hvr.execution.world`) reads a scene into a knowledge graph; a world of facts
# (`hvr.execution.facts.acting`) compares sets of facts.

Goal = TypeVar("Goal")


class RecoverablePolicy(Protocol[Goal]):
    """The part of a `hvr.planning.plans.Policy` that the executor uses."""

    @property
    def recovery_strategies(self) -> RecoveryStrategies: ...

    def clearing(self, things: Sequence[str], place: str) -> Goal:
        """Return the goal of moving objects away from a place."""
        ...

    def keeping(self, stage: Goal, constraints: Sequence[str]) -> Goal:
        """Return the goal with other constraints, given as PDDL."""
        ...


class BeliefMonitor(Protocol):
    """Tracks the believed state while a plan runs."""

    @property
    def state(self) -> State:
        """The observed state, with believed values for unseen facts."""
        ...

    @property
    def constraint_state(self) -> State:
        """The observed state of all objects that the constraints mention."""
        return self.state

    def step(
        self, number: int, action: GroundAction, block: int, before: State, report: StepReport
    ) -> StepDone:
        """Execute an applicable step, and compare the observation with the prediction."""
        ...

    def cannot(self, number: int, action: GroundAction) -> Deviation:
        """Return the deviation that explains why a step is inapplicable in the observed state."""
        ...

    def unmet_goal(self) -> tuple[Expression, ...]:
        """Return the goal literals that do not hold in the observed state."""
        ...

    def ahead(self, state: State) -> tuple[Task, State]:
        """Return the task with the constraints that are still open, and the state in this task."""
        ...

    def resumed(self, differing: Difference) -> Validator:
        """Return a validator that continues from the observed state."""
        ...

    def outdated(self, rest: Sequence[GroundAction]) -> str:
        """Return a reason to replace a plan that would still succeed, or "" to keep it."""
        del rest
        return ""


class ExecutionWorld(Protocol):
    """The executor's interface to a world.

    Subclasses must define `wording`, `plan`, `watch` and `look_around`. The defaults of the other
    methods suit a world in which everything is visible and objects have no places.
    """

    may_repeat: bool = False
    """Whether an action that was refused may succeed later although the belief is unchanged."""

    @property
    def limited(self) -> bool:
        """Whether only a part of the world is visible."""
        return False

    @property
    def wording(self) -> Wording | None:
        """Templates for literals; None means hvr's own."""
        ...

    def scope(self, planned: Planned) -> Task:
        """Return a task that contains all objects mentioned by the constraints of a plan."""
        return planned.task

    def plan(self, policy: Any, stage: Any, avoid: frozenset[str], reason: str) -> Planned:
        """Return a plan from the observed state of the world.

        Args:
            stage: The goal, in the policy's form.
            avoid: Objects that the plan must not use.
            reason: Why the previous plan could not continue; empty for the first plan.

        Raises:
            ImpossibleGoalError: It is proven that no plan exists.
            PlannerError: No plan was found within the time limit.
        """
        ...

    def watch(
        self, planned: Planned, constraints: ConstraintMonitor, *, aside: bool = False
    ) -> BeliefMonitor:
        """Return a monitor of a plan that begins now; see `hvr.execution.monitor.PlanMonitor`."""
        ...

    def crowding(
        self, impasse: Impasse, relevant: Collection[str], *, new: bool
    ) -> tuple[str, tuple[str, ...]]:
        """Return the place that lacks room, and the objects to move away; see `crowded_place`."""
        del impasse, relevant, new
        return "", ()

    def replaceable(self, impasse: Impasse, avoid: frozenset[str]) -> str | None:
        """Return an object of the impasse that another object can replace, or None."""
        del impasse, avoid
        return None

    def missing(self, policy: Any, stage: Any, *, spare: bool = False) -> tuple[str, ...]:
        """Return the needed objects with unknown places; `spare` includes replaceable objects."""
        del policy, stage, spare
        return ()

    def untidy(self, policy: Any, stage: Any) -> tuple[str, ...]:
        """Return the objects left in an undesired state by actions, such as a burner that is on."""
        del policy, stage
        return ()

    def unplaced(self) -> frozenset[str]:
        """Return all objects whose places are unknown."""
        return frozenset()

    def search_order(self, objects: Sequence[str], searched: Collection[str]) -> tuple[str, ...]:
        """Return the places not in `searched` that may contain the objects, best place first."""
        del objects, searched
        return ()

    def unseen(self, watch: Any, step: int) -> tuple[str, ...]:
        """Return the objects that a reached goal depends on but that were not seen since a step."""
        del watch, step
        return ()

    def visiting(
        self, policy: Any, thing: str, closing: tuple[str, ...], stage: Any
    ) -> tuple[Planned, tuple[str, ...]]:
        """Return a plan to see an object and to close `closing`, and the places that it opens.

        Raises:
            ImpossibleGoalError: The world has no such plan.
        """
        del policy, closing, stage
        raise ImpossibleGoalError(f"this world cannot show {thing}")

    def doubt(self, thing: str) -> None:
        """Assume that an object has moved if it is not seen at its believed place."""
        del thing

    def opening(self, policy: Any, place: str, closing: tuple[str, ...], stage: Any) -> Planned:
        """Return a plan that opens a place; see `hvr.planning.plans.Policy.opening`."""
        del policy, closing, stage
        raise ImpossibleGoalError(f"this world cannot open {place}")

    def look_around(self, step: int, everything: bool = False) -> tuple[str, ...]:
        """Look around for lost objects; return the names of the found ones.

        Args:
            everything: Look even if nothing is lost, and also return the objects that differ from
                the belief.
        """
        ...

    def notice(self, step: int, failures: Iterable[Deviation]) -> None:
        """Record deviations found outside executed steps."""
        del step, failures
