"""Acting among facts: a world for the loop of `hvr.execution.executor` whose sight is facts.

What a step should lead to and what is seen after it are states of one task. Hidden facts are
believed to be as the domain says. Where a step that should be possible is refused a second time
and its precondition has hidden facts, one of these is no longer believed.
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
from hvr.execution.monitor import failed_literals
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
from hvr.validation.trajectory import ConstraintMonitor, with_constraints
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
# What is believed of hidden facts, and how else it might be.
#
# A step that was done is believed to have had its hidden effects, or, where no effect that can be
# seen came, to have had none. Each hidden fact remembers the last such step: if the belief in it
# has to be given up, all that was believed with it is turned round, since it came or failed
# together.


class BeliefRevision:
    """Hidden facts with the other possibility for each."""

    def __init__(self) -> None:
        self._otherwise: dict[Atom, Mapping[Atom, bool]] = {}
        self._newest: dict[Atom, int] = {}
        self._retractions: Counter[Atom] = Counter()
        self._notes = 0

    def note(self, otherwise: Mapping[Atom, bool]) -> None:
        """Take note of how the hidden effects of a step would be if it had gone the other way.

        Args:
            otherwise: each fact with the value that is not believed.
        """
        self._notes += 1
        for atom in otherwise:
            self._otherwise[atom] = otherwise
            self._newest[atom] = self._notes

    def guesses(self, needs: Iterable[tuple[Atom, bool]], state: State) -> list[tuple[Atom, State]]:
        """Return how else things may be, given facts one of which must be otherwise.

        Args:
            needs: the facts, each with the value that is believed and may be wrong.
            state: what is believed.

        Returns:
            the least retracted fact first, of these the one that a step changed last, each with the
            state in which it is otherwise.
        """
        task = state.task
        derived = task.derived_predicates
        base = frozenset(a for a in state.atoms() if a.predicate not in derived)
        ranked = []
        for atom, value in needs:
            other = self._otherwise.get(atom, {})
            changes = other if other.get(atom, value) != value else {atom: not value}
            true = {a for a, wanted in changes.items() if wanted}
            guess = task.state_with((base - changes.keys()) | true, state.numbers())
            rank = (self._retractions[atom], -self._newest.get(atom, 0), str(atom))
            ranked.append((rank, atom, guess, changes))
        ranked.sort(key=lambda one: one[0])
        if ranked:
            _, atom, _, changes = ranked[0]
            self._retractions[atom] += 1
            self.note({a: not wanted for a, wanted in changes.items()})
        return [(atom, guess) for _, atom, guess, _ in ranked]


# --------------------------------------------------------------------------------------------------

_Result = TypeVar("_Result")


RECOVERY_STRATEGIES = RecoveryStrategies(("retry",), ("satisfy",))
"""The recoveries among facts, if nothing else is said."""


@dataclass(frozen=True)
class FactPolicy:
    """Plans for problems, from any state."""

    domain: Domain
    planner: FactPlanner
    recovery_strategies: RecoveryStrategies = RECOVERY_STRATEGIES

    def clearing(self, things: Sequence[str], place: str) -> Problem:
        """Not asked for: a world of facts knows no places (see `ExecutionWorld.crowding`)."""
        raise NotImplementedError

    def keeping(self, stage: Problem, constraints: Sequence[str]) -> Problem:
        """Return a problem under other constraints; see `hvr.planning.plans.Policy`."""
        left = tuple(parse_constraint(text, self.domain, stage.objects) for text in constraints)
        return stage.replace(constraints=And(left))


class FactWorld(ExecutionWorld):
    """An environment that speaks of facts, with what is believed of it.

    Args:
        env: the environment; it is reset.
        domain: the actions.
        problem: the objects, and what is believed of hidden facts in the beginning.
        wording: says what holds.

    Attributes:
        impossible: it is proven that no plan reaches the goal from the present state.

    Raises:
        UsageError: the domain needs time.
        SimulatorError: the environment fails, or shows what cannot be.
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
        """What holds, by what is seen, and by belief where nothing is."""

    # what the loop asks

    @property
    def wording(self) -> Wording:
        """See `hvr.execution.recovery.ExecutionWorld`."""
        return self._wording

    def plan(
        self, policy: FactPolicy, stage: Problem, avoid: frozenset[str], reason: str
    ) -> Planned:
        """See `hvr.execution.recovery.ExecutionWorld`."""
        del avoid, reason
        self.impossible = False
        while True:
            try:
                return self.planned(policy, stage)
            except ImpossibleGoalError:
                # From a state that is partly believed nothing is proven of the true one.
                self.impossible = not self.hidden
                if not self._guesses:
                    raise
                self.state = self._guesses.pop(0)

    def planned(self, policy: FactPolicy, stage: Problem) -> Planned:
        """Return a plan from the present state."""
        return policy.planner.plan(Task(self.domain, problem_at(stage, self.state)))

    def watch(
        self, planned: Planned, constraints: ConstraintMonitor, *, aside: bool = False
    ) -> FactMonitor:
        """See `hvr.execution.recovery.ExecutionWorld`."""
        return FactMonitor(self, planned.task, constraints, aside=aside)

    def look_around(self, step: int, everything: bool = False) -> tuple[str, ...]:
        """Look again; return the objects of which something else is seen than was believed."""
        del step, everything
        seen = self.look(self.state)
        different = difference_of(self.state, seen)
        self.state = seen
        atoms = (*different.missing, *different.unexpected)
        return tuple(sorted({name for atom in atoms for name in atom.args}))

    # the environment

    def do(self, action: GroundAction) -> str:
        """Do an action; return nothing if it was done, else why it was refused."""
        self._guesses = []  # they are of the state before
        error = self._ask(f"step {action}", lambda: self.env.step(action.name, action.args))
        if not isinstance(error, str):
            raise SimulatorError(
                f"the environment answers {action} with {type(error).__name__}, not with a text "
                "(empty for done, else why not)",
                exit_code=2,
            )
        if error:
            self._refused[action] += 1
        else:
            self._refused[action] = 0
        return error

    def sent(self, action: GroundAction, error: str) -> dict[str, Any]:
        """Return what was sent to the environment: as it tells where it does, else the action."""
        told = self._ask("sent", self.env.sent) if isinstance(self.env, CallReporter) else {}
        return told or {"action": action.name, "args": list(action.args), "success": not error}

    def look(self, believed: State) -> State:
        """Return what is seen, as a state of the task of what is believed of hidden facts."""
        seen = self._ask("observe", self.env.observe)
        if not isinstance(seen, Observation):
            raise SimulatorError(
                f"the environment shows {type(seen).__name__}, not an Observation", exit_code=2
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

        The first guess of several is returned, the others are kept for when it leaves no plan.

        Args:
            action: the action that was refused, though it should be possible.
            state: what is believed.
        """
        if self._refused[action] < 2:
            return None
        guesses = self._beliefs.guesses(self._hidden_needs(action), state)
        if not guesses:
            return None
        self._refused[action] = 0
        (atom, guess), *others = guesses
        self._guesses = [one for _, one in others]
        return atom, guess

    def believe(self, before: State, expected: State, observed: State) -> None:
        """Take note of what a step that was done has changed that cannot be seen."""
        hidden = [
            a for a in base_atoms(before) ^ base_atoms(expected) if a.predicate in self.hidden
        ]
        came = base_atoms(observed)
        other = (
            before if any((a in came) == (a in base_atoms(expected)) for a in hidden) else expected
        )
        self._beliefs.note({a: a in base_atoms(other) for a in hidden})

    def _hidden_needs(self, action: GroundAction) -> tuple[tuple[Atom, bool], ...]:
        """Return the hidden facts that an action needs, with the value needed."""
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
        except (SimulatorError, LLMError):  # a model may fill in what an action leaves open
            raise
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise SimulatorError(
                f"the environment failed at {what}: {reason}{error_location(error)}", exit_code=2
            ) from error


class FactMonitor:
    """Keeps the believed state in step with the world while a plan runs.

    Args:
        world: where the plan runs.
        task: the problem of the plan.
        constraints: what is to be kept throughout.
        aside: the plan only prepares for another one.
    """

    def __init__(
        self, world: FactWorld, task: Task, constraints: ConstraintMonitor, *, aside: bool = False
    ) -> None:
        self.world = world
        self.task = task
        self.constraints = constraints
        self._aside = aside
        self._state = self._own(world.state)

    @property
    def state(self) -> State:
        """See `hvr.execution.recovery.BeliefMonitor`."""
        return self._state

    def step(
        self, number: int, action: GroundAction, block: int, before: State, report: StepReport
    ) -> StepDone:
        """See `hvr.execution.recovery.BeliefMonitor`."""
        del before  # as it is believed, but for numbers that are rounded in the text of a problem
        before = self._state
        ahead = Validator(self.task, state=before)
        ahead.apply(action)
        expected = ahead.state
        error = self.world.do(action)
        observed = self.world.look(before if error else expected)
        if not error and self._had_no_effect(before, expected, observed):
            # Where nothing came of what can be seen, nothing is believed of what cannot.
            observed = self.world.look(before)
        if not error:
            self.world.believe(before, expected, observed)
        unmet = failed_literals(Validator(self.task, state=observed).apply(action).failure)
        outcome = FactOutcome(before, expected, observed, error, unmet if error else ())
        failures = detect_facts(number, action, outcome, self.world.wording)
        if error and not unmet and (retracted := self.world.retract(action, observed)) is not None:
            atom, observed = retracted
            failures = (*failures, self._misbelieved(number, action, atom, observed))
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
        """See `hvr.execution.recovery.BeliefMonitor`."""
        unmet = failed_literals(Validator(self.task, state=self.state).apply(action).failure)
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

    def unmet_goal(self) -> tuple[Expression, ...]:
        """See `hvr.execution.recovery.BeliefMonitor`."""
        missing = failed_literals(Validator(self.task, state=self.state).goal_failure())
        return missing if self._aside else missing or self.constraints.unmet(self.state)

    def ahead(self, state: State) -> tuple[Task, State]:
        """See `hvr.execution.recovery.BeliefMonitor`."""
        left = self.constraints.prohibitions if self._aside else self.constraints.left
        return with_constraints(self.task, self._own(state), left)

    def resumed(self, differing: Difference) -> Validator:
        """See `hvr.execution.recovery.BeliefMonitor`."""
        del differing
        task, state = self.ahead(self.state)
        return Validator(task, state=state)

    def outdated(self, rest: Sequence[GroundAction]) -> str:
        """See `hvr.execution.recovery.BeliefMonitor`: a plan that works is kept."""
        del rest
        return ""

    def _had_no_effect(self, before: State, expected: State, observed: State) -> bool:
        """Return whether none of the effects that can be seen has come, of a step that has some."""
        effects = {
            effect
            for effect in effects_of(before, expected)
            if predicate_of(effect) not in self.world.hidden
        }
        return bool(effects) and effects <= set(missing_literals(expected, observed))

    def _own(self, state: State) -> State:
        if state.task is self.task:
            return state
        return self.task.state_with(base_atoms(state), state.numbers())

    def _misbelieved(
        self, number: int, action: GroundAction, atom: Atom, guess: State
    ) -> Deviation:
        believed: Expression = Not(atom) if atom in guess else atom
        text = (
            f"{action} was refused again, so what cannot be seen is taken to be otherwise: "
            f"{explain_state((believed,), self.world.wording)}."
        )
        return Deviation(
            DeviationKind.MISPERCEIVED, Side.PRE, (believed,), number, action, text, atom.args
        )
