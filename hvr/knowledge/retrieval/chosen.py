"""The objects that have been chosen for a planning problem, and choosing more of a class."""

from __future__ import annotations

from dataclasses import dataclass, field

from hvr.knowledge.retrieval.inventory import Inventory, situation
from hvr.knowledge.roles import CUTTABLE, FURNITURE, INSTRUMENT, PIECE_OF

_MOST_KINDS = 4
"""Kinds of situation of which objects of a class are chosen. The nearest come first, so what is
left out is far away or behind doors, and every object more makes the problem harder to solve."""


@dataclass
class Chosen:
    """A growing choice of objects.

    Args:
        inventory: what there is.
        reasons: why each object was chosen, in the order of choice; the first reason stays.
    """

    inventory: Inventory
    reasons: dict[str, str] = field(default_factory=dict)

    def add(self, name: str | None, reason: str) -> None:
        """Add an object, if there is one and it is not chosen yet."""
        if name is not None and name not in self.reasons:
            self.reasons[name] = reason

    @property
    def pieces(self) -> tuple[tuple[str, str], ...]:
        """Pieces, made or not, each with what it is a piece of."""
        return self.inventory.joined(PIECE_OF)

    def is_piece(self, name: str) -> bool:
        """Return whether an object is a piece of another, made or not."""
        return any(piece == name for piece, _ in self.pieces)

    def first(self, object_class: str, reason: str) -> str | None:
        """Choose one object of a class, if none is chosen yet; return the one that is chosen."""
        names = self.inventory.of(object_class)
        chosen = next((n for n in names if n in self.reasons), names[0] if names else None)
        self.add(chosen, reason)
        return chosen

    def tool(self) -> None:
        """Choose something to cut with.

        One that is chosen already for something else is not enough, if the ontology prefers
        another kind to cut with.
        """
        tools = self.inventory.tools(INSTRUMENT, "slicing")
        kinds = {self.inventory.classes[n] for n in tools if n in self.reasons}
        if tools and not kinds & (self.inventory.preferred("slicing") or kinds):
            self.add(tools[0], "to cut with")

    def pick(
        self,
        classes: tuple[str, ...],
        count: int,
        reason: str,
        among: frozenset[str] = frozenset(),
    ) -> None:
        """Choose the nearest objects of every kind of situation.

        Which situation makes the shorter plan is for the planner to find out: the nearest mug
        may be the one that is full.

        Args:
            classes: any of which will do.
            count: objects of each kind of situation.
            reason: why.
            among: the only objects that will do; empty for all of the classes.
        """
        # Furniture stands where it stands: the nearest will do.
        places = [c for c in classes if self.inventory.roles.plays(c, FURNITURE)]
        if places:
            for object_class in places:
                for name in self._of(object_class, among)[:count]:
                    self.add(name, reason)
            return
        owned = {self.inventory.classes[piece] for piece, _ in self.pieces}
        pieces = [c for c in classes if c in owned]
        for object_class in pieces:
            self.pick_pieces(object_class, count, reason)
        kinds: dict[object, int] = {}
        for object_class in classes:
            if object_class in pieces:
                continue
            for name in self._of(object_class, among):
                kind = (object_class, situation(name, self.inventory))
                if kind not in kinds and len(kinds) >= _MOST_KINDS:
                    continue
                kinds[kind] = kinds.get(kind, 0) + 1
                if kinds[kind] <= count:
                    self.add(name, reason)

    def _of(self, object_class: str, among: frozenset[str]) -> tuple[str, ...]:
        names = self.inventory.of(object_class)
        return tuple(n for n in names if n in among) if among else names

    def pick_pieces(self, object_class: str, count: int, reason: str) -> None:
        """Choose pieces of a class: those that are there, then those of the nearest sources.

        Args:
            object_class: of the pieces.
            count: how many.
            reason: why.
        """
        owners = [(p, s) for p, s in self.pieces
                  if self.inventory.classes[p] == object_class]  # fmt: skip
        present = [p for p, _ in owners if self.inventory.true("present", p)]
        for name in present[:count]:
            self.add(name, reason)
        missing = count - len(present)
        sources = {s for _, s in owners if self.inventory.true("present", s)}
        ranked = [n for c in sorted({self.inventory.classes[s] for s in sources})
                  for n in self.inventory.of(c) if n in sources]  # fmt: skip
        for source in ranked:
            if missing <= 0:
                break
            pieces = [p for p, s in owners if s == source]
            pieces.sort(key=lambda n: int(n.rsplit("-", 1)[1]))
            for name in pieces[:missing]:
                self.add(name, reason)
            self.add(source, f"what {object_class} is cut from")
            missing -= len(pieces)
            if self.inventory.plays(source, CUTTABLE):
                self.tool()
