"""Scoring of detection, and runs with faults at every step."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from benchmarks import failures
from hvr.execution.deviations import Deviation, DeviationKind, Side
from hvr.runs.tasks import load_task
from hvr.worlds.faults import FaultKind
from studies.detection_scoring import Detection, detection, rates
from studies.fault_runs import Baseline, Lab, Row, cases, run_case, run_free
from studies.fault_runs.table import by_kind, confusion, without_faults


def failure(step: int, kind: DeviationKind) -> Deviation:
    return Deviation(kind, Side.POST, (), step, None, "")


def test_the_first_failure_from_the_fault_on_counts() -> None:
    said = [
        failure(2, DeviationKind.BLOCKED),
        failure(6, DeviationKind.NO_EFFECT),
        failure(5, DeviationKind.DROPPED),
        failure(5, DeviationKind.NO_EFFECT),
    ]
    found = detection(FaultKind.DROP, 4, said)
    assert found.noticed == 5 and not found.in_time and found.right_kind
    assert found.reported == (DeviationKind.DROPPED, DeviationKind.NO_EFFECT)
    assert found.early == (DeviationKind.BLOCKED,)
    assert detection(FaultKind.DROP, 5, said).in_time
    assert detection(FaultKind.DROP, 7, said).noticed is None


def test_what_cannot_be_told_apart_counts_as_right() -> None:
    found = Detection(FaultKind.DROP, 2, 2, (DeviationKind.NO_EFFECT,))
    assert not found.right_kind
    assert dataclasses.replace(found, own=True).right_kind


def test_recall_and_precision() -> None:
    dropped, nothing = DeviationKind.DROPPED, DeviationKind.NO_EFFECT
    found = [
        Detection(FaultKind.DROP, 3, 3, (dropped,)),
        Detection(FaultKind.DROP, 3, 4, (dropped,)),
        Detection(FaultKind.DROP, 3, None),
        Detection(FaultKind.SILENT, 3, 3, (dropped,)),
        Detection(FaultKind.SILENT, 3, 3, (nothing,), (dropped,)),
    ]
    drop = rates(FaultKind.DROP, found)
    assert (drop.faults, drop.in_time, drop.noticed, drop.right) == (3, 1, 2, 1)
    assert drop.recall == pytest.approx(1 / 3)
    assert (drop.reported, drop.justified) == (4, 2)
    assert drop.precision == pytest.approx(1 / 2)
    assert rates(FaultKind.SILENT, found).precision == 1.0
    assert rates(FaultKind.MOVED, found).recall is None


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab()


@pytest.fixture(scope="module")
def baseline(lab: Lab) -> Baseline:
    return lab.baseline(load_task("T2"), "FloorPlan16")


@pytest.mark.slow
def test_the_baseline_is_quiet(lab: Lab, baseline: Baseline) -> None:
    assert baseline.failures == 0
    assert baseline.planned.plan.actions == tuple(s.action for s in baseline.steps)
    assert [s.number for step in baseline.steps for s in step.sent] == list(
        range(1, sum(len(s.sent) for s in baseline.steps) + 1)
    )
    row = run_free(lab, baseline)
    assert row.reached and not row.early and row.extra == 0


def test_every_kind_has_cases_at_the_steps_that_it_can_affect(baseline: Baseline) -> None:
    found = list(cases(baseline))
    assert len({c.key for c in found}) == len(found)
    assert found == list(cases(baseline))
    steps = {k: [c.step for c in found if c.fault.kind is k] for k in FaultKind}
    every = [s.number for s in baseline.steps if s.sent]
    assert steps[FaultKind.SILENT] == steps[FaultKind.CHANGED] == every
    puts = [s.number for s in baseline.steps if s.action.name.startswith("put")]
    assert steps[FaultKind.OCCUPIED] == puts


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [FaultKind.DROP, FaultKind.SILENT, FaultKind.FAILED, FaultKind.MISSING_STEP], ids=str
)
def test_what_changes_a_fact_is_noticed(lab: Lab, baseline: Baseline, kind: FaultKind) -> None:
    found = list(cases(baseline, [kind]))
    row = run_case(lab, baseline, found[len(found) // 2])
    assert row.injected and row.kind == kind
    assert not row.observable or row.detection.in_time
    assert row.reached and row.extra >= 0


def test_tables_say_what_the_rows_say() -> None:
    drop = Row("k", "T2", "FloorPlan16", "drop", True, True, 3, 3, ("dropped",), reached=True)
    late = dataclasses.replace(drop, noticed=4, reported=("no effect",), reached=False)
    shown = by_kind([drop, late, dataclasses.replace(drop, injected=False)])
    assert "drop                   2     2   50.0%      1   50.0%" in shown
    assert "faults not injected: 1;" in shown
    assert confusion([drop, late]) == "drop: dropped expected, reported: nothing in that step 1"
    noise = Row("k", "T2", "FloorPlan16", "noise", early=("blocked",), steps=9, wrong=5, looks=7)
    assert without_faults([noise]) == (
        "noisy sensor: 1 runs, 9 steps, 1 false alarms, 0 reached; 5 wrong readings, "
        "7 further looks"
    )


@pytest.mark.slow
def test_the_benchmark_goes_on_where_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.jsonl"
    arguments = ["faults", "--tasks", "T2", "--scenes", "1", "--kinds", "drop", "--limit", "3"]
    failures.main([*arguments, "--out", str(out)])
    first = capsys.readouterr().out
    lines = out.read_text(encoding="utf-8").splitlines()
    assert "3 runs with a fault, 0 known" in first and len(lines) == 3
    out.write_text("\n".join([*lines[:2], lines[2][:20]]) + "\n", encoding="utf-8")
    failures.main([*arguments, "--out", str(out)])
    again = capsys.readouterr().out
    assert "3 runs with a fault, 2 known" in again
    assert (
        again.split("\nfault ")[1].split("noticed in")[0]
        == (first.split("\nfault ")[1].split("noticed in")[0])
    )
