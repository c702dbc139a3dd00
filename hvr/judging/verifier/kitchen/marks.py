"""What a step, and the end of a plan, have to do with the words of the request.

A plan node has outputs; these marks are outputs of a kind that depends on the request. They
take the place of the paper's align margin (section 3.3.2): a kitchen step's text follows from its
action, so that the two always agree, and what can be wrong is the action for this request.

No mark names a class, so that what is learnt of one thing holds of every other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hvr.judging.verifier.kitchen.linked_plan import LinkedPlan, LinkedStep
from hvr.judging.verifier.kitchen.mentions import FAMILIES, FROM, IN, NEAR, Mentions, Named, State
from hvr.judging.verifier.kitchen.outcome import PlanOutcome
from hvr.judging.verifier.kitchen.similarity import Likeness, best, is_piece
from hvr.judging.verifier.kitchen.words import class_of
from hvr.pddl.model import GroundAction

_PLACES = frozenset({IN, NEAR, FROM})
_USED = frozenset({"hold", "open", "switch"})
"""Families that plans make in passing."""


def step_marks(step: LinkedStep, asked: Mentions, types: Mapping[str, str]) -> tuple[str, ...]:
    """Return marks of a step: whether what it handles, its place and the states it makes
    are named.
    """
    marks = []
    for role, name in zip(("thing", "place"), step.action.args, strict=False):
        marks.append(f"* {role} {named(class_of(name, types), asked).word}")
    for family in sorted({FAMILIES[f.predicate] for f in step.makes if f.predicate in FAMILIES}):
        if family not in _USED:
            asks = any(f == family for f, _ in asked.states)
            marks.append(f"* makes {'asked' if asks else 'unasked'} {family}")
    return tuple(marks)


def end_marks(plan: LinkedPlan, asked: Mentions) -> tuple[str, ...]:
    """Return marks of the end: what the request names and the plan leaves undone, and the
    reverse.
    """
    outcome = PlanOutcome.of(plan)
    return tuple(
        dict.fromkeys(
            [
                *_of_words(asked),
                *_of_things(outcome, asked),
                *_of_counts(outcome, asked),
                *_of_moves(outcome, asked),
                *_of_places(outcome, asked),
                *_of_states(outcome, asked),
                *_of_liquids(outcome, asked),
            ]
        )
    )


def named(object_class: str, asked: Mentions) -> Likeness:
    """Return how well anything that the request names fits a class."""
    return max((best(t.classes, object_class) for t in asked.things), default=Likeness.NONE)


def is_named(object_class: str, asked: Mentions) -> bool:
    """Say whether the request names a class, or one above it, or the whole of a piece."""
    return named(object_class, asked) is Likeness.EXACT


def untouched(plan: LinkedPlan, asked: Mentions) -> tuple[Named, ...]:
    """Return what the request names and no step handles, not even something that is often called
    so.
    """
    handled = PlanOutcome.of(plan).handled
    return tuple(t for t in named_things(asked) if not any(best(t.classes, c) for c in handled))


def only_similar(plan: LinkedPlan, asked: Mentions) -> tuple[Named, ...]:
    """Return the things of the request for which steps handle only something similar."""
    handled = PlanOutcome.of(plan).handled
    return tuple(
        t for t in named_things(asked)
        if t.role not in _PLACES
        and max((best(t.classes, c) for c in handled), default=Likeness.NONE) is Likeness.LIKE
    )  # fmt: skip


def lacking(plan: LinkedPlan, asked: Mentions) -> tuple[str, ...]:
    """Return families of states that the request asks for and that are not so at the end."""
    outcome = PlanOutcome.of(plan)
    return tuple(
        sorted(f for f, wanted in asked.states if wanted and not is_so(outcome, (f, True), asked))
    )


def is_so(outcome: PlanOutcome, state: State, asked: Mentions) -> bool:
    """Say whether a state that the request asks for is there at the end.

    A step has brought it about; or something that is to have it has had it from the start, where
    the request does not ask for the deed itself.
    """
    if state in outcome.states:
        return True
    if state not in lasting(outcome, asked):
        return False
    wanted = [t for t in asked.things if state in t.states] or named_things(asked)
    return any(
        best(thing.classes, kind)
        for kind, states in outcome.kept
        if state in states
        for thing in wanted
    )


def lasting(outcome: PlanOutcome, asked: Mentions) -> frozenset[State]:
    """Return the states that count where they have been there from the start."""
    return asked.lasting | outcome.known


def named_things(asked: Mentions) -> list[Named]:
    """Return the things that the words themselves name."""
    return [t for t in asked.things if not t.optional]


def _few(count: int, most: int = 2) -> str:
    return str(count) if count < most else f"{most}+"


def _of_words(asked: Mentions) -> Iterator[str]:
    """Yield what kind of request it is."""
    things = named_things(asked)
    yield f"* names {_few(len(things), 4)}"
    yield f"* names places {_few(sum(t.role == IN for t in things), 3)}"
    yield f"* asks for states {_few(len({f for f, _ in asked.states} - _USED), 3)}"
    for family in sorted({f for f, _ in asked.states} & _USED):
        yield f"* asks for {family}"


def _of_things(outcome: PlanOutcome, asked: Mentions) -> Iterator[str]:
    """Yield how much of what the request names was handled, and how much was changed."""
    things = named_things(asked)
    levels = [
        max((best(t.classes, c) for c in outcome.handled), default=Likeness.NONE) for t in things
    ]
    changes = [
        max((best(t.classes, c) for c in outcome.changed), default=Likeness.NONE) for t in things
    ]
    for what, reached in (("handled", levels), ("changed", changes)):
        for level in (Likeness.NONE, Likeness.LIKE):
            yield f"* {what} {level.word} {_few(sum(x == level for x in reached))}"
    for place in (0, -1) if things else ():
        which = "last" if place else "first"
        yield f"* {which} named changed {Likeness(changes[place]).word}"
    for thing, level in zip(things, changes, strict=True):
        yield f"* with role {thing.role or 'none'} changed {Likeness(level).word}"


def _of_counts(outcome: PlanOutcome, asked: Mentions) -> Iterator[str]:
    for thing in asked.things:
        if thing.count == 1 or thing.optional:
            continue
        changed = sum(
            best(thing.classes, kind) > 0
            for name, kind in outcome.classes.items() if name in outcome.changed_names
        )  # fmt: skip
        wanted = thing.count if thing.count > 0 else 2
        number = "several" if thing.count < 1 else "number"
        yield f"* {number} {'done' if changed >= wanted else 'not done'}"


def _of_moves(outcome: PlanOutcome, asked: Mentions) -> Iterator[str]:
    """Yield whether each thing that was carried is named, and where it ends."""
    places = [t for t in asked.things if t.role == IN]
    wholes = pieces = 0
    for name in outcome.carried:
        kind = outcome.classes[name]
        thing = named(kind, asked)
        if name in outcome.tools and thing is Likeness.NONE:
            continue
        if thing:
            wholes, pieces = wholes + (not is_piece(kind)), pieces + is_piece(kind)
        if name in outcome.held:
            yield f"* holds {thing.word}"
        for place in outcome.under.get(name, ()):
            end = max(
                (best(t.classes, outcome.classes[place]) for t in places), default=Likeness.NONE
            )
            where = end.word
            if not end and named(outcome.classes[place], asked):
                where = "elsewhere named"
            yield f"* puts {thing.word} at {where}"
    cut = any(f == "slice" for f, _ in asked.states)
    if any(is_piece(c) for t in named_things(asked) for c in t.classes):
        cut = True
    yield f"* {'pieces' if cut else 'wholes'} asked, carries {_few(wholes)} and {_few(pieces)}"


def _of_places(outcome: PlanOutcome, asked: Mentions) -> Iterator[str]:
    """Yield whether what is named before a place is there."""
    things = asked.things
    last = max((i for i, t in enumerate(things) if t.role == IN), default=-1)
    since: list[Named] = []
    for i, place in enumerate(things):
        if place.role in {IN, NEAR}:
            before = since or [t for t in things[:i] if t.role != NEAR] or list(things[i + 1 :])
            met = [_met(outcome, t, place) for t in before]
            which = "last" if i == last else "inner" if place.role == IN else "near"
            which = "usual" if place.optional else which
            yield f"* {which} place {Likeness(max(met, default=Likeness.NONE)).word}"
            if which != "near" and len(met) > 1:
                yield f"* {which} place of all {Likeness(min(met)).word}"
            visited = max((best(place.classes, c) for c in outcome.handled), default=Likeness.NONE)
            if not any(met):
                yield f"* {which} place not met, visited {Likeness(visited).word}"
        if place.role == IN:
            since = [place]
        elif place.role != NEAR:
            since.append(place)
    if things and last >= 0:
        yield f"* first thing at last place {_met(outcome, things[0], things[last]).word}"


def _met(outcome: PlanOutcome, thing: Named, place: Named) -> Likeness:
    return max(
        (
            min(best(thing.classes, a), best(place.classes, b))
            for a, b in outcome.above
        ),
        default=Likeness.NONE,
    )  # fmt: skip


def _of_states(outcome: PlanOutcome, asked: Mentions) -> Iterator[str]:
    lacks = 0
    for family, wanted in sorted(asked.states):
        there = is_so(outcome, (family, wanted), asked)
        sign = "" if wanted else "not "
        yield f"* {sign}{family} asked, {'is so' if there else 'is not so'}"
        if there and (family, wanted) not in outcome.states:
            yield f"* {sign}{family} asked, was so from the start"
        if not there and (family, wanted) in outcome.ever:
            yield f"* {sign}{family} asked, was so"
        lacks += not there and family not in _USED
    yield f"* states lacking {_few(lacks)}"
    for family, so in sorted(outcome.states):
        if not any(f == family for f, _ in asked.states):
            yield f"* {'' if so else 'not '}{family} unasked"
    for thing in asked.things:
        for family, wanted in sorted(thing.states):
            kept = outcome.kept if (family, wanted) in lasting(outcome, asked) else ()
            levels = [
                best(thing.classes, kind) for kind, states in (*outcome.states_of, *kept)
                if (family, wanted) in states
            ]  # fmt: skip
            sign = "" if wanted else "not "
            level = max(levels, default=Likeness.NONE)
            yield f"* {sign}{family} of its thing {level.word}"
    lasts = lasting(outcome, asked)
    still = tuple((kind, states & lasts) for kind, states in outcome.kept)
    for kind, states in (*outcome.states_of, *still):
        for family, so in sorted(states):
            if (family, so) in asked.states:
                yield f"* {'' if so else 'not '}{family} of {named(kind, asked).word} thing"


def _of_liquids(outcome: PlanOutcome, asked: Mentions) -> Iterator[str]:
    for liquid in sorted(asked.liquids):
        yield f"* liquid {'there' if liquid in outcome.liquids else 'lacking'}"
    if outcome.liquids - asked.liquids:
        yield "* liquid unasked"
    for kind in outcome.vessels:
        yield f"* liquid in {named(kind, asked).word} vessel"


def handles(action: GroundAction, types: Mapping[str, str]) -> tuple[str, ...]:
    """Return the classes of what an action handles."""
    return tuple(class_of(a, types) for a in action.args)
