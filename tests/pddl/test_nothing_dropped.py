"""A text with slips is either refused or read completely, with a warning for each slip."""

from collections.abc import Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hvr.errors import PddlError, PddlSyntaxError
from hvr.pddl import (
    And,
    Atom,
    Diagnostic,
    Expression,
    Step,
    TimedAction,
    parse_domain,
    parse_formula,
    parse_problem,
    read_plan,
)
from hvr.validation.extraction import extract
from hvr.validation.extraction.lines import KnownSymbols

many = settings(max_examples=150, deadline=None)

NAMES = ["go", "take", "fly", "a", "b", "c", "box-1", "12"]
GAPS = ["\n", "  \n\n", " ", "\t; a comment (go b)\n", " ;)\n"]
SLIPS = [
    ")",
    "))",
    "\0",
    "and then",
    "go b",
    "go",
    "(",
    "[1]",
    "```",
    ";",
    "1",
    "2:",
    ",",
    "- ",
    "'",
]
ACTIONS = ("go", "take")


def steps_of(read: Sequence[Step]) -> list[tuple[str, ...]]:
    actions = [step.action if isinstance(step, TimedAction) else step for step in read]
    return [(action.name, *action.args) for action in actions]


step = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).filter(lambda s: not s[0].isdigit())
WAYS = [
    "({name} {args})",
    "( {upper}\t)",
    "{name}({listed})",
    "{number}: ({name} {args})",
    "{number}.5: ({name} {args}) [2.0]",
    "{number}.0003:   ({upper}) [1.0000])",
    "{number}. {name}({listed})",
]


def written(way: str, number: int, words: list[str]) -> str:
    """Return a step in one of the formats of plans."""
    name, *args = words
    upper = " ".join(words).upper()
    return way.format(
        number=number, name=name, args=" ".join(args), listed=", ".join(args), upper=upper
    )


@st.composite
def plans(draw: st.DrawFn) -> tuple[str, list[tuple[str, ...]], int]:
    """Draw a text with random slips, its steps, and the number of stray `)`."""
    steps = draw(st.lists(step, min_size=1, max_size=5))
    way = draw(st.sampled_from(WAYS))
    parts: list[str] = []
    slips = 0
    for number, words in enumerate(steps):
        if draw(st.integers(0, 3)) == 0:
            parts.append(f" {(slip := draw(st.sampled_from(SLIPS)))} ")
            slips += slip.count(")")
        parts.append(written(way, number, words))
        if draw(st.integers(0, 3)) == 0:
            parts.append(f" {(slip := draw(st.sampled_from(SLIPS)))} ")
            slips += slip.count(")")
        parts.append(draw(st.sampled_from(GAPS)))
    return "".join(parts), [tuple(words) for words in steps], slips


@pytest.mark.slow
@many
@given(plans(), st.booleans())
def test_all_steps_of_a_plan_are_read(
    plan: tuple[str, list[tuple[str, ...]], int], lenient: bool
) -> None:
    text, steps, slips = plan
    try:
        read = read_plan(text, lenient=lenient)
    except PddlSyntaxError:
        return
    if ";" in text.split():
        return  # a comment hides the rest of its line
    assert steps_of(read.steps) == steps
    if lenient:
        surplus = [w for w in read.warnings if "')' too many" in w.message]
        assert len(surplus) == slips


@pytest.mark.slow
@many
@given(plans(), st.booleans())
def test_all_steps_of_a_plan_in_a_text_are_read(
    plan: tuple[str, list[tuple[str, ...]], int], asked: bool
) -> None:
    text, steps, _ = plan
    if ";" in text:
        return
    try:
        found = extract(text, "text", KnownSymbols(ACTIONS), unmarked=asked)
        read = [] if found is None else steps_of(read_plan(found.text).steps)
    except PddlSyntaxError:
        return
    if found is None:
        return
    # Text that neither begins with an action nor looks like a step may be prose.
    assert [one for one in read if one[0] in ACTIONS] == [one for one in steps if one[0] in ACTIONS]


