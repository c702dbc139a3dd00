"""Parsing, and the messages about texts that cannot be parsed."""

import codecs
import pickle
from decimal import Decimal
from pathlib import Path

import pytest

from hvr.errors import DataFileError, HvrError, PddlSemanticError, PddlSyntaxError
from hvr.pddl import (
    TRUE,
    And,
    Arithmetic,
    Atom,
    Comparison,
    Domain,
    Duration,
    Equal,
    Exists,
    Forall,
    FunctionTerm,
    GroundAction,
    Imply,
    Not,
    Number,
    NumericEffect,
    Or,
    Preference,
    Task,
    Timed,
    TimedInitial,
    Trajectory,
    TypedName,
    UnsupportedPddlError,
    When,
    holds,
    parse_domain,
    parse_formula,
    parse_problem,
    print_formula,
)
from hvr.pddl.reader import MAX_NESTING
from hvr.validation import Validator

DOMAIN = """
(define (domain Kitchen) ; names are case-insensitive
  (:requirements :adl :action-costs)
  (:types mug apple - item item shelf - object)
  (:constants Sink - shelf)
  (:predicates (on ?i - item ?s - shelf) (holding ?i - (either mug apple)) (free) (clean ?m - mug))
  (:functions (total-cost) - number (weight ?i - item) (far ?a ?b - shelf) - number)
  (:action pick
    :parameters (?i - item ?s - shelf)
    :precondition (and (free) (on ?i ?s) (or (not (= ?s SINK)) (exists (?m - mug) (clean ?m))))
    :effect (and (not (free)) (not (on ?i ?s))
      (increase (total-cost) (+ 1 (weight ?i)))))
  (:action wash :effect (forall (?m - mug) (when (on ?m sink) (clean ?m)))))
"""
PROBLEM = """
(define (problem p) (:domain kitchen)
  (:objects m1 m2 - mug a1 - apple s1 - shelf o1)
  (:init (free) (on m1 s1) (not (clean m1)) (= (total-cost) 0) (= (weight m1) 2.50))
  (:goal (imply (free) (forall (?m - mug) (clean ?m))))
  (:metric minimize (+ (* 2 (total-cost)) (total-cost))))
"""


@pytest.fixture(scope="module")
def kitchen() -> Domain:
    return parse_domain(DOMAIN)


def test_domain_is_read(kitchen: Domain) -> None:
    assert kitchen.name == "kitchen"
    assert kitchen.requirements == {":adl", ":action-costs"}
    assert kitchen.types["mug"] == ("item",)
    assert kitchen.types["item"] == kitchen.types["shelf"] == ("object",)
    assert kitchen.constants == (TypedName("sink", ("shelf",)),)
    assert kitchen.predicates["holding"].parameters[0].types == ("mug", "apple")
    assert list(kitchen.functions) == ["total-cost", "weight", "far"]
    pick, wash = kitchen.actions["pick"], kitchen.actions["wash"]
    assert pick.precondition == And(
        (
            Atom("free"),
            Atom("on", ("?i", "?s")),
            Or(
                (
                    Not(Equal("?s", "sink")),
                    Exists((TypedName("?m", ("mug",)),), Atom("clean", ("?m",))),
                )
            ),
        )
    )
    assert isinstance(pick.effect, And)
    assert pick.effect.operands[2] == NumericEffect(
        "increase",
        FunctionTerm("total-cost"),
        Arithmetic("+", (Number(Decimal(1)), FunctionTerm("weight", ("?i",)))),
    )
    assert wash.parameters == ()
    assert wash.precondition == TRUE
    assert isinstance(wash.effect, Forall)
    assert isinstance(wash.effect.body, When)
    assert str(pick.location) == "<domain>:8:12"


def test_problem_is_read(kitchen: Domain) -> None:
    problem = parse_problem(PROBLEM, kitchen)
    assert [o.name for o in problem.objects] == ["m1", "m2", "a1", "s1", "o1"]
    assert problem.init == {Atom("free"), Atom("on", ("m1", "s1"))}
    assert problem.numeric_init[FunctionTerm("weight", ("m1",))] == Decimal("2.5")
    assert isinstance(problem.goal, Imply)
    assert problem.metric is not None
    assert str(problem.metric) == "(:metric minimize (+ (* 2 (total-cost)) (total-cost)))"


