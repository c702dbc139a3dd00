"""Problems with time: fuses that are mended by the light of matches.

Each mending lies within the light of one match, and mendings exclude each other. So a plan is an
assignment of fuses to matches in which the mendings of a match together are shorter than its light;
a shortest plan strikes as few matches as such an assignment needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from random import Random

from hvr.planning.problems.families import names
from hvr.planning.problems.values import Draft, Proven

_GAP = 0.01
"""Time between two happenings, above the usual epsilon of 0.001."""


class Cellar:
    """Matches that burn for some time, and fuses whose mending takes some time."""

    def __init__(self, matches: Sequence[int], fuses: Sequence[int]) -> None:
        self.matches = tuple(matches)
        self.fuses = tuple(fuses)

    @classmethod
    def drawn(cls, rng: Random, level: int, *, solvable: bool) -> Cellar:
        """Draw 1 to 5 fuses, and matches that suffice or do not."""
        while True:
            fuses = [rng.randint(2, 6) for _ in range(level)]
            matches = [rng.randint(4, 9) for _ in range(rng.randint(1, level))]
            cellar = cls(matches, fuses)
            if (cellar.assignment() is not None) == solvable:
                return cellar

    def assignment(self) -> tuple[tuple[int, ...], ...] | None:
        """Return the fuses of each match, with as few matches as there can be; None if none do.

        The numbers of the fuses are from 0; a match without fuses is not struck.
        """
        for count in range(1, len(self.matches) + 1):
            for used in combinations(range(len(self.matches)), count):
                found = self._fitted(used, 0, [()] * len(self.matches))
                if found is not None:
                    return found
        return None

    def _fitted(
        self, used: Sequence[int], fuse: int, given: list[tuple[int, ...]]
    ) -> tuple[tuple[int, ...], ...] | None:
        if fuse == len(self.fuses):
            return tuple(given)
        for match in used:
            taken = given[match]
            if sum(self.fuses[other] for other in (*taken, fuse)) < self.matches[match]:
                given[match] = (*taken, fuse)
                found = self._fitted(used, fuse + 1, given)
                if found is not None:
                    return found
                given[match] = taken
        return None

    def draft(self) -> Draft:
        """Return the problem."""
        matches, fuses = names("match", len(self.matches)), names("fuse", len(self.fuses))
        init = ["(hand-free)", *(f"(unused {match})" for match in matches)]
        init += [f"(broken {fuse})" for fuse in fuses]
        init += [f"(= (burning-time {m}) {t})" for m, t in zip(matches, self.matches, strict=True)]
        init += [f"(= (mending-time {f}) {t})" for f, t in zip(fuses, self.fuses, strict=True)]
        objects = f"{' '.join(matches)} - match {' '.join(fuses)} - fuse"
        return Draft(objects, tuple(init), tuple([f"(mended {f})" for f in fuses]))

    def proven(self) -> Proven:
        """Return a plan with as few steps as there can be, or that there is none."""
        given = self.assignment()
        if given is None:
            return Proven(
                None,
                "no assignment of fuses to matches leaves the mendings of each match shorter than "
                "its light: all were tried",
            )
        plan: list[str] = []
        clock = 0.0
        for number, fuses in enumerate(given, 1):
            if not fuses:
                continue
            light = self.matches[number - 1]
            plan.append(f"{clock:.2f}: (strike match{number}) [{light}]")
            now = clock + _GAP
            for fuse in fuses:
                mending = self.fuses[fuse]
                plan.append(f"{now:.2f}: (mend fuse{fuse + 1} match{number}) [{mending}]")
                now += mending + _GAP
            clock += light + _GAP
        struck = sum(map(bool, given))
        return Proven(
            tuple(plan),
            f"each of {len(self.fuses)} fuses needs one mending, and no assignment of fuses to "
            f"fewer than {struck} matches leaves their mendings shorter than their light",
        )
