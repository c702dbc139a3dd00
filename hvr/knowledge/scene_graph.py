"""The scene graph: the visible state of an environment as a plain value.

It uses AI2-THOR's field names for attributes and hvr's names (`mug-1`) for nodes, and is
independent of RDF and PDDL. `hvr.worlds` creates it, `hvr.knowledge` converts it to triples and
facts, and `hvr.execution` compares it with the expected state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from hvr.values import Value

Extent = tuple[float, float, float, float, float, float]
"""An axis-aligned box in metres: minimum x, y and z, maximum x, y and z."""


@dataclass(frozen=True)
class SceneObject:
    """An observed object.

    Args:
        name: hvr's name: the type in lower case and a number, as in `breadsliced-2`.
        attributes: AI2-THOR's metadata fields for properties and state (`openable`, `isOpen`,
            `temperature`, `fillLiquid`, …), as plain JSON values.
        parents: Names of the receptacles that the object is directly on or in, innermost first.
            Empty if it stands alone or is held.
        in_reach: Whether the robot can interact with the object from its current position.
    """

    name: str
    object_type: str
    object_id: str
    attributes: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    parents: tuple[str, ...] = ()
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    in_reach: bool = False
    distance: float = 0.0
    extent: Extent | None = None


class SceneGraph(Value):
    """All objects of a scene at one moment.

    Args:
        held: Name of the object in the robot's hand, if any.
        controls: Pairs of a control and its device: a stove knob and its burner, a faucet and
            its basin.
    """

    scene: str
    objects: Mapping[str, SceneObject]
    held: str | None = None
    controls: tuple[tuple[str, str], ...] = ()

    def shut_in(self, name: str) -> bool:
        """Return whether an object is inside a closed object, at any depth."""
        waiting, known = [name], {name}
        while waiting:
            here = self.objects.get(waiting.pop())
            for parent in here.parents if here is not None else ():
                above = self.objects.get(parent)
                if above is None or parent in known:
                    continue
                if above.attributes.get("openable") and not above.attributes.get("isOpen"):
                    return True
                known.add(parent)
                waiting.append(parent)
        return False
