"""Only the worlds' own files know that a world is a kitchen or a home.

The test searches all strings of the generic rooms, except docstrings and command-line examples, for
these domains' classes, types, constants, predicates and actions.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from hvr.knowledge.ontology import ROLES, load_ontology, ontology_of
from hvr.knowledge.world_file import load_world
from hvr.pddl import Domain, parse_domain

REPOSITORY = Path(__file__).parents[3]

NOT_YET_CLEAN: dict[str, int] = {}
"""Remaining words per room; none may be added. Empty when the work is done."""

THE_WORLDS_OWN = (
    "hvr/worlds/kitchen/",  # simulates AI2-THOR's rooms
    "hvr/worlds/thor/",  # defines AI2-THOR's types and fields
    "hvr/doors/stand_in/",  # answers AI2-THOR's client
    # Draw AI2-THOR's rooms with the states of its objects.
    "hvr/runs/report/floor_plan/drawing.py",
    "hvr/runs/report/animation.py",
    # Its weights are trained on kitchen plans, so it belongs to this world, like its tasks.
    "hvr/judging/verifier/kitchen/",
    # Generates problems of several domains, a small kitchen among them.
    "hvr/planning/problems/",
    # Lists English words for requests about anything, such as "large" and "cd".
    "hvr/tools/navigation/words/english.py",
)

ROLES_FILE = "hvr/knowledge/ontology.py"
"""Names roles in English ("filled", "liquid") that ontologies assign."""

FUNCTION_WORDS = (
    {
        "hvr/execution/facts/conditions.py",
        "hvr/language/function_words.py",
        "hvr/language/rewording.py",
    },
    frozenset({"contains", "dirty", "large"}),
)
"""English word lists, and their words that also name relations."""

GENERIC = frozenset(
    {
        "object", "item", "on", "in", "beside", "near", "fits",  # spatial objects
        "Control", "Tool",  # browser keys, tool-calling models
        "holding", "present",  # a robot, and created objects
        "liquid",  # part of the upper taxonomy
        "surface", "container",  # the ontology's affordances for placing objects
    }
)  # fmt: skip
"""Words of kitchen domains that apply to any room with a robot."""

HOMOGRAPHS = frozenset(
    {
        "bed",  # before bed
        "book",  # to reserve
        "box",  # axis aligned, or a Markdown tick box
        "dish",  # a cooked dish, in the request grammar
        "floor",  # a floor plan
        "fork",  # a process
        "pillow",  # the package
        "watch",  # --watch
        "window",  # a context window or a time window
    }
)
"""Object names with other meanings; only exact class names (`Box`) count."""


def fields() -> frozenset[str]:
    """Return the scene graph and AI2-THOR fields that describe an object's affordances.

    Some predicates share a field's name (`openable`); an occurrence counts as the field. No class
    of the ontology stands for AI2-THOR's `sliceable`, since eggs also have it.
    """
    ontology = load_ontology()
    kinds = ontology.subclasses("AffordingObject")
    named = (str(f) for c in kinds for f in ontology.annotation(c, "thorField"))
    return frozenset({*named, "sliceable"})


@cache
def things() -> frozenset[str]:
    """Return names of objects and liquids: classes below the affordances, types, constants."""
    names = set()
    for world in ("kitchen", "home"):
        ontology = ontology_of(load_world(world).ontology_files)
        names |= set(ontology.object_types)
        names |= {
            c
            for kind in ontology.object_types
            for c in ontology.superclasses(kind) - ontology.affordances(kind)
            if not ontology.is_a("AffordingObject", c)
        }
        names |= {name for _, name in ontology.pairs("pddlType")}
    for domain in domains():
        names |= {*domain.types, *(c.name for c in domain.constants)}
    return frozenset(names) - GENERIC


@cache
def relations() -> frozenset[str]:
    """Return names of predicates and actions."""
    names = {name for d in domains() for name in (*d.predicates, *d.actions)}
    return frozenset(names) - GENERIC - fields()


@cache
def domains() -> tuple[Domain, ...]:
    files = [*REPOSITORY.glob("domains/*/domain.pddl"), REPOSITORY / "worlds/home/domain.pddl"]
    return tuple(parse_domain(file.read_text(encoding="utf-8"), file=str(file)) for file in files)


def kitchen_words(text: str) -> Iterator[str]:
    """Yield the kitchen names in a text.

    Object names and relations of several words (`hand_empty`) count anywhere. A relation of one
    word may be plain English ("has been opened"), so it counts only where it must be the name:
    alone, in a list of names, in PDDL, or as an alternative of a pattern.
    """
    words = re.findall(r"[A-Za-z_]+", text)
    for word in words:
        if word in things() and not (word.lower() in HOMOGRAPHS and word != text):
            if word not in HOMOGRAPHS:
                yield word
        elif word in relations() and "_" in word:
            yield word
    if words and all(w in relations() for w in words):
        yield from (w for w in words if "_" not in w)
        return
    for match in re.finditer(r"[(|]\s*([a-z]+)(?=[\s|)]|$)|([a-z]+)(?=\|)", text):
        word = match[1] or match[2]
        if word in relations():
            yield word


def strings(source: str, *, examples: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the strings of a module with their lines, without docstrings.

    Args:
        source: Text of the module.
        examples: Whether help texts are examples and skipped: strings named EXAMPLES or
            DESCRIPTION, or given as `help` or `epilog`.
    """
    tree = ast.parse(source)
    left_out: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(id(node.value))
        if not examples:
            continue
        if isinstance(node, ast.keyword) and node.arg in ("help", "epilog", "description"):
            left_out |= {id(inner) for inner in ast.walk(node.value)}
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id.lstrip("_").endswith(("EXAMPLES", "EPILOG", "HELP"))
            for t in node.targets
        ):
            left_out |= {id(inner) for inner in ast.walk(node.value)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in left_out:
            continue
        if isinstance(node.value, str):
            yield node.lineno, node.value


def found_in(path: Path) -> list[str]:
    name = path.relative_to(REPOSITORY).as_posix()
    source = path.read_text(encoding="utf-8")
    return [
        f"{name}:{line}: {word}"
        for line, text in strings(source, examples=name.startswith("hvr/doors/cli/"))
        if not (name == ROLES_FILE and text in ROLES)
        for word in kitchen_words(text)
        if not (name in FUNCTION_WORDS[0] and word in FUNCTION_WORDS[1])
    ]


@pytest.mark.slow
def test_generic_rooms_name_nothing_of_a_kitchen() -> None:
    paths = sorted((REPOSITORY / "hvr").rglob("*.py"))
    hits = [hit for path in paths for hit in found_in(path)]
    elsewhere = (*THE_WORLDS_OWN, *NOT_YET_CLEAN)
    assert [hit for hit in hits if not hit.startswith(elsewhere)] == []
    counts = Counter(room for hit in hits for room in elsewhere if hit.startswith(room))
    assert {r: n for r, n in counts.items() if n > NOT_YET_CLEAN.get(r, n)} == {}
    assert all(counts[room] for room in THE_WORLDS_OWN), "an exception that is not needed"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("CoffeeMachine", ["CoffeeMachine"]),
        ("a Fridge-1 that hums", ["Fridge"]),
        ("the mug is full of coffee", ["mug", "coffee"]),
        ("(hand_empty)", ["hand_empty"]),
        ("(not (opened ", ["opened"]),
        ("(?:toggled|cooked) (\\S+)", ["cooked", "toggled"]),
        ("washed", ["washed"]),
        ("hot cold", ["cold", "hot"]),
        ("it was opened for reading", []),
        ("Floor plan of ", []),
        ("floor", []),
        ("Floor", ["Floor"]),
        ("(on ?a ?b)", []),
        ("openable", []),
    ],
)
def test_what_counts_as_a_word_of_a_kitchen(text: str, words: list[str]) -> None:
    assert sorted(set(kitchen_words(text))) == sorted(words)


def test_strings_in_f_strings_count_and_docstrings_do_not() -> None:
    source = '"""mug"""\ndef f(x):\n    """fridge"""\n    return f"(washed {x})" + "plate"\n'
    assert [text for _, text in strings(source)] == ["plate", "(washed ", ")"] or sorted(
        text for _, text in strings(source)
    ) == ["(washed ", ")", "plate"]


def test_examples_of_help_may_show_a_kitchen() -> None:
    source = 'EXAMPLES = "hvr plan mug"\nadd(help="such as mug-1")\nsay("a mug")\n'
    assert [text for _, text in strings(source, examples=True)] == ["a mug"]
    assert len(list(strings(source))) == 3
