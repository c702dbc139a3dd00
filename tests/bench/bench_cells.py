"""Importable stand-ins for the function that runs a cell."""

from __future__ import annotations

import os
import time
from pathlib import Path

from hvr.bench.cells import Cell, CellOptions, CellResult, Scores
from hvr.bench.folder import BenchFolder
from hvr.models.errors import ModelError
from hvr.models.layers import MeteredUse


def scores(cell: Cell, **values: float) -> Scores:
    """Return scores that depend only on the cell."""
    good = {"HVR": 1.0, "HV": 0.75, "LLM": 0.25}.get(cell.setting, 0.5)
    good -= 0.05 * (cell.seed % 3)
    good = values.get("pc", good)
    hierarchical, verified = "H" in cell.setting, "V" in cell.setting
    return Scores(
        plan_length=10, truth_length=8, pc=good, es=1.0 if good == 1 else None, ld=0.25,
        epv=good, mpv_before=0.5 if hierarchical else None,
        mpv_after=1.0 if hierarchical and verified else None,
        aabv_before=0.4 if hierarchical else None,
        aabv_after=0.9 if hierarchical and verified else None,
        goal_conditions=good, success=good == 1, executed=10 if good == 1 else None,
        reached=True if good == 1 else None, best=8, corrections=2,
        spent=MeteredUse(calls=int(10 * good), input=1000, output=200, seconds=1.5),
        failures={} if good == 1 else {"inapplicable: near": 1},
    )  # fmt: skip


def result(cell: Cell, **values: float) -> CellResult:
    return CellResult(
        cell=cell, scores=scores(cell, **values), model=f"{cell.model} (full name)",
        simulated=cell.simulated, seconds=0.5, record={"plan": {"length": 10}},
    )  # fmt: skip


def _log(folder: Path, cell: Cell) -> None:
    """Record in the bench folder which process started a cell."""
    with (folder / "log").open("a", encoding="utf-8") as file:
        file.write(f"{os.getpid()} {cell.id}\n")


def quick(cell: Cell, _: CellOptions, folder: Path) -> CellResult:
    _log(folder, cell)
    return result(cell)


def slow(cell: Cell, _: CellOptions, folder: Path) -> CellResult:
    _log(folder, cell)
    time.sleep(0 if cell.seed < 2 else 3600)
    return result(cell)


def failing(cell: Cell, _: CellOptions, folder: Path) -> CellResult:
    _log(folder, cell)
    BenchFolder(folder).transcript(cell).write_text(f"{(folder / 'healed').exists()}")
    if cell.setting == "LLM" and not (folder / "healed").exists():
        raise ModelError("the server closed the connection", kind="connection")
    return result(cell)


def broken(cell: Cell, _: CellOptions, folder: Path) -> CellResult:
    _log(folder, cell)
    if cell.setting == "LLM":
        raise ZeroDivisionError
    return result(cell)


def deadly(cell: Cell, _: CellOptions, folder: Path) -> CellResult:
    _log(folder, cell)
    if cell.setting == "LLM" and cell.seed == 1:
        os._exit(9)
    return result(cell)


def interrupted(cell: Cell, _: CellOptions, folder: Path) -> CellResult:
    _log(folder, cell)
    if cell.seed == 1:
        raise KeyboardInterrupt
    return result(cell)
