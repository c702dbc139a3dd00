"""Bind the variables of an entry to objects, by a join over what is true now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from hvr.knowledge.ontology import Ontology
from hvr.pddl import Atom, GroundAction, Task, TypedName, is_variable
from hvr.pddl.facts import Facts, bindings
from hvr.planning.library.entry import Entry
from hvr.planning.library.literals import Literal, bind_step, joinable
from hvr.planning.library.words import natural

Block = tuple[GroundAction, ...]

_MOST_JOINED = 400
"""Bindings that are looked at before the nearest are chosen; bounds joins without static facts that
tie the variables together."""


@dataclass(frozen=True)
class Slots:
    """The objects that the variables of an entry may stand for.

    Args:
        task: the objects.
        classes: the ontology class that each variable is open to; None: its PDDL type.
        ontology: the classes.
        distance: of an object, in metres.
    """

    task: Task
    classes: Mapping[str, str | None]
    ontology: Ontology
    distance: Callable[[str], float]

    def members(self, entry: Entry, variable: str, allowed: frozenset[str] | None) -> list[str]:
        """Return the objects that a variable may stand for, the nearest first."""
        wider = self.classes.get(variable)
        kind = entry.types[variable]
        names = []
        for name, types in self.task.objects.items():
            if allowed is not None and name not in allowed:
                continue
            own = self.ontology.class_of_pddl_type(types[0])
            if wider is None or own is None:
                fits = self.task.domain.has_type(types, (kind,))
            else:
                fits = self.ontology.is_a(own, wider)
            if fits:
                names.append(name)
        return sorted(names, key=lambda n: (round(self.distance(n), 2), natural(n)))


def bound_blocks(
    entry: Entry, allowed: Mapping[str, frozenset[str]], facts: frozenset[Atom], slots: Slots
) -> Iterator[tuple[dict[str, str], Block]]:
    """Yield ways to bind an entry, those in which all its conditions hold first.

    After these come bindings for which only the static conditions hold: a thing may lie
    elsewhere than where it lay when the block was learnt, and the block work all the same.
    The validator decides.

    Args:
        entry: what to bind.
        allowed: for some variables, the objects that they may stand for.
        facts: what is true now, static facts included.
        slots: what the others may stand for.
    """
    used = {a for step in entry.steps for a in step.args if is_variable(a)}
    known = [n for n in entry.needs if n[0].predicate in slots.task.domain.predicates]
    static = [n for n in known if slots.task.is_static(n[0].predicate)]
    tied = used | allowed.keys()
    everything = list(entry.types)
    # In the second round variables that only the conditions have are left out: their fluent
    # conditions are not asked for, and nothing would tie them to an object.
    for variables, literals in (
        (everything, list(entry.needs)),
        ([v for v in everything if v in tied], static),
    ):
        for binding in _nearest(entry, variables, literals, allowed, facts, slots):
            steps = tuple(bind_step(step, binding) for step in entry.steps)
            yield binding, steps


def _nearest(
    entry: Entry,
    variables: list[str],
    literals: list[Literal],
    allowed: Mapping[str, frozenset[str]],
    facts: frozenset[Atom],
    slots: Slots,
) -> list[dict[str, str]]:
    members = {
        v: dict.fromkeys(slots.members(entry, v, allowed.get(v))) for v in variables
    }  # fmt: skip
    if not all(members.values()):
        return []
    # The choice for each variable is a type of its own for the join.
    typed = [TypedName(v, (v,)) for v in variables]
    relation = Facts(facts).relation
    joined = bindings(typed, joinable(literals), {}, relation, lambda types: members[types[0]])
    places = {v: {name: place for place, name in enumerate(m)} for v, m in members.items()}
    # Different variables were different objects where the block was learnt; so they stay here.
    rows = [b for b in islice(joined, _MOST_JOINED) if len(set(b.values())) == len(b)]
    return sorted(rows, key=lambda b: [places[v][b[v]] for v in variables])
