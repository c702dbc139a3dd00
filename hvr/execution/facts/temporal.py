"""Conditions over time in PDDL worlds: 'never pick up white while green is on red'."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from hvr.errors import LanguageError
from hvr.execution.facts.imperatives import PLACING
from hvr.language.function_words import FUNCTION_WORDS
from hvr.language.lexicon import tokenize
from hvr.language.paraphrase import KEPT
from hvr.language.temporal import TimedCondition
from hvr.pddl import (
    And,
    Atom,
    Domain,
    Exists,
    Expression,
    Formula,
    Imply,
    Not,
    Problem,
    Trajectory,
    parse_formula,
    substitute,
)
from hvr.pddl.task import holds_initially

_PRONOUNS = frozenset({"it", "them", "they", "her", "him"})
_BE = frozenset({"is", "are"})


class ClauseReader(Protocol):
    """The interface to the reader of a world's clauses and imperatives."""

    def clauses(self, text: str) -> Formula | None:
        """Parse statements joined by 'and'; return None for other texts."""
        ...

    def orders(self, text: str) -> Formula | None:
        """Parse imperatives joined by 'and'; return None for other texts."""
        ...

    def object_of(self, text: str) -> str | None:
        """Return the object that a phrase refers to, or None."""
        ...

    def one_at_a_time(self, predicate: str) -> bool:
        """Return whether an object has one value of a predicate at a time, such as one place."""
        ...


class FactWords:
    """Parses the parts of a request with conditions over time; see `TimedWords`."""

    def __init__(self, reader: ClauseReader, domain: Domain, problem: Problem) -> None:
        self.reader = reader
        self.domain = domain
        self.problem = problem

    def tokens(self, request: str) -> tuple[str, ...]:
        return tokenize(request)

    def starts(self, tokens: Sequence[str]) -> bool:
        return bool(tokens) and not _BE & set(tokens) and self._is_order(" ".join(tokens))

    def _is_order(self, text: str) -> bool:
        ends = [len(text), *(n for n, c in enumerate(text) if c in ",.")]
        ends += [n for n in range(len(text)) if text.startswith(" and ", n)]
        return any(self.reader.orders(text[:end]) is not None for end in ends)

    def standing_alone(self, condition: str, clause: str) -> str:
        names = self._names(clause)
        words = condition.split()
        if not names or not _PRONOUNS & set(words):
            return condition
        return " ".join(names[0] if word in _PRONOUNS else word for word in words)

    def state(self, text: str) -> TimedCondition:
        formula = self._read(self.reader.clauses, text)
        each: tuple[tuple[str, str], ...] = ()
        if isinstance(formula, Exists) and len(formula.variables) == 1:
            (variable,) = formula.variables
            members = self.domain.members(
                {o.name: o.types for o in (*self.domain.constants, *self.problem.objects)},
                variable.types,
            )
            each = tuple(
                (name, str(substitute(formula.body, {variable.name: name})))
                for name in sorted(members)
            )
        return TimedCondition(str(formula), self._names(text), each, _as_wish(text))

    def activity(self, text: str) -> TimedCondition:
        formula = self._read(self.reader.orders, text)
        return TimedCondition(str(formula), self._names(text), wish=text, lasts=False)

    def kept(self, text: str) -> TimedCondition:
        words = text.split()
        if words[0] in FUNCTION_WORDS["maintain"]:
            words = words[1:]
        for at in range(1, len(words)):  # 'keep red clear': 'red is clear'
            said = " ".join((*words[:at], "is", *words[at:]))
            if formula := self.reader.clauses(said):
                return TimedCondition(str(formula), self._names(text), wish=said)
        return self.wished(text)

    def wished(self, text: str) -> TimedCondition:
        formula = self.reader.orders(text) or self._read(self.reader.clauses, _stated(text))
        return TimedCondition(str(formula), self._names(text), wish=text)

    def forbidden(self, text: str) -> tuple[str, ...]:
        formula = self.reader.orders(text) or self.reader.clauses(_stated(text))
        if formula is not None:
            return (str(formula),)
        verb, _, thing = text.partition(" ")
        name = self.reader.object_of(thing)
        if verb in PLACING and name is not None:  # 'do not move truck1': it stays where it is
            held = [
                Not(atom)
                for atom in sorted(self.problem.init, key=str)
                if atom.args[:1] == (name,) and self.reader.one_at_a_time(atom.predicate)
            ]
            if held:
                return tuple(map(str, held))
        raise LanguageError(f"hvr does not understand the prohibition {text!r}")

    def holds(self, text: str) -> bool:
        formula = parse_formula(text, self.domain, self.problem.objects, file="<condition>")
        return holds_initially(self.domain, self.problem, formula)

    def over_all(self, texts: Sequence[tuple[str, str]]) -> tuple[str, ...]:
        return tuple(text for _, text in texts)

    def _read(self, read: Callable[[str], Formula | None], text: str) -> Formula:
        formula = read(text)
        if formula is None:
            raise LanguageError(f"hvr does not understand the condition {text!r}")
        return formula

    def _names(self, text: str) -> tuple[str, ...]:
        words = text.replace(",", " ").split()
        spans = [" ".join(words[a:b]) for a in range(len(words)) for b in (a + 1, a + 2)]
        names = (self.reader.object_of(span) for span in spans)
        return tuple(dict.fromkeys(name for name in names if name))


