"""The ladder of recoveries: what may be tried when a plan cannot go on, cheapest first.

    retry              do the step again           an action that did not take
    re-navigate        go there again, do it       something out of reach or in the way
    satisfy            plan from what is seen      a condition that is missing or was undone
    make room          take others away            a microwave that somebody put a lettuce in
    replace            plan with another object    one that is gone, broken or blocked
    ask                tell the policy             what no rung above can mend

The first two go on with the plan as it is, the others make a new one. A step is proposed only
if the domain says that the plan then reaches its goal. The last resort is to give up, with an
account of what remains.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from hvr.execution.failures import Deviation, DeviationKind
from hvr.knowledge.graph import KnowledgeGraph
from hvr.pddl import Atom, GroundAction, Task
from hvr.pddl.state import State
from hvr.retrieval.inventory import Inventory
from hvr.scene_graph import SceneGraph
from hvr.search.navigation import find_navigation
from hvr.validation import Validator

Steps = tuple[GroundAction, ...]


@dataclass(frozen=True)
class Impasse:
    """Why a plan cannot go on, and where.

    Args:
        failures: what was noticed.
        action: the step that went wrong or cannot be tried; None at the end of a plan.
        done: the step was reported as done, so that it need not be done again.
        rest: the steps that were to follow.
        task: the problem.
        state: what is observed.
        step: number of the last step that was done.
    """

    failures: tuple[Deviation, ...]
    action: GroundAction | None
    done: bool
    rest: Steps
    task: Task
    state: State
    step: int = 0

    @property
    def reason(self) -> str:
        """The failures in sentences."""
        return " ".join(f.explanation for f in self.failures)

    def if_it_works(self, *first: GroundAction) -> Steps | None:
        """These steps and then the rest, if the domain says that they reach the goal."""
        steps = (*first, *self.rest)
        return steps if Validator(self.task, state=self.state).check(steps).valid else None


Mend = Callable[[Impasse], Steps | None]
"""All steps to do from here on to the end of the plan; None when the rung does not help here."""


def retry(trouble: Impasse) -> Steps | None:
    """Do the step again, where nothing speaks against it.

    Helps: the mug was not grasped, though it stands there. Not where there is no room or
    something is in the way, which would be so again.
    """
    again = {DeviationKind.OCCUPIED, DeviationKind.BLOCKED}
    if trouble.action is None or any(f.kind in again for f in trouble.failures):
        return None
    return trouble.if_it_works(trouble.action)


def renavigate(trouble: Impasse) -> Steps | None:
    """Go to an object of the step again and do it from there.

    Helps: the cup is too far away, or cannot be seen from here.
    """
    if trouble.action is None or any(f.kind is DeviationKind.OCCUPIED for f in trouble.failures):
        return None
    navigation = find_navigation(trouble.task.domain)
    if navigation is None or trouble.action.name in navigation.actions:
        return None
    for name in reversed(trouble.action.args):
        for move in sorted(navigation.actions):
            steps = trouble.if_it_works(GroundAction(move, (name,)), trouble.action)
            if steps is not None:
                return steps
    return None


def satisfy(trouble: Impasse) -> Steps | None:
    """Put in the steps that supply what is missing, as the validator's advice does.

    Helps: the fridge has been closed again. For policies that do not plan from the observed
    state themselves; a classical planner makes a new plan instead.
    """
    from hvr.validation.repair import find_repair

    again = () if trouble.action is None or trouble.done else (trouble.action,)
    steps = (*again, *trouble.rest)
    validator = Validator(trouble.task, state=trouble.state)
    report = validator.check(steps)
    if report.valid:
        return None  # nothing is missing
    advice, _ = find_repair(validator, steps, report, seconds=REPAIR_SECONDS)
    if advice is None or not advice.completes:
        return None
    place = len(steps) if advice.step is None else advice.step - 1
    return (*steps[:place], *advice.actions, *steps[place:])


REPAIR_SECONDS = 2.0
"""How long `satisfy` may look for steps."""

Mends = tuple[tuple[str, Mend], ...]

MENDS: Mapping[str, Mend] = {"retry": retry, "re-navigate": renavigate, "satisfy": satisfy}
"""The rungs that keep the plan, by the names that policies use in `hvr.plans.Rungs`."""


MOST_MOVED = 3
"""So many things are taken away at most to make room."""


def crowding(
    trouble: Impasse, relevant: Collection[str], scene: SceneGraph, *, new: bool
) -> tuple[str, tuple[str, ...]]:
    """Return where there was no room, and what to take away from there: nothing of the plan's own.

    Args:
        trouble: what went wrong.
        relevant: names of the objects of the plan.
        scene: what is where.
        new: only what the failures speak of, which has just come there.

    Returns:
        The place, empty if want of room is not the trouble, and names of the things.
    """
    place = next((f.objects[0] for f in trouble.failures if f.kind is DeviationKind.OCCUPIED), "")
    named = {n for f in trouble.failures for n in f.objects}
    strangers = [
        o.name for o in scene.objects.values()
        if place in o.parents and o.name not in relevant and o.attributes.get("pickupable")
        and (o.name in named or not new)
    ]  # fmt: skip
    return place, tuple(strangers[:MOST_MOVED])


def replaceable(
    trouble: Impasse, graph: KnowledgeGraph, inventory: Inventory, avoid: frozenset[str]
) -> str | None:
    """Return the object of the trouble that another one could stand in for, or None.

    The other one is of the same class, has the same affordances, and is there.

    Args:
        trouble: what went wrong.
        graph: knows the classes.
        inventory: what there is.
        avoid: objects that have been replaced already.
    """
    named = [n for f in trouble.failures for n in f.objects]
    named += trouble.action.args if trouble.action is not None else ()
    held = set(inventory.held)
    for name in dict.fromkeys(named):
        if name not in inventory.classes or name in held | avoid:
            continue
        good_for = _affordances(name, inventory, trouble.task)
        others = inventory.of(graph.object_class(name))
        if any(
            other != name and other not in avoid and inventory.true("present", other)
            and _affordances(other, inventory, trouble.task) == good_for
            for other in others
        ):  # fmt: skip
            return name
    return None


def _affordances(name: str, inventory: Inventory, task: Task) -> frozenset[str]:
    """Return the unary predicates that never change and are true of an object."""
    return frozenset(
        predicate for predicate in task.domain.predicates
        if predicate not in task.fluent_predicates and Atom(predicate, (name,)) in inventory.facts
    )  # fmt: skip
