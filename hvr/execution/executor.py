"""The loop: plan, validate, act, look, go on or recover.

Every step is validated before it is executed, and the state seen after it is compared with
the state the domain predicts. Where they differ and the rest of the plan would no longer
work, the ladder of recoveries is climbed (`hvr.execution.recovery`).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from hvr.errors import ImpossibleGoalError, PlannerError
from hvr.execution.detection import foreseen, goal_unmet
from hvr.execution.events import (
    Event,
    Finished,
    Noticed,
    PlanReady,
    Recovery,
    Replanning,
)
from hvr.execution.failures import Deviation
from hvr.execution.ladder import Ladder
from hvr.execution.recovery import FOR_MODELS, FOR_PLANNERS, Impasse, crowding, replaceable
from hvr.execution.watching import Watch
from hvr.execution.words import opposite, say
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.pddl.model import Expression
from hvr.policies.symbolic import Planned
from hvr.retrieval.inventory import Inventory
from hvr.validation import Validator

Goal = TypeVar("Goal")


class Policy(Protocol[Goal]):
    """Makes plans for goals of its kind: conditions, or sentences."""

    def plan(
        self, stage: Goal, graph: KnowledgeGraph, inventory: Inventory, trouble: str = ""
    ) -> Planned:
        """Return a plan from the world as observed.

        Args:
            stage: what to reach.
            graph: the world.
            inventory: what there is in it.
            trouble: why an earlier plan could not be carried on; empty at first.
        """

    def clearing(self, things: Sequence[str], place: str) -> Goal:
        """Return the goal of taking things away from a place.

        Args:
            things: names of the things.
            place: name of what they are on or in.
        """


Listener = Callable[[Event], None]
PlanListener = Callable[[Planned], None]


@dataclass
class Executor(Generic[Goal]):
    """Carries out the stages of a goal.

    Args:
        world: where.
        policy: makes the plans. One with the attribute `name` of `llm` is told what went wrong;
            any other is taken to plan from the observed state alone.
        listen: is told each event as it happens.
        planned: is told each plan with its problem, before it is executed.
        max_replans: how many new plans may be made.
        max_tries: how often a rung that keeps the plan may be used for the same step; 0
            makes a new plan at once.
    """

    world: World
    policy: Policy[Goal]
    listen: Listener
    planned: PlanListener
    max_replans: int = 3
    max_tries: int = 1
    steps: int = field(default=0, init=False)
    replans: int = field(default=0, init=False)
    _done: int = field(default=0, init=False)  # steps since the last new plan
    _failures: Counter[str] = field(default_factory=Counter, init=False)
    _avoid: frozenset[str] = field(default=frozenset(), init=False)

    def __post_init__(self) -> None:
        self._is_model = getattr(self.policy, "name", "") == "llm"
        mends = FOR_MODELS if self._is_model else FOR_PLANNERS
        self._ladder = Ladder(mends, self.listen, self.max_tries)

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
        inventory = self.world.inventory()
        if self._avoid:
            inventory = inventory.without(self._avoid)
        planned = self.policy.plan(stage, self.world.graph, inventory, trouble)
        report = Validator(planned.task).check(planned.plan.actions)
        self.planned(planned)
        self.listen(
            PlanReady(planned.plan, report, planned.relevant.names, self.steps + 1,
                      time.perf_counter() - started)
        )  # fmt: skip
        if not report.valid:
            raise PlannerError(f"the plan does not validate: {report.explain()}")
        return planned

    # one stage

    def _reach(self, stage: Goal) -> Finished:
        planned = self.prepare(stage)
        while True:
            watch = Watch(self.world, planned)
            trouble = self._execute(planned, watch)
            if trouble is None:
                return self._finished()
            self._make_room(trouble, planned, new=True)
            new, reason = self._new_plan(stage, trouble, planned)
            if new is None:
                return self._finished(reason, watch.unmet_goal())
            planned = new

    def _finished(self, reason: str = "", unmet: Iterable[Expression] = ()) -> Finished:
        unmet = tuple(unmet)
        return Finished(
            not reason, self.steps, self.replans, reason, tuple(map(str, unmet)),
            tuple(f"{say(opposite(e))}; wanted: {say(e)}" for e in unmet),
            tuple(sorted(self._failures.items())), tuple(sorted(self._ladder.used.items())),
        )  # fmt: skip

    def _execute(self, planned: Planned, watch: Watch) -> Impasse | None:
        """Carry out a plan; where it cannot go on, or None when its goal is reached."""
        todo = [
            (number, action)
            for number, block in enumerate(planned.plan.blocks)
            for action in block.actions
        ]
        validator = Validator(planned.task)
        while todo:
            (block, action), todo = todo[0], todo[1:]
            rest = tuple(a for _, a in todo)
            before = validator.state
            report = validator.apply(action)
            if report.ok:
                self.steps += 1
                done = watch.step(self.steps, action, block, before, report)
                self._count(done.failures)
                self.listen(done)
                success, failures = done.success, done.failures
                self._done += success
                if success and not done.difference:
                    self._ladder.done()
                    continue
                validator = watch.resumed(done.difference)
                ahead = validator.check(rest)
                if success and ahead.valid:
                    self._ladder.done()
                    continue
                if not failures:
                    failures = (foreseen(self.steps, ahead),)
                    self._notice(failures)
            else:
                success, failures = False, (watch.cannot(self.steps + 1, action),)
                self._notice(failures)
            self._ladder.stuck()
            trouble = Impasse(
                failures, action, success, rest, planned.task, validator.state, self.steps
            )
            steps = self._ladder.mend(trouble)
            if steps is None:
                return trouble
            todo = [(block, a) for a in steps[: len(steps) - len(todo)]] + [
                (block if a != old else number, a)
                for (number, old), a in zip(todo, steps[len(steps) - len(todo) :], strict=True)
            ]
        return self._missed(planned, watch)

    def _missed(self, planned: Planned, watch: Watch) -> Impasse | None:
        """Return the trouble at the end of a plan, if its goal does not hold."""
        unmet = watch.unmet_goal()
        if not unmet:
            return None
        failures = (goal_unmet(self.steps, unmet),)
        self._notice(failures)
        self._ladder.stuck()
        return Impasse(failures, None, True, (), planned.task, watch.state, self.steps)

    # a new plan

    def _make_room(self, trouble: Impasse, planned: Planned, *, new: bool) -> bool:
        """Take away what has nothing to do with the plan from where there was no room.

        Args:
            trouble: what went wrong.
            planned: the plan.
            new: only what has just come there.

        Returns:
            Whether it was done.
        """
        place, things = crowding(trouble, planned.relevant.names, self.world.scene, new=new)
        if not things or self.replans >= self.max_replans:
            return False
        told = f"{trouble.reason} First make room."
        goal = self.policy.clearing(things, place)
        try:
            clearing = self._another("make room", goal, trouble, told)
        except (ImpossibleGoalError, PlannerError):
            return False
        left = self._execute(clearing, Watch(self.world, clearing))
        outcome = "worked" if left is None else f"failed: {left.reason}"
        self._say("make room", trouble, outcome)
        return left is None

    def _new_plan(self, stage: Goal, trouble: Impasse, old: Planned) -> tuple[Planned | None, str]:
        """Return the plan of the next rung that makes one; or None, and why there is none."""
        if self.replans >= self.max_replans:
            return None, f"gave up after {self.replans} new plans: {trouble.reason}"
        names = ("ask", "replace") if self._is_model else ("satisfy", "replace")
        again = self.replans > 0 and self._done <= 1  # the last plan got nowhere
        self._look_around(trouble, again)
        reasons: list[str] = []
        planned = self._climb(names, stage, trouble, reasons)
        if planned is None and (
            (not again and self._look_around(trouble, True))
            or self._make_room(trouble, old, new=False)
        ):
            planned = self._climb(names, stage, trouble, reasons)
        if planned is not None:
            return planned, ""
        why = "; ".join(dict.fromkeys(reasons)) or trouble.reason
        return None, f"gave up after {self.replans} new plans: {why}"

    def _climb(
        self, names: tuple[str, ...], stage: Goal, trouble: Impasse, reasons: list[str]
    ) -> Planned | None:
        """Return the plan of the first of some rungs that makes one; adds why the others do not."""
        for name in self._ladder.least_tried(names, trouble):
            if self.replans >= self.max_replans:
                break
            told = trouble.reason
            avoided = self._avoid
            if name == "replace":
                other = replaceable(trouble, self.world.graph, self.world.inventory(), self._avoid)
                if other is None:
                    continue
                self._avoid |= {other}
                told += f" Use another one instead of {other}."
            try:
                return self._another(name, stage, trouble, told)
            except (ImpossibleGoalError, PlannerError) as error:
                self._avoid = avoided
                reasons.append(str(error))
        return None

    def _another(self, rung: str, goal: Goal, trouble: Impasse, told: str) -> Planned:
        """Return the plan of a rung; what came of it is told and counted.

        Raises:
            ImpossibleGoalError: there is no plan.
            PlannerError: no plan was found, or it does not validate.
        """
        self._ladder.take(rung, trouble)
        self.replans += 1
        self._done = 0
        self.listen(Replanning(trouble.reason, self.replans))
        try:
            planned = self.prepare(goal, told)
        except (ImpossibleGoalError, PlannerError) as error:
            self._say(rung, trouble, f"no plan: {error}")
            raise
        self._say(rung, trouble, f"a new plan of {len(planned.plan.actions)} steps")
        return planned

    def _look_around(self, trouble: Impasse, everything: bool) -> bool:
        """Look for what is lost, or at everything once more; True when that told something."""
        found = self.world.look_around(self.steps, everything)
        if found:
            self._ladder.take("look around", trouble)
            self._say("look around", trouble, f"found {', '.join(found)}")
        return bool(found)

    # telling

    def _say(self, rung: str, trouble: Impasse, outcome: str) -> None:
        self.listen(Recovery(rung, trouble.reason, outcome, trouble.step))

    def _notice(self, failures: tuple[Deviation, ...]) -> None:
        self._count(failures)
        self.world.notice(self.steps, failures)
        self.listen(Noticed(failures))

    def _count(self, failures: Iterable[Deviation]) -> None:
        self._failures.update(f.kind.value for f in failures)