def own_words(
    text: str, clauses: Callable[[str], Formula | None]
) -> tuple[list[Formula], list[Expression], list[Expression]] | None:
    """Parse hvr's own paraphrase of a goal with constraints; return None for any other text.

    Returns:
        The stages, the constraints on all stages, and the constraints on all stages but the first.
    """
    stages: list[Formula] = []
    kept: list[list[Expression]] = []
    for part in text.lower().strip().rstrip(".").split("; then "):
        goal, *constraints = part.split("; ")
        formula = _formula(goal, clauses)
        read = [_constraint(one, clauses) for one in constraints]
        if formula is None or None in read:
            return None
        stages.append(formula)
        kept.append([one for one in read if one is not None])
    whole = [one for one in kept[0] if all(one in others for others in kept)]
    later = [one for one in kept[-1] if one not in whole]
    alike = all([*whole, *later] == others for others in kept[1:]) and kept[0] == whole
    return (stages, whole, later) if kept[-1] and alike else None


def _constraint(text: str, clauses: Callable[[str], Formula | None]) -> Trajectory | None:
    for operator, phrase in KEPT.items():
        before, *between, _ = phrase.split("{}")
        if not text.startswith(before):
            continue
        rest = text.removeprefix(before)
        halves = _split(rest, between[0]) if between else [(rest,)]
        for parts in halves:
            formulas = [_formula(part, clauses) for part in parts]
            if None not in formulas:
                return Trajectory(operator, (), tuple(f for f in formulas if f is not None))
    return None


def _formula(text: str, clauses: Callable[[str], Formula | None]) -> Formula | None:
    denial = "it is not so that "
    if text.startswith("if "):
        for one, other in _split(text.removeprefix("if "), ", "):
            left, right = _formula(one, clauses), _formula(other, clauses)
            if left is not None and right is not None:
                return Imply(left, right)
    if text.startswith(denial):
        inner = _formula(text.removeprefix(denial), clauses)
        return None if inner is None else Not(inner)
    return clauses(text)


def _split(text: str, joint: str) -> list[tuple[str, ...]]:
    parts = text.split(joint)
    return [(joint.join(parts[:n]), joint.join(parts[n:])) for n in range(1, len(parts))]


def since(mark: Atom, constraint: Trajectory) -> Trajectory:
    """Return a constraint that applies only after the atom `mark` becomes true."""
    first, *rest = constraint.formulas
    later: Expression = And((mark, first))
    if constraint.operator == "always":
        later = Imply(mark, first)
    return Trajectory(constraint.operator, constraint.times, (later, *rest))


def in_words(constraint: Expression, said: Callable[[Expression], str]) -> str:
    if isinstance(constraint, Trajectory) and constraint.operator in KEPT:
        return KEPT[constraint.operator].format(*map(said, constraint.formulas))
    return f"throughout {constraint}"


def all_in_words(constraints: Iterable[Expression], said: Callable[[Expression], str]) -> str:
    return "; ".join(dict.fromkeys(in_words(one, said) for one in constraints))


def _stated(text: str) -> str:
    """Turn 'red must be clear' into 'red is clear', and 'have red on blue' into 'red on blue'."""
    words = text.split()
    for modal in ("must be", "should be", "has to be", "needs to be", "shall be"):
        text = text.replace(f" {modal} ", " is ")
    return text if words[0] not in {"have", "let"} else " ".join(words[1:])


def _as_wish(text: str) -> str:
    return text.replace(" are ", " is ") if _BE & set(text.split()) else ""
