"""The scene graph: what an environment shows, as a plain value.

It uses AI2-THOR's field names for attributes and hvr's names (`mug-1`) for nodes; it
knows nothing of RDF or PDDL. `hvr.worlds` makes it, `hvr.knowledge` turns it into triples
and facts, `hvr.execution` compares it with what was expected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from hvr.values import Value


@dataclass(frozen=True)
class SceneObject:
    """One object as observed.

    Args:
        name: hvr's name, the lower-case type and a number: `mug-1`, `breadsliced-2`.
        object_type: AI2-THOR's `objectType`: `Mug`.
        object_id: AI2-THOR's `objectId`.
        attributes: AI2-THOR's per-object metadata fields that describe properties and
            state (`openable`, `isOpen`, `temperature`, `fillLiquid`, …), plain JSON values.
        parents: names of the receptacles it is directly on or in; innermost first,
            empty for what stands by itself or is held.
        position: (x, y, z) in metres.
        in_reach: the agent could interact with it from where it stands.
        distance: from the agent to its position, metres.
    """

    name: str
    object_type: str
    object_id: str
    attributes: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    parents: tuple[str, ...] = ()
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    in_reach: bool = False
    distance: float = 0.0


class SceneGraph(Value):
    """All objects of a scene at one moment.

    Args:
        scene: name of the scene, `FloorPlan16`.
        objects: the objects by name.
        held: name of the object in the robot's hand, or None.
        controls: pairs (control, controlled): a stove knob and its burner, a faucet and
            its basin.
    """

    scene: str
    objects: Mapping[str, SceneObject]
    held: str | None = None
    controls: tuple[tuple[str, str], ...] = ()

    def shut_in(self, name: str) -> bool:
        """Return whether an object is in something that is closed, at any depth."""
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

    def of_type(self, object_type: str) -> tuple[SceneObject, ...]:
        """Return objects whose AI2-THOR type is `object_type`, in name order of creation."""
        return tuple(o for o in self.objects.values() if o.object_type == object_type)
