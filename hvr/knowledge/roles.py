"""The roles of classes, states and relations of an ontology for the reader of requests: `k:role`.

Grammar and goals name no class and no predicate of a world. They look up a role, such as
"portable", and the ontology assigns roles to classes, properties or individuals. If a world lacks a
role, the part of the grammar that needs it does not apply there.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

from hvr.knowledge.ontology import Ontology

# Classes.
THING, AFFORDANCE, AGENT, LIQUID = "thing", "affordance", "agent", "liquid"
PORTABLE, PLACE, SURFACE, CONTAINER = "portable", "place", "surface", "container"
CARRIER = "carrier"
"""Can be carried with objects on or in it."""
SLOT = "slot"
"""A place for one thing at a time."""
WORKTOP, STORAGE = "worktop", "storage"
GROUND = "ground"
"""A place that is used only if the request names it."""
VESSEL, BOTTOMLESS = "vessel", "bottomless"
BASIN = "basin"
"""A place to fill and empty vessels."""
DRAIN = "drain"
"""Liquids can be poured away into it."""
SOURCE = "source"
"""Fills vessels, and is itself never the filling: 'fill the cup with the faucet'."""
INSTRUMENT = "instrument"
"""A hand tool that changes other things."""
APPARATUS = "apparatus"
"""Changes the things put there; not a place to keep them."""
TOOL = "tool"
"""After 'with' it names the means, not the contents."""
HELPER = "helper"
"""May be named as a means without effect on the goal."""
BESIDE = "beside"
"""Served beside its companion."""
SERVED = "served"
"""Served on a dish."""
BIN, SLICE = "bin", "slice"
FURNITURE = "furniture"
"""Cannot be moved."""
LONG = "long"
"""Too long to be reached completely from one position."""
CUP = "cup"
"""A vessel to drink from."""
FILLER = "filler"
"""Fills the vessel at it while it is on."""
CUTTABLE, CRACKABLE = "cuttable", "breakable open"
"""Divided with an instrument, or without one."""

# States and relations.
PRESENT, OPEN, RUNNING = "present", "open", "running"
FILLED, CONTAINS = "filled", "contains"
PIECE_OF, FITS = "piece of", "fits"
DIVIDED = "divided"
"""The thing is replaced by its pieces."""
SLICED = "sliced"
"""Like `DIVIDED`, with pieces that are called slices."""
SWITCHES = "switches"
"""Relates a control to the device that it switches."""
RUNS_INTO = "runs into"
"""Relates the source of a liquid to its basin."""
TREATS = "treats"
"""Relates an apparatus to the things that it changes permanently."""
ADJOINS = "adjoins"
"""Relates things that stand side by side."""
DEED = "deed"
"""Records what was done since the robot began with the current stage of a request."""
SOILED = "soiled"
SITUATION = "situation"
"""States that make one object of a kind preferable to another."""

ROLES: frozenset[str] = frozenset(
    value for name, value in dict(globals()).items() if name.isupper()
)
"""All roles; docs/reference/language.md describes them."""


class Roles:
    """The roles of an ontology."""

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology
        found: dict[str, list[str]] = defaultdict(list)
        for name, role in ontology.pairs("role"):
            found[role].append(name)
        self._players = {role: tuple(names) for role, names in found.items()}
        self._extents: dict[str, frozenset[str]] = {
            role: frozenset(
                c
                for name in names
                if ontology.has_class(name)
                for c in ontology.subclasses(name, reflexive=True)
            )
            for role, names in found.items()
        }

    def players(self, role: str) -> tuple[str, ...]:
        """Return the terms with a role (classes, properties or individuals), in order."""
        return self._players.get(role, ())

    def plays(self, object_class: str, *roles: str) -> bool:
        """Return whether a class or a superclass has one of the roles."""
        return any(object_class in self._extents.get(role, ()) for role in roles)

    def class_of(self, role: str) -> str | None:
        """Return the first class with a role, or None."""
        return next(iter(self.players(role)), None)

    def predicates(self, role: str) -> tuple[str, ...]:
        """Return the PDDL predicates of the terms with a role."""
        return tuple(
            str(name)
            for player in self.players(role)
            for name in self._ontology.annotation(player, "pddlPredicate")
        )

    def predicate(self, role: str) -> str | None:
        """Return the first PDDL predicate with a role, or None."""
        return next(iter(self.predicates(role)), None)

    def bearer(self, role: str) -> str | None:
        """Return the class of things that can have the state or relation with a role, or None."""
        player = self.class_of(role)
        return self._ontology.domain_of(player) if player else None

    def names(self, role: str) -> frozenset[str]:
        """Return the PDDL constants with a role, such as liquids."""
        return frozenset(
            str(name)
            for player in self.players(role)
            for name in self._ontology.annotation(player, "pddlName")
        )

    def pddl_type(self, role: str) -> str | None:
        """Return the PDDL type of the class with a role, or None."""
        player = self.class_of(role)
        return self._ontology.pddl_type(player) if player else None

    @property
    def thing_type(self) -> str:
        """The PDDL type of all things."""
        return self.pddl_type(THING) or "object"


@lru_cache(maxsize=8)
def roles_of(ontology: Ontology) -> Roles:
    """Return the roles of an ontology (cached)."""
    return Roles(ontology)
