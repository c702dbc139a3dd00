"""World folders: created, checked and shown; every fault is named with its line."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.base.files import data_path
from hvr.errors import DataFileError, LanguageError, UsageError
from hvr.execution.facts.sentences import goal_text, problem_for
from hvr.knowledge.world_file import find_world
from hvr.pddl import parse_domain, parse_formula, parse_problem
from hvr.policies.world_checks import check_world
from hvr.worlds.facts.folder import WorldFolder, create_world
from hvr.worlds.facts.lexicon import lexicon_for
from tests.command_line import Hvr
from tests.worlds.facts.small_worlds import ROOMS, TASK


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A world of rooms, created by `hvr world new`."""
    (tmp_path / "rooms.pddl").write_text(ROOMS)
    (tmp_path / "two.pddl").write_text(TASK)
    create_world(tmp_path / "rooms", tmp_path / "rooms.pddl", [tmp_path / "two.pddl"])
    return tmp_path / "rooms"


def findings(folder: Path) -> list[str]:
    """Return the findings about a world, without its folder."""
    return [text.removeprefix(f"{folder}/") for text in check_world(WorldFolder(folder), run=True)]


def change(path: Path, old: str, new: str) -> None:
    """Replace a text in a file."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_new_world_fits(made: Path) -> None:
    assert findings(made) == []
    world = WorldFolder(made)
    problem, goal = world.problem()
    assert (world.name, problem.name, goal) == ("rooms", "two", "")


@pytest.mark.parametrize("name", ["blocksworld", "gripper", "laboratory", "logistics", "sokoban"])
def test_the_worlds_that_hvr_brings_fit(name: str) -> None:
    assert check_world(WorldFolder(find_world(name)), run=True) == ()


def test_every_world_that_hvr_brings_is_looked_at() -> None:
    assert {path.name for path in data_path("worlds").iterdir()} == {
        "babyai",
        "blocksworld",
        "gripper",
        "home",
        "kitchen",
        "laboratory",
        "logistics",
        "parcels",
        "sokoban",
    }


ENVIRONMENT = """
from hvr.worlds.facts.environment import Observation, PddlEnvironment


class Fails(PddlEnvironment):
    def reset(self):
        raise OSError("no robot")


class Lies(PddlEnvironment):
    def observe(self):
        seen = super().observe()
        facts = [fact for fact in seen.facts if fact != ("hands-free",)]
        return Observation(facts, {("battery",): 9})


def fails(setup):
    return Fails(setup.domain, setup.problem)


def lies(setup):
    return Lies(setup.domain, setup.problem)


def nothing(setup):
    return object()


def breaks(setup):
    return 1 / 0
