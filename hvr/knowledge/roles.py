"""What classes, states and relations of an ontology are to those who read requests: `k:role`.

Grammar and goals name no class and no predicate of a world. They ask for a role, such as
"portable", and the ontology says which classes, properties or individuals play it. What plays no
role in a world is simply missing there, and the piece of grammar that asks for it with it.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

from hvr.knowledge.ontology import Ontology

# Classes.
THING, AFFORDANCE, AGENT, LIQUID = "thing", "affordance", "agent", "liquid"
PORTABLE, PLACE, SURFACE, CONTAINER = "portable", "place", "surface", "container"
CARRIER = "carrier"
"""Can be carried with things on or in it."""
SLOT = "slot"
"""A place that takes one thing at a time."""
WORKTOP, STORAGE = "worktop", "storage"
GROUND = "ground"
"""A place where nothing is put unless it is named."""
VESSEL, BOTTOMLESS = "vessel", "bottomless"
BASIN = "basin"
"""Where vessels are filled and emptied."""
DRAIN = "drain"
"""What a liquid can be poured away into."""
SOURCE = "source"
"""Fills vessels: nobody fills a cup with it."""
INSTRUMENT = "instrument"
"""Something is done to another thing with it, in the hand."""
APPARATUS = "apparatus"
"""Acts on what is put there, and is no place to keep things."""
TOOL = "tool"
"""'With' it names how, not what is inside."""
HELPER = "helper"
"""May be named as a means and makes no difference to the goal."""
BESIDE = "beside"
"""Is served beside what it comes with."""
SERVED = "served"
"""Comes on something when it is served."""
BIN, SLICE = "bin", "slice"
FURNITURE = "furniture"
"""Stands where it stands."""
LONG = "long"
"""Not all of it is reached from one place."""
CUP = "cup"
"""Drunk from."""
FILLER = "filler"
"""Fills the vessel that stands at it while it is on."""
CUTTABLE, CRACKABLE = "cuttable", "breakable open"
"""Is divided with an instrument; without one."""

# States and relations.
PRESENT, OPEN, RUNNING = "present", "open", "running"
FILLED, CONTAINS = "filled", "contains"
PIECE_OF, FITS = "piece of", "fits"
DIVIDED = "divided"
"""What is so is gone: there are its pieces."""
SLICED = "sliced"
"""The same, with pieces that are called slices."""
SWITCHES = "switches"
"""Of a control and what it switches: both are on together."""
RUNS_INTO = "runs into"
"""Of what a liquid comes from and where it runs."""
TREATS = "treats"
"""Of an apparatus and what it changes for good."""
SOILED = "soiled"
SITUATION = "situation"
"""States in which a thing is worth more or less than another of its kind."""

ROLES = frozenset(
    {
        THING,
        AFFORDANCE,
        AGENT,
        LIQUID,
        PORTABLE,
        PLACE,
        SURFACE,
        CONTAINER,
        CARRIER,
        SLOT,
        WORKTOP,
        STORAGE,
        GROUND,
        VESSEL,
        BOTTOMLESS,
        BASIN,
        DRAIN,
        SOURCE,
        INSTRUMENT,
        APPARATUS,
        TOOL,
        HELPER,
        BESIDE,
        SERVED,
        BIN,
        SLICE,
        FURNITURE,
        LONG,
        CUP,
        FILLER,
        CUTTABLE,
        CRACKABLE,
        PRESENT,
        OPEN,
        RUNNING,
        FILLED,
        CONTAINS,
        PIECE_OF,
        FITS,
        DIVIDED,
        SLICED,
        SWITCHES,
        RUNS_INTO,
        TREATS,
        SOILED,
        SITUATION,
    }
)
"""All roles; docs/language.md describes them."""


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
        """Return the classes, properties or individuals with a role, as the ontology lists them."""
        return self._players.get(role, ())

    def plays(self, object_class: str, *roles: str) -> bool:
        """Return whether a class has one of some roles, or lies below one that has."""
        return any(object_class in self._extents.get(role, ()) for role in roles)

    def class_of(self, role: str) -> str | None:
        """Return the class with a role, the first where there are several; None without one."""
        return next(iter(self.players(role)), None)

    def predicates(self, role: str) -> tuple[str, ...]:
        """Return the PDDL predicates of what plays a role."""
        return tuple(
            str(name)
            for player in self.players(role)
            for name in self._ontology.annotation(player, "pddlPredicate")
        )

    def predicate(self, role: str) -> str | None:
        """Return the PDDL predicate of what plays a role, or None."""
        return next(iter(self.predicates(role)), None)

    def bearer(self, role: str) -> str | None:
        """Return the class whose instances have the state or relation with a role, or None."""
        player = self.class_of(role)
        return self._ontology.domain_of(player) if player else None

    def names(self, role: str) -> frozenset[str]:
        """Return the names of PDDL constants with a role, such as liquids."""
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
    """Return the roles of an ontology, which are read once."""
    return Roles(ontology)
