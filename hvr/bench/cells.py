"""The cells of a bench and their scores: settings, tasks, models, and what came of each."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeAlias

from hvr.base.secrets.scrubber import Scrubber
from hvr.base.texts import check_fields
from hvr.errors import DataFileError, UsageError
from hvr.models.choice import ModelChoice
from hvr.models.connect import is_simulation
from hvr.models.meter import MeteredUse
from hvr.policies.llm.settings import settings_named
from hvr.policies.registry import policy_class
from hvr.runs.tasks import label, load_task
from hvr.worlds.scenes import load_scene

# Scores -------------------------------------------------------------------------------------------
# Scores of one planned task, and the columns that report them.

# Scores -------------------------------------------------------------------------------------------
# Scores of one planned task.


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The measures of one plan; shares are 0 to 1, None is "not applicable" or "not known".

    Args:
        plan_length: steps of the plan.
        truth_length: steps that LD compares with: the ground truth's in its scene, in others
            those of the shortest plan known.
        pc: plan correctness; None in a scene without a ground truth.
        es: execution success; None unless PC is 1 and the plan was executed.
        ld: length discrepancy.
        epv: expanded plan verification.
        mpv_before: macro plan verification of the macro plan as first written; None without H.
        mpv_after: the same after correction; None without H or V.
        aabv_before: block verification as first written; None without H.
        aabv_after: the same after correction; None without H or V.
        goal_conditions: share of the goal's conditions that hold where the plan ends or stops.
        success: every step is applicable and the goal holds after the last.
        executed: steps carried out in the environment before the first failure; None when not
            executed.
        reached: the goal holds in what was seen after execution; None when not executed.
        best: steps of the shortest plan known for the scene.
        step_budget: most steps that the task wants a plan to take; None where it has no budget.
        aligned: PC, ES and LD are against the plan itself without unnecessary steps, see
            `hvr.bench.scoring.OPEN_ENDED`.
        corrections: tries that were asked of the model to correct blocks.
        planner_calls: calls of the classical planner.
        library_hits: blocks taken from the library.
        repaired: blocks that the classical planner wrote part of.
        removed: steps that elimination left out.
        spent: calls, tokens, cost, time.
        failures: how often what went wrong, by kind.
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
    spent: MeteredUse = field(default_factory=MeteredUse)
    failures: Mapping[str, int] = field(default_factory=dict, hash=False)

    @property
    def over(self) -> float | None:
        """How much longer a plan that reaches the goal is than the shortest known, as a share."""
        return self.plan_length / self.best - 1 if self.success and self.best else None

    @property
    def within_budget(self) -> bool | None:
        """Whether the plan reaches the goal within the task's budget of steps; None without one."""
        if self.step_budget is None:
            return None
        return self.success and self.plan_length <= self.step_budget

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values["spent"] = {f.name: getattr(self.spent, f.name) for f in fields(MeteredUse)}
        values["failures"] = dict(self.failures)
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Scores:
        """Read what `to_json` wrote.

        Raises:
            DataFileError: an entry is missing or unknown.
        """
        try:
            check_fields(cls, values)
            check_fields(MeteredUse, values["spent"])
            failures = {str(k): int(n) for k, n in values["failures"].items()}
            spent = MeteredUse(**values["spent"])
            return cls(**{**values, "spent": spent, "failures": failures})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataFileError(f"these are no scores of this version of hvr: {error}") from error


# Columns ------------------------------------------------------------------------------------------
# Columns of reports: name and unit of each measure, and its value in scores.

MODERATE = tuple(f"T{n}" for n in range(1, 7))
"""Tasks of moderate complexity (paper, tables 1 and 5)."""

HIGH = tuple(f"T{n}" for n in range(7, 13))
"""Tasks of high complexity."""


@dataclass(frozen=True)
class Column:
    """A measure.

    Args:
        key: short name, as in CSV and JSON.
        title: for people.
        percent: a share, shown as per cent.
        better: 1 when more is better, -1 when less is, 0 when neither.
        value: reads it; None where it does not apply or is not known.
    """

    key: str
    title: str
    percent: bool
    better: int
    value: Callable[[Scores], float | None]

    @property
    def of_paper(self) -> bool:
        """It is a measure of the paper."""
        return self.key.partition("_")[0] in {"pc", "es", "ld", "epv", "mpv", "aabv"}

    def show(self, value: float | None) -> str:
        """Return a value as text, `–` for none."""
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
        Column(
            "over",
            "Steps over the best known, of plans that reach the goal",
            True,
            -1,
            lambda s: s.over,
        ),
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
        Column("planner_calls", "Planner calls", False, 0, lambda s: float(s.planner_calls)),
        Column("library_hits", "Library hits", False, 0, lambda s: float(s.library_hits)),
        Column("tokens", "Tokens in and out", False, -1, _tokens),
        Column("cost", "Cost (US$)", False, -1, lambda s: s.spent.cost),
        Column("seconds", "Seconds", False, -1, lambda s: s.spent.seconds),
    )
}


# Cells --------------------------------------------------------------------------------------------
# The cells of a bench: what is to be planned, and what came of it.

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
