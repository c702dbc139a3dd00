"""The objects that chosen ones depend on: a knife to slice with, the faucet of a basin, a pan.

A language model names the objects of a sentence and forgets the means. The rules here follow facts
of the graph and relations between classes (`k:placeableIn`, `k:cooks`, `k:prefers`), never names of
things. Unlike `relevance` they have no goal, so they infer the likely actions from the chosen
objects.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from hvr.knowledge.retrieval.inventory import Inventory, number_of
from hvr.knowledge.roles import (
    APPARATUS,
    CRACKABLE,
    CUP,
    CUTTABLE,
    FILLED,
    FILLER,
    INSTRUMENT,
    PIECE_OF,
    RUNS_INTO,
    SLOT,
    SOILED,
    SWITCHES,
    TREATS,
    WORKTOP,
)

Additions = Iterator[tuple[str, str]]
"""Objects to add, each with the reason."""


def expand(names: Iterable[str], inventory: Inventory) -> dict[str, str]:
    """Return the objects that some objects depend on.

    Returns:
        Reason for each further object, by name, in the order of discovery.
    """
    expander = _Expander(names, inventory)
    expander.run()
    return expander.added


class _Expander:
    """Apply rules until they add nothing; they terminate because they only add scene objects."""

    def __init__(self, names: Iterable[str], inventory: Inventory) -> None:
        self.added: dict[str, str] = {}
        self._inventory = inventory
        self._ontology = inventory.ontology
        self._chosen = dict.fromkeys(names)
        self._source = dict(inventory.joined(PIECE_OF))
        self._holders: dict[str, list[str]] = {}
        self._joined: dict[str, tuple[tuple[str, str], ...]] = {}
        self._treating = inventory.roles.predicates(TREATS)
        self._ranked = inventory.of("PhysicalObject")
        there = [n for n in self._ranked if inventory.true("present", n)]
        rank = {n: i for i, n in enumerate(there)}
        self._takes: dict[str, list[str]] = defaultdict(list)
        for thing, place in inventory.pairs("fits"):
            if thing in rank:
                self._takes[place].append(thing)
        for things in self._takes.values():
            things.sort(key=rank.__getitem__)

    def run(self) -> None:
        """Apply all rules, group by group, each group to its fixed point.

        A rule that tests whether a kind is chosen must run after the rules that choose it. A burner
        for a chosen pan precedes other heat sources, and both precede knobs, places and contents.
        The work surface comes last, since everything else may provide one.
        """
        for rules in (
            (self._dish, self._under, self._filling, self._sources, self._tool),
            (self._heat, self._carriers, self._drinks, self._washing),
            (self._controls, self._places, self._occupants),
            (self._work_surface,),
        ):
            before = -1
            while before != len(self._chosen):
                before = len(self._chosen)
                for rule in rules:
                    for name, reason in list(rule()):
                        self._add(name, reason)

    def _add(self, name: str, reason: str) -> None:
        if name not in self._chosen:
            self._chosen[name] = None
            self.added[name] = reason

    # --- uses -------------------------------------------------------------------------------

    def _sources(self) -> Additions:
        """Yield the source of a piece that does not exist yet, and one piece of a thing to cut."""
        for name in self._chosen:
            source = self._source.get(name)
            if source is not None and not self._true("present", name):
                yield source, f"what {name} is cut from"
        for name in self._with(CUTTABLE, CRACKABLE):
            pieces = sorted((p for p, s in self._source.items() if s == name), key=number_of)
            if pieces and not any(p in self._chosen for p in pieces):
                yield pieces[0], f"a piece of {name}"

    def _tool(self) -> Additions:
        wanted = [n for n in self._with(CUTTABLE) if self._true("present", n)]
        if not wanted or self._with(INSTRUMENT):
            return
        tools = self._inventory.tools(INSTRUMENT, "slicing")
        if tools:
            yield tools[0], f"cuts {wanted[0]}"

    def _heat(self) -> Additions:
        for name in list(self._chosen):
            cooks = [h for h in self._all(APPARATUS) if self._treats(h, name)]
            if not cooks or any(h in self._chosen for h in cooks):
                continue
            direct = [h for h in cooks if self._true("fits", name, h)]
            yield (
                (direct or cooks)[0],
                f"{self._treating[0]} {name}",
            )  # one that needs no dish is simpler

    def _dish(self) -> Additions:
        """Yield a dish for the contents of a cracked thing, preferably one to fry in."""
        for name in self._with(CRACKABLE):
            made = [p for p, s in self._source.items() if s == name]
            heats = [h for h in self._all(APPARATUS) if any(self._treats(h, p) for p in made)]
            slots = [h for h in heats if self._plays(h, SLOT)]
            dishes = [
                d for h in slots or heats for d in self._takes[h] if self._true("fits", name, d)
            ]
            if dishes and not any(d in self._chosen for d in dishes):
                yield dishes[0], f"for {name} when it is cracked"

    def _under(self) -> Additions:
        """Yield a heat source with a single slot for a dish that fits there."""
        slots = [h for h in self._all(APPARATUS) if self._plays(h, SLOT)]
        for name in [n for n in self._chosen if self._true("pickupable", n)]:
            below = [h for h in slots if name in self._takes[h]]
            if below and name not in self._source and not any(h in self._chosen for h in below):
                free = [h for h in below if not self._inventory.contents.get(h)]
                here = [h for h in below if self._inventory.parents.get(name) == h]
                yield (here + free + below)[0], f"heats what is in {name}"

    def _filling(self) -> Additions:
        for place in self._with(SLOT):
            if any(self._true("fits", n, place) for n in self._chosen):
                continue
            later = (p for p in self._source if self._true("fits", p, place))
            for name in (*self._takes[place], *later):
                if name not in self._source or self._there(name, self._source[name]):
                    yield name, f"goes onto {place}"
                    break

    def _carriers(self) -> Additions:
        """Yield a dish for an object that cannot be put on a heat source without one."""
        for heat in self._with(APPARATUS):
            for name in list(self._chosen):
                if not self._treats(heat, name) or self._true("fits", name, heat):
                    continue
                dishes = [d for d in self._takes[heat] if self._true("fits", name, d)]
                if dishes and not any(d in self._chosen for d in dishes):
                    yield dishes[0], f"carries {name} on {heat}"

    def _drinks(self) -> Additions:
        """Yield a filler for cups, such as a coffee machine or faucet, unless one is chosen."""
        if self._with(FILLED, FILLER) or self._with_pair(RUNS_INTO):
            return
        for name in list(self._chosen):
            if not self._inventory.roles.plays(self._class(name), CUP):
                continue
            for machine in self._all(FILLER):
                if self._true("fits", name, machine):
                    yield machine, f"fills {name}"
                    break
            for faucet, basin in self._pairs(RUNS_INTO):
                if self._true("fits", name, basin):
                    yield faucet, f"fills {name}"
                    break

    def _washing(self) -> Additions:
        dirty = [n for n in self._with(SOILED) if self._true("pickupable", n)]
        if dirty and not self._with_pair(RUNS_INTO):
            for faucet, _ in self._pairs(RUNS_INTO)[:1]:
                yield faucet, f"to wash {dirty[0]}"

    # --- dependencies -----------------------------------------------------------------------

    def _controls(self) -> Additions:
        for role in (SWITCHES, RUNS_INTO):
            for control, controlled in self._pairs(role):
                if controlled in self._chosen:
                    yield control, f"{role} {controlled}"
                elif control in self._chosen:
                    yield controlled, f"{control} {role} it"

    def _places(self) -> Additions:
        for name in list(self._chosen):
            parent = self._inventory.parents.get(name)
            if parent is not None and self._true("pickupable", name):
                yield parent, f"where {name} is"

    def _occupants(self) -> Additions:
        """Yield the contents of slots, which must be removed, and of portable dishes."""
        for name in list(self._chosen):
            if self._plays(name, SLOT) or self._true("pickupable", name):
                for inner in self._inventory.contents.get(name, ()):
                    yield inner, f"is on or in {name}"
        for name in self._inventory.held:
            yield name, "in the hand"

    def _work_surface(self) -> Additions:
        kinds = self._inventory.roles.players(WORKTOP)
        surfaces = [n for c in kinds for n in self._inventory.of(c)]
        if surfaces and not any(n in self._chosen for n in surfaces):
            yield surfaces[0], "to put things down"

    # --- queries ----------------------------------------------------------------------------

    def _true(self, predicate: str, *args: str) -> bool:
        return self._inventory.true(predicate, *args)

    def _there(self, *names: str) -> bool:
        return any(self._true("present", n) for n in names)

    def _class(self, name: str) -> str:
        return self._inventory.classes[name]

    def _plays(self, name: str, *roles: str) -> bool:
        return self._inventory.plays(name, *roles)

    def _treats(self, apparatus: str, name: str) -> bool:
        return any(self._true(p, apparatus, name) for p in self._treating)

    def _with(self, *roles: str) -> list[str]:
        return [n for n in self._chosen if self._plays(n, *roles)]

    def _with_pair(self, role: str) -> bool:
        return any(a in self._chosen or b in self._chosen for a, b in self._pairs(role))

    def _all(self, role: str) -> list[str]:
        if role not in self._holders:
            self._holders[role] = [n for n in self._ranked if self._plays(n, role)]
        return self._holders[role]

    def _pairs(self, role: str) -> tuple[tuple[str, str], ...]:
        if role not in self._joined:
            self._joined[role] = self._inventory.joined(role)
        return self._joined[role]
