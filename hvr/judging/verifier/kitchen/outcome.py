"""What a kitchen plan has done, as its end and its steps tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hvr.judging.verifier.kitchen.linked_plan import START, Fact, LinkedPlan
from hvr.judging.verifier.kitchen.mentions import FAMILIES, REMEMBERED, State
from hvr.judging.verifier.kitchen.words import class_of


@dataclass(frozen=True)
class PlanOutcome:
    """What is so after a plan, and what happened in it.

    Args:
        classes: of all things that steps or the end name.
        handled: classes of what steps or the end name.
        changed: classes of what facts of the end name that steps made so.
        changed_names: the names of these.
        tools: what was held to cut something.
        carried: what steps put somewhere or hold at the end.
        held: what is in the hand at the end.
        under: where each thing lies.
        above: classes (thing, place), also of places further below.
        states: families of states that steps made so, as they are at the end.
        ever: families of states that steps made so at any time.
        states_of: the class and the states of each thing that has some.
        kept: the class and the states that each thing has had from the start and still has.
        known: those of `kept` that a deed before the start has brought about.
        liquids: what was filled in somewhere.
        vessels: classes of what has something in it that a step filled in.
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
        """Return the outcome of a plan."""
        ends = [n.fact for n in plan.ends]
        made = [n.fact for n in plan.ends if n.producer != START]
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
                n.fact.args[0] for s in plan.steps if s.action.name == "slice_obj"
                for n in s.needs if n.fact.predicate == "holding"
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
                families_of(f for fs in kept.values() for f in fs if f.predicate in REMEMBERED)
            ),
            liquids=frozenset(f.args[1] for f in poured),
            vessels=tuple(dict.fromkeys(classes[f.args[0]] for f in poured)),
        )  # fmt: skip


def _left_alone(plan: LinkedPlan) -> Iterator[Fact]:
    """Yield where things lie that steps had to do with and that none carried away."""
    gone = {f for s in plan.steps for f in s.makes if not f.positive}
    for fact in (n.fact for s in plan.steps for n in s.needs):
        stays = Fact(fact.predicate, fact.args, False) not in gone
        if fact.positive and fact.predicate in {"on", "in"} and stays:
            yield fact


def _kept(plan: LinkedPlan) -> dict[str, list[Fact]]:
    """Return, for each thing, the states that it is in from the start to the end."""
    changed = {(f.predicate, f.args) for step in plan.steps for f in step.makes}
    of: dict[str, list[Fact]] = {}
    for fact in plan.start:
        if fact.predicate in FAMILIES and (fact.predicate, fact.args) not in changed:
            of.setdefault(fact.args[0], []).append(fact)
    return of


def families_of(facts: Iterable[Fact]) -> set[State]:
    """Return the families of states that facts are of."""
    states = set()
    for fact in facts:
        if fact.predicate in FAMILIES:
            so = fact.positive if fact.predicate != "dirty" else not fact.positive
            states.add((FAMILIES[fact.predicate], so))
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
