"""The result of a request."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.errors import HvrError
from hvr.execution.events import Finished, PlanReady, StepDone
from hvr.language.goal_builder import Goal
from hvr.validation.report import count
from hvr.values import JsonObject

if TYPE_CHECKING:
    from hvr.models.layers import MeteredUse
    from hvr.planning.plans import Judgement
    from hvr.runs.spine import RunComponents


@dataclass(frozen=True, kw_only=True)
class Run(JsonObject):
    """The result of a request.

    Args:
        request: The sentence.
        world: Name of the world.
        scene: Name of the scene.
        goal: The goal as hvr reads the sentence, or as the model writes it with the policy `goal`;
            None if hvr cannot read the sentence. The policies `symbolic` and `goal` plan for this
            goal; plans of the other policies are judged by it.
        reached: Whether the observed final state meets the request; None if the plan was not
            executed, or if hvr cannot judge a language model's plan.
        would_reach: Whether the computed final state of the plan reaches the goal; None if the plan
            was executed, or if unknown. See `verdict`.
        plans: All plans, in order.
        steps: All executed steps, in order.
        finished: The end of the execution; None if the plan was not executed.
        planner_calls: Number of calls of a classical planner.
        seconds: Wall time in seconds.
        folder: The run folder.
        verdict: The reason for `reached` or `would_reach`, as a sentence.
        model: Name of the language model; empty if none was used.
        simulated: Whether the model is simulated.
        spent: Usage of the model; None if none was used.
        step_budget: Maximum number of steps for the task in this scene; None for no limit.
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

    json_shape = (
        "request scene goal=goal_texts reading unread read_by notes reached would_reach "
        "verdict step_budget within_budget plans steps finished planner_calls "
        "planning_seconds seconds=rounded_seconds model? simulated spent folder"
    )

    @property
    def goal_texts(self) -> list[str] | None:
        """The goal's stages in PDDL; None if there is no goal."""
        return [stage.text for stage in self.goal.stages] if self.goal else None

    @property
    def reading(self) -> tuple[str, ...]:
        """The request as hvr understood it, one sentence per stage; empty if there is no goal."""
        return self.goal.paraphrase if self.goal else ()

    @property
    def unread(self) -> tuple[str, ...]:
        """Words of the request that hvr did not understand."""
        return self.goal.unread if self.goal else ()

    @property
    def read_by(self) -> str | None:
        """Name of the reader that parsed the request; None if there is no goal."""
        return self.goal.reader if self.goal else None

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on how the request was understood."""
        return self.goal.notes if self.goal else ()

    @property
    def planning_seconds(self) -> list[float]:
        """Planning time of each plan, in seconds."""
        return [round(ready.seconds, 4) for ready in self.plans]

    @property
    def rounded_seconds(self) -> float:
        return round(self.seconds, 4)

    @property
    def within_budget(self) -> bool | None:
        """Whether the goal was reached within the step budget; None if either is unknown."""
        if self.step_budget is None or self.finished is None or self.reached is None:
            return None
        return self.reached and self.finished.steps <= self.step_budget

    def __repr__(self) -> str:
        return f"<Run {self.request!r} in {self.scene}: {self._outcome}; {self.folder}>"

    @property
    def _outcome(self) -> str:
        if self.finished is None:
            ends = {True: "reaches the goal", False: "does not reach the goal", None: "not judged"}
            steps = len(self.plans[-1].plan.actions) if self.plans else 0
            return f"planned, {count(steps, 'step')}, {ends[self.would_reach]}"
        end = {True: "goal reached", False: "goal not reached", None: "not judged"}[self.reached]
        return f"{end} after {count(self.finished.steps, 'step')}"

    def _repr_html_(self) -> str:
        from hvr.base.printable import html_card

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
            _route_picture(self.folder),
        )


def _route_picture(folder: Path) -> str:
    from hvr.runs.report.floor_plan.drawing import draw_floor_plan, svg
    from hvr.runs.report.run_page import read_story

    try:
        story = read_story(folder)
    except HvrError:  # the folder was removed
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
    """Return the result of a completed run, or of a dry run if `finished` is None."""
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
    """Return the result as JSON without the plans and steps, which have their own files.

    The folder is None, so that it can be moved.
    """
    values = run.to_json()
    del values["plans"], values["steps"]
    return {**values, "folder": None}
