"""Cells of a bench, their results and scores, and the columns of reports."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from hvr.base.declared import decode
from hvr.base.secrets import Scrubber
from hvr.errors import DataFileError, UsageError
from hvr.models.choice import ModelChoice
from hvr.models.connect import is_simulation
from hvr.models.layers import MeteredUse
from hvr.policies import policy_class
from hvr.policies.llm.settings import settings_named
from hvr.runs.tasks import label, load_task
from hvr.values import JsonObject
from hvr.worlds.scenes import load_scene

# Scores -------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Scores(JsonObject):
    """Measures of a plan. Shares are from 0 to 1; None means not applicable or unknown.

    H and V are features of settings (see `hvr.policies.llm.settings`): macro actions and
    verification.

    Args:
        truth_length: Reference length for LD: the length of the plan's reduction if `aligned`, of
            the ground truth in its own scene, and otherwise of the shortest known plan.
        pc: Plan correctness; None in a scene without a ground truth.
        es: Execution success; None unless PC is 1 and the plan was executed.
        mpv_before: Macro plan verification before correction; None if the setting lacks H.
        mpv_after: Macro plan verification after correction; None if the setting lacks H or V.
        aabv_before: Block verification before correction; None if the setting lacks H.
        aabv_after: Block verification after correction; None if the setting lacks H or V.
        goal_conditions: Share of the goal's conditions that hold after the last applicable step.
        success: Whether every step is applicable, the goal holds after the last one, and the plan
            keeps the task's constraints.
        executed: Number of steps executed before the first failure; None if the plan was not
            executed.
        reached: Whether the observed final state satisfies the goal and the plan keeps the task's
            constraints; None if the plan was not executed.
        best: Length of the shortest known plan in the scene.
        step_budget: Maximum number of steps that the task allows; None for no limit.
        aligned: Whether PC, ES and LD compare the plan with its own reduction; see
            `hvr.bench.scoring.OPEN_ENDED`.
        corrections: Number of requests to the model to correct a block.
        repaired: Number of blocks completed by the classical planner.
        removed: Number of redundant steps removed.
        unreadable: Number of answers from which hvr could read no plan.
        repeated: Number of corrections that repeated the previous answer.
        failures: Number of failures by kind.
    """

    plan_length: int
    truth_length: int
    pc: float | None
    es: float | None
    ld: float
    epv: float
    mpv_before: float | None
    mpv_after: float | None
    aabv_before: float | None
    aabv_after: float | None
    goal_conditions: float
    success: bool
    executed: int | None
    reached: bool | None
    best: int | None = None
    step_budget: int | None = None
    aligned: bool = False
    corrections: int = 0
    planner_calls: int = 0
    library_hits: int = 0
    repaired: int = 0
    removed: int = 0
    unreadable: int = 0
    repeated: int = 0
    spent: MeteredUse = field(default_factory=MeteredUse)
    failures: Mapping[str, int] = field(default_factory=dict, hash=False)

    json_shape = "*"

    @property
    def over(self) -> float | None:
        """Excess length over the shortest known plan; None if it is unknown or the plan fails."""
        return self.plan_length / self.best - 1 if self.success and self.best else None

    @property
    def within_budget(self) -> bool | None:
        if self.step_budget is None:
            return None
        return self.success and self.plan_length <= self.step_budget

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Scores:
        return decode(cls, values, "scores", DataFileError)


# Columns ------------------------------------------------------------------------------------------

MODERATE = tuple(f"T{n}" for n in range(1, 7))
"""Tasks of moderate complexity (paper, tables 1 and 5)."""

HIGH = tuple(f"T{n}" for n in range(7, 13))
"""Tasks of high complexity."""


@dataclass(frozen=True)
class Column:
    """A measure as a column of reports.

    Args:
        percent: Whether the value is a share, which reports show in per cent.
        better: 1 if higher is better, -1 if lower is better, 0 if neither.
        value: Function that returns the measure; None if not applicable or unknown.
    """

    key: str
    title: str
    percent: bool
    better: int
    value: Callable[[Scores], float | None]

    @property
    def of_paper(self) -> bool:
        return self.key.partition("_")[0] in {"pc", "es", "ld", "epv", "mpv", "aabv"}

    def show(self, value: float | None) -> str:
        """Return a value as text, or `–` for None."""
        if value is None:
            return "–"
        if self.percent:
            return f"{100 * value:.2f}"
        return f"{value:,.4f}" if self.key == "cost" else f"{value:,.2f}"


def _tokens(scores: Scores) -> float | None:
    spent = scores.spent
    if spent.input is None or spent.output is None:
        return None
    return spent.input + spent.output + (spent.reasoning or 0)


def _flag(value: bool | None) -> float | None:
    return None if value is None else float(value)


COLUMNS: Mapping[str, Column] = {
    column.key: column
    for column in (
        Column("success", "Valid plan, goal reached", True, 1, lambda s: float(s.success)),
        Column("over", "Extra steps over the shortest known plan", True, -1, lambda s: s.over),
        Column(
            "within_budget",
            "Goal reached within the budget of steps",
            True,
            1,
            lambda s: _flag(s.within_budget),
        ),
        Column("reached", "Goal reached when executed", True, 1, lambda s: _flag(s.reached)),
        Column("pc", "Plan correctness (PC)", True, 1, lambda s: s.pc),
        Column("es", "Execution success (ES)", True, 1, lambda s: s.es),
        Column("ld", "Length discrepancy (LD)", True, -1, lambda s: s.ld),
        Column("epv", "Expanded plan verification (EPV)", True, 1, lambda s: s.epv),
        Column("mpv_before", "MPV before correction", True, 1, lambda s: s.mpv_before),
        Column("mpv_after", "MPV after correction", True, 1, lambda s: s.mpv_after),
        Column("aabv_before", "AABV before correction", True, 1, lambda s: s.aabv_before),
        Column("aabv_after", "AABV after correction", True, 1, lambda s: s.aabv_after),
        Column("goal_conditions", "Goal conditions", True, 1, lambda s: s.goal_conditions),
        Column("calls", "Model calls", False, -1, lambda s: float(s.spent.calls)),
        Column("corrections", "Corrections", False, -1, lambda s: float(s.corrections)),
        Column(
            "repaired", "Blocks that the planner repaired", False, 0, lambda s: float(s.repaired)
        ),
        Column("unreadable", "Unreadable answers", False, -1, lambda s: float(s.unreadable)),
        Column("planner_calls", "Planner calls", False, 0, lambda s: float(s.planner_calls)),
        Column("library_hits", "Library hits", False, 0, lambda s: float(s.library_hits)),
        Column("tokens", "Tokens in and out", False, -1, _tokens),
        Column("cost", "Cost (US$)", False, -1, lambda s: s.spent.cost),
        Column("seconds", "Seconds", False, -1, lambda s: s.spent.seconds),
    )
}


# Cells --------------------------------------------------------------------------------------------

_SLUG = 60

POLICY = "policy:"
"""Prefix of a policy's name that takes the place of a setting."""
NO_MODEL = "none"
"""Name given instead of a model to a policy that uses no language model."""
FAILED = 3
"""Exit code for unexpected errors."""


