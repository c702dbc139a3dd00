"""Runs that were recorded: `replay:FOLDER` repeats request, scene, seed and settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Any

from hvr.base.texts import check_fields
from hvr.errors import DataFileError
from hvr.models.choice import ModelChoice
from hvr.models.config import read_config
from hvr.models.factory import replayed
from hvr.models.replay import Replay


@dataclass(frozen=True)
class Recorded:
    """What is known of a run from its transcript, to repeat it.

    Args:
        folder: of the run.
        run: request, task, scene, seed and settings as they were.
    """

    folder: Path
    run: Mapping[str, Any]


@dataclass(frozen=True)
class _Run:
    """What the header of a transcript must say of its run."""

    request: str
    task: str | None
    scene: str
    seed: int
    planner: str
    budget: float
    max_replans: int
    execute: bool
    sight: str = ""
    error_rate: float = 0.0
    setting: str = ""
    embedder: str = ""
    temperature: float = 0.0


def recorded_run(choice: ModelChoice) -> Recorded | None:
    """Return the run that a `replay:FOLDER` repeats; None for anything else.

    Raises:
        DataFileError: the transcript cannot be read, or does not say what to repeat.
    """
    spec = read_config(choice.spec, trust_project=choice.trust_project).spec
    path = replayed(spec) if spec is not None else None
    if path is None:
        return None
    run = Replay(path).header.get("run")
    if not isinstance(run, dict):
        return None
    try:
        check_fields(_Run, run)
        if missing := {f.name for f in fields(_Run) if f.default is MISSING} - run.keys():
            raise TypeError(f"{min(missing)!r} is missing")
    except TypeError as error:
        raise DataFileError(f"{path}: its first line cannot be repeated: {error}") from None
    return Recorded(path if path.is_dir() else path.parent, run)


def repeated(choice: ModelChoice, recorded: Recorded) -> ModelChoice:
    """Return the choice with the settings of the run that is repeated."""
    run = recorded.run
    return replace(
        choice,
        setting=str(run.get("setting", choice.setting)),
        embedder=str(run.get("embedder", choice.embedder)),
        temperature=float(run.get("temperature", choice.temperature)),
    )
