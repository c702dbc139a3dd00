"""Each lint rule with a model that violates it; a clean model violates none."""

import random
from pathlib import Path

import pytest

from hvr.pddl import parse_domain, parse_problem
from hvr.validation.findings import RULES, Level
from hvr.validation.lint import LintFinding, lint

ROOT = Path(__file__).parents[2]

CLEAN = """
(define (domain house) (:requirements :strips :typing :negative-preconditions)
  (:types room - object thing - object cup plate - thing)
  (:predicates (at ?r - room) (door ?r ?s - room) (in ?t - thing ?r - room) (held ?t - thing))
  (:action go :parameters (?r ?s - room) :precondition (and (at ?r) (door ?r ?s))
    :effect (and (not (at ?r)) (at ?s)))
  (:action take :parameters (?t - thing ?r - room)
    :precondition (and (at ?r) (in ?t ?r) (not (held ?t)))
    :effect (and (held ?t) (not (in ?t ?r)))))
"""
PROBLEM = """
(define (problem fetch) (:domain house) (:objects hall kitchen - room mug - cup)
  (:init (at hall) (door hall kitchen) (in mug kitchen)) (:goal (held mug)))
"""


def about(findings: list[LintFinding], rule: str) -> list[str]:
    return [one.name for one in findings if one.rule == rule]


def lint_domain(old: str, new: str) -> list[LintFinding]:
    assert old in CLEAN
    return lint(parse_domain(CLEAN.replace(old, new, 1)))


def lint_problem(old: str, new: str, domain_text: str = CLEAN) -> list[LintFinding]:
    assert old in PROBLEM
    model = parse_domain(domain_text)
    return lint(model, parse_problem(PROBLEM.replace(old, new, 1), model))


def test_a_clean_model_breaks_no_rule() -> None:
    model = parse_domain(CLEAN)
    assert lint(model) == []
    assert lint(model, parse_problem(PROBLEM, model)) == []


@pytest.mark.parametrize(
    ("old", "new", "rule", "name"),
    [
        ("(held ?t - thing))", "(held ?t - thing) (lost ?t - thing))", "HVR301", "lost"),
        ("(:predicates", "(:functions (weight ?t - thing)) (:predicates", "HVR304", "weight"),
        ("cup plate - thing", "cup plate - thing dragon - object", "HVR305", "dragon"),
        ("(?r ?s - room) :pre", "(?r ?s - room ?t - thing) :pre", "HVR307", "go ?t"),
        (":typing :neg", ":typing :conditional-effects :neg", "HVR308", ":conditional-effects"),
        (" :negative-preconditions", "", "HVR202", ":negative-preconditions"),
        ("(door ?r ?s))\n", "(door ?r ?s) (not (at ?r)))\n", "HVR309", "go"),
        ("(and (not (at ?r)) (at ?s))", "()", "HVR311", "go"),
        ("(and (held ?t) (not", "(and (held ?t) (at ?r) (not", "HVR312", "take"),
        ("(and (not (at ?r)) (at ?s))", "(and (not (at ?r)) (at ?r))", "HVR312", "go"),
    ],
)
def test_rules_about_a_domain(old: str, new: str, rule: str, name: str) -> None:
    assert about(lint_domain(old, new), rule) == [name]


@pytest.mark.parametrize(
    ("old", "new", "rule", "name"),
    [
        ("(in mug kitchen)", "", "HVR302", "in"),
        ("(held mug)", "(at kitchen)", "HVR303", "held"),
        (" (door hall kitchen)", "", "HVR310", "go"),
        ("(held mug)", "(at hall)", "HVR313", "fetch"),
        ("(held mug)", "(door kitchen hall)", "HVR314", "fetch"),
        ("(in mug kitchen)", "", "HVR314", "fetch"),
        ("(held mug)", "(not (door hall kitchen))", "HVR314", "fetch"),
    ],
)
def test_rules_about_a_problem(old: str, new: str, rule: str, name: str) -> None:
    # The door is read, so that its absence is not a fault of the domain.
    text = CLEAN.replace("(at ?r) (in ?t ?r) (not (held ?t))", "(at ?r) (in ?t ?r)")
    assert name in about(lint_problem(old, new, text), rule)


def test_what_another_problem_may_need_is_not_reported() -> None:
    text = CLEAN.replace("(not (held ?t))", "").replace(" :negative-preconditions", "")
    assert lint(parse_domain(text)) == []


