"""The execution loop: plan, validate, act, observe, then continue or recover.

Every step is validated before it is executed, and the observed state is compared with the
prediction. Where they differ and the rest of the plan would fail, recovery strategies are tried
(`hvr.execution.recovery`): first strategies that keep the plan, since replanning is expensive and
discards work; then making room; and finally a new plan for the stage.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic

from hvr.errors import ImpossibleGoalError, InvalidPlanError, PddlError, PlannerError, UsageError
from hvr.execution.deviations import (
    Deviation,
    DeviationKind,
    constraint_broken,
    literal_clause,
    negated,
)
from hvr.execution.events import Event, Finished, Noticed, PlanReady, Recovery, Replanning
from hvr.execution.monitor import goal_unmet, predicted_failure
from hvr.execution.recovery import (
    PLAN_REPAIRS,
    REPLANNING_STRATEGIES,
    BeliefMonitor,
    ExecutionWorld,
    Goal,
    Impasse,
    RecoverablePolicy,
    RecoveryProgress,
)
from hvr.pddl import Expression, GroundAction, State, Trajectory
from hvr.planning.plans import Planned
from hvr.validation.trajectory import ConstraintMonitor
from hvr.validation.validator import Validator

Listener = Callable[[Event], None]
PlanListener = Callable[[Planned], None]


@dataclass
class Executor(Generic[Goal]):
    """The loop that carries out the stages of a goal.

    Args:
        planned: Called with each plan before it is executed.
        max_tries: Maximum uses of a plan-keeping strategy for the same step; 0 replans at once.
    """

    world: ExecutionWorld
    policy: RecoverablePolicy[Goal]
    listen: Listener
    planned: PlanListener
    max_replans: int = 3
    max_tries: int = 1

    def __post_init__(self) -> None:
        self.steps = self.replans = 0
        self._progress = 0  # steps since the last new plan
        self._failures = Counter[str]()
        self._started: set[tuple[object, ...]] = set()  # plans, each with its belief
        self._refused: set[tuple[object, ...]] = set()  # actions, each with the belief
        self._avoid = frozenset[str]()
        self._put_right = frozenset[str]()  # objects for which a plan was made anew
        self._closing: tuple[str, ...] = ()  # the place opened last
        self._searched = frozenset[str]()  # places that were searched, or could not be opened
        self._not_found = frozenset[str]()  # objects for which every place was searched
        self._constraints = ConstraintMonitor()  # constraints on the current stage
        self._run_constraints = ConstraintMonitor()
        self._broken: list[Deviation] = []
        strategies = self.policy.recovery_strategies
        unknown = [
            *(set(strategies.repairs) - set(PLAN_REPAIRS)),
            *(set(strategies.replan) - set(REPLANNING_STRATEGIES)),
        ]
        if unknown:
            raise UsageError(
                f"unknown recovery strategy {unknown[0]!r} (strategies that keep the plan: "
                f"{', '.join(PLAN_REPAIRS)}; "
                f"that make a new one: {', '.join(REPLANNING_STRATEGIES)})"
            )
        repairs = tuple((name, PLAN_REPAIRS[name]) for name in strategies.repairs)
        self._recovery = RecoveryProgress(repairs, self.listen, self.max_tries)

    def run(self, stages: Sequence[Goal], constraints: Sequence[Trajectory] = ()) -> Finished:
        """Reach the stages in order.

        Args:
            constraints: Ground constraints on the whole run. The policy does not know them; they
                are only monitored.

        Raises:
            ImpossibleGoalError: No plan exists at the start.
            PlannerError: No first plan was found within the time limit.
            InvalidPlanError: A plan of the policy is not valid.
        """
        finished = Finished(True, 0, 0)
        self._run_constraints = ConstraintMonitor(constraints)
        for stage in stages:
            finished = self._reach(stage, final=stage is stages[-1])
            if not finished.reached:
                break
        if finished.reached and self._broken:
            reasons = [f.explanation for f in self._broken]
            reason = " ".join((*reasons, "The goal itself holds at the end."))
            finished = finished.replace(reached=False, reason=reason)
        self.listen(finished)
        return finished

    def look_into(self, planned: Planned, what: tuple[str, ...], place: str) -> None:
        """Execute a plan that opens a place, and check whether the objects `what` are inside."""
        self.show_look(planned, what, place)
        self._start_monitoring(planned)
        self._execute(planned, self.world.watch(planned, ConstraintMonitor(), aside=True))
        self.world.look_around(self.steps)

    def show_look(self, planned: Planned, what: tuple[str, ...], place: str) -> None:
        self._announce(planned, time.perf_counter(), what, (place,))

    def find(self, stage: Goal) -> None:
        """Open places until the missing objects of a stage are found or no place is left."""
        while objects := self.world.missing(self.policy, stage):
            if not self._search_places(objects, stage):
                return

    def missing_objects(self, stage: Goal) -> tuple[str, ...]:
        """Return the objects that a stage needs and that may be behind closed doors."""
        objects = self.world.missing(self.policy, stage)
        if not objects or not self.world.search_order(objects, self._searched):
            return ()
        return tuple(objects)

    def prepare(self, stage: Goal, reason: str = "") -> Planned:
        """Plan and validate a stage without executing it; `reason` says why the last plan failed.

        Raises:
            ImpossibleGoalError: No plan exists.
            PlannerError: No valid plan was found.
        """
        started = time.perf_counter()
        planned = self.world.plan(self.policy, stage, self._avoid, reason)
        self._announce(planned, started)
        return planned

    def _announce(
        self,
        planned: Planned,
        started: float,
        looking_for: tuple[str, ...] = (),
        where: tuple[str, ...] = (),
    ) -> None:
        report = Validator(planned.task).check(planned.plan.actions)
        self.planned(planned)
        self.listen(
            PlanReady(
                planned.plan,
                report,
                planned.relevant.names,
                self.steps + 1,
                time.perf_counter() - started,
                looking_for,
                "".join(where[:1]),
                where[1:],
            )
        )
        if not report.valid:
            raise InvalidPlanError(f"the plan was rejected: {report.explain()}")

    def _reach(self, stage: Goal, *, final: bool) -> Finished:
        self.find(stage)
        planned = self._first_plan(stage)
        self._constraints = ConstraintMonitor.of(self.world.scope(planned), planned.assumed)
        self._start_monitoring(planned)
        while True:
            watch = self.world.watch(planned, self._constraints)
            impasse = self._execute(planned, watch)
            if impasse is None and final:
                impasse = self._left_untidy(stage, planned, watch)
            if impasse is None:
                looked, unseen = self._last_look(stage, watch) if final else (False, ())
                if looked:
                    watch = self.world.watch(planned, self._constraints)
                    impasse = self._goal_impasse(watch)
                if impasse is None:
                    return self.finished().replace(unseen=unseen)
            # Clear a newly occupied place first, so that the new plan can use it as the old one
            # would have. Older occupants stay until no other plan is found (`_new_plan`).
            self._make_room(impasse, planned, new=True)
            new, reason = self._new_plan(stage, impasse, planned)
            if new is None:
                return self.finished(reason, watch.unmet_goal())
            planned = new

    def _left_untidy(self, stage: Goal, planned: Planned, watch: BeliefMonitor) -> Impasse | None:
        if self.replans >= self.max_replans:
            return None
        try:
            left = set(self.world.untidy(self.policy, stage))
        except (ImpossibleGoalError, PddlError):  # the goal names an object that has gone since
            return None
        left -= self._put_right.union(planned.relevant.names)
        if not left:
            return None
        self._put_right |= left
        return self._outdated(watch, (), f"{' and '.join(sorted(left))} must still be put right.")

    def _first_plan(self, stage: Goal) -> Planned:
        while True:
            try:
                return self.prepare(stage)
            except ImpossibleGoalError as error:
                objects = self.world.missing(self.policy, stage, spare=True)
                if objects and self._search_places(objects, stage):
                    continue
                if self._searched:
                    raise ImpossibleGoalError(f"{error}; {self._in_vain(objects)}") from error
                raise

    def _search_lost(self, stage: Goal, reasons: list[str]) -> bool:
        try:
            objects = set(self.world.missing(self.policy, stage, spare=True)) - self._not_found
        except PddlError:  # the goal names an object that no longer exists
            return False
        self._searched = frozenset()  # a lost object may be where the robot has looked before
        if not objects or not self.world.search_order(sorted(objects), self._searched):
            return False
        if self._search_places(sorted(objects), stage):
            return True
        self._not_found |= objects
        reasons.append(self._in_vain(objects))
        return False

    def _in_vain(self, objects: Iterable[str]) -> str:
        names, count = sorted(objects), len(self._searched)
        verb = "were" if len(names) > 1 else "was"
        places = f"{count} place{'s' * (count != 1)}"
        return f"{' and '.join(names)} {verb} not found in {places}"

    def _search_places(self, objects: Sequence[str], stage: Goal) -> bool:
        while True:
            places = self.world.search_order(objects, self._searched)
            if not places:
                return False
            started = time.perf_counter()
            self._searched |= {places[0]}
            try:
                planned = self.world.opening(self.policy, places[0], self._closing, stage)
            except (ImpossibleGoalError, PlannerError):
                continue
            self._announce(planned, started, tuple(objects), places)
            self._start_monitoring(planned)
            watch = self.world.watch(planned, ConstraintMonitor(), aside=True)
            self._execute(planned, watch)
            self.world.look_around(self.steps)
            if not self.world.unplaced().issuperset(objects):
                self._closing = ()
                return True
            self._closing = (places[0],)  # the next plan closes it

    def _last_look(self, stage: Goal, watch: BeliefMonitor) -> tuple[bool, tuple[str, ...]]:
        """Return whether the robot visited unseen goal objects, and which of them remain unseen."""
        step = self.steps
        tried = set[str]()
        opened: tuple[str, ...] = ()
        while True:
            unseen = self.world.unseen(watch, step)
            things = [thing for thing in unseen if thing not in tried]
            if not things and not opened:
                return bool(tried), unseen
            thing = things[0] if things else opened[0]
            tried.add(thing)
            started = time.perf_counter()
            try:
                planned, to_close = self.world.visiting(self.policy, thing, opened, stage)
            except (ImpossibleGoalError, PlannerError, PddlError):
                opened = opened if things else ()
                continue
            self._announce(planned, started, (thing,))
            self._execute(planned, self.world.watch(planned, ConstraintMonitor(), aside=True))
            opened = to_close
            if thing in self.world.unseen(watch, step):
                self.world.look_around(self.steps, True)
            if thing in self.world.unseen(watch, step):
                self.world.doubt(thing)

    def _start_monitoring(self, planned: Planned) -> None:
        if self.steps == 0:
            self._report_broken(self._run_constraints.observe(planned.task.initial), None, ())

    def finished(self, reason: str = "", unmet: Iterable[Expression] = ()) -> Finished:
        """Return the last event of the run; `reason` is empty if the goal was reached."""
        unmet, words = tuple(unmet), self.world.wording
        return Finished(
            not reason,
            self.steps,
            self.replans,
            reason,
            tuple(map(str, unmet)),
            tuple(
                f"{literal_clause(negated(e), words)}; wanted: {literal_clause(e, words)}"
                for e in unmet
            ),
            tuple(sorted(self._failures.items())),
            tuple(sorted(self._recovery.used.items())),
        )

    def _execute(self, planned: Planned, watch: BeliefMonitor) -> Impasse | None:
        self._started.add((self._belief(planned.task.initial), planned.plan.actions))
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
                for constraints in (self._constraints, self._run_constraints):
                    if constraints.left:
                        self._monitor_constraints(constraints, watch, action, done.failures)
                success, failures = done.success, done.failures
                self._progress += success
                self._forget_failures(success, before, watch.state)
                if success and not done.difference:
                    self._recovery.done()
                    if better := watch.outdated(rest):
                        return self._outdated(watch, rest, better)
                    continue
                # The rest must now work in the observed state, not in the predicted one. A
                # difference that leaves it valid needs no recovery.
                validator = watch.resumed(done.difference)
                ahead = validator.check(rest)
                if success and ahead.valid:
                    self._recovery.done()
                    if better := watch.outdated(rest):
                        return self._outdated(watch, rest, better)
                    continue
                if not failures:
                    failures = (predicted_failure(self.steps, ahead, self.world.wording),)
                    self._notice(failures)
            else:
                success, failures = False, (watch.cannot(self.steps + 1, action),)
                self._notice(failures)
            self._recovery.stuck()
            task, state = watch.ahead(validator.state)
            impasse = Impasse(failures, action, success, rest, task, state, self.steps)
            steps = self._recovery.repair(impasse)
            if steps is None:
                if report.ok and not success:
                    self._refused.add((self._belief(watch.state), action))
                return impasse
            # Steps added by a strategy belong to the block of the failed step; steps planned
            # earlier keep their blocks.
            todo = [(block, a) for a in steps[: len(steps) - len(todo)]] + [
                (block if a != old else number, a)
                for (number, old), a in zip(todo, steps[len(steps) - len(todo) :], strict=True)
            ]
        return self._goal_impasse(watch)

    def _outdated(self, watch: BeliefMonitor, rest: tuple[GroundAction, ...], why: str) -> Impasse:
        return Impasse((), None, True, rest, *watch.ahead(watch.state), self.steps, why)

    def _goal_impasse(self, watch: BeliefMonitor) -> Impasse | None:
        unmet = watch.unmet_goal()
        if not unmet:
            return None
        failures = (goal_unmet(self.steps, unmet, self.world.wording),)
        self._notice(failures)
        self._recovery.stuck()
        return Impasse(failures, None, True, (), *watch.ahead(watch.state), self.steps)

    def _make_room(self, impasse: Impasse, planned: Planned, *, new: bool) -> bool:
        place, things = self.world.crowding(impasse, planned.relevant.names, new=new)
        if new and place and not things and self.world.limited:
            found = self._look_around(impasse, True)  # what is in the way may be out of sight
            _, others = self.world.crowding(impasse, planned.relevant.names, new=False)
            things = tuple(thing for thing in others if thing in found)
        if not things or self.replans >= self.max_replans:
            return False
        reason = f"{impasse.reason} First make room."
        goal = self.policy.clearing(things, place)
        if self._constraints.left:
            goal = self.policy.keeping(goal, _texts(self._constraints.prohibitions))
        try:
            clearing = self._replan("make room", goal, impasse, reason)
        except (ImpossibleGoalError, PlannerError):
            return False
        left = self._execute(clearing, self.world.watch(clearing, self._constraints, aside=True))
        outcome = "worked" if left is None else f"failed: {left.reason}"
        self._report_recovery("make room", impasse, outcome)
        return left is None

    def _new_plan(self, stage: Goal, impasse: Impasse, old: Planned) -> tuple[Planned | None, str]:
        if self.replans >= self.max_replans:
            return None, self._gave_up(impasse.reason)
        if self._constraints.left or self._broken:
            stage = self.policy.keeping(stage, _texts(self._constraints.left))
        names = self.policy.recovery_strategies.replan
        again = self.replans > 0 and self._progress <= 1  # the last plan made no progress
        # Look before planning: a plan from a wrong belief would fail like the last one. After a
        # plan without progress, even certain beliefs are rechecked.
        self._look_around(impasse, again)
        reasons: list[str] = []
        planned = self._first_working_plan(names, stage, impasse, reasons)
        # Without a plan, either the belief is wrong or an old obstacle has to go. Look first: that
        # moves nothing.
        if planned is None and not again and self._look_around(impasse, True):
            planned = self._first_working_plan(names, stage, impasse, reasons)
        if planned is None and self._make_room(impasse, old, new=False):
            planned = self._first_working_plan(names, stage, impasse, reasons)
        if planned is None and self._search_lost(stage, reasons):
            planned = self._first_working_plan(names, stage, impasse, reasons)
        if planned is not None:
            return planned, ""
        why = "; ".join(dict.fromkeys(reasons)) or impasse.reason
        return None, self._gave_up(why)

    def _first_working_plan(
        self, names: tuple[str, ...], stage: Goal, impasse: Impasse, reasons: list[str]
    ) -> Planned | None:
        # Least tried first: the same strategy would probably fail at the same step as before.
        for name in self._recovery.least_tried(names, impasse):
            if self.replans >= self.max_replans:
                break
            reason = impasse.reason
            avoided = self._avoid
            if name == "replace":
                other = self.world.replaceable(impasse, self._avoid)
                if other is None:
                    continue
                self._avoid |= {other}
                reason += f" Use another one instead of {other}."
            try:
                return self._replan(name, stage, impasse, reason)
            except (ImpossibleGoalError, PlannerError, PddlError) as error:
                # A goal that names the object to replace cannot be read without it. If there is no
                # plan for a replacement, the object is no longer avoided.
                self._avoid = avoided
                reasons.append(str(error))
        return None

    def _replan(self, strategy: str, goal: Goal, impasse: Impasse, reason: str) -> Planned:
        self._recovery.count_use(strategy, impasse)
        self.replans += 1
        self._progress = 0
        self.listen(Replanning(impasse.reason, self.replans))
        try:
            planned = self.prepare(goal, reason)
        except (ImpossibleGoalError, PlannerError) as error:
            self._report_recovery(strategy, impasse, f"no plan: {error}")
            raise
        if self._is_repeated(planned):
            why = f"the new plan would fail like the last one: {impasse.reason}"
            self._report_recovery(strategy, impasse, f"no plan: {why}")
            raise PlannerError(why)
        count = len(planned.plan.actions)
        self._report_recovery(strategy, impasse, f"a new plan of {count} step{'s' * (count != 1)}")
        return planned

    def _forget_failures(self, success: bool, before: State, now: State) -> None:
        if success and self._belief(now) != self._belief(before):
            self._started.clear()
            self._refused.clear()

    def _is_repeated(self, planned: Planned) -> bool:
        if self.world.may_repeat:
            return False
        belief, actions = self._belief(planned.task.initial), planned.plan.actions
        refused = any((belief, action) in self._refused for action in actions[:1])
        return refused or (belief, actions) in self._started

    def _belief(self, state: State) -> tuple[object, ...]:
        return state.atoms(), frozenset(state.numbers().items())

    def _look_around(self, impasse: Impasse, everything: bool) -> tuple[str, ...]:
        things = self.world.look_around(self.steps, everything)
        if things:
            self._recovery.count_use("look around", impasse)
            self._report_recovery("look around", impasse, f"found {', '.join(things)}")
        return things

    def _monitor_constraints(
        self,
        constraints: ConstraintMonitor,
        watch: BeliefMonitor,
        action: GroundAction,
        failures: Sequence[Deviation],
    ) -> None:
        own = constraints is self._constraints
        broken = constraints.observe(watch.constraint_state if own else watch.state)
        self._report_broken(broken, action, failures)

    def _report_broken(
        self, broken: Sequence[Trajectory], action: GroundAction | None, causes: Sequence[Deviation]
    ) -> None:
        if broken:
            others = any(f.kind is DeviationKind.CHANGED_BY_OTHERS for f in causes)
            failures = tuple(
                constraint_broken(one, self.steps, action, self.world.wording, by_others=others)
                for one in broken
            )
            self._broken += failures
            self._notice(failures)

    def _gave_up(self, reason: str) -> str:
        return f"gave up after {self.replans} new plan{'s' * (self.replans != 1)}: {reason}"

    def _report_recovery(self, strategy: str, impasse: Impasse, outcome: str) -> None:
        self.listen(Recovery(strategy, impasse.reason, outcome, impasse.step))

    def _notice(self, failures: tuple[Deviation, ...]) -> None:
        self._count(failures)
        self.world.notice(self.steps, failures)
        self.listen(Noticed(failures))

    def _count(self, failures: Iterable[Deviation]) -> None:
        self._failures.update(f.kind.value for f in failures)


def _texts(constraints: Iterable[Trajectory]) -> tuple[str, ...]:
    return tuple(map(str, constraints))
