"""Features that compare a plan's steps and final state with the words of the request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from hvr.judging.verifier.kitchen.linked_plan import (
    INITIAL_STATE,
    Fact,
    LinkedPlan,
    LinkedStep,
    class_of,
)
from hvr.judging.verifier.kitchen.mentions import (
    FAMILIES,
    FROM,
    IN,
    NEAR,
    PAST_EVENTS,
    NamedThing,
    RequestMentions,
    State,
)
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.wording import load_wording

# Outcome ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlanOutcome:
    """The final state of a plan and what happened on the way.

    Args:
        classes: Class of each object in steps or in the final state.
        handled: Classes of the objects in steps or in the final state.
        changed: Classes of the objects in final facts that steps produced.
        tools: Objects held to cut something.
        carried: Objects that steps put somewhere, or that are held at the end.
        under: Supports of each object.
        above: Pairs of classes (object, support), including indirect supports.
        states: Families of the final states that steps produced.
        ever: Families of the states that steps produced at any time.
        states_of: Class and states of each object that has a state.
        kept: Class and states of each object whose states hold from start to end.
        known: States in `kept` that result from an event before the start.
        vessels: Classes of the vessels that steps filled.
    """

    classes: Mapping[str, str]
    handled: frozenset[str]
    changed: frozenset[str]
    changed_names: frozenset[str]
    tools: frozenset[str]
    carried: tuple[str, ...]
    held: frozenset[str]
    under: Mapping[str, tuple[str, ...]]
    above: tuple[tuple[str, str], ...]
    states: frozenset[State]
    ever: frozenset[State]
    states_of: tuple[tuple[str, frozenset[State]], ...]
    kept: tuple[tuple[str, frozenset[State]], ...]
    known: frozenset[State]
    liquids: frozenset[str]
    vessels: tuple[str, ...]

    @classmethod
    def of(cls, plan: LinkedPlan) -> PlanOutcome:
        ends = [n.fact for n in plan.ends]
        made = [n.fact for n in plan.ends if n.producer != INITIAL_STATE]
        names = [a for s in plan.steps for a in s.action.args] + [a for f in ends for a in f.args]
        classes = {n: class_of(n, plan.types) for n in dict.fromkeys(names)}
        changed = frozenset(a for f in made for a in f.args)
        held = frozenset(f.args[0] for f in ends if f.predicate == "holding" and f.positive)
        moved = [f.args[0] for f in made if f.positive and f.predicate in {"on", "in"}]
        under: dict[str, tuple[str, ...]] = {}
        for fact in ends:
            if fact.positive and fact.predicate in {"on", "in"}:
                under[fact.args[0]] = (*under.get(fact.args[0], ()), fact.args[1])
        for fact in _left_alone(plan):
            if fact.args[0] not in under and fact.args[0] not in held:
                under[fact.args[0]] = (fact.args[1],)
                classes |= {n: class_of(n, plan.types) for n in fact.args}
        states: dict[str, set[State]] = {}
        for fact in ends:
            if fact.args:
                states.setdefault(fact.args[0], set()).update(families_of([fact]))
        kept = _kept(plan)
        poured = [f for f in made if f.predicate == "contains" and f.positive]
        return cls(
            classes=classes,
            handled=frozenset(classes[n] for n in names),
            changed=frozenset(classes[n] for n in changed),
            changed_names=changed,
            tools=frozenset(
                n.fact.args[0]
                for s in plan.steps
                if s.action.name == "slice_obj"
                for n in s.needs
                if n.fact.predicate == "holding"
            ),
            carried=tuple(dict.fromkeys([*moved, *sorted(held)])),
            held=held,
            under=under,
            above=tuple(dict.fromkeys((classes[a], classes[b]) for a, b in _closure(under))),
            states=frozenset(families_of(made)),
            ever=frozenset(families_of(f for s in plan.steps for f in s.makes)),
            states_of=tuple(
                dict.fromkeys((classes[n], frozenset(s)) for n, s in states.items() if s)
            ),
            kept=tuple(
                dict.fromkeys(
                    (class_of(n, plan.types), frozenset(families_of(facts)))
                    for n, facts in kept.items()
                )
            ),
            known=frozenset(
                families_of(f for fs in kept.values() for f in fs if f.predicate in PAST_EVENTS)
            ),
            liquids=frozenset(f.args[1] for f in poured),
            vessels=tuple(dict.fromkeys(classes[f.args[0]] for f in poured)),
        )


def _left_alone(plan: LinkedPlan) -> Iterator[Fact]:
    ended = {f for s in plan.steps for f in s.makes if not f.positive}
    for fact in (n.fact for s in plan.steps for n in s.needs):
        stays = Fact(fact.predicate, fact.args, False) not in ended
        if fact.positive and fact.predicate in {"on", "in"} and stays:
            yield fact


def _kept(plan: LinkedPlan) -> dict[str, list[Fact]]:
    changed = {(f.predicate, f.args) for step in plan.steps for f in step.makes}
    of: dict[str, list[Fact]] = {}
    for fact in plan.start:
        if fact.predicate in FAMILIES and (fact.predicate, fact.args) not in changed:
            of.setdefault(fact.args[0], []).append(fact)
    return of


def families_of(facts: Iterable[Fact]) -> set[State]:
    states = set()
    for fact in facts:
        if fact.predicate in FAMILIES:
            positive = fact.positive if fact.predicate != "dirty" else not fact.positive
            states.add((FAMILIES[fact.predicate], positive))
    return states


def _closure(under: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    for thing in sorted(under):
        seen: set[str] = set()
        todo = sorted(under[thing])
        while todo:
            place = todo.pop()
            if place not in seen:
                seen.add(place)
                yield thing, place
                todo += sorted(under.get(place, ()))


# Name matching ------------------------------------------------------------------------------------


class NameMatch(IntEnum):
    NONE = 0
    LIKE = 1
    EXACT = 2

    @property
    def word(self) -> str:
        return ("other", "like", "named")[self]


@lru_cache(maxsize=65536)
def covers(required: str, other: str) -> bool:
    """Return whether the name of class `required` may refer to an object of class `other`.

    "Tomato" may also refer to a slice of tomato, and "slice of tomato" to the tomato it is cut
    from.
    """
    ontology = load_ontology()
    if required == other or (ontology.has_class(other) and ontology.is_a(other, required)):
        return True
    if is_piece(required) and whole(required) == other:
        return True
    return is_piece(other) and covers(required, whole(other))


@lru_cache(maxsize=65536)
def name_match(required: str, other: str) -> NameMatch:
    """Return how well the name of class `required` matches an object of class `other`."""
    if covers(required, other):
        return NameMatch.EXACT
    pair = frozenset((whole(required), whole(other)))
    return NameMatch.LIKE if pair in load_wording().confused else NameMatch.NONE


@lru_cache(maxsize=65536)
def best_match(required: frozenset[str], other: str) -> NameMatch:
    """Return how well the best of several class names matches an object of class `other`."""
    return max((name_match(w, other) for w in required), default=NameMatch.NONE)


def _best_of(thing: NamedThing, classes: Iterable[str]) -> NameMatch:
    return max((best_match(thing.classes, c) for c in classes), default=NameMatch.NONE)


def is_piece(name: str) -> bool:
    """Return whether a class consists of pieces, such as slices of tomato."""
    return name.endswith(("Sliced", "Cracked"))


def whole(name: str) -> str:
    """Return the class from which pieces are cut; any other class is returned unchanged."""
    return name.removesuffix("Sliced").removesuffix("Cracked")


# Features by the request --------------------------------------------------------------------------
# Features that relate a step, or the end of a plan, to the words of the request.
#
# They are additional outputs of a plan node and replace the paper's alignment margin (section
# 3.3.2). The text of a kitchen step follows from its action, so the two always agree, and only the
# action can be wrong for the request. No feature names a class, so what the network learns about
# one object applies to all.

_PLACES = frozenset({IN, NEAR, FROM})
_USED = frozenset({"hold", "open", "switch"})
"""Families that plans change in passing."""


def step_features(
    step: LinkedStep, mentions: RequestMentions, types: Mapping[str, str]
) -> tuple[str, ...]:
    """Return features that say whether the request names a step's object, place and new states."""
    marks = []
    for role, name in zip(("thing", "place"), step.action.args, strict=False):
        marks.append(f"* {role} {best_named_match(class_of(name, types), mentions).word}")
    for family in sorted({FAMILIES[f.predicate] for f in step.makes if f.predicate in FAMILIES}):
        if family not in _USED:
            asks = any(f == family for f, _ in mentions.states)
            marks.append(f"* makes {'asked' if asks else 'unasked'} {family}")
    return tuple(marks)