def test_an_unused_constant() -> None:
    text = CLEAN.replace("(:predicates", "(:constants spot - dog) (:predicates").replace(
        "cup plate - thing", "cup plate - thing dog - object"
    )
    assert about(lint(parse_domain(text)), "HVR306") == ["spot"]


def test_a_number_without_a_value_and_an_object_without_a_use() -> None:
    text = CLEAN.replace("(:predicates", "(:functions (weight ?t - thing)) (:predicates")
    text = text.replace("(not (held ?t))", "(not (held ?t)) (< (weight ?t) 5)")
    text = text.replace(":strips", ":strips :numeric-fluents")
    text = text.replace("cup plate - thing", "cup plate - thing ghost - object")
    found = lint_problem("mug - cup", "mug - cup casper - ghost", text)
    assert about(found, "HVR315") == ["weight"]
    assert about(found, "HVR316") == ["casper"]


@pytest.mark.parametrize(
    ("literals", "words"),
    [
        ("(at 3 (lit)) (at 3 (lit))", ["listed twice"]),
        ("(at 3 (= (fee) 2)) (at 3.0 (= (fee) 2.0))", ["listed twice"]),
        ("(at 3 (not (lit)))", ["changes nothing"]),
        ("(at 3 (= (fee) 1))", ["changes nothing"]),
        ("(at 4 (not (lit))) (at 3 (lit))", []),
        ("(at 3 (lit)) (at 4 (lit)) (at 5 (not (lit)))", ["changes nothing"]),
        ("(at 0 (lit))", ["contradicts the initial state"]),
        ("(at 0 (= (fee) 2))", ["contradicts the initial state"]),
        ("(at 0 (not (open)))", ["changes nothing"]),
        # An action may have changed the value before.
        ("(at 3 (not (open)))", []),
        ("(at 3 (= (sum) 0))", []),
    ],
)
def test_timed_literals_without_effect(literals: str, words: list[str]) -> None:
    model = parse_domain("""
    (define (domain d) (:requirements :fluents :timed-initial-literals)
      (:predicates (lit) (open)) (:functions (fee) (sum))
      (:action enter :precondition (lit) :effect (and (open) (increase (sum) (fee)))))
    """)
    text = f"(:init (= (fee) 1) (= (sum) 0) {literals}) (:goal (open))"
    problem = parse_problem(f"(define (problem p) (:domain d) {text})", model)
    found = [f.message for f in lint(model, problem) if f.rule == "HVR318"]
    assert len(found) == len(words)
    assert all(word in message for word, message in zip(words, found, strict=True))


def test_conditional_effects_and_rules_that_can_never_be() -> None:
    model = parse_domain("""
    (define (domain d) (:requirements :adl :derived-predicates) (:predicates (p) (q) (r))
      (:derived (r) (and (q) (not (q))))
      (:action a :precondition (p) :effect (when (not (p)) (q))))
    """)
    assert about(lint(model), "HVR309") == ["a", "r"]


def test_durative_actions() -> None:
    model = parse_domain("""
    (define (domain d) (:requirements :durative-actions :negative-preconditions)
      (:predicates (p) (q) (s) (t))
      (:durative-action a :duration (= ?duration 1)
        :condition (and (at start (p)) (at end (not (p))))
        :effect (and (at start (not (p))) (at end (q))))
      (:durative-action b :duration (= ?duration 1)
        :condition (and (at start (p)) (at start (not (p)))) :effect (at end (q)))
      (:durative-action c :duration (= ?duration 1) :condition (over all (s)) :effect (at end (t))))
    """)
    found = lint(model, parse_problem(
        "(define (problem x) (:domain d) (:init (p)) (:goal (and (q) (t))))", model))  # fmt: skip
    assert about(found, "HVR309") == ["b"]
    assert about(found, "HVR310") == ["c"]
    assert about(found, "HVR314") == ["x"]


def test_a_timed_literal_counts_as_reachable() -> None:
    model = parse_domain("""
    (define (domain d) (:requirements :durative-actions :timed-initial-literals)
      (:predicates (open) (done))
      (:durative-action a :duration (= ?duration 1) :condition (over all (open))
        :effect (at end (done))))
    """)
    text = "(define (problem x) (:domain d) (:init (at 5 (open))) (:goal (done)))"
    assert lint(model, parse_problem(text, model)) == []


