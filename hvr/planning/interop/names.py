"""Names that are valid and unique on the other side of a border, and the way back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from hvr.planning.interop.errors import InteropError

_WORDS = """
    after all always always-within and assign at-most-once at-start constraints decrease define
    domain either effect end exists forall goal hold-after hold-during imply increase init
    is-violated maximize metric minimize name not number object objects or parameters precondition
    preference problem scale-down scale-up sometime sometime-after sometime-before total-time when
    within
"""
RESERVED = frozenset(_WORDS.split())
"""Words of PDDL that some reader does not accept as names."""

_WRONG = re.compile(r"[^a-z0-9_-]+")


class UnifiedNames:
    """Gives each thing a name: what it is called where it comes from, or something near.

    The same things asked for in the same order get the same names.

    Args:
        clean: makes a valid name of any.
        taken: names that nothing may get.
    """

    def __init__(self, clean: Callable[[str], str] = str, taken: Iterable[str] = ()) -> None:
        self._clean = clean
        self._taken = set(taken)
        self._new: dict[tuple[str, str], str] = {}
        self._old: dict[tuple[str, str], str] = {}

    def add(self, kind: str, name: str) -> str:
        """Name a thing of a kind (`type`, `object`, …), or return the name that it has."""
        given = self._new.get((kind, name))
        if given is None:
            given = self.fresh(name)
            self._new[kind, name] = given
            self._old[kind, given] = name
        return given

    def fresh(self, wish: str) -> str:
        """Return a name like `wish` that nothing else has or gets."""
        first = free = self._clean(wish)
        number = 2
        while free in self._taken:
            free = f"{first}-{number}"
            number += 1
        self._taken.add(free)
        return free

    def new(self, kind: str, name: str) -> str:
        """Return the name that a thing was given.

        Raises:
            InteropError: it was given none.
        """
        try:
            return self._new[kind, name]
        except KeyError:
            raise InteropError(f"the problem has no {kind} {name!r}") from None

    def old(self, kind: str, name: str) -> str:
        """Return the original name of the thing with a new name.

        Raises:
            InteropError: nothing was given this name.
        """
        try:
            return self._old[kind, name]
        except KeyError:
            raise InteropError(f"the problem has no {kind} {name!r}") from None

    def local(self) -> UnifiedNames:
        """Return an empty set of names, for the parameters of one action."""
        return UnifiedNames(self._clean)


def pddl_name(name: str) -> str:
    """Return a name of PDDL like any text: small letters, digits, `-` and `_`."""
    cleaned = _WRONG.sub("-", name.lower()).strip("-")
    return cleaned if cleaned[:1].isalpha() else f"x{cleaned}"
