"""Conditions over time in runs: what another agent does is noticed, reported and repaired."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hvr
from hvr.execution.events import Event, StepDone

pytestmark = pytest.mark.slow


def changed(target: str, field: str, value: bool, step: int) -> dict[str, Any]:
    what = {"target": target, "field": field, "value": value}
    return {"kind": "changed_by_other", "when": {"step": step}, "what": what}


def carried_out(
    text: str, fault: dict[str, Any], folder: Path, sight: str = "omniscient"
) -> tuple[hvr.Run, list[str]]:
    """A run with one fault, and its steps."""
    faults, steps = folder / "faults.json", list[str]()
    faults.write_text(json.dumps({"seed": 0, "faults": [fault]}), encoding="utf-8")

    def listen(event: Event) -> None:
        if isinstance(event, StepDone):
            steps.append(str(event.action))

    options = hvr.Options(
        scene="FloorPlan1", reader="grammar", save=folder / "run", faults=faults, sight=sight
    )
    return hvr.plan(text, options=options, listen=listen), steps


def test_a_state_to_keep_is_restored_and_the_violation_reported(tmp_path: Path) -> None:
    text = "keep the light switch on while you work, and make coffee"
    run, steps = carried_out(text, changed("lightswitch-1", "isToggled", False, 4), tmp_path)
    assert "(toggle_on lightswitch-1)" in steps
    assert run.finished is not None and not run.reached
    assert "at all times lightswitch-1 is on. The cause is not the robot." in run.finished.reason


@pytest.mark.parametrize("sight", ["omniscient", "doors"])
def test_a_reaction_covers_things_outside_the_plan(tmp_path: Path, sight: str) -> None:
    text = "wash the mug and whenever a cabinet is open, close it"
    run, steps = carried_out(text, changed("cabinet-5", "isOpen", True, 4), tmp_path, sight)
    assert run.reached and steps[-1] == "(close_obj cabinet-5)"


def test_a_state_that_ends_too_early_is_restored(tmp_path: Path) -> None:
    text = "hold the mug until the coffee machine is on"
    run, steps = carried_out(text, {"kind": "drop", "when": {"step": 3}}, tmp_path)
    again = steps.index("(pick_up mug-1)", 3)
    assert again < steps.index("(toggle_on coffeemachine-1)")
    assert run.finished is not None and "before mug-1 is not in the hand" in run.finished.reason


def test_limited_sight_is_mentioned(tmp_path: Path) -> None:
    text = "wash the mug and whenever a cabinet is open, close it"
    run, _ = carried_out(text, changed("cabinet-5", "isOpen", True, 4), tmp_path, "visible")
    assert run.reached and "checked only where the robot looked" in run.verdict


def test_both_branches_keep_to_conditions_over_time(tmp_path: Path) -> None:
    text = (
        "if there is an egg in the fridge, put it in the sink, otherwise wash the mug. "
        "whenever you open the fridge, close it"
    )
    options = hvr.Options(scene="FloorPlan1", sight="doors", reader="grammar", save=tmp_path / "r")
    run = hvr.plan(text, options=options)
    assert run.reached, run.verdict
    branches = json.loads((run.folder / "branches.json").read_text(encoding="utf-8"))["branches"]
    assert all("whenever the fridge is open" in b["reading"][-1] for b in branches)
    for name in ("yes", "no"):
        assert "sometime-after" in (run.folder / f"branch-{name}-problem.pddl").read_text()