def test_forall_effects_and_derived_predicates_are_reachable() -> None:
    model = parse_domain("""
    (define (domain d) (:requirements :adl :derived-predicates) (:predicates (p ?x) (q ?x) (all))
      (:derived (all) (forall (?x) (p ?x)))
      (:action a :parameters (?x) :effect (forall (?x) (when (q ?x) (p ?x))))
      (:action b :parameters (?x) :precondition (all) :effect (q ?x)))
    """)
    text = "(define (problem x) (:domain d) (:objects u v) (:init (q u)) (:goal (p u)))"
    found = lint(model, parse_problem(text, model))
    assert not about(found, "HVR310") and not about(found, "HVR314")


def test_numbers_need_a_flag_and_costs_another() -> None:
    costs = CLEAN.replace("(:predicates", "(:functions (total-cost)) (:predicates").replace(
        "(at ?s))", "(at ?s) (increase (total-cost) 1))"
    )
    assert about(lint(parse_domain(costs)), "HVR202") == [":action-costs"]
    more = costs.replace("(increase", "(decrease")
    assert about(lint(parse_domain(more)), "HVR202") == [":numeric-fluents"]
    given = more.replace(":strips", ":strips :fluents")
    assert not about(lint(parse_domain(given)), "HVR202")


@pytest.mark.slow
def test_too_many_instances_are_no_reason_to_wait() -> None:
    text = CLEAN.replace("(?r ?s - room)", "(?r ?s ?a ?b ?c ?d - room)").replace(
        "(door ?r ?s))", "(door ?r ?s) (door ?a ?b) (door ?b ?c) (door ?c ?d))"
    )
    model = parse_domain(text)
    rooms = [f"r{i}" for i in range(60)]
    rng = random.Random(1)
    doors = " ".join(f"(door {rng.choice(rooms)} {rng.choice(rooms)})" for _ in range(1500))
    problem = parse_problem(
        f"(define (problem big) (:domain house) (:objects {' '.join(rooms)} - room m - cup) "
        f"(:init (at r0) {doors}) (:goal (held m)))",
        model,
    )
    found = lint(model, problem)
    assert about(found, "HVR317") == ["big"]
    assert not about(found, "HVR310")


def test_every_rule_has_a_section_on_the_page() -> None:
    page = (ROOT / "docs" / "reference" / "rules.md").read_text(encoding="utf-8")
    ids = [rule.id for rule in RULES.values()]
    assert ids == sorted(set(ids))
    for rule in RULES.values():
        assert f"\n### {rule.id} {rule.name}\n" in page


def test_a_finding_knows_its_rule_and_its_place() -> None:
    (finding,) = lint_domain("(and (not (at ?r)) (at ?s))", "()")
    assert finding.level is Level.WARNING
    assert RULES[finding.rule].name == "empty-effect"
    assert finding.location is not None and finding.location.line == 5
    assert not finding.in_problem


def test_a_constant_of_a_type_that_something_takes_is_usable() -> None:
    text = CLEAN.replace("(:predicates", "(:constants spot - dog) (:predicates").replace(
        "cup plate - thing", "cup plate - thing dog - object"
    )
    for old, new in (
        ("(held ?t - thing))", "(held ?t - thing) (barks ?d - dog))"),
        ("(held ?t)", "(and (held ?t) (forall (?d - dog) (held ?t)))"),
    ):
        model = parse_domain(text.replace(old, new))
        assert about(lint(model), "HVR306") == []
        assert about(lint(model, parse_problem(PROBLEM, model)), "HVR306") == []


@pytest.mark.parametrize("domain", sorted((ROOT / "domains").glob("*/domain.pddl")), ids=str)
def test_the_domains_of_hvr_are_clean(domain: Path) -> None:
    """Their predicates serve all robots, so a predicate unused by one is only a note."""
    findings = lint(parse_domain(domain))
    assert {f.rule for f in findings} <= {"HVR301"}
    assert {f.level for f in findings} <= {Level.NOTE}


def test_unused_declarations_have_the_place_of_their_name() -> None:
    domain = parse_domain(
        "(define (domain d) (:predicates (p)\n (lost ?x)) (:functions\n  (price))\n"
        " (:action a :precondition (p) :effect (not (p))))"
    )
    places = {
        found.name: (found.location.line, found.location.column)
        for found in lint(domain)
        if found.location is not None and found.rule in ("HVR301", "HVR304")
    }
    assert places == {"lost": (2, 3), "price": (3, 4)}
