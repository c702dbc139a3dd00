"""Generated problems have the stated properties, and equal seeds give equal problems."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.errors import UsageError
from hvr.pddl import Task, parse_domain, parse_problem
from hvr.planning.problems import FAMILIES, LEVELS, graded, series
from hvr.planning.problems.generator import Cellar, shortest
from hvr.planning.search.fast_downward import solve
from hvr.validation import validate
from hvr.validation.rewards import PlanRewards
from tests.command_line import Hvr

CLASSICAL = tuple(f for f in FAMILIES if f not in ("jugs", "cellar"))


@pytest.mark.slow
@settings(max_examples=25)
@given(st.sampled_from(FAMILIES), st.sampled_from(LEVELS[:4]), st.integers(0, 10**6))
def test_the_plan_is_valid_and_has_the_best_length(family: str, level: int, seed: int) -> None:
    problem = graded(family, level, seed)
    assert problem.plan is not None
    report = validate(problem.domain, problem.problem, "\n".join(problem.plan))
    assert report.valid, report.explain()
    assert report.steps == problem.best == len(problem.plan) > 0


@pytest.mark.slow
@settings(max_examples=12)
@given(
    st.sampled_from(CLASSICAL), st.sampled_from(LEVELS[:3]), st.integers(0, 10**6), st.booleans()
)
def test_a_planner_agrees(family: str, level: int, seed: int, solvable: bool) -> None:
    problem = graded(family, level, seed, solvable=solvable)
    domain = parse_domain(problem.domain)
    result = solve(Task(domain, parse_problem(problem.problem, domain)), 60.0)
    assert result.optimal
    assert (None if result.plan is None else len(result.plan)) == problem.best


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_higher_levels_have_longer_plans(family: str) -> None:
    means = [sum(graded(family, level, s).best or 0 for s in range(8)) for level in (1, 3, 4)]
    assert means == sorted(set(means))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_problem_without_a_plan_says_why(family: str) -> None:
    problem = graded(family, 2, 5, solvable=False)
    assert problem.best is None and problem.plan is None
    assert "reach" in problem.proof or "assignment" in problem.proof


def test_the_search_says_nothing_of_what_it_has_not_seen() -> None:
    problem = graded("blocksworld", 3, 0)
    domain = parse_domain(problem.domain)
    task = Task(domain, parse_problem(problem.problem, domain))
    assert shortest(task, 10) is None
    proven = shortest(task, 10_000)
    assert proven is not None and proven.plan is not None and proven.states > 10


@given(st.lists(st.integers(2, 9), min_size=1, max_size=3),
       st.lists(st.integers(2, 6), min_size=1, max_size=4))  # fmt: skip
def test_as_few_matches_as_there_can_be(matches: list[int], fuses: list[int]) -> None:
    cellar = Cellar(matches, fuses)
    given_ = cellar.assignment()
    if given_ is None:
        assert sum(fuses) >= max(matches)  # otherwise one match would suffice
        return
    assert sorted(fuse for some in given_ for fuse in some) == list(range(len(fuses)))
    for light, some in zip(matches, given_, strict=True):
        assert sum(fuses[fuse] for fuse in some) < light


def test_a_series_has_its_share_of_problems_without_a_plan() -> None:
    made = list(series(("ferry", "jugs"), (1, 2), 40, seed=3, unsolvable=0.25))
    assert sum(problem.plan is None for problem in made) == 8
    assert [problem.id for problem in made] == [
        problem.id for problem in series(("ferry", "jugs"), (1, 2), 40, seed=3, unsolvable=0.25)
    ]
    assert len({problem.problem for problem in made}) > 20


def test_the_plan_as_an_answer_has_the_whole_reward() -> None:
    for problem in series(count=len(FAMILIES), levels=(2,)):
        assert problem.plan is not None
        (score,) = PlanRewards().scores(
            ["\n".join(problem.plan)], domain=problem.domain, problem=problem.problem,
            best=problem.best,
        )  # fmt: skip
        assert score.reward == 1.0, (problem.id, score.says)


def test_the_command_writes_lines_for_trainers(hvr_: Hvr, tmp_path: Path) -> None:
    file = tmp_path / "train.jsonl"
    ended = hvr_("problems", "--count", "6", "--level", "1-2", "--unsolvable", "0.5",
                 "--family", "grid", "--output", str(file))  # fmt: skip
    assert ended.code == 0
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 6
    assert {row["solvable"] for row in rows} == {True, False}
    assert all(row["domain"] in row["prompt"] and row["problem"] in row["prompt"] for row in rows)
    assert all(row["solvable"] == (row["best"] is not None) for row in rows)


@pytest.mark.parametrize(
    ("options", "says"),
    [(("--family", "chess"), "no family named 'chess'"), (("--level", "7"), "from 1 to 5"),
     (("--level", "x"), "a level or a range"), (("--unsolvable", "2"), "from 0 to 1")],
)  # fmt: skip
def test_what_cannot_be_used_is_named(hvr_: Hvr, options: tuple[str, str], says: str) -> None:
    ended = hvr_("problems", *options)
    assert ended.code == 2 and says in ended.err


def test_unknown_names_are_errors() -> None:
    with pytest.raises(UsageError):
        graded("chess", 1, 0)
    with pytest.raises(UsageError):
        list(series((), (1,)))
