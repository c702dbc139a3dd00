"""The action mapper: maps a model's answer to valid ground actions (paper, section 3.3).

An action is first read literally. If that fails, its predicate and objects are mapped to the known
names with the most similar embeddings (by cosine). If the result is not a valid action, the most
similar valid action with the same predicate and object is used. Names below the similarity
thresholds are reported instead of mapped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations, product
from operator import itemgetter
from typing import NamedTuple, Protocol

from hvr.base.texts import singular, squeezed, words
from hvr.knowledge.wording import Wording, load_wording
from hvr.pddl import (
    ActionSchema,
    And,
    Atom,
    Equal,
    Exists,
    Expression,
    Forall,
    GroundAction,
    Imply,
    Not,
    Or,
    Predicate,
    Task,
    TypedName,
    When,
    is_variable,
)
from hvr.pddl.facts import Literal, Relation, bindings, conjuncts, match_row, necessary_literals
from hvr.pddl.task import binding_of
from hvr.policies.llm.answers.conditions import LiteralText
from hvr.policies.llm.answers.plans import ActionText
from hvr.policies.llm.answers.text import split_name

# Action set ---------------------------------------------------------------------------------------


Binding = Mapping[str, str]

_MOST_INSTANCES = 50_000
"""Maximum number of instances up to which a quantifier is expanded; larger quantified formulas
count as satisfiable.
"""


class ActionSet:
    """The ground actions of a task that may become applicable, enumerated on demand."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._by_name: dict[str, tuple[GroundAction, ...]] = {}
        self._adders: dict[str, list[_Adder]] | None = None
        self._attainable: dict[Atom, bool] = {}
        self._members: dict[GroundAction, bool] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.task.domain.actions)

    def __contains__(self, action: object) -> bool:
        if not isinstance(action, GroundAction):
            return False
        known = self._members.get(action)
        if known is None:
            known = self._members[action] = self._valid(action)
        return known

    def __iter__(self) -> Iterator[GroundAction]:
        for name in self.names:
            yield from self.of(name)

    def __len__(self) -> int:
        return sum(len(self.of(name)) for name in self.names)

    def of(self, name: str) -> tuple[GroundAction, ...]:
        """Return the actions with a name, in a fixed order; empty if the name is unknown."""
        if name not in self._by_name:
            schema = self.task.domain.actions.get(name)
            self._by_name[name] = tuple(self._enumerate(schema)) if schema is not None else ()
        return self._by_name[name]

    # Enumeration ----------------------------------------------------------------------------

    def _valid(self, action: GroundAction) -> bool:
        schema = self.task.domain.actions.get(action.name)
        if schema is None or self.task.misfit(action) is not None:
            return False
        return self._possible(schema.precondition, binding_of(schema, action), True)

    def _enumerate(self, schema: ActionSchema) -> Iterator[GroundAction]:
        parts = list(conjuncts(schema.precondition))
        names = {p.name for p in schema.parameters}
        allowed: dict[str, dict[str, None]] = {}
        rest: list[Expression] = []
        alone: dict[str, list[Expression]] = {name: [] for name in names}
        for conjunct in parts:
            # Check unary conditions once per object instead of once per binding.
            free = _free(conjunct) & names
            (alone[next(iter(free))] if len(free) == 1 else rest).append(conjunct)
        for parameter in schema.parameters:
            allowed[parameter.name] = {
                o: None
                for o in self.task.members(parameter.types)
                if all(self._possible(c, {parameter.name: o}, True) for c in alone[parameter.name])
            }
        static = [
            literal for c in rest for literal in necessary_literals(c) if self._static(literal)
        ]
        # Each parameter gets its own pseudo-type: the objects that satisfy its unary conditions.
        variables = [TypedName(p.name, (p.name,)) for p in schema.parameters]
        for binding in bindings(
            variables, static, {}, self.task.static_facts.relation, lambda types: allowed[types[0]]
        ):
            if all(self._possible(c, binding, True) for c in rest):
                yield GroundAction(schema.name, tuple(binding[p.name] for p in schema.parameters))

    def _static(self, literal: Literal) -> bool:
        return isinstance(literal[0], Equal) or self.task.is_static(literal[0].predicate)

    # Possibility ----------------------------------------------------------------------------

    def _possible(self, formula: Expression, binding: Binding, wanted: bool) -> bool:
        """Return whether a formula can ever evaluate to `wanted`; True if undecided."""
        match formula:
            case Atom():
                return self._possible_atom(formula, binding, wanted)
            case Equal(left, right):
                return (binding.get(left, left) == binding.get(right, right)) == wanted
            case Not(operand):
                return self._possible(operand, binding, not wanted)
            case And(operands) | Or(operands):
                every = isinstance(formula, And) == wanted
                return (all if every else any)(self._possible(o, binding, wanted) for o in operands)
            case Imply(left, right):
                return self._possible(Or((Not(left), right)), binding, wanted)
            case Exists(variables, body) | Forall(variables, body):
                instances = self._instances(variables, body, binding, wanted)
                return (any if isinstance(formula, Exists) == wanted else all)(instances)
        return True

    def _possible_atom(self, atom: Atom, binding: Binding, wanted: bool) -> bool:
        args = tuple([binding.get(a, a) for a in atom.args])
        if any(is_variable(a) for a in args):
            return True
        if self.task.is_static(atom.predicate):
            return (args in self.task.static_facts.relation(atom.predicate)) == wanted
        return not wanted or self.can_become_true(Atom(atom.predicate, args))

    def _instances(
        self, variables: tuple[TypedName, ...], body: Expression, binding: Binding, wanted: bool
    ) -> Iterator[bool]:
        members = [self.task.members(v.types) for v in variables]
        count = 1
        for objects in members:
            count *= len(objects)
        if count > _MOST_INSTANCES:
            yield True
            return
        for row in product(*members):
            inner = {**binding, **{v.name: o for v, o in zip(variables, row, strict=True)}}
            yield self._possible(body, inner, wanted)

    def can_become_true(self, atom: Atom) -> bool:
        """Return whether an atom holds initially or an effect may add it.

        Only types and static conditions are checked, since a search would be needed to find out
        whether the action with the effect is reachable. Derived atoms count as possible, and so do
        all atoms if the problem has timed initial literals.
        """
        known = self._attainable.get(atom)
        if known is None:
            # Derived and timed atoms are assumed to be possible; their causes are not traced.
            followed = atom.predicate not in self.task.derived_predicates
            known = not followed or bool(self.task.problem.timed_init)
            known = known or atom in self.task.problem.init
            known = known or any(a.may_add(self.task, atom) for a in self._adding(atom.predicate))
            self._attainable[atom] = known
        return known

    def _adding(self, predicate: str) -> list[_Adder]:
        if self._adders is None:
            self._adders = {}
            for schema in self.task.domain.actions.values():
                needs = tuple(n for n in necessary_literals(schema.precondition) if self._static(n))
                for adder in _adders(schema.effect, schema.parameters, needs, self._static):
                    self._adders.setdefault(adder.atom.predicate, []).append(adder)
        return self._adders.get(predicate, [])


