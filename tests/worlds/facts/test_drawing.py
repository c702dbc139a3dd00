"""Drawing rules of worlds: which rules are read, and which faults are reported."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from hvr.errors import DataFileError
from hvr.knowledge.world_file import find_world
from hvr.pddl import parse_domain
from hvr.policies.world_checks import check_world
from hvr.worlds.facts.drawing import drawing_of, read_drawing
from hvr.worlds.facts.folder import WorldFolder

DOMAIN = parse_domain(
    """(define (domain d) (:requirements :typing :derived-predicates :numeric-fluents :equality)
    (:types car - thing place)
    (:predicates (at ?t - thing ?p - place) (near ?p ?q - place))
    (:functions (x ?p - place))
    (:derived (near ?p ?q - place) (not (= ?p ?q)))
    (:action go :parameters (?t - thing ?p - place) :effect (at ?t ?p)))"""
)


def drawing(tmp_path: Path, text: str) -> tuple[list[Any], list[str]]:
    """Return the rules of a text, and its findings without the file's name."""
    file = tmp_path / "drawing.toml"
    file.write_text(text)
    found, findings = read_drawing(file, DOMAIN)
    rules = [(one.fact, one.types, one.verb, one.terms) for one in found.rules]
    return rules, [finding.removeprefix(f"{file}:") for finding in findings]


def test_facts_numbers_and_types_become_rules(tmp_path: Path) -> None:
    rules, findings = drawing(
        tmp_path,
        """things = ["garage"]
[[draw]]
fact = "(at ?t ?p)"
inside = ["?t", "?p"]
mark = "?p"
[[draw]]
fact = "(= (x ?p) ?n)"
column = ["?p", "?n"]
row = ["?p", "1"]
[[draw]]
type = "thing"
tone = 2
inside = "garage"
""",
    )
    assert findings == []
    assert rules == [
        (("at", "?t", "?p"), (), "inside", ("?t", "?p")),
        (("at", "?t", "?p"), (), "mark", ("?p",)),
        (("=", "x", "?p", "?n"), (), "column", ("?p", "?n")),
        (("=", "x", "?p", "?n"), (), "row", ("?p", "1")),
        ((), ("car", "thing"), "tone", ("2",)),
        ((), ("car", "thing"), "inside", ("garage",)),
    ]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ('fact = "(att ?t ?p)"\nmark = "?t"', "no predicate named 'att'; did you mean 'at'?"),
        ('fact = "(at ?t)"\nmark = "?t"', "the predicate 'at' takes 2 objects, but (at ?t) has 1"),
        ('fact = "(near ?p ?q)"\nlink = ["?p", "?q"]', "the predicate 'near' is derived: name the"),
        ('fact = "(= (y ?p) ?n)"\nrow = ["?p", "?n"]', "no function named 'y'"),
        ('fact = "at ?t ?p"\nmark = "?t"', 'fact must be a pattern such as "(on ?x ?y)"'),
        ('fact = "(at ?t ?p)"', "the rule has no effect for (at ?t ?p): add one of above, inside"),
        ('fact = "(at ?t ?p)"\ninsid = ["?t", "?p"]', "no effect of a fact named 'insid'; did you"),
        ('fact = "(at ?t ?p)"\ninside = "?t"', "inside must be a list of 2 names, got '?t'"),
        ('fact = "(at ?t ?p)"\nmark = 3', "mark must be a name, got 3"),
        ('fact = "(at ?t ?p)"\nmark = "?q"', "no variable of the fact named '?q'"),
        ('fact = "(at ?t ?p)"\ninside = ["?t", "hut"]', "no thing named 'hut'"),
        ('type = "bus"\ntone = 1', "no type named 'bus'"),
        ('type = "car"\ntone = 9', "tone must be a number from 1 to 4, got 9"),
        ('type = "car"\nshape = "star"', "shape must be box or round, got 'star'"),
        ('type = "car"\ncell = "x"', "cell must be a pattern such as 'pos-{column}-{row}'"),
        ('type = "car"\nhide = "yes"', "hide must be true or false"),
        ('type = "car"\ncolour = 1', "no look of a type named 'colour'"),
        ("tone = 1", "a rule needs either fact"),
    ],
)
def test_a_slip_is_named_with_its_line(tmp_path: Path, rule: str, said: str) -> None:
    rules, findings = drawing(tmp_path, f"# a comment\n\n[[draw]]\n{rule}\n")
    assert rules == []
    assert len(findings) == 1
    assert findings[0].startswith(f"3: {said}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("things = 3", "1: things must be a list of names"),
        ("draw = 3", "1: expected rules as [[draw]] tables"),
        ("rules = []", "1: no entry named 'rules'"),
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, text: str, said: str) -> None:
    assert said in drawing(tmp_path, text)[1]


def test_a_world_with_a_wrong_rule_does_not_pass_its_check(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(find_world("blocksworld"), tmp_path / "blocks"))
    file, domain = folder / "drawing.toml", folder / "domain.pddl"
    file.write_text(file.read_text().replace('"(on ?upper', '"(onto ?upper'))
    (finding,) = check_world(WorldFolder(folder))
    assert finding == f"{file}:4: no predicate named 'onto'; did you mean 'on'?"
    with pytest.raises(DataFileError, match="onto"):
        drawing_of(domain, domain.read_text())
    file.write_text("[[draw")
    (finding,) = check_world(WorldFolder(folder))
    assert "not valid TOML" in finding
    file.unlink()
    assert drawing_of(domain, domain.read_text()) is None
