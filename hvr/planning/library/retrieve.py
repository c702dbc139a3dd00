"""Find a macro action of the library for a new one in words, and prove that it works here.

Three sieves, each cheap beside the next: the words (what they speak of must fit the entry's
parameters, what their verb means must not contradict its effects, and they must be alike),
the binding of parameters to objects by a join over the current facts, and the validator,
which runs the bound block from the present state in the domain of the agent that asks.

The search is bounded (`MAX_ENTRIES` entries, `MAX_BINDINGS` bindings of each), since it runs at
every macro action and a miss only costs a question to the model. It is deterministic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from hvr.errors import HvrError
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.retrieval.embedders import Embedder
from hvr.pddl import (
    Atom,
    Expression,
    GroundAction,
    State,
    Task,
    TypedName,
    is_variable,
    parse_formula,
)
from hvr.pddl.facts import Facts, bindings
from hvr.planning.library.candidates import Candidate, Query, candidates, natural_key, object_types
from hvr.planning.library.entry import (
    Entry,
    Literal,
    bind_literal,
    bind_step,
    is_literal,
    joinable,
    parse_literal,
)
from hvr.planning.library.library import Library
from hvr.planning.library.lift import conditions_of
from hvr.planning.plans import AABlock, MacroAction
from hvr.validation import Validator

# Binding ------------------------------------------------------------------------------------------
# Bind the variables of an entry to objects, by a join over what is true now.

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
        return sorted(names, key=lambda n: (round(self.distance(n), 2), natural_key(n)))


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
    members = {v: dict.fromkeys(slots.members(entry, v, allowed.get(v))) for v in variables}
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


# --------------------------------------------------------------------------------------------------

MAX_ENTRIES = 20
"""Most entries that are tried for one macro action."""

MAX_BINDINGS = 50
"""Most bindings of one entry that are tried."""


@dataclass(frozen=True)
class MacroMatch:
    """A macro action of the library that works here.

    Args:
        entry: the entry.
        block: bound to objects, with conditions as they are here; its name is the one asked for.
        binding: its variables and what they stand for.
        score: how alike the words are, from 0 to 1.
        generalised: it was learnt with other kinds of objects; a cluster says that it may be
            used with these, too.
    """

    entry: Entry
    block: AABlock
    binding: tuple[tuple[str, str], ...]
    score: float
    generalised: bool = False


def retrieve(
    library: Library,
    query: Query,
    task: Task,
    state: State,
    embedder: Embedder,
    *,
    distances: Mapping[str, float] | None = None,
    ontology: Ontology | None = None,
) -> MacroMatch | None:
    """Return the best macro action of a library that works from the present state.

    Entries come in order of how alike their words are; among equals those learnt for the same
    request first, then own entries of the agent before those of others, entries as they were
    learnt before generalised ones. The first whose block is valid from the state and brings
    about what is wanted is the answer.

    Args:
        library: where to look.
        query: what is looked for.
        task: the problem in the domain of the agent that asks.
        state: the present state, of this task.
        embedder: compares words.
        distances: how far objects are, in metres; the nearest are preferred.
        ontology: names of classes; hvr's own if None.

    Returns:
        The match, or None if nothing fits.

    Raises:
        PddlError: a wanted condition is no condition over the task's objects.
        LLMError: the embedder's provider did not answer.
    """
    ontology = ontology or load_ontology()
    wanted = _Wanted(task, query.postcondition)
    search = _Search(task, state, wanted, distances or {}, ontology, query.name)
    for candidate in candidates(library, query, object_types(task), embedder, ontology)[
        :MAX_ENTRIES
    ]:
        match = search.first(candidate)
        if match is not None:
            return match
    return None


class _Wanted:
    """The conditions that must hold after the block.

    As formulas, to check them, and those that are literals also as such: they are unified with
    an entry's effects, which fixes variables before anything is tried.
    """

    def __init__(self, task: Task, texts: tuple[str, ...]) -> None:
        objects = [TypedName(n, kinds) for n, kinds in task.objects.items()]
        self.formulas: tuple[Expression, ...] = tuple(
            parse_formula(text, task.domain, objects, file="<wanted postcondition>")
            for text in texts
        )
        self.literals: tuple[Literal, ...] = tuple(parse_literal(t) for t in texts if is_literal(t))


@dataclass(frozen=True)
class _Search:
    task: Task
    state: State
    wanted: _Wanted
    distances: Mapping[str, float]
    ontology: Ontology
    name: str
    failed: set[Block] = field(default_factory=set)
    """Beginnings of blocks that are known not to work: others that begin like them fail, too."""

    def first(self, candidate: Candidate) -> MacroMatch | None:
        """Return the first binding of an entry that is proven to work."""
        facts = self.state.atoms(static=True)
        missing = [i for i in self.wanted.literals if (i[0] in facts) != i[1]]
        slots = Slots(self.task, candidate.classes, self.ontology, self._distance)
        tried: set[tuple[tuple[str, str], ...]] = set()
        for start in self._starts(candidate, missing):
            for binding, actions in bound_blocks(candidate.entry, start, facts, slots):
                key = tuple(sorted(binding.items()))
                if key in tried:
                    continue
                if len(tried) >= MAX_BINDINGS:
                    return None
                if any(actions[:n] in self.failed for n in range(1, len(actions) + 1)):
                    continue
                tried.add(key)
                if not self._works(candidate.entry, binding, actions):
                    continue
                conditions = conditions_of(self.task, facts, actions)
                macro = MacroAction(
                    self.name, conditions.precondition(), conditions.postcondition()
                )
                return MacroMatch(
                    candidate.entry,
                    AABlock(macro, actions),
                    key,
                    candidate.score,
                    candidate.generalised,
                )
        return None

    def _distance(self, name: str) -> float:
        return self.distances.get(name, math.inf)

    def _starts(
        self, candidate: Candidate, missing: list[Literal]
    ) -> Iterator[dict[str, frozenset[str]]]:
        """Yield the objects that variables may stand for, by the words and by what is missing.

        What is wanted and holds already says nothing of what the block is to do.
        """
        for roles in candidate.roles:
            for fixed in _unified(candidate.entry, missing):
                allowed = dict(roles)
                for variable, name in fixed.items():
                    allowed[variable] = allowed.get(variable, frozenset({name})) & {name}
                if all(allowed.values()):
                    yield allowed

    def _works(self, entry: Entry, binding: Mapping[str, str], actions: Block) -> bool:
        validator = Validator(self.task, state=self.state)
        try:
            for number, action in enumerate(actions, 1):
                if not validator.apply(action).ok:
                    self.failed.add(actions[:number])
                    return False
            after = validator.state
            if self.wanted.formulas:
                return all(after.holds(formula) for formula in self.wanted.formulas)
            return self._keeps_its_word(entry, binding, after)
        except HvrError:  # a quantifier with too many instances, or a predicate of another domain
            return False

    def _keeps_its_word(self, entry: Entry, binding: Mapping[str, str], after: State) -> bool:
        """Return whether the entry's own postcondition holds after the block and some of it is new.

        Without the second part a block that changes nothing would count as done.
        """
        declared = self.task.domain.predicates
        new = False
        for literal in entry.effects:
            (atom, positive), known = bind_literal(literal, binding), self.task.objects
            if atom.predicate not in declared or not all(a in known for a in atom.args):
                continue  # of another agent's domain, or about a variable that was left out
            if after.holds(atom) != positive:
                return False
            new = new or self.state.holds(atom) != positive
        return new


def _unified(entry: Entry, missing: list[Literal]) -> Iterator[dict[str, str]]:
    """Yield ways to read the missing literals as effects of an entry.

    A literal that is no effect is passed over rather than refused: the block may bring it about
    by a conditional effect that was not seen when it was learnt. The proof decides.
    """

    def extend(number: int, binding: dict[str, str]) -> Iterator[dict[str, str]]:
        if number == len(missing):
            yield binding
            return
        atom, positive = missing[number]
        any_way = False
        for effect, sign in entry.effects:
            if sign != positive or effect.predicate != atom.predicate:
                continue
            more = dict(binding)
            if len(effect.args) == len(atom.args) and all(
                more.setdefault(v, name) == name if v in entry.types else v == name
                for v, name in zip(effect.args, atom.args, strict=True)
            ):
                any_way = True
                yield from extend(number + 1, more)
        if not any_way:
            yield from extend(number + 1, binding)

    return extend(0, {})