class _Adder:
    __slots__ = ("atom", "needs", "variables")

    def __init__(
        self, atom: Atom, variables: tuple[TypedName, ...], needs: tuple[Literal, ...]
    ) -> None:
        self.atom = atom
        self.variables = variables
        self.needs = needs

    def may_add(self, task: Task, atom: Atom) -> bool:
        binding = match_row(self.atom, atom.args)
        if binding is None:
            return False
        types = {v.name: v.types for v in self.variables}
        if any(o not in task.members(types[v]) for v, o in binding.items() if v in types):
            return False

        def relation(predicate: str) -> Relation:
            return task.static_facts.relation(predicate)

        open_ = [v for v in self.variables if v.name not in binding]
        return any(True for _ in bindings(open_, self.needs, binding, relation, task.members))


def _adders(
    effect: Expression,
    variables: tuple[TypedName, ...],
    needs: tuple[Literal, ...],
    static: Callable[[Literal], bool],
) -> Iterator[_Adder]:
    match effect:
        case Atom():
            yield _Adder(effect, variables, needs)
        case And(operands):
            for operand in operands:
                yield from _adders(operand, variables, needs, static)
        case Forall(inner, body):
            yield from _adders(body, (*variables, *inner), needs, static)
        case When(condition, body):
            more = tuple(n for n in necessary_literals(condition) if static(n))
            yield from _adders(body, variables, (*needs, *more), static)
        case _:
            pass


