"""Recognise the elements of plan lines: steps, list markers, fences and waits."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hvr.pddl import Domain, Problem

NAME = r"[^\W\d][^\s();:,\[\]{}`\"]*+"
EXPONENT = r"(?:[eE][-+]?[0-9]{1,3})?"
NUMBER = rf"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+){EXPONENT}"
_LIST = r"\(\s*+(?P<list>[^()\s][^()]*)\)"
CALL = rf"(?P<name>{NAME})\((?P<args>[^()]*)\)"
# LPG-td prints a surplus `)` after the durations in its plan files.
_COST = (
    rf"(?:\[\s*(?:D:\s*)?(?P<cost>[0-9.]++{EXPONENT})(?:\s*[;,]\s*[A-Za-z]+\s*:\s*[0-9.]++)*+\s*\]"
    r"(?P<surplus>\))?)?"
)
STEP = re.compile(rf"\s*(?:(?P<stamp>{NUMBER})\s*:\s*)?(?:{_LIST}|{CALL})\s*{_COST}\s*,?")
BULLET = re.compile(
    r"\s*+(?:[-*•+]|(?:step\s*)?(?P<number>\d{1,6})[.):]|step\s*\d{1,6})\s+", re.IGNORECASE
)
HEADLINE = re.compile(r"[\s#]*+(?:step\s*+)?\d{1,6}\s*+(?:[.:)]\s*+)?", re.IGNORECASE)
FENCE = re.compile(r"\s*+(?:```|~~~)\s*+\w*+\s*+")
# Between steps, ENHSP prints how long the plan waits, as in "0: -----waiting---- [5.0]", and at the
# end of plan files when they end, as in "12.0: @PlanEND".
WAITING = re.compile(
    rf"\s*+(?:{NUMBER}\s*+:\s*+)?\(?-*+\s*+waiting\b[\s-]*+\)?\s*+"
    rf"(?:\[\s*+(?P<until>{NUMBER})\s*+\]\s*+)?"
    rf"|\s*+(?P<end>{NUMBER})\s*+:\s*+@PlanEND\s*+",
    re.IGNORECASE,
)
_WAITS = re.compile("waiting|@PlanEND", re.IGNORECASE)
LINE_MOST = 200_000
"""Longer lines are not searched for steps, except in unified-planning's representation."""


class KnownSymbols:
    """The known names of a domain and a problem; `objects` is None if no problem is given."""

    def __init__(
        self,
        actions: Collection[str] = (),
        predicates: Collection[str] = (),
        objects: Collection[str] | None = None,
    ) -> None:
        self.actions = frozenset(map(str.lower, actions))
        self.objects = None if objects is None else frozenset(map(str.lower, objects))
        self._facts = frozenset(map(str.lower, predicates)) - self.actions

    @classmethod
    def of(cls, domain: Domain, problem: Problem | None = None) -> KnownSymbols:
        things = None if problem is None else (*domain.constants, *problem.objects)
        return cls(
            [*domain.actions, *domain.durative_actions],
            tuple(domain.predicates),
            None if things is None else [thing.name for thing in things],
        )

    def is_action(self, name: str) -> bool:
        """Return whether a name is an action (always True if no actions are known)."""
        return not self.actions or name.lower() in self.actions

    def may_be_action(self, name: str) -> bool:
        """Return whether a name may be an action: it is not a predicate, keyword or variable."""
        return name[:1] not in ("", ":", "?") and name.lower() not in self._facts

    def may_be_step(self, words: Sequence[str]) -> bool:
        """Return whether words in parentheses may be meant as a step.

        If the first word is not a known action, the others must be objects, if objects are known.
        """
        if not words or not self.may_be_action(words[0]):
            return False
        if self.objects is None or words[0].lower() in self.actions:
            return True
        return all(word.lower() in self.objects for word in words[1:])

    def is_bare_step(self, words: Sequence[str], *, sure: bool = True) -> bool:
        """Return whether words without parentheses form a step: an action and known objects.

        If no objects are known, an action alone suffices unless `sure`.
        """
        if not words or words[0].lower() not in self.actions:
            return False
        if self.objects is None:
            return not sure
        return all(word.lower() in self.objects for word in words[1:])


def has_content(line: str) -> bool:
    """Return whether a line is neither blank nor a comment."""
    stripped = line.lstrip()
    return bool(stripped) and stripped[0] != ";"


def may_wait(lines: Sequence[str]) -> bool:
    """Return whether some line may match `WAITING` (a fast pre-check)."""
    return _WAITS.search("\n".join(lines)) is not None


def is_fence(line: str) -> bool:
    return ("```" in line or "~~~" in line) and FENCE.fullmatch(line) is not None


def step_of(match: re.Match[str]) -> str:
    inside = match["list"]
    if inside is None:
        inside = f"{match['name']} {match['args'].replace(',', ' ')}"
    stamp = f"{match['stamp']}: " if match["stamp"] else ""
    cost = f" [{match['cost']}]" if match["cost"] else ""
    inside = inside.replace(",", " ").replace('"', "")
    return f"{stamp}({inside.strip()}){cost}"


def steps_in(line: str) -> str | None:
    """Return the steps of a line in plan-file notation.

    Returns None if the line has no step, has other content, or is longer than LINE_MOST.
    """
    place = 0
    steps: list[str] = []
    if len(line) > LINE_MOST or "(" not in line:
        return None
    while place < len(line):
        match = STEP.match(line, place)
        if match is None:
            return None if line[place:].strip() else "  ".join(steps) or None
        if match["surplus"] and not match["stamp"]:
            return None
        place = match.end()
        steps.append(step_of(match))
    return "  ".join(steps) or None


def listed(line: str) -> str | None:
    """Return the steps of a line, which may begin with a list marker; None if it has no steps."""
    if "(" not in line:
        return None
    plain = _plain(line)
    bullet = BULLET.match(plain)
    return (steps_in(plain[bullet.end() :]) if bullet else None) or steps_in(plain)


def step_reader(lines: Sequence[str]) -> Callable[[str], str | None]:
    """Return a function that returns the steps of a line of the given text, like `steps_in`.

    In "0: (a)", 0 is a time if some step of the text has a duration or a time with decimals, or if
    the plan waits. Otherwise, 0 is the number of the step.
    """
    if any(map(_is_timed, lines)) or (may_wait(lines) and any(map(WAITING.fullmatch, lines))):
        return lambda line: steps_in(_plain(line)) or listed(line)
    return listed


def _plain(line: str) -> str:
    return line.replace("`", "").replace("**", "")


def _is_timed(line: str) -> bool:
    if ":" not in line or len(line) > LINE_MOST:
        return False
    step = STEP.match(_plain(line))
    return step is not None and bool(
        step["stamp"] and (step["cost"] or not step["stamp"].isdecimal())
    )
