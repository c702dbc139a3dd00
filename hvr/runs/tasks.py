"""The paper's tasks T1 to T12 and the harder tasks T13 to T24, one file each in `tasks/`.

Custom tasks are named by the path of their file (docs/reference/tasks.md).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from hvr.base.files import data_path
from hvr.base.texts import read_toml
from hvr.errors import DataFileError, PddlError, UsageError
from hvr.knowledge.world_file import DEFAULT_WORLD, load_world, shipped_worlds, world_of_scene
from hvr.pddl import GroundAction, TypedName, parse_constraint, parse_formula, parse_plan
from hvr.values import Value

_LAST_OF_PAPER = 12
_ENDING = ".toml"
_NAME = re.compile(r"\b([a-z]+)-\d+\b")


class GroundTruth(Value):
    """A minimal plan for one scene.

    Args:
        order: Pairs (i, j) of 1-based block numbers: block i must precede block j. Every order of
            the blocks that respects the pairs reaches the goal, provided that their steps are not
            interleaved.
    """

    scene: str
    blocks: tuple[tuple[GroundAction, ...], ...]
    order: tuple[tuple[int, int], ...]

    @property
    def steps(self) -> tuple[GroundAction, ...]:
        return tuple(action for block in self.blocks for action in block)


class Optimum(Value):
    """The length of the shortest known plan in a scene, and a lower bound for all plans."""

    steps: int
    bound: int

    @property
    def proven(self) -> bool:
        """Whether it is proven that no plan with only the retrieved objects is shorter."""
        return self.bound == self.steps


class PaperTask(Value):
    """A task.

    Args:
        goal_oriented: The request as a desired final state.
        constructive: The request as instructions.
        paraphrases: Further wordings of the request.
        requires: Object types that the scene must contain.
        scenes: Scenes that contain these types.
        paper_steps: Length of the paper's ground truth, including navigation; empty if the paper
            has no such task.
        optimum: Length of the shortest plan, by scene.
        constraints: PDDL trajectory constraints on plans.
        step_budget: Maximum number of steps in the ground truth's scene, if any. Longer plans are
            reported as over budget.
        unseen: Whether objects behind closed doors are initially unknown.
    """

    id: str
    name: str
    goal_oriented: str
    constructive: str
    paraphrases: tuple[str, ...]
    goal: str
    requires: tuple[str, ...]
    scenes: tuple[str, ...]
    paper_steps: str
    ground_truth: GroundTruth
    optimum: Mapping[str, Optimum]
    constraints: tuple[str, ...] = ()
    step_budget: int | None = None
    unseen: bool = False
    file: str = ""

    @property
    def reference(self) -> str:
        """The ID or file path by which `load_task` finds the task."""
        return self.file or self.id

    def budget_in(self, scene: str) -> int | None:
        """Return the step budget, or None for any scene other than the ground truth's."""
        return self.step_budget if scene == self.ground_truth.scene else None

    @property
    def sentences(self) -> tuple[str, ...]:
        """All wordings of the request."""
        return (self.goal_oriented, self.constructive, *self.paraphrases)


def task_ids(folder: Path | None = None, world: str = DEFAULT_WORLD) -> tuple[str, ...]:
    """Return the IDs of the tasks in a folder or world in natural order: T1, …, T5, T5bis, T6, …"""
    files = folder.glob("*.toml") if folder is not None else load_world(world).task_files
    return tuple(sorted((path.stem for path in files), key=_natural))


def paper_task_ids(folder: Path | None = None) -> tuple[str, ...]:
    """Return the paper's task IDs, T1 to T12 with T5bis; `folder` None means hvr's own tasks."""
    return tuple(name for name in task_ids(folder) if _natural(name)[0] <= _LAST_OF_PAPER)