def _free(formula: Expression) -> set[str]:
    match formula:
        case Atom():
            return {a for a in formula.args if is_variable(a)}
        case Equal(left, right):
            return {a for a in (left, right) if is_variable(a)}
        case Not(operand):
            return _free(operand)
        case And(operands) | Or(operands):
            return set().union(*map(_free, operands))
        case Imply(left, right):
            return _free(left) | _free(right)
        case Exists(variables, body) | Forall(variables, body):
            return _free(body) - {v.name for v in variables}
    return set()


# Name matching ------------------------------------------------------------------------------------

_INSTANCE = re.compile(r"(?P<base>.*?[^\W\d])[-_ |#(]*(?P<number>\d{1,4})\)?\W*")


_SLIP = 0.85
"""Minimum similarity of two spellings of the same name, by letters."""


class Similarity(Protocol):
    """The method of `hvr.knowledge.retrieval.embedders.Embedder` that name matching needs."""

    def similarities(self, query: str, candidates: Sequence[str]) -> tuple[float, ...]:
        """Return the cosine similarity of the query to each candidate, from -1 to 1."""


class KnownNames:
    def __init__(
        self, embedder: Similarity, names: Iterable[str], phrases: Mapping[str, Sequence[str]]
    ) -> None:
        self.names = tuple(dict.fromkeys(names))
        self._embedder = embedder
        pairs = [(_plain(p), n) for n in self.names for p in (n, *phrases.get(n, ()))]
        self._pairs = tuple(dict.fromkeys(pairs))
        self._candidates = tuple(dict.fromkeys(p for p, _ in self._pairs))
        self._spelt: dict[str, dict[str, None]] = {}
        for phrase, name in self._pairs:
            self._spelt.setdefault(_key(phrase), {})[name] = None
        self._known: dict[str, dict[str, float]] = {}

    def scores(self, text: str) -> dict[str, float]:
        """Return how similar each name is to a text, from 0 to 1, most similar name first.

        Only a name or synonym that equals the text, apart from spelling variants, scores 1.
        """
        plain = _plain(text)
        if plain not in self._known:
            self._known[plain] = self._compare(plain)
        return self._known[plain]

    def _compare(self, plain: str) -> dict[str, float]:
        scores = dict.fromkeys(self.names, 0.0)
        if not plain or not self._candidates:
            return scores
        # An exact match needs no embedding and excludes all other names.
        same = self._spelt.get(_key(plain))
        if same:
            return {**dict.fromkeys(same, 1.0), **{n: 0.0 for n in scores if n not in same}}
        similar = self._embedder.similarities(plain, self._candidates)
        by_phrase = dict(zip(self._candidates, similar, strict=True))
        for phrase, name in self._pairs:
            # Rounded, since the last bits depend on the machine; only exact matches score 1.
            likeness = max(round(by_phrase[phrase], 6), _spelling(plain, phrase))
            scores[name] = max(scores[name], min(0.99, likeness))
        order = sorted(scores, key=lambda n: -scores[n])
        return {name: scores[name] for name in order}


def split_instance(text: str) -> tuple[str, int | None]:
    """Split a name into words and number: `Mug_1` into Mug and 1, `mug` into mug and None."""
    match = _INSTANCE.fullmatch(text.strip())
    if match is None:
        return text.strip(), None
    return match["base"].strip(" -_|#"), int(match["number"])


def _spelling(one: str, other: str) -> float:
    # Changing one letter of a short word makes another word. A long text is a sentence, not a name.
    if min(len(one), len(other)) < 4 or abs(len(one) - len(other)) > 2 or len(one) > 40:
        return 0.0
    ratio = SequenceMatcher(None, one, other, autojunk=False).ratio()
    return ratio if ratio >= _SLIP else 0.0


def _plain(text: str) -> str:
    return " ".join(words(text))


