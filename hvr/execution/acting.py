"""What the loop of `hvr.execution.executor` needs of a world: plans, a watch, and ways out.

The kitchen's world (`hvr.execution.world`) keeps a knowledge graph and looks at a scene; a world of
facts (`hvr.execution.facts.acting`) compares sets of facts. The loop is the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from hvr.errors import ImpossibleGoalError
from hvr.execution.compare import Difference
from hvr.execution.events import StepDone
from hvr.execution.failures import Deviation
from hvr.execution.recovery import Impasse
from hvr.knowledge.wording import Wording
from hvr.pddl import Expression, GroundAction, State, Task
from hvr.planning.plans import Planned, Rungs
from hvr.validation import Validator
from hvr.validation.promises import Promises
from hvr.validation.report import StepReport

Goal = TypeVar("Goal")


class Recovering(Protocol[Goal]):
    """What the loop asks of a policy itself; a `hvr.planning.plans.Policy` has it."""

    @property
    def rungs(self) -> Rungs:
        """The recoveries that suit it."""
        ...

    def clearing(self, things: Sequence[str], place: str) -> Goal:
        """Return the goal of taking things away from a place."""
        ...

    def keeping(self, stage: Goal, constraints: Sequence[str]) -> Goal:
        """Return a goal to be reached under other constraints, as PDDL, than its own."""
        ...


class Watching(Protocol):
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


class Acting(Protocol):
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

    def watch(self, planned: Planned, promises: Promises, *, aside: bool = False) -> Watching:
        """Return a watch over a plan that begins now; see `hvr.execution.watching.Watch`."""
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
        """Return the closed place to look into next for some things, or None.

        Args:
            sought: names of the things.
            shut: places that do not open.
        """
        del sought, shut
        return None

    def opening(self, policy: Any, place: str, for_nothing: tuple[str, ...], stage: Any) -> Planned:
        """Return a plan that opens a place; see `hvr.planning.plans.Policy.opening`.

        Raises:
            ImpossibleGoalError, PlannerError: there is none, or none was found.
        """
        del policy, for_nothing, stage
        raise ImpossibleGoalError(f"nothing is known of how {place} opens")

    def look_around(self, step: int, everything: bool = False) -> tuple[str, ...]:
        """Look for what is lost, or at everything again; return names of what was found."""
        ...

    def notice(self, step: int, failures: Iterable[Deviation]) -> None:
        """Take note of deviations that belong to no executed step."""
        del step, failures
