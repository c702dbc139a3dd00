"""Any text yields a value or a PddlError with a place in the text."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.errors import PddlError
from hvr.pddl import parse_domain, parse_problem, read_plan

DOMAIN = """(define (domain d) (:requirements :adl) (:types a b - c c)
 (:constants k - a) (:predicates (p ?x - c) (q) (r ?x - a)) (:functions (total-cost) - number)
 (:constraints (preference w (always-within 3 (q) (p k))))
 (:derived (r ?x) (or (p ?x) (not (q))))
 (:durative-action n :parameters (?x - a) :duration (and (>= ?duration 1) (at end (<= ?duration 2)))
  :condition (and (at start (p ?x)) (over all (preference v (q))) (at end (< (total-cost) -3.5)))
  :effect (and (at start (not (p ?x))) (when (at start (q)) (at end (assign (total-cost) 1)))))
 (:action m :parameters (?x - a ?y - (either a b))
  :precondition (and (p ?x) (not (= ?x ?y)) (exists (?z - c) (p ?z)))
  :effect (and (when (q) (not (p ?x))) (forall (?z - b) (p ?z)) (increase (total-cost) 2))))"""
PROBLEM = """(define (problem r) (:domain d) (:objects o - a n - b)
 (:init (p o) (q) (= (total-cost) 0) (at 5 (not (q)))) (:goal (and (q) (preference u (p k))))
 (:constraints (hold-during 1 2 (q))) (:metric minimize (+ (total-cost) (is-violated u))))"""
PLAN = "0: (m o n) [1]\n1: (m o o) ; twice\n2.5: n(o) [1/3]\n"

fuzz = settings(max_examples=200, derandomize=True)
scraps = st.sampled_from(
    ["", "(", ")", "()", "?", "-", " - ", ":", "not", "either", "[", "0", "\0", ";", "=", "é", "İ"]
)


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 12)))
        text = text[:start] + draw(scraps) + text[end:]
    return text


def check(error: PddlError, text: str) -> None:
    match = re.match(r"(?s)<\w+>:(\d+):(\d+): ", str(error))
    assert match, str(error)
    lines = text.split("\n")
    line, column = int(match[1]), int(match[2])
    assert 1 <= line <= len(lines)
    assert 1 <= column <= len(lines[line - 1]) + 1


@pytest.mark.slow
@given(damaged(DOMAIN))
@fuzz
def test_damaged_domain(text: str) -> None:
    try:
        parse_domain(text)
    except PddlError as error:
        check(error, text)


@pytest.mark.slow
@given(damaged(PROBLEM))
@fuzz
def test_damaged_problem(text: str) -> None:
    try:
        parse_problem(text, parse_domain(DOMAIN))
    except PddlError as error:
        check(error, text)


@pytest.mark.slow
@given(st.one_of(damaged(PLAN), st.text(max_size=40)))
@fuzz
def test_damaged_plan(text: str) -> None:
    try:
        read_plan(text)
    except PddlError as error:
        check(error, text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff"))


LINE_ENDS = ("\r\n", "\r")


@pytest.mark.slow
@given(damaged(DOMAIN), damaged(PLAN), st.sampled_from(LINE_ENDS))
@fuzz
def test_line_ends_and_a_byte_order_mark_move_nothing(
    tmp_path_factory: pytest.TempPathFactory, domain: str, plan: str, end: str
) -> None:
    """Findings and their places do not depend on line endings."""
    path = tmp_path_factory.getbasetemp() / "text.pddl"
    for text, read in ((domain, parse_domain), (plan, read_plan)):
        said = []
        for data in (text.encode(), b"\xef\xbb\xbf" + text.replace("\n", end).encode()):
            path.write_bytes(data)
            try:
                said.append(repr(read(path)))
            except PddlError as error:
                said.append(str(error))
        assert said[0] == said[1]
