"""Recording of a run: its events, plans and status, and its graph on a server."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from hvr.errors import DataFileError, HvrError
from hvr.execution.events import Event, PlanReady, StepDone, Understood
from hvr.pddl import print_plan
from hvr.pddl.printer import print_problem
from hvr.planning.plans import Planned, Understanding
from hvr.runs.folder import STARTED, STATUS_FILE, RunFolder, RunState
from hvr.runs.request import RunRequest

if TYPE_CHECKING:
    from hvr.knowledge.shared_graph import SharedGraph
    from hvr.policies.llm.record import PolicyEvent


# Recorder -----------------------------------------------------------------------------------------

Listener: TypeAlias = "Callable[[Event | PolicyEvent], None]"


@dataclass
class Recorder:
    """Writes plans and events into the run folder and forwards events."""

    folder: RunFolder
    listen: Listener | None
    plans: list[PlanReady] = field(default_factory=list, init=False)
    steps: list[StepDone] = field(default_factory=list, init=False)
    planned: list[Planned] = field(default_factory=list, init=False)

    @property
    def planner_calls(self) -> int:
        """The number of calls of a classical planner."""
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
        """Report the goal if the policy plans for a goal."""
        goal = understanding.goal
        if goal is not None and not understanding.judged_only:
            wanted = tuple(stage.wanted for stage in goal.stages)
            ends = goal.stages[-1].ends
            self(Understood(wanted, ends, goal.notes, goal.paraphrase, goal.unread, goal.reader))

    def plan_made(self, planned: Planned) -> None:
        """Write a plan and its problem before execution."""
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
        """Record the start of the run."""
        self._write(self._initial)

    def finish(self, result: Mapping[str, Any]) -> None:
        """Record the result of the run."""
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
    """Record the start of a run and any error that interrupts it, then release its folder.

    If an `HvrError` occurs before anything was planned or asked, the folder is removed. Any other
    error gets its folder as the attribute `folder`.
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
    """Return start, end and error of each interrupted attempt, from the status of a run."""
    names = ("began", "ended", "error", "message")
    last = {name: about[name] for name in names if name in about}
    return [*about.get("earlier", ()), last]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


# Shared graph -------------------------------------------------------------------------------------

SHARED_FILE = "shared.json"
"""File in a run folder with the name of the run's graph on a server."""
ROBOT_VARIABLE = "HVR_ROBOT"
"""Environment variable with the robot's name; the default is the host name."""


def shared_graph(request: RunRequest, folder: RunFolder) -> SharedGraph | None:
    """Start the run's graph on the server given in the options, if any.

    A resumed run keeps its name, and its graph is cleared.

    Raises:
        StoreError: The server refuses or does not answer.
        UsageError: The address is invalid.
    """
    store = request.options.store
    if store is None:
        return None
    import platform

    from hvr.knowledge.shared_graph import SharedGraph, SharedRun
    from hvr.knowledge.sparql_server import ServerAddress, SparqlServer

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
    """Return the run's and the robot's names on the server; None if the run has no server."""
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
