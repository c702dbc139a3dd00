"""AI2-THOR's object types and fields that matter outside this folder, by what they mean there."""

from __future__ import annotations

FLOOR = "Floor"

SILENT = frozenset({"StoveKnob"})
"""Switches that make no sound themselves; their burner does."""

LIDDED = frozenset({"Toilet"})
"""Receptacles that open and carry things on their lid: closed, they hide nothing."""

BASINS = frozenset({"Sink", "SinkBasin", "Bathtub", "BathtubBasin"})
"""What water runs into."""

TABLES = frozenset(
    {"CoffeeTable", "CounterTop", "Desk", "DiningTable", "Dresser", "Shelf", "SideTable", "TVStand"}
)
"""Furniture that things are put on, moveable or not."""

OPEN_PLACES = frozenset({"CounterTop", "DiningTable", "SideTable", "SinkBasin", "Shelf", "Stool"})
"""Where somebody else puts a thing."""

ASIDE = ("CounterTop", "DiningTable", "SideTable", "ShelvingUnit", "Shelf", "Floor")
"""Where something is put aside, the first that takes it."""

USUAL_LIQUID = "water"
"""What something is filled with where nothing is said."""

SLICEABLE = "sliceable"
"""The property field of what can be cut."""

PROPERTIES = (
    "receptacle",
    "toggleable",
    "breakable",
    "canFillWithLiquid",
    "dirtyable",
    "canBeUsedUp",
    "cookable",
    "isHeatSource",
    "isColdSource",
    SLICEABLE,
    "openable",
    "pickupable",
    "moveable",
)
"""Fields that say what an object can do."""

STATES = (
    "isToggled",
    "isBroken",
    "isFilledWithLiquid",
    "fillLiquid",
    "isDirty",
    "isUsedUp",
    "isCooked",
    "temperature",
    "isSliced",
    "isOpen",
)
"""Metadata fields that change."""
