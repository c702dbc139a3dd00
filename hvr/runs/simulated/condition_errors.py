"""Conditions of macro actions: errors in them, and corrections after feedback."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random

from hvr.policies.llm.answers import read_conditions
from hvr.runs.simulated.error_model import CONDITION_KINDS, ErrorModel
from hvr.runs.simulated.prompt import PromptObjects
from hvr.runs.simulated.step_errors import Streams

_NO_PREDICATES = ("grasped", "is_ready", "at_location", "accessible", "robot_free", "prepared")
_SIDES = (0, 1)


@dataclass(frozen=True)
class Literal:
    """A PDDL literal."""

    predicate: str
    args: tuple[str, ...]
    positive: bool = True

    @property
    def atom(self) -> str:
        """The atom, without a sign."""
        return f"({' '.join((self.predicate, *self.args))})"

    def __str__(self) -> str:
        return self.atom if self.positive else f"(not {self.atom})"


Sides = tuple[tuple[Literal, ...], tuple[Literal, ...]]
"""Preconditions and postconditions."""


def literals(texts: Iterable[str]) -> tuple[Literal, ...]:
    """Read literals as PDDL writes them."""
    parsed = []
    for text in texts:
        positive = not text.startswith("(not ")
        words = re.findall(r"[^\s()]+", text.removeprefix("(not "))
        parsed.append(Literal(words[0], tuple(words[1:]), positive))
    return tuple(parsed)


def known_literals(
    side: Iterable[Literal], named: frozenset[str], objects: PromptObjects
) -> tuple[Literal, ...]:
    """Return literals as the model can write them.

    Args:
        side: the literals.
        named: the objects that actions name; others are used only if the prompt names them.
        objects: of the prompt.
    """
    spoken = (x for x in side if all(objects.knows(a) or a in named for a in x.args))
    return tuple(dict.fromkeys(replace(x, args=objects.names_of(x.args)) for x in spoken))


def read_corrected_conditions(text: str, count: int) -> tuple[Sides, ...]:
    """Return the conditions of a prompt that asks to correct them."""
    return tuple(
        (
            tuple(Literal(x.predicate, x.args, x.positive) for x in conditions.precondition),
            tuple(Literal(x.predicate, x.args, x.positive) for x in conditions.postcondition),
        )
        for conditions in read_conditions(text, count)
    )


@dataclass(frozen=True)
class ConditionErrors:
    """Errors in conditions."""

    model: ErrorModel
    objects: PromptObjects

    def corrupt(self, sides: Sequence[Sides], streams: Streams) -> tuple[Sides, ...]:
        """Corrupt each literal with the probability of the model."""
        rate = self.model.error * self.model.conditions
        result = []
        for number, pair in enumerate(sides):
            written = []
            for side in _SIDES:
                kept: list[Literal] = []
                for place, literal in enumerate(pair[side]):
                    rng = streams(f"literal {number} {side} {place}")
                    wrong = rng.random() < rate
                    kept += self._written(literal, rng) if wrong else (literal,)
                written.append(tuple(dict.fromkeys(kept)))
            result.append((written[0], written[1]))
        return tuple(result)

    def one_more(self, sides: Sequence[Sides], rng: Random) -> tuple[Sides, ...]:
        """Make exactly one more error somewhere."""
        places = [(n, s, p) for n, x in enumerate(sides) for s in _SIDES for p in range(len(x[s]))]
        if not places:
            return tuple(sides)
        number, side, place = rng.choice(places)
        old = sides[number][side]
        new = (*old[:place], *self._written(old[place], rng), *old[place + 1 :])
        return _with_side(sides, number, side, tuple(dict.fromkeys(new)))

    def _written(self, literal: Literal, rng: Random) -> tuple[Literal, ...]:
        kinds = [k for k in CONDITION_KINDS if literal.args or k != "literal_wrong_object"]
        match self.model.kind(kinds, rng):
            case "literal_dropped":
                return ()
            case "literal_negated":
                return (replace(literal, positive=not literal.positive),)
            case "literal_wrong_object":
                place = rng.randrange(len(literal.args))
                name = self.objects.confused(literal.args[place], literal.predicate, place, rng)
                args = (*literal.args[:place], name, *literal.args[place + 1 :])
                return (replace(literal, args=args),)
            case "literal_unknown_predicate":
                return (replace(literal, predicate=rng.choice(_NO_PREDICATES)),)
        return (literal,)


def reported_problems(text: str) -> list[str]:
    """Return the validator's messages on each macro action; the whole text if it names none."""
    lines = [line for line in text.splitlines() if line.startswith("macro action ")]
    return lines or [text]


def undo_conditions(
    written: Sequence[Sides], true: Sequence[Sides], problem: str
) -> tuple[Sides, ...]:
    """Undo the earliest error that explains a problem.

    That is the first difference of the macro action that the problem names, or of one before it,
    about an atom that the problem names; else the first difference up to there, else the first
    of all. All differences are undone when the problem names no macro action.
    """
    named = re.search(r"macro action (\d+)", problem, re.IGNORECASE)
    if named is None:
        return tuple(true)
    last = int(named[1]) - 1
    differences = list(_differences(written, true))
    before = [d for d in differences if d[0] <= last]
    telling = [d for d in before if d[2] in problem]
    for number, side, atom in (telling or before or differences)[:1]:
        return _set(written, true, number, side, atom)
    return tuple(written)


def _differences(written: Sequence[Sides], true: Sequence[Sides]) -> Iterable[tuple[int, int, str]]:
    for number, (mine, yours) in enumerate(zip(written, true, strict=True)):
        for side in _SIDES:
            for atom in dict.fromkeys(x.atom for x in (*mine[side], *yours[side])):
                if _signs(mine[side], atom) != _signs(yours[side], atom):
                    yield number, side, atom


def _signs(side: Iterable[Literal], atom: str) -> set[bool]:
    return {x.positive for x in side if x.atom == atom}


def _set(
    written: Sequence[Sides], true: Sequence[Sides], number: int, side: int, atom: str
) -> tuple[Sides, ...]:
    """Correct the literals of one atom, and restore the order of correct literals."""
    right = [x for x in true[number][side] if x.atom == atom]
    others = [x for x in written[number][side] if x.atom != atom]
    order = {x: place for place, x in enumerate(true[number][side])}
    new = sorted([*others, *right], key=lambda x: order.get(x, len(order)))
    return _with_side(written, number, side, tuple(new))


def _with_side(
    sides: Sequence[Sides], number: int, side: int, new: tuple[Literal, ...]
) -> tuple[Sides, ...]:
    pair = (new, sides[number][1]) if side == 0 else (sides[number][0], new)
    return (*sides[:number], pair, *sides[number + 1 :])
