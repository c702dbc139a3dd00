"""The cells of a bench: what is to be planned, and what came of it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from hvr.base.secrets.scrubber import Scrubber
from hvr.base.texts import check_fields
from hvr.bench.scores import Scores
from hvr.errors import DataFileError, UsageError
from hvr.models.choice import ModelChoice
from hvr.models.connect import is_simulation
from hvr.policies.llm.settings import settings_named
from hvr.policies.registry import policy_class
from hvr.runs.tasks import label, load_task
from hvr.worlds.scenes import load_scene

_SLUG = 60

POLICY = "policy:"
"""Stands before the name of a policy where a cell has a setting otherwise."""
NO_MODEL = "none"
"""The model of a policy that asks none."""
FAILED = 3
"""The exit code of what nobody foresaw."""


def policy_of(setting: str) -> str | None:
    """Return the name of the policy that stands for a setting; None for a setting."""
    return setting.removeprefix(POLICY) if setting.startswith(POLICY) else None


def parts_of_setting(setting: str) -> dict[str, Any]:
    """Return what a setting stands for, as plain JSON values.

    Raises:
        UsageError: There is no such setting.
    """
    policy = policy_of(setting)
    return settings_named(setting).to_json() if policy is None else {"policy": policy}


@dataclass(frozen=True, order=True)
class Cell:
    """One plan to make.

    Args:
        task: id of the task, or the path of the file of a user's own.
        scene: where.
        setting: name of the settings, such as `HVR` or `HVR+planner_repair`, or `policy:` and the
            name of a policy.
        model: spec of the model, such as `scripted:error=0.1` or `openai:gpt-4o-mini`; `none` for a
            policy that asks none.
        seed: of the model and the environment.
    """

    task: str
    scene: str
    setting: str
    model: str
    seed: int

    @property
    def id(self) -> str:
        """Stable, unlike any other cell's, and usable as a file name."""
        words = f"{label(self.task)}-{self.setting}-{self.model}-{self.scene}-{self.seed}"
        slug = re.sub(r"[^A-Za-z0-9.+]+", "_", words)[:_SLUG].strip("._")
        text = json.dumps(self.to_json(), sort_keys=True)
        return f"{slug}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"

    @property
    def simulated(self) -> bool:
        """The model is a simulation of one, by its spec."""
        return is_simulation(self.model)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class CellOptions:
    """What all cells of a bench have in common; it travels to other processes.

    Args:
        execute: carry plans out in the embedded kitchen.
        model: how models are asked; which one, and with which setting, each cell says. Its limits
            hold for all cells together, however often the bench is gone on with.
        cassettes: folder of transcripts of an earlier bench, whose answers are replayed.
    """

    execute: bool = True
    model: ModelChoice = field(default_factory=ModelChoice)
    cassettes: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what makes it another bench, as plain JSON values.

        A larger budget or another cache does not: a bench may be gone on with after either.
        """
        model = self.model
        values: dict[str, Any] = {
            "execute": self.execute,
            # An address may have a password in it.
            "base_url": Scrubber().text(model.base_url) if model.base_url else None,
            "cassettes": str(self.cassettes) if self.cassettes else None,
            "embedder": model.embedder,
            "extra": {},  # of earlier versions, whose benches are gone on with
        }
        if model.temperature:
            values["temperature"] = model.temperature
        if model.library is not None:
            values["library"] = str(model.library)
        return values


@dataclass(frozen=True, kw_only=True)
class CellResult:
    """What came of a cell.

    Args:
        cell: which one.
        scores: the measures; None when it ended in an error.
        error: what went wrong; empty when nothing did.
        error_kind: the name of the error's class.
        exit_code: of the error, see `hvr.errors`; 0 when nothing went wrong.
        model: how the model names itself.
        simulated: it is no language model but a simulation of one.
        seconds: wall time of the whole cell.
        record: how the plan came about, as JSON.
    """

    cell: Cell
    scores: Scores | None
    error: str = ""
    error_kind: str = ""
    exit_code: int = 0
    model: str = ""
    simulated: bool = False
    seconds: float = 0.0
    record: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def finished(self) -> bool:
        """It has scores; otherwise it is tried again when the bench is resumed."""
        return self.scores is not None

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "cell": self.cell.to_json(),
            "scores": self.scores.to_json() if self.scores else None,
            "error": self.error,
            "error_kind": self.error_kind,
            "exit_code": self.exit_code,
            "model": self.model,
            "simulated": self.simulated,
            "seconds": round(self.seconds, 4),
            "record": dict(self.record),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> CellResult:
        """Read what `to_json` wrote.

        Raises:
            DataFileError: an entry is missing or unknown.
        """
        try:
            scores = values["scores"]
            check_fields(cls, values)
            check_fields(Cell, values["cell"])
            known = {**values, "cell": Cell(**values["cell"])}
            known["scores"] = None if scores is None else Scores.from_json(scores)
            return cls(**known)
        except (KeyError, TypeError) as error:
            raise DataFileError(f"this is no result of a cell: {error}") from error


RunCell: TypeAlias = Callable[[Cell, CellOptions, Path], CellResult]
"""Plans and scores a cell; the folder is that of the bench, for transcripts."""


def plan_cells(
    tasks: Iterable[str],
    settings: Iterable[str],
    models: Iterable[str],
    seeds: Sequence[int],
    scene: str | None = None,
    policies: Iterable[str] = (),
) -> tuple[Cell, ...]:
    """Return all cells, those of one task together.

    Args:
        tasks: ids of tasks.
        settings: names of settings.
        models: specs of models.
        seeds: one plan for each.
        scene: where; None for the scene of each task's ground truth.
        policies: names of policies, or `module:attribute`; one that asks no model is benched
            without.

    Raises:
        UsageError: there is no such task, setting or policy, the task cannot be done in the
            scene, or there is nothing to do.
        SceneError: there is no such scene.
    """
    loaded = [load_task(name) for name in dict.fromkeys(tasks)]
    asked = tuple(dict.fromkeys(models))
    chosen = dict.fromkeys(settings, asked)
    for name in chosen:
        settings_named(name)
    for name in policies:
        chosen[f"{POLICY}{name}"] = asked if policy_class(name).asks_model else (NO_MODEL,)
    place = load_scene(scene).name if scene else None
    for task in loaded:
        if place is not None and place not in task.scenes:
            raise UsageError(
                f"{place} lacks what {task.id} needs; it can be done in {', '.join(task.scenes)}"
            )
    cells = tuple(
        Cell(task.reference, place or task.ground_truth.scene, setting, model, seed)
        for task in loaded
        for setting, some in chosen.items()
        for model in some
        for seed in seeds
    )
    if not cells:
        raise UsageError(
            "a bench needs at least one task, one setting or policy, one model and one seed"
        )
    return cells
