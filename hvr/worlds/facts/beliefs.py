"""What is believed of hidden facts, and how else it might be.

A step that was done is believed to have had its hidden effects, or, where no effect that can be
seen came, to have had none. Each hidden fact remembers the last such step: if the belief in it has
to be given up, all that was believed with it is turned round, since it came or failed together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from hvr.pddl import Atom, State


class Beliefs:
    """Hidden facts with the other possibility for each."""

    def __init__(self) -> None:
        self._otherwise: dict[Atom, Mapping[Atom, bool]] = {}
        self._newest: dict[Atom, int] = {}
        self._doubted: Counter[Atom] = Counter()
        self._notes = 0

    def note(self, otherwise: Mapping[Atom, bool]) -> None:
        """Take note of how the hidden effects of a step would be if it had gone the other way.

        Args:
            otherwise: each fact with the value that is not believed.
        """
        self._notes += 1
        for atom in otherwise:
            self._otherwise[atom] = otherwise
            self._newest[atom] = self._notes

    def guesses(self, needs: Iterable[tuple[Atom, bool]], state: State) -> list[tuple[Atom, State]]:
        """Return how else things may be, given facts one of which must be otherwise.

        Args:
            needs: the facts, each with the value that is believed and may be wrong.
            state: what is believed.

        Returns:
            the least doubted fact first, of these the one that a step changed last, each with the
            state in which it is otherwise.
        """
        task = state.task
        derived = task.derived_predicates
        base = frozenset(a for a in state.atoms() if a.predicate not in derived)
        ranked = []
        for atom, value in needs:
            other = self._otherwise.get(atom, {})
            changes = other if other.get(atom, value) != value else {atom: not value}
            true = {a for a, wanted in changes.items() if wanted}
            guess = task.state_with((base - changes.keys()) | true, state.numbers())
            rank = (self._doubted[atom], -self._newest.get(atom, 0), str(atom))
            ranked.append((rank, atom, guess, changes))
        ranked.sort(key=lambda one: one[0])
        if ranked:
            _, atom, _, changes = ranked[0]
            self._doubted[atom] += 1
            self.note({a: not wanted for a, wanted in changes.items()})
        return [(atom, guess) for _, atom, guess, _ in ranked]
