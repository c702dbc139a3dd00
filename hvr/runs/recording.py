"""The recording of a run: its events and plans, its status, and its graph on a server."""

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
from hvr.pddl import print_plan, print_problem
from hvr.planning.plans import Planned, Understanding
from hvr.runs.folder import STARTED, STATUS_FILE, RunFolder, RunState
from hvr.runs.request import RunRequest

if TYPE_CHECKING:
    from hvr.knowledge.shared_graph import SharedGraph
    from hvr.policies.llm.record import PolicyEvent


# Recorder -----------------------------------------------------------------------------------------
# The recorder of a run: it keeps events and plans for later.

Listener: TypeAlias = "Callable[[Event | PolicyEvent], None]"


@dataclass
class Recorder:
    """A listener that writes plans and events into the run folder and passes events on.

    Args:
        folder: folder of the run.
        listen: called with each event as it happens.
    """

    folder: RunFolder
    listen: Listener | None
    plans: list[PlanReady] = field(default_factory=list, init=False)
    steps: list[StepDone] = field(default_factory=list, init=False)
    planned: list[Planned] = field(default_factory=list, init=False)

    @property
    def planner_calls(self) -> int:
        """How often a classical planner was called."""
        return sum(planned.planner_calls for planned in self.planned)

    def __call__(self, event: Event | PolicyEvent) -> None:
        """Write an event and pass it on."""
        self.folder.append("trace.jsonl", event.to_json())
        if isinstance(event, PlanReady):
            self.plans.append(event)
        elif isinstance(event, StepDone):
            self.steps.append(event)
        if self.listen is not None:
            self.listen(event)

    def understood(self, understanding: Understanding[Any]) -> None:
        """Report the goal, if it is the one that is planned for."""
        goal = understanding.goal
        if goal is not None and not understanding.judged_only:
            wanted = tuple(stage.wanted for stage in goal.stages)
            ends = goal.stages[-1].ends
            self(Understood(wanted, ends, goal.notes, goal.said, goal.unread, goal.reader))

    def plan_made(self, planned: Planned) -> None:
        """Write a plan with its problem, before it is executed."""
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
# The status of a run in `task.json`: that it has begun, that it is finished, or why not.


class RunStatus:
    """The status of a run in `task.json`.

    Args:
        folder: of the run.
        begun: the request, and all that it takes to repeat the run.
    """

    def __init__(self, folder: RunFolder, begun: Mapping[str, Any]) -> None:
        self._folder = folder
        self._begun = {"state": STARTED, "began": _now(), **begun}

    def begin(self) -> None:
        """Say that the run has begun.

        Raises:
            DataFileError: it cannot be written.
        """
        self._write(self._begun)

    def finish(self, result: Mapping[str, Any]) -> None:
        """Say that the run is finished.

        Raises:
            DataFileError: it cannot be written.
        """
        self._write({**self._begun, "state": RunState.FINISHED, "ended": _now(), **result})

    def break_off(self, error: BaseException) -> None:
        """Say why the run broke off.

        Raises:
            DataFileError: it cannot be written.
        """
        name = type(error).__name__
        message = str(error) or ("interrupted" if isinstance(error, KeyboardInterrupt) else name)
        self._write(
            {
                **self._begun,
                "state": RunState.BROKEN_OFF,
                "ended": _now(),
                "error": name,
                "message": message,
            }
        )

    def _write(self, values: Mapping[str, Any]) -> None:
        import os

        from hvr.base.secrets.scrubber import Scrubber

        self._folder.write_json(STATUS_FILE, Scrubber.of(os.environ).value(values))


@contextmanager
def recorded_status(folder: RunFolder, begun: Mapping[str, Any]) -> Iterator[RunStatus]:
    """Say that a run has begun, and why it broke off if it does; then let go of its folder.

    What could not be done for a reason that hvr knows, before anything was planned or asked, leaves
    no folder. Any other error has its folder as the attribute `folder`.

    Args:
        folder: of the run.
        begun: the request, and all that it takes to repeat the run.
    """
    status = RunStatus(folder, begun)
    try:
        status.begin()
        yield status
    except BaseException as error:
        if isinstance(error, HvrError) and not folder.worth_keeping():
            with suppress(OSError):  # somebody has removed it already
                folder.discard()
            raise
        error.folder = folder.path  # type: ignore[attr-defined]
        # On a full disk there is no room for an status; that error is the one to report.
        with suppress(DataFileError):
            status.break_off(error)
        raise
    finally:
        folder.close()


def earlier_attempts(about: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return when each try of a run began that broke off, and why, from its status."""
    names = ("began", "ended", "error", "message")
    last = {name: about[name] for name in names if name in about}
    return [*about.get("earlier", ()), last]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


# Shared graph -------------------------------------------------------------------------------------
# The graph of a run on a server that holds the graphs of many.

SHARED_FILE = "shared.json"
"""The file of a run folder that says under which name its graph is on which server."""
ROBOT_VARIABLE = "HVR_ROBOT"
"""The variable of the environment with the robot's name; that of the machine without it."""


def shared_graph(request: RunRequest, folder: RunFolder) -> SharedGraph | None:
    """Begin the graph of a run on the server of its options; None if these name none.

    A run that is gone on with keeps its name, and its graph begins anew.

    Raises:
        StoreError: the server refuses or does not answer.
        UsageError: its address cannot be used.
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
    """Return the name of a run on servers and the robot's; None if the run had no server.

    Raises:
        DataFileError: The file that says so cannot be read.
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
