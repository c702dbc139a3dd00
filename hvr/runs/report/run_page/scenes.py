"""The floor plans that a run keeps in its folder: before the first step and after the last."""

from __future__ import annotations

from pathlib import Path

from hvr.base.texts import read_json
from hvr.errors import HvrError
from hvr.runs.report.floor_plan.plan import FloorPlan, scene_plan

BEFORE, AFTER = "scene-before.json", "scene-after.json"


def scene_before(folder: Path, scene: str) -> tuple[FloorPlan | None, str]:
    """Return the scene before the run, and a note when the run itself did not record it.

    Raises:
        DataFileError: what it recorded cannot be read.
    """
    recorded = _read(folder / BEFORE)
    if recorded is not None:
        return recorded, ""
    try:
        plan = scene_plan(scene)
    except HvrError as error:
        return None, f"The scene is not recorded in this run, and there is no drawing: {error}."
    return plan, f"Not recorded in this run: this is how {plan.scene} starts."


def scene_after(folder: Path) -> FloorPlan | None:
    """Return the scene after the run; None when it is not recorded.

    Raises:
        DataFileError: what it recorded cannot be read.
    """
    return _read(folder / AFTER)


def _read(path: Path) -> FloorPlan | None:
    if not path.is_file():
        return None
    return FloorPlan.from_json(read_json(path, strict=False), str(path))
