"""The story of a run as plain values: plans, steps, failures, outcome."""

from __future__ import annotations

from dataclasses import dataclass

from hvr.runs.report.floor_plan.plan import FloorPlan, Pose
from hvr.runs.report.floor_plan.route import Route
from hvr.runs.report.run_page.dialogue import AskedModel, DialogueTurn
from hvr.runs.report.run_page.expected import Changes
from hvr.runs.report.run_page.state import RunState


@dataclass(frozen=True)
class Remark:
    """An event of the trace between steps, or about one.

    Args:
        event: `failure`, `recovery`, `replanning` or another name from the trace.
        title: what it is, in a few words.
        text: the explanation.
    """

    event: str
    title: str
    text: str


@dataclass(frozen=True)
class StoryStep:
    """A step as it went.

    Args:
        number: in the run, from 1.
        action: as PDDL.
        plan: index of its plan.
        block: index of its block in the plan.
        success: the environment reported success.
        error: its message if not.
        as_expected: everything went as the domain says, but for what changes by itself.
        missing: facts expected that do not hold in what was observed.
        unexpected: facts that hold in what was observed and were not expected.
        unseen: expected effects that were out of view and are believed.
        heard: sounds, in words.
        expected: what the domain says that the action changes; None if that is not known.
        sent: the environment's own actions, in a line each.
        remarks: events of the trace about it.
        pose: where the robot was after it; None without a picture of the scene.
        changed: literals that hold since the step; of worlds of facts only.
    """

    number: int
    action: str
    plan: int
    block: int
    success: bool
    error: str
    as_expected: bool
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    expected: Changes | None
    sent: tuple[str, ...]
    unseen: tuple[str, ...] = ()
    heard: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
    pose: Pose | None = None
    changed: tuple[str, ...] = ()

    @property
    def objects(self) -> tuple[str, ...]:
        """Names of the objects of the action."""
        return tuple(self.action.strip("()").split()[1:])


@dataclass(frozen=True)
class StoryBlock:
    """A macro action with the actions that carry it out."""

    name: str
    precondition: tuple[str, ...]
    postcondition: tuple[str, ...]
    actions: tuple[str, ...]


@dataclass(frozen=True)
class StoryPlan:
    """A plan of the run.

    Args:
        blocks: in order.
        first_step: number of its first step in the run.
        validator: the outcome of its validation.
        planner: who made it.
        reason: why it was made, if it was not the first.
    """

    blocks: tuple[StoryBlock, ...]
    first_step: int
    validator: str
    planner: str
    reason: str = ""


@dataclass(frozen=True)
class Story:
    """A run from request to outcome.

    Args:
        request: the sentence.
        scene: where.
        facts: further things to say about it, by title.
        reached: whether the goal was reached; None if not executed, not judged or not finished.
        outcome: how it ended, or how far it has come, in a sentence.
        plans: in order.
        steps: in order.
        before: the scene before it, or None.
        after: the scene after it, or None.
        note: what to know about the picture of the scene before.
        route: the robot's way; None without a picture.
        simulated: a simulated model made the plan.
        state: how far it has come.
        turns: The turns of model, validator and planner that made the plans.
        asked: The requests to the model, with its answers.
    """

    request: str
    scene: str
    facts: tuple[tuple[str, str], ...]
    reached: bool | None
    outcome: str
    plans: tuple[StoryPlan, ...]
    steps: tuple[StoryStep, ...]
    before: FloorPlan | None = None
    after: FloorPlan | None = None
    note: str = ""
    route: Route | None = None
    simulated: bool = False
    state: RunState = RunState.FINISHED
    turns: tuple[DialogueTurn, ...] = ()
    asked: tuple[AskedModel, ...] = ()
