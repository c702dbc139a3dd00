"""The world of facts for the loop of `hvr.execution.executor`: states as sets of PDDL facts.

Expected and observed outcomes are states of one task. Hidden facts are believed to follow the
domain. When an applicable step is refused a second time, one of the hidden facts in its
precondition is retracted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from hvr.errors import ImpossibleGoalError, LLMError, SimulatorError
from hvr.execution.deviations import Deviation, DeviationKind, Difference, Side
from hvr.execution.events import StepDone
from hvr.execution.facts.detection import (
    FactOutcome,
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
    substitute,
)
from hvr.pddl.facts import necessary_literals
from hvr.pddl.task import binding_of
from hvr.planning.plans import Planned, RecoveryStrategies
from hvr.validation import Validator
from hvr.validation.report import StepReport
from hvr.validation.trajectory import ConstraintMonitor
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
# occurred. Each hidden fact remembers the last such step. Retracting one fact flips all facts of
# that step, since they succeeded or failed together.


class BeliefRevision:
    """Hidden facts and the alternative value of each."""

    def __init__(self) -> None:
        self._alternatives: dict[Atom, Mapping[Atom, bool]] = {}
        self._newest: dict[Atom, int] = {}
        self._retractions: Counter[Atom] = Counter()
        self._notes = 0

    def note(self, alternative: Mapping[Atom, bool]) -> None:
        """Record the alternative outcome of a step's hidden effects.

        Args:
            alternative: Each fact with the value that is not believed.
        """
        self._notes += 1
        for atom in alternative:
            self._alternatives[atom] = alternative
            self._newest[atom] = self._notes

    def guesses(self, needs: Iterable[tuple[Atom, bool]], state: State) -> list[tuple[Atom, State]]:
        """Return alternative states, given candidate facts that include a wrong one.

        Args:
            needs: The facts, each with its believed value.

        Returns:
            Each fact with the state in which it is flipped: least retracted first, then most
                recently
            changed first.
        """
        task = state.task
        derived = task.derived_predicates
        base = frozenset(a for a in state.atoms() if a.predicate not in derived)
        ranked = []
        for atom, value in needs:
            other = self._alternatives.get(atom, {})
            # A fact without a contrary alternative is flipped alone.
            changes = other if other.get(atom, value) != value else {atom: not value}
            true = {a for a, wanted in changes.items() if wanted}
            guess = task.state_with((base - changes.keys()) | true, state.numbers())
            # Least retracted first, so that repeated refusals try every fact; then newest first,
            # since the latest step is the likeliest to have failed unnoticed.
            rank = (self._retractions[atom], -self._newest.get(atom, 0), str(atom))
            ranked.append((rank, atom, guess, changes))
        ranked.sort(key=lambda one: one[0])
        if ranked:
            # The caller adopts the first guess, so the current belief becomes its alternative.
            _, atom, _, changes = ranked[0]
            self._retractions[atom] += 1
            self.note({a: not wanted for a, wanted in changes.items()})
        return [(atom, guess) for _, atom, guess, _ in ranked]


_Result = TypeVar("_Result")


RECOVERY_STRATEGIES = RecoveryStrategies(("retry",), ("satisfy",))
"""The default recovery strategies in worlds of facts."""


@dataclass(frozen=True)
class FactPolicy:
    """Plans for problems, from any state."""

    domain: Domain
    planner: FactPlanner
    recovery_strategies: RecoveryStrategies = RECOVERY_STRATEGIES

    def clearing(self, things: Sequence[str], place: str) -> Problem:
        """Never called: a world of facts has no places (see `ExecutionWorld.crowding`)."""
        raise NotImplementedError

    def keeping(self, stage: Problem, constraints: Sequence[str]) -> Problem:
        """Return the problem with other constraints; see `hvr.planning.plans.Policy`."""
        left = tuple(parse_constraint(text, self.domain, stage.objects) for text in constraints)
        return stage.replace(constraints=And(left))


class FactWorld(ExecutionWorld):
    """An environment of facts and the belief about it.

    Args:
        problem: The objects, and the initial belief about hidden facts.

    Attributes:
        impossible: Whether it is proven that no plan reaches the goal from the current state.

    Raises:
        UsageError: The domain needs time.
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
        self._beliefs = BeliefRevision()
        self._guesses: list[State] = []
        self._ask("reset", env.reset)
        self.state = self.look(self.task.initial)
        """The current state: observed where visible, believed where hidden."""

    @property
    def wording(self) -> Wording:
        """See `ExecutionWorld`."""
        return self._wording

    def plan(
        self, policy: FactPolicy, stage: Problem, avoid: frozenset[str], reason: str
    ) -> Planned:
        """See `ExecutionWorld`."""
        del avoid, reason
        self.impossible = False
        while True:
            try:
                return self.planned(policy, stage)
            except ImpossibleGoalError:
                # A proof from a partly believed state says nothing about the true state.
                self.impossible = not self.hidden
                if not self._guesses:
                    raise
                self.state = self._guesses.pop(0)

    def planned(self, policy: FactPolicy, stage: Problem) -> Planned:
        """Return a plan from the current state."""
        return policy.planner.plan(Task(self.domain, problem_at(stage, self.state)))

    def watch(
        self, planned: Planned, constraints: ConstraintMonitor, *, aside: bool = False
    ) -> FactMonitor:
        """See `ExecutionWorld`."""
        return FactMonitor(self, planned.task, constraints, aside=aside)

    def look_around(self, step: int, everything: bool = False) -> tuple[str, ...]:
        """Look again; return the objects whose observed facts differ from the belief."""
        del step, everything
        seen = self.look(self.state)
        different = difference_of(self.state, seen)
        self.state = seen
        atoms = (*different.missing, *different.unexpected)
        return tuple(sorted({name for atom in atoms for name in atom.args}))

    def do(self, action: GroundAction) -> str:
        """Execute an action; return why it was refused, or an empty text if it was done."""
        self._guesses = []  # alternatives to an outdated state
        error = self._ask(f"step {action}", lambda: self.env.step(action.name, action.args))
        if not isinstance(error, str):
            raise SimulatorError(
                f"expected a text from the environment for {action} (empty if done, otherwise the "
                f"reason), found {type(error).__name__}",
                exit_code=2,
            )
        if error:
            self._refused[action] += 1
        else:
            self._refused[action] = 0
        return error

    def sent(self, action: GroundAction, error: str) -> dict[str, Any]:
        """Return the call sent to the environment, as the environment reports it if it does."""
        told = self._ask("sent", self.env.sent) if isinstance(self.env, CallReporter) else {}
        return told or {"action": action.name, "args": list(action.args), "success": not error}

    def look(self, believed: State) -> State:
        """Return the observation as a state; hidden facts are taken from the believed state."""
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

    def retract(self, action: GroundAction, state: State) -> tuple[Atom, State] | None:
        """Return the hidden fact to retract after a second refusal, and the revised state.

        The other candidates are kept for the case that the revised state leaves no plan.
        """
        if self._refused[action] < 2:
            return None  # a single refusal may be a transient fault
        guesses = self._beliefs.guesses(self._hidden_needs(action), state)
        if not guesses:
            return None
        self._refused[action] = 0
        (atom, guess), *others = guesses
        self._guesses = [one for _, one in others]
        return atom, guess

    def believe(self, before: State, expected: State, observed: State) -> None:
        """Record the hidden changes of a completed step."""
        hidden = [
            a for a in base_atoms(before) ^ base_atoms(expected) if a.predicate in self.hidden
        ]
        # If any hidden effect is believed, the alternative is that the step had none, and vice
        # versa.
        came = base_atoms(observed)
        other = (
            before if any((a in came) == (a in base_atoms(expected)) for a in hidden) else expected
        )
        self._beliefs.note({a: a in base_atoms(other) for a in hidden})

    def _hidden_needs(self, action: GroundAction) -> tuple[tuple[Atom, bool], ...]:
        schema = self.domain.actions[action.name]
        binding = binding_of(schema, action)
        ground = (
            (substitute(literal, binding), positive)
            for literal, positive in necessary_literals(schema.precondition)
            if isinstance(literal, Atom) and literal.predicate in self.hidden
        )
        return tuple((a, positive) for a, positive in ground if isinstance(a, Atom))

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
    """Tracks the believed state while a plan runs."""

    def __init__(
        self, world: FactWorld, task: Task, constraints: ConstraintMonitor, *, aside: bool = False
    ) -> None:
        super().__init__(task, constraints, aside=aside)
        self.world = world
        self._state = self._in_task(world.state)

    @property
    def state(self) -> State:
        """See `BeliefMonitor`."""
        return self._state

    def step(
        self, number: int, action: GroundAction, block: int, before: State, report: StepReport
    ) -> StepDone:
        """See `BeliefMonitor`."""
        del before  # same as the believed state, but with numbers rounded by the problem text
        before = self._state
        ahead = Validator(self.task, state=before)
        ahead.apply(action)
        expected = ahead.state
        error = self.world.do(action)
        observed = self.world.look(before if error else expected)
        if not error and self._had_no_effect(before, expected, observed):
            # Without any visible effect, the hidden effects are not believed.
            observed = self.world.look(before)
        if not error:
            self.world.believe(before, expected, observed)
        unmet = failed_literals(Validator(self.task, state=observed).apply(action).failure)
        outcome = FactOutcome(before, expected, observed, error, unmet if error else ())
        failures = detect_facts(number, action, outcome, self.world.wording)
        if error and not unmet and (retracted := self.world.retract(action, observed)) is not None:
            atom, observed = retracted
            failures = (*failures, self._retraction(number, action, atom, observed))
        self._state = self.world.state = observed
        changed = (*report.added, *report.deleted)
        seen = sorted(effects_of(before, observed), key=str)
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
            changed=tuple(one for one in seen if predicate_of(one) not in self.world.hidden),
        )

    def cannot(self, number: int, action: GroundAction) -> Deviation:
        """See `BeliefMonitor`."""
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
        """See `BeliefMonitor`."""
        return super().ahead(self._in_task(state))

    def resumed(self, differing: Difference) -> Validator:
        """See `BeliefMonitor`."""
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

    def _retraction(self, number: int, action: GroundAction, atom: Atom, guess: State) -> Deviation:
        believed: Expression = Not(atom) if atom in guess else atom
        text = (
            f"{action} was refused again, so what cannot be seen is taken to be otherwise: "
            f"{explain_state((believed,), self.world.wording)}."
        )
        return Deviation(
            DeviationKind.MISPERCEIVED, Side.PRE, (believed,), number, action, text, atom.args
        )