"""


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("fails", "the environment failed at reset: OSError: no robot ("),
        ("lies", "the environment does not show (hands-free), unlike the problem"),
        ("lies", "the environment shows 9 as (battery), but the problem says 2"),
        ("nothing", "returns object, which has no reset, step, observe"),
        ("breaks", "robots:breaks cannot be opened: ZeroDivisionError: division by zero"),
        ("missing", "robots has no function 'missing'"),
    ],
)
def test_environments_that_do_not_fit(made: Path, entry: str, message: str) -> None:
    (made / "robots.py").write_text(ENVIRONMENT)
    change(made / "world.toml", "# environment = ", 'environment = "robots:' + entry + '" # ')
    assert any(message in text for text in findings(made)), findings(made)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("fails", r"failed at reset: OSError: no robot \(.*robots.py:7\)$"),
        ("breaks", r"robots:breaks cannot be opened: ZeroDivisionError: .*robots.py:30\)$"),
        ("Lies", r"robots:Lies cannot be opened: TypeError: .*'problem'$"),
        ("ends", r"robots:ends cannot be opened: SystemExit: 1 \(.*robots.py:34\)$"),
    ],
)
def test_environments_that_raise_are_named_with_the_line(
    made: Path, hvr_: Hvr, entry: str, message: str
) -> None:
    (made / "robots.py").write_text(f"{ENVIRONMENT}\n\ndef ends(setup):\n    raise SystemExit(1)\n")
    change(made / "world.toml", "# environment = ", 'environment = "robots:' + entry + '" # ')
    ended = hvr_("solve", "--world", str(made), "--execute")
    assert ended.code == 2
    assert re.search(message, ended.err.strip()), ended.err


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("words.ttl", '"joined"', '"joint"', "the domain has no predicate 'joint'; did you mean"),
        ("words.ttl", '"room"', '"rooom"', "the domain has no type 'rooom'; did you mean 'room'"),
        ("words.ttl", '"charge" ;', '"load" ;', "the domain has no action 'load'"),
        (
            "words.ttl",
            "{0} is lost",
            "{1} is lost",
            "k:saidTrue has the placeholder {1}, but the arity",
        ),
        ("words.ttl", "@prefix owl", "@prefx owl", "not valid Turtle"),
        ("domain.pddl", "(decrease (battery) 1)", "(decrease (fuel) 1)", "fuel"),
        ("problems/two.pddl", "(hands-free)", "(hand-free)", "hand-free"),
        ("world.toml", '"words.ttl"', '"word.ttl"', "no file named"),
        ("world.toml", '"domain.pddl"', '"dom.pddl"', "no file named"),
    ],
)
def test_what_does_not_fit_is_named_with_file_and_line(
    made: Path, file: str, old: str, new: str, message: str
) -> None:
    change(made / file, old, new)
    (finding, *_) = [text for text in findings(made) if message in text]
    name, line, _ = finding.split(":", 2)
    assert name in (file, "world.toml") and line.isdecimal()


ALIKE = """
(define (domain ward) (:requirements :typing) (:types truck parcel place - object)
  (:predicates (holding-shears) (rover-has-camera) (can-reach ?a ?b) (tool-belt) (is-raining)
    (carries ?a ?b) (door-not-locked) (arm-at-home) (gripper-holding ?a) (connected ?a ?b)
    (open ?p - place) (is-open ?p - place) (at ?t - truck ?p - place)
    (is-at ?p - parcel ?q - place))
  (:action act :parameters (?a) :effect (gripper-holding ?a)))
