"""Any input leads to an hvr error or to a goal that parses."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hvr.errors import HvrError
from hvr.knowledge.ontology import load_ontology
from hvr.language.lexicon import Dish, FunctionWord, Noun, Verb, load_lexicon
from hvr.pddl import TypedName, parse_formula
from tests.language.goal_sets import world_of
from tests.work import lines_run

LEXICON = load_lexicon(load_ontology())
PHRASES = sorted(" ".join(key) for key in LEXICON.entries)


def of_kind(*kinds: type) -> list[str]:
    return sorted(
        " ".join(key)
        for key, entries in LEXICON.entries.items()
        if any(isinstance(entry, kinds) for entry in entries)
    )


LITTLE = (
    "the", "a", "it", "them", ",", ".", "and", "then", "in", "on", "with", "of", "from",
    "mug-1", "fridge-1", "2", "some",
)  # fmt: skip
WORDS = st.one_of(
    st.sampled_from(of_kind(Noun, Dish)),
    st.sampled_from(of_kind(Verb)),
    st.sampled_from(of_kind(FunctionWord)),
    st.sampled_from(PHRASES),
    st.sampled_from(LITTLE),
)
CLAUSE = st.builds(
    "{} {} {} {} {} {}".format,
    st.sampled_from(of_kind(Verb)),
    st.sampled_from(["the", "a", "two", "all the", "", "it and the"]),
    st.sampled_from(of_kind(Noun, Dish)),
    st.sampled_from(["in", "on", "with", "from", "using", "and", "that is in", "into"]),
    st.sampled_from(["the", "a", "some", ""]),
    st.sampled_from(of_kind(Noun, Dish)),
)


def check(policy, text):
    world = world_of("FloorPlan1")
    try:
        goal = policy.reader.goal(text, world.inventory())
    except HvrError as error:
        assert str(error)
        return
    objects = [TypedName(n, (world.graph.pddl_type(n),)) for n in world.inventory().classes]
    for stage in goal.stages:
        parse_formula(stage.text, policy.domain, objects, file="<goal>")


SETTINGS = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip


@pytest.mark.slow
@SETTINGS
@given(words=st.lists(WORDS, min_size=1, max_size=14))
def test_any_known_words(policy, words):
    check(policy, " ".join(words))


@pytest.mark.slow
@SETTINGS
@given(clauses=st.lists(CLAUSE, min_size=1, max_size=3), linker=st.sampled_from([", ", " and ",
       " then ", ". "]))  # fmt: skip
def test_any_clauses(policy, clauses, linker):
    check(policy, linker.join(clauses))


@pytest.mark.slow
@SETTINGS
@given(text=st.text(max_size=60))
def test_any_text(policy, text):
    check(policy, text)


@pytest.mark.slow
def test_every_verb_with_every_class(policy):
    """Each pair gives a goal or a clear refusal, and most affordable ones give a goal."""
    ontology = load_ontology()
    inventory = world_of("FloorPlan1").inventory()
    verbs = [
        (name, ontology.label(name), ontology.annotation(name, "requires"))
        for name in ontology.instances("Verb")
    ]
    refused = []
    for name, word, requires in sorted(verbs):
        for object_class in sorted(ontology.object_types):
            text = f"{word} the {ontology.label(object_class)}"
            suitable = bool(inventory.of(object_class)) and all(
                ontology.is_a(object_class, str(r).removeprefix("k:")) for r in requires
            )
            frame = ontology.annotation(name, "frame")[0]
            try:
                policy.reader.goal(text, inventory)
            except HvrError as error:
                if suitable and frame in {"state", "hold", "fill", "empty", "drop", "discard"}:
                    refused.append((text, str(error)))
    # the rest fails for reasons other than affordance
    for text, reason in refused:
        assert any(
            word in reason
            for word in ("cannot be put", "goes neither", "does not go into", "lacks",
                         "say what to", "does not know how to make", "cannot be cut", "one arm")
        ), (text, reason)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "clause",
    [
        "slice the bread and put it in the fridge",
        "put the apple and the bread and the mug on the countertop",
        "wash a mug that is in the sink and not dirty",
        "and the mug, it",
    ],
)
def test_the_work_grows_with_the_sentence_and_no_faster(policy, clause):
    def work(clauses):
        return lines_run(lambda: check(policy, ", then ".join([clause] * clauses)))

    work(1)  # warm the caches
    assert work(16) < 3 * work(8)


@pytest.mark.slow
@pytest.mark.parametrize("word", PHRASES[::20])
def test_every_phrase_alone(policy, word):
    check(policy, word)
