"""The result of a request."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.execution.events import Finished, PlanReady, StepDone
from hvr.language.goals import Goal

if TYPE_CHECKING:
    from hvr.llm.meter import Spent
    from hvr.plans import Judgement
    from hvr.run.assembly import Assembly


@dataclass(frozen=True, kw_only=True)
class Run:
    """The result of a request.

    Args:
        request: the sentence.
        scene: name of the scene.
        goal: the goal as hvr's own grammar reads it: the symbolic policy plans for it, and a
            language model's plan is judged by it. None when the sentence could not be read.
        reached: whether the request is met in what the environment shows; None when not executed,
            or when hvr cannot judge what a language model's plan has done.
        plans: every plan made, in order.
        steps: every step executed, in order.
        finished: how the execution ended; None when not executed.
        planner_calls: number of calls of a classical planner.
        seconds: wall time.
        folder: the run folder.
        verdict: the grounds for `reached`, in a sentence.
        model: name of the language model; empty without one.
        simulated: whether the model is a simulation of one.
        spent: what the model used; None without one.
    """

    request: str
    scene: str
    goal: Goal | None
    reached: bool | None
    plans: tuple[PlanReady, ...]
    steps: tuple[StepDone, ...]
    finished: Finished | None
    planner_calls: int
    seconds: float
    folder: Path
    verdict: str = ""
    model: str = ""
    simulated: bool = False
    spent: Spent | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "request": self.request,
            "scene": self.scene,
            "goal": [stage.text for stage in self.goal.stages] if self.goal else None,
            "notes": list(self.goal.notes) if self.goal else [],
            "reached": self.reached,
            "verdict": self.verdict,
            "plans": [p.to_json() for p in self.plans],
            "steps": [s.to_json() for s in self.steps],
            "finished": self.finished.to_json() if self.finished else None,
            "planner_calls": self.planner_calls,
            "planning_seconds": [round(p.seconds, 4) for p in self.plans],
            "seconds": round(self.seconds, 4),
            "model": self.model or None,
            "simulated": self.simulated,
            "spent": asdict(self.spent) if self.spent else None,
            "folder": str(self.folder),
        }


def result_of(
    run: Assembly,
    goal: Goal | None,
    finished: Finished | None,
    judgement: Judgement,
    seconds: float,
) -> Run:
    """Return the result of a run that is over.

    Args:
        run: the run.
        goal: how hvr's own grammar reads the request.
        finished: how the execution ended; None when it was only planned.
        judgement: whether the request was met.
        seconds: wall time of all of it.
    """
    meter = run.policy.meter
    return Run(
        request=run.request.text,
        scene=run.request.scene,
        goal=goal,
        reached=judgement.reached,
        plans=tuple(run.recorder.plans),
        steps=tuple(run.recorder.steps),
        finished=finished,
        planner_calls=run.recorder.planner_calls,
        seconds=seconds,
        folder=run.folder.path,
        verdict=judgement.reason,
        model=meter.name if meter else "",
        simulated=bool(meter and meter.simulated),
        spent=meter.spent() if meter else None,
    )


def summary(run: Run) -> dict[str, Any]:
    """Return the result without the parts that have their own files."""
    values = run.to_json()
    del values["plans"], values["steps"]
    return {**values, "folder": None}