def test_type_relations(kitchen: Domain) -> None:
    assert kitchen.is_subtype("mug", "item")
    assert kitchen.is_subtype("mug", "object")
    assert not kitchen.is_subtype("item", "mug")
    assert not kitchen.is_subtype("mug", "apple")
    assert kitchen.fits(("mug", "apple"), ("item",))
    assert not kitchen.fits(("mug", "shelf"), ("item",))
    assert kitchen.has_type(("mug", "shelf"), ("item",))


def test_an_undeclared_supertype_is_declared_by_its_use() -> None:
    domain = parse_domain("(define (domain d) (:types a b - c) (:predicates (p ?x - c)))")
    assert domain.types == {"a": ("c",), "b": ("c",), "c": ("object",)}


def test_sections_may_come_in_any_order() -> None:
    text = (
        "(define (domain d) (:action a :parameters (?x - t) :effect (p ?x))"
        " (:predicates (p ?x - t)) (:types t))"
    )
    assert "a" in parse_domain(text).actions


@pytest.mark.parametrize(
    "text",
    [
        "(free)",
        "()",
        "(and)",
        "(forall (?x - mug ?y) (not (= ?x ?y)))",
        "(exists (?x - mug) (exists (?x - apple) (holding ?x)))",
        "  (holding\tM1)\r\n; the end",
    ],
)
def test_formula_alone(kitchen: Domain, text: str) -> None:
    formula = parse_formula(text, kitchen, parse_problem(PROBLEM, kitchen).objects)
    assert parse_formula(str(formula), kitchen, parse_problem(PROBLEM, kitchen).objects) == formula


@pytest.mark.parametrize(
    "data",
    [
        DOMAIN.encode(),
        codecs.BOM_UTF8 + DOMAIN.encode(),
        DOMAIN.encode("utf-16"),
        codecs.BOM_UTF16_BE + DOMAIN.encode("utf-16-be"),
        DOMAIN.replace("; names", "; Küche, names").encode("latin-1"),
        DOMAIN.replace("\n", "\r\n").encode(),
        DOMAIN.replace("\n", "\r").encode(),
    ],
    ids=["utf-8", "utf-8-bom", "utf-16-le", "utf-16-be", "latin-1", "crlf", "cr"],
)
def test_encodings_and_line_ends(tmp_path: Path, kitchen: Domain, data: bytes) -> None:
    path = tmp_path / "domain.pddl"
    path.write_bytes(data)
    domain = parse_domain(path)
    assert domain == kitchen
    assert str(domain.actions["pick"].location) == f"{path}:8:12"


# --- errors -----------------------------------------------------------------------------------

SYNTAX, SEMANTIC, UNSUPPORTED = PddlSyntaxError, PddlSemanticError, UnsupportedPddlError


def domain_text(body: str) -> str:
    return f"(define (domain d) (:types t u - v w)\n(:predicates (p) (q ?x - t))\n{body}\n)"


def durative_text(fields: str) -> str:
    return domain_text(f"(:durative-action a {fields})")


def action_text(fields: str) -> str:
    return domain_text(f"(:action a :parameters (?x - t ?y - u) {fields})")