def policy_of(setting: str) -> str | None:
    """Return the policy named by the setting `policy:NAME`; None for any other setting."""
    return setting.removeprefix(POLICY) if setting.startswith(POLICY) else None


def parts_of_setting(setting: str) -> dict[str, Any]:
    """Return the components that a setting enables or disables, as JSON values."""
    policy = policy_of(setting)
    return settings_named(setting).to_json() if policy is None else {"policy": policy}


@dataclass(frozen=True, order=True)
class Cell(JsonObject):
    """One plan to make and score: a task in a scene with a setting, a model and a seed.

    Args:
        task: Id of a task, or the path of a custom task file.
        setting: Name of the setting, such as `HVR` or `HVR+planner_repair`, or `policy:` followed
            by the name of a policy.
        model: Spec of the model, such as `scripted:error=0.1` or `openai:gpt-4o-mini`; `none` for a
            policy that uses no model.
        seed: Seed of the model and the environment.
    """

    task: str
    scene: str
    setting: str
    model: str
    seed: int

    json_shape = "*"

    @property
    def id(self) -> str:
        """A stable, unique identifier that is safe as a file name."""
        words = f"{label(self.task)}-{self.setting}-{self.model}-{self.scene}-{self.seed}"
        # The digest below distinguishes cells whose slugs are equal.
        slug = re.sub(r"[^A-Za-z0-9.+]+", "_", words)[:_SLUG].strip("._")
        text = json.dumps(self.to_json(), sort_keys=True)
        return f"{slug}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"

    @property
    def simulated(self) -> bool:
        return is_simulation(self.model)


