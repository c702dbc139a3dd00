"""From a scene graph to triples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode

from hvr.errors import SceneError
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.knowledge.terms import FALSE, RDF_TYPE, TRUE, Triple, k, obj

ROBOT = obj("robot")
"""The robot of every scene."""

Pairs = Iterable[tuple[str, str]]
_Flags: TypeAlias = tuple[tuple[NamedNode, tuple[str, ...]], ...]


class SceneReader:
    """Turns scene graphs into triples, by the annotations of an ontology.

    Args:
        ontology: says which class or property stands for which type or field.
    """

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self._flags = {
            p: tuple(str(f) for f in ontology.annotation(p, "thorField"))
            for p in ontology.subjects("thorField")
            if ontology.domain_of(p) and p not in ("temperature", "containsLiquid")
        }
        self._flags_of: dict[frozenset[str], _Flags] = {}
        self._shattering = frozenset(ontology.subjects("shatters"))
        self._temperatures = self._by_thor_value("Temperature")
        self._liquids = self._by_thor_value("Liquid")
        usual = ontology.annotation("containsLiquid", "usualValue")
        self._usual_liquid = str(usual[0]) if usual else ""
        self._switches = tuple(
            (prop, ontology.domain_of(prop), ontology.range_of(prop))
            for prop in ontology.subjects("joinsSwitch")
        )
        """Properties that join a switch with what it switches, with the classes of both."""
        self.place_properties = ("on", "in", "holding", "handEmpty")
        """The properties that `places` makes statements with."""
        self.state_properties = ("isPresent", "containsLiquid", "temperature", *self._flags)
        """The properties that `states` makes statements with."""

    def class_of(self, o: SceneObject) -> str | None:
        """Return the class of an object, None if the ontology does not know its type."""
        return self.ontology.class_of_thor_type(o.object_type)

    def types(self, o: SceneObject) -> frozenset[str]:
        """Return the direct classes of an object: its type's, and what its own fields say.

        Raises:
            SceneError: the ontology does not know its type.
        """
        cls = self.class_of(o)
        if cls is None:
            raise SceneError(f"{o.name}: the ontology has no class for type {o.object_type!r}")
        own = (
            a
            for a in self.ontology.sometimes(cls)
            if any(
                o.attributes.get(str(f)) is True for f in self.ontology.annotation(a, "thorField")
            )
        )
        return frozenset({cls, *own})

    def known(self, scene: SceneGraph) -> list[SceneObject]:
        """Return the objects whose type the ontology knows."""
        return [o for o in scene.objects.values() if self.class_of(o) is not None]

    def static(self, o: SceneObject, scene: str) -> Iterator[Triple]:
        """Yield what never changes about an object: types, names, scene."""
        node = obj(o.name)
        for cls in self.types(o):
            yield node, RDF_TYPE, k(cls)
        yield node, k("name"), Literal(o.name)
        if o.object_id:
            yield node, k("thorId"), Literal(o.object_id)
        if scene:
            yield node, k("inScene"), obj(scene)

    def pieces(
        self, scene: SceneGraph, pieces: Mapping[str, Sequence[str]]
    ) -> Iterator[tuple[SceneObject, str]]:
        """Yield the objects that slicing would make, each with the name of what it is a piece of.

        Raises:
            SceneError: a piece belongs to no object of the scene, or to one that gives none.
        """
        for source, names in pieces.items():
            whole = scene.objects.get(source)
            if whole is None:
                raise SceneError(f"pieces are declared for {source!r}, which is not in the scene")
            cls = self.class_of(whole)
            made = self.ontology.annotation(cls, "slicesInto") if cls else ()
            if not made:
                raise SceneError(f"{source} is a {whole.object_type}, which gives no pieces")
            kind = str(self.ontology.annotation(str(made[0]), "thorType")[0])
            for name in names:
                yield (
                    SceneObject(name, kind, "")
                    if name not in scene.objects
                    else (scene.objects[name]),
                    source,
                )

    def belongings(
        self, scene: SceneGraph, known: Mapping[str, frozenset[str]]
    ) -> Iterator[Triple]:
        """Yield switches of things, and that they are beside what they switch.

        Args:
            scene: the scene.
            known: the classes of its objects, superclasses included.
        """
        for control, controlled in scene.controls:
            classes = known.get(control, frozenset())
            if controlled not in known:
                continue
            a, b = obj(control), obj(controlled)
            joins = (
                prop
                for prop, switch, switched in self._switches
                if switch in classes and switched in known[controlled]
            )
            for prop in joins:
                yield a, k(prop), b
                yield a, k("beside"), b

    def observed(self, scene: SceneGraph, known: Mapping[str, frozenset[str]]) -> Iterator[Triple]:
        """Yield what can be seen of the objects: place and state.

        Args:
            scene: the scene.
            known: the classes of its objects, superclasses included.
        """
        yield from self.states(self.known(scene), known)
        yield from self.places(scene, known)

    def states(
        self, objects: Iterable[SceneObject], known: Mapping[str, frozenset[str]]
    ) -> Iterator[Triple]:
        """Yield the state of some objects."""
        for o in objects:
            if o.name in known:
                yield from self._state(o, known[o.name])

    def places(self, scene: SceneGraph, known: Mapping[str, frozenset[str]]) -> Iterator[Triple]:
        """Yield where the objects of a scene are, and what the robot holds."""
        held = scene.held if scene.held in known else None
        if held is not None:
            yield ROBOT, k("holding"), obj(held)
        yield ROBOT, k("handEmpty"), TRUE if scene.held is None else FALSE
        for o in scene.objects.values():
            if o.parents and o.name != held and o.name in known:
                yield from self._place(o, known)

    def is_present(self, o: SceneObject, classes: frozenset[str]) -> bool:
        """Say whether an object is there in one piece."""
        if o.attributes.get("isSliced"):
            return False
        shatters = not self._shattering.isdisjoint(classes)
        return not (shatters and o.attributes.get("isBroken"))

    def _state(self, o: SceneObject, classes: frozenset[str]) -> Iterator[Triple]:
        node = obj(o.name)
        yield node, k("isPresent"), TRUE if self.is_present(o, classes) else FALSE
        flags = self._flags_of.get(classes)
        if flags is None:
            flags = self._flags_of[classes] = tuple(
                (k(prop), fields)
                for prop, fields in self._flags.items()
                if self.ontology.domain_of(prop) in classes
            )
        for prop, fields in flags:
            true = any(o.attributes.get(f) for f in fields)
            yield node, prop, TRUE if true else FALSE
        temperature = self._temperatures.get(str(o.attributes.get("temperature", "")))
        if temperature is not None:
            yield node, k("temperature"), k(temperature)
        full = "Fillable" in classes and o.attributes.get("isFilledWithLiquid")
        if full and (liquid := self._liquid(o, classes)):
            yield node, k("containsLiquid"), k(liquid)

    def _liquid(self, o: SceneObject, classes: frozenset[str]) -> str:
        liquid = self._liquids.get(str(o.attributes.get("fillLiquid") or "").lower())
        if liquid is not None:
            return liquid
        usual = (str(v) for c in classes for v in self.ontology.annotation(c, "defaultLiquid"))
        return next(usual, None) or self._usual_liquid

    def _place(self, o: SceneObject, known: Mapping[str, frozenset[str]]) -> Iterator[Triple]:
        for parent in o.parents:
            classes = known.get(parent, frozenset())
            if "SurfaceReceptacle" in classes:
                yield obj(o.name), k("on"), obj(parent)
                return
            if "ContainerReceptacle" in classes:
                yield obj(o.name), k("in"), obj(parent)
                return

    def _by_thor_value(self, cls: str) -> dict[str, str]:
        return {
            str(v): name
            for name in self.ontology.instances(cls)
            for v in self.ontology.annotation(name, "thorValue")
        }