BAD_DOMAINS = [
    # text, error, line:column, words of the message
    ("", SYNTAX, "1:1", ["this text has no domain", "(define (domain name)"]),
    ("; nothing", SYNTAX, "1:1", ["this text has no domain"]),
    ("\0", SYNTAX, "1:1", ["NUL"]),
    ("hello", SYNTAX, "1:1", ["this must be a list", "'hello'"]),
    ("()", SYNTAX, "1:1", ["empty list"]),
    ("(define)", SYNTAX, "1:1", ["no name"]),
    ("(defin (domain d))", SYNTAX, "1:1", ["not a domain"]),
    ("(define (domain))", SYNTAX, "1:9", ["one name"]),
    ("(define (problem p))", SYNTAX, "1:9", ["this is a problem, but a domain is needed"]),
    ("(define (domain d)", SYNTAX, "1:19", ["the text ends", "<domain>:1:1"]),
    ("(define (domain d)))", SYNTAX, "1:20", ["one ')' too many"]),
    ("(define (domain d)) (p)", SYNTAX, "1:21", ["text after the end"]),
    ("(define (domain d) p)", SYNTAX, "1:20", ["this must be a list"]),
    ("(define (domain d) (:typs))", SEMANTIC, "1:21", ["':typs'", "did you mean ':types'"]),
    ("(define (domain d) (:types a) (:types b))", SEMANTIC, "1:32", ["a second :types"]),
    (
        "(define (domain d)\n(:types a\n(:predicates (p)))",
        SYNTAX,
        "3:1",
        ["a ')' is missing before '(:predicates'", "<domain>:2:1"],
    ),
    ("(define (domain d) (:types a - b b - a))", SEMANTIC, "1:28", ["its own supertype"]),
    ("(define (domain d) (:types a - a))", SEMANTIC, "1:28", ["its own supertype"]),
    ("(define (domain d) (:types object - a))", SEMANTIC, "1:28", ["root of all types"]),
    ("(define (domain d) (:types a -))", SYNTAX, "1:30", ["missing"]),
    ("(define (domain d) (:types - a))", SYNTAX, "1:28", ["without a name"]),
    ("(define (domain d) (:types a - (b)))", SYNTAX, "1:33", ["(either"]),
    ("(define (domain d) (:types _a))", SYNTAX, "1:28", ["a letter"]),
    ("(define (domain d) (:types and))", SYNTAX, "1:28", ["is a reserved word"]),
    (domain_text("(:constants c - tt)"), SEMANTIC, "3:17", ["'tt' is not declared", "one of"]),
    (domain_text("(:functions (f) - t)"), UNSUPPORTED, "3:19", ["object fluents"]),
    (domain_text("(:functions (f) (f))"), SEMANTIC, "3:18", ["declared twice"]),
    (domain_text("(:functions (p))"), SEMANTIC, "3:14", ["already a predicate"]),
    (domain_text("(:predicates (r))"), SEMANTIC, "3:2", ["a second :predicates"]),
    ("(define (domain d) (:predicates (p) (p ?x)))", SEMANTIC, "1:38", ["declared twice"]),
    ("(define (domain d) (:predicates (p x)))", SYNTAX, "1:36", ["variable"]),
    (domain_text("(:durative-action a)"), SYNTAX, "3:19", ["without a :duration"]),
    (durative_text(":duration (p)"), SYNTAX, "3:32", ["does not constrain the duration"]),
    (durative_text(":duration () :condition (p)"), SYNTAX, "3:45", ["without a time"]),
    (durative_text(":duration () :effect (p)"), SYNTAX, "3:42", ["without a time"]),
    (durative_text(":duration () :effect (over all (p))"), SYNTAX, "3:42", ["without a time"]),
    (
        durative_text(":duration () :effect (increase (f) (* #t 1))"),
        SEMANTIC,
        "3:53",
        ["'f' is not declared"],
    ),
    (
        durative_text(":duration () :effect (increase (f) (* #t #t))"),
        SYNTAX,
        "3:56",
        ["not a multiple of #t"],
    ),
    (durative_text(":duration () :effect (increase (f) 2)"), SYNTAX, "3:56", ["without #t"]),
    (durative_text(":duration () :effect (assign (f) #t)"), SYNTAX, "3:42", ["not a continuous"]),
    (domain_text("(:action a :effect (increase (f) #t))"), SEMANTIC, "3:31", ["'f' is not"]),
    (domain_text("(:derived (q ?x))"), SYNTAX, "3:1", ["a predicate and a formula"]),
    (domain_text("(:derived (p) (q))"), SEMANTIC, "3:15", ["takes 1 argument, not 0"]),
    (domain_text("(:derived (p ?x) (p))"), SEMANTIC, "3:11", ["takes 1 argument"]),
    (domain_text("(:derived (r) (p))"), SEMANTIC, "3:12", ["'r' is not declared"]),
    (domain_text("(:derived (p) (not (p)))"), SEMANTIC, "3:12", ["its own negation"]),
    (
        domain_text("(:derived (p) (exists (?x - t) (q ?x))) (:derived (q ?x) (not (p)))"),
        SEMANTIC,
        "3:52",
        ["'q' depends on its own negation"],
    ),
    (
        domain_text("(:derived (p) ()) (:action a :effect (p))"),
        SEMANTIC,
        "3:38",
        ["derived by a rule, and no action can change it"],
    ),
    (domain_text("(:constraints (p))"), SYNTAX, "3:16", ["not a trajectory constraint"]),
    (domain_text("(:constraints (within (p)))"), SYNTAX, "3:15", ["takes 2 arguments, not 1"]),
    (
        domain_text("(:constraints (always (sometime (p))))"),
        UNSUPPORTED,
        "3:24",
        ["constraints inside constraints"],
    ),
    (domain_text("(:process)"), SYNTAX, "3:1", ["a process without a name"]),
    (domain_text("(:event e :condition (p))"), SYNTAX, "3:11", ["an event has no field"]),
    (domain_text("(:process e :effect (p))"), SYNTAX, "3:21", ["not a continuous effect"]),
    (domain_text("(:event e) (:event e)"), SEMANTIC, "3:20", ["the event 'e' is defined twice"]),
    (domain_text("(:action)"), SYNTAX, "3:1", ["without a name"]),
    (domain_text("(:action a) (:action a)"), SEMANTIC, "3:22", ["defined twice"]),
    (domain_text("(:action _a)"), SYNTAX, "3:10", ["'_a'"]),
    (action_text(":effect"), SYNTAX, "3:40", ["without a value"]),
    (action_text(":effects (p)"), SYNTAX, "3:40", ["no field ':effects'"]),
    (action_text(":effect (p) :effect (p)"), SEMANTIC, "3:52", ["a second :effect"]),
    (action_text(":effect (p) :precondition (p)"), SEMANTIC, "3:52", ["in the order"]),
    (domain_text("(:action a :parameters (?x ?x))"), SEMANTIC, "3:28", ["'?x' is declared twice"]),
    (
        action_text(":effect (r)"),
        SEMANTIC,
        "3:49",
        ["predicate 'r' is not declared", "in: action a, :effect"],
    ),
    (action_text(":effect (q)"), SEMANTIC, "3:48", ["takes 1 argument, not 0", "(q ?x - t)"]),
    (action_text(":effect (q ?x ?x)"), SEMANTIC, "3:48", ["takes 1 argument, not 2"]),
    (
        action_text(":effect (q ?y)"),
        SEMANTIC,
        "3:51",
        ["wrong type", "'?y' is of type u", "expected: type t"],
    ),
    (action_text(":effect (q ?z)"), SEMANTIC, "3:51", ["'?z' is not declared"]),
    (action_text(":effect (q c)"), SEMANTIC, "3:51", ["object 'c' is not declared"]),
    (action_text(":effect (q (p))"), SYNTAX, "3:51", ["not a list"]),
    (action_text(":effect (?p)"), SYNTAX, "3:49", ["cannot be a predicate"]),
    (action_text(":effect (not (not (p)))"), SYNTAX, "3:54", ["can be deleted"]),
    (action_text(":effect (not (= ?x ?y))"), SYNTAX, "3:54", ["can be deleted"]),
    (action_text(":effect (and (p) (not (= ?x ?y)))"), SYNTAX, "3:63", ["can be deleted"]),
    (action_text(":effect (when (p) (not (= ?x ?y)))"), SYNTAX, "3:64", ["can be deleted"]),
    (action_text(":effect (or (p) (p))"), SYNTAX, "3:49", ["cannot be an effect"]),
    (action_text(":effect (when (p))"), SYNTAX, "3:48", ["takes 2 arguments, not 1"]),
    (action_text(":effect p"), SYNTAX, "3:48", ["this must be a list"]),
    (action_text(":effect (assign (f) 1)"), SEMANTIC, "3:57", ["function 'f' is not declared"]),
    (action_text(":effect (assign (p) 1)"), SEMANTIC, "3:57", ["function 'p' is not declared"]),
    (action_text(":effect (increase (f) 1)"), SEMANTIC, "3:59", ["function 'f' is not declared"]),
    (action_text(":precondition (> (f) 1)"), SEMANTIC, "3:58", ["function 'f'"]),
    (action_text(":precondition (= (f) 1)"), SEMANTIC, "3:58", ["function 'f'"]),
    (action_text(":precondition (> 1 ?duration)"), SYNTAX, "3:59", ["not a number"]),
    (
        action_text(":precondition (or (preference a (p)))"),
        SYNTAX,
        "3:59",
        ["a preference is not allowed here"],
    ),
    (
        action_text(":precondition (preference a (preference b (p)))"),
        SYNTAX,
        "3:68",
        ["a preference inside a preference"],
    ),
    (action_text(":precondition (always (p))"), SYNTAX, "3:55", ["is not allowed here"]),
    (action_text(":precondition (not)"), SYNTAX, "3:54", ["'not' takes 1 argument, not 0"]),
    (action_text(":precondition (imply (p))"), SYNTAX, "3:54", ["takes 2 arguments"]),
    (action_text(":precondition (forall ?z (p))"), SYNTAX, "3:62", ["a list of variables"]),
    (action_text(":precondition (forall (z) (p))"), SYNTAX, "3:63", ["variable"]),
    (action_text(":precondition (forall (?z - s) (p))"), SEMANTIC, "3:68", ["type 's'"]),
    (action_text(":precondition (= ?x ?z)"), SEMANTIC, "3:60", ["'?z' is not declared"]),
]