"""
DERIVED = [
    ("holding-shears", "holding shears", "not holding shears"),
    ("rover-has-camera", "the rover has camera", "the rover does not have camera"),
    ("can-reach", "{0} can reach {1}", "{0} cannot reach {1}"),
    ("tool-belt", "tool belt holds", "tool belt does not hold"),
    ("is-raining", "it is raining", "it is not raining"),
    ("carries", "{0} carries {1}", "{0} does not carry {1}"),
    ("door-not-locked", "door not locked holds", "door not locked does not hold"),
    ("arm-at-home", "the arm is at home", "the arm is not at home"),
    ("gripper-holding", "the gripper is holding {0}", "the gripper is not holding {0}"),
    ("connected", "{0} is connected to {1}", "{0} is not connected to {1}"),
    ("open", "{0} is open", "{0} is not open"),
    ("is-open", "is-open holds for {0}", "is-open does not hold for {0}"),
    ("is-at", "{0} is at {1}", "{0} is not at {1}"),
]


@pytest.mark.parametrize(("name", "true", "false"), DERIVED)
def test_derived_words_are_english_and_differ(name: str, true: str, false: str) -> None:
    said = lexicon_for(parse_domain(ALIKE)).wording.predicates[name]
    assert (said.true.text, said.false.text) == (true, false)


def test_words_that_mean_two_predicates_are_refused_with_both(tmp_path: Path, hvr_: Hvr) -> None:
    (tmp_path / "d.pddl").write_text(ALIKE)
    create_world(tmp_path / "w", tmp_path / "d.pddl")
    change(tmp_path / "w" / "words.ttl", "is-open holds for {0}", "{0} is open")
    (finding, *_) = findings(tmp_path / "w")
    assert "world.toml:" in finding
    assert "'open' and 'is-open' share the wording '{0} is open'" in finding
    ended = hvr_("solve", "--world", tmp_path / "w", "--goal", "door is open")
    assert ended.code == 2 and "'open' and 'is-open' share the wording" in ended.err


def test_an_object_with_two_types_is_named(made: Path) -> None:
    file = made / "problems" / "two.pddl"
    file.write_text(file.read_text().replace("(:objects", "(:objects p1 - room", 1))
    (finding,) = findings(made)
    assert "the object 'p1' has two types, room and parcel" in finding
    assert finding.startswith("problems/two.pddl:")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "x"', "domain is missing"),
        ('domain = "d"\nproblem = "p"', r"2: unknown entry 'problem'; did you mean 'problems'"),
        ('domain = "d"\nproblems = "p"', "2: problems must be a list of file names"),
        ('domain = "d"\n[tasks.t]\ngoal = "g"', "the task 't': problem is missing"),
        ("domain = ", "not valid TOML"),
    ],
)
def test_world_files_that_cannot_be_used(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "world.toml").write_text(text)
    with pytest.raises(DataFileError, match=message):
        WorldFolder(tmp_path)


def test_a_domain_without_actions_is_no_world(tmp_path: Path) -> None:
    (tmp_path / "d.pddl").write_text("(define (domain d) (:predicates (p)))")
    with pytest.raises(UsageError, match="no actions, but a world needs"):
        create_world(tmp_path / "w", tmp_path / "d.pddl")
    assert not (tmp_path / "w").exists()
    (tmp_path / "world.toml").write_text('domain = "d.pddl"')
    assert any("no action: nothing can be done" in text for text in findings(tmp_path))


# words

GOALS = [
    ("p1 is at store", "(at p1 store)"),
    ("the robot is at the hall.", "(robot-at hall)"),
    ("P 1 is at store and P 2 is at hall", "(and (at p1 store) (at p2 hall))"),
    ("every parcel is at the kitchen", "(forall (?x - parcel) (at ?x kitchen))"),
    ("all parcels are at the kitchen", "(forall (?x - parcel) (at ?x kitchen))"),
    ("no parcel is at the hall", "(forall (?x - parcel) (not (at ?x hall)))"),
    ("some parcel is not lost", "(exists (?x - parcel) (not (lost ?x)))"),
    ("every parcel is at some room, the hands are free",
     "(and (forall (?x - parcel) (exists (?y - room) (at ?x ?y))) (hands-free))"),
    ("carrying p1", "(carrying p1)"),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "pddl"), GOALS)
def test_sentences_are_goals_and_are_said_back(sentence: str, pddl: str) -> None:
    domain = parse_domain(ROOMS)
    problem = parse_problem(TASK, domain)
    words = lexicon_for(domain)
    read = problem_for(sentence, domain, problem, words)
    plain = parse_formula(pddl, domain, problem.objects)
    assert goal_text(read.problem.goal, words) == read.said
    # A paraphrase is read as the same goal, and both have equal truth values.
    again = problem_for(read.said, domain, problem, words)
    assert again.said == read.said
    assert problem_for(pddl, domain, problem, words).problem.goal == plain
    assert goal_text(plain, words) == read.said


NUMBERS = """
(define (domain depots) (:requirements :adl :numeric-fluents) (:types robot place)
  (:predicates (at ?r - robot ?p - place))
  (:functions (battery-level ?r - robot) (capacity ?r - robot) (way ?a ?b - place) (trips))
  (:action wait :parameters (?r - robot) :effect (increase (trips) 1)))
"""
NUMBERS_TASK = """
(define (problem p) (:domain depots) (:objects r1 r2 - robot a b - place)
  (:init (at r1 a)) (:goal (at r1 b)))
