"""Generate random requests that hvr can read, as training data for the kitchen verifier.

They are typical requests: dishes without a place, several objects at once, doors and switches,
vessels to fill. The first wording of a kind determines the goal. The others paraphrase it, partly
in words that hvr does not know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

FOOD = ("Apple", "Potato", "Tomato", "Lettuce", "Bread", "Egg")
CUT = ("Apple", "Potato", "Tomato", "Lettuce", "Bread")
CUPS = ("Mug", "Cup", "Bowl", "Pot", "Kettle", "Bottle")
WARE = ("Mug", "Cup", "Bowl", "Plate", "Pan", "Pot", "Fork", "Knife", "Spoon", "ButterKnife",
        "Spatula", "Ladle", "Kettle")  # fmt: skip
ITEMS = (*FOOD, *WARE, "DishSponge", "SaltShaker", "PepperShaker", "SoapBottle", "WineBottle",
         "Bottle", "Vase", "Book", "CellPhone", "CreditCard", "Statue")  # fmt: skip
VESSELS = ("Bowl", "Plate", "Pan", "Pot", "Mug", "Cup")
PLACES = ("CounterTop", "DiningTable", "SideTable", "Shelf", "Cabinet", "Drawer", "Fridge",
          "SinkBasin", "Microwave", "StoveBurner", "GarbageCan", "Stool")  # fmt: skip
TABLES = ("CounterTop", "DiningTable", "SideTable", "Shelf")
DOORS = ("Fridge", "Microwave", "Cabinet", "Drawer")
MACHINES = ("CoffeeMachine", "Toaster", "Microwave", "StoveBurner", "Faucet", "LightSwitch")
SWITCHED = ("Faucet", "StoveBurner", "LightSwitch")


@dataclass(frozen=True)
class Kind:
    """A kind of request, with its wordings in `texts`; hvr can read the first one.

    `{o}` is a slot and `{os}` its plural; `{a}` and `{b}` are the prepositions of the places `{r}`
    and `{t}`.
    """

    slots: Mapping[str, Sequence[str]]
    texts: tuple[str, ...]


KINDS: Mapping[str, Kind] = {
    "plain coffee": Kind({}, (
        "make a coffee", "brew some coffee", "prepare a mug of coffee", "I could use a coffee",
        "get the coffee going and hand out a full mug", "coffee for one", "fix me a cup of joe",
        "produce a fresh mug of coffee with the machine", "I would like to drink coffee",
    )),
    "plain toast": Kind({}, (
        "prepare toast", "toast some bread", "use the toaster to brown a piece of bread",
        "I fancy toast", "get some toast ready", "cut off some bread and toast it",
        "a bit of toasted bread for me",
    )),
    "plain egg": Kind({}, (
        "fry one egg", "prepare a fried egg", "crack an egg and fry it in the pan",
        "I'd love an egg, sunny side up", "cook an egg on the stove for me",
        "fry up an egg for my breakfast",
    )),
    "plain salad": Kind({}, (
        "prepare a salad", "put together a salad", "I want to eat salad",
        "make me a fresh green salad", "cut lettuce and tomato into a salad",
    )),
    "plain sandwich": Kind({}, (
        "prepare a sandwich", "put together a sandwich", "I'd like a sandwich for lunch",
        "assemble a sandwich with bread, lettuce and tomato", "fix me a sandwich",
    )),
    "plain potato": Kind({}, (
        "prepare a baked potato", "I feel like a baked potato", "bake one potato for me",
        "cook a potato until it is done", "get me a cooked potato",
    )),
    "wine": Kind({}, (
        "prepare a glass of wine", "serve some wine", "pour out wine for a guest",
        "I'd like to have wine", "open the evening with a glass of wine",
    )),
    "wine in": Kind({"o": ("Mug", "Cup", "Bowl")}, (
        "pour wine into the {o}", "fill the {o} with wine", "I want wine in the {o}",
        "get the wine bottle and pour some into a {o}", "a {o} of wine, please",
    )),
    "boil": Kind({"o": ("Kettle", "Pot", "Pan")}, (
        "boil water in the {o}", "get the {o} of water to the boil",
        "fill the {o} with water and heat it on the stove", "I need hot water in the {o}",
        "put on a {o} of water and bring it to the boil",
    )),
    "fill": Kind({"o": CUPS}, (
        "fill the {o}", "fill a {o} with water", "get some water into the {o}",
        "run water from the tap into a {o}", "the {o} needs water in it",
        "hold the {o} under the faucet until it is full", "I need a {o} of tap water",
    )),
    "drink": Kind({"o": ("Mug", "Cup")}, (
        "bring me a {o} of water", "fetch me some water in a {o}", "hand me a {o} with water in it",
        "I am thirsty, get me a {o} of water",
    )),
    "clean": Kind({"o": (*WARE, *FOOD)}, (
        "wash a {o}", "clean the {o}", "give the {o} a rinse", "rinse the {o} off under the tap",
        "the {o} needs washing", "scrub that {o}", "see to it that the {o} is clean",
        "take the {o} to the sink and wash it",
    )),
    "warm": Kind({"o": FOOD}, (
        "heat a {o}", "warm the {o}", "heat up the {o}", "I want my {o} hot",
        "put the {o} in the microwave and run it", "nuke a {o}", "get the {o} nice and warm",
        "the {o} should be hot",
    )),
    "chill": Kind({"o": (*FOOD, "Mug", "Cup", "Bowl", "Plate", "WineBottle")}, (
        "chill the {o}", "cool down the {o}", "make the {o} cold", "refrigerate the {o}",
        "the {o} should be cold", "let the {o} get cold in the fridge", "I want the {o} cool",
    )),
    "cut": Kind({"o": CUT}, (
        "slice a {o}", "cut the {o}", "chop up the {o}", "cut the {o} into pieces with a knife",
        "the {o} should be in slices", "grab a knife and slice up the {o}", "dice a {o}",
        "I need the {o} cut",
    )),
    "crack": Kind({"r": VESSELS}, (
        "crack an egg into the {r}", "break an egg into the {r}", "I want a cracked egg in the {r}",
        "crack the egg and let it drop in the {r}",
    )),
    "fetch": Kind({"o": ITEMS}, (
        "get me the {o}", "fetch the {o}", "grab a {o}", "find a {o} and pick it up",
        "I need the {o} in your hand", "get hold of a {o}", "could I have the {o}",
        "look for the {o} and take it",
    )),
    "shut": Kind({"r": DOORS}, (
        "open the {r} and then close it", "open and shut the {r}",
        "take a look into the {r} and close it again", "close the {r} after opening it",
    )),
    "ajar": Kind({"r": DOORS}, (
        "open a {r}", "the {r} should stand open", "pull the {r} open", "get the {r} open",
        "leave a {r} open for me",
    )),
    "on": Kind({"o": MACHINES}, (
        "turn on the {o}", "switch the {o} on", "start the {o}", "the {o} should be running",
        "I want the {o} on", "get the {o} going",
    )),
    "on and off": Kind({"o": SWITCHED}, (
        "turn the {o} on and then turn it off", "switch on the {o}, then switch it off again",
        "start the {o} and stop it after that", "briefly turn on the {o}",
    )),
    "put two": Kind({"o": ITEMS, "q": ITEMS, "r": PLACES}, (
        "put the {o} and the {q} {a} the {r}", "both {o} and {q} belong {a} the {r}",
        "carry a {o} over to the {r}, then bring a {q} there too",
        "take the {o} to the {r} and the {q} as well", "{o} and {q} should be {a} the {r}",
        "gather the {o} and the {q} {a} the {r}", "set a {o} and a {q} down {a} the {r}",
        "pick up the {o}, lay it {a} the {r}, then do the same with the {q}",
    )),
    "put apart": Kind({"o": ITEMS, "q": ITEMS, "r": PLACES, "t": PLACES}, (
        "put the {o} {a} the {r} and the {q} {b} the {t}",
        "the {o} goes {a} the {r}, the {q} {b} the {t}",
        "move the {o} to the {r}, then take the {q} to the {t}",
        "leave a {q} {b} the {t} after placing a {o} {a} the {r}",
        "find homes for two things: the {o} {a} the {r}, the {q} {b} the {t}",
    )),
    "with": Kind({"o": (*FOOD, "Fork", "Knife", "Spoon", "ButterKnife"), "m": VESSELS}, (
        "put the {o} on the {m}", "a {m} with a {o}", "lay the {o} into the {m}",
        "I want the {o} in a {m}", "get the {o} and set it down in the {m}",
    )),
    "slice with": Kind({"o": CUT, "m": VESSELS}, (
        "put a slice of {o} on the {m}", "a piece of {o} in the {m}",
        "cut up the {o} and lay a piece into the {m}", "I'd like some sliced {o} on a {m}",
        "slice a {o}, then drop one of the slices in a {m}",
    )),
    "two slices": Kind({"o": CUT, "m": VESSELS}, (
        "put two slices of {o} on the {m}", "a {m} with two pieces of {o}",
        "cut the {o} and take two of the pieces to the {m}", "I want 2 {o} slices in the {m}",
    )),
    "carry": Kind({"o": ITEMS, "r": PLACES}, (
        "place the {o} {a} the {r}", "the {o} belongs {a} the {r}", "store a {o} {a} the {r}",
        "take the {o} and leave it {a} the {r}", "go get the {o}, then put it {a} the {r}",
        "transfer a {o} to the {r}", "set the {o} down {a} the {r}", "I need a {o} {a} the {r}",
        "{o} to the {r}",
    )),
    "serve": Kind({"o": CUT, "r": TABLES}, (
        "serve a slice of {o} on a plate {a} the {r}", "a plate with {o} {a} the {r}",
        "cut some {o}, plate it and bring it to the {r}",
        "put sliced {o} on a plate and set the plate {a} the {r}",
    )),
    "serve hot": Kind({"o": ("Potato", "Tomato", "Apple", "Bread"), "r": TABLES}, (
        "put a hot {o} on a plate {a} the {r}", "heat a {o} and serve it on a plate {a} the {r}",
        "a plate with a warm {o} should be {a} the {r}",
        "warm the {o}, lay it on a plate and carry that to the {r}",
    )),
    "coffee at": Kind({"r": TABLES}, (
        "make coffee and put it {a} the {r}", "I'll take my coffee {a} the {r}",
        "get a mug, fill it with coffee and set it down {a} the {r}",
        "carry fresh coffee to the {r}",
    )),
    "clean two": Kind({"o": WARE, "q": WARE}, (
        "wash the {o} and the {q}", "both the {o} and the {q} need to be clean",
        "rinse a {o}, and then a {q}", "clean the {o}, the {q} too",
    )),
    "clean away": Kind({"o": WARE, "r": PLACES}, (
        "put a washed {o} {a} the {r}", "after rinsing the {o}, place it {a} the {r}",
        "clean a {o} and store it {a} the {r}", "get a {o}, wash it, and leave it {a} the {r}",
        "the {o} goes {a} the {r} once it is clean",
    )),
    "mixed": Kind({"o": FOOD, "q": CUT}, (
        "chill the {o} and slice the {q}", "cut up the {q} and get the {o} cold",
        "slice a {q}, and let a {o} cool in the fridge",
    )),
    "wash and cut": Kind({"o": CUT}, (
        "wash the {o} and slice it", "rinse the {o}, then cut it up", "clean and chop a {o}",
        "I want the {o} washed and cut",
    )),
    "heat and put": Kind({"o": FOOD, "r": PLACES}, (
        "heat the {o} and place it {a} the {r}", "a hot {o} for the {r}",
        "take the {o}, microwave it and leave it {a} the {r}",
        "once the {o} is warm, bring it to the {r}",
    )),
    "cool and put": Kind({"o": (*FOOD, *VESSELS[:5]), "r": PLACES}, (
        "chill the {o} and place it {a} the {r}", "a cold {o} goes {a} the {r}",
        "cool a {o} down, then leave it {a} the {r}",
        "keep the {o} in the fridge until cold, then carry it to the {r}",
    )),
    "away": Kind({"o": ITEMS}, (
        "discard the {o}", "throw out a {o}", "the {o} is rubbish", "toss the {o}",
        "the {o} belongs in the bin", "dispose of the {o}",
    )),
    "set": Kind({}, (
        "set the table", "lay the table for dinner", "we are about to eat, get the table ready",
    )),
    "hold clean": Kind({"o": WARE}, (
        "hand me a clean {o}", "wash a {o} and give it to me", "I need a {o} that has been washed",
        "bring me the {o} after rinsing it",
    )),
    "all": Kind({"o": ("Fork", "Spoon", "Knife", "Apple", "Tomato", "Mug", "Plate", "Cup"),
                 "r": PLACES}, (
        "put all the {os} {a} the {r}", "every {o} belongs {a} the {r}",
        "collect each {o} and leave it {a} the {r}", "gather the {os} {a} the {r}",
    )),
}  # fmt: skip
"""Kinds of requests with their candidate classes and wordings."""

FRAMES = ("please {}", "could you {}?", "{}, please", "I want you to {}", "robot, {}",
          "would you be so kind as to {}", "hello, can you {} for me", "your job is to {}",
          "it would help me if you could {}", "{}. Thank you!", "Go and {}.", "next, {}",
          "when you have a moment, {}", "today we {}", "the robot has to {}")  # fmt: skip
"""Phrases that people add to an imperative."""
_NO_IMPERATIVES = ("i ", "i'", "a ", "the ", "{", "both ", "we ", "coffee ", "could ", "every ",
                   "your ", "once ", "after ", "there ")  # fmt: skip
_FRAMED = 0.35
_USUAL = 0.6


def said(
    draw: Random,
    there: Collection[str],
    labels: Callable[[str], Sequence[str]],
    plural: Callable[[str], str],
    preposition: Callable[[str], str],
    each: int = 3,
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield an endless sequence of random requests about a kitchen's objects: name and wordings.

    Args:
        labels: Function that returns the names of a class, most usual first.
        plural: Function that returns the plural of a name.
        preposition: Function that returns `on` or `in` for a place.
        each: Number of wordings; hvr can read the first.
    """
    kinds = sorted(KINDS)
    while True:
        draw.shuffle(kinds)
        for name in kinds:
            kind = KINDS[name]
            chosen: dict[str, str] = {}
            for slot, classes in kind.slots.items():
                free = [c for c in classes if c in there and c not in chosen.values()]
                if free:
                    chosen[slot] = draw.choice(free)
            if len(chosen) < len(kind.slots):
                continue
            places = {p: preposition(chosen[s]) for p, s in (("a", "r"), ("b", "t")) if s in chosen}
            first, *rest = kind.texts
            texts = [_worded(first, {s: labels(c)[0] for s, c in chosen.items()}, places, plural)]
            for text in draw.sample(rest, min(each - 1, len(rest))):
                names = {
                    s: labels(c)[0] if draw.random() < _USUAL else draw.choice(labels(c))
                    for s, c in chosen.items()
                }
                texts.append(_worded(_framed(text, draw), names, places, plural))
            yield " ".join((name, *chosen.values())), tuple(texts)


def _worded(
    text: str, names: Mapping[str, str], places: Mapping[str, str], plural: Callable[[str], str]
) -> str:
    several = {f"{slot}s": plural(name) for slot, name in names.items()}
    return re.sub(r"\b([Aa]) (?=[aeio])", r"\1n ", text.format(**names, **several, **places))


def _framed(text: str, draw: Random) -> str:
    """Return a wording, sometimes with a phrase that people add to requests."""
    if draw.random() >= _FRAMED or text.lower().startswith(_NO_IMPERATIVES):
        return text
    return draw.choice(FRAMES).format(text)
