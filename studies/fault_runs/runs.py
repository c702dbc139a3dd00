"""Run one case: the reported failures, and whether the goal was reached."""

from __future__ import annotations

import time
import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from hvr.errors import HvrError
from hvr.execution.belief import Sight
from hvr.execution.deviations import Deviation, DeviationKind, atom_of
from hvr.execution.events import Event, Noticed, StepDone
from hvr.execution.executor import Executor
from hvr.execution.monitor import fluent_predicates
from hvr.execution.observation import sorts_of
from hvr.execution.perception import Sensors
from hvr.knowledge.triples import Statement
from hvr.pddl import Not
from hvr.pddl.model import GroundAction
from hvr.worlds import Kitchen
from hvr.worlds.faults import FaultKind, FaultyEnvironment, Injection, NoisySensor, Schedule
from hvr.worlds.faults.fault import PERCEPTION_KINDS
from hvr.worlds.faults.injector import statements
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
"""Properties, besides locations, for which the domain has facts."""

CRASHED = "crashed:"
"""Prefix of the reason for a run that ended in an unexpected exception."""


@dataclass(frozen=True)
class Row:
    """Result of one run.

    Args:
        key: Key of the run (see `Case.key`).
        kind: Kind of fault; `none` without a fault, `noise` if the sensor is noisy.
        observable: Whether the fault changed a fact about the task's objects, or an action was
            refused.
        step: 1-based number of the step in which the fault occurred.
        noticed: First step, at or after `step`, with a reported failure; None if there is none.
        reported: Kinds of the failures reported in step `noticed`.
        early: Kinds of the failures reported before the fault; in a run without a fault, of all.
        own: Whether the fault hit an object that the step itself handles.
        visible: Whether the robot's view showed a changed fact, or an action was refused, at or
            after `step`.
        holds: Whether the goal holds in the true final state.
        unseen: Objects of the goal that the result reports as not observed at the end.
        false: Reported failures that the true state contradicts, as explanations.
        explanations: Explanations of `reported`; in a run without a fault, of all failures.
        extra: Number of steps beyond those of the run without faults.
        wrong: Number of wrong sensor readings.
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
    visible: bool = False
    holds: bool = False
    unseen: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
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
        return asdict(self)

    @property
    def detection(self) -> Detection:
        return Detection(
            kind=self.kind,
            step=self.step,
            noticed=self.noticed,
            reported=tuple(map(DeviationKind, self.reported)),
            early=tuple(map(DeviationKind, self.early)),
            own=self.own,
        )


@dataclass(frozen=True)
class Senses:
    """The robot's sensors in a run.

    Args:
        noise: Share of wrong readings.
        told: Whether the robot knows `noise`.
    """

    sight: Sight = Sight.OMNISCIENT
    noise: float = 0.0
    told: bool = True

    def sensors(self, seed: int) -> tuple[Sensors, NoisySensor | None]:
        sense = NoisySensor(self.noise, seed=seed) if self.noise else None
        return Sensors(self.sight, self.noise if self.told else 0.0, sense), sense


PERFECT = Senses()


def run_case(lab: Lab, baseline: Baseline, case: Case, senses: Senses = PERFECT) -> Row:
    env = FaultyEnvironment(Kitchen(case.scene), Schedule((case.fault,), case.seed))
    sensors, sense = senses.sensors(zlib.crc32(case.key.encode()))
    seen = _Run(lab, baseline, env, sensors)
    injected = [i for i in env.log if i.changed or i.step]
    kind = case.fault.kind.value
    row = replace(seen.row(case.key, kind), wrong=sense.errors if sense else 0)
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
        visible=seen.visible(step, brief=case.fault.kind in PERCEPTION_KINDS),
        noticed=result.noticed,
        reported=tuple(k.value for k in result.reported),
        early=tuple(k.value for k in result.early),
        explanations=tuple(f.explanation for f in seen.failures if f.step == result.noticed),
    )


def _hits_own(baseline: Baseline, case: Case, injection: Injection) -> bool:
    """Return whether the fault hit an object that its step handles.

    A step handles the objects that it names, changes or has just taken. A step of several actions
    also counts as hit if only some of them were executed.
    """
    step = baseline.steps[case.step - 1]
    if case.fault.kind in (FaultKind.DROP, FaultKind.SLIPPERY):
        return not step.held_before or len(step.sent) > 1
    if case.fault.kind in (FaultKind.SILENT, FaultKind.MISSING_STEP):
        return len(step.sent) > 1
    return injection.objects[0] in step.handled


def run_free(lab: Lab, baseline: Baseline, senses: Senses = PERFECT, seed: int = 0) -> Row:
    """Run a baseline's plan without a fault; every reported failure is a false alarm."""
    env = FaultyEnvironment(Kitchen(baseline.scene), Schedule())
    sensors, sense = senses.sensors(seed)
    seen = _Run(lab, baseline, env, sensors)
    kind = "noise" if senses.noise else "none"
    row = seen.row(f"{baseline.task.id}/{baseline.scene}/{kind}/{seed}", kind)
    early = tuple(f.kind.value for f in seen.failures)
    explanations = tuple(f"{f.step}: {f.explanation}" for f in seen.failures)
    wrong = sense.errors if sense else 0
    return replace(row, early=early, explanations=explanations, wrong=wrong)


