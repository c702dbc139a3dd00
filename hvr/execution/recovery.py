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

from hvr.execution.failures import Deviation, DeviationKind
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.scene_graph import SceneGraph
from hvr.pddl import Atom, GroundAction, Task
from hvr.pddl.state import State
from hvr.planning.search.navigation import find_navigation
from hvr.validation import Validator
from hvr.values import Value

REPAIR_SECONDS = 2.0
"""Seconds that `satisfy` may look for steps."""

MOST_MOVED = 3
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


Mend = Callable[[Impasse], Steps | None]
"""All steps to do from here on to the end of the plan; None when the rung does not help here."""


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


Mends = tuple[tuple[str, Mend], ...]

MENDS: Mapping[str, Mend] = {"retry": retry, "re-navigate": renavigate, "satisfy": satisfy}
"""The rungs that keep the plan, by the names that policies use in `hvr.planning.plans.Rungs`."""

REPLANS = ("satisfy", "replace", "ask")
"""The rungs that make a new plan, which the executor climbs."""


def crowding(
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
        o.name for o in scene.objects.values()
        if place in o.parents and o.name not in relevant and o.attributes.get("pickupable")
        and (o.name in named or not new)
    ]  # fmt: skip
    return place, tuple(strangers[:MOST_MOVED])


def replaceable(
    impasse: Impasse, graph: KnowledgeGraph, inventory: Inventory, avoid: frozenset[str]
) -> str | None:
    """Return the object of an impasse that another one could stand in for, or None.

    The other one is of the same class, has the same affordances, and is there.

    Args:
        impasse: why the plan cannot go on.
        graph: knows the classes.
        inventory: what there is.
        avoid: objects that have been replaced already.
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
            other != name and other not in avoid and inventory.true("present", other)
            and _affordances(other, inventory, impasse.task) == good_for
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
