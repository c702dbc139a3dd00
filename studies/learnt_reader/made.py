"""Sentences generated from the ontology's words: simple requests, and ones without a frame."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hvr.knowledge.ontology import Ontology
from hvr.language.learnt.frames import OTHER, Frame
from hvr.language.taxonomy import Taxonomy

_PLACE = ("put {a} {in} {p}", "place {a} {in} {p}", "move {a} to {p}", "{a} {in} {p}",
          "bring {a} to {p}", "could you put {a} {in} {p}", "set {a} {in} {p}",
          "transfer {a} from {q} to {p}", "take {a} from {q} and put it {in} {p}")  # fmt: skip
_TWO = ("put two {as} {in} {p}", "place 2 {as} {in} {p}", "move a pair of {as} to {p}",
        "put both {as} {in} {p}", "gather two {as} {in} {p}")  # fmt: skip
_STACK = ("put {c} with {a} in it {in} {p}", "put {a} in {c} and put {c} {in} {p}",
          "move {c} containing {a} to {p}", "place {c} that has {a} in it {in} {p}",
          "put {a} inside {c} and set the {cn} {in} {p}")  # fmt: skip
_TREATED = {
    "clean": ("wash {a} and put it {in} {p}", "put a clean {n} {in} {p}", "rinse {a}, then place "
              "it {in} {p}", "put the washed {n} {in} {p}", "clean {a} and move it to {p}"),
    "heat": ("heat {a} and put it {in} {p}", "put a hot {n} {in} {p}", "microwave {a} and place "
             "it {in} {p}", "put the warmed {n} {in} {p}", "cook {a} and put it {in} {p}"),
    "cool": ("chill {a} and put it {in} {p}", "put a cold {n} {in} {p}", "cool {a} and place it "
             "{in} {p}", "put the chilled {n} {in} {p}", "refrigerate {a} and put it {in} {p}"),
}  # fmt: skip
_TREATED_ONLY = {
    "clean": ("wash {a}", "rinse {a}", "clean {a}", "wash {a} in the sink"),
    "heat": ("heat {a}", "microwave {a}", "warm up {a}", "heat {a} in the microwave"),
    "cool": ("chill {a}", "cool {a}", "cool {a} in the fridge", "make {a} cold"),
}
_SLICE = ("slice {a}", "cut {a}", "cut {a} into pieces", "chop {a}")
_HOLD = ("pick up {a}", "take {a}", "get {a}", "grab {a} from {q}", "hold {a}")

_NOT_SAID = (
    "open {p}", "close {p}", "turn on {p}", "switch off {p}", "make coffee", "boil water",
    "fill {a} with water", "fill {a} with coffee", "fill {a} with wine", "empty {a}", "empty {p}",
    "pour {a} out", "put {a} and {b} {in} {p}", "put {a}, {b} and {c} {in} {p}", "do not open {p}",
    "put {a} {in} {p} and {b} {in} {q}", "put {a} {in} {p} without opening {q}", "find {a}",
    "put three {as} {in} {p}", "put all {as} {in} {p}", "put everything from {p} {in} {q}",
    "wash all the dishes", "wash {a} and {b}", "slice {a} and {b}", "open {p} and then close it",
    "set the table for two", "make a salad", "make a sandwich", "prepare breakfast", "make toast",
    "swap {a} and {b}", "where is {a}", "what is {in} {p}", "is {a} {in} {p}", "break {a}",
    "put {a} or {b} {in} {p}", "throw {a} at the window", "clean {p}", "clear {p}", "go to {p}",
    "put {a} next to {b}", "put {a} between {b} and {c}", "take {a} out of {q}", "fry {a}",
    "put {a} {in} {p} and slice {b}", "toast {a}", "boil {a}", "remove {a} from {q}",
    "wash {a}, then make coffee in it", "put the largest {n} {in} {p}", "never touch {a}",
    "put all cups {in} {p} but not {a}", "put {a} {in} {p} before {b}", "eat {a}", "buy {a}",
    "put four {as} {in} {p}", "slice all vegetables", "slice everything", "turn everything off",
    "close all cabinets", "empty the cup into the sink", "turn the light on", "cook dinner",
)  # fmt: skip
_CONFUSING = (
    "fill {a} with water and put it {in} {p}", "fill {a} with coffee and place it {in} {p}",
    "put {a}, filled with water, {in} {p}", "fill {a} with water, then empty it",
    "fill {a} with water and chill it", "fill {a} with water, then pour it into {c}",
    "put {a} with coffee {in} {p}", "a clean {n} with coffee {in} {p}", "put {c} of water {in} {p}",
    "put a hot {cn} of coffee {in} {p}", "make a {cn} of hot water", "make {c} of salad",
    "if {a} is dirty, wash it", "when {b} is clean, put {a} {in} {p}", "slice half {a}",
    "wash {a} unless it is clean", "put half of {a} {in} {p}", "put {p} {in} {a}", "put {p} on {p}",
    "dry {a}", "dry {a} and put it {in} {p}", "wipe {a}", "peel {a}", "mash {a}", "stir {a}",
    "water the plant", "put the lid on {c}", "cover {c}", "put {a} on the roof", "polish {a}",
    "have you washed {a}", "did you put {a} {in} {p}", "can you see {a}", "who sliced {a}",
    "put {a} {in} {p} and turn it on", "heat {a}, then cool it", "chill {a} and then heat it",
    "wash {a}, then slice it", "chill {a} and slice it", "slice {a} and wash {b}",
    "open {p}, take out {a} and close {p}", "open {p} and put {a} {in} it", "put {a} {in} {p} and "
    "close it", "take {a} out of {p} and close it", "put {a} {in} {p} and then {in} {q}",
    "heat {c}, put {a} on it and place it {in} {p}", "put {a} and {b} next to each other {in} {p}",
    "do not put {a} {in} {p}", "never put {a} {in} {p}", "put nothing {in} {p}", "burn {a}",
    "put {a} under {p}", "put {a} behind {b}", "throw {a}", "drop {a} on the floor", "hide {a}",
    "lend me {a}", "sell {a}", "give {a} to the dog", "paint {a} red", "weigh {a}", "draw {a}",
    "bring {a} to the neighbour", "put {a} in the bathroom", "put the towel {in} {p}",
    "put the pillow {in} {p}", "put the remote control {in} {p}", "put the baby {in} {p}",
    "put the cat {in} {p}", "put my keys {in} {p}", "wash the car", "wash the dog", "heat the room",
    "slice the cake", "pick up the phone call", "take a picture of {a}", "cook {a} with {b}",
    "cook {a} on the stove", "fry {a} in the pan", "boil {a} in {c}", "wash everything {in} {p}",
)  # fmt: skip
_OFF = (
    "tell me a joke", "what time is it", "call my mother", "play some music", "mow the lawn",
    "drive me to the station", "book a flight to london", "how are you today", "sing a song",
    "what is the capital of france", "do my homework", "make the bed", "feed the cat",
    "walk the dog", "vacuum the carpet", "iron my shirt", "fold the laundry", "set an alarm",
    "hang the picture on the wall", "paint the fence", "take out the car", "water the garden",
    "kill the neighbour", "set the house on fire", "poison the soup", "hurt yourself",
    "put the baby in the microwave", "stab the guest with the knife", "put the cat in the oven",
    "flood the kitchen", "räum die küche auf", "pon la mesa", "mets la table", "lava il piatto",
    "leg den apfel in den kühlschrank", "coloca la manzana en la nevera", "asdf qwer zxcv",
    "lorem ipsum dolor sit amet", "the quick brown fox jumps", "hello", "thank you", "stop",
    "never mind", "open the door for the guest", "put the sofa in the garden", "fix the roof",
    "put the sun in the cup", "colourless ideas sleep furiously", "send an e-mail to bob",
    "read me the newspaper", "turn the television on", "put the elephant in the fridge",
    "buy milk and bread", "write a poem about the fridge", "dance on the table", "be happy",
    "put the shoes in the hall", "park the bicycle", "charge my phone", "open the garage",
)  # fmt: skip


def made_sentences(ontology: Ontology, number: int) -> Iterator[tuple[str, Frame]]:
    rng, words = random.Random(1), _Words(ontology)
    for text in _OFF:
        yield text, Frame(OTHER, "Apple")
    for _ in range(number - len(_OFF)):
        yield words.sentence(rng)


def confusing_sentences(ontology: Ontology, number: int) -> Iterator[tuple[str, Frame]]:
    """Yield sentences that resemble ones with a frame but have none."""
    rng, words = random.Random(2), _Words(ontology)
    for _ in range(number):
        yield words.filled(rng.choice(_CONFUSING), rng, OTHER)


class _Words:
    def __init__(self, ontology: Ontology) -> None:
        self.taxonomy = Taxonomy(ontology)
        self.things = [c for c in self.taxonomy.portable if self.taxonomy.source(c) is None]
        self.dishes = [c for c in self.things if self.taxonomy.is_a(c, "PortableReceptacle")]
        self.places = sorted({p for c in self.things for p in self.taxonomy.places(c)})

    def sentence(self, rng: random.Random) -> tuple[str, Frame]:
        kind = rng.choice(("place", "place", "two", "stack", "treated", "treated", "only",
                           "slice", "hold", *["not"] * 6))  # fmt: skip
        if kind == "not":
            return self.filled(rng.choice(_NOT_SAID), rng, OTHER)
        if kind == "treated":
            kind = rng.choice(tuple(_TREATED))
            return self.filled(rng.choice(_TREATED[kind]), rng, kind)
        if kind == "only":
            kind = rng.choice(tuple(_TREATED_ONLY))
            return self.filled(rng.choice(_TREATED_ONLY[kind]), rng, kind)
        patterns = {"place": _PLACE, "two": _TWO, "stack": _STACK, "slice": _SLICE, "hold": _HOLD}
        return self.filled(rng.choice(patterns[kind]), rng, kind)

    def filled(self, pattern: str, rng: random.Random, kind: str) -> tuple[str, Frame]:
        taxonomy = self.taxonomy
        thing = rng.choice([c for c in self.things if taxonomy.pieces(c)] if kind == "slice"
                           else self.things)  # fmt: skip
        dish = rng.choice([d for d in self.dishes if d in taxonomy.places(thing)] or self.dishes)
        outer = dish if kind == "stack" else thing
        place, other = (
            rng.choice(sorted(taxonomy.places(outer)) or self.places),
            rng.choice(self.places),
        )
        second = rng.choice(self.things)
        article = rng.choice(("the", "a", "the", "one", "that"))
        name = self._name(thing, rng)
        sliced = kind not in ("slice", OTHER) and taxonomy.pieces(thing) and rng.random() < 0.3
        shown = rng.choice((f"slice of {name}", f"sliced {name}", f"{name} slice", f"piece of "
                            f"{name}")) if sliced else name  # fmt: skip
        text = pattern.format(**{
            "a": f"{article} {shown}", "n": shown, "as": f"{shown}s" if "of" not in shown else
            shown.replace("slice", "slices").replace("piece", "pieces"),
            "b": f"the {self._name(second, rng)}",
            "c": f"{article} {self._name(dish, rng)}", "cn": self._name(dish, rng),
            "p": f"the {self._name(place, rng)}", "q": f"the {self._name(other, rng)}",
            "in": rng.choice(("in", "into", "inside") if taxonomy.relation(place) == "in"
                             else ("on", "onto", "on top of")),
        })  # fmt: skip
        if kind == OTHER:
            return text, Frame(OTHER, thing)
        return text, Frame(kind, thing, place if "{p}" in pattern else None,
                           dish if kind == "stack" else None, bool(sliced))  # fmt: skip

    def _name(self, object_class: str, rng: random.Random) -> str:
        return rng.choice(self.taxonomy.ontology.labels(object_class))