"""
NUMERIC_GOALS = [
    ("the battery level of r1 is at least 5", "(>= (battery-level r1) 5)"),
    ("r1's battery level is at least 5.5", "(>= (battery-level r1) 5.5)"),
    ("battery level of robot r 1 is not less than 5", "(not (< (battery-level r1) 5))"),
    ("battery level of robot r 3 is less than 5", None),
    ("the battery level of r 1 is 5 and trips is below 3",
     "(and (= (battery-level r1) 5) (< (trips) 3))"),
    ("trips <= 3", "(<= (trips) 3)"),
    ("the trips are no more than 3", "(<= (trips) 3)"),
    ("the trips is not 3", "(not (= (trips) 3))"),
    ("the way of a and b is more than 1, r1 is at b",
     "(and (> (way a b) 1) (at r1 b))"),
    ("the battery level of every robot is above 2",
     "(forall (?x - robot) (> (battery-level ?x) 2))"),
    ("the battery level of some robot is at most the capacity of r2",
     "(exists (?x - robot) (<= (battery-level ?x) (capacity r2)))"),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "pddl"), NUMERIC_GOALS)
def test_numbers_are_compared_in_sentences(sentence: str, pddl: str | None) -> None:
    domain = parse_domain(NUMBERS)
    problem, words = parse_problem(NUMBERS_TASK, domain), lexicon_for(domain)
    if pddl is None:
        with pytest.raises(LanguageError, match="the battery level of R is at least N"):
            problem_for(sentence, domain, problem, words)
        return
    read = problem_for(sentence, domain, problem, words)
    assert read.said == goal_text(parse_formula(pddl, domain, problem.objects), words)
    assert problem_for(read.said, domain, problem, words).said == read.said


@pytest.mark.slow
@given(
    st.sampled_from(["the trips", "the way of a and b", "the battery level of r2"]),
    st.sampled_from(["at least ", "at most ", "more than ", "less than ", ""]),
    st.booleans(),
    st.decimals(-(10**6), 10**6, places=2),
)
def test_what_is_said_of_a_number_is_read_back(
    amount: str, how: str, denied: bool, number: Decimal
) -> None:
    domain = parse_domain(NUMBERS)
    problem, words = parse_problem(NUMBERS_TASK, domain), lexicon_for(domain)
    sentence = f"{amount} is {'not ' * denied}{how}{number:f}"
    read = problem_for(sentence, domain, problem, words)
    again = problem_for(str(read.problem.goal), domain, problem, words)
    assert problem_for(read.said, domain, problem, words).problem.goal == read.problem.goal
    assert again.said == read.said


@pytest.mark.parametrize(
    ("sentence", "hint"),
    [
        ("p3 is at store", "unknown word 'p3'"),
        ("p1 is at p2", "hvr does not understand 'p1 is at p2'"),
        ("every room is at store", "hvr does not understand"),
        ("", "the request is empty"),
    ],
)
def test_what_is_no_such_sentence_is_refused(sentence: str, hint: str) -> None:
    domain = parse_domain(ROOMS)
    with pytest.raises(LanguageError, match=hint):
        problem_for(sentence, domain, parse_problem(TASK, domain), lexicon_for(domain))


# the command line


def test_commands_of_worlds(made: Path, hvr_: Hvr, tmp_path: Path) -> None:
    assert hvr_("world", "check", str(made)).code == 0
    shown = hvr_("world", "show", str(made), "--svg", str(tmp_path / "w.svg"))
    assert shown.code == 0 and "parcel: p1, p2" in shown.out
    assert (tmp_path / "w.svg").read_text().startswith("<svg ")
    change(made / "words.ttl", '"joined"', '"joint"')
    wrong = hvr_("world", "check", str(made), "--json")
    assert wrong.code == 1 and "joint" in wrong.out
    assert hvr_("world", "check", str(tmp_path)).code == 2
    assert hvr_("world", "new", str(made), "--domain", str(made / "domain.pddl")).code == 2


def test_a_world_is_solved_and_acted_in(made: Path, hvr_: Hvr) -> None:
    solve = ("solve", "--world", str(made), "--execute", "--quiet")
    done = hvr_(*solve, "--goal", "p1 is at hall", "--faults", "no-effect@2")
    assert done.code == 0 and "goal reached" in done.out and "1 no effect" in done.out
    assert hvr_(*solve, "--goal", "p1 is at mars").code == 2
    assert hvr_(*solve, "--goal", "p1 is lost").code == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("solve",), "give a DOMAIN and a PROBLEM, or a --world"),
        (("solve", "--world", "nowhere"), "--world 'nowhere' does not exist"),
        (("solve", "--world", "logistics", "--problem", "harbor"), "did you mean 'harbour'"),
        (("solve", "--world", "blocksworld", "--hide", "on"), "--hide"),
    ],
)
def test_calls_that_cannot_be_answered(words: tuple[str, ...], message: str, hvr_: Hvr) -> None:
    ended = hvr_(*words)
    assert ended.code == 2 and message in ended.err
