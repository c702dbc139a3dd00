"""Requests are never executed against their words: generated sentences in three worlds.

Each generator makes sentences of one class from what a scene has. No goal may say anything else
than the sentence, and at most 2 % of the sentences with one meaning may be refused or asked about.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from itertools import permutations, product

import pytest

from hvr.errors import HvrError
from hvr.execution.facts.grammar import GrammarRequests
from hvr.execution.world import open_world
from hvr.knowledge.ontology import PLACE, PORTABLE
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.world_file import find_world, load_world, world_of_scene
from hvr.language.function_words import CHAT_WORDS
from hvr.language.goal_builder import Goal
from hvr.language.grammar import Reader, make_reader
from hvr.language.learnt import is_installed
from hvr.language.spatial import is_part
from hvr.language.taxonomy import Taxonomy
from hvr.pddl import Domain, TypedName
from hvr.worlds.facts.folder import WorldFolder
from hvr.worlds.kitchen import Kitchen
from tests.language.goal_sets import wanted_of

SCENES = ("FloorPlan1", "FloorPlan21", "FloorPlan201", "FloorPlan301", "laboratory")
READERS = ("grammar", "both") if is_installed() else ("grammar",)
NEEDLESS = 0.02
SAMPLE = 15
"""Number of sentences of a class in each scene."""

in_all_worlds = [
    pytest.mark.parametrize(
        ("scene", "kind"),
        [
            *((scene, "grammar") for scene in SCENES),
            *((scene, "both") for scene in ("FloorPlan1", "laboratory") if "both" in READERS),
        ],
    )
]


@dataclass
class Scene:
    """A scene: its names, and its readers' goals for sentences."""

    inventory: Inventory
    readers: dict[str, Reader]
    domain: Domain

    @property
    def taxonomy(self) -> Taxonomy:
        return self.readers["grammar"].taxonomy

    @cached_property
    def here(self) -> list[str]:
        """The classes whose name means no other class."""
        taxonomy = self.taxonomy
        found = dict.fromkeys(self.inventory.classes.values())
        return [c for c in found if taxonomy.source(c) is None and self._is_plain(c)]

    def _is_plain(self, object_class: str) -> bool:
        lexicon = self.readers["grammar"].lexicon
        entries = lexicon.lookup(self.taxonomy.label(object_class))
        return [getattr(e, "object_class", "") for e in entries] == [object_class]

    @cached_property
    def things(self) -> list[str]:
        return [c for c in self.here if self.taxonomy.plays(c, PORTABLE)]

    @cached_property
    def furniture(self) -> list[str]:
        places = {p for c in self.things for p in self.taxonomy.places(c)}
        found = [c for c in self.here if c in places and c not in self.things]
        return [c for c in found if self.taxonomy.plays(c, PLACE)]

    def at(self, place: str) -> str:
        return f"{self.taxonomy.relation(place)} the {self.taxonomy.label(place)}"

    def the(self, object_class: str) -> str:
        return f"the {self.taxonomy.label(object_class)}"

    def put(self, thing: str, place: str) -> str:
        """The literal of a thing at a place."""
        kinds = map(self.taxonomy.pddl_type, (thing, place))
        return " ".join((self.taxonomy.relation(place), *kinds))

    def fits(self, thing: str, place: str) -> bool:
        return place in self.taxonomy.places(thing)

    def is_at(self, thing: str, place: str) -> bool:
        """Whether any thing of a class is directly on or in a place of another."""
        parents, classes = self.inventory.parents, self.inventory.classes
        return any(classes.get(parents.get(n, "")) == place for n in self.inventory.of(thing))

    def elsewhere(self, thing: str) -> str | None:
        """A place where a thing fits and no thing of its class is."""
        fitting = (p for p in self.furniture if self.fits(thing, p) and not self.is_at(thing, p))
        return next(fitting, None)

    def is_around(self, thing: str, place: str) -> bool:
        """Whether a thing is at a place indirectly: on the table that stands on the floor, or in
        a drawer of the desk.
        """
        holders = {h for n in self.inventory.of(thing) for h in self._above(n)}
        wholes = {
            w for h in holders for w in self.inventory.of(place) if is_part(self.inventory, h, w)
        }
        kinds = {self.inventory.classes[h] for h in holders | wholes}
        return place in kinds and not self.is_at(thing, place)

    def _above(self, name: str) -> Iterator[str]:
        while name in self.inventory.parents:
            name = self.inventory.parents[name]
            yield name

    def read(self, text: str, kind: str) -> list[set[str]]:
        """The positive literals of each stage of the goal."""
        goal: Goal = self.readers[kind].goal(text, self.inventory)
        taxonomy = self.taxonomy
        objects = [
            TypedName(n, (taxonomy.pddl_type(c),)) for n, c in self.inventory.classes.items()
        ]
        stages = wanted_of(goal, self.domain, objects).stages
        return [
            {literal for literal in stage if not literal.startswith("not ")} for stage in stages
        ]


