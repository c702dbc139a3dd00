"""All objects of the kitchen at one moment, and what holds what."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any

from hvr.worlds.geometry import Box
from hvr.worlds.kitchen.thing import Thing

_IN_THE_WAY = frozenset({"Faucet", "StoveKnob", "Fridge"})
_FURNITURE = frozenset({"Chair", "DiningTable", "ShelvingUnit", "SideTable", "Stool"})


class Things(Mapping[str, Thing]):
    """All objects by id, in the order in which they came to be.

    A changed copy takes over what it can, so that it costs the same in a full kitchen as in
    an empty one, save for copying one dict.

    Args:
        by_id: the objects; not to be changed afterwards.
    """

    __slots__ = ("_bodies", "_by_id", "_contents", "_warm")

    def __init__(self, by_id: dict[str, Thing]) -> None:
        self._by_id = by_id
        contents: dict[str, tuple[str, ...]] = {}
        for object_id, thing in by_id.items():
            for parent in thing.parents:
                contents[parent] = (*contents.get(parent, ()), object_id)
        self._contents = contents
        self._warm = frozenset(i for i, t in by_id.items() if t.temperature != "RoomTemp")
        self._bodies = {i: t.box for i, t in by_id.items() if _is_body(t)}

    def __getitem__(self, object_id: str) -> Thing:
        return self._by_id[object_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, object_id: object) -> bool:
        return object_id in self._by_id

    # Mapping's own views and `get` go through __getitem__, which is slow.

    def keys(self) -> KeysView[str]:
        """Return the ids."""
        return self._by_id.keys()

    def values(self) -> ValuesView[Thing]:
        """Return the objects."""
        return self._by_id.values()

    def items(self) -> ItemsView[str, Thing]:
        """Return ids and objects."""
        return self._by_id.items()

    def get(self, object_id: str, default: Any = None) -> Any:
        """Return the object with this id, else the default."""
        return self._by_id.get(object_id, default)

    @property
    def contents(self) -> Mapping[str, tuple[str, ...]]:
        """Direct contents of each receptacle, by id."""
        return self._contents

    @property
    def warm(self) -> frozenset[str]:
        """Ids of what is not at room temperature."""
        return self._warm

    @property
    def bodies(self) -> Mapping[str, Box]:
        """Boxes of what can be in the way of something put down, by id."""
        return self._bodies

    def deep_contents(self, object_id: str) -> tuple[str, ...]:
        """Return what a receptacle holds, and what that holds, at any depth.

        Without fixtures: AI2-THOR reports some as contents of what merely touches them.
        """
        direct = self._contents.get(object_id)
        if not direct:
            return ()
        result: dict[str, None] = {}
        todo = list(direct)
        for inner in todo:
            if inner not in result and inner != object_id:
                if self._by_id[inner].spec.is_fixture:
                    continue
                result[inner] = None
                todo.extend(self._contents.get(inner, ()))
        return tuple(result)

    def ancestors(self, object_id: str) -> tuple[str, ...]:
        """Return receptacles around an object, nearest first, at any depth.

        What a fixture stands on does not count, for the reason given at `deep_contents`.
        """
        thing = self._by_id[object_id]
        if not thing.parents or thing.spec.is_fixture:
            return ()
        result: dict[str, None] = {}
        todo = list(thing.parents)
        for outer in todo:
            if outer not in result and outer != object_id and outer in self._by_id:
                result[outer] = None
                if not self._by_id[outer].spec.is_fixture:
                    todo.extend(self._by_id[outer].parents)
        return tuple(result)

    def updated(self, changed: Iterable[Thing]) -> Things:
        """Return all objects with these in their new state; new ones come last.

        The indices are copied when they change first: most actions change one object, and often
        none of its relations.
        """
        by_id = self._by_id.copy()
        contents, warm, bodies = self._contents, self._warm, self._bodies
        for thing in changed:
            object_id = thing.spec.object_id
            old = by_id.get(object_id)
            by_id[object_id] = thing
            before = old.parents if old is not None else ()
            if thing.parents != before:
                if contents is self._contents:
                    contents = contents.copy()
                _relate(contents, object_id, before, thing.parents)
            if (thing.temperature != "RoomTemp") != (object_id in warm):
                warm = warm ^ {object_id}
            known = bodies.get(object_id)
            if (known is not thing.box or thing.inert) and (known is not None or _is_body(thing)):
                if bodies is self._bodies:
                    bodies = bodies.copy()
                if thing.inert:
                    bodies.pop(object_id, None)
                else:
                    bodies[object_id] = thing.box
        new = Things.__new__(Things)
        new._by_id, new._contents, new._warm, new._bodies = by_id, contents, warm, bodies
        return new


def _is_body(thing: Thing) -> bool:
    kind = thing.spec.object_type
    return not thing.inert and (
        kind in _IN_THE_WAY or not (thing.spec.is_fixture or kind in _FURNITURE)
    )


def _relate(
    contents: dict[str, tuple[str, ...]],
    object_id: str,
    before: tuple[str, ...],
    after: tuple[str, ...],
) -> None:
    for parent in before:
        if parent not in after:
            left = tuple(i for i in contents[parent] if i != object_id)
            if left:
                contents[parent] = left
            else:
                del contents[parent]
    for parent in after:
        if parent not in before:
            contents[parent] = (*contents.get(parent, ()), object_id)
