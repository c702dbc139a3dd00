"""The recorder of a run: it keeps events and plans for later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from hvr.execution.events import Event, PlanReady, StepDone, Understood
from hvr.pddl import print_plan, print_problem
from hvr.planning.plans import Planned, Understanding
from hvr.runs.folder import RunFolder

if TYPE_CHECKING:
    from hvr.policies.llm.events import PolicyEvent

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
