"""The run folder: its files, its status, and its floor plans."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from hvr.base.files import (
    Lock,
    append_json_line,
    is_locked,
    try_lock,
    unwritable,
    write_whole,
    writing,
)
from hvr.base.texts import read_json
from hvr.errors import DataFileError, HvrError, UsageError
from hvr.execution.events import Event, PlanReady, StepDone, Understood
from hvr.pddl import print_plan
from hvr.pddl.model import print_problem
from hvr.planning.plans import Planned, Understanding
from hvr.runs.report.floor_plan.plan import FloorPlan, floor_plan, scene_plan
from hvr.runs.request import RunRequest
from hvr.values import cached_property
from hvr.worlds.thor.observe import Names

if TYPE_CHECKING:
    from hvr.knowledge.sparql_server import SharedGraph
    from hvr.policies.llm.record import PolicyEvent


# State --------------------------------------------------------------------------------------------
# `task.json` records that the run has started or finished, or which error interrupted it. An active
# run holds a lock; a run with neither lock nor recorded end was killed.

STATUS_FILE = "task.json"
LOCK_FILE = "run.lock"
STARTED = "started"
"""State in `task.json` until the end of the run is recorded."""


class RunState(StrEnum):
    """The progress of a run."""

    RUNNING = "running"
    BROKEN_OFF = "broken off"
    KILLED = "killed"
    """The process ended without recording an error."""
    FINISHED = "finished"


def read_status(folder: Path) -> tuple[Mapping[str, Any], RunState]:
    """Return the recorded status and the state of a run; in old runs, the status may be empty."""
    about = _read(folder / STATUS_FILE)
    if about.get("state") == STARTED:
        if is_locked(folder / LOCK_FILE):
            return about, RunState.RUNNING
        # The end is written before the lock is released, so it may have appeared in the meantime.
        about = _read(folder / STATUS_FILE)
        if about.get("state") == STARTED:
            return about, RunState.KILLED
    if about.get("state") == RunState.BROKEN_OFF:
        return about, RunState.BROKEN_OFF
    if "state" in about:
        return about, RunState.FINISHED
    # Early versions wrote a status only at the end, and errors to a separate file.
    broken = _read(folder / "error.json")
    if broken:
        return broken, RunState.BROKEN_OFF
    return about, RunState.FINISHED if about else RunState.KILLED


def _read(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    value = read_json(path, strict=False)
    if not isinstance(value, dict):
        raise DataFileError(f"{path}: expected a JSON object, found {type(value).__name__}")
    return value


# Folder -------------------------------------------------------------------------------------------
# task.json       the request with all options, from the start; finally the goal,
#                 the assumptions and the result, or the error that interrupted the run
# subgraph.json   the objects selected for the problem, the reasons, and their facts
# domain.pddl     the domain
# problem.pddl    the problem, derived from the graph (problem-2.pddl after replanning)
# plan.pddl       the plan as an IPC plan file
# plan.json       the plan as macro actions with their blocks
# llm.jsonl       with a language model: every prompt and answer, verbatim
# planning.json   with a language model: the history of each block
# goal.json       with the policy goal: each goal that the model wrote, and its problem
# planner.jsonl   with a language model: results of the classical planner
# library.ttl     with a library: the available macro actions
# prompts/        with custom prompts: the templates
# ledger.sqlite   with a language model: the charges, for the budget
# thor/           with AI2-THOR: every action sent and the images (docs/how-to/thor.md)
# faults.json     with faults: the injected faults and their changes
# scene-before.json  the floor plan before the first step (hvr.runs.report.floor_plan)
# scene-after.json   the floor plan after the last step
# trace.jsonl     one event per line, written as it happens
# graph/          the knowledge graph, as a log of changes
# graph.ttl       the knowledge graph as Turtle, written at the end
# shared.json     with a store: the name of the graph there
# run.lock        while the run is active: a lock that ends with its process
#
# A resumed run restarts from the beginning in the same folder and reuses the answers in `llm.jsonl`
# instead of querying the model. Only paid results and original inputs stay in place, so that
# attempts never mix:
#
# llm-aside.jsonl paid results that are not part of the run, such as the error that ended an attempt
# broken-1/       the remaining files of the first attempt, without its graph; and so on

_STAYS = re.compile(
    r"task\.json|run\.lock|llm\.jsonl|llm-aside\.jsonl|planner\.jsonl|library\.ttl|prompts|shared\.json"
    r"|ledger\.sqlite.*|broken-\d+"
)
"""Files that stay in the folder when a run is resumed."""

_REMNANT = re.compile(r"run\.lock|\.task\.json\.[\d-]+\.part")
"""Files left by a run that was killed before it had written its status."""

_TRIES = 100
_PATIENCE = 3
"""Number of failed attempts after which the cause is no longer assumed to be another run that
removes the parent folder.
"""


class _TakenError(Exception):
    pass


class RunFolder:
    """A run folder, locked by its run."""

    TRANSCRIPT = "llm.jsonl"
    """Name of the file that records the dialogue with a language model."""

    def __init__(self, path: Path, made: tuple[Path, ...] = (), lock: Lock | None = None) -> None:
        self.path = path
        self._made = made
        self._lock = lock
        self._resumed = False

    @classmethod
    def reopen(cls, path: Path) -> tuple[RunFolder, Mapping[str, Any]]:
        """Lock the folder of an interrupted run, and return it with the recorded status.

        Raises:
            UsageError: The folder contains no run, or its run is finished, still active, or made by
                an early version of hvr.
        """
        lock = _lock_of_run(path)
        try:
            # Checked under the lock, since another process may just have resumed the run.
            about, state = read_status(path)
            if "state" not in about:
                raise UsageError(
                    f"{path}: this run was made by an earlier version of hvr and cannot be resumed",
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
        """Create the run's folder exclusively.

        Args:
            path: The folder; None to create one below `./runs`, named after the time `now` and the
                request.

        Raises:
            DataFileError: The folder cannot be created, is not empty, or belongs to another run.
        """
        made: list[Path] = []
        if path is not None:
            try:
                return cls._take(path, made, new=False)
            except _TakenError:
                raise DataFileError(
                    f"{path}: another run is using this folder; choose another", field="save"
                ) from None
        for name in _names(text, now):
            with suppress(_TakenError):
                return cls._take(Path("runs") / name, made, new=True)
        raise AssertionError("there is always another name")

    @classmethod
    def _take(cls, path: Path, made: list[Path], *, new: bool) -> RunFolder:
        try:
            path.absolute()  # fails in a removed working directory, where retrying would never end
            for _ in range(_TRIES):
                _make(path, made)
                if new and path not in made:
                    raise _TakenError
                # Until this run has written something, another run may remove the folder.
                with suppress(FileNotFoundError):
                    return cls(path, tuple(made), _lock(path))
        except OSError as error:
            refused: DataFileError = unwritable(path, error, "the run cannot be written here")
            refused.field = "save"
            raise refused from error
        raise _TakenError

    def close(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def write(self, name: str, text: str) -> None:
        write_whole(self.path / name, text)

    def write_json(self, name: str, value: Any) -> None:
        self.write(name, json.dumps(value, indent=2, ensure_ascii=False) + "\n")

    def write_scene(
        self, name: str, metadata: Mapping[str, Any], names: Names | None = None
    ) -> None:
        self.write_json(name, floor_plan(metadata, names).to_json())

    def append(self, name: str, value: Any) -> None:
        append_json_line(self.path / name, value)

    def worth_keeping(self) -> bool:
        """Return whether the folder contains a plan, a dialogue or an earlier attempt."""
        return (
            self._resumed
            or (self.path / "plan.pddl").exists()
            or (self.path / self.TRANSCRIPT).exists()
        )

    def move_aside(self) -> None:
        """Move the files of an interrupted attempt aside, except files that the resumed run uses.

        The graph and incomplete files are deleted.
        """
        left = [e for e in sorted(self.path.iterdir()) if not _STAYS.fullmatch(e.name)]
        with writing(self.path):
            for entry in left:
                if entry.name == "graph":  # by far the largest, and regenerated
                    shutil.rmtree(entry)
                elif entry.suffix == ".part":  # a file truncated by a kill
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
        """Remove all files that the run has created, if possible, and unlock the folder."""
        for entry in self.path.iterdir():
            if entry.name == LOCK_FILE:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                with suppress(OSError):
                    entry.unlink()
        self.close()
        # Another run may have taken over the folder in the meantime, in which case it cannot be
        # removed.
        for folder in reversed(self._made):
            with suppress(OSError):
                folder.rmdir()


def _lock_of_run(path: Path) -> Lock:
    if not (path / STATUS_FILE).is_file():
        raise UsageError(f"{path} is not a run folder: {STATUS_FILE} is missing", field="resume")
    try:
        lock = try_lock(path / LOCK_FILE)
    except OSError as error:
        raise unwritable(path, error) from error
    if lock is None:
        raise UsageError(f"{path}: this run is still active", field="resume")
    return lock


def _make(path: Path, made: list[Path]) -> None:
    for attempt in range(_TRIES):
        try:
            path.mkdir()
        except FileNotFoundError:
            # Another process may remove a parent, but some file systems, such as /proc, refuse all.
            if path.parent == path or (attempt > _PATIENCE and path.parent.is_dir()):
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
    _check_empty(path)
    lock = try_lock(path / LOCK_FILE)
    if lock is None:
        raise _TakenError
    try:
        # A run may have started and ended between the first check and the lock.
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

BEFORE, AFTER = "scene-before.json", "scene-after.json"


def scene_before(folder: Path, scene: str) -> tuple[FloorPlan | None, str]:
    """Return the scene before the run, with a note if the run did not record it.

    An unrecorded scene is drawn as it starts, or is None if it is unknown.
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
    return _read_scenes(folder / AFTER)