@pytest.mark.parametrize(("text", "error", "place", "words"), BAD_DOMAINS)
def test_bad_domains(text: str, error: type[HvrError], place: str, words: list[str]) -> None:
    with pytest.raises(error) as caught:
        parse_domain(text)
    message = str(caught.value)
    assert message.startswith(f"<domain>:{place}: "), message
    for word in words:
        assert word in message
    assert isinstance(caught.value, UnsupportedPddlError) == (error is UnsupportedPddlError)


def problem_text(*, init: str = "", goal: str = "(free)", more: str = "") -> str:
    return (
        "(define (problem p) (:domain kitchen) (:objects m1 - mug s1 - shelf o1)\n"
        f"(:init {init})\n(:goal {goal})\n{more})"
    )


BAD_PROBLEMS = [
    ("", SYNTAX, "1:1", ["this text has no problem"]),
    ("(define (domain d))", SYNTAX, "1:9", ["a domain, but a problem is needed"]),
    ("(define (problem p) (:init) (:goal ()))", SEMANTIC, "1:18", ["no :domain"]),
    ("(define (problem p) (:domain kitchen) (:goal ()))", SYNTAX, "1:18", ["no :init"]),
    ("(define (problem p) (:domain kitchen) (:init))", SEMANTIC, "1:18", ["no :goal"]),
    (problem_text(more="(:goal (free))"), SEMANTIC, "4:2", ["a second :goal"]),
    (problem_text(more="(:objects a)"), SEMANTIC, "4:2", ["a second :objects"]),
    (problem_text(goal="(free) (free)"), SYNTAX, "3:1", ["one formula", "(and …)"]),
    (problem_text(goal="(on m1 s1) )"), SYNTAX, "4:1", ["too many"]),
    (
        problem_text(goal="(clean s1)"),
        SEMANTIC,
        "3:15",
        ["wrong type", "'s1' is of type shelf", "in: :goal"],
    ),
    (problem_text(goal="(clean o1)"), SEMANTIC, "3:15", ["wrong type", "'o1' is of type object"]),
    (problem_text(goal="(clean ?x)"), SEMANTIC, "3:15", ["'?x' is not declared"]),
    (
        problem_text(init="(clen m1)"),
        SEMANTIC,
        "2:9",
        ["did you mean 'clean'?", "    (:init (clen m1))\n            ^"],
    ),
    (problem_text(init="(clean m2)"), SEMANTIC, "2:15", ["object 'm2' is not declared"]),
    (problem_text(init="free"), SYNTAX, "2:8", ["a fact"]),
    (problem_text(init="(and (free))"), SYNTAX, "2:8", ["is not a fact"]),
    (problem_text(init="(weight m1)"), SEMANTIC, "2:9", ["numeric function, not a predicate"]),
    (problem_text(init="(= (weight m1) x)"), SYNTAX, "2:23", ["not a number"]),
    (problem_text(init="(= (weight m1))"), SYNTAX, "2:8", ["2 arguments"]),
    (problem_text(init="(= (wait m1) 1)"), SEMANTIC, "2:12", ["function 'wait'"]),
    (problem_text(init="(= (weight m1) 1) (= (weight m1) 2)"), SEMANTIC, "2:26", ["second value"]),
    (problem_text(init="(free) (not (free))"), SEMANTIC, "2:15", ["both true and false"]),
    (
        problem_text(init="(at 2 (free)) (at 2.0 (not (free)))"),
        SEMANTIC,
        "2:22",
        ["(free) becomes both true and false at 2.0"],
    ),
    (
        problem_text(init="(at 2 (= (weight m1) 1)) (at 2 (= (weight m1) 2))"),
        SEMANTIC,
        "2:33",
        ["(weight m1) is given a second value at 2"],
    ),
    (problem_text(init="(at -1 (free))"), SEMANTIC, "2:8", ["cannot precede time 0"]),
    (problem_text(init="(at 5 (fre))"), SEMANTIC, "2:15", ["did you mean 'free'?"]),
    (problem_text(init="(at x (free))"), SEMANTIC, "2:9", ["predicate 'at' is not declared"]),
    (problem_text(init="(at 5 (= (weight m1) x))"), SYNTAX, "2:29", ["not a number"]),
    (problem_text(more="(:metric minimize)"), SYNTAX, "4:1", [":metric"]),
    (problem_text(more="(:metric less (total-cost))"), SYNTAX, "4:10", ["minimize or maximize"]),
    (problem_text(more="(:metric minimize (+ 1))"), SYNTAX, "4:19", ["too few operands"]),
    (problem_text(more="(:metric minimize (is-violated a))"), SEMANTIC, "4:32", ["preference 'a'"]),
    (problem_text(more="(:constraints (free))"), SYNTAX, "4:16", ["not a trajectory constraint"]),
    (problem_text(more="(:constraints (hold-during 1 (free)))"), SYNTAX, "4:15", ["3 arguments"]),
]


