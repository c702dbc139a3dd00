"""The tasks: T1 to T12 of the paper and the harder T13 to T24, each a file of `tasks/`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hvr.errors import DataFileError, UsageError
from hvr.files import data_path
from hvr.pddl import GroundAction, parse_plan
from hvr.texts import read_toml

_LAST_OF_PAPER = 12


@dataclass(frozen=True)
class GroundTruth:
    """A minimal plan for one scene.

    Args:
        scene: the scene.
        blocks: the plan in blocks of steps.
        order: pairs (i, j) of block numbers, from 1: block i must come before block j. Every
            order of the blocks that respects the pairs reaches the goal; steps of different
            blocks are not interleaved.
    """

    scene: str
    blocks: tuple[tuple[GroundAction, ...], ...]
    order: tuple[tuple[int, int], ...]

    @property
    def steps(self) -> tuple[GroundAction, ...]:
        """The plan as one sequence."""
        return tuple(action for block in self.blocks for action in block)


@dataclass(frozen=True)
class Optimum:
    """The length of a shortest plan in a scene.

    Args:
        steps: length of the shortest plan known.
        bound: no plan is shorter than this; equal to `steps` when it is proven.
    """

    steps: int
    bound: int

    @property
    def proven(self) -> bool:
        """No shorter plan exists, for the objects retrieved."""
        return self.bound == self.steps


@dataclass(frozen=True)
class PaperTask:
    """A task.

    Args:
        id: `T2`.
        name: what the paper calls it.
        goal_oriented: the request as a desired end.
        constructive: the request as instructions.
        paraphrases: other ways to say it.
        goal: PDDL condition.
        requires: object types the scene must have.
        scenes: scenes that have them.
        paper_steps: length of the paper's ground truth, navigation counted; empty where the
            paper has no such task.
        ground_truth: a minimal plan for one scene.
        optimum: length of a shortest plan for each scene.
        constraints: PDDL trajectory constraints that a plan must keep on the way.
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

    @property
    def sentences(self) -> tuple[str, ...]:
        """All ways to say it."""
        return (self.goal_oriented, self.constructive, *self.paraphrases)


def task_ids(folder: Path | None = None) -> tuple[str, ...]:
    """Return ids of all tasks in natural order: T1, T2, …, T5, T5bis, T6, …"""
    names = [path.stem for path in (folder or data_path("tasks")).glob("*.toml")]
    return tuple(sorted(names, key=_natural))


def paper_task_ids(folder: Path | None = None) -> tuple[str, ...]:
    """Return the ids of the paper's own tasks, T1 to T12 with T5bis, in natural order."""
    return tuple(name for name in task_ids(folder) if _natural(name)[0] <= _LAST_OF_PAPER)


def expand_ids(names: Iterable[str], folder: Path | None = None) -> tuple[str, ...]:
    """Return ids for what a user writes: ids, ranges (`T13-T24`), `all` and `paper`.

    Raises:
        UsageError: a range begins or ends with no task, or holds none.
    """
    known = task_ids(folder)
    found: list[str] = []
    for name in names:
        first, dash, last = name.partition("-")
        if name.lower() == "all":
            found += known
        elif name.lower() == "paper":
            found += paper_task_ids(folder)
        elif dash:
            begin, end = (known.index(_id(text, known)) for text in (first, last))
            if begin > end:
                raise UsageError(f"the range {name!r} holds no task: did you mean {last}-{first}?")
            # T5bis comes with T5.
            found += (k for k in known[begin:] if _natural(k)[0] <= _natural(known[end])[0])
        else:
            found.append(_id(name, known))
    return tuple(dict.fromkeys(found))


def _id(text: str, known: Sequence[str]) -> str:
    """Return the id of a task as it is written in the files.

    Raises:
        UsageError: there is no such task.
    """
    by_key = {name.lower(): name for name in known}
    name = by_key.get(text.strip().lower())
    if name is None:
        near = difflib.get_close_matches(text, list(known), n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(f"unknown task {text!r}{hint} (tasks: {', '.join(known)})")
    return name


def load_task(task_id: str, folder: Path | None = None) -> PaperTask:
    """Read a task.

    Raises:
        UsageError: there is no such task.
        DataFileError: its file is damaged.
    """
    folder = folder or data_path("tasks")
    path = folder / f"{_id(task_id, task_ids(folder))}.toml"
    return _task(read_toml(path), path)


def _task(values: Mapping[str, Any], path: Path) -> PaperTask:
    try:
        truth = values["ground_truth"]
        return PaperTask(
            id=_text(values, "id"),
            name=_text(values, "name"),
            goal_oriented=_text(values, "goal_oriented"),
            constructive=_text(values, "constructive"),
            paraphrases=tuple(map(str, values["paraphrases"])),
            goal=_text(values, "goal"),
            requires=tuple(map(str, values["requires"])),
            scenes=tuple(values["optimum"]),
            paper_steps=_text(values, "paper_steps"),
            ground_truth=GroundTruth(
                _text(truth, "scene"),
                tuple(parse_plan("\n".join(b), file=str(path)) for b in truth["blocks"]),
                tuple((int(a), int(b)) for a, b in truth["order"]),
            ),
            optimum={
                scene: Optimum(int(entry["steps"]), int(entry["bound"]))
                for scene, entry in values["optimum"].items()
            },
            constraints=tuple(map(str, values.get("constraints", ()))),
        )
    except KeyError as error:
        raise DataFileError(f"{path}: the entry {error.args[0]!r} is missing") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise DataFileError(f"{path}: an entry has the wrong form: {error}") from error


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values[key]
    if not isinstance(value, str):
        raise TypeError(f"{key!r} must be text, not {value!r}")
    return value


def _natural(name: str) -> tuple[int, str]:
    match = re.match(r"\D*(\d+)(.*)", name)
    return (int(match[1]), match[2]) if match else (0, name)