def end_features(plan: LinkedPlan, mentions: RequestMentions) -> tuple[str, ...]:
    outcome = PlanOutcome.of(plan)
    return tuple(
        dict.fromkeys(
            [
                *_of_words(mentions),
                *_of_things(outcome, mentions),
                *_of_counts(outcome, mentions),
                *_of_moves(outcome, mentions),
                *_of_places(outcome, mentions),
                *_of_states(outcome, mentions),
                *_of_liquids(outcome, mentions),
            ]
        )
    )


def best_named_match(object_class: str, mentions: RequestMentions) -> NameMatch:
    """Return how well the best matching name in a request matches an object of a class."""
    return max(
        (best_match(t.classes, object_class) for t in mentions.things), default=NameMatch.NONE
    )


def is_named(object_class: str, mentions: RequestMentions) -> bool:
    """Return whether a request names a class, a superclass, or the class its pieces come from."""
    return best_named_match(object_class, mentions) is NameMatch.EXACT


def untouched(plan: LinkedPlan, mentions: RequestMentions) -> tuple[NamedThing, ...]:
    """Return the named objects that no step handles, neither themselves nor a similar object."""
    handled = PlanOutcome.of(plan).handled
    return tuple(
        t for t in named_things(mentions) if not any(best_match(t.classes, c) for c in handled)
    )


