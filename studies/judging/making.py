"""Labelled cases made from valid plans by reducing, damaging and labelling them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random

from hvr.judging.evidence import executable, holds
from hvr.judging.reduction import smallest_reduction
from hvr.pddl import And, Atom, Domain, GroundAction, Misfit, Problem, Task, print_problem
from studies.judging.corpus import Case, Missing
from studies.judging.damage import Damage, damaged
from studies.judging.oracle import Answers, Item, repairs

_COUNTS = (0, 1, 2, 3, 4)
_SHARES = (25, 19, 19, 19, 18)


def reduced(task: Task, plan: Sequence[GroundAction]) -> tuple[GroundAction, ...] | None:
    """Return the smallest subplan that reaches the goal; None if the plan does not reach it."""
    reduction = smallest_reduction(task.initial, [task.ground(action) for action in plan])
    return None if reduction.kept is None else tuple([plan[i] for i in reduction.kept])


def draw_count(rng: Random) -> int:
    return rng.choices(_COUNTS, _SHARES)[0]


def case_of(task: Task, items: Sequence[Item], case: Case) -> Case | None:
    """Complete a template (id, source, domain, problem, base) with a damaged plan and its labels.

    Returns:
        The case; None if restoring dropped steps cannot repair the plan.
    """
    oracle = "exhaustive"
    try:
        answers = repairs(task, items)
    except OverflowError:
        oracle, answers = "search", _searched(task, items)
    if answers is None:
        return None
    number: list[int] = []
    for item in items:
        number.append((number[-1] if number else 0) + (not item.dropped))
    best = min(answers.kept, key=sorted)
    wanted = {i for i in best if items[i].dropped}
    remove = [
        tuple(number[i] for i, item in enumerate(items) if i not in kept and not item.dropped)
        for kept in sorted(answers.kept, key=sorted)
        if {i for i in kept if items[i].dropped} == wanted
    ]
    missing = [Missing(number[i] + 1, str(items[i].action), items[i].kind) for i in sorted(wanted)]
    added = {
        str(number[i]): item.kind for i, item in enumerate(items) if item.kind and not item.dropped
    }
    return replace(
        case,
        plan=tuple([str(item.action) for item in items if not item.dropped]),
        kinds=_kinds(items),
        remove=tuple(dict.fromkeys(remove)),
        missing=tuple(missing),
        added=added,
        inserted=answers.inserted,
        length=answers.length,
        oracle=oracle,
    )


def _kinds(items: Sequence[Item]) -> tuple[str, ...]:
    kinds = []
    for before, item in zip([None, *items], items, strict=False):
        if item.kind and (before is None or before.kind != item.kind):
            kinds.append(item.kind)
    return tuple(kinds)


def _searched(task: Task, items: Sequence[Item]) -> Answers | None:
    """Return the best repairs by search, for state spaces too large for the exhaustive oracle."""
    left = [
        i
        for i, item in enumerate(items)
        if not item.dropped and not isinstance(task.try_ground(item.action), Misfit)
    ]
    dropped = [i for i, item in enumerate(items) if item.dropped]
    places = [sum(j < i for j in left) for i in dropped]
    offers = [
        [task.ground(items[i].action) for i, at in zip(dropped, places, strict=True) if at == place]
        for place in range(len(left) + 1)
    ]
    operators = [task.ground(items[i].action) for i in left]
    # Grow the number of restored steps, so the first repair found restores the fewest.
    for budget in range(len(dropped) + 1):
        reduction = smallest_reduction(task.initial, operators, offers=offers, budget=budget)
        if reduction.kept is None:
            continue
        put_back = []
        for place, operator in reduction.inserted:
            able = [i for i, at in zip(dropped, places, strict=True) if at == place]
            able = [i for i in able if items[i].action == operator.action and i not in put_back]
            if not able:
                # The repair uses one dropped step more often than it was dropped.
                return None
            put_back.append(able[0])
        everything = frozenset(range(len(left)))
        ways = [frozenset(reduction.kept)]
        ways += [everything - gone for gone in reduction.alternatives]
        kept = [frozenset([left[i] for i in way]).union(put_back) for way in ways]
        return Answers(len(put_back), len(kept[0]), tuple(dict.fromkeys(kept)))
    return None


def cases_of(
    domain: Domain,
    problem: Problem,
    plan: Sequence[GroundAction],
    case: Case,
    kinds: Mapping[str, Damage],
    seeds: Sequence[int],
) -> Iterator[Case]:
    """Yield one damaged case per seed; none if the reduced plan has fewer than three steps."""
    task = Task(domain, problem)
    base = reduced(task, plan)
    # Shorter plans leave no room for several errors.
    if base is None or len(base) < 3:
        return
    case = replace(case, problem=print_problem(problem), base=len(base))
    for seed in seeds:
        rng = Random(f"{case.id} {seed}")
        items = damaged(task, base, kinds, draw_count(rng), rng)
        made = case_of(task, items, replace(case, id=f"{case.id} #{seed}"))
        if made is not None:
            yield made


def hard_negative(
    domain: Domain, problem: Problem, plan: Sequence[GroundAction], case: Case
) -> Case | None:
    """Return a case without errors whose goal also requires carrying a second object.

    The steps for the second object look irrelevant or repeated.
    """
    task = Task(domain, problem)
    base = reduced(task, plan)
    if base is None:
        return None
    rng = Random(case.id)
    named = [name for action in base for name in action.args]
    types = {task.objects[name][0] for name in named}
    things = [n for n in task.objects if n not in named]
    things.sort(key=lambda n: (task.objects[n][0] not in types, rng.random()))
    places = [n for n in task.objects if n.startswith(("countertop", "diningtable"))]
    operators = [task.ground(action) for action in base]
    end = executable(task, (task.initial.bits, task.initial.values), operators)
    for thing in things:
        for place in places:
            steps = [
                GroundAction("navigate_to_obj", (thing,)),
                GroundAction("pick_up", (thing,)),
                GroundAction("navigate_to_obj", (place,)),
                GroundAction("put_on", (thing, place)),
            ]
            wanted = Atom("on", (thing, place))
            goal = And((problem.goal, wanted))
            compiled = [task.try_ground(step) for step in steps]
            if (
                end is None
                or any(isinstance(o, Misfit) for o in compiled)
                or wanted in task.initial
            ):
                continue
            after = executable(task, end, [task.ground(step) for step in steps])
            if after is None or not holds(task.condition(goal), after):
                continue
            harder = problem.replace(goal=goal)
            items = [Item(action) for action in (*base, *steps)]
            known = replace(
                case, problem=print_problem(harder), base=len(items), id=f"{case.id} #H"
            )
            made = case_of(Task(domain, harder), items, known)
            if made is not None and made.length == len(items):
                # The sentences do not mention the second object.
                return replace(made, kinds=("H",), sentences=())
    return None
