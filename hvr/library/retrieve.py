"""Find a macro action of the library for a new one in words, and prove that it works here.

Three sieves, each cheap beside the next: the words (what they speak of must fit the entry's
parameters, what their verb means must not contradict its effects, and they must be alike),
the binding of parameters to objects by a join over the current facts, and the validator,
which runs the bound block from the present state in the domain of the agent that asks.

The search is bounded: `limit` entries, `MOST_BINDINGS` bindings of each. It is deterministic.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from hvr.agents import load_agent
from hvr.errors import HvrError, UsageError
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.library.bind import Block, Slots, bound_blocks
from hvr.library.candidates import Candidate, candidates
from hvr.library.conditions import conditions_of
from hvr.library.entry import Entry
from hvr.library.library import Library
from hvr.library.literals import Literal, bind_literal, is_literal, parse_literal
from hvr.library.words import object_types, read_words
from hvr.pddl import Expression, State, Task, TypedName, parse_formula
from hvr.plans import AABlock, MacroAction
from hvr.retrieval.embedders import Embedder
from hvr.validation import Validator

LIMIT = 20
"""Entries that are tried for one macro action."""

MOST_BINDINGS = 50
"""Bindings of one entry that are tried."""

THRESHOLD = 0.6
"""Words less alike than this are not taken for the same, from 0 to 1."""


@dataclass(frozen=True)
class Match:
    """A macro action of the library that works here.

    Args:
        entry: it.
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
    name: str,
    task: Task,
    state: State,
    embedder: Embedder,
    *,
    agent: str,
    request: str = "",
    wanted_postcondition: Iterable[str] = (),
    distances: Mapping[str, float] | None = None,
    ontology: Ontology | None = None,
    limit: int = LIMIT,
    threshold: float = THRESHOLD,
) -> Match | None:
    """Return the best macro action of a library that works from the present state.

    Entries come in order of how alike their words are; among equals those learnt for the same
    request first, then own entries of the agent before those of others, entries as they were
    learnt before generalised ones. The first whose block is valid from the state and brings
    about what is wanted is the answer.

    Args:
        library: where to look.
        name: the macro action in words, with or without numbers of objects.
        task: the problem in the domain of the agent that asks.
        state: the present state, of this task.
        embedder: compares words.
        agent: name of the agent that asks.
        request: the whole task that the macro action is a part of.
        wanted_postcondition: PDDL conditions over objects of the task that must hold after
            the block; without any, the entry's own postcondition must.
        distances: how far objects are, in metres; the nearest are preferred.
        ontology: names of classes; hvr's own if None.
        limit: how many entries are tried at most.
        threshold: how alike the words are at least, from 0 to 1.

    Returns:
        The match, or None if nothing fits.

    Raises:
        UsageError: there is no such agent, or the task is not in its domain.
        PddlError: a wanted condition is no condition over the task's objects.
        LLMError: the embedder's provider did not answer.
    """
    domain = load_agent(agent).domain()
    if task.domain.name != domain.name:
        raise UsageError(
            f"the agent {agent} plans in the domain {domain.name}, and the task is of "
            f"{task.domain.name}: derive the problem with load_agent({agent!r}).domain()"
        )
    ontology = ontology or load_ontology()
    wanted = _Wanted(task, wanted_postcondition)
    types = object_types(task)
    query = read_words(name, ontology, types)
    search = _Search(task, state, wanted, distances or {}, ontology, name)
    found = candidates(
        library, query, types, embedder, ontology,
        agent=agent, threshold=threshold, checked_after=bool(wanted.formulas),
        request=request,
    )  # fmt: skip
    for candidate in found[: max(0, limit)]:
        match = search.first(candidate)
        if match is not None:
            return match
    return None


class _Wanted:
    """What must hold after the block."""

    def __init__(self, task: Task, texts: Iterable[str]) -> None:
        texts = tuple(texts)
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
    """Beginnings of blocks that are known not to work; others begin like them."""

    def first(self, candidate: Candidate) -> Match | None:
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
                if len(tried) >= MOST_BINDINGS:
                    return None
                if any(actions[:n] in self.failed for n in range(1, len(actions) + 1)):
                    continue
                tried.add(key)
                if not self._works(candidate.entry, binding, actions):
                    continue
                found = conditions_of(self.task, facts, actions)
                macro = MacroAction(self.name, found.precondition(), found.postcondition())
                return Match(
                    candidate.entry, AABlock(macro, actions), key,
                    candidate.score, candidate.generalised,
                )  # fmt: skip
        return None

    def _distance(self, name: str) -> float:
        return self.distances.get(name, math.inf)

    def _starts(
        self, candidate: Candidate, missing: list[Literal]
    ) -> Iterator[dict[str, frozenset[str]]]:
        """Yield what variables may stand for, by the words and by what is wanted and missing."""
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
        """Return what the entry says of itself holds after the block, and something of it
        is new.
        """
        declared = self.task.domain.predicates
        new = False
        for literal in entry.effects:
            (atom, positive), known = bind_literal(literal, binding), self.task.objects
            if atom.predicate not in declared or not all(a in known for a in atom.args):
                continue
            if after.holds(atom) != positive:
                return False
            new = new or self.state.holds(atom) != positive
        return new


def _unified(entry: Entry, missing: list[Literal]) -> Iterator[dict[str, str]]:
    """Yield ways to read what is missing as effects of an entry; what cannot be is left to the
    proof.
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
