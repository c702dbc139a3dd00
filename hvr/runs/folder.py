"""The folder of a run: what it holds, how far the run has come, and its floor plans."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from hvr.base.files import append_json_line, unwritable, write_whole, writing
from hvr.base.locks import Lock, is_locked, try_lock
from hvr.base.texts import read_json
from hvr.errors import DataFileError, HvrError, UsageError
from hvr.runs.report.floor_plan.plan import FloorPlan, floor_plan, scene_plan
from hvr.values import cached_property
from hvr.worlds.naming import Names

# State --------------------------------------------------------------------------------------------
# How far a run has come, as its folder tells: from its first moment, and after whatever ended it.
#
# `task.json` says that the run has begun, that it is finished, or why it broke off. While a run
# goes on it holds a lock; a run that has neither lock nor end was killed.

STATUS_FILE = "task.json"
LOCK_FILE = "run.lock"
STARTED = "started"
"""The state in `task.json` of a run that has not ended by itself."""


class RunState(StrEnum):
    """How far a run has come."""

    RUNNING = "running"
    BROKEN_OFF = "broken off"
    KILLED = "killed"
    """It broke off without saying why."""
    FINISHED = "finished"


def read_status(folder: Path) -> tuple[Mapping[str, Any], RunState]:
    """Return what a run says of itself, and how far it has come.

    Args:
        folder: of the run; one of an earlier version may have no status.

    Raises:
        DataFileError: the status is damaged.
    """
    about = _read(folder / STATUS_FILE)
    if about.get("state") == STARTED:
        if is_locked(folder / LOCK_FILE):
            return about, RunState.RUNNING
        # Its end is written before the lock is given up: it may have come since the first look.
        about = _read(folder / STATUS_FILE)
        if about.get("state") == STARTED:
            return about, RunState.KILLED
    if about.get("state") == RunState.BROKEN_OFF:
        return about, RunState.BROKEN_OFF
    if "state" in about:
        return about, RunState.FINISHED
    # Earlier versions wrote a status at the end only, and of an error in a file of its own.
    broken = _read(folder / "error.json")
    if broken:
        return broken, RunState.BROKEN_OFF
    return about, RunState.FINISHED if about else RunState.KILLED


def _read(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    value = read_json(path, strict=False)
    if not isinstance(value, dict):
        raise DataFileError(f"{path} is damaged: it holds no object")
    return value


# Folder -------------------------------------------------------------------------------------------
# The folder that a run leaves, with everything needed to look at it again.
#
# task.json       the request with all options, from the beginning; in the end the goal, what was
#                 assumed and the result, or the error that the run broke off with
# subgraph.json   the objects chosen for the problem, why, and the facts about them
# domain.pddl     the domain
# problem.pddl    the problem, derived from the graph (problem-2.pddl after a new plan)
# plan.pddl       the plan as an IPC plan file
# plan.json       the plan as macro actions with their blocks
# llm.jsonl       with a language model: every prompt and answer, as they came
# planning.json   with a language model: how each block came about
# goal.json       with the policy goal: each goal that the model wrote, and what was wrong with it
# planner.jsonl   with a language model: what the classical planner found
# library.ttl     with a library: the macro actions that could be used
# prompts/        with prompts of the user's own: these
# ledger.sqlite   with a language model: what was charged, for the budget
# thor/           with AI2-THOR: every action sent and the pictures (docs/thor.md)
# faults.json     with faults: which were played, and what they changed
# scene-before.json  the floor plan before the first step (hvr.runs.report.floor_plan)
# scene-after.json   the same after the last one
# trace.jsonl     one event a line, written as it happens
# graph/          the knowledge graph, as a file of its changes
# graph.ttl       the same as Turtle, written at the end
# shared.json     with a store: under which name the graph is there
# run.lock        while the run goes on: a lock that ends with its process
#
# A run that broke off can be gone on with. It is then done again from the beginning in the same
# folder, and gets the answers that are in `llm.jsonl` without asking. What was paid for and what
# the run began with stays in its place; the rest is moved aside, so that two tries never mix:
#
# llm-aside.jsonl what was paid for and is no part of the run, such as the error that ended a try
# broken-1/       what the first try left, but for its graph, which is removed; and so on

_STAYS = re.compile(
    r"task\.json|run\.lock|llm\.jsonl|llm-aside\.jsonl|planner\.jsonl|library\.ttl|prompts|shared\.json"
    r"|ledger\.sqlite.*|broken-\d+"
)
"""What a run is gone on with."""

_REMNANT = re.compile(r"run\.lock|\.task\.json\.[\d-]+\.part")
"""What remains of a run that was killed before it began."""

_TRIES = 100
"""How often a folder is made that other runs remove; each time, one of them has come to its end."""


class _TakenError(Exception):
    """Another run has the folder."""


class RunFolder:
    """A folder being filled, by one run alone.

    Args:
        path: the folder; it exists and is empty.
        made: the folders that were made for it, outermost first.
        lock: the lock that says that the run goes on.
    """

    TRANSCRIPT = "llm.jsonl"
    """File with the dialogue with a language model; `hvr.models.transcript` writes it."""

    def __init__(self, path: Path, made: tuple[Path, ...] = (), lock: Lock | None = None) -> None:
        self.path = path
        self._made = made
        self._lock = lock
        self._resumed = False

    @classmethod
    def reopen(cls, path: Path) -> tuple[RunFolder, Mapping[str, Any]]:
        """Take the folder of a run that broke off.

        Returns:
            the folder, and the status that the run recorded.

        Raises:
            UsageError: there is no run, it is finished, or it is still going on.
            DataFileError: the folder cannot be used, or the status is damaged.
        """
        lock = _lock_of_run(path)
        try:
            # Under the lock: another process may just have gone on with the run.
            about, state = read_status(path)
            if "state" not in about:
                raise UsageError(
                    f"{path}: an earlier version of hvr made this run, which cannot be resumed",
                    field="resume",
                )
            if state is RunState.FINISHED:
                raise UsageError(f"{path}: this run is finished", field="resume")
        except BaseException:
            lock.release()
            raise
        folder = cls(path, (), lock)
        folder._resumed = True
        return folder, about

    @classmethod
    def create(cls, path: Path | None, text: str, now: datetime) -> RunFolder:
        """Take a folder for a run, which no other run gets.

        Args:
            path: the folder; None makes one under `./runs` named by time and request.
            text: the request.
            now: the time for the name.

        Raises:
            DataFileError: the folder cannot be made, is not empty, or another run has taken it.
        """
        made: list[Path] = []
        if path is not None:
            try:
                return cls._take(path, made, new=False)
            except _TakenError:
                raise DataFileError(
                    f"{path}: another run has taken this folder; choose another", field="save"
                ) from None
        for name in _names(text, now):
            with suppress(_TakenError):
                return cls._take(Path("runs") / name, made, new=True)
        raise AssertionError("there is always another name")

    @classmethod
    def _take(cls, path: Path, made: list[Path], *, new: bool) -> RunFolder:
        """Make a folder, if need be, and take its lock."""
        try:
            path.absolute()  # where the working folder is gone this fails, and trying would not end
            for _ in range(_TRIES):
                _make(path, made)
                if new and path not in made:
                    raise _TakenError
                # Another run may remove the folder as long as it has nothing of this one in it.
                with suppress(FileNotFoundError):
                    return cls(path, tuple(made), _lock(path))
        except OSError as error:
            refused: DataFileError = unwritable(path, error, "the run cannot be written here")
            refused.field = "save"
            raise refused from error
        raise _TakenError

    def close(self) -> None:
        """Say that the run does not go on. Idempotent."""
        if self._lock is not None:
            self._lock.release()

    def write(self, name: str, text: str) -> None:
        """Write a text file whole or not at all.

        Raises:
            DataFileError: it cannot be written.
        """
        write_whole(self.path / name, text)

    def write_json(self, name: str, value: Any) -> None:
        """Write a JSON file whole or not at all."""
        self.write(name, json.dumps(value, indent=2, ensure_ascii=False) + "\n")

    def write_scene(
        self, name: str, metadata: Mapping[str, Any], names: Names | None = None
    ) -> None:
        """Write the scene of an event of the environment as a floor plan.

        Args:
            name: `BEFORE` or `AFTER` of `hvr.runs.folder`.
            metadata: metadata of the event.
            names: the names of the scene.

        Raises:
            DataFileError: the file cannot be written.
        """
        self.write_json(name, floor_plan(metadata, names).to_json())

    def append(self, name: str, value: Any) -> None:
        """Add a line of JSON to a file.

        Raises:
            DataFileError: it cannot be written.
        """
        append_json_line(self.path / name, value)

    def worth_keeping(self) -> bool:
        """Return whether there is a plan, something that a model was asked, or an earlier try."""
        return (
            self._resumed
            or (self.path / "plan.pddl").exists()
            or (self.path / self.TRANSCRIPT).exists()
        )

    def move_aside(self) -> None:
        """Move what a try left to a folder of its own, but for what the next one needs.

        Raises:
            DataFileError: it cannot be moved.
        """
        left = [e for e in sorted(self.path.iterdir()) if not _STAYS.fullmatch(e.name)]
        with writing(self.path):
            for entry in left:
                if entry.name == "graph":  # by far the largest, and made again
                    shutil.rmtree(entry)
                elif entry.suffix == ".part":  # a file that a kill cut off
                    entry.unlink()
                else:
                    entry.rename(self._aside / entry.name)

    @cached_property
    def _aside(self) -> Path:
        number = 1
        while (path := self.path / f"broken-{number}").exists():
            number += 1
        path.mkdir()
        return path

    def discard(self) -> None:
        """Remove everything that was made, as far as possible, and let go of the folder."""
        for entry in self.path.iterdir():
            if entry.name == LOCK_FILE:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                with suppress(OSError):
                    entry.unlink()
        self.close()
        # From here on another run may take the folder, which then cannot be removed.
        for folder in reversed(self._made):
            with suppress(OSError):
                folder.rmdir()


def _lock_of_run(path: Path) -> Lock:
    """Return the lock of a run that does not go on."""
    if not (path / STATUS_FILE).is_file():
        raise UsageError(
            f"{path}: no run has begun here: there is no {STATUS_FILE}", field="resume"
        )
    try:
        lock = try_lock(path / LOCK_FILE)
    except OSError as error:
        raise unwritable(path, error) from error
    if lock is None:
        raise UsageError(f"{path}: this run is still going on", field="resume")
    return lock


def _make(path: Path, made: list[Path]) -> None:
    """Make a folder and those above it, and note which were not there, outermost first."""
    for _ in range(_TRIES):
        try:
            path.mkdir()
        except FileNotFoundError:
            if path.parent == path:
                raise
            _make(path.parent, made)
        except FileExistsError:
            if not path.is_dir():
                raise
            return
        else:
            made.append(path)
            return


def _lock(path: Path) -> Lock:
    """Return the lock of an empty folder."""
    _check_empty(path)
    lock = try_lock(path / LOCK_FILE)
    if lock is None:
        raise _TakenError
    try:
        # A run may have begun and ended between the first look and the lock.
        _check_empty(path)
        for entry in path.iterdir():
            if entry.name != LOCK_FILE:
                entry.unlink()
    except BaseException:
        lock.release()
        raise
    return lock


def _check_empty(path: Path) -> None:
    if all(_REMNANT.fullmatch(entry.name) for entry in path.iterdir()):
        return
    if is_locked(path / LOCK_FILE):
        raise _TakenError
    raise DataFileError(
        f"{path}: the run folder must be new or empty; choose another", field="save"
    )


def _names(text: str, now: datetime) -> Iterator[str]:
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40].strip("-") or "run"
    name = f"{now:%Y%m%d-%H%M%S}-{words}"
    yield name
    yield from (f"{name}-{number}" for number in itertools.count(2))


# Scenes -------------------------------------------------------------------------------------------
# The floor plans that a run keeps in its folder: before the first step and after the last.

BEFORE, AFTER = "scene-before.json", "scene-after.json"


def scene_before(folder: Path, scene: str) -> tuple[FloorPlan | None, str]:
    """Return the scene before the run, and a note when the run itself did not record it.

    Raises:
        DataFileError: what it recorded cannot be read.
    """
    recorded = _read_scenes(folder / BEFORE)
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
    return _read_scenes(folder / AFTER)


def _read_scenes(path: Path) -> FloorPlan | None:
    if not path.is_file():
        return None
    return FloorPlan.from_json(read_json(path, strict=False), str(path))
