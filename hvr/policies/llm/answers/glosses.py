"""English for the names of the kitchen domain: what models write where they mean these.

Action, predicate and class names of other domains simply have no gloss; their own words count.
"""

from __future__ import annotations

from collections.abc import Mapping

ACTIONS: Mapping[str, tuple[str, ...]] = {
    "navigate_to_obj": (
        "navigate to", "navigate", "go to", "go", "goto", "goto location", "walk", "walk to",
        "walk towards", "walk over to", "move to", "move towards", "move", "approach", "travel to",
        "head to",
        "head over to", "drive to", "reach", "go over to", "find", "locate", "walk up to",
        "return to",
       "go near", "face",
    ),
    "pick_up": (
        "pick up", "pick", "pickup", "take", "take out", "grab", "get", "grasp", "lift", "lift up",
        "fetch", "collect", "retrieve", "remove", "pickup object", "take object", "hold",
        "pick up object",
    ),
    "put_on": (
        "put", "put on", "put onto", "put down", "put down on", "place", "place on", "place onto",
        "place down", "set", "set on", "set down", "set down on", "lay", "lay on", "leave on",
        "put object", "place object", "put back", "put back on", "return to", "move to",
        "transfer to", "serve on", "arrange on", "position on", "release on", "stack on",
        "put at", "place at",
    ),
    "put_in": (
        "put", "put in", "put into", "put inside", "place", "place in", "place into",
        "place inside",
        "insert", "insert into", "insert in", "put object", "place object", "set in", "load into",
        "store in", "store", "add to", "put back in", "transfer to", "drop in", "drop into",
        "move to",
        "add", "lay in", "deposit in",
    ),
    "open_obj": ("open", "open object", "open up", "open door", "pull open"),
    "close_obj": ("close", "close object", "shut", "close door", "push shut"),
    "toggle_on": (
        "toggle on", "turn on", "switch on", "toggle object on", "activate", "start", "power on",
        "press", "toggle", "turn on object", "light", "ignite", "run", "use",
    ),
    "toggle_off": (
        "toggle off", "turn off", "switch off", "toggle object off", "deactivate", "stop",
        "power off", "turn off object", "shut off", "extinguish",
    ),
    "slice_obj": (
        "slice", "slice object", "cut", "chop", "cut up", "dice", "slice up", "chop up", "halve",
    ),
    "crack_obj": ("crack", "break", "crack open", "break open", "crack object", "break object"),
    "pour": (
        "pour", "pour into", "pour in", "pour out", "pour to", "pour liquid", "empty into",
        "pour out into", "fill liquid", "transfer liquid",
    ),
    "drop_obj": ("drop", "drop object", "let go", "let go of", "drop on floor"),
    "throw_away": (
        "throw away", "throw", "throw in", "throw into", "throw out", "discard", "discard in",
        "dispose", "dispose of", "dispose in", "trash", "throw object", "bin",
    ),
}  # fmt: skip
"""What an action may be called."""