def _read_scenes(path: Path) -> FloorPlan | None:
    if not path.is_file():
        return None
    return FloorPlan.from_json(read_json(path, strict=False), str(path))


# Recorder -----------------------------------------------------------------------------------------
# Recording of a run: its events, plans and status, and its graph on a server.

Listener: TypeAlias = "Callable[[Event | PolicyEvent], None]"


@dataclass
class Recorder:
    """Writes plans and events to the run folder, and forwards events."""

    folder: RunFolder
    listen: Listener | None
    plans: list[PlanReady] = field(default_factory=list, init=False)
    steps: list[StepDone] = field(default_factory=list, init=False)
    planned: list[Planned] = field(default_factory=list, init=False)

    @property
    def planner_calls(self) -> int:
        return sum(planned.planner_calls for planned in self.planned)

    def __call__(self, event: Event | PolicyEvent) -> None:
        self.folder.append("trace.jsonl", event.to_json())
        if isinstance(event, PlanReady):
            self.plans.append(event)
        elif isinstance(event, StepDone):
            self.steps.append(event)
        if self.listen is not None:
            self.listen(event)

    def understood(self, understanding: Understanding[Any]) -> None:
        """Report the policy's goal, unless it has none or uses it only for judging."""
        goal = understanding.goal
        if goal is not None and not understanding.judged_only:
            wanted = tuple(stage.wanted for stage in goal.stages)
            ends = goal.stages[-1].ends
            self(Understood(wanted, ends, goal.notes, goal.paraphrase, goal.unread, goal.reader))

    def plan_made(self, planned: Planned) -> None:
        """Save a plan and its problem before the plan is executed."""
        self.planned.append(planned)
        suffix = "" if not self.plans else f"-{len(self.plans) + 1}"
        self.folder.write(f"problem{suffix}.pddl", print_problem(planned.problem))
        self.folder.write(f"plan{suffix}.pddl", print_plan(planned.plan.actions))
        self.folder.write_json(f"plan{suffix}.json", planned.plan.to_json())
        facts = sorted(map(str, planned.problem.init))
        self.folder.write_json(
            f"subgraph{suffix}.json", {"objects": planned.relevant.reasons, "facts": facts}
        )


