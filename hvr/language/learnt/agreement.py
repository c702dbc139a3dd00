"""Which reading of a request counts: the grammar's, the learnt reader's, or neither.

    both want the same end                         it is done
    the learnt one adds by what a thing is heated
    or chilled, or that a clean one is washed,
    and is sure                                    its reading is done, and said: it meets both
    only the grammar has a reading                 it is done
    only the learnt reader has one, and is sure    it is done, and said; surer still where the
                                                   grammar's is impossible
    they want different ends of the same things,
    and the learnt one is sure                     its reading is done, and said
    they want different things, or it is not sure  the question which one is meant
    a frame cannot say what the grammar read       the grammar's is done
    neither                                        the grammar's refusal

Nothing is guessed in silence: a learnt reading carries a note, its probability and its head.
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
from hvr.pddl.model import And, Atom, Equal, Exists, Expression, Not, Or, substitute

# End state ----------------------------------------------------------------------------------------
# Which of two goals asks for more: goals compared by the end that they want, not by their text.

_MOST = 20_000
"""Ways to match the variables of two goals that are tried; beyond, they count as different."""


@dataclass
class _Conjunction:
    """What a condition asks for, with its variables."""

    parts: list[Expression] = field(default_factory=list)
    types: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add(self, formula: Expression) -> None:
        """Add the conjuncts of a formula; the variables of its quantifiers become terms."""
        if isinstance(formula, And):
            for operand in formula.operands:
                self.add(operand)
        elif isinstance(formula, Exists):
            self.types |= {v.name: v.types for v in formula.variables}
            self.add(formula.body)
        else:
            self.parts.append(formula)


class EndStates:
    """Compares goals in a scene."""

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
        """The predicates, but for places, of which the learnt reader's frames can speak."""

    def predicates(self, goal: Goal) -> frozenset[str]:
        """Return the predicates of what a goal asks for; '' for what is not a plain literal."""
        parts = [p for stage in goal.stages for p in self._conjunction(stage, "a").parts]
        return frozenset(map(_predicate, parts))

    def things(self, goal: Goal) -> int:
        """Return of how many things and places the end of a goal speaks."""
        end = self._conjunction(goal.stages[-1], "a")
        return len(end.types) + len(self._named(end))

    def kinds(self, goal: Goal) -> frozenset[str]:
        """Return of which types of things and places the end of a goal speaks."""
        end = self._conjunction(goal.stages[-1], "a")
        return frozenset(
            t for types in (*end.types.values(), *self._named(end).values()) for t in types
        )

    def entails(self, one: Goal, other: Goal) -> bool:
        """Return whether whatever meets one goal meets the other.

        False also where that cannot be told: of goals that take several stages.
        """
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
        held = {_canonical(part) for part in [*stronger.parts, *self._follows(stronger)]}
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
        names = list(weaker.types)
        return any(
            all(_holds(substitute(part, binding), held) for part in weaker.parts)
            for binding in (dict(zip(names, way, strict=True)) for way in product(*fitting))
        )

    def _follows(self, conjunction: _Conjunction) -> Iterator[Expression]:
        """Yield what comes with what is asked for: a microwave cooks what it can cook."""
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
        said = {a for part in conjunction.parts for a in _arguments(part)}
        return {name: self._types[name] for name in sorted(said & self._types.keys())}

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
            # Of a choice, what it is between: "hot, or what it holds is warm".
            return _predicate(operands[0]) if operands else ""
    return ""


def _holds(part: Expression, held: Collection[str]) -> bool:
    """Return whether a part follows from literals that hold."""
    match part:
        case Not(Equal(left, right)) if left != right and "?" not in left + right:
            return True  # two things of different names
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
    """Return a conjunct as a text that does not depend on the order of an equation."""
    match part:
        case Not(Equal(left, right)):
            first, second = sorted((left, right))
            return f"(not (= {first} {second}))"
        case Equal(left, right):
            first, second = sorted((left, right))
            return f"(= {first} {second})"
    return str(part)


# --------------------------------------------------------------------------------------------------

_PLACES = frozenset({"on", "in"})


@dataclass(frozen=True)
class ReaderThresholds:
    """How sure the learnt reader must be.

    Chosen on demonstrations that are not kept apart, by a head that had not seen them, and on
    `benchmarks/sentences.txt`: see docs/results/learnt_reader.md.

    Args:
        alone: for a reading where the grammar has none.
        against: for its reading of the same things where the grammar reads otherwise.
        heard: to be named beside the grammar's in a question.
        instead: for a reading where the grammar's is impossible in the scene: people call a mug
            a cup.
        near: to be named in a refusal.
    """

    alone: float = 0.8
    against: float = 0.7
    heard: float = 0.5
    instead: float = 0.85
    near: float = 0.2


def agreed(
    grammar: Goal | HvrError,
    reading: Reading,
    ends: EndStates,
    thresholds: ReaderThresholds,
    head: str,
) -> tuple[Goal, ...]:
    """Return the goal that counts; or both, where they end differently.

    Args:
        grammar: the grammar's goal, or why it has none.
        reading: the learnt reader's.
        ends: compares goals.
        thresholds: how sure it must be.
        head: digest of the learnt reader's head.

    Raises:
        HvrError: the grammar's, where the learnt reader does not know better.
    """
    learnt = reading.goal
    if isinstance(grammar, HvrError):
        if learnt is None:
            raise grammar
        refused = isinstance(grammar, LanguageError | MissingObjectError)
        if reading.p >= (thresholds.alone if refused else thresholds.instead):
            return (marked(learnt, reading.p, head),)
        raise _with_nearest(grammar, reading, thresholds)
    if learnt is None or reading.p < thresholds.heard:
        return (grammar,)
    said, heard = ends.predicates(grammar), ends.predicates(learnt)
    more = len(grammar.stages) > len(learnt.stages) or ends.things(grammar) > ends.things(learnt)
    if more or not _could_be_a_frame(said, heard, ends.states) or ends.entails(grammar, learnt):
        return (grammar,)
    other = marked(learnt, reading.p, head)
    sure = reading.p >= thresholds.against
    if ends.entails(learnt, grammar):
        # How a thing comes to its state may be added; a state that nobody spoke of may not.
        added = heard - said <= ends.states and said & ends.states
        return (other,) if sure and added else (grammar,)
    if sure and ends.kinds(learnt) <= ends.kinds(grammar):
        return (other,)
    return grammar, other


def _could_be_a_frame(said: frozenset[str], heard: frozenset[str], states: frozenset[str]) -> bool:
    frames = _PLACES | states | {"="}
    return said <= frames and not (said & _PLACES and not heard & _PLACES)


def marked(goal: Goal, p: float, head: str) -> Goal:
    """Return a goal that says that it was read by the learnt reader."""
    note = f"read by the learnt reader, {100 * p:.0f} % sure"
    return goal.replace(notes=(note, *goal.notes), reader=f"learnt {head}")


def _with_nearest(error: HvrError, reading: Reading, thresholds: ReaderThresholds) -> HvrError:
    if reading.goal is None or reading.p < thresholds.near or type(error) is not LanguageError:
        return error
    return LanguageError(f"{error}; did you mean: {in_order(reading.goal.said)}?")