PREDICATES: Mapping[str, tuple[str, ...]] = {
    "near": ("at", "next to", "close to", "robot at", "robot near", "at location", "by",
             "reachable",
             "robot at location", "agent at", "is near"),
    "hand_empty": ("hand free", "handempty", "free hand", "gripper empty", "arm free", "hands free",
                   "empty hand", "robot hand empty", "arm empty", "hands empty", "gripper free"),
    "holding": ("held", "in hand", "robot holding", "picked up", "carrying", "grasped", "holds",
                "robot has", "has", "is held", "in gripper"),
    "present": ("exists", "available", "is available", "exist", "is present", "there is"),
    "on": ("on top of", "on top", "placed on", "is on", "located on", "standing on", "ontop"),
    "in": ("inside", "inside of", "within", "is in", "contained in", "placed in", "located in"),
    "opened": ("open", "is open", "isopen", "door open"),
    "toggled": ("turned on", "switched on", "on", "activated", "toggled on", "is on", "running",
                "powered on", "active", "lit", "power on"),
    "sliced": ("cut", "chopped", "is sliced", "cut up"),
    "cracked": ("broken", "is cracked", "broken open"),
    "cooked": ("fried", "boiled", "is cooked", "done", "prepared"),
    "hot": ("heated", "warm", "is hot", "warmed", "heated up"),
    "cold": ("cooled", "chilled down", "is cold", "cool", "refrigerated"),
    "dirty": ("is dirty", "unclean", "soiled", "unwashed"),
    "filled": ("full", "is filled", "filled with liquid", "filled up"),
    "contains": ("filled with", "has liquid", "holds liquid", "contains liquid", "full of"),
    "washed": ("rinsed", "is washed", "cleaned"),
    "microwaved": ("heated in microwave",),
    "toasted": ("is toasted",),
    "chilled": ("was in fridge",),
    "pickupable": ("is pickupable", "can pick up", "graspable", "portable", "pickable"),
    "sliceable": ("can be sliced", "is sliceable", "cuttable"),
    "openable": ("can be opened", "is openable"),
    "toggleable": ("can be toggled", "is toggleable", "switchable"),
    "cutting_tool": ("knife", "is knife", "can cut"),
}  # fmt: skip
"""What a predicate may be called."""

OPPOSITES: Mapping[str, tuple[str, ...]] = {
    "opened": ("closed", "shut", "is closed", "isclosed"),
    "toggled": ("off", "turned off", "switched off", "is off", "toggled off", "deactivated",
                "inactive", "powered off"),
    "dirty": ("clean", "is clean"),
    "filled": ("empty", "is empty", "emptied"),
    "cooked": ("raw", "uncooked"),
    "sliced": ("whole", "unsliced", "uncut"),
    "cracked": ("intact", "uncracked", "unbroken"),
    "hand_empty": ("hand full", "hand occupied", "hands full"),
}  # fmt: skip
"""What the negation of a predicate may be called."""

INSTEAD: Mapping[str, tuple[str, ...]] = {
    "sink": ("sinkbasin",),
    "sinkbasin": ("sink",),
    "stoveburner": ("stoveknob",),
    "stoveknob": ("stoveburner",),
}
"""Parts of one thing that are named for each other: what is meant where the one makes no sense."""

OBJECTS: Mapping[str, tuple[str, ...]] = {
    "aluminumfoil": ("foil", "tin foil"),
    "coffeemachine": ("coffee maker", "espresso machine", "coffee brewer"),
    "countertop": ("counter", "worktop", "kitchen counter", "work surface", "bench", "counter top"),
    "cup": ("glass", "drinking glass"),
    "diningtable": ("table", "kitchen table", "dinner table"),
    "dishsponge": ("sponge",),
    "eggcracked": ("cracked egg", "fried egg", "egg cracked", "broken egg"),
    "faucet": ("tap", "water tap", "sink faucet", "kitchen tap"),
    "fridge": ("refrigerator", "freezer", "icebox"),
    "garbagecan": ("trash can", "trash", "bin", "garbage", "rubbish bin", "waste bin", "dustbin",
                   "trashcan", "garbage bin", "trash bin", "waste basket"),
    "microwave": ("microwave oven",),
    "pan": ("frying pan", "skillet"),
    "papertowelroll": ("paper towel", "paper towels", "kitchen roll"),
    "peppershaker": ("pepper",),
    "pot": ("saucepan", "cooking pot"),
    "saltshaker": ("salt",),
    "sinkbasin": ("basin", "sink", "kitchen sink", "wash basin"),
    "stoveburner": ("burner", "stove", "hob", "cooker", "hot plate", "stovetop", "stove top"),
    "stoveknob": ("knob", "stove knob", "burner knob", "stove control"),
    "winebottle": ("wine", "bottle of wine", "wine bottle"),
}  # fmt: skip
"""What a class of objects may be called."""
