"""The parts of the language server that need no editor: texts, trees, names, formatting."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.doors.lsp.actions import fixes, formatted
from hvr.doors.lsp.completion import describe, proposals
from hvr.doors.lsp.models import Models
from hvr.doors.lsp.symbols import (
    Kind,
    PlanSymbols,
    Role,
    Symbols,
    Tree,
    changed,
    column,
    name_at,
    offset,
    split_lines,
    units,
)
from hvr.pddl import parse_domain
from hvr.pddl.reader import Location
from hvr.validation.findings import Finding
from hvr.validation.lint_files import LintTargets, lint_files

ROOT = Path(__file__).parents[3]
DOMAIN = """(define (domain d)
  (:requirements :strips :typing)
  (:types truck car - vehicle place)
  (:constants home - place)
  (:predicates (at ?v - vehicle ?p - place) (free ?p - place)) ; who stands where
  (:functions (total-cost) (far ?a ?b - place))
  ; Drive anywhere.
  (:action drive
    :parameters (?v - vehicle ?from ?to - place)
    :precondition (and (at ?v ?from) (free ?to))
    :effect (and (at ?v ?to) (not (at ?v ?from)) (not (free ?to)) (free ?from)
                 (increase (total-cost) (* 2 (far ?from ?to)))))
)
"""
PROBLEM = """(define (problem p) (:domain d)
  (:objects t - truck c - car shop - place)
  (:init (at t home) (free shop))
  (:goal (at t shop)))
