"""Plan monitoring: track the believed state and compare it with the outcome of each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from hvr.execution.deviations import (
    PLACE_PREDICATES,
    Deviation,
    DeviationKind,
    Difference,
    Explanation,
    RawDeviation,
    Side,
    UnexplainedDifferences,
    atom_of,
    classify_refusal,
    compare_states,
    literal_clauses,
    negated,
    subjects,
)
from hvr.execution.events import StepDone
from hvr.execution.observation import Expected, Observed, SoundKind, Truth, sorts_of
from hvr.execution.recovery import BeliefMonitor
from hvr.knowledge.retrieval.relevance import constrained_objects
from hvr.knowledge.wording import Wording
from hvr.pddl import Atom as Atom_pddl
from hvr.pddl import Expression as Expression_pddl
from hvr.pddl import GroundAction as GroundAction_pddl
from hvr.pddl import Not as Not_pddl
from hvr.pddl import State, Task, Trajectory
from hvr.pddl.formulas import Atom, Expression, Not, changes_of, walk
from hvr.pddl.model import ActionSchema, GroundAction
from hvr.pddl.state import Conjunction, set_bits
from hvr.planning.plans import Planned
from hvr.validation.report import Failure, StepReport, ValidationReport
from hvr.validation.trajectory import ConstraintMonitor, with_constraints
from hvr.validation.validator import Validator
from hvr.worlds.thor.observe import FLOOR

if TYPE_CHECKING:
    from hvr.execution.world import World


# Detection ----------------------------------------------------------------------------------------
# Detection of deviations: compare the expected and the observed outcome of one step.
#
# The functions here neither act nor keep state.
#
# A refused step should have changed nothing and is compared with the state before it. A
# completed step is compared with the effects that the domain predicts. Each difference gets one
# explanation, the first that fits: the held object was lost; the action was refused; an effect did
# not occur; another agent changed the rest, or the belief was wrong.


def detect(
    step: int, action: GroundAction, expected: Expected, observed: Observed
) -> tuple[Deviation, ...]:
    differences = UnexplainedDifferences(action, expected, observed)
    if observed.success and not differences:
        return ()
    search = _Diagnosis(step, differences)
    # The order matters: each search removes the differences that it explains.
    search.dropped()
    if observed.success:
        search.missing_effects()
    else:
        search.refused()
    search.remaining_differences()
    return tuple(search.deviations)


def not_applicable(step: int, action: GroundAction, observed: Observed) -> Deviation:
    """Return the deviation of a step that is skipped because a precondition does not hold."""
    finding = classify_refusal(action, observed)
    text = Explanation(action, ()).sentence(finding)
    return Deviation(finding.kind, Side.PRE, finding.literals, step, action, text, finding.objects)


def goal_unmet(step: int, unmet: Iterable[Expression], wording: Wording | None = None) -> Deviation:
    """Return the deviation of a plan that was completed without reaching its goal."""
    literals = tuple(unmet)
    finding = RawDeviation(DeviationKind.GOAL_UNMET, literals, subjects(literals))
    text = Explanation(None, (), wording).sentence(finding)
    return Deviation(finding.kind, Side.POST, literals, step, None, text, finding.objects)


def predicted_failure(
    step: int, report: ValidationReport, wording: Wording | None = None
) -> Deviation:
    """Return the deviation of a plan that a seemingly harmless difference has made invalid."""
    broken = report.failure
    literals = (
        ()
        if broken is None
        else tuple(u.formula if u.wanted else Not(u.formula) for u in broken.literals)
    )
    if broken is None or broken.action is None:
        return goal_unmet(step, literals, wording)
    kind, names = DeviationKind.MISSING_PRECONDITION, subjects(literals) or broken.action.args
    finding = RawDeviation(kind, literals, names)
    text = Explanation(broken.action, (), wording).sentence(finding)
    return Deviation(kind, Side.PRE, literals, step, broken.action, text, names)


@dataclass
class _Diagnosis:
    """Finds the deviations that explain the differences of one step, one kind at a time."""

    step: int
    left: UnexplainedDifferences
    deviations: list[Deviation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.action = self.left.action
        self.expected, self.observed = self.left.expected, self.left.observed

    def dropped(self) -> None:
        # This comes first because a lost object explains the most: where it lies now, the pieces it
        # broke into, and why the action was refused.
        for atom in sorted(self.left.missing, key=str):
            if atom.predicate != "holding" or atom not in self.expected.before:
                continue
            if self._consumed(atom):
                continue  # the action itself empties the hand
            name, now = atom.args[0], self._place_of(atom.args[0])
            instead = [a.args[0] for a in self.left.unexpected if a.predicate == "holding"]
            kind = DeviationKind.WRONG_OBJECT if instead else DeviationKind.DROPPED
            side = Side.PRE if atom in self.observed.unmet else Side.POST
            self._add(RawDeviation(kind, (atom,), (name, *instead, *now)), side)
            pieces = {a.args[0] for a in self.left.unexpected if a.predicate == "present"}
            self.left.forget({name, *pieces})

    def refused(self) -> None:
        # If a difference violates a precondition, another agent caused it: `remaining_differences`
        # reports it, and it explains the refusal.
        unmet = set(self.observed.unmet)
        explained = {literal for d in self.deviations for literal in d.literals}
        partly_executed = self._partly_executed()
        if unmet & (explained | self.left.literals) and not partly_executed:
            return
        observed = replace(self.observed, unmet=()) if partly_executed else self.observed
        self._add(classify_refusal(self.action, observed), Side.PRE)
        if partly_executed:  # its partial effects are not deviations of their own
            self.left.forget(self.left.touched())

    def missing_effects(self) -> None:
        effects, differences = self.left.effects(), self.left.literals
        wrong = [e for e in effects if e in differences]
        if not wrong:
            return
        touched = self.left.touched()
        finding = self._wrong_object(wrong) or self._misplaced(wrong)
        if finding is None:
            drifting = self.observed.sorts.drifting
            main = [
                e
                for e in effects
                if self._seen(atom_of(e))
                and (atom_of(e).predicate != "near" or len(effects) == 1)
                and not (
                    isinstance(e, Not) and atom_of(e).predicate in drifting
                )  # drifts back by itself
            ]
            nothing = all(e in wrong for e in main) and not self._has_changed(touched)
            kind = DeviationKind.NO_EFFECT if nothing else DeviationKind.WRONG_EFFECT
            finding = RawDeviation(kind, tuple(wrong), subjects(wrong) or self.action.args)
        self._add(finding, Side.POST)
        hand = any(atom_of(e).predicate == "holding" for e in wrong)
        self.left.forget(touched | set(finding.objects), hand=hand, only=self.expected.effects)
        if finding.kind is DeviationKind.DROPPED:  # also covers the pieces it broke into
            self.left.forget(finding.objects)
        if finding.kind is DeviationKind.WRONG_OBJECT:
            # The action's effects on the other object, whichever they are, have the same cause.
            self.left.forget(None, only=self.expected.effects)

    def remaining_differences(self) -> None:
        for literals in self.left.groups():
            names = subjects(literals) or ("hand",)
            last = self.observed.last_seen.get(names[0])
            needed = any(e in self.observed.unmet for e in literals)
            message = (self.observed.error,) if needed and self.observed.error else ()
            kind = self._kind_of_difference(literals, names[0], last)
            self._add(
                RawDeviation(kind, literals, names, message, last),
                Side.PRE if needed else Side.POST,
            )

    def _kind_of_difference(
        self, literals: Iterable[Expression], name: str, last: int | None
    ) -> DeviationKind:
        # An older sighting needs no other agent: the belief may have been wrong all along.
        seen = self.observed.seen
        if seen is not None and last is not None and last < self.step - 1:
            return DeviationKind.MISPERCEIVED if name in seen else DeviationKind.MISSING_OBJECT
        touched = self.left.touched()
        own = self.observed.success and all(
            atom_of(e).predicate in self.expected.effects and touched & set(atom_of(e).args)
            for e in literals
        )
        return DeviationKind.WRONG_EFFECT if own else DeviationKind.CHANGED_BY_OTHERS

    def _consumed(self, atom: Atom) -> bool:
        """Return whether the action used up the held object, like an egg that is cracked."""
        gone = Atom("present", atom.args)
        return (
            atom not in self.expected.after
            and gone in self.expected.before - self.expected.after
            and self.observed.value(gone) is Truth.FALSE
        )

    def _partly_executed(self) -> bool:
        return any(self._consumed(a) for a in self.left.missing if a.predicate == "holding")

    def _wrong_object(self, wrong: Iterable[Expression]) -> RawDeviation | None:
        # Objects that the plan does not name appear only in `lost` and `gained`.
        before = self.expected.before | self.observed.lost
        gained = self.left.unexpected | self.observed.gained
        lost = self.left.missing | self.observed.lost
        irrelevant = {"near", "present"} | self.observed.sorts.remembered
        # A changed state identifies the object better than a changed place, so try states first.
        for literal in sorted(wrong, key=lambda e: atom_of(e).predicate in PLACE_PREDICATES):
            meant = atom_of(literal)
            if not meant.args or meant.predicate in irrelevant:
                continue
            undone = isinstance(literal, Not)
            others = lost & before if undone else gained - before
            for other in sorted(others, key=str):
                same = other.predicate == meant.predicate and other.args[1:] == meant.args[1:]
                if same and other.args[:1] != meant.args[:1]:
                    should: Expression = other if undone else Not(other)
                    objects = (meant.args[0], other.args[0])
                    return RawDeviation(DeviationKind.WRONG_OBJECT, (literal, should), objects)
        return None

    def _misplaced(self, wrong: Iterable[Expression]) -> RawDeviation | None:
        for literal in wrong:
            if not isinstance(literal, Atom) or literal.predicate not in PLACE_PREDICATES | {
                "holding"
            }:
                continue
            name, now = literal.args[0], self._place_of(literal.args[0])
            pieces = {a.args[0] for a in self.left.unexpected if a.predicate == "present"}
            if pieces and self._broken(name):
                lies = self._place_of(min(pieces))
                objects = (name, *lies, *sorted(pieces)) if lies else (name,)
                return RawDeviation(DeviationKind.DROPPED, (literal,), objects)
            before = {
                a.args[1]
                for a in self.expected.before | self.observed.lost
                if a.predicate in PLACE_PREDICATES and a.args[0] == name
            }
            heard = self._heard(name, SoundKind.DROPPED)
            was = bool(before) or Atom("holding", (name,)) in self.expected.before
            elsewhere = bool(now) and was and not before.issuperset(now)
            if self.observed.scene.held == name or not (heard or elsewhere):
                continue
            there = self.observed.scene.objects.get(now[0]) if now else None
            on_floor = there is None or there.object_type == FLOOR
            if literal.predicate == "holding" or on_floor:
                return RawDeviation(DeviationKind.DROPPED, (literal,), (name, *now))
            return RawDeviation(
                DeviationKind.WRONG_OBJECT, (literal,), (name, *literal.args[1:], *now)
            )
        return None

    def _broken(self, name: str) -> bool:
        present = Atom("present", (name,))
        was = self.expected.before & self.expected.after
        return present in was and self.observed.value(present) is Truth.FALSE

    def _heard(self, name: str, noise: SoundKind) -> bool:
        o = self.observed.scene.objects.get(name)
        return o is not None and any(
            s.noise is noise and s.object_type == o.object_type for s in self.observed.sounds
        )

    def _place_of(self, name: str) -> tuple[str, ...]:
        o = self.observed.scene.objects.get(name)
        return o.parents[:1] if o is not None else ()

    def _has_changed(self, names: Collection[str]) -> bool:
        # Temperature drifts by itself and `near` follows from the robot's position, so neither
        # shows that the action had an effect.
        return any(
            not set(a.args).isdisjoint(names)
            and self._seen(a)
            and a.predicate in self.expected.effects - self.observed.sorts.drifting - {"near"}
            for a in self.expected.before ^ self.observed.atoms
        )

    def _seen(self, atom: Atom) -> bool:
        return self.observed.value(atom) is not Truth.NOT_SEEN

    def _add(self, finding: RawDeviation, side: Side) -> None:
        explanation = Explanation(self.action, self.observed.sounds)
        evidence = (*finding.evidence, *explanation.heard(finding))
        self.deviations.append(
            Deviation(
                kind=finding.kind,
                side=side,
                literals=finding.literals,
                step=self.step,
                action=self.action,
                explanation=explanation.sentence(finding),
                objects=finding.objects,
                evidence=evidence,
            )
        )


# --------------------------------------------------------------------------------------------------


class PlanMonitor(BeliefMonitor):
    """The part of a `BeliefMonitor` that needs only the task and the observed state.

    Args:
        aside: Whether the plan only prepares for another plan, which may still satisfy the
            `sometime` constraints.
    """

    def __init__(self, task: Task, constraints: ConstraintMonitor, *, aside: bool) -> None:
        self.task = task
        self.constraints = constraints
        self._aside = aside

    def unmet(self, action: GroundAction_pddl) -> tuple[Expression_pddl, ...]:
        return failed_literals(Validator(self.task, state=self.state).apply(action).failure)

    def unmet_goal(self) -> tuple[Expression_pddl, ...]:
        missing = failed_literals(Validator(self.task, state=self.state).goal_failure())
        return missing if self._aside else missing or self.constraints.unmet(self.constraint_state)

    def goal_support(self) -> frozenset[Atom_pddl]:
        """Return facts that suffice for the goal to hold as long as they keep their values."""
        return frozenset(_support(self.task.goal, self.state))

    def ahead(self, state: State) -> tuple[Task, State]:
        left = self.constraints.prohibitions if self._aside else self.constraints.left
        own = tuple(one for one in left if _speaks_only_of(one, self.task))
        return with_constraints(self.task, state, own)


class SceneMonitor(PlanMonitor):
    """Tracks the state of the relevant objects in a kitchen while a plan runs.

    The state is read from the knowledge graph once; each step then only applies its changes.
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
        self._refused = Counter[GroundAction_pddl]()
        self._names = frozenset(planned.relevant.names)
        self._known = self._names | {c.name for c in self.task.domain.constants}
        fluents = self.task.fluent_predicates
        self.observed = frozenset(
            a for a in world.facts(planned.relevant.names) if a.predicate in fluents
        )
        """The fluent atoms that hold: observed if seen, believed if not."""
        self._scope = world.scope(planned)

    @property
    def state(self) -> State:
        return self.task.state(self.observed)

    @property
    def constraint_state(self) -> State:
        """See `BeliefMonitor.constraint_state`: objects outside the plan are included."""
        if self._scope is self.task:
            return self.state
        fluents = self._scope.fluent_predicates
        facts = self.world.facts(o.name for o in self._scope.problem.objects)
        return self._scope.state(frozenset(a for a in facts if a.predicate in fluents))

    def outdated(self, rest: Sequence[GroundAction_pddl]) -> str:
        """See `BeliefMonitor.outdated`: a constraint now concerns an object outside the plan."""
        del rest
        if self._scope is self.task or self._aside:
            return ""
        kept, changing = self._scope.problem.constraints, self.task.fluent_predicates
        names = set(constrained_objects(kept, self.world.inventory(), changing))
        if not (more := sorted(names - self._names)):
            return ""
        verb = "comes" if len(more) == 1 else "come"
        return f"{' and '.join(more)} now {verb} under a constraint of the request."

    def step(
        self, number: int, action: GroundAction_pddl, block: int, before: State, report: StepReport
    ) -> StepDone:
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
        self,
        number: int,
        action: GroundAction_pddl,
        observed: Observed,
        failures: Iterable[Deviation],
    ) -> Iterator[Deviation]:
        self._refused[action] = 0 if observed.success else self._refused[action] + 1
        kinds = {failure.kind for failure in failures}
        blocked = DeviationKind.BLOCKED in kinds
        again = self._refused[action] > 1 and (blocked or DeviationKind.ACTION_FAILED in kinds)
        if observed.success or observed.unmet or not (blocked or again):
            return
        revision = self.world.retract(action, self.state, observed, again=again)
        if revision is None:
            return
        literals: list[Expression_pddl] = []
        for atom, value in sorted(revision, key=str):
            if isinstance(atom, Atom_pddl):
                literals.append(Not_pddl(atom) if value else atom)
                self.observed = self.observed | {atom} if value else self.observed - {atom}
        so = literal_clauses(map(negated, literals))
        text = f"{action} was refused, so beliefs about unseen things are revised:  {so}."
        names = tuple(dict.fromkeys(subjects(literals)))
        kind = DeviationKind.MISPERCEIVED
        yield Deviation(kind, Side.PRE, tuple(literals), number, action, text, names)

    def cannot(self, number: int, action: GroundAction_pddl) -> Deviation:
        observed = Observed(self.observed, self.world.scene, unmet=self.unmet(action))
        return not_applicable(number, action, observed)

    def resumed(self, differing: Difference) -> Validator:
        """Return a validator from the observed state without the missing `near` facts."""
        lost = {atom for atom in differing.missing if atom.predicate == "near"}
        task, state = self.ahead(self.task.state(self.observed - lost))
        return Validator(task, state=state)

    def _concerns(self, atom: Atom_pddl) -> bool:
        return atom.predicate in self.task.fluent_predicates and self._known.issuperset(atom.args)


