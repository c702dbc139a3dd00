"""The loop: plan, validate, act, compare, go on or plan anew.

Every step is validated before it is executed, and the state seen after it is compared with
the state the domain predicts. Where they differ and the rest of the plan would no longer
work, a new plan is made from what was seen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from hvr.errors import ImpossibleGoalError, PlannerError
from hvr.execution.compare import Difference, difference
from hvr.execution.events import Event, Finished, PlanReady, Replanning, StepDone
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.pddl import Atom, GroundAction, Task
from hvr.planning.symbolic import Planned
from hvr.retrieval.inventory import Inventory
from hvr.validation import Validator

Goal = TypeVar("Goal", contravariant=True)


class Policy(Protocol[Goal]):
    """Makes plans for goals of its kind: conditions, or sentences."""

    def plan(
        self, stage: Goal, graph: KnowledgeGraph, inventory: Inventory, trouble: str = ""
    ) -> Planned:
        """A plan from the world as observed.

        Args:
            stage: what to reach.
            graph: the world.
            inventory: what there is in it.
            trouble: why an earlier plan could not be carried on; empty at first.
        """


Listener = Callable[[Event], None]
PlanListener = Callable[[Planned], None]


@dataclass
class Executor(Generic[Goal]):
    """Carries out the stages of a goal.

    Args:
        world: where.
        policy: makes the plans.
        listen: is told each event as it happens.
        planned: is told each plan with its problem, before it is executed.
        max_replans: how many new plans may be made.
    """

    world: World
    policy: Policy[Goal]
    listen: Listener
    planned: PlanListener
    max_replans: int = 3
    steps: int = field(default=0, init=False)
    replans: int = field(default=0, init=False)

    def run(self, stages: Sequence[Goal]) -> Finished:
        """Reach one stage after the other.

        Raises:
            ImpossibleGoalError: the first plan cannot be made.
            PlannerError: no first plan was found in the time allowed.
        """
        finished = Finished(True, 0, 0)
        for stage in stages:
            finished = self._reach(stage)
            if not finished.reached:
                break
        self.listen(finished)
        return finished

    def prepare(self, stage: Goal, trouble: str = "") -> Planned:
        """Plan and validate a stage without executing it.

        Raises:
            ImpossibleGoalError: there is no plan.
            PlannerError: no plan was found, or it does not validate.
        """
        started = time.perf_counter()
        planned = self.policy.plan(stage, self.world.graph, self.world.inventory(), trouble)
        report = Validator(planned.task).check(planned.plan.actions)
        self.planned(planned)
        self.listen(
            PlanReady(planned.plan, report, planned.relevant.names, self.steps + 1,
                      time.perf_counter() - started)
        )  # fmt: skip
        if not report.valid:
            raise PlannerError(f"the plan does not validate: {report.explain()}")
        return planned

    def _reach(self, stage: Goal) -> Finished:
        trouble = ""
        while True:
            try:
                planned = self.prepare(stage, trouble)
            except (ImpossibleGoalError, PlannerError) as error:
                if self.replans == 0:
                    raise
                return Finished(False, self.steps, self.replans, str(error))
            problem = self._execute(planned)
            if problem is None:
                unmet = self._unmet(planned)
                if not unmet:
                    return Finished(True, self.steps, self.replans)
                problem = "the goal does not hold: " + " ".join(unmet)
            if self.replans >= self.max_replans:
                unmet = self._unmet(planned)
                return Finished(
                    False, self.steps, self.replans,
                    f"gave up after {self.replans} new plans: {problem}", unmet,
                )  # fmt: skip
            self.replans += 1
            self.listen(Replanning(problem, self.replans))
            trouble = problem

    def _execute(self, planned: Planned) -> str | None:
        """Carry out a plan; the reason why it cannot go on, or None when it is done."""
        task = planned.task
        validator = Validator(task)
        blocks = [
            (number, action)
            for number, block in enumerate(planned.plan.blocks)
            for action in block.actions
        ]
        for position, (block, action) in enumerate(blocks):
            report = validator.apply(action)
            if not report.ok:
                return report.explain()
            self.steps += 1
            expected = validator.state.atoms()
            near = [a.args[0] for a in expected if a.predicate == "near"]
            outcome = self.world.act(self.steps, action, near)
            observed = self._observed(planned)
            found = difference(expected, observed, outcome.scene)
            sent = tuple(
                {**dict(s.action), "success": s.success, "error": s.error}
                for s in outcome.result.steps
            )
            done = StepDone(
                self.steps, action, block, outcome.result.success, outcome.result.error, found, sent
            )
            self.listen(done)
            if done.as_expected:
                continue
            rest = [a for _, a in blocks[position + 1 :]]
            validator = Validator(task, state=task.state(observed - _not_near(found)))
            if not outcome.result.success or not validator.check(rest).valid:
                return self._reason(action, done.error, found)
        return None

    def _reason(self, action: GroundAction, error: str, found: Difference) -> str:
        parts = [error] if error else []
        if found:
            parts.append(found.explain())
        return f"step {self.steps} {action}: {'; '.join(parts)}"

    def _observed(self, planned: Planned) -> frozenset[Atom]:
        fluents = planned.task.fluent_predicates
        facts = self.world.facts(planned.relevant.names)
        return frozenset(a for a in facts if a.predicate in fluents)

    def _unmet(self, planned: Planned) -> tuple[str, ...]:
        """What the goal still needs in the observed state."""
        task: Task = planned.task
        failure = Validator(task, state=task.state(self._observed(planned))).goal_failure()
        return () if failure is None else tuple(str(literal) for literal in failure.literals)


def _not_near(found: Difference) -> frozenset[Atom]:
    """The facts of nearness that were expected and not seen."""
    return frozenset(atom for atom in found.missing if atom.predicate == "near")
