"""`hvr solve`: plans for any PDDL problem."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.errors import PlannerError, UsageError
from hvr.pddl import Task, parse_domain, parse_problem, read_plan
from hvr.planning.plans import landmark_blocks
from hvr.planning.search.fast_downward import solve as search
from hvr.planning.search.ground import build
from hvr.planning.solving.forward import forward
from hvr.planning.solving.portfolio import DOWNWARD, Feature, PlannerJob, Running, features_of
from hvr.planning.solving.solve import SolveOptions, solve
from hvr.validation import Validator
from tests import warm
from tests.command_line import Hvr, environment
from tests.survivors import wait_for, working_in

BLOCKS = Path(__file__).parents[3] / "examples" / "blocks"
DOMAIN, PROBLEM = BLOCKS / "domain.pddl", BLOCKS / "problem.pddl"

LIFT = """(define (domain lift)
  (:types floor person)
  (:predicates (at ?f - floor) (next ?a ?b - floor) (waits ?p - person ?f - floor)
               (in ?p - person) (served ?p - person))
  (:action move :parameters (?a ?b - floor)
    :precondition (and (at ?a) (or (next ?a ?b) (next ?b ?a)))
    :effect (and (not (at ?a)) (at ?b)))
  (:action stop :parameters (?f - floor) :precondition (at ?f)
    :effect (forall (?p - person) (when (waits ?p ?f) (and (in ?p) (not (waits ?p ?f))))))
  (:action leave :parameters (?p - person ?f - floor)
    :precondition (and (in ?p) (at ?f) (not (exists (?q - person) (waits ?q ?f))))
    :effect (and (not (in ?p)) (served ?p))))"""


def lift(people: tuple[int, ...], start: int = 0, floors: int = 4) -> str:
    """Return a lift problem with the floors where people wait."""
    names = " ".join(f"f{n}" for n in range(floors))
    persons = " ".join(f"p{n}" for n in range(len(people)))
    rows = [f"(next f{n} f{n + 1})" for n in range(floors - 1)]
    rows += [f"(waits p{n} f{floor})" for n, floor in enumerate(people)]
    goal = " ".join(f"(served p{n})" for n in range(len(people)))
    return (
        f"(define (problem l) (:domain lift) (:objects {names} - floor {persons} - person)"
        f" (:init (at f{start}) {' '.join(rows)}) (:goal (and {goal})))"
    )


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    domain, problem = tmp_path / "domain.pddl", tmp_path / "problem.pddl"
    domain.write_text(LIFT)
    problem.write_text(lift((1, 3)))
    return domain, problem


@pytest.mark.slow
def test_a_plan_is_found_proven_and_saved(hvr_: Hvr, tmp_path: Path) -> None:
    folder = tmp_path / "solved"
    ended = hvr_("solve", DOMAIN, PROBLEM, "--save", folder, "--json")
    assert ended.code == 0, ended.err
    told = json.loads(ended.out)
    assert told["solved"] and told["proven"]
    assert json.loads((folder / "solution.json").read_text())["steps"] == told["steps"]
    assert [str(s) for s in read_plan(folder / "plan.pddl").steps] == told["steps"]
    saved = [folder / f"{name}.pddl" for name in ("domain", "problem", "plan")]
    assert hvr_("validate", *saved).code == 0
    again = hvr_("solve", DOMAIN, PROBLEM, "--save", folder)
    assert again.code == 2 and "--save" in again.err


@pytest.mark.slow
@pytest.mark.parametrize("planner", ["fast-downward", "downward", "up:fast-downward"])
def test_each_planner_plans_for_conditional_effects(files: tuple[Path, Path], planner: str) -> None:
    solution = solve(*files, SolveOptions(planner))
    assert solution.report is not None and solution.report.valid
    assert solution.planner == planner


@pytest.mark.slow
def test_there_is_no_plan_only_if_that_is_proven(hvr_: Hvr, files: tuple[Path, Path]) -> None:
    domain, problem = files
    problem.write_text(lift((1, 3)).replace("(next f2 f3)", ""))
    ended = hvr_("solve", domain, problem)
    assert ended.code == 1 and "no plan exists" in ended.out
    assert json.loads(hvr_("solve", domain, problem, "--json").out)["solved"] is False


def test_what_a_planner_lacks_is_named(files: tuple[Path, Path]) -> None:
    domain, problem = files
    derived = "(:derived (free ?f - floor) (not (exists (?p - person) (waits ?p ?f))))"
    text = LIFT.replace(
        "(served ?p - person))", "(served ?p - person) (free ?f - floor))\n" + derived
    )
    domain.write_text(text)
    with pytest.raises(UsageError, match="cannot plan with derived predicates"):
        solve(domain, problem, SolveOptions("fast-downward"))
    parsed = parse_domain(text)
    # Its grounding would treat derived atoms as never true, and give a false proof.
    with pytest.raises(PlannerError, match="derived predicates"):
        build(Task(parsed, parse_problem(problem, parsed)))
    assert solve(domain, problem).planner == "downward"
    with pytest.raises(UsageError, match="no planner 'magic'"):
        solve(domain, problem, SolveOptions("magic"))
    with pytest.raises(UsageError, match=r"no engine 'magic' .installed engines: .*fast-downward"):
        solve(*files, SolveOptions("up:magic"))


def test_numbers_and_time_are_not_asked_of_fast_downward(files: tuple[Path, Path]) -> None:
    domain, problem = files
    domain.write_text(
        LIFT.replace("(:action move", "(:functions (fuel))\n(:action move", 1).replace(
            "(and (at ?a) (or", "(and (> (fuel) 0) (at ?a) (or", 1
        ).replace("(and (not (at ?a))", "(and (decrease (fuel) 1) (not (at ?a))", 1)
    )  # fmt: skip
    problem.write_text(lift((1,)).replace("(at f0)", "(at f0) (= (fuel) 3)"))
    parsed = parse_domain(domain)
    assert features_of(parsed, parse_problem(problem, parsed)) == {
        Feature.NUMERIC,
        Feature.CONDITIONAL,
        Feature.UNIVERSAL,
    }
    with pytest.raises(UsageError, match="downward cannot plan with numeric fluents"):
        solve(domain, problem, SolveOptions("downward"))


def test_files_that_cannot_be_used_are_one_line(hvr_: Hvr, tmp_path: Path) -> None:
    for words in (
        (tmp_path / "no.pddl", PROBLEM),
        (PROBLEM, DOMAIN),
        (DOMAIN, PROBLEM, "--budget", "0"),
        (DOMAIN, PROBLEM, "--planner", "up:"),
    ):
        ended = hvr_("solve", *words)
        assert ended.code == 2 and "Traceback" not in ended.err and not ended.out, words


def test_a_planner_ends_with_its_context(files: tuple[Path, Path], tmp_path: Path) -> None:
    with Running(DOWNWARD, PlannerJob(*files, frozenset(), 60.0), tmp_path / "work") as running:
        assert running.code is None
    assert running.code is not None


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(people=st.lists(st.integers(0, 3), min_size=1, max_size=4), start=st.integers(0, 3))
def test_blocks_say_what_matters(people: list[int], start: int) -> None:
    """Blocks concatenate to the plan, and their conditions hold before and after."""
    domain = parse_domain(LIFT)
    task = Task(domain, parse_problem(lift(tuple(people), start), domain))
    actions = search(task, 10.0, patience=0.1).plan
    assert actions is not None
    blocks = landmark_blocks(task, actions)
    assert [a for block in blocks for a in block.actions] == list(actions)
    state = task.initial.bits
    for block in blocks:
        assert _holds(task, block.macro.precondition, state)
        for action in block.actions:
            state = task.ground(action).apply(state)
        assert _holds(task, block.macro.postcondition, state)
        assert block.actions and block.macro.name


def _holds(task: Task, literals: tuple[str, ...], state: int) -> bool:
    true = {str(atom) for atom in task.atoms_in(state)}
    negated = {text.removeprefix("(not ")[:-1] for text in literals if text.startswith("(not ")}
    return {text for text in literals if not text.startswith("(not ")} <= true - negated


@pytest.mark.slow
def test_constraints_are_kept_by_the_plans(files: tuple[Path, Path]) -> None:
    domain, problem = files
    text = lift((1, 3)).replace(
        "(:goal", "(:constraints (and (always (not (at f0))) (sometime (at f2)))) (:goal"
    )
    problem.write_text(text.replace("(at f0) (next", "(at f2) (next", 1))
    solution = solve(domain, problem)
    assert solution.planner == "fast-downward" and solution.proven
    problem.write_text(text)  # the initial state is forbidden
    assert solve(domain, problem).steps is None
    problem.write_text(text.replace("(sometime (at f2))", "(within 5 (at f2))"))
    with pytest.raises(PlannerError, match="within"):
        solve(domain, problem)


COUNTER = """(define (domain counter) (:types place)
  (:predicates (at ?p - place) (road ?p ?q - place) (reaches ?p ?q - place))
  (:functions (fuel))
  (:derived (reaches ?p ?q - place)
    (or (road ?p ?q) (exists (?m - place) (and (road ?p ?m) (reaches ?m ?q)))))
  (:action go :parameters (?p ?q - place)
    :precondition (and (at ?p) (reaches ?p ?q) (>= (fuel) 3))
    :effect (and (not (at ?p)) (at ?q) (decrease (fuel) 3)))
  (:action fill :parameters () :effect (increase (fuel) 1)))"""


@settings(max_examples=12, deadline=None)
@given(
    st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=5),
    st.integers(0, 3),
    st.integers(0, 4),
)
def test_the_forward_search_plans_with_numbers_and_rules(
    roads: set[tuple[int, int]], goal: int, fuel: int
) -> None:
    domain = parse_domain(COUNTER)
    rows = " ".join(f"(road p{a} p{b})" for a, b in sorted(roads))
    problem = parse_problem(
        f"(define (problem c) (:domain counter) (:objects p0 p1 p2 p3 - place)"
        f" (:init (at p0) (= (fuel) 0) {rows}) (:goal (and (at p{goal}) (>= (fuel) {fuel}))))",
        domain,
    )
    reached, todo = set(), [0]
    while todo:
        here = todo.pop()
        new = {b for a, b in roads if a == here} - reached
        reached |= new
        todo += new
    outcome = forward(Task(domain, problem), 10)
    if goal == 0 or goal in reached:
        assert outcome.plan is not None
        assert Validator(Task(domain, problem)).check(outcome.plan).valid
    else:
        assert outcome.plan is None and outcome.proven


def test_without_an_engine_numbers_are_planned_with_all_the_same(tmp_path: Path) -> None:
    domain, problem = tmp_path / "domain.pddl", tmp_path / "problem.pddl"
    domain.write_text(COUNTER)
    problem.write_text(
        "(define (problem c) (:domain counter) (:objects a b - place)"
        " (:init (at a) (road a b) (= (fuel) 1)) (:goal (at b)))"
    )
    solution = solve(domain, problem)
    assert solution.planner == "forward" and solution.steps is not None
    assert len(solution.steps) == 3 and not solution.proven


SHELF = """(define (domain shelf) (:requirements :adl :action-costs) (:types box)
  (:predicates (packed ?b - box) (full))
  (:functions (total-cost))
  (:action pack :parameters (?b - box) :effect (and (packed ?b) (increase (total-cost) 2)))
  (:action close :precondition {condition} :effect (and (full) (increase (total-cost) 1)))
  (:action force :effect (and (full) (increase (total-cost) 9))))"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("condition", "goal", "cost"),
    [
        ("(forall (?b - box) (packed ?b))", "(full)", 5),
        ("(not (exists (?b - box) (not (packed ?b))))", "(full)", 5),
        ("(packed a)", "(or (full) (and (packed a) (packed b)))", 3),
        ("(packed a)", "(exists (?b - box) (and (packed ?b) (full)))", 3),
        ("(not (and (packed a) (not (packed b))))", "(and (full) (not (packed a)))", 1),
    ],
)
def test_cheapest_plans_are_proven_where_conditions_are_no_conjunctions(
    tmp_path: Path, condition: str, goal: str, cost: int
) -> None:
    domain, problem = tmp_path / "domain.pddl", tmp_path / "problem.pddl"
    constants = "(:constants a b - box)\n  (:predicates"
    domain.write_text(SHELF.replace("{condition}", condition).replace("(:predicates", constants, 1))
    problem.write_text(
        "(define (problem s) (:domain shelf) (:init (= (total-cost) 0))"
        f" (:goal {goal}) (:metric minimize (total-cost)))"
    )
    solution = solve(domain, problem, SolveOptions(optimal=True, seconds=30))
    assert (solution.cost, solution.proven) == (cost, True)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and orphans are adopted")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_hvr_ends_its_planners(
    files: tuple[Path, Path], tmp_path: Path, number: signal.Signals
) -> None:
    files[1].write_text(lift(tuple(n % 20 for n in range(60)), floors=20))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    run = warm.Popen(
        [sys.executable, "-m", "hvr", "solve", *map(str, files), "--optimal", "--budget", "300"],
        env={**environment(), "TMPDIR": str(temporary)}, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    # SIGKILL before the first program starts leaves an empty folder.
    kills = number == signal.SIGKILL
    wait_for(
        lambda: any(working_in(temporary) if kills else temporary.glob("hvr-solve-*/race/*/log"))
    )
    run.send_signal(number)
    run.wait()
    wait_for(lambda: not working_in(temporary) and not any(temporary.iterdir()))


def test_a_planner_over_its_memory_is_named(hvr_: Hvr, files: tuple[Path, Path]) -> None:
    files[1].write_text(lift(tuple(n % 20 for n in range(60)), floors=20))
    # Optimal search takes hours here; the limit is checked five times a second.
    words = ("--planner", "downward", "--optimal", "--memory", "0.001")
    done = hvr_("solve", *map(str, files), *words)
    assert done.code == 4
    assert "downward ran out of memory" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("planner", ["downward", "fast-downward"])
@pytest.mark.parametrize(
    ("goal", "solvable"),
    [
        ("(forall (?g - ghost) (or))", True),
        ("(not (exists (?g - ghost) (and)))", True),
        ("(imply (p) (forall (?t - thing ?g - ghost) (not (= ?t ?t))))", True),
        ("(exists (?g - ghost) (and))", False),
        ("(exists (?t - thing) (and))", True),
    ],
)
def test_quantifiers_over_a_type_without_objects_are_decided_as_the_validator_does(
    tmp_path: Path, goal: str, solvable: bool, planner: str
) -> None:
    domain, problem = tmp_path / "d.pddl", tmp_path / "p.pddl"
    domain.write_text(
        "(define (domain d) (:requirements :adl) (:types thing ghost) (:constants k - thing)"
        f"(:predicates (p)) (:action a :precondition {goal} :effect (p)))"
    )
    problem.write_text(
        f"(define (problem q) (:domain d) (:objects o - thing) (:init) (:goal (and (p) {goal})))"
    )
    solution = solve(domain, problem, SolveOptions(planner, 10))
    assert (solution.steps is not None) == solvable


def test_a_page_does_not_replace_an_input(hvr_: Hvr, files: tuple[Path, Path]) -> None:
    for file in files:
        before = file.read_text()
        ended = hvr_("solve", *files, "--html", file)
        assert ended.code == 2
        assert "would overwrite" in ended.err
        assert file.read_text() == before


def test_a_page_is_named_as_one(hvr_: Hvr, files: tuple[Path, Path], tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    for file in (notes, tmp_path, tmp_path / "none" / "a.html", tmp_path / "new.pddl"):
        ended = hvr_("solve", *files, "--html", file)
        assert ended.code == 2
        assert str(file) in ended.err
    assert notes.read_text() == "mine"
    assert not (tmp_path / "new.pddl").exists()


@pytest.mark.slow
def test_a_search_that_fast_downward_cannot_read_is_explained(
    hvr_: Hvr, files: tuple[Path, Path]
) -> None:
    ended = hvr_("solve", *files, "--search", "astar(nope())", "--budget", "5")
    assert ended.code == 2
    assert "'nope'" in ended.err