def only_similar(plan: LinkedPlan, mentions: RequestMentions) -> tuple[NamedThing, ...]:
    """Return the named objects, except places, for which the steps handle only similar ones."""
    handled = PlanOutcome.of(plan).handled
    return tuple(
        t
        for t in named_things(mentions)
        if t.role not in _PLACES and _best_of(t, handled) is NameMatch.LIKE
    )


def missing_states(plan: LinkedPlan, mentions: RequestMentions) -> tuple[str, ...]:
    """Return the families, such as `wash`, of requested states that do not hold at the end."""
    outcome = PlanOutcome.of(plan)
    families = sorted(family for family, positive in mentions.states if positive)
    return tuple(f for f in families if not is_so(outcome, (f, True), mentions))


def is_so(outcome: PlanOutcome, state: State, mentions: RequestMentions) -> bool:
    """Return whether a requested state holds at the end of a plan.

    It does if a step produced it, or if the object had it from the start and the request does not
    ask for the change itself.
    """
    if state in outcome.states:
        return True
    if state not in lasting_states(outcome, mentions):
        return False
    required = [t for t in mentions.things if state in t.states] or named_things(mentions)
    return any(
        best_match(thing.classes, kind)
        for kind, states in outcome.kept
        if state in states
        for thing in required
    )


def lasting_states(outcome: PlanOutcome, mentions: RequestMentions) -> frozenset[State]:
    """Return the states that count as achieved even if they hold from the start."""
    return mentions.lasting | outcome.known


def named_things(mentions: RequestMentions) -> list[NamedThing]:
    return [t for t in mentions.things if not t.optional]


def _few(count: int, most: int = 2) -> str:
    return str(count) if count < most else f"{most}+"


def _of_words(mentions: RequestMentions) -> Iterator[str]:
    things = named_things(mentions)
    yield f"* names {_few(len(things), 4)}"
    yield f"* names places {_few(sum(t.role == IN for t in things), 3)}"
    yield f"* asks for states {_few(len({f for f, _ in mentions.states} - _USED), 3)}"
    for family in sorted({f for f, _ in mentions.states} & _USED):
        yield f"* asks for {family}"


def _of_things(outcome: PlanOutcome, mentions: RequestMentions) -> Iterator[str]:
    things = named_things(mentions)
    levels = [_best_of(t, outcome.handled) for t in things]
    changes = [_best_of(t, outcome.changed) for t in things]
    for what, reached in (("handled", levels), ("changed", changes)):
        for level in (NameMatch.NONE, NameMatch.LIKE):
            yield f"* {what} {level.word} {_few(sum(x == level for x in reached))}"
    for place in (0, -1) if things else ():
        which = "last" if place else "first"
        yield f"* {which} named changed {NameMatch(changes[place]).word}"
    for thing, level in zip(things, changes, strict=True):
        yield f"* with role {thing.role or 'none'} changed {NameMatch(level).word}"


def _of_counts(outcome: PlanOutcome, mentions: RequestMentions) -> Iterator[str]:
    for thing in mentions.things:
        if thing.count == 1 or thing.optional:
            continue
        changed = sum(
            best_match(thing.classes, kind) > 0
            for name, kind in outcome.classes.items()
            if name in outcome.changed_names
        )
        required = thing.count if thing.count > 0 else 2
        number = "several" if thing.count < 1 else "number"
        yield f"* {number} {'done' if changed >= required else 'not done'}"