@dataclass(frozen=True, kw_only=True)
class CellOptions:
    """Options shared by all cells of a bench; must be picklable.

    Args:
        execute: Whether to execute plans in the embedded kitchen.
        model: Options of the models, except the model and the setting, which each cell sets. Limits
            apply to all cells together, across all starts of the bench.
        cassettes: Folder with the transcripts of an earlier bench to replay.
    """

    execute: bool = True
    model: ModelChoice = field(default_factory=ModelChoice)
    cassettes: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the options that identify a bench as JSON values.

        Options such as the budget, the cache and the timeout are excluded, because a bench may be
        resumed with different ones.
        """
        model = self.model
        values: dict[str, Any] = {
            "execute": self.execute,
            # a URL may contain a password
            "base_url": Scrubber().text(model.base_url) if model.base_url else None,
            "cassettes": str(self.cassettes) if self.cassettes else None,
            "embedder": model.embedder,
            "extra": {},  # for benches begun with earlier versions
        }
        if model.temperature:
            values["temperature"] = model.temperature
        if model.library is not None:
            values["library"] = str(model.library)
        return values


@dataclass(frozen=True, kw_only=True)
class CellResult(JsonObject):
    """The result of a cell.

    Args:
        scores: Measures of the plan; None after an error.
        error: Error message, or the reason why the plan ended early; otherwise empty.
        error_kind: Class of the error, or kind of the early end.
        exit_code: Exit code of the error (see `hvr.errors`); 0 if there was none.
        model: Name of the model, its spec if an error occurred, or empty if no model is used.
        record: The planning record as JSON values.
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

    json_shape = (
        "cell scores error error_kind exit_code model simulated seconds=rounded_seconds record"
    )

    @property
    def rounded_seconds(self) -> float:
        return round(self.seconds, 4)

    @property
    def finished(self) -> bool:
        """Whether the cell has scores; if not, a resumed bench retries it."""
        return self.scores is not None

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> CellResult:
        return decode(cls, values, "result of a cell", DataFileError)


RunCell: TypeAlias = Callable[[Cell, CellOptions, Path], CellResult]
"""Plans and scores a cell, and writes its transcripts to the folder of the bench."""


def plan_cells(
    tasks: Iterable[str],
    settings: Iterable[str],
    models: Iterable[str],
    seeds: Sequence[int],
    scene: str | None = None,
    policies: Iterable[str] = (),
) -> tuple[Cell, ...]:
    """Return all cells, grouped by task.

    Args:
        scene: Name of the scene; None for the scene of each task's ground truth.
        policies: Names of policies, or `module:attribute`. A policy that uses no model runs once,
            rather than once per model.

    Raises:
        UsageError: A task, setting or policy is unknown, a task is impossible in the scene, or
            there are no cells.
        SceneError: The scene is unknown.
    """
    loaded = [load_task(name) for name in dict.fromkeys(tasks)]
    specs = tuple(dict.fromkeys(models))
    chosen = dict.fromkeys(settings, specs)
    for name in chosen:
        settings_named(name)
    for name in policies:
        chosen[f"{POLICY}{name}"] = specs if policy_class(name).asks_model else (NO_MODEL,)
    place = load_scene(scene).name if scene else None
    for task in loaded:
        if place is not None and place not in task.scenes:
            raise UsageError(
                f"{place} lacks objects that {task.id} needs; use {', '.join(task.scenes)}"
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