@pytest.mark.parametrize(("text", "error", "place", "words"), BAD_PROBLEMS)
def test_bad_problems(
    kitchen: Domain, text: str, error: type[HvrError], place: str, words: list[str]
) -> None:
    with pytest.raises(error) as caught:
        parse_problem(text, kitchen)
    message = str(caught.value)
    assert message.startswith(f"<problem>:{place}: "), message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no formula"),
        ("(free) (free)", "text after the end"),
        ("free", "this must be a list"),
        ("(free", "the text ends"),
    ],
)
def test_bad_formulas(kitchen: Domain, text: str, words: str) -> None:
    with pytest.raises(PddlSyntaxError, match=words):
        parse_formula(text, kitchen, file="task.yaml")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"none\.pddl: no such file"):
        parse_domain(tmp_path / "none.pddl")
    with pytest.raises(DataFileError, match="cannot read"):
        parse_domain(tmp_path)
    broken = tmp_path / "broken.pddl"
    broken.write_bytes(codecs.BOM_UTF16_LE + b"odd")
    with pytest.raises(PddlSyntaxError, match="utf-16"):
        parse_domain(broken)


def test_errors_keep_their_diagnostic_when_pickled() -> None:
    for text in ("(", "(define (domain d) (:typs))", "(define (domain d) (:event))"):
        with pytest.raises(HvrError) as caught:
            parse_domain(text)
        copy = pickle.loads(pickle.dumps(caught.value))
        assert type(copy) is type(caught.value)
        assert copy.diagnostic == caught.value.diagnostic  # type: ignore[attr-defined]


