"""The choice between two readings of a request: by the grammar and by the learnt reader.

    the grammar has a reading                      grammar
    … and the learnt reader only adds how an
    object is heated, chilled or washed            learnt, with a note (it satisfies both)
    only the learnt reader has a reading           learnt, with a note; the threshold is higher
                                                   if the grammar's reading is impossible
    neither has a reading                          the grammar's error

A learnt reading needs a minimum probability. It fills gaps and never contradicts a reading of the
grammar. It must account for every content word (`hvr.language.claims`), and its note names its
probability and its head.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from hvr.errors import HvrError, LanguageError, MissingObjectError
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.goal_builder import Goal, Stage
from hvr.language.learnt.frames import states_of
from hvr.language.learnt.reader import Reading
from hvr.language.paraphrase import in_order
from hvr.language.taxonomy import Taxonomy
from hvr.pddl import Domain, TypedName, parse_formula
from hvr.pddl.formulas import And, Atom, Equal, Exists, Expression, Not, Or, substitute

# End state ----------------------------------------------------------------------------------------
# Goals are compared by the end states that they require, not by their text.

_MOST = 20_000
"""Maximum number of variable bindings to try; if there are more, goals count as different."""


@dataclass
class _Conjunction:
    parts: list[Expression] = field(default_factory=list)
    types: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add(self, formula: Expression) -> None:
        if isinstance(formula, And):
            for operand in formula.operands:
                self.add(operand)
        elif isinstance(formula, Exists):
            self.types |= {v.name: v.types for v in formula.variables}
            self.add(formula.body)
        else:
            self.parts.append(formula)


class EndStates:
    """Compares goals by the end states that they require in a scene."""

    def __init__(self, taxonomy: Taxonomy, inventory: Inventory, domain: Domain) -> None:
        self._domain = domain
        self._objects = [
            TypedName(n, (taxonomy.pddl_type(c),)) for n, c in inventory.classes.items()
        ]
        self._types = {o.name: o.types for o in self._objects}
        methods = taxonomy.methods
        self._lasting = methods.lasting
        self._entailed: dict[str, tuple[str, set[str]]] = {}
        for predicate, other, relation in methods.entailed:
            sources = set(methods.sources(predicate))
            self._entailed[predicate] = (
                other,
                {
                    self._types[thing][0]
                    for source, thing in inventory.pairs(relation)
                    if inventory.classes.get(source) in sources and thing in self._types
                },
            )
        also = {other for other, _ in self._entailed.values()}
        self.states: frozenset[str] = states_of(taxonomy.ontology) | also
        """Predicates, except places, that frames of the learnt reader can express."""

    def predicates(self, goal: Goal) -> frozenset[str]:
        """Return the predicates that a goal requires; '' stands for any other formula."""
        parts = [p for stage in goal.stages for p in self._conjunction(stage, "a").parts]
        return frozenset(map(_predicate, parts))

    def entails(self, one: Goal, other: Goal) -> bool:
        """Return whether reaching `one` also reaches `other`; False if hvr cannot decide it."""
        if one.stages == other.stages:
            return True
        if any(s.constraints for s in other.stages) and _kept(one) != _kept(other):
            return False
        if len(other.stages) > 1:
            if len(one.stages) != len(other.stages):
                return False
            return all(map(self._includes, one.stages, other.stages))
        return self._includes(one.stages[-1], other.stages[-1], one.stages[:-1])

    def _includes(self, one: Stage, other: Stage, before: Sequence[Stage] = ()) -> bool:
        stronger, weaker = self._conjunction(one, "a"), self._conjunction(other, "b")
        for number, stage in enumerate(before):
            earlier = self._conjunction(stage, f"a{number}")
            stronger.types |= earlier.types
            stronger.parts += [part for part in earlier.parts if self._lasts(part)]
        held = {_canonical(part) for part in [*stronger.parts, *self._consequences(stronger)]}
        fitting = [
            [
                t
                for t, types in {**self._named(stronger), **stronger.types}.items()
                if self._domain.fits(types, wanted)
            ]
            for wanted in weaker.types.values()
        ]
        ways = 1
        for terms in fitting:
            ways *= max(1, len(terms))
        if ways > _MOST:
            return False
        # The goal is included if some binding of its variables follows from the stronger one.
        names = list(weaker.types)
        return any(
            all(_holds(substitute(part, binding), held) for part in weaker.parts)
            for binding in (dict(zip(names, way, strict=True)) for way in product(*fitting))
        )

    def _consequences(self, conjunction: _Conjunction) -> Iterator[Expression]:
        types = {**self._types, **conjunction.types}
        for part in conjunction.parts:
            if not isinstance(part, Atom):
                continue
            other, able = self._entailed.get(part.predicate, ("", set()))
            if part.args and set(types.get(part.args[0], ())) & able:
                yield Atom(other, part.args)

    def _lasts(self, part: Expression) -> bool:
        return isinstance(part, Atom) and part.predicate in self._lasting

    def _named(self, conjunction: _Conjunction) -> Mapping[str, tuple[str, ...]]:
        names = {a for part in conjunction.parts for a in _arguments(part)}
        return {name: self._types[name] for name in sorted(names & self._types.keys())}

    def _conjunction(self, stage: Stage, mark: str) -> _Conjunction:
        formula = parse_formula(stage.wanted, self._domain, self._objects, file="<goal>")
        plain = _Conjunction()
        plain.add(formula)
        renamed = {name: f"{name}.{mark}" for name in plain.types}
        return _Conjunction(
            [substitute(part, renamed) for part in plain.parts],
            {renamed[name]: types for name, types in plain.types.items()},
        )


def _predicate(part: Expression) -> str:
    match part:
        case Atom(predicate, _):
            return predicate
        case Not(Atom(predicate, _)):
            return predicate
        case Not(Equal()) | Equal():
            return "="
        case Or(operands):
            # For a choice, use its first option: "hot, or its contents are warm".
            return _predicate(operands[0]) if operands else ""
    return ""


def _holds(part: Expression, held: Collection[str]) -> bool:
    match part:
        case Not(Equal(left, right)) if left != right and "?" not in left + right:
            return True  # two objects with different names
        case And(operands):
            return all(_holds(operand, held) for operand in operands)
        case Or(operands):
            return _canonical(part) in held or any(_holds(o, held) for o in operands)
    return _canonical(part) in held


def _kept(goal: Goal) -> Sequence[tuple[str, ...]]:
    return [stage.constraints for stage in goal.stages]


def _arguments(part: Expression) -> Iterator[str]:
    match part:
        case Atom(_, args):
            yield from args
        case Not(operand):
            yield from _arguments(operand)
        case Equal(left, right):
            yield from (left, right)


def _canonical(part: Expression) -> str:
    match part:
        case Not(Equal(left, right)):
            first, second = sorted((left, right))
            return f"(not (= {first} {second}))"
        case Equal(left, right):
            first, second = sorted((left, right))
            return f"(= {first} {second})"
    return str(part)


# Agreement ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReaderThresholds:
    """Minimum probabilities of a learnt reading.

    They were tuned on demonstrations that the head had not seen, none of them from the test set,
    and on `benchmarks/sentences.txt`: see docs/results/learnt_reader.md.

    Args:
        alone: Threshold if the grammar has no reading.
        more: Threshold for adding to the grammar's reading how an object is treated.
        instead: Threshold if the grammar's reading is impossible in the scene, since people call a
            mug a cup.
        near: Threshold for suggestions in error messages.
    """

    alone: float = 0.8
    more: float = 0.7
    instead: float = 0.85
    near: float = 0.2


def agreed(
    grammar: Goal | HvrError,
    reading: Reading,
    ends: EndStates,
    thresholds: ReaderThresholds,
    head: str,
) -> Goal:
    """Return the grammar's goal, or the learnt goal if the thresholds allow it.

    Args:
        grammar: The goal by the grammar, or its error.
        head: Digest of the learnt reader's head.

    Raises:
        HvrError: The grammar's error, if the learnt reading does not replace it.
    """
    learnt = reading.goal
    if isinstance(grammar, HvrError):
        if learnt is None:
            raise grammar
        refused = isinstance(grammar, LanguageError | MissingObjectError)
        # The grammar read every word of an impossible request, so its replacement must do so.
        if (refused or reading.whole) and reading.p >= (
            thresholds.alone if refused else thresholds.instead
        ):
            return marked(learnt, reading.p, head)
        raise _with_nearest(grammar, reading, thresholds)
    if learnt is None or reading.p < thresholds.more:
        return grammar
    if ends.entails(grammar, learnt) or not ends.entails(learnt, grammar):
        return grammar
    # A learnt reading may add how a state is achieved, but not a state that was not mentioned.
    by_grammar, learned = ends.predicates(grammar), ends.predicates(learnt)
    adds = learned - by_grammar <= ends.states and by_grammar & ends.states
    return marked(learnt, reading.p, head) if adds else grammar


def marked(goal: Goal, p: float, head: str) -> Goal:
    """Return a goal with the learnt reader as its reader, and with a note of its probability."""
    note = f"read by the learnt reader, {100 * p:.0f} % sure"
    return goal.replace(notes=(note, *goal.notes), reader=f"learnt {head}")


def _with_nearest(error: HvrError, reading: Reading, thresholds: ReaderThresholds) -> HvrError:
    if reading.goal is None or reading.p < thresholds.near or type(error) is not LanguageError:
        return error
    return LanguageError(f"{error}; did you mean: {in_order(reading.goal.paraphrase)}?")