def expand_ids(names: Iterable[str], folder: Path | None = None) -> tuple[str, ...]:
    """Expand a user's task list of IDs, ranges (`T13-T24`), `all`, `paper`, and world names.

    File paths are kept, and folders are replaced by their task files. `all` means the tasks of the
    default world.

    Raises:
        UsageError: An ID is unknown, a range is empty, or a folder contains no tasks.
    """
    usual = task_ids(folder)
    found: list[str] = []
    for name in names:
        first, dash, last = name.partition("-")
        known = usual if folder is not None else _world_ids(first, usual)
        if name.endswith(_ENDING):
            found.append(name)
        elif "/" in name or "\\" in name:
            own = [str(Path(name) / f"{i}{_ENDING}") for i in task_ids(Path(name))]
            if not own:
                raise UsageError(f"{name}: no folder with task files (*{_ENDING})")
            found += own
        elif name.lower() == "all":
            found += usual
        elif folder is None and name.lower() in shipped_worlds() and task_ids(world=name.lower()):
            found += task_ids(world=name.lower())
        elif name.lower() == "paper":
            found += paper_task_ids(folder)
        elif dash:
            begin, end = (known.index(_id(text, known)) for text in (first, last))
            if begin > end:
                raise UsageError(f"the range {name!r} is empty; did you mean {last}-{first}?")
            # T5bis belongs to T5
            found += (k for k in known[begin:] if _natural(k)[0] <= _natural(known[end])[0])
        else:
            found.append(_id(name, known))
    return tuple(dict.fromkeys(found))


def _world_ids(name: str, usual: tuple[str, ...]) -> tuple[str, ...]:
    file = _of_other_worlds().get(name.strip().lower())
    return usual if file is None else task_ids(file.parent)