def _key(plain: str) -> str:
    parts = plain.split()
    return squeezed(" ".join([*parts[:-1], singular(parts[-1])])) if parts else ""


# Mapper -------------------------------------------------------------------------------------------

NAME_THRESHOLD = 0.6
"""Minimum similarity between a written predicate and a known one."""

OBJECT_THRESHOLD = 0.6
"""Minimum similarity between a written object name and a known one."""

_MOST_ARGUMENTS = 6
_OTHER_NUMBER = 0.95
"""Factor on the score of an object whose number differs from the written one."""

_SIBLING = 0.5
"""Score of an action that has the same verb, such as `put`, as the most similar action."""

_ROBOT = frozenset({"robot", "agent", "arm", "gripper", "hand", "self", "me", "i", "you", "?o"})


@dataclass(frozen=True)
class Mapped:
    """The action that a text means (or None), with a note on what was changed or why it failed.

    `exact` is True if the text names the action exactly, and `impossible` if the action and the
    objects exist but cannot be combined.
    """

    action: GroundAction | None
    exact: bool
    note: str = ""
    impossible: bool = False


class MappedLiteral(NamedTuple):
    """The PDDL literal that a text means (or None), with a note on what was changed or failed."""

    literal: str | None
    note: str


class _Choice(NamedTuple):
    score: float
    action: GroundAction


