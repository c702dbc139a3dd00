"""One run with a fault or without: the failures noticed, and whether the goal was reached."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import Any

from hvr.errors import HvrError
from hvr.execution.belief import Sight
from hvr.execution.deviations import Deviation, DeviationKind
from hvr.execution.events import Event, Noticed, StepDone
from hvr.execution.executor import Executor
from hvr.execution.perception import Sensors
from hvr.pddl.model import GroundAction
from hvr.worlds import Kitchen
from hvr.worlds.faults import FaultKind, FaultyEnvironment, Injection, NoisySensor, Schedule
from hvr.worlds.thor.skills import SHUFFLE
from studies.detection_scoring import Detection, detection
from studies.fault_runs.baseline import Baseline, Given, Lab
from studies.fault_runs.cases import Case

_WATCHED = frozenset(
    {
        "isToggled",
        "isBroken",
        "isFilledWithLiquid",
        "fillLiquid",
        "isDirty",
        "isCooked",
        "isSliced",
        "isOpen",
        "heldBy",
    }
)
"""Properties in statements for which the domain has facts, besides places."""

CRASHED = "crashed:"
"""Beginning of the reason of a run that ended with an error that hvr should not raise."""


@dataclass(frozen=True)
class Row:
    """The result of one run.

    Args:
        key: which run; see `Case.key`.
        task: id of the task.
        scene: where.
        kind: of the fault; `none` without one, `noise` with a noisy sensor.
        injected: the fault could be made to happen.
        observable: it changed a fact about the objects of the task, or an action was refused.
        step: the step in which it happened, from 1.
        noticed: the first step from then on with a failure; None when there was none.
        reported: kinds of the failures in that step.
        early: kinds of the failures before the fault; without a fault, of all.
        own: the fault hit what the step itself handles.
        explanations: of `reported`; without a fault, of all failures.
        reached: the goal was reached.
        steps: how many steps the run took.
        extra: how many more than without a fault.
        replans: how many new plans were made.
        looks: how often the robot looked again.
        wrong: wrong readings of a noisy sensor.
        seconds: wall time.
        reason: why the goal was not reached.
    """

    key: str
    task: str
    scene: str
    kind: str
    injected: bool = False
    observable: bool = False
    step: int = 0
    noticed: int | None = None
    reported: tuple[str, ...] = ()
    early: tuple[str, ...] = ()
    own: bool = False
    explanations: tuple[str, ...] = ()
    reached: bool = False
    steps: int = 0
    extra: int = 0
    replans: int = 0
    looks: int = 0
    wrong: int = 0
    seconds: float = 0.0
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)

    @property
    def detection(self) -> Detection:
        """The detection of its fault, for scoring."""
        return Detection(
            kind=self.kind,
            step=self.step,
            noticed=self.noticed,
            reported=tuple(map(DeviationKind, self.reported)),
            early=tuple(map(DeviationKind, self.early)),
            own=self.own,
        )


def run_case(lab: Lab, baseline: Baseline, case: Case, sight: Sight = Sight.OMNISCIENT) -> Row:
    """Run the plan of a baseline with one fault.

    Args:
        lab: what runs share.
        baseline: the plan, and the run without the fault.
        case: the fault.
        sight: what the robot sees.
    """
    env = FaultyEnvironment(Kitchen(case.scene), Schedule((case.fault,), case.seed))
    seen = _Run(lab, baseline, env, Sensors(sight))
    injected = [i for i in env.log if i.changed or i.step]
    kind = case.fault.kind.value
    row = seen.row(case.key, kind)
    if not injected:
        return row
    step = seen.step_of(injected[0])
    result = detection(kind, step, seen.failures)
    return replace(
        row,
        injected=True,
        observable=seen.observable(step),
        step=step,
        own=_hits_own(baseline, case, injected[0]),
        noticed=result.noticed,
        reported=tuple(k.value for k in result.reported),
        early=tuple(k.value for k in result.early),
        explanations=tuple(f.explanation for f in seen.failures if f.step == result.noticed),
    )


def _hits_own(baseline: Baseline, case: Case, injection: Injection) -> bool:
    """Return whether the fault hit what its step handles.

    That is what the step names, changes or has just taken, or does in several actions of which
    it has done some.
    """
    step = baseline.steps[case.step - 1]
    if case.fault.kind in (FaultKind.DROP, FaultKind.SLIPPERY):
        return not step.held_before or len(step.sent) > 1
    if case.fault.kind in (FaultKind.SILENT, FaultKind.MISSING_STEP):
        return len(step.sent) > 1
    return injection.objects[0] in step.handled


def run_free(
    lab: Lab, baseline: Baseline, noise: float = 0.0, seed: int = 0, sight: Sight = Sight.OMNISCIENT
) -> Row:
    """Run the plan of a baseline without a fault; every failure noticed is a false alarm.

    Args:
        lab: what runs share.
        baseline: the plan.
        noise: share of wrong readings of the sensor; the robot knows it.
        seed: for the noise.
        sight: what the robot sees.
    """
    env = FaultyEnvironment(Kitchen(baseline.scene), Schedule())
    sense = NoisySensor(noise, seed=seed) if noise else None
    seen = _Run(lab, baseline, env, Sensors(sight, noise, sense))
    kind = "noise" if noise else "none"
    row = seen.row(f"{baseline.task.id}/{baseline.scene}/{kind}/{seed}", kind)
    early = tuple(f.kind.value for f in seen.failures)
    explanations = tuple(f"{f.step}: {f.explanation}" for f in seen.failures)
    wrong = sense.errors if sense else 0
    return replace(row, early=early, explanations=explanations, wrong=wrong)


class _Run:
    """A run of the executor, with what is needed to judge it."""

    def __init__(
        self, lab: Lab, baseline: Baseline, env: FaultyEnvironment, sensors: Sensors
    ) -> None:
        self.baseline = baseline
        self.env = env
        self.failures: list[Deviation] = []
        self.looks = 0
        self.relevant = frozenset(baseline.planned.relevant.names)
        self._ends: list[int] = []
        self._refused: set[int] = set()
        self._far: set[int] = set()
        started = time.perf_counter()
        self.world = lab.world(env, sensors)
        policy = Given(baseline.planned, lab.policy)
        executor = Executor(self.world, policy, self._listen, lambda _: None, lab.max_replans)
        stage = lab.policy.with_ends(baseline.task.goal)
        self.reason = ""
        try:
            finished = executor.run([stage])
            self.reached, self.reason = finished.reached, finished.reason
        except HvrError as error:
            self.reached, self.reason = False, f"{type(error).__name__}: {error}"
        except Exception as error:  # a crash is a finding: listed, and the other runs go on
            self.reached, self.reason = False, f"{CRASHED} {type(error).__name__}: {error}"
        self.replans, self.steps = executor.replans, executor.steps
        self.seconds = time.perf_counter() - started

    def row(self, key: str, kind: str) -> Row:
        """Return the row without the fields about the fault."""
        base = self.baseline
        return Row(
            key=key,
            task=base.task.id,
            scene=base.scene,
            kind=kind,
            reached=self.reached,
            steps=self.steps,
            extra=self.steps - len(base.steps),
            replans=self.replans,
            looks=self.looks,
            seconds=round(self.seconds, 3),
            reason=self.reason,
        )

    def step_of(self, injection: Injection) -> int:
        """Return the step of the run in which a fault happened."""
        return next(
            (n for n, end in enumerate(self._ends, start=1) if end >= injection.step),
            len(self._ends),
        )

    def observable(self, step: int) -> bool:
        """Return whether the objects of the task show what happened in a step."""
        if step in self._refused or step in self._far:
            return True
        of_step = (i for i in self.env.log if i.step and self.step_of(i) == step)
        return any(map(self._watched, of_step))

    def _watched(self, injection: Injection) -> bool:
        return any(
            subject in self.relevant
            and (prop in _WATCHED or (prop == "in" and value in self.relevant))
            for subject, prop, value in (*injection.added, *injection.removed)
        )

    def _listen(self, event: Event) -> None:
        if isinstance(event, Noticed):
            self.failures += event.failures
        if not isinstance(event, StepDone):
            return
        self.failures += event.failures
        self.looks += event.looks
        self._ends.append(self.env.steps)
        if not event.success:
            self._refused.add(event.number)
        elif event.action.name == "navigate_to_obj" and self._is_far(event.action):
            self._far.add(event.number)

    def _is_far(self, action: GroundAction) -> bool:
        """Return whether the robot is not where it went, too far off to reach it by a step."""
        target = self.world.names.object_id(action.args[0])
        there = self.env.env.last_event.get_object(target)
        return there is not None and not there["isInteractable"] and there["distance"] > SHUFFLE
