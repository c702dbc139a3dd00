"""Plans without steps: right if what the request names is so from the start.

There are no steps that a network could judge, and the initial state says it all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hvr.verifier.kitchen.linked_plan import LinkedPlan
from hvr.verifier.kitchen.mentions import FROM, IN, NEAR, REMEMBERED, Mentions, Named, State
from hvr.verifier.kitchen.outcome import families_of
from hvr.verifier.kitchen.similarity import Likeness, best
from hvr.verifier.kitchen.words import class_of, label

_HELD = ("hold", True)
STATES: Mapping[str, str] = {
    "heat": "hot or cooked", "cold": "cold", "wash": "washed", "slice": "sliced",
    "crack": "cracked", "fill": "filled", "open": "open", "switch": "switched on",
    "hold": "in the hand",
}  # fmt: skip
"""What families of states are called. They group predicates for the verifier alone, so that the
ontology has no words for them."""


def undone(plan: LinkedPlan, asked: Mentions) -> tuple[str, ...]:
    """Return what of a request is not so at the start, in words; nothing if all is.

    A request that names neither a state, a place nor a liquid says nothing that can be so.
    """
    wanted = list(_wanted(asked))
    if not (asked.states or asked.liquids or any(place for _, place in wanted)):
        return ("nothing is done",)
    missing = [
        _said(thing, place)
        for thing, place in wanted
        if _count(plan, asked, thing, place) < _needed(plan, thing)
    ]
    of_things = {state for thing in asked.things for state in thing.states}
    everywhere = {state for name in plan.types for state in _states_of(plan, asked, name)}
    missing += [f"nothing is {_word(s)}" for s in sorted(asked.states - of_things - everywhere)]
    poured = {f.args[1] for f in plan.start if f.predicate == "contains" and f.positive}
    missing += [f"there is no {label(liquid)}" for liquid in sorted(asked.liquids - poured)]
    return tuple(missing)


def _wanted(asked: Mentions) -> Iterable[tuple[Named, Named | None]]:
    """Yield each thing of which something is asked, with the place where it is to be."""
    things = [t for t in asked.things if t.role not in {NEAR, FROM}]
    for i, thing in enumerate(things):
        if thing.role == IN:
            if thing.states:
                yield thing, None
            continue
        if thing.optional and not thing.states:
            continue
        after = next((t for t in things[i + 1 :] if t.role == IN), None)
        place = after or next((t for t in things[:i][::-1] if t.role == IN), None)
        # "Bring me the mug" and "bring the mug to the table", "get it" and "get it hot": what is
        # to be somewhere, or otherwise, need not be held.
        others = thing.states - {_HELD}
        yield (replace(thing, states=others) if place or others else thing), place


def _needed(plan: LinkedPlan, thing: Named) -> int:
    if thing.count > 0:
        return thing.count
    return 2 if thing.count else max(1, len(_fitting(plan, thing)))


def _fitting(plan: LinkedPlan, thing: Named) -> list[str]:
    """Return what a name fits exactly, or else what is often called so."""
    fits = {n: best(thing.classes, class_of(n, plan.types)) for n in plan.types}
    most = max(fits.values(), default=Likeness.NONE)
    return [n for n, fit in fits.items() if fit and fit == most]


def _count(plan: LinkedPlan, asked: Mentions, thing: Named, place: Named | None) -> int:
    """Return how many things are as one is to be."""
    return sum(
        thing.states <= _states_of(plan, asked, name)
        and (place is None or any(best(place.classes, c) for c in _below(plan, name)))
        for name in _fitting(plan, thing)
    )


def _states_of(plan: LinkedPlan, asked: Mentions, name: str) -> set[State]:
    """Return the states of a thing that count: those that may last, and those of known deeds."""
    facts = [f for f in plan.start if f.args[0] == name]
    deeds = families_of(f for f in facts if f.predicate in REMEMBERED)
    return {s for s in families_of(facts) if s in asked.lasting} | deeds


def _below(plan: LinkedPlan, name: str) -> set[str]:
    """Return the classes of the places that a thing is in or on, also further below."""
    placed = [f for f in plan.start if f.predicate in {"on", "in"} and f.positive]
    found: set[str] = set()
    todo = [name]
    while todo:
        here = todo.pop()
        under = {f.args[1] for f in placed if f.args[0] == here} - found
        found |= under
        todo += sorted(under)
    return {class_of(place, plan.types) for place in found}


def _said(thing: Named, place: Named | None) -> str:
    what = f"the {names(thing.classes)}"
    states = " and ".join(_word(s) for s in sorted(thing.states))
    where = f"in or on the {names(place.classes)}" if place is not None else ""
    return f"{what} is not {' '.join(filter(None, (states, where))) or 'there'}"


def _word(state: State) -> str:
    family, wanted = state
    return f"{'' if wanted else 'not '}{STATES.get(family, family)}"


def names(classes: frozenset[str]) -> str:
    """Return what people call one of some classes."""
    return " or ".join(sorted(label(c) for c in classes))