class Mapper:
    """Maps a model's answer to a task's actions and literals; `available` objects are preferred."""

    def __init__(
        self,
        actions: ActionSet,
        embedder: Similarity,
        available: Sequence[str] = (),
        wording: Wording | None = None,
    ) -> None:
        self.actions = actions
        self.task = actions.task
        self._embedder = embedder
        known = self.task.objects
        self.objects: tuple[str, ...] = tuple(
            dict.fromkeys([*(n.lower() for n in available if n.lower() in known), *known])
        )
        self._classes: dict[str, dict[int | None, str]] = {}
        for name in self.objects:
            base, number = split_instance(name)
            self._classes.setdefault(base, {}).setdefault(number, name)
        wording = wording or load_wording()
        self._partners = wording.partners
        self._verbs = {name: action.written for name, action in wording.actions.items()}
        phrases = {
            c: (*wording.types.get(c, ()), *wording.pieces.get(c, ())) for c in self._classes
        }
        self._class_names = KnownNames(embedder, self._classes, phrases)
        self._action_names = KnownNames(embedder, actions.names, self._verbs)
        predicates = self.task.domain.predicates
        written = {name: known.written for name, known in wording.predicates.items()}
        self._predicate_names = KnownNames(embedder, predicates, written)
        negations = {n: p.negation for n, p in wording.predicates.items() if p.negation}
        self._opposites = KnownNames(embedder, [p for p in predicates if p in negations], negations)

    # Objects --------------------------------------------------------------------------------

    def objects_like(self, text: str) -> dict[str, float]:
        """Return the objects that a name can mean with their scores, best first.

        Each sufficiently similar class contributes one object: the one with the written number, or
        else the first available one.
        """
        lower = text.strip().lower()
        if lower in self.task.objects:
            return {lower: 1.0}
        base, number = split_instance(text)
        fits: dict[str, float] = {}
        for name, score in self._class_names.scores(base).items():
            if score < OBJECT_THRESHOLD:
                break
            instances = self._classes[name]
            chosen = instances.get(number)
            if chosen is None:
                chosen = next(iter(instances.values()))
            missed = number is not None and number not in instances
            fits[chosen] = score * _OTHER_NUMBER if missed else score
        return fits

    def _stand_ins(self, objects: Mapping[str, float]) -> dict[str, float]:
        """Return related objects, such as the burner of a knob, that a valid action may accept."""
        fits: dict[str, float] = {}
        for name, score in objects.items():
            base, number = split_instance(name)
            for other in self._partners.get(base, ()):
                instances = self._classes.get(other, {})
                chosen = instances.get(number, next(iter(instances.values()), None))
                if chosen is not None:
                    fits[chosen] = score * _SIBLING
        return fits

    # Actions --------------------------------------------------------------------------------

    def map(self, text: ActionText, holding: str | None = None) -> Mapped:
        """Return the action that a text means.

        Args:
            holding: The object in the robot's hand before the action. It is used if the text omits
                an object, as in `(put_on, countertop-1)`.
        """
        name, args = text.name.lower(), tuple(a.lower() for a in text.args)
        for spelt in (name, name.replace("-", "_"), name.replace("_", "-")):
            if (written := GroundAction(spelt, args)) in self.actions:
                return Mapped(written, True)
        names = self._names(text)
        if not names:
            return Mapped(None, False, f"{text.name!r} is like no action of the robot")
        given = text.args[:_MOST_ARGUMENTS]
        objects = [self.objects_like(a) for a in given]
        choice = max(self._readings(names, objects, holding), default=None, key=itemgetter(0))
        # Stand-ins come second, because they must not beat an object that was named.
        if choice is None and any(objects):
            wider = [{**options, **self._stand_ins(options)} for options in objects]
            choice = max(self._readings(names, wider, holding), default=None, key=itemgetter(0))
            choice = choice or self._nearest(text, names, objects)
        if choice is not None:
            return Mapped(choice.action, False, f"{text} was read as {choice.action}")
        unknown = [a for a, options in zip(given, objects, strict=True) if not options]
        if unknown:
            return Mapped(None, False, f"{text}: there is no object like {unknown[0]!r}")
        best = next(iter(names))
        call = " ".join([best, *(next(iter(options)) for options in objects)])
        return Mapped(None, False, f"{text}: ({call}) can never be done", impossible=True)

    def _names(self, text: ActionText) -> dict[str, float]:
        scores = self._action_names.scores(text.name)
        fits = {n: s for n, s in scores.items() if s >= NAME_THRESHOLD}
        verb = split_name(text.name)[:1]
        if not fits and verb:  # "crack into": the particle is unknown
            known = self._action_names.scores(verb[0])
            fits = {n: 0.9 for n, s in known.items() if s == 1.0}
        if not fits:
            return {}
        best = next(iter(fits))
        shared = set(self._verbs.get(best, ()))
        count = len(self.task.domain.actions[best].parameters)
        # "Put the mug in the sink" may mean put_on, so actions that share a verb are options.
        for name in self.actions.names:
            if len(self.task.domain.actions[name].parameters) != count:
                continue
            if name not in fits and shared & set(self._verbs.get(name, ())):
                fits[name] = _SIBLING
        return dict(sorted(fits.items(), key=lambda item: -item[1]))

    def _readings(
        self,
        names: Mapping[str, float],
        objects: Sequence[Mapping[str, float]],
        holding: str | None,
    ) -> Iterator[_Choice]:
        mentioned = [o for o in objects if o]
        for name, score in names.items():
            count = len(self.task.domain.actions[name].parameters)
            places = list(combinations(mentioned, count))
            if len(mentioned) == count - 1 and holding is not None:
                places.append(({holding: _OTHER_NUMBER}, *mentioned))
            for rank, place in enumerate(places):
                # Prefer readings that use all written objects; ties go to the objects written
                # first.
                lost = abs(len(objects) - count) * 0.1 + rank * 0.001
                for action, fit in self._products(name, place):
                    yield _Choice(score + fit / max(count, 1) - lost, action)

    def _products(
        self, name: str, place: Sequence[Mapping[str, float]]
    ) -> Iterator[tuple[GroundAction, float]]:
        rows: list[tuple[tuple[str, ...], float]] = [((), 0.0)]
        for options in place:
            # Options are sorted, and four per argument keep the product small.
            few = list(options.items())[:4]
            rows = [((*row, o), fit + s) for row, fit in rows for o, s in few]
        for row, fit in rows:
            if (action := GroundAction(name, row)) in self.actions:
                yield action, fit

    def _nearest(
        self, text: ActionText, names: Mapping[str, float], objects: Sequence[Mapping[str, float]]
    ) -> _Choice | None:
        first = objects[0] if objects else {}
        wanted = len(objects)
        pool: dict[GroundAction, float] = {}
        for name, score in names.items():
            if len(self.task.domain.actions[name].parameters) != wanted or wanted < 2 or not first:
                continue
            for action in self.actions.of(name):
                if action.args[0] in first:
                    pool[action] = score + first[action.args[0]]
        if not pool:
            return None
        # Compare only the other objects: the first one is shared and would dominate.
        rest = " ".join(text.args[1:])
        endings = tuple(dict.fromkeys(" ".join(a.args[1:]) for a in pool))
        similar = self._embedder.similarities(rest, endings)
        by_ending = {e: round(s, 6) for e, s in zip(endings, similar, strict=True)}
        # Ties go to the objects listed first in the prompt.
        order = {name: place for place, name in enumerate(self.objects)}

        def rank(action: GroundAction) -> tuple[float, list[int]]:
            likeness = by_ending[" ".join(action.args[1:])]
            return likeness + 0.2 * pool[action], [-order[a] for a in action.args]

        best = max(pool, key=rank)
        likeness = by_ending[" ".join(best.args[1:])]
        return _Choice(likeness, best) if likeness >= OBJECT_THRESHOLD else None

    # Literals -------------------------------------------------------------------------------

    def map_literal(self, text: LiteralText) -> MappedLiteral:
        """Return the literal that a text means.

        The predicate must have as many arguments as the text, and the objects must have the types
        of its parameters.
        """
        if self._is_spelt(text.words):
            atom = f"({' '.join(text.words)})"
            return MappedLiteral(atom if text.positive else f"(not {atom})", "")
        args = [a for a in text.args if a.lower() not in _ROBOT]
        best: tuple[float, str, bool, tuple[str, ...]] | None = None
        # A model may write `closed` where the domain has only `open`; the sign is then inverted.
        for names, same in ((self._predicate_names, True), (self._opposites, False)):
            for name, score in names.scores(text.predicate).items():
                # Scores descend and objects add at most 1, so no later name can win.
                if score < NAME_THRESHOLD or (best is not None and score + 1 <= best[0]):
                    break
                fitting = self._arguments(self.task.domain.predicates[name], args)
                if fitting is None:
                    continue
                objects, fit = fitting
                if best is None or score + fit > best[0]:
                    best = score + fit, name, same, objects
        if best is None:
            return MappedLiteral(None, self._why_not(text, args))
        _, name, same, objects = best
        atom = f"({' '.join((name, *objects))})"
        literal = atom if text.positive == same else f"(not {atom})"
        exact = literal.lower() == text.text.lower()
        return MappedLiteral(literal, "" if exact else f"{text.text} was read as {literal}")

    def _is_spelt(self, words: Sequence[str]) -> bool:
        predicate = self.task.domain.predicates.get(words[0]) if words else None
        if predicate is None or len(words) != 1 + len(predicate.parameters):
            return False
        return all(
            name in self.task.members(parameter.types)
            for name, parameter in zip(words[1:], predicate.parameters, strict=True)
        )

    def _arguments(
        self, predicate: Predicate, args: Sequence[str]
    ) -> tuple[tuple[str, ...], float] | None:
        if len(args) != len(predicate.parameters):
            return None
        objects: list[str] = []
        fit = 0.0
        for arg, parameter in zip(args, predicate.parameters, strict=True):
            members = self.task.members(parameter.types)
            options = {o: s for o, s in self.objects_like(arg).items() if o in members}
            if not options:
                return None
            name = next(iter(options))
            objects.append(name)
            fit += options[name]
        return tuple(objects), fit / len(args) if args else 1.0

    def _why_not(self, text: LiteralText, args: Sequence[str]) -> str:
        near = {
            name: len(self.task.domain.predicates[name].parameters)
            for names in (self._predicate_names, self._opposites)
            for name, score in names.scores(text.predicate).items()
            if score >= NAME_THRESHOLD
        }
        if not near:
            return f"{text.text}: {text.predicate!r} does not resemble any predicate of the domain"
        if len(args) not in near.values():
            name, count = next(iter(near.items()))
            return f"{text.text}: {name} takes {count} objects, not {len(args)}"
        unknown = next((a for a in args if not self.objects_like(a)), None)
        if unknown is not None:
            return f"{text.text}: there is no object like {unknown!r}"
        return f"{text.text}: {next(iter(near))} is not said of such objects"