# Run status ---------------------------------------------------------------------------------------


class RunStatus:
    """The status of a run in `task.json`."""

    def __init__(self, folder: RunFolder, initial: Mapping[str, Any]) -> None:
        self._folder = folder
        self._initial = {"state": STARTED, "began": _now(), **initial}

    def begin(self) -> None:
        self._write(self._initial)

    def finish(self, result: Mapping[str, Any]) -> None:
        self._write({**self._initial, "state": RunState.FINISHED, "ended": _now(), **result})

    def break_off(self, error: BaseException) -> None:
        """Record the error that interrupted the run."""
        name = type(error).__name__
        message = str(error) or ("interrupted" if isinstance(error, KeyboardInterrupt) else name)
        self._write(
            {
                **self._initial,
                "state": RunState.BROKEN_OFF,
                "ended": _now(),
                "error": name,
                "message": message,
            }
        )

    def _write(self, values: Mapping[str, Any]) -> None:
        import os

        from hvr.base.secrets import Scrubber

        self._folder.write_json(STATUS_FILE, Scrubber.of(os.environ).value(values))


@contextmanager
def recorded_status(folder: RunFolder, initial: Mapping[str, Any]) -> Iterator[RunStatus]:
    """Record the start of a run and any error that interrupts it, then unlock its folder.

    If an `HvrError` occurs before the run has planned anything or prompted a model, the folder is
    removed. Any other error gets the folder as its attribute `folder`.
    """
    status = RunStatus(folder, initial)
    try:
        status.begin()
        yield status
    except BaseException as error:
        if isinstance(error, HvrError) and not folder.worth_keeping():
            with suppress(OSError):  # already removed by another process
                folder.discard()
            raise
        error.folder = folder.path  # type: ignore[attr-defined]
        # A full disk has no room for a status; the original error is the one to report.
        with suppress(DataFileError):
            status.break_off(error)
        raise
    finally:
        folder.close()