@cache
def scene_of(name: str) -> Scene:
    if name == "laboratory":
        folder = WorldFolder(find_world(name))
        problem, _ = folder.problem("morning.pddl")
        assert folder.ontology is not None
        asked = GrammarRequests(folder.domain, problem, folder.ontology)
        return Scene(asked.inventory, dict.fromkeys(READERS, asked.reader), folder.domain)
    world = load_world(world_of_scene(name).name)
    domain, ontology = world.agent.domain(), world.scene_ontology
    inventory = open_world(Kitchen(name), ontology=ontology).inventory()
    return Scene(inventory, {kind: make_reader(kind, ontology, domain) for kind in READERS}, domain)


Sentence = tuple[str, "list[set[str]] | None"]
"""A sentence with the stages that it asks for; None if it must not be done."""


def check(name: str, kind: str, generate: Callable[[Scene], Iterable[Sentence]]) -> None:
    scene = scene_of(name)
    sentences = list(generate(scene))
    random.Random(name).shuffle(sentences)
    against, needless, clear = [], [], 0
    for text, wanted in sentences[:SAMPLE]:
        clear += wanted is not None
        try:
            found = scene.read(text, kind)
        except HvrError as error:
            needless += [f"{text}: {error}"] if wanted is not None else []
            continue
        if found != wanted:
            against.append(f"{text}: {found}")
    assert sentences
    assert not against
    assert len(needless) <= NEEDLESS * clear, needless


def everywhere(test: Callable[..., None]) -> Callable[..., None]:
    for mark in in_all_worlds:
        test = mark(test)
    return test


# Two things to a place ----------------------------------------------------------------------------


@pytest.mark.slow
@everywhere
def test_two_things_go_to_one_place(scene: str, kind: str) -> None:
    def generate(s: Scene) -> Iterator[Sentence]:
        for one, other in permutations(s.things, 2):
            for place in s.furniture:
                there = s.is_at(one, place) and s.is_at(other, place)
                if s.fits(one, place) and s.fits(other, place) and not there:
                    text = f"put {s.the(one)} and {s.the(other)} {s.at(place)}"
                    yield text, [{s.put(one, place), s.put(other, place)}]

    check(scene, kind, generate)


# Two places ---------------------------------------------------------------------------------------


@pytest.mark.slow
@everywhere
def test_of_two_places_one_describes_or_both_are_asked_about(scene: str, kind: str) -> None:
    def generate(s: Scene) -> Iterator[Sentence]:
        for thing in s.things:
            for first, last in permutations(s.furniture, 2):
                if not (s.fits(thing, first) and s.fits(thing, last)):
                    continue
                described, placed = s.is_at(thing, first), s.is_at(first, last)
                if (described and placed) or s.is_around(thing, first) or s.is_around(thing, last):
                    continue
                wanted = [{s.put(thing, last if described else first)}]
                text = f"put {s.the(thing)} {s.at(first)} {s.at(last)}"
                yield text, wanted if described or placed else None

    check(scene, kind, generate)


