"""The result of a request."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.errors import HvrError
from hvr.execution.events import Finished, PlanReady, StepDone
from hvr.language.goal_builder import Goal

if TYPE_CHECKING:
    from hvr.models.meter import MeteredUse
    from hvr.planning.plans import Judgement
    from hvr.runs.spine import RunComponents


@dataclass(frozen=True, kw_only=True)
class Run:
    """The result of a request.

    Args:
        request: the sentence.
        world: name of the world.
        scene: name of the scene.
        goal: the goal as hvr's own grammar reads it: the symbolic policy plans for it, and a
            language model's plan is judged by it. None when the sentence could not be read.
        reached: whether the request is met in what the environment shows; None when not executed,
            or when hvr cannot judge what a language model's plan has done.
        would_reach: whether the plan's end state, as the validator computes it, reaches the goal;
            None when executed, or when hvr cannot tell. See `verdict`.
        plans: every plan made, in order.
        steps: every step executed, in order.
        finished: how the execution ended; None when not executed.
        planner_calls: number of calls of a classical planner.
        seconds: wall time.
        folder: the run folder.
        verdict: the grounds for `reached` or `would_reach`, in a sentence.
        model: name of the language model; empty without one.
        simulated: whether the model is a simulation of one.
        spent: what the model used; None without one.
        step_budget: most steps that the task wants to be taken here; None without such a limit.
    """

    request: str
    world: str
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
    spent: MeteredUse | None = None
    step_budget: int | None = None
    would_reach: bool | None = None

    @property
    def within_budget(self) -> bool | None:
        """Whether the goal was reached within the task's budget of steps; None without one, or
        where it was not judged.
        """
        if self.step_budget is None or self.finished is None or self.reached is None:
            return None
        return self.reached and self.finished.steps <= self.step_budget

    def __repr__(self) -> str:
        return f"<Run {self.request!r} in {self.scene}: {self._outcome}; {self.folder}>"

    @property
    def _outcome(self) -> str:
        """What became of it, in a few words."""
        if self.finished is None:
            ends = {True: "reaches the goal", False: "does not reach the goal", None: "not judged"}
            steps = len(self.plans[-1].plan.actions) if self.plans else 0
            return f"planned, {steps} steps, {ends[self.would_reach]}"
        end = {True: "goal reached", False: "goal not reached", None: "not judged"}[self.reached]
        return f"{end} after {self.finished.steps} steps"

    def _repr_html_(self) -> str:
        from hvr.base.notebooks import html_card

        rows = [
            (
                str(step.number),
                str(step.action),
                "as expected"
                if step.as_expected
                else step.error or "; ".join(str(failure) for failure in step.failures),
            )
            for step in self.steps
        ] or [
            (str(number), str(action), "")
            for ready in self.plans[-1:]
            for number, action in enumerate(ready.plan.actions, 1)
        ]
        sentences = (
            self.verdict,
            *(self.goal.notes if self.goal else ()),
            f"Folder: {self.folder}",
        )
        return html_card(
            f"{self.request}: {self._outcome}",
            sentences,
            ("step", "action", "what was seen"),
            rows,
            _way(self.folder),
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "request": self.request,
            "scene": self.scene,
            "goal": [stage.text for stage in self.goal.stages] if self.goal else None,
            "reading": list(self.goal.said) if self.goal else [],
            "unread": list(self.goal.unread) if self.goal else [],
            "read_by": self.goal.reader if self.goal else None,
            "notes": list(self.goal.notes) if self.goal else [],
            "reached": self.reached,
            "would_reach": self.would_reach,
            "verdict": self.verdict,
            "step_budget": self.step_budget,
            "within_budget": self.within_budget,
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


def _way(folder: Path) -> str:
    """Return the scene with the robot's way as SVG in HTML; '' where the run has no picture."""
    from hvr.runs.report.floor_plan.drawing import draw_floor_plan, svg
    from hvr.runs.report.run_page.reading import read_story

    try:
        story = read_story(folder)
    except HvrError:  # the folder has been removed
        return ""
    return (
        ""
        if story.before is None
        else svg(draw_floor_plan(story.before, story.route, labels="main"))
    )


def result_of(
    run: RunComponents,
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
    meter, task = run.policy.meter, run.request.task
    return Run(
        request=run.request.text,
        world=run.request.world.name,
        scene=run.request.scene,
        goal=goal,
        reached=None if finished is None else judgement.reached,
        would_reach=judgement.reached if finished is None else None,
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
        step_budget=task.budget_in(run.request.scene) if task else None,
    )


def summary(run: Run) -> dict[str, Any]:
    """Return the result without the parts that have their own files."""
    values = run.to_json()
    del values["plans"], values["steps"]
    return {**values, "folder": None}