class _Run:
    def __init__(
        self, lab: Lab, baseline: Baseline, env: FaultyEnvironment, sensors: Sensors
    ) -> None:
        self.baseline = baseline
        self.env = env
        self.failures: list[Deviation] = []
        self.looks = 0
        self.false: list[str] = []
        self._lab = lab
        self.relevant = frozenset(baseline.planned.relevant.names)
        self._ends: list[int] = []
        self._refused: set[int] = set()
        self._far: set[int] = set()
        self._shown = False
        self._in_view: dict[int, frozenset[str]] = {}
        started = time.perf_counter()
        self.world = lab.world(env, sensors)
        policy = Given(baseline.planned, lab.policy)
        executor = Executor(self.world, policy, self._listen, lambda _: None, lab.max_replans)
        stage = lab.policy.with_ends(baseline.task.goal)
        self.reason = ""
        self.unseen: tuple[str, ...] = ()
        try:
            finished = executor.run([stage])
            self.reached, self.reason = finished.reached, finished.reason
            self.unseen = finished.unseen
        except HvrError as error:
            self.reached, self.reason = False, f"{type(error).__name__}: {error}"
        except (
            Exception
        ) as error:  # a crash is recorded as a result so that the remaining runs continue
            self.reached, self.reason = False, f"{CRASHED} {type(error).__name__}: {error}"
        self.replans, self.steps = executor.replans, executor.steps
        self.holds = lab.holds(stage, self.world)
        self.seconds = time.perf_counter() - started

    def row(self, key: str, kind: str) -> Row:
        base = self.baseline
        return Row(
            key=key,
            task=base.task.id,
            scene=base.scene,
            kind=kind,
            reached=self.reached,
            holds=self.holds,
            unseen=self.unseen,
            false=tuple(self.false),
            steps=self.steps,
            extra=self.steps - len(base.steps),
            replans=self.replans,
            looks=self.looks,
            seconds=round(self.seconds, 3),
            reason=self.reason,
        )

    def step_of(self, injection: Injection) -> int:
        return next(
            (n for n, end in enumerate(self._ends, start=1) if end >= injection.step),
            len(self._ends),
        )

    def observable(self, step: int) -> bool:
        if step in self._refused or step in self._far:
            return True
        of_step = (i for i in self.env.log if i.step and self.step_of(i) == step)
        return any(map(self._watched, of_step))

    def visible(self, step: int, *, brief: bool) -> bool:
        """Return whether the robot's view showed a change made in a step while the change lasted.

        A `brief` change is a wrong reading, which lasts only a few actions.
        """
        if not brief:
            return self._shown or any(number >= step for number in self._refused | self._far)
        subjects = (i.objects[0] for i in self.env.log if i.step and self.step_of(i) == step)
        return any(subject in self._in_view.get(step, ()) for subject in subjects)

    def _shows_a_change(self, seen: Collection[str]) -> bool:
        now: Collection[Statement] = ()
        for injection in self.env.log:
            for wanted, changed in ((True, injection.added), (False, injection.removed)):
                for one in changed:
                    subject, prop, _ = one
                    if subject not in seen or not self._concerns(*one):
                        continue
                    if not wanted and prop == "in":  # it is somewhere else, which is also added
                        continue
                    now = now or statements(self.env.env.last_event.metadata, self.world.names)
                    if (one in now) is wanted:
                        return True
        return False

    def _watched(self, injection: Injection) -> bool:
        statements = (*injection.added, *injection.removed)
        return any(self._concerns(*statement) for statement in statements)

    def _concerns(self, subject: str, prop: str, value: object) -> bool:
        if subject not in self.relevant:
            return False
        return prop in _WATCHED or (prop == "in" and value in self.relevant)

    def _listen(self, event: Event) -> None:
        if isinstance(event, StepDone | Noticed) and event.failures:
            self.false += self._contradicted(event.failures)
        if isinstance(event, Noticed):
            self.failures += event.failures
        if not isinstance(event, StepDone):
            return
        self.failures += event.failures
        self.looks += event.looks
        self._ends.append(self.env.steps)
        seen = self._in_view[event.number] = self.world.perception.seen
        self._shown = self._shown or self._shows_a_change(seen)
        if not event.success:
            self._refused.add(event.number)
        elif event.action.name == "navigate_to_obj" and self._is_far(event.action):
            self._far.add(event.number)

    def _contradicted(self, failures: Iterable[Deviation]) -> Iterator[str]:
        """Yield the failures that report a deviation of a fact that is true as predicted."""
        true = self._lab.truth(self.world).init
        kept = sorts_of(self.world.graph.ontology)
        domain = self._lab.policy.domain
        fluent = {p for schema in domain.actions.values() for p in fluent_predicates(schema)}
        checkable = fluent - {"near", *kept.remembered, *kept.drifting}
        for failure in failures:
            for literal in failure.literals:
                atom = atom_of(literal)
                if atom.predicate in checkable and (atom in true) is not isinstance(literal, Not):
                    yield f"{failure.step}: {failure.explanation} ({literal})"
                    break

    def _is_far(self, action: GroundAction) -> bool:
        """Return whether the target of an action cannot be reached by a small movement."""
        target = self.world.names.object_id(action.args[0])
        there = self.env.env.last_event.get_object(target)
        return there is not None and not there["isInteractable"] and there["distance"] > SHUFFLE