def _of_moves(outcome: PlanOutcome, mentions: RequestMentions) -> Iterator[str]:
    places = [t for t in mentions.things if t.role == IN]
    wholes = pieces = 0
    for name in outcome.carried:
        kind = outcome.classes[name]
        thing = best_named_match(kind, mentions)
        # A knife that was carried for cutting need not be named.
        if name in outcome.tools and thing is NameMatch.NONE:
            continue
        if thing:
            wholes, pieces = wholes + (not is_piece(kind)), pieces + is_piece(kind)
        if name in outcome.held:
            yield f"* holds {thing.word}"
        for place in outcome.under.get(name, ()):
            end = max(
                (_best_of(t, [outcome.classes[place]]) for t in places), default=NameMatch.NONE
            )
            where = end.word
            if not end and best_named_match(outcome.classes[place], mentions):
                where = "elsewhere named"
            yield f"* puts {thing.word} at {where}"
    cut = any(f == "slice" for f, _ in mentions.states)
    if any(is_piece(c) for t in named_things(mentions) for c in t.classes):
        cut = True
    yield f"* {'pieces' if cut else 'wholes'} asked, carries {_few(wholes)} and {_few(pieces)}"


def _of_places(outcome: PlanOutcome, mentions: RequestMentions) -> Iterator[str]:
    things = mentions.things
    last = max((i for i, t in enumerate(things) if t.role == IN), default=-1)
    since: list[NamedThing] = []
    for i, place in enumerate(things):
        if place.role in {IN, NEAR}:
            before = since or [t for t in things[:i] if t.role != NEAR] or list(things[i + 1 :])
            met = [_met(outcome, t, place) for t in before]
            which = "last" if i == last else "inner" if place.role == IN else "near"
            which = "usual" if place.optional else which
            yield f"* {which} place {NameMatch(max(met, default=NameMatch.NONE)).word}"
            if which != "near" and len(met) > 1:
                yield f"* {which} place of all {NameMatch(min(met)).word}"
            if not any(met):
                visited = _best_of(place, outcome.handled)
                yield f"* {which} place not met, visited {visited.word}"
        if place.role == IN:
            since = [place]
        elif place.role != NEAR:
            since.append(place)
    if things and last >= 0:
        yield f"* first thing at last place {_met(outcome, things[0], things[last]).word}"


def _met(outcome: PlanOutcome, thing: NamedThing, place: NamedThing) -> NameMatch:
    return max(
        (min(best_match(thing.classes, a), best_match(place.classes, b)) for a, b in outcome.above),
        default=NameMatch.NONE,
    )


def _of_states(outcome: PlanOutcome, mentions: RequestMentions) -> Iterator[str]:
    missing = 0
    for family, required in sorted(mentions.states):
        holds = is_so(outcome, (family, required), mentions)
        sign = "" if required else "not "
        yield f"* {sign}{family} asked, {'is so' if holds else 'is not so'}"
        if holds and (family, required) not in outcome.states:
            yield f"* {sign}{family} asked, was so from the start"
        if not holds and (family, required) in outcome.ever:
            yield f"* {sign}{family} asked, was so"
        missing += not holds and family not in _USED
    yield f"* states lacking {_few(missing)}"
    for family, positive in sorted(outcome.states):
        if not any(f == family for f, _ in mentions.states):
            yield f"* {'' if positive else 'not '}{family} unasked"
    for thing in mentions.things:
        for family, required in sorted(thing.states):
            kept = outcome.kept if (family, required) in lasting_states(outcome, mentions) else ()
            levels = [
                best_match(thing.classes, kind)
                for kind, states in (*outcome.states_of, *kept)
                if (family, required) in states
            ]
            sign = "" if required else "not "
            level = max(levels, default=NameMatch.NONE)
            yield f"* {sign}{family} of its thing {level.word}"
    lasts = lasting_states(outcome, mentions)
    lasting = tuple((kind, states & lasts) for kind, states in outcome.kept)
    for kind, states in (*outcome.states_of, *lasting):
        for family, positive in sorted(states):
            if (family, positive) in mentions.states:
                word = best_named_match(kind, mentions).word
                yield f"* {'' if positive else 'not '}{family} of {word} thing"


def _of_liquids(outcome: PlanOutcome, mentions: RequestMentions) -> Iterator[str]:
    for liquid in sorted(mentions.liquids):
        yield f"* liquid {'there' if liquid in outcome.liquids else 'lacking'}"
    if outcome.liquids - mentions.liquids:
        yield "* liquid unasked"
    for kind in outcome.vessels:
        yield f"* liquid in {best_named_match(kind, mentions).word} vessel"
