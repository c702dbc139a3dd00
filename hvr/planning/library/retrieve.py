"""Retrieve a macro action from the library by its name, and prove it in the current state.

Three filters follow each other, the cheapest first. First, the names must be similar, mentions must
match the entry's parameters, and the verb must not contradict the entry's effects. Second, a join
over the current facts binds parameters to objects. Third, the validator executes the bound block in
the current state and in the domain of the robot that asks.

The search is deterministic and bounded (`MAX_ENTRIES` entries, `MAX_BINDINGS` bindings per entry),
because it runs for every macro action and a miss only costs a call to the language model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from hvr.validation.validator import Validator

# Binding ------------------------------------------------------------------------------------------
# Variables of an entry are bound to objects by a join over the current facts.

Block = tuple[GroundAction, ...]

_MOST_JOINED = 400
"""Limit on the bindings of joins in which no static facts tie the variables together."""


@dataclass(frozen=True)
class Slots:
    """The objects that the variables of an entry may denote.

    Args:
        classes: The ontology class that each variable accepts. If there is none, the PDDL type of
            the variable decides.
    """

    task: Task
    classes: Mapping[str, str | None]
    ontology: Ontology

    def members(self, entry: Entry, variable: str, allowed: frozenset[str] | None) -> list[str]:
        """Return the objects (only `allowed` ones, if given) that a variable may denote, sorted."""
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
        return sorted(names, key=natural_key)


def bound_blocks(
    entry: Entry, allowed: Mapping[str, frozenset[str]], facts: frozenset[Atom], slots: Slots
) -> Iterator[tuple[dict[str, str], Block]]:
    """Yield bindings of an entry's variables that may work, each with the bound steps.

    Bindings that satisfy all conditions come first, then those that satisfy only the static
    conditions: an object need not be where it was when the block was learnt. The validator decides.

    Args:
        allowed: The only objects that certain variables may denote.
        slots: The objects that the other variables may denote.
    """
    used = {a for step in entry.steps for a in step.args if is_variable(a)}
    known = [n for n in entry.needs if n[0].predicate in slots.task.domain.predicates]
    static = [n for n in known if slots.task.is_static(n[0].predicate)]
    tied = used | allowed.keys()
    everything = list(entry.types)
    # The second round drops variables that occur only in conditions: without their fluent
    # conditions, nothing would tie them to an object.
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
    # For the join, each variable has its own type: its possible objects.
    typed = [TypedName(v, (v,)) for v in variables]
    relation = Facts(facts).relation
    joined = bindings(typed, joinable(literals), {}, relation, lambda types: members[types[0]])
    places = {v: {name: place for place, name in enumerate(m)} for v, m in members.items()}
    # Variables denoted distinct objects when the block was learnt, and must do so here.
    rows = [b for b in islice(joined, _MOST_JOINED) if len(set(b.values())) == len(b)]
    return sorted(rows, key=lambda b: [places[v][b[v]] for v in variables])


# --------------------------------------------------------------------------------------------------

MAX_ENTRIES = 20

MAX_BINDINGS = 50


@dataclass(frozen=True)
class MacroMatch:
    """A macro action of the library that works in the current state.

    Args:
        block: The block bound to objects, with its conditions in this state and the query's name.
        score: The similarity of the names, from 0 to 1.
        generalised: Whether the entry was learnt with other classes, and matches because its
            cluster accepts more classes.
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
    ontology: Ontology | None = None,
) -> MacroMatch | None:
    """Return the best macro action of a library that works in the current state, or None.

    Entries are tried in the order of name similarity. Ties are broken in favour of entries learnt
    for the same request, then of the agent's own entries; entries as learnt come before generalised
    entries. The first entry whose block is valid and achieves the postcondition is returned.

    Args:
        task: The problem in the domain of the robot that asks.

    Raises:
        PddlError: A postcondition is not a condition over the task's objects.
        LLMError: The provider of the embedder did not answer.
    """
    ontology = ontology or load_ontology()
    postcondition = _Postcondition(task, query.postcondition)
    search = _Search(task, state, postcondition, ontology, query.name)
    for candidate in candidates(library, query, object_types(task), embedder, ontology)[
        :MAX_ENTRIES
    ]:
        match = search.first(candidate)
        if match is not None:
            return match
    return None


class _Postcondition:
    """The conditions that must hold after the block.

    All conditions are checked as formulas. Conditions that are literals are first unified with an
    entry's effects, which binds variables early.
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
    postcondition: _Postcondition
    ontology: Ontology
    name: str
    failed: set[Block] = field(default_factory=set)
    """Prefixes of blocks that are known to fail, as does any block with such a prefix."""

    def first(self, candidate: Candidate) -> MacroMatch | None:
        facts = self.state.atoms(static=True)
        missing = [i for i in self.postcondition.literals if (i[0] in facts) != i[1]]
        slots = Slots(self.task, candidate.classes, self.ontology)
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

    def _starts(
        self, candidate: Candidate, missing: list[Literal]
    ) -> Iterator[dict[str, frozenset[str]]]:
        # Postconditions that hold already say nothing about the purpose of the block.
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
            if self.postcondition.formulas:
                return all(after.holds(formula) for formula in self.postcondition.formulas)
            return self._achieves_own_postcondition(entry, binding, after)
        except (
            HvrError
        ):  # A quantifier has too many instances, or a predicate belongs to another domain.
            return False

    def _achieves_own_postcondition(
        self, entry: Entry, binding: Mapping[str, str], after: State
    ) -> bool:
        # Require a new literal: otherwise a block that changes nothing would succeed.
        declared = self.task.domain.predicates
        new = False
        for literal in entry.effects:
            (atom, positive), known = bind_literal(literal, binding), self.task.objects
            if atom.predicate not in declared or not all(a in known for a in atom.args):
                continue  # The literal belongs to another domain or mentions an unbound variable.
            if after.holds(atom) != positive:
                return False
            new = new or self.state.holds(atom) != positive
        return new


def _unified(entry: Entry, missing: list[Literal]) -> Iterator[dict[str, str]]:
    # A literal that is not an effect is skipped, not rejected: a conditional effect that did not
    # occur when the entry was learnt may achieve it. The proof decides.
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
