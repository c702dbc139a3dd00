"""Plan monitoring: track the believed state and compare it with each executed step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from hvr.execution.detection import detect, not_applicable
from hvr.execution.deviations import (
    Deviation,
    DeviationKind,
    Difference,
    Side,
    compare_states,
    subjects,
)
from hvr.execution.events import StepDone
from hvr.execution.explanation import literal_clauses, negated
from hvr.execution.observation import Expected, Observed, Truth, sorts_of
from hvr.execution.recovery import BeliefMonitor
from hvr.pddl import Atom, Expression, GroundAction, Not, State, Task
from hvr.pddl.formulas import changes_of
from hvr.pddl.model import ActionSchema
from hvr.pddl.state import Conjunction, set_bits
from hvr.planning.plans import Planned
from hvr.validation.report import Failure, StepReport
from hvr.validation.trajectory import ConstraintMonitor, with_constraints
from hvr.validation.validator import Validator

if TYPE_CHECKING:
    from hvr.execution.world import World


class PlanMonitor(BeliefMonitor):
    """The part of a `BeliefMonitor` that needs only the task and the observed state.

    Args:
        aside: Whether the plan only prepares for another one, which may still satisfy `sometime`
            constraints.
    """

    def __init__(self, task: Task, constraints: ConstraintMonitor, *, aside: bool) -> None:
        self.task = task
        self.constraints = constraints
        self._aside = aside

    def unmet(self, action: GroundAction) -> tuple[Expression, ...]:
        """Return the precondition literals of an action that do not hold in the observed state."""
        return failed_literals(Validator(self.task, state=self.state).apply(action).failure)

    def unmet_goal(self) -> tuple[Expression, ...]:
        """Return the goal literals that do not hold in the observed state."""
        missing = failed_literals(Validator(self.task, state=self.state).goal_failure())
        return missing if self._aside else missing or self.constraints.unmet(self.state)

    def goal_support(self) -> frozenset[Atom]:
        """Return facts whose observed values, true or false, suffice for the goal to hold."""
        return frozenset(_support(self.task.goal, self.state))

    def ahead(self, state: State) -> tuple[Task, State]:
        """Return the task with the remaining constraints, and the state converted to it."""
        left = self.constraints.prohibitions if self._aside else self.constraints.left
        return with_constraints(self.task, state, left)


class SceneMonitor(PlanMonitor):
    """Tracks the state of the relevant objects while a plan runs.

    The state is read from the graph once and then updated by changes only.
    """

    def __init__(
        self,
        world: World,
        planned: Planned,
        constraints: ConstraintMonitor | None = None,
        *,
        aside: bool = False,
    ) -> None:
        super().__init__(planned.task, constraints or ConstraintMonitor(), aside=aside)
        self.world = world
        self._refused = Counter[GroundAction]()
        self._names = frozenset(planned.relevant.names)
        self._known = self._names | {c.name for c in self.task.domain.constants}
        fluents = self.task.fluent_predicates
        self.observed = frozenset(
            a for a in world.facts(planned.relevant.names) if a.predicate in fluents
        )
        """The fluent atoms that hold: observed if seen, believed if not."""

    @property
    def state(self) -> State:
        """The observed state."""
        return self.task.state(self.observed)

    def step(
        self, number: int, action: GroundAction, block: int, before: State, report: StepReport
    ) -> StepDone:
        """Execute an applicable step, and compare the observation with the prediction."""
        believed = before.atoms()
        after = (believed | set(report.added)) - set(report.deleted)
        # The graph does not know which objects the robot means to use; the domain's effects do.
        near = [a.args[0] for a in after if a.predicate == "near"]
        outcome = self.world.do(number, action, near, report.added, report.deleted)
        # The place of an object that was never seen before is news, not a surprise.
        found = frozenset(a for a in outcome.gained if a.args and a.args[0] in outcome.look.found)
        gained = frozenset(a for a in outcome.gained if self._concerns(a))
        believed, after = believed | (gained & found), after | (gained & found)
        self.observed = (self.observed - outcome.lost) | gained
        result, look = outcome.result, outcome.look
        observed = Observed(
            atoms=self.observed,
            scene=look.scene,
            seen=look.seen,
            whole=look.whole,
            last_seen=look.last_seen,
            sounds=look.sounds,
            success=result.success,
            error=result.error,
            # Only after a failure: a completed action may have invalidated its own preconditions.
            unmet=() if result.success else self.unmet(action),
            gained=outcome.gained - gained - found,
            lost=frozenset(a for a in outcome.lost if not self._concerns(a)),
            sorts=sorts_of(self.world.graph.ontology),
        )
        effects = fluent_predicates(self.task.domain.actions[action.name])
        failures = detect(number, action, Expected(believed, after, effects), observed)
        failures = (*failures, *self._retracted(number, action, observed, failures))
        self.world.record(number, action, outcome, failures)
        changed = [*report.added, *report.deleted]
        return StepDone(
            number=number,
            action=action,
            block=block,
            success=result.success,
            error=result.error,
            difference=compare_states(after, self.observed, outcome.scene),
            sent=tuple(
                {**dict(s.action), "success": s.success, "error": s.error} for s in result.steps
            ),
            failures=failures,
            sounds=look.sounds,
            not_seen=tuple(a for a in changed if observed.value(a) is Truth.NOT_SEEN),
            looks=look.looks,
        )

    def _retracted(
        self, number: int, action: GroundAction, observed: Observed, failures: Iterable[Deviation]
    ) -> Iterator[Deviation]:
        """Retract the beliefs that a refusal contradicts, and yield the deviation."""
        self._refused[action] = 0 if observed.success else self._refused[action] + 1
        kinds = {failure.kind for failure in failures}
        blocked = DeviationKind.BLOCKED in kinds
        again = self._refused[action] > 1 and (blocked or DeviationKind.ACTION_FAILED in kinds)
        if observed.success or observed.unmet or not (blocked or again):
            return
        revision = self.world.retract(action, self.state, observed, again=again)
        if revision is None:
            return
        literals: list[Expression] = []
        for atom, value in sorted(revision, key=str):
            if isinstance(atom, Atom):
                literals.append(Not(atom) if value else atom)
                self.observed = self.observed | {atom} if value else self.observed - {atom}
        so = literal_clauses(map(negated, literals))
        text = f"{action} was refused, so beliefs about unseen things are revised:  {so}."
        names = tuple(dict.fromkeys(subjects(literals)))
        kind = DeviationKind.MISPERCEIVED
        yield Deviation(kind, Side.PRE, tuple(literals), number, action, text, names)

    def cannot(self, number: int, action: GroundAction) -> Deviation:
        """Return the deviation that makes a step inapplicable in the observed state."""
        observed = Observed(self.observed, self.world.scene, unmet=self.unmet(action))
        return not_applicable(number, action, observed)

    def resumed(self, differing: Difference) -> Validator:
        """Return a validator that continues from the observed state.

        Args:
            differing: Difference from the expected state, which decides which objects the robot is
                near.
        """
        lost = {atom for atom in differing.missing if atom.predicate == "near"}
        task, state = self.ahead(self.task.state(self.observed - lost))
        return Validator(task, state=state)

    def _concerns(self, atom: Atom) -> bool:
        return atom.predicate in self.task.fluent_predicates and self._known.issuperset(atom.args)


def _support(condition: Conjunction, state: State) -> Iterator[Atom]:
    """Yield the atoms that make a condition true: all of a conjunction, one of a disjunction."""
    yield from map(state.task.fluent, set_bits(condition.positive | condition.negative))
    for clause in condition.clauses:
        true = (clause.positive & state.bits) | (clause.negative & ~state.bits)
        if true:
            yield state.task.fluent(next(iter(set_bits(true))))
            continue
        parts = (part for part in clause.parts if part.holds(state.bits, state.values))
        yield from _support(next(parts, Conjunction()), state)


def failed_literals(failure: Failure | None) -> tuple[Expression, ...]:
    """Return the literals that a validator's failure names, as they should be."""
    if failure is None:
        return ()
    return tuple(u.formula if u.wanted else Not(u.formula) for u in failure.literals)


@lru_cache(maxsize=256)
def fluent_predicates(schema: ActionSchema) -> frozenset[str]:
    """Return the names of the predicates that an action can change."""
    return frozenset(a.predicate for a in changes_of(schema.effect) if isinstance(a, Atom))
