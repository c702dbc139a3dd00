"""Connects PDDL worlds with the loop of `hvr.execution.executor`.

Expected and observed outcomes are states of the same task. Hidden facts are assumed to change as
the domain predicts. If an applicable step is refused twice, hvr retracts the cheapest beliefs about
hidden facts that contradict the refusal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from hvr.errors import ImpossibleGoalError, LLMError, SimulatorError
from hvr.execution.belief import Revision, contradicted, revised
from hvr.execution.deviations import Deviation, DeviationKind, Difference, Side
from hvr.execution.events import StepDone
from hvr.execution.facts.detection import (
    FactOutcome,
    comparison_of,
    detect_facts,
    difference_of,
    effects_of,
    explain_state,
    missing_literals,
    predicate_of,
)
from hvr.execution.facts.planning import FactPlanner, problem_at
from hvr.execution.monitor import PlanMonitor, failed_literals
from hvr.execution.recovery import ExecutionWorld
from hvr.knowledge.wording import Wording
from hvr.pddl import (
    And,
    Atom,
    Domain,
    Expression,
    GroundAction,
    Not,
    Problem,
    State,
    Task,
    parse_constraint,
)
from hvr.pddl.formulas import FunctionTerm
from hvr.pddl.task import applicable_actions
from hvr.planning.plans import Planned, RecoveryStrategies
from hvr.validation.report import StepReport
from hvr.validation.trajectory import ConstraintMonitor
from hvr.validation.validator import Validator
from hvr.worlds.facts.environment import (
    CallReporter,
    FactEnvironment,
    Observation,
    base_atoms,
    error_location,
    read_observation,
    require_untimed,
)

# Beliefs ------------------------------------------------------------------------------------------
# Beliefs about hidden facts, and their alternatives.
#
# A completed step is believed to have had its hidden effects, or none if no visible effect
# occurred. The last step that affected a hidden fact is remembered. Retracting one fact flips all
# facts of that step, since they succeeded or failed together.


class BeliefRevision:
    """Believed hidden facts and, for each, the changes to make if it is retracted."""

    def __init__(self) -> None:
        self._alternatives: dict[Atom, Mapping[Atom, bool]] = {}
        self._newest: dict[Atom, int] = {}
        self._retractions: Counter[Revision] = Counter()
        self._notes = 0
        self._doubtful: set[Atom] = set()

    def is_doubtful(self, what: Atom | FunctionTerm) -> bool:
        """Return whether no visible effect confirmed the last step that changed a hidden fact."""
        return what in self._doubtful

    def note(self, alternative: Mapping[Atom, bool], *, doubtful: bool = False) -> None:
        """Record the hidden facts that a step changed, each with the value opposite to the belief.

        If the step is `doubtful`, no visible effect has confirmed it.
        """
        self._notes += 1
        self._doubtful -= alternative.keys()
        if doubtful:
            self._doubtful |= alternative.keys()
        for atom in alternative:
            self._alternatives[atom] = alternative
            self._newest[atom] = self._notes

    def guesses(
        self, revisions: Iterable[Revision], state: State, refuted: Callable[[State], bool]
    ) -> list[tuple[Revision, State]]:
        """Return each revision that agrees with the refusals, with the revised state.

        The revisions retracted least often come first; ties are resolved by fewest facts, then by
        the most recent change. The first result is recorded as retracted.

        Args:
            refuted: Returns whether a state contradicts the refusals.
        """
        ranked = []
        for revision in revisions:
            flips = {what: value for what, value in revision if isinstance(what, Atom)}
            changes: dict[Atom | FunctionTerm, bool | Fraction] = dict(revision)
            for atom, value in flips.items():
                # Facts that one step changed are retracted together, if that agrees.
                other = self._alternatives.get(atom, {})
                if other.get(atom, not value) == value:
                    changes |= {a: v for a, v in other.items() if flips.get(a, v) == v}
            guess = revised(state, changes.items())
            if refuted(guess):
                changes = dict(revision)
                guess = revised(state, changes.items())
                if refuted(guess):
                    continue
            # Least retracted first, so that repeated refusals try every fact; then newest first,
            # since the latest step is the likeliest to have failed unnoticed.
            newest = max((self._newest.get(atom, 0) for atom in flips), default=0)
            rank = (self._retractions[revision], len(revision), -newest, sorted(map(str, revision)))
            ranked.append((rank, revision, guess, changes))
        ranked.sort(key=lambda one: one[0])
        if ranked:
            # The caller adopts the first guess, so the current belief becomes its alternative.
            _, revision, _, changes = ranked[0]
            self._retractions[revision] += 1
            self.note({a: not v for a, v in changes.items() if isinstance(a, Atom)})
        return [(revision, guess) for _, revision, guess, _ in ranked]


_Result = TypeVar("_Result")

_MAX_UNSEEN_ACTIONS = 500
"""Maximum number of actions of another agent that are tried as explanations of a refusal."""


RECOVERY_STRATEGIES = RecoveryStrategies(("retry",), ("satisfy",))
"""The default recovery strategies in PDDL worlds."""


@dataclass(frozen=True)
class FactPolicy:
    domain: Domain
    planner: FactPlanner
    recovery_strategies: RecoveryStrategies = RECOVERY_STRATEGIES

    def clearing(self, things: Sequence[str], place: str) -> Problem:
        raise NotImplementedError

    def keeping(self, stage: Problem, constraints: Sequence[str]) -> Problem:
        left = tuple(parse_constraint(text, self.domain, stage.objects) for text in constraints)
        return stage.replace(constraints=And(left))


class FactWorld(ExecutionWorld):
    """A custom or simulated PDDL environment, with the robot's belief about its state.

    Args:
        problem: Problem with the objects and the initial belief about hidden facts.

    Attributes:
        impossible: Whether it is proven that no plan reaches the goal from the current state.

    Raises:
        UsageError: The domain has durative actions or other timing.
        SimulatorError: The environment fails or reports an impossible state.
    """

    def __init__(
        self, env: FactEnvironment, domain: Domain, problem: Problem, wording: Wording
    ) -> None:
        require_untimed(domain, problem)
        self.env = env
        self.domain = domain
        self.task = Task(domain, problem)
        self._wording = wording
        self.impossible = False
        self.hidden: frozenset[str] = frozenset()
        self._refused: Counter[GroundAction] = Counter()
        self._unchanged: dict[GroundAction, None] = {}
        """Actions that were refused repeatedly since the last completed step."""
        self._beliefs = BeliefRevision()
        self._guesses: list[State] = []
        self._surprise: tuple[State, State] | None = None
        """The expected and the observed state of the last step, if they differ."""
        self._ask("reset", env.reset)
        self.state = self.look(self.task.initial)
        """The current state: observed where visible, believed where hidden."""

    @property
    def wording(self) -> Wording:
        return self._wording

    def outcome(self) -> bool | None:
        """Return whether the environment judged the run a success; None if it did not judge it."""
        return None

    def plan(
        self, policy: FactPolicy, stage: Problem, avoid: frozenset[str], reason: str
    ) -> Planned:
        del avoid, reason
        self.impossible = False
        while True:
            try:
                planned = self.planned(policy, stage)
                if not self._guesses or planned.plan.actions[:1] not in {
                    (action,) for action in self._unchanged
                }:
                    return planned
                self.state = self._guesses.pop(0)
            except ImpossibleGoalError as error:
                # A proof from a partly believed state says nothing about the true state.
                self.impossible = not self.hidden
                if self._surprise is not None and not self._guesses:
                    self._guesses, self._surprise = [*self._causes(*self._surprise)], None
                if not self._guesses:
                    if self.impossible:
                        raise
                    unseen = " and ".join(sorted(self.hidden))
                    raise ImpossibleGoalError(
                        f"{error}, given the beliefs about {unseen}, which cannot be observed"
                    ) from error
                self.state = self._guesses.pop(0)

    def planned(self, policy: FactPolicy, stage: Problem) -> Planned:
        return policy.planner.plan(Task(self.domain, problem_at(stage, self.state)))

    def watch(
        self, planned: Planned, constraints: ConstraintMonitor, *, aside: bool = False
    ) -> FactMonitor:
        return FactMonitor(self, planned.task, constraints, aside=aside)

    def look_around(self, step: int, everything: bool = False) -> tuple[str, ...]:
        """Observe again; return the objects whose observed facts contradict the belief."""
        del step, everything
        seen = self.look(self.state)
        different = difference_of(self.state, seen)
        self.state = seen
        atoms = (*different.missing, *different.unexpected)
        return tuple(sorted({name for atom in atoms for name in atom.args}))

    def do(self, action: GroundAction) -> str:
        """Execute an action; return the environment's reason for a refusal, or "" on success.

        Raises:
            SimulatorError: The environment fails or does not return a string.
        """
        error = self._ask(f"step {action}", lambda: self.env.step(action.name, action.args))
        if not isinstance(error, str):
            raise SimulatorError(
                f"expected a string from the environment for {action} (empty if done, otherwise "
                f"the reason), found {type(error).__name__}",
                exit_code=2,
            )
        if error:
            self._refused[action] += 1
        else:
            self._refused[action] = 0
            self._unchanged.clear()
            self._guesses, self._surprise = [], None
        return error

    def sent(self, action: GroundAction, error: str) -> dict[str, Any]:
        told = self._ask("sent", self.env.sent) if isinstance(self.env, CallReporter) else {}
        return told or {"action": action.name, "args": list(action.args), "success": not error}

    def look(self, believed: State) -> State:
        """Return the observed state; facts that cannot be observed are taken from `believed`.

        Raises:
            SimulatorError: The environment fails or returns something else than an observation.
        """
        seen = self._ask("observe", self.env.observe)
        if not isinstance(seen, Observation):
            raise SimulatorError(
                f"expected an Observation from the environment, found {type(seen).__name__}",
                exit_code=2,
            )
        self.hidden = frozenset(seen.hidden)
        atoms, numbers = read_observation(self.task, seen)
        atoms |= {a for a in base_atoms(believed) if a.predicate in self.hidden}
        numbers |= {
            t: v
            for t, v in believed.numbers().items()
            if t.function in self.hidden or (t not in numbers and t.function == "total-cost")
        }
        return believed.task.state_with(atoms, numbers)

    def retract(self, action: GroundAction, state: State) -> tuple[Revision, State] | None:
        """Return the hidden beliefs to retract after a refusal, and the revised state, or None.

        Since a refusal may be a transient fault, the first one retracts only beliefs that no
        visible effect has confirmed. After the second one, the other candidates are kept in case no
        plan exists for the revised state.
        """
        again = self._refused[action] >= 2
        if again:
            # No step was completed in between, so earlier refusals must still be explained.
            self._unchanged[action] = None
        for actions in (tuple(self._unchanged), (action,)) if again else ((action,),):
            is_open = self._is_hidden if again else self._beliefs.is_doubtful
            revisions = contradicted(state, actions, is_open)
            guesses = self._beliefs.guesses(revisions, state, partial(_applicable, actions))
            if guesses:
                self._refused[action] = 0
                (revision, guess), *others = guesses
                if again:
                    # No step was completed since the earlier guesses, so they stand unless refuted.
                    earlier = [self._with_hidden(state, one) for one in self._guesses]
                    self._guesses = [one for _, one in others]
                    self._guesses += [one for one in earlier if not _applicable(actions, one)]
                    self._guesses += self._after_unseen_actions(state, actions)
                return revision, guess
        return None

    def _with_hidden(self, seen: State, believed: State) -> State:
        kept = {a for a in base_atoms(seen) if a.predicate not in self.hidden}
        kept |= {a for a in base_atoms(believed) if a.predicate in self.hidden}
        numbers = believed.numbers()
        shown = {t: v for t, v in seen.numbers().items() if t.function not in self.hidden}
        return seen.task.state_with(kept, {**numbers, **shown})

    def _is_hidden(self, what: Atom | FunctionTerm) -> bool:
        return (what.predicate if isinstance(what, Atom) else what.function) in self.hidden

    def surprised(self, expected: State, observed: State) -> None:
        self._surprise = expected, observed

    def _causes(self, expected: State, observed: State) -> Iterator[State]:
        """Yield the states after single actions of another agent that explain the observation."""
        # The action may also have changed hidden facts, which a plan may need.
        seen = self._visible(observed)
        for action in islice(applicable_actions(expected), _MAX_UNSEEN_ACTIONS):
            other = Validator(expected.task, state=expected)
            other.apply(action)
            hidden = any(predicate_of(e) in self.hidden for e in effects_of(expected, other.state))
            if hidden and self._visible(other.state) == seen:
                yield other.state

    def _visible(self, state: State) -> frozenset[object]:
        atoms = (a for a in base_atoms(state) if a.predicate not in self.hidden)
        numbers = (n for n in state.numbers().items() if n[0].function not in self.hidden)
        return frozenset((*atoms, *numbers))

    def _after_unseen_actions(
        self, state: State, refused: tuple[GroundAction, ...]
    ) -> Iterator[State]:
        """Yield the states after an unseen action of another agent that explains the refusals."""
        # A single retracted fact may leave an impossible state, such as a robot without a place.
        for action in islice(applicable_actions(state), _MAX_UNSEEN_ACTIONS):
            other = Validator(state.task, state=state)
            other.apply(action)
            changed = effects_of(state, other.state)
            unseen = self.hidden.issuperset(map(predicate_of, changed))
            if unseen and not _applicable(refused, other.state):
                yield other.state

    def believe(self, before: State, expected: State, observed: State) -> None:
        """Record what a completed step is believed to have changed out of view."""
        hidden = [
            a for a in base_atoms(before) ^ base_atoms(expected) if a.predicate in self.hidden
        ]
        # If any hidden effect is believed, the alternative is that the step had none, and vice
        # versa.
        came = base_atoms(observed)
        other = (
            before if any((a in came) == (a in base_atoms(expected)) for a in hidden) else expected
        )
        seen = (e for e in effects_of(before, expected) if predicate_of(e) not in self.hidden)
        doubtful = not set(missing_literals(expected, observed)).isdisjoint(seen)
        self._beliefs.note({a: a in base_atoms(other) for a in hidden}, doubtful=doubtful)

    def _ask(self, what: str, call: Callable[[], _Result]) -> _Result:
        try:
            return call()
        except (SimulatorError, LLMError):  # a model may simulate unspecified effects
            raise
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise SimulatorError(
                f"the environment failed at {what}: {reason}{error_location(error)}", exit_code=2
            ) from error


class FactMonitor(PlanMonitor):
    def __init__(
        self, world: FactWorld, task: Task, constraints: ConstraintMonitor, *, aside: bool = False
    ) -> None:
        super().__init__(task, constraints, aside=aside)
        self.world = world
        self._state = self._in_task(world.state)

    @property
    def state(self) -> State:
        return self._state

    def step(
        self, number: int, action: GroundAction, block: int, before: State, report: StepReport
    ) -> StepDone:
        del before  # same as the believed state, but with numbers rounded by the problem text
        before = self._state
        ahead = Validator(self.task, state=before)
        ahead.apply(action)
        expected = ahead.state
        error = self.world.do(action)
        seen = self.world.look(before if error else expected)
        before, expected, observed = self.compared(before, expected, seen)
        if not error and self._had_no_effect(before, expected, observed):
            # Without any visible effect, the hidden effects are not believed.
            seen = self.world.look(before)
            before, expected, observed = self.compared(before, expected, seen)
        if not error:
            self.world.believe(before, expected, observed)
        unmet = failed_literals(Validator(self.task, state=observed).apply(action).failure)
        outcome = FactOutcome(before, expected, observed, error, unmet if error else ())
        failures = detect_facts(number, action, outcome, self.world.wording)
        foreseen = before if error else expected
        if foreseen.bits != observed.bits or foreseen.values != observed.values:
            self.world.surprised(foreseen, observed)
        if error and not unmet and (retracted := self.world.retract(action, observed)) is not None:
            revision, observed = retracted
            seen = observed
            failures = (*failures, self._retraction(number, action, revision))
        self._state, self.world.state = observed, seen
        changed = (*report.added, *report.deleted)
        visible = sorted(effects_of(before, observed), key=str)
        return StepDone(
            number=number,
            action=action,
            block=block,
            success=not error,
            error=error,
            difference=difference_of(expected, observed),
            sent=(self.world.sent(action, error),),
            failures=failures,
            not_seen=tuple(a for a in changed if a.predicate in self.world.hidden),
            changed=tuple(one for one in visible if predicate_of(one) not in self.world.hidden),
        )

    def compared(self, before: State, expected: State, seen: State) -> tuple[State, State, State]:
        return before, expected, seen

    def cannot(self, number: int, action: GroundAction) -> Deviation:
        unmet = self.unmet(action)
        why = explain_state(unmet, self.world.wording) or "a condition is unmet"
        return Deviation(
            DeviationKind.MISSING_PRECONDITION,
            Side.PRE,
            unmet,
            number,
            action,
            f"{action} is not possible, because {why}.",
            action.args,
        )

    def ahead(self, state: State) -> tuple[Task, State]:
        return super().ahead(self._in_task(state))

    def resumed(self, differing: Difference) -> Validator:
        del differing
        task, state = self.ahead(self.state)
        return Validator(task, state=state)

    def _had_no_effect(self, before: State, expected: State, observed: State) -> bool:
        effects = {
            effect
            for effect in effects_of(before, expected)
            if predicate_of(effect) not in self.world.hidden
        }
        return bool(effects) and effects <= set(missing_literals(expected, observed))

    def _in_task(self, state: State) -> State:
        if state.task is self.task:
            return state
        return self.task.state_with(base_atoms(state), state.numbers())

    def _retraction(self, number: int, action: GroundAction, revision: Revision) -> Deviation:
        # The literals that were believed.
        literals: list[Expression] = []
        for what, value in sorted(revision, key=str):
            if isinstance(what, FunctionTerm):
                literals.append(Not(comparison_of(what, Fraction(value))))
            else:
                literals.append(Not(what) if value else what)
        text = (
            f"{action} was refused, so beliefs about hidden facts are revised:  "
            f"{explain_state(literals, self.world.wording)}."
        )
        objects = tuple(
            dict.fromkeys(n for what, _ in sorted(revision, key=str) for n in what.args)
        )
        return Deviation(
            DeviationKind.MISPERCEIVED, Side.PRE, tuple(literals), number, action, text, objects
        )


def _applicable(actions: Iterable[GroundAction], state: State) -> bool:
    return any(
        state.task.precondition(action).holds(state.bits, state.values) for action in actions
    )
