"""The expected and the observed outcome of a step, as PDDL atoms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType

from hvr.execution.fields import Sorts, own_sorts
from hvr.execution.sounds import Sound
from hvr.knowledge.scene_graph import SceneGraph
from hvr.pddl.model import Atom, Expression
from hvr.values import Value


class Truth(Enum):
    """The verdict of an observation on an atom."""

    TRUE = "true"
    FALSE = "false"
    NOT_SEEN = "not seen"


class Expected(Value):
    """The states before and after a step, as the domain predicts them.

    Args:
        before: the fluent atoms believed before the action.
        after: those that should hold after it.
        effects: names of the predicates that the action's schema can change.
    """

    before: frozenset[Atom]
    after: frozenset[Atom]
    effects: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Observed:
    """The state after a step, as far as it can be seen.

    Args:
        atoms: the fluent atoms that hold, by what is seen, and by belief where nothing is.
        scene: the scene graph that they were read from.
        seen: names of the objects seen now; None means all.
        whole: receptacles whose whole content is seen now.
        last_seen: step in which each object had last been seen before this one.
        sounds: what was heard.
        success: the environment reported success.
        error: its message if not.
        gained: atoms about objects that the plan does not name which became true.
        lost: likewise, which became false.
        sorts: which predicates are remembered or change by themselves.
        unmet: if it did not succeed, the literals of the action's precondition that do not hold
            in `atoms`.
    """

    atoms: frozenset[Atom]
    scene: SceneGraph
    seen: frozenset[str] | None = None
    whole: frozenset[str] = frozenset()
    last_seen: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    sounds: tuple[Sound, ...] = ()
    success: bool = True
    error: str = ""
    unmet: tuple[Expression, ...] = ()
    gained: frozenset[Atom] = frozenset()
    lost: frozenset[Atom] = frozenset()
    sorts: Sorts = field(default_factory=own_sorts)

    def value(self, atom: Atom) -> Truth:
        """Return whether an atom is true or false by what is seen now, or not seen.

        An object's state and place are seen with it, and that something is not in a
        receptacle also where all of the receptacle's content is seen. What is in the hand is
        always felt, and what is in reach always known; what once happened to a thing is
        remembered.
        """
        known = atom.predicate in ("holding", "near") or atom.predicate in self.sorts.remembered
        if self.seen is not None and not known and atom.args:
            looked_into = len(atom.args) > 1 and atom.args[1] in self.whole
            if atom.args[0] not in self.seen and not looked_into:
                return Truth.NOT_SEEN
        return Truth.TRUE if atom in self.atoms or atom in self.gained else Truth.FALSE
