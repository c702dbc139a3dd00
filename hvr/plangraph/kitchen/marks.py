"""What a step, and the end of a plan, have to do with the words of the request.

A plan node has outputs; these marks are outputs of a kind that depends on the request. They
take the place of the paper's align margin (section 3.3.2): a kitchen step's text follows from its
action, so that the two always agree, and what can be wrong is the action for this request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from hvr.pddl.model import GroundAction
from hvr.plangraph.kitchen.asked import FAMILIES, Asked, Named, covers
from hvr.plangraph.kitchen.linked_plan import Fact, LinkedPlan, LinkedStep
from hvr.plangraph.kitchen.words import class_of


def step_marks(step: LinkedStep, asked: Asked, types: Mapping[str, str]) -> tuple[str, ...]:
    """Marks of a step: whether what it handles, its place and the states it makes are named."""
    found = []
    for role, name in zip(("thing", "place"), step.action.args, strict=False):
        named = is_named(class_of(name, types), asked)
        found.append(f"* {role} {'named' if named else 'not named'}")
    for family in sorted({FAMILIES[f.predicate] for f in step.makes if f.predicate in FAMILIES}):
        if family not in {"hold", "open", "switch"}:
            asks = any(f == family for f, _ in asked.states)
            found.append(f"* makes {'asked' if asks else 'unasked'} {family}")
    return tuple(found)


def end_marks(plan: LinkedPlan, asked: Asked) -> tuple[str, ...]:
    """Marks of the end: what the request names and the plan leaves undone, and the reverse."""
    ends = [n.fact for n in plan.ends]
    return tuple(
        dict.fromkeys(
            [
                *_of_things(plan, asked, ends),
                *_of_counts(plan, asked, ends),
                *_of_places(plan, asked, ends),
                *_of_states(plan, asked, ends),
            ]
        )
    )


def is_named(object_class: str, asked: Asked) -> bool:
    """The request names a class, or one above it, or the whole of a piece."""
    return any(_is(object_class, thing) for thing in asked.things)


def untouched(plan: LinkedPlan, asked: Asked) -> tuple[Named, ...]:
    """What the request names and no step handles."""
    handled = {class_of(a, plan.types) for s in plan.steps for a in s.action.args}
    handled |= {class_of(a, plan.types) for n in plan.ends for a in n.fact.args}
    return tuple(t for t in asked.things if not t.optional and not any(_is(c, t) for c in handled))


def lacking(plan: LinkedPlan, asked: Asked) -> tuple[str, ...]:
    """Families of states that the request asks for and that are not so at the end."""
    made = _families(n.fact for n in plan.ends)
    return tuple(sorted(f for f, wanted in asked.states if wanted and (f, True) not in made))


def _is(object_class: str, thing: Named) -> bool:
    return any(covers(c, object_class) for c in thing.classes)


def _few(count: int, most: int = 2) -> str:
    return str(count) if count < most else f"{most}+"


def _of_things(plan: LinkedPlan, asked: Asked, ends: Sequence[Fact]) -> Iterator[str]:
    said = [t for t in asked.things if not t.optional]
    yield f"* names {_few(len(said), 4)}"
    yield f"* untouched {_few(len(untouched(plan, asked)))}"
    changed = {class_of(a, plan.types) for f in ends for a in f.args}
    left = [t for t in said if not any(_is(c, t) for c in changed)]
    yield f"* unchanged {_few(len(left))}"
    if said:
        yield f"* first named {'changed' if said[0] not in left else 'unchanged'}"
        yield f"* last named {'changed' if said[-1] not in left else 'unchanged'}"
    moved = {class_of(f.args[0], plan.types) for f in _placings(ends)}
    moved |= {class_of(f.args[0], plan.types) for f in ends if f.predicate == "holding"}
    yield f"* moves unnamed {_few(sum(not is_named(c, asked) for c in moved))}"
    yield f"* moves named {_few(sum(is_named(c, asked) for c in moved))}"


def _of_counts(plan: LinkedPlan, asked: Asked, ends: Sequence[Fact]) -> Iterator[str]:
    for thing in asked.things:
        if thing.count == 1 or thing.optional:
            continue
        changed = {
            f.args[0] for f in ends
            if f.args and f.predicate not in {"near", "present"}
            and _is(class_of(f.args[0], plan.types), thing)
        }  # fmt: skip
        wanted = thing.count if thing.count > 0 else 2
        number = "several" if thing.count < 1 else "number"
        yield f"* {number} {'done' if len(changed) >= wanted else 'not done'}"


def _of_places(plan: LinkedPlan, asked: Asked, ends: Sequence[Fact]) -> Iterator[str]:
    """Whether things named lie where the request says, by the order of the words."""
    inside: dict[str, set[str]] = {}
    for fact in _placings(ends):
        inside.setdefault(fact.args[0], set()).add(fact.args[1])
    pairs = [(class_of(a, plan.types), class_of(b, plan.types)) for a, b in _closure(inside)]
    said = asked.things
    met = [
        (i, j)
        for i, thing in enumerate(said)
        for j, place in enumerate(said)
        if i != j and any(_is(a, thing) and _is(b, place) for a, b in pairs)
    ]
    yield f"* placed as named {_few(len(met), 3)}"
    if len(said) > 1:
        last = max((i for i, t in enumerate(said) if not t.optional), default=0)
        yield f"* last place {'met' if any(j == last for _, j in met) else 'not met'}"
        yield f"* first thing {'placed' if any(i == 0 for i, _ in met) else 'not placed'}"
    for _, place in pairs:
        yield f"* ends at {'a named' if is_named(place, asked) else 'an unnamed'} place"


def _of_states(plan: LinkedPlan, asked: Asked, ends: Sequence[Fact]) -> Iterator[str]:
    made = _families(ends)
    ever = _families(f for s in plan.steps for f in s.makes)
    lacks = 0
    for family, wanted in sorted(asked.states):
        there = (family, wanted) in made
        sign = "" if wanted else "not "
        yield f"* {sign}{family} asked, {'is so' if there else 'is not so'}"
        if not there and (family, wanted) in ever:
            yield f"* {sign}{family} asked, was so"
        lacks += not there and family not in {"hold", "open", "switch"}
    yield f"* states lacking {_few(lacks)}"
    for family, so in sorted(made):
        if not any(f == family for f, _ in asked.states):
            yield f"* {'' if so else 'not '}{family} unasked"
    for fact in ends:
        family = FAMILIES.get(fact.predicate, "")
        if fact.args and (family, fact.positive) in asked.states:
            named = is_named(class_of(fact.args[0], plan.types), asked)
            yield f"* {family} of {'a named' if named else 'an unnamed'} thing"
    poured = {f.args[1] for f in ends if f.predicate == "contains" and f.positive}
    for liquid in sorted(asked.liquids):
        yield f"* liquid {'there' if liquid in poured else 'lacking'}"
    if poured - asked.liquids:
        yield "* liquid unasked"


def _families(facts: Iterable[Fact]) -> set[tuple[str, bool]]:
    found = set()
    for fact in facts:
        if fact.predicate in FAMILIES:
            so = fact.positive if fact.predicate != "dirty" else not fact.positive
            found.add((FAMILIES[fact.predicate], so))
    return found


def _placings(ends: Iterable[Fact]) -> Iterator[Fact]:
    return (f for f in ends if f.positive and f.predicate in {"on", "in"})


def _closure(inside: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    for thing in sorted(inside):
        seen: set[str] = set()
        todo = sorted(inside[thing])
        while todo:
            place = todo.pop()
            if place not in seen:
                seen.add(place)
                yield thing, place
                todo += sorted(inside.get(place, ()))


def handles(action: GroundAction, types: Mapping[str, str]) -> tuple[str, ...]:
    """The classes of what an action handles."""
    return tuple(class_of(a, types) for a in action.args)
