"""The difference between an expected and an observed state, as facts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hvr.knowledge.scene_graph import SceneGraph
from hvr.pddl.model import Atom, Comparison
from hvr.values import Value
from hvr.worlds.thor.skills import SHUFFLE


class Difference(Value):
    """Facts in which the world differs from what the domain predicts.

    Args:
        missing: expected to hold and not seen to.
        unexpected: seen to hold and not expected to.
        numbers: values that were expected, as `(= (fuel t1) 3)`, and are others.
    """

    missing: tuple[Atom, ...] = ()
    unexpected: tuple[Atom, ...] = ()
    numbers: tuple[Comparison, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.missing or self.unexpected or self.numbers)

    def explain(self) -> str:
        """Return one line with what was expected and what was seen instead."""
        parts = []
        if self.missing or self.numbers:
            parts.append("expected " + " ".join(map(str, (*self.missing, *self.numbers))))
        if self.unexpected:
            parts.append("saw " + " ".join(map(str, self.unexpected)))
        return "; ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        numbers = {"numbers": [str(value) for value in self.numbers]} if self.numbers else {}
        return {
            "missing": [str(atom) for atom in self.missing],
            "unexpected": [str(atom) for atom in self.unexpected],
            **numbers,
        }


def difference(expected: Iterable[Atom], observed: Iterable[Atom], scene: SceneGraph) -> Difference:
    """Compare two states over the same objects.

    Being near is one-sided: what the robot means to be near must be in reach, in the hand, or
    so close that a step or a look suffices, but more may be in reach than it means to use.

    Args:
        expected: the facts that should hold.
        observed: the facts that were seen.
        scene: tells what is in reach.
    """
    expected, observed = frozenset(expected), frozenset(observed)
    missing = [a for a in expected - observed if a.predicate != "near"]
    unexpected = [a for a in observed - expected if a.predicate != "near"]
    for atom in expected:
        if atom.predicate == "near":
            there = scene.objects.get(atom.args[0])
            if there is not None and not there.in_reach and there.distance > SHUFFLE:
                missing.append(atom)
    return Difference(tuple(sorted(missing, key=str)), tuple(sorted(unexpected, key=str)))
