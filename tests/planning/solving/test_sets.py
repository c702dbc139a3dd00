"""Sets of problems and streams of plans: tables, resuming, scores, Fast Downward's own options."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.planning.solving.solve import NO_PLAN, PLAN, SetRow
from hvr.validation import validate
from tests import warm
from tests.conftest import Hvr
from tests.survivors import working_in

DOMAIN = """(define (domain ways) (:requirements :typing :action-costs) (:types place)
 (:predicates (at ?p - place) (road ?a ?b - place)) (:functions (total-cost))
 (:action go :parameters (?a ?b - place) :precondition (and (at ?a) (road ?a ?b))
  :effect (and (at ?b) (not (at ?a)) (increase (total-cost) 2))))"""


def problem(roads: int, goal: str) -> str:
    names = [f"p{n}" for n in range(roads + 1)]
    ways = " ".join(f"(road {a} {b})" for a, b in pairwise(names))
    return (
        f"(define (problem w) (:domain ways) (:objects {' '.join(names)} away - place)"
        f"(:init (at p0) {ways} (= (total-cost) 0)) (:goal (at {goal})) "
        "(:metric minimize (total-cost)))"
    )


@pytest.fixture
def ways(tmp_path: Path) -> Path:
    folder = tmp_path / "ways"
    (folder / "problems").mkdir(parents=True)
    (folder / "domain.pddl").write_text(DOMAIN)
    for number in (1, 2, 3):
        (folder / "problems" / f"p{number}.pddl").write_text(problem(number, f"p{number}"))
    return folder


def rows(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.slow
def test_a_folder_is_a_table_and_its_plans(hvr_: Hvr, ways: Path, tmp_path: Path) -> None:
    (ways / "problems" / "p4.pddl").write_text(problem(1, "away"))
    (ways / "problems" / "p5.pddl").write_text("(define (problem w) (:domain ways) (:goal")
    ended = hvr_("solve", ways, "--budget", "10", "--save", tmp_path / "out",
                 "--csv", tmp_path / "t.csv", "--jobs", "2", "--optimal")  # fmt: skip
    assert ended.code == 2, ended.err
    table = ended.out.splitlines()
    assert table[1].split()[:5] == ["p1.pddl", "plan", "2", "1", "best"]
    assert table[4].split()[:4] == ["p4.pddl", "no", "plan", "no"]
    assert table[5].split()[:2] == ["p5.pddl", "unusable"]
    assert table[-1].startswith("3 of 5 problems solved, all plans valid, 3 proven optimal")
    with (tmp_path / "t.csv").open(newline="") as file:
        told = list(csv.DictReader(file))
    assert [line["cost"] for line in told] == ["2", "4", "6", "", ""]
    plans = sorted((tmp_path / "out" / "plans").iterdir())
    assert [path.name for path in plans] == ["001-p1.plan", "002-p2.plan", "003-p3.plan"]
    for number, plan in enumerate(plans, 1):
        file = ways / "problems" / f"p{number}.pddl"
        assert validate(ways / "domain.pddl", file, plan).valid


@pytest.mark.slow
def test_a_second_run_does_only_what_is_left(hvr_: Hvr, ways: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("solve", ways / "domain.pddl", ways / "problems", "--budget", "10", "--save", out)
    assert hvr_(*words).code == 0
    lines = (out / "results.jsonl").read_text().splitlines(keepends=True)
    (out / "results.jsonl").write_text(lines[0] + lines[1] + lines[2][:40])
    ended = hvr_(*words, "--json")
    assert ended.code == 0 and "2 problems of 3 already done" in ended.err
    assert json.loads(ended.out)["summary"]["solved"] == 3
    again = (out / "results.jsonl").read_text().splitlines(keepends=True)
    assert again[:2] == lines[:2] and len(again) == 3
    assert "3 problems of 3 already done" in hvr_(*words).err
    moved = ways.rename(tmp_path / "moved")
    words = ("solve", moved / "domain.pddl", moved / "problems", "--budget", "10", "--save", out)
    assert "3 problems of 3 already done" in hvr_(*words).err, "the set has moved"
    (moved / "problems" / "p2.pddl").write_text(problem(3, "p2"))
    assert "2 problems of 3 already done" in hvr_(*words).err, "the file has changed"
    other = hvr_(*words, "--optimal")
    assert other.code == 2 and "made with other options" in other.err
    (out / "results.jsonl").write_text("{}\n")
    assert "results.jsonl:1: expected a row of results" in hvr_(*words).err


@pytest.mark.slow
def test_a_killed_run_leaves_whole_rows_and_no_planner(ways: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = [sys.executable, "-m", "hvr", "solve", ways, "--budget", "20", "--save", out]
    with warm.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60
        file = out / "results.jsonl"
        while not (file.exists() and file.stat().st_size) and time.monotonic() < end:
            time.sleep(0.02)
        process.kill()
    assert rows(file.read_text()), "each row is whole"
    end = time.monotonic() + 10
    while working_in(tmp_path) and time.monotonic() < end:
        time.sleep(0.1)
    assert not working_in(tmp_path)


@pytest.mark.slow
def test_qualities_refer_to_the_best_known_costs(hvr_: Hvr, ways: Path) -> None:
    lines = [{"domain": "domain.pddl", "problem": f"problems/p{n}.pddl", "best": n} for n in (1, 2)]
    (ways / "set.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    words = ("solve", ways / "set.jsonl", "--budget", "10", "--search", "lazy_greedy([ff()])")
    ended = hvr_(*words, "--json")
    assert ended.code == 0, ended.err
    told = json.loads(ended.out)
    assert [one["planner"] for one in told["problems"]] == ["downward", "downward"]
    assert [one["quality"] for one in told["problems"]] == [0.5, 0.5]
    assert told["summary"]["quality"] == 1.0
    (ways / "set.jsonl").write_text('{"domain": "domain.pddl"}\n')
    assert '"problem" must be a file name' in hvr_(*words).err


@given(
    st.fractions(0, 1000), st.fractions(0, 1000), st.floats(0, 400), st.floats(0.01, 1000)
)  # fmt: skip
def test_scores_are_shares(cost: Fraction, best: Fraction, taken: float, limit: float) -> None:
    row = SetRow("d", "p", "", PLAN, cost=cost, first=taken)
    quality = row.quality(best)
    assert quality is not None and 0 <= quality <= 1 and (quality == 1) == (cost <= best)
    assert 0 <= row.agility(limit) <= 1
    assert row.quality(None) is None, "a plan is not compared with itself"
    assert SetRow("d", "p", "", NO_PLAN, proven=True).quality(None) == 1
    assert SetRow.of_json(json.loads(json.dumps(row.to_json()))).cost == cost


@pytest.mark.slow
def test_each_better_plan_is_a_line_when_it_comes(hvr_: Hvr, ways: Path, tmp_path: Path) -> None:
    files = (ways / "domain.pddl", ways / "problems" / "p3.pddl")
    ended = hvr_("solve", *files, "--anytime", "--json", "--budget", "4", "--save", tmp_path / "o")
    assert ended.code == 0
    *plans, last = rows(ended.out)
    assert plans and all(plan["event"] == "plan" for plan in plans)
    assert last["event"] == "finished" and last["cost"] == plans[-1]["cost"]
    costs = [Fraction(str(plan["cost"])) for plan in plans]
    assert costs == sorted(costs, reverse=True)
    shown = hvr_("solve", *files, "--anytime", "--budget", "4", "-q")
    assert "cost 6, 3 steps, valid" in shown.out.splitlines()[0]


@pytest.mark.slow
def test_a_table_replaces_no_file_of_the_set(hvr_: Hvr, ways: Path, tmp_path: Path) -> None:
    (ways / "notes.txt").write_text("mine")
    before = {file: file.read_bytes() for file in ways.rglob("*") if file.is_file()}
    for file in before:
        ended = hvr_("solve", ways, "--csv", file)
        assert ended.code == 2
        assert str(file) in ended.err
    saved = tmp_path / "saved"
    saved.mkdir()
    assert hvr_("solve", ways, "--save", saved, "--csv", saved / "results.jsonl").code == 2
    assert {file: file.read_bytes() for file in before} == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--alias", "lama", "--search", "x"), "not allowed with"),
        (("--alias", "lama", "--optimal"), "not known to be optimal"),
        (("--search", "--evil"), "expected one argument"),
        (("--alias", "nope"), "unknown alias: 'nope'"),
        (("--alias", "lama", "--planner", "forward"), "requires the planner downward"),
        (("--csv", "x.csv"), "requires a folder or a manifest"),
        (("--execute", "--anytime"), "cannot be combined with --execute"),
    ],
)
def test_options_that_do_not_go_together(
    hvr_: Hvr, ways: Path, words: tuple[str, ...], message: str
) -> None:
    ended = hvr_("solve", ways / "domain.pddl", ways / "problems" / "p1.pddl", *words)
    assert ended.code == 2 and message in ended.err


def test_sets_without_problems_are_refused(hvr_: Hvr, tmp_path: Path, ways: Path) -> None:
    assert "found no problem" in hvr_("solve", tmp_path / "ways" / "problems").err
    (tmp_path / "empty").mkdir()
    assert "found no problem" in hvr_("solve", tmp_path / "empty").err
    assert "not a set" in hvr_("solve", ways, "--anytime").err
    assert "the domain file" in hvr_("solve", ways, ways / "problems").err
    assert "names the domains itself" in hvr_("solve", ways / "domain.pddl", "set.jsonl").err
