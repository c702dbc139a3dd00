"""Checks: what one is, how they are collected, what came of one."""

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
    """Something that must hold does not; the message says what."""


class CannotError(Exception):
    """The situation cannot be made on this machine; the message says why."""


@dataclass(frozen=True)
class Check:
    """A situation, and what must hold in it.

    Args:
        group: the kind of situation.
        name: unlike the others of its group.
        body: makes the situation; raises `BrokeError` or `CannotError`.
        quick: it belongs to the short form.
        alone: no other check may run beside it.
    """

    group: str
    name: str
    body: Body
    quick: bool = False
    alone: bool = False

    @property
    def id(self) -> str:
        """Group and name."""
        return f"{self.group}/{self.name}"


class Group:
    """The checks of one kind, in the order in which they are added.

    Args:
        name: of the group.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.checks: list[Check] = []

    def add(self, name: str, body: Body, *, quick: bool = False, alone: bool = False) -> None:
        """Add a check."""
        self.checks.append(Check(self.name, name, body, quick, alone))

    def check(self, *, quick: bool = False, alone: bool = False) -> Callable[[Body], Body]:
        """Return a decorator that adds a function under its own name."""

        def added(body: Body) -> Body:
            self.add(body.__name__.replace("_", "-"), body, quick=quick, alone=alone)
            return body

        return added


@dataclass(frozen=True)
class Outcome:
    """What came of a check.

    Args:
        check: which one.
        state: whether what must hold held.
        why: why not, on one line; empty when it held.
        seconds: wall time.
        counts: runs of hvr, kills, and calls to servers.
    """

    check: Check
    state: State
    why: str = ""
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> dict[str, object]:
        """Return plain JSON values."""
        return {
            "group": self.check.group,
            "name": self.check.name,
            "state": self.state,
            "why": self.why,
            "seconds": round(self.seconds, 2),
            **self.counts,
        }


def judged(check: Check, lab: Lab) -> tuple[State, str]:
    """Run a check; return its state, and why on one line."""
    try:
        check.body(lab)
    except BrokeError as error:
        return "broke", one_line(str(error))
    except CannotError as error:
        return "skipped", one_line(str(error))
    except Exception as error:  # a fault of the check itself must not pass for a success
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{place.name}, line {place.lineno}"
        return "broke", one_line(f"the check itself failed in {where}: {error!r}")
    return "held", ""


def chosen(checks: Iterable[Check], only: Iterable[str], *, quick: bool) -> tuple[Check, ...]:
    """Return the checks that are meant.

    Args:
        checks: all.
        only: groups, `group/name`, or patterns of the shell of either; empty for all.
        quick: those of the short form.
    """
    wanted = tuple(only)
    return tuple(
        c
        for c in checks
        if (c.quick or not quick)
        and (not wanted or any(fnmatchcase(n, w) for n in (c.id, c.group) for w in wanted))
    )


def one_line(text: str) -> str:
    """Return a text on one line of bearable length, without control characters."""
    line = " ".join(text.split())
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"