def _speaks_only_of(constraint: Trajectory, task: Task) -> bool:
    known = task.objects
    atoms = (part for part in walk(constraint) if isinstance(part, Atom_pddl))
    return all(arg in known or arg.startswith("?") for atom in atoms for arg in atom.args)


def _support(condition: Conjunction, state: State) -> Iterator[Atom_pddl]:
    """Yield atoms that make a condition true: all of a conjunction, one of a disjunction."""
    yield from map(state.task.fluent, set_bits(condition.positive | condition.negative))
    for clause in condition.clauses:
        true = (clause.positive & state.bits) | (clause.negative & ~state.bits)
        if true:
            yield state.task.fluent(next(iter(set_bits(true))))
            continue
        parts = (part for part in clause.parts if part.holds(state.bits, state.values))
        yield from _support(next(parts, Conjunction()), state)


def failed_literals(failure: Failure | None) -> tuple[Expression_pddl, ...]:
    """Return the literals that should have held according to a validator's failure."""
    if failure is None:
        return ()
    return tuple(u.formula if u.wanted else Not_pddl(u.formula) for u in failure.literals)


@lru_cache(maxsize=256)
def fluent_predicates(schema: ActionSchema) -> frozenset[str]:
    return frozenset(a.predicate for a in changes_of(schema.effect) if isinstance(a, Atom_pddl))