def test_long_lines_are_cut_around_the_place() -> None:
    text = "(define (domain d) (:predicates " + "(p) " * 100 + "))"
    with pytest.raises(PddlSemanticError) as caught:
        parse_domain(text)
    line, caret = str(caught.value).splitlines()[1:3]
    assert len(line) < 120
    assert line[caret.index("^")] == "p"


def closed(text: str) -> str:
    """Close all open lists of a text."""
    return text + ")" * (text.count("(") - text.count(")"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["(and ", "(not ", "(imply (not (clean m1)) (not "])
def test_nesting_up_to_the_limit_works_and_beyond_is_refused(kitchen: Domain, kind: str) -> None:
    problem = parse_problem(PROBLEM, kitchen)

    def nested(depth: int) -> str:
        return closed(kind * (depth // (kind.count("(") - kind.count(")"))) + "(clean m2)")

    parse_formula(nested(MAX_NESTING - 2), kitchen, problem.objects)
    formula = parse_formula(nested(300), kitchen, problem.objects)
    assert parse_formula(print_formula(formula), kitchen, problem.objects) == formula
    hash(formula)
    repr(formula)
    task = Task(kitchen, problem)
    validator = Validator(task)
    assert (validator.goal_failure() is None) == validator.goal_holds()
    holds(task.initial, formula)
    for depth in (MAX_NESTING + 9, 100_000):
        with pytest.raises(PddlSyntaxError, match="nested more than"):
            parse_formula(nested(depth), kitchen, problem.objects)
    with pytest.raises(PddlSyntaxError, match="nested more than"):
        parse_formula("(" * 100_000, kitchen)
    with pytest.raises(PddlSyntaxError, match="before the list '\\(' is closed"):
        parse_formula("(and " * 1000, kitchen)


@pytest.mark.parametrize("deny", [0, 1])
@pytest.mark.parametrize(
    "kind", ["(and ", "(or ", "(not (not ", "(and (or ", "(or (and (not (not "]
)
def test_what_can_be_written_flat_may_be_nested_deeply(
    kitchen: Domain, kind: str, deny: int
) -> None:
    problem = parse_problem(PROBLEM, kitchen)
    text = kind * (10_000 // kind.count("(")) + "(not " * deny + "(clean m2)"
    text += ")" * text.count("(", 0, -10)
    formula = parse_formula(text, kitchen, problem.objects)
    state = Task(kitchen, problem).initial
    flat = parse_formula("(clean m2)", kitchen, problem.objects)
    assert holds(state, formula) is (holds(state, flat) ^ bool(deny))


@pytest.mark.parametrize(
    "kind",
    [
        "(forall (?m - mug) ",
        "(exists (?m - mug) ",
        "(forall (?m - mug) (and ",
        "(imply (clean m1) ",
        "(imply (= m1 m1) (and ",
        "(imply (= m1 m2) ",
    ],
)
@pytest.mark.parametrize("last", ["(clean m1)", "(clean m2)", "(clean ?m)"])
def test_deep_chains_mean_what_short_ones_mean(kitchen: Domain, kind: str, last: str) -> None:
    if "?m" in last and "?m" not in kind:
        return
    problem = parse_problem(PROBLEM, kitchen)
    state = Task(kitchen, problem).initial
    deep, short = (
        parse_formula(closed(kind * depth + last), kitchen, problem.objects) for depth in (2000, 2)
    )
    assert holds(state, deep) is holds(state, short)


def test_variables_of_merged_quantifiers_keep_their_types(kitchen: Domain) -> None:
    deep = "".join(f"(exists (?a{i}) (exists (?b{i} - mug) " for i in range(200))
    formula = parse_formula(closed(deep + "(clean ?b7)"), kitchen)
    assert isinstance(formula, Exists)
    types = {v.name: v.types for v in formula.variables}
    assert (types["?a7"], types["?b7"]) == (("object",), ("mug",))


@pytest.mark.slow
def test_sums_and_conditions_of_effects_may_be_nested_deeply() -> None:
    text = closed(
        "(define (domain d) (:predicates (p)) (:functions (f)) (:action a :effect (and "
        + closed("(when (p) " * 5000 + "(p)")
        + "(increase (f) (+ 1 "
        + "(* 1 " * 50
        + "(+ 1 " * 5000
        + "0"
    )
    domain = parse_domain(text)
    goal = "(define (problem x) (:domain d) (:init (= (f) 0)) (:goal (p)))"
    task = Task(domain, parse_problem(goal, domain))
    operator = task.ground(GroundAction("a"))
    assert operator.apply_numbers(0, (0,)) == (5001,)


@pytest.mark.slow
def test_all_parts_of_deep_nesting_count(kitchen: Domain) -> None:
    problem = parse_problem(PROBLEM, kitchen)
    state = Task(kitchen, problem).initial
    for kind in ("and", "or"):
        for first in ("(= m2 m2)", "(not (= m2 m2))"):
            for last in ("(= m2 m2)", "(not (= m2 m2))"):
                deep = f"({kind} (= m2 m2) " if kind == "and" else f"({kind} (not (= m2 m2)) "
                text = f"({kind} {first} {deep * 1000}{last}{')' * 1001}"
                formula = parse_formula(text, kitchen, problem.objects)
                want = parse_formula(f"({kind} {first} {last})", kitchen, problem.objects)
                assert holds(state, formula) is holds(state, want)


# --- later versions of the language -------------------------------------------------------------

EVERYTHING = """
(define (domain lab) (:types robot room) (:constants hall - room)
  (:predicates (in ?r - robot ?m - room) (near ?r - robot ?m - room) (dark) (met))
  (:functions (energy ?r - robot) - number)
  (:constraints (and (always (not (dark))) (preference early (within 10 (met)))))
  (:derived (near ?r ?m) (or (in ?r ?m) (in ?r hall)))
  (:durative-action go :parameters (?r - robot ?m - room)
    :duration (and (>= ?duration 1) (at end (<= ?duration (energy ?r))))
    :condition (and (at start (> (energy ?r) 0)) (over all (preference light (not (dark)))))
    :effect (and (at start (decrease (energy ?r) ?duration))
      (when (at start (met)) (at end (in ?r ?m))) (at end (met)))))
"""


def test_time_numbers_rules_and_constraints_are_read() -> None:
    domain = parse_domain(EVERYTHING)
    energy = FunctionTerm("energy", ("?r",))
    go = domain.durative_actions["go"]
    assert go.duration == And(
        (
            Comparison(">=", Duration(), Number(Decimal(1))),
            Timed("at end", Comparison("<=", Duration(), energy)),
        )
    )
    assert go.condition == And(
        (
            Timed("at start", Comparison(">", energy, Number(Decimal(0)))),
            Timed("over all", Preference("light", Not(Atom("dark")))),
        )
    )
    assert isinstance(go.effect, And)
    assert go.effect.operands[:2] == (
        Timed("at start", NumericEffect("decrease", energy, Duration())),
        When(Timed("at start", Atom("met")), Timed("at end", Atom("in", ("?r", "?m")))),
    )
    assert domain.constraints == And(
        (
            Trajectory("always", (), (Not(Atom("dark")),)),
            Preference("early", Trajectory("within", (Decimal(10),), (Atom("met"),))),
        )
    )
    (rule,) = domain.derived
    # An untyped parameter gets the type of the declaration.
    assert rule.parameters == (TypedName("?r", ("robot",)), TypedName("?m", ("room",)))


def test_what_happens_by_itself_is_read() -> None:
    domain = parse_domain(EVERYTHING)
    problem = parse_problem(
        """(define (problem p) (:domain lab) (:objects r2 - robot)
        (:init (in r2 hall) (= (energy r2) -1.5) (at 3 (dark)) (at 4.5 (not (dark)))
          (at 5 (= (energy r2) 7)))
        (:goal (and (preference (met)) (preference stay (in r2 hall))))
        (:constraints (sometime-after (dark) (met)))
        (:metric maximize (- total-time (* 2 (is-violated stay)))))""",
        domain,
    )
    energy = FunctionTerm("energy", ("r2",))
    assert problem.timed_init == (
        TimedInitial(Decimal(3), Atom("dark")),
        TimedInitial(Decimal("4.5"), Not(Atom("dark"))),
        TimedInitial(Decimal(5), NumericEffect("assign", energy, Number(Decimal(7)))),
    )
    assert problem.numeric_init == {energy: Decimal("-1.5")}
    assert isinstance(problem.goal, And)
    assert problem.goal.operands[0] == Preference("", Atom("met"))
    assert problem.metric is not None
    assert str(problem.metric) == ("(:metric maximize (- (total-time) (* 2 (is-violated stay))))")
