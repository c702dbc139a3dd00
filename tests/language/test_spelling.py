"""Misspelt requests: corrected, asked about, or refused, but never executed against their words."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from hvr.errors import AmbiguousError, HvrError
from hvr.execution.facts.sentences import problem_for
from hvr.knowledge.world_file import find_world
from hvr.language.grammar import Reader
from hvr.worlds.facts.folder import WorldFolder
from tests.language.misspelling import misspelt
from tests.language.test_own_words import SENTENCES, scene


def sentences(name: str, file: str) -> list[str]:
    lines = Path(SENTENCES, file).read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(" | ") for line in lines)
    return [text for place, bar, text in pairs if bar and place == name and text[0] != "!"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "file"), [("FloorPlan1", "sentences.txt"), ("FloorPlan201", "sentences_home.txt")]
)
def test_misspelt_requests_are_never_done_against_the_words(name: str, file: str) -> None:
    reader, inventory = scene(name)
    rng = random.Random(42)
    outcomes: Counter[str] = Counter()
    for text in sentences(name, file)[::2]:
        try:
            goal = reader.goal(text, inventory)
        except HvrError:
            continue
        if (wrong := misspelt(text, reader.lexicon, rng)) is None:
            continue
        try:
            read = reader.goal(wrong, inventory)
        except AmbiguousError:
            outcomes["asked"] += 1
        except HvrError:
            outcomes["refused"] += 1
        else:
            assert read.paraphrase == goal.paraphrase, (text, wrong, read.paraphrase)
            assert any(note.startswith("read '") for note in read.notes), wrong
            outcomes["read"] += 1
    total = outcomes.total()
    assert outcomes["read"] >= 0.85 * total and outcomes["asked"] <= 0.03 * total, outcomes


@pytest.mark.slow
def test_misspelt_requests_in_a_world_of_facts() -> None:
    world = WorldFolder(find_world("laboratory"))
    problem, _ = world.problem(None)
    assert world.ontology is not None
    reader = Reader(world.ontology, world.domain)
    rng = random.Random(1)
    for text in ("freeze two tubes", "put the frozen tube in rack2", "spin a tube") * 4:
        goal = problem_for(text, world.domain, problem, world.words, world.ontology)
        wrong = misspelt(text, reader.lexicon, rng)
        assert wrong is not None
        try:
            read = problem_for(wrong, world.domain, problem, world.words, world.ontology)
        except HvrError:
            continue
        assert read.said == goal.said, wrong


def test_two_candidates_are_a_question_or_a_refusal() -> None:
    reader, inventory = scene("FloorPlan1")
    with pytest.raises(HvrError, match=r"'drawes' as 'drapes'.*'drawes' as 'drawers'|2 ways"):
        reader.goal("close all the drawes", inventory)
