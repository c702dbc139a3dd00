"""Definition, collection and results of checks."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from studies.chaos.lab import Lab

Body = Callable[["Lab"], None]
State = Literal["held", "broke", "skipped"]
_SHOWN = 400


class BrokeError(Exception):
    """An invariant is violated; the message names the invariant."""


class CannotError(Exception):
    """This machine cannot produce the situation; the message says why."""


@dataclass(frozen=True)
class Check:
    """A situation and its required outcome.

    Args:
        name: Name, unique within the group.
        body: Function that sets up the situation; it raises `BrokeError` or `CannotError`.
        quick: Whether the check belongs to the short form.
        alone: Whether the check must not run in parallel with others.
    """

    group: str
    name: str
    body: Body
    quick: bool = False
    alone: bool = False

    @property
    def id(self) -> str:
        return f"{self.group}/{self.name}"


class Group:
    def __init__(self, name: str) -> None:
        self.name = name
        self.checks: list[Check] = []

    def add(self, name: str, body: Body, *, quick: bool = False, alone: bool = False) -> None:
        self.checks.append(Check(self.name, name, body, quick, alone))

    def check(self, *, quick: bool = False, alone: bool = False) -> Callable[[Body], Body]:
        def added(body: Body) -> Body:
            self.add(body.__name__.replace("_", "-"), body, quick=quick, alone=alone)
            return body

        return added


@dataclass(frozen=True)
class Outcome:
    """The result of a check.

    Args:
        why: One-line reason for a failure; empty if there is none.
        counts: Numbers of hvr runs, kills and server calls.
    """

    check: Check
    state: State
    why: str = ""
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> dict[str, object]:
        return {
            "group": self.check.group,
            "name": self.check.name,
            "state": self.state,
            "why": self.why,
            "seconds": round(self.seconds, 2),
            **self.counts,
        }


def judged(check: Check, lab: Lab) -> tuple[State, str]:
    """Run a check and return its state with a one-line reason."""
    try:
        check.body(lab)
    except BrokeError as error:
        return "broke", one_line(str(error))
    except CannotError as error:
        return "skipped", one_line(str(error))
    except Exception as error:  # an error in the check itself must not count as a success
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{place.name}, line {place.lineno}"
        return "broke", one_line(f"the check itself failed in {where}: {error!r}")
    return "held", ""


def chosen(checks: Iterable[Check], only: Iterable[str], *, quick: bool) -> tuple[Check, ...]:
    """Return the checks that match a shell pattern for a group or `group/name`; by default all."""
    patterns = tuple(only)
    return tuple(
        c
        for c in checks
        if (c.quick or not quick)
        and (not patterns or any(fnmatchcase(n, w) for n in (c.id, c.group) for w in patterns))
    )


def one_line(text: str) -> str:
    line = " ".join(text.split())
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"