def earlier_attempts(about: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the start, end and error of each interrupted attempt that a status records."""
    names = ("began", "ended", "error", "message")
    last = {name: about[name] for name in names if name in about}
    return [*about.get("earlier", ()), last]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


# Shared graph -------------------------------------------------------------------------------------

SHARED_FILE = "shared.json"
"""File in a run folder that stores the name of the run's graph on a server."""
ROBOT_VARIABLE = "HVR_ROBOT"
"""Environment variable with the robot's name; the default is the host name."""


def shared_graph(request: RunRequest, folder: RunFolder) -> SharedGraph | None:
    """Create the run's graph on the SPARQL server given in the options, if any.

    A resumed run keeps its graph's name, and the graph is cleared.

    Raises:
        StoreError: The server rejects the request or does not answer.
        UsageError: The address is invalid.
    """
    store = request.options.store
    if store is None:
        return None
    import platform

    from hvr.knowledge.sparql_server import ServerAddress, SharedGraph, SharedRun, SparqlServer

    robot = os.environ.get(ROBOT_VARIABLE) or platform.node()
    run = SharedRun(
        name=_name(folder, store, robot),
        request=request.text,
        scene=request.scene if request.scene.isalnum() else "",
        world=request.world.name,
        robot=robot,
    )
    server = SparqlServer(ServerAddress.read(store, os.environ))
    return SharedGraph.begin(server, run, request.world.scene_ontology)


def shared_names(folder: Path) -> tuple[str, str] | None:
    """Return the names of the run and the robot on the SPARQL server; None if there is no server.

    Raises:
        DataFileError: The file with the names is damaged.
    """
    path = folder / SHARED_FILE
    if not path.is_file():
        return None
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        return str(about["run"]), str(about.get("robot", ""))
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise DataFileError(f"{path} cannot be read: {error}") from error


def _name(folder: RunFolder, store: str, robot: str) -> str:
    known = shared_names(folder.path)
    if known is not None:
        return known[0]
    import secrets

    plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in folder.path.name)
    name = f"{plain.strip('-') or 'run'}-{secrets.token_hex(4)}"
    folder.write_json(SHARED_FILE, {"store": store, "run": name, "robot": robot})
    return name