PREDICATES = "(:predicates (p) (q) (r ?x) (s ?x ?y))"
ACTION_TEXTS = {
    "go": "(:action go :parameters (?x) :precondition (and (p) (r ?x)) :effect (not (p)))",
    "take": "(:action take :parameters (?x ?y) :precondition (s ?x ?y) :effect (and (q)))",
    "wait": "(:action wait :effect (p))",
}
LITERALS = ["(p)", "(q)", "(r a)", "(r b)", "(s a b)", "(s b b)"]
MODEL_SLIPS = [
    ")",
    "))",
    "\0",
    "x",
    "(",
    "()",
    "(p)",
    "; so\n",
    "(:goal (q))",
    "(:init (r b))",
    ";)\n",
]


@st.composite
def with_slips(draw: st.DrawFn, tokens: list[str]) -> str:
    """Insert slips between the words and parentheses of a text."""
    for _ in range(draw(st.integers(0, 3))):
        tokens.insert(draw(st.integers(0, len(tokens))), draw(st.sampled_from(MODEL_SLIPS)))
    return " ".join(tokens)


def split(text: str) -> list[str]:
    return text.replace("(", " ( ").replace(")", " ) ").split()


def _without_p(effect: Expression) -> Expression:
    """Leave `(p)` out of a conjunction, where it is a slip and still well-formed."""
    if not isinstance(effect, And):
        return effect
    return And(tuple(part for part in effect.operands if part != Atom("p")))


@pytest.mark.slow
@many
@given(st.data(), st.booleans())
def test_all_actions_of_a_domain_are_read(data: st.DataObject, lenient: bool) -> None:
    names = data.draw(st.lists(st.sampled_from(sorted(ACTION_TEXTS)), max_size=4))
    sections = [PREDICATES, *(ACTION_TEXTS[name] for name in names)]
    clean = f"(define (domain d) {' '.join(sections)})"
    text = data.draw(with_slips(split(clean)))
    # Empty parentheses are an empty effect: nothing is dropped.
    assume("()" not in text.replace(" ", ""))
    whole = parse_domain(
        f"(define (domain d) {PREDICATES} {' '.join(ACTION_TEXTS[name] for name in set(names))})"
    )
    warnings: list[Diagnostic] = []
    try:
        domain = parse_domain(text, lenient=lenient, warnings=warnings)
    except PddlError:
        return
    assert domain.predicates == whole.predicates
    assert {name: _without_p(action.effect) for name, action in domain.actions.items()} == {
        name: _without_p(action.effect) for name, action in whole.actions.items()
    }
    if text.count("(") != text.count(")") and ";" not in text:
        assert any("too many" in w.message for w in warnings)


@pytest.mark.slow
@many
@given(st.data(), st.booleans())
def test_all_facts_and_goals_of_a_problem_are_read(data: st.DataObject, lenient: bool) -> None:
    domain = parse_domain(f"(define (domain d) {PREDICATES})")
    facts = data.draw(st.lists(st.sampled_from(LITERALS), max_size=4))
    goals = data.draw(st.lists(st.sampled_from(LITERALS), min_size=1, max_size=3))
    goal = f"(and {' '.join(goals)})"
    clean = (
        f"(define (problem x) (:domain d) (:objects a b) (:init {' '.join(facts)}) (:goal {goal}))"
    )
    text = data.draw(with_slips(split(clean)))
    objects = parse_problem(clean, domain).objects
    warnings: list[Diagnostic] = []
    try:
        problem = parse_problem(text, domain, lenient=lenient, warnings=warnings)
    except PddlError:
        return
    said = {str(atom) for atom in problem.init}
    assert said - {"(p)"} == set(facts) - {"(p)"}
    assert "(p)" in said or "(p)" not in facts
    wanted = parse_formula(goal, domain, objects)
    assert isinstance(problem.goal, And)
    assert isinstance(wanted, And)
    left = [part for part in problem.goal.operands if part in wanted.operands]
    assert left[: len(goals)] == list(wanted.operands) or set(map(str, left)) == set(goals)
    if text.count("(") != text.count(")") and ";" not in text:
        assert any("too many" in w.message for w in warnings)