"""
PLAN = "(drive t home shop)\n"
_PIECES = st.lists(
    st.sampled_from(
        "( ) (define (domain ; :action :parameters ?x - not and forall when at start (at 5 = = 3 "
        "(:init (:predicates\n \n \r\n \r preference :htn :subtasks t1 𝔸 é \x0c \u2028 over".split(
            " "
        )
    ),
    max_size=40,
).map(" ".join)


@pytest.fixture
def models(tmp_path: Path) -> Models:
    found = Models([str(tmp_path)])
    for name, text in (("d.pddl", DOMAIN), ("p.pddl", PROBLEM), ("p.plan", PLAN)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        found.texts[str(tmp_path / name)] = text
    return found


def file(models: Models, name: str) -> str:
    return next(path for path in models.texts if path.endswith(name))


def spot(text: str, words: str, inside: str = "") -> tuple[int, int]:
    """Return line and column of the end of `inside` within the first occurrence of some words."""
    place = text.index(words) + (words.index(inside) + len(inside) if inside else len(words))
    before = text[:place].split("\n")
    return len(before) - 1, len(before[-1])


# Texts --------------------------------------------------------------------------------------------


@given(_PIECES, st.sampled_from(["utf-8", "utf-16", "utf-32"]), st.data())
def test_a_change_by_positions_is_a_change_by_offsets(
    text: str, encoding: str, data: st.DataObject
) -> None:
    one, two = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    # No position of the protocol is between the two characters of a line end.
    if any(text[at - 1 : at + 1] == "\r\n" for at in (one, two)):
        return

    def position(at: int) -> tuple[int, int]:
        lines = split_lines(text[:at])
        return len(lines) - 1, units(lines[-1], encoding)

    expected = text[:one] + "new" + text[two:]
    assert changed(text, position(one), position(two), "new", encoding) == expected


def test_positions_behind_a_line_or_a_text_are_its_end() -> None:
    assert offset("ab\ncd", 0, 9, "utf-16") == 2
    assert offset("ab\ncd", 7, 0, "utf-16") == 5
    assert column("a𝔸b", 3, "utf-16") == 2


@given(_PIECES)
def test_any_text_has_names_in_their_places(text: str) -> None:
    for names in (Symbols(Tree(text)), PlanSymbols(Tree(text))):
        for one in names.occurrences:
            line = names.tree.lines[one.line]
            assert line[one.start : one.end].lower() == one.name
            assert name_at(names, one.line, one.start) is not None


def test_a_deeply_nested_text_has_names() -> None:
    Symbols(Tree("(define (domain d) (:action a :effect " + "(and " * 20_000))


@given(_PIECES)
def test_formatting_keeps_every_word_and_comment_and_is_stable(text: str) -> None:
    once = formatted(text)
    assert formatted(once) == once
    assert [re.sub(r"\s+", "", line) for line in split_lines(once) if line.strip()] == [
        re.sub(r"\s+", "", line) for line in split_lines(text) if line.strip()
    ]


def test_formatting_does_not_change_what_a_domain_means() -> None:
    for path in sorted((ROOT / "domains").rglob("*.pddl")):
        text = path.read_text(encoding="utf-8")
        new = formatted(text)
        assert _meaning(new) == _meaning(text)


def _meaning(text: str) -> str:
    found = parse_domain(text)
    return re.sub(r"Location\([^)]*\)", "", repr(found)) if found else ""


# Names --------------------------------------------------------------------------------------------


def test_names_are_found_across_domain_problem_and_plan(models: Models) -> None:
    domain, problem, plan = (file(models, name) for name in ("d.pddl", "p.pddl", "p.plan"))
    at = name_at(models.names(problem), *spot(PROBLEM, "(at"))
    assert at is not None
    assert at.kind is Kind.RELATION
    where = models.declaration(problem, at)
    assert where is not None
    assert where[0] == domain
    roles = [(Path(f).name, one.role) for f, one in models.places(problem, at)]
    assert roles.count(("d.pddl", Role.ADDED)) == roles.count(("d.pddl", Role.DELETED)) == 1
    truck = name_at(models.names(plan), 0, 8)
    assert truck is not None
    assert [Path(f).name for f, _ in models.places(plan, truck)] == ["p.pddl"] * 3 + ["p.plan"]


def test_variables_belong_to_their_action(models: Models) -> None:
    domain = file(models, "d.pddl")
    variable = name_at(models.names(domain), *spot(DOMAIN, "(at ?v ?from)", "?v"))
    assert variable is not None
    lines = {one.line for _, one in models.places(domain, variable)}
    assert min(lines) >= DOMAIN[: DOMAIN.index("(:action")].count("\n")


def test_hover_tells_who_changes_a_predicate_and_what_an_action_costs(models: Models) -> None:
    domain = file(models, "d.pddl")
    names = models.names(domain)
    free = name_at(names, *spot(DOMAIN, "(free"))
    assert free is not None
    text = describe(models, domain, free)
    assert "(free ?p - place)" in text
    assert "Added by: `drive`" in text
    assert "Read by: `drive`" in text
    drive = name_at(names, *spot(DOMAIN, "drive"))
    assert drive is not None
    text = describe(models, domain, drive)
    assert "Drive anywhere" in text
    assert "Cost: `(* 2 (far ?from ?to))`" in text


def test_completion_puts_the_expected_type_first(models: Models) -> None:
    domain, problem, plan = (file(models, name) for name in ("d.pddl", "p.pddl", "p.plan"))

    def names(path: str, place: tuple[int, int], rank: int = 0) -> list[str]:
        return [one.name for one in proposals(models, path, *place) if one.rank == rank]

    assert names(domain, spot(DOMAIN, "(and (at ", "(at ")) == ["?v"]
    assert names(problem, spot(PROBLEM, "(at t ")) == ["home", "shop"]
    assert names(plan, (0, len("(drive "))) == ["t", "c"]
    assert "drive" in names(plan, (0, 1))
    assert "place" in names(domain, spot(DOMAIN, "?p - "))
    assert ":goal" not in names(domain, (11, 1))
    assert ":numeric-fluents" in names(domain, spot(DOMAIN, ":typing"))


# Fixes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["HVR202", "HVR301", "HVR305", "HVR308"])
def test_the_fix_of_a_finding_removes_it(tmp_path: Path, rule: str) -> None:
    flags = "(:requirements :conditional-effects :strips :typing)"
    text = DOMAIN.replace("(:requirements :strips :typing)", flags)
    text = text.replace("(free ?p - place))", "(free ?p - place) (odd))")
    text = text.replace("place)\n", "place ship)\n", 1)
    path = str(tmp_path / "d.pddl")
    models = Models()
    models.texts[path] = text
    one = next(found for found in _lint(path, text) if found.rule.id == rule)
    place = one.location or Location(path, 1, 1)
    where = place.line - 1, place.column - 1
    fix = next(iter(fixes(models, path, rule, one.message, *where, one.subject)))
    for edit in fix.edits:
        text = changed(text, edit[:2], (edit.end_line, edit.end), edit.text, "utf-32")
    assert one.message not in [found.message for found in _lint(path, text)]


def _lint(path: str, text: str) -> list[Finding]:
    return lint_files(LintTargets(((path, None),)), texts={path: text})