def _id(text: str, known: Sequence[str]) -> str:
    by_key = {name.lower(): name for name in known}
    name = by_key.get(text.strip().lower())
    if name is None:
        near = difflib.get_close_matches(text, list(known), n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(f"unknown task {text!r}{hint} (tasks: {', '.join(known)})")
    return name


def label(reference: str) -> str:
    """Return the short name of a task: its ID, or its file name without extension."""
    return Path(reference).stem if reference.endswith(_ENDING) else reference


def load_task(task_id: str, folder: Path | None = None) -> PaperTask:
    """Read a task.

    Args:
        task_id: Task ID, or path of a custom task's file.
        folder: Folder with the tasks that have IDs; None for those included in hvr, in all worlds.

    Raises:
        UsageError: No task has this ID.
        DataFileError: The file is missing or damaged.
    """
    if task_id.endswith(_ENDING):
        path = Path(task_id).absolute()
        return _task(read_toml(path), path, own=False)
    if folder is None and (other := _of_other_worlds().get(task_id.strip().lower())) is not None:
        return _task(read_toml(other), other, own=True)
    path = (folder or data_path("tasks")) / f"{_id(task_id, task_ids(folder))}{_ENDING}"
    return _task(read_toml(path), path, own=folder is None)


@cache
def _of_other_worlds() -> Mapping[str, Path]:
    names = [name for name in shipped_worlds() if name != DEFAULT_WORLD]
    return {path.stem.lower(): path for name in names for path in load_world(name).task_files}


def _task(values: Mapping[str, Any], path: Path, *, own: bool) -> PaperTask:
    try:
        _check_names(values)
        values = {**_DEFAULTS, **values}
        truth, optima = _entry(values, "ground_truth", dict), _entry(values, "optimum", dict)
        optimum = {
            scene: Optimum(_whole(entry, "steps"), _whole(entry, "bound"))
            for scene in optima
            for entry in [_entry(optima, scene, dict)]
        }
        task = PaperTask(
            id=_entry(values, "id", str),
            name=_entry(values, "name", str),
            goal_oriented=_entry(values, "goal_oriented", str),
            constructive=_entry(values, "constructive", str),
            paraphrases=_texts(values, "paraphrases"),
            goal=_entry(values, "goal", str),
            requires=_texts(values, "requires"),
            scenes=tuple(optimum),
            paper_steps=_entry(values, "paper_steps", str),
            ground_truth=GroundTruth(
                _entry(truth, "scene", str),
                tuple(parse_plan("\n".join(b), file=str(path)) for b in truth["blocks"]),
                _pairs(truth, "order"),
            ),
            optimum=optimum,
            constraints=_texts(values, "constraints"),
            step_budget=_whole(values, "step_budget") if "step_budget" in values else None,
            unseen=_entry(values, "unseen", bool),
            file="" if own else str(path),
        )
        _check(task)
        if not own:  # hvr's own tasks are tested
            _check_formulas(task)
    except KeyError as error:
        raise DataFileError(f"{path}: the entry {error.args[0]!r} is missing") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise DataFileError(f"{path}: {error}") from error
    return task


_DEFAULTS: Mapping[str, Any] = {
    "paraphrases": [],
    "requires": [],
    "paper_steps": "",
    "constraints": [],
    "unseen": False,
}
_ENTRIES = frozenset(
    (
        "id name goal_oriented constructive paraphrases goal constraints requires scenes "
        "paper_steps step_budget unseen ground_truth optimum"
    ).split()
)


def _check_names(values: Mapping[str, Any]) -> None:
    for name in values:
        if name not in _ENTRIES:
            near = difflib.get_close_matches(name, sorted(_ENTRIES), n=1)
            hint = (
                f"; did you mean {near[0]!r}?"
                if near
                else f" (entries: {', '.join(sorted(_ENTRIES))})"
            )
            raise ValueError(f"{name!r} is not an entry of a task{hint}")


def _check(task: PaperTask) -> None:
    truth = task.ground_truth
    if truth.scene not in task.optimum:
        raise ValueError(f"'optimum' must contain {truth.scene}, the scene of 'ground_truth'")
    count = len(truth.blocks)
    for pair in truth.order:
        if not all(1 <= number <= count for number in pair) or pair[0] == pair[1]:
            raise ValueError(
                f"'order' must contain block numbers from 1 to {count}, got {list(pair)}"
            )
    bound = task.optimum[truth.scene].bound
    if task.step_budget is not None and task.step_budget < bound:
        raise ValueError(
            f"'step_budget' must be at least {bound}, the minimum number of steps, got "
            f"{task.step_budget}"
        )


def _check_formulas(task: PaperTask) -> None:
    """Parse goal and constraints, so that a bench finds errors before it spends money."""
    domain = world_of_scene(task.ground_truth.scene).agent.domain()
    texts = {"goal": (task.goal,), "constraints": task.constraints}
    named = {m[0]: m[1] for text in (task.goal, *task.constraints) for m in _NAME.finditer(text)}
    objects = [TypedName(name, (kind,)) for name, kind in named.items()]
    for entry, formulas in texts.items():
        parse = parse_formula if entry == "goal" else parse_constraint
        for text in formulas:
            try:
                parse(text, domain, objects, file=entry)
            except PddlError as error:
                raise ValueError(f"{entry!r}: {error}") from error


_KINDS: Mapping[type, str] = {str: "a string", dict: "a table", bool: "true or false"}
_Kind = TypeVar("_Kind", str, dict[str, Any], bool)


def _entry(values: Mapping[str, Any], key: str, kind: type[_Kind]) -> _Kind:
    value = values[key]
    if not isinstance(value, kind):
        raise TypeError(f"{key!r} must be {_KINDS[kind]}, got {value!r}")
    return value


def _texts(values: Mapping[str, Any], key: str) -> tuple[str, ...]:
    texts = values[key]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise TypeError(f"{key!r} must be a list of strings, got {texts!r}")
    return tuple(texts)


def _pairs(values: Mapping[str, Any], key: str) -> tuple[tuple[int, int], ...]:
    pairs = []
    for pair in values[key] if isinstance(values[key], list) else [values[key]]:
        match pair:
            case [int(a), int(b)]:
                pairs.append((a, b))
            case _:
                raise TypeError(f"{key!r} must be a list of pairs of numbers, got {pair!r}")
    return tuple(pairs)


def _whole(values: Mapping[str, Any], key: str) -> int:
    number = values[key]
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise TypeError(f"{key!r} must be a positive integer, got {number!r}")
    return number


def _natural(name: str) -> tuple[int, str]:
    match = re.match(r"\D*(\d+)(.*)", name)
    return (int(match[1]), match[2]) if match else (0, name)