@pytest.mark.slow
@everywhere
def test_a_chain_of_places_is_in_stages(scene: str, kind: str) -> None:
    def generate(s: Scene) -> Iterator[Sentence]:
        for thing in s.things:
            for first, last in permutations(s.furniture, 2):
                if s.fits(thing, first) and s.fits(thing, last):
                    wanted = [{s.put(thing, first)}, {s.put(thing, last)}]
                    for link in (", then", ", back", " and then"):
                        yield f"put {s.the(thing)} {s.at(first)}{link} {s.at(last)}", wanted

    check(scene, kind, generate)


@pytest.mark.slow
@everywhere
def test_a_thing_is_moved_to_another_place_than_it_has(scene: str, kind: str) -> None:
    def generate(s: Scene) -> Iterator[Sentence]:
        for thing in s.things:
            for first, last in permutations(s.furniture, 2):
                around = s.is_around(thing, first) or s.is_around(thing, last)
                if s.fits(thing, last) and s.fits(thing, first) and not around:
                    text = f"put {s.the(thing)} from {s.the(first)} {s.at(last)}"
                    yield text, [{s.put(thing, last)}] if s.is_at(thing, first) else None

    check(scene, kind, generate)


# Compounds ----------------------------------------------------------------------------------------


@cache
def heads() -> list[str]:
    """Ordinary English words, most of them unknown to the lexicons."""
    text = resources.files("hvr.language").joinpath("ordinary_words.txt").read_text("utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    words = [word for line in lines for word in line.split()]
    # Adverbs and words such as 'kinda' are no heads.
    return [word for word in words if not (word.endswith("ly") or word in CHAT_WORDS)]


@pytest.mark.slow
@everywhere
def test_an_unknown_head_of_a_compound_is_refused(scene: str, kind: str) -> None:
    def generate(s: Scene) -> Iterator[Sentence]:
        lexicon = s.readers["grammar"].lexicon
        unknown = [word for word in heads() if word not in lexicon.parts]
        chosen = random.Random(scene).sample(unknown, 40)
        for thing in s.things:
            place = next(p for p in s.furniture if s.fits(thing, p))
            for head in chosen:
                yield f"put {s.the(thing)} {head} {s.at(place)}", None
                yield f"pick up {s.the(thing)} {head}", None
                yield f"take {s.the(thing)} {head} from {s.the(place)}", None

    check(scene, kind, generate)


@pytest.mark.slow
@everywhere
def test_of_a_compound_of_two_things_the_first_is_not_done(scene: str, kind: str) -> None:
    def generate(s: Scene) -> Iterator[Sentence]:
        lexicon = s.readers["grammar"].lexicon
        for one, other in permutations(s.things, 2):
            place = next(p for p in s.furniture if s.fits(one, p))
            compound = f"{s.taxonomy.label(one)} {s.taxonomy.label(other)}"
            if not lexicon.lookup(compound):
                yield f"put the {compound} {s.at(place)}", None

    check(scene, kind, generate)


# Tools --------------------------------------------------------------------------------------------

TOOL_FORMS = (
    "put the {tool} {at} and {verb} the shabby {thing}",
    "{verb} the shabby {thing}, then move the {tool} {at}",
    "take the {tool} to the {place} and {verb} the shabby {thing}",
    "{verb} a shabby {thing}. leave the {tool} {at}",
)
"""Forms with a word that only the learnt reader ignores."""


@pytest.mark.slow
@everywhere
def test_a_tool_with_a_place_of_its_own_is_not_dropped(scene: str, kind: str) -> None:
    s = scene_of(scene)
    moved = [(t, p) for t in s.things if (p := s.elsewhere(t))]
    verbs = ("heat", "slice", "wash", "cool")
    cases = [*product(TOOL_FORMS, moved, s.things, verbs)]
    dropped = []
    for form, (tool, place), thing, verb in random.Random(scene).sample(cases, SAMPLE):
        words = {"tool": s.taxonomy.label(tool), "thing": s.taxonomy.label(thing)}
        words |= {"at": s.at(place), "place": s.taxonomy.label(place), "verb": verb}
        text = form.format(**words)
        with suppress(HvrError):
            stages = s.read(text, kind)
            if not any(s.put(tool, place) in stage for stage in stages):
                dropped.append(f"{text}: {stages}")
    assert not dropped


# The unwanted -------------------------------------------------------------------------------------

DISMISSALS = (
    "forget {0}, {1}",
    "forget about {0}. {1}",
    "never mind {0}, {1}",
    "skip {0}, {1}",
    "i don't want {0}, {1}",
    "no need for {0}, {1}",
    "there is no need to take {0}, {1}",
    "don't bother with {0}, {1}",
    "anything but {0}, {1}",
)


@pytest.mark.slow
@everywhere
def test_what_is_dismissed_is_not_done(scene: str, kind: str) -> None:
    def generate(s: Scene) -> Iterator[Sentence]:
        for unwanted, thing in permutations(s.things, 2):
            place = s.elsewhere(thing)
            if place is None:
                continue
            wish = f"put {s.the(thing)} {s.at(place)}"
            for form in DISMISSALS:
                yield form.format(s.the(unwanted), wish), [{s.put(thing, place)}]

    check(scene, kind, generate)


@pytest.mark.slow
@everywhere
def test_what_is_dismissed_cannot_also_be_asked_for(scene: str, kind: str) -> None:
    def generate(s: Scene) -> Iterator[Sentence]:
        for thing in s.things:
            for place in s.furniture:
                if s.fits(thing, place):
                    wish = f"put {s.the(thing)} {s.at(place)}"
                    yield f"{wish}. forget {s.the(thing)}", None
                    yield f"never mind {s.the(thing)}, {wish}", None

    check(scene, kind, generate)


# Numbers and contradictions -----------------------------------------------------------------------


@pytest.mark.slow
@everywhere
def test_nothing_is_done_to_none(scene: str, kind: str) -> None:
    def generate(s: Scene) -> Iterator[Sentence]:
        for thing in s.things:
            for place in s.furniture:
                if s.fits(thing, place):
                    yield f"put 0 {s.taxonomy.label(thing)}s {s.at(place)}", None

    check(scene, kind, generate)


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize(
    "text",
    ["heat the cold hot potato", "wash the water", "put the clean dirty plate in the sink",
     "i'd like anything but coffee", "slice the apple. forget the apple",
     "put the knife on the counter in the drawer", "I already washed the mug"],
)  # fmt: skip
def test_contradictions_are_refused(text: str, kind: str) -> None:
    with pytest.raises(HvrError):
        scene_of("FloorPlan1").read(text, kind)


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("FloorPlan1", "throw the potato in the bin at the end of the counter",
         [{"in potato garbagecan"}]),
        ("FloorPlan16", "take the mug out of the sink, put it in the microwave, back in the sink",
         [{"in mug microwave"}, {"in mug sinkbasin"}]),
        ("FloorPlan1", "anything but coffee, I'd like a glass of water",
         [{"contains cup water", "on cup countertop"}]),
        ("FloorPlan1", "I washed the mug, now put it in the cabinet", [{"in mug cabinet"}]),
        ("FloorPlan201", "put the bowl on the table, not the coffee table",
         [{"on bowl diningtable/sidetable"}]),
    ],
)  # fmt: skip
def test_examples(name: str, text: str, wanted: list[set[str]], kind: str) -> None:
    assert scene_of(name).read(text, kind) == wanted
