"""More objects than a goal seems to need, from the domain alone: before anybody says "impossible".

A choice of objects that is too narrow makes a problem without a plan. What the whole scene would
take is asked of its lifted actions: whether the goal can be reached at all if nothing ever became
false, and if so, by which actions (a relaxed plan; Hoffmann & Nebel 2001).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator

from hvr.knowledge.retrieval.relevance import Relevant
from hvr.pddl import Atom, Task
from hvr.pddl.facts import necessary_literals


def ever_more(
    chosen: Relevant,
    pose: Callable[[], Task],
    complete: Callable[[Relevant, Iterable[str]], Relevant],
    seconds: float,
) -> Iterator[Relevant]:
    """Yield chosen objects, then more, in the end all there are; less where none would help.

    Whoever has tried all that is yielded, and found no plan, knows that there is none.

    Args:
        chosen: what is tried first.
        pose: makes the task with all objects, or with one more for all that are alike.
        complete: adds objects to a choice, with what these depend on.
        seconds: how long at most, each time, to look for what else is needed.
    """
    yield chosen
    task = pose()
    if out_of_reach(task, seconds):
        return
    more = relaxed_plan_objects(task, seconds)
    if more is None:
        return
    wider = complete(chosen, more)
    if wider.reasons.keys() > chosen.reasons.keys():
        yield wider
    everything = [o.name for o in task.problem.objects]
    if not wider.reasons.keys() >= {*everything}:
        yield complete(wider, everything)


def out_of_reach(task: Task, seconds: float) -> bool:
    """Return whether it is shown, without a search, that a task has no plan.

    False says nothing.

    Args:
        task: the task, with all objects.
        seconds: how long to look.
    """
    # Imported here and below: most goals have a plan among the objects chosen first.
    from hvr.validation.reachability import Reachable

    reachable = Reachable(task, seconds)
    return reachable.complete and any(
        positive and isinstance(literal, Atom) and literal not in reachable
        for literal, positive in necessary_literals(task.problem.goal)
    )


def relaxed_plan_objects(task: Task, seconds: float) -> tuple[str, ...] | None:
    """Return the objects of a relaxed plan and what belongs to them; None if there is no such plan.

    Without the time for one they are none.

    Args:
        task: the task, with all objects.
        seconds: how long to look.
    """
    from hvr.validation.relaxation import Clock, Relaxation

    relaxation = Relaxation(task.initial, task.goal, frozenset(), Clock(seconds), beyond=0)
    if not relaxation.reachable:
        return None if relaxation.complete else ()
    plan = relaxation.relaxed_plan(task.initial.bits)
    steps = plan[0] if plan is not None else set()
    actions = [relaxation.operators[number].action for number in sorted(steps)]
    names = dict.fromkeys(name for action in actions for name in action.args)
    return tuple(dict.fromkeys([*names, *_belonging(task, names)]))


def _belonging(task: Task, names: Collection[str]) -> Iterator[str]:
    """Yield what fixed facts pair with one of some objects alone, as a switch with its machine.

    Conditions of actions may ask that it be there (`exists`) without naming it among arguments.
    """
    pairs: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for atom in sorted(task.problem.init, key=str):
        if len(atom.args) == 2 and task.is_static(atom.predicate):
            pairs[atom.predicate].append(atom.args)
    for rows in pairs.values():
        first, second = (Counter(row[side] for row in rows) for side in (0, 1))
        for one, other in rows:
            if first[one] == second[other] == 1 and (one in names) is not (other in names):
                yield other if one in names else one
