"""Repair of a model's plan: by elimination, judge, constraints and planner."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import reduce
from operator import or_
from typing import cast

from hvr.errors import DataFileError, HvrError, ImpossibleGoalError, LanguageError
from hvr.judging.model_judge import MAX_ROUNDS, JudgeRound, run_loop
from hvr.judging.verdict import PlanVerdict
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.grammar import Reader
from hvr.pddl import (
    And,
    Atom,
    Formula,
    GroundAction,
    Misfit,
    Not,
    Problem,
    State,
    Task,
    Trajectory,
    parse_constraint,
    substitute,
)
from hvr.pddl.state import Operator
from hvr.pddl.task import binding_of
from hvr.planning.plans import AABlock
from hvr.planning.search.navigation import insert_navigation
from hvr.planning.search.planners import Planner
from hvr.policies.llm.prediction import PredictedWorld, count_applicable, run_actions
from hvr.policies.llm.record import PlanJudged
from hvr.validation import minimise
from hvr.validation.trajectory import ConstraintMonitor, grounded_constraints
from hvr.validation.validator import Validator

# Redundant steps ----------------------------------------------------------------------------------
# Action elimination (Nakhost & Müller, ICAPS 2010) needs a goal. Since hvr must not know a gold
# goal here, the goal is the final state of everything that the plan changes.


def plan_outcome(
    task: Task, state: State, actions: Sequence[GroundAction], fleeting: frozenset[str]
) -> And:
    """Return the final state of all facts that a plan changes, as a condition.

    A lamp that is switched on and then off counts as off, so a shorter plan must not leave it on.
    `fleeting` predicates such as nearness are excluded, unless the last step has no other effect.
    Inapplicable steps are skipped.
    """
    # Go step by step, since comparing only both ends misses facts that change and change back.
    touched, first = 0, state
    for action in actions:
        following = run_actions(task, state, (action,))
        touched |= state.bits ^ following.bits
        state = following
    lasting = _literals(task, state.bits, touched, fleeting)
    return And((*lasting.operands, *_fleeting_effect(task, first, actions, fleeting)))


def needed_steps(
    task: Task, state: State, actions: Sequence[GroundAction], fleeting: frozenset[str]
) -> tuple[int, ...]:
    """Return the 0-based indexes of steps that suffice to reach the same final state.

    If a step is inapplicable, all steps are kept. `fleeting` predicates are ignored.
    """
    end = run_actions(task, state, actions)
    everything = tuple(range(len(actions)))
    goal = plan_outcome(task, state, actions, fleeting)
    while True:
        problem = task.problem.replace(init=state.atoms(static=True), goal=goal)
        kept = minimise.eliminate_actions(task.with_problem(problem).initial, actions)
        if kept is None or kept == everything:
            return everything
        # A shorter plan may change facts that the whole plan leaves alone; these are added to the
        # goal. Since they hold at the plan's end and are new to the goal, the goal grows in each
        # round, the whole plan always reaches it, and the loop terminates.
        other = run_actions(task, state, [actions[n] for n in kept])
        more = _literals(task, end.bits, end.bits ^ other.bits, fleeting)
        if not more.operands:
            return kept
        goal = And((*goal.operands, *more.operands))


def eliminate_actions(
    task: Task, blocks: Sequence[AABlock], fleeting: frozenset[str]
) -> tuple[tuple[AABlock, ...], tuple[GroundAction, ...]]:
    """Remove redundant steps; return the blocks of the plan and the removed steps.

    The plan begins in the task's initial state. If a step is inapplicable, or the plan has no
    lasting effect, no step is removed. Blocks without steps are left out.
    """
    actions = _steps(blocks)
    if count_applicable(task, task.initial, actions) < len(actions):
        return tuple(blocks), ()
    # The purpose of a plan without lasting effects is unknown, so keep it.
    kept = set(needed_steps(task, task.initial, actions, fleeting)) or set(range(len(actions)))
    shorter: list[AABlock] = []
    position = 0
    left_out: list[GroundAction] = []
    for block in blocks:
        numbers = range(position, position + len(block.actions))
        position += len(block.actions)
        rest = tuple(actions[n] for n in numbers if n in kept)
        left_out += [actions[n] for n in numbers if n not in kept]
        shorter.append(block.replace(actions=rest))
    return tuple(b for b in shorter if b.actions), tuple(left_out)


def _fleeting_effect(
    task: Task, state: State, actions: Sequence[GroundAction], fleeting: frozenset[str]
) -> tuple[Atom, ...]:
    if not actions:
        return ()
    before = run_actions(task, state, actions[:-1])
    after = run_actions(task, before, actions[-1:])
    changed = list(task.atoms_in(before.bits ^ after.bits))
    if not all(a.predicate in fleeting for a in changed):
        return ()
    gained = task.atoms_in(after.bits & ~before.bits)
    return tuple(sorted((a for a in gained if set(a.args) <= set(actions[-1].args)), key=str))


def _literals(task: Task, bits: int, fluents: int, fleeting: frozenset[str]) -> And:
    true = [a for a in task.atoms_in(fluents & bits) if a.predicate not in fleeting]
    false = [a for a in task.atoms_in(fluents & ~bits) if a.predicate not in fleeting]
    return And((*sorted(true, key=str), *(Not(a) for a in sorted(false, key=str))))


# Judged repair ------------------------------------------------------------------------------------
# Since hvr must not know a gold goal here, the model's intention is derived from its steps. It is
# the final state of everything that they would change if each were executable, without fleeting
# facts and without effects that a later step requires to be undone.


def repair_judged_blocks(
    task: Task,
    blocks: tuple[AABlock, ...],
    fleeting: frozenset[str],
    listen: Callable[[PlanJudged], None],
    reduced: Callable[[Problem, Sequence[GroundAction]], Problem] | None = None,
) -> tuple[tuple[AABlock, ...], tuple[JudgeRound, ...]]:
    """Remove redundant steps and insert missing ones until the judge finds no further repair.

    Args:
        fleeting: Predicates that the judge ignores, such as nearness.
        reduced: Restricts a problem to the plan's objects; None to use all objects.

    Returns:
        The blocks, and the rounds in which the plan was repaired. There are no rounds if the plan
        is correct, cannot be repaired, or has no lasting effect.
    """
    state = task.initial
    actions = _steps(blocks)
    goal = intended_outcome(task, state, actions, fleeting)
    if not goal.operands:
        return blocks, ()
    whole = task.problem.replace(init=state.atoms(static=True), goal=goal)
    problem = whole if reduced is None else reduced(whole, actions)
    everywhere = Validator(task.with_problem(whole))
    validator = everywhere if problem is whole else Validator(Task(task.domain, problem))
    rounds: list[JudgeRound] = []
    removed: list[GroundAction] = []
    inserted: list[GroundAction] = []
    unmended = ""
    changed = blocks
    while len(rounds) < MAX_ROUNDS:
        loop = run_loop(validator, _steps(changed), most=1)
        verdict = loop.verdict
        if not loop.rounds or verdict is None:
            unmended = "" if verdict is None or verdict.valid else _why(verdict)
            break
        done = _repaired(changed, verdict)
        # With fewer objects, a quantified condition may hold that fails in the whole world.
        if problem is not whole and not everywhere.check(_steps(done)).valid:
            unmended = "the steps that were found do not do with all objects of the world"
            break
        removed += [verdict.plan[number - 1] for number in sorted(verdict.removed)]
        inserted += [a for critique in verdict.missing for a in critique.actions]
        rounds += loop.rounds
        changed = done
    if rounds or unmended:
        listen(PlanJudged(tuple(removed), tuple(inserted), unmended))
    return tuple(block for block in changed if block.actions), tuple(rounds)


def _steps(blocks: Iterable[AABlock]) -> tuple[GroundAction, ...]:
    return tuple(action for block in blocks for action in block.actions)


def _why(verdict: PlanVerdict) -> str:
    reasons = [critique.reason for critique in verdict.critiques]
    return "; ".join([verdict.unknown or "no steps were found that repair the plan", *reasons])


def _repaired(blocks: tuple[AABlock, ...], verdict: PlanVerdict) -> tuple[AABlock, ...]:
    put_in: dict[int, list[GroundAction]] = {}
    for critique in verdict.missing:
        put_in.setdefault(critique.index, []).extend(critique.actions)
    changed: list[AABlock] = []
    number = 0
    for block in blocks:
        steps: list[GroundAction] = []
        for action in block.actions:
            number += 1
            steps += put_in.get(number, [])
            if number not in verdict.removed:
                steps.append(action)
        changed.append(block.replace(actions=tuple(steps)))
    last = put_in.get(number + 1)
    if last:
        changed[-1] = changed[-1].replace(actions=(*changed[-1].actions, *last))
    return tuple(changed)


def intended_outcome(
    task: Task, state: State, actions: Sequence[GroundAction], fleeting: frozenset[str]
) -> And:
    """Return the condition that a plan would achieve if every step were applicable.

    If an earlier effect violates a step's precondition, the plan is assumed to undo this effect
    first: picking up a cup while holding a bottle does not mean holding both.
    """
    bits, made = state.bits, dict[int, int]()
    for number, action in enumerate(actions):
        operator = task.try_ground(action)
        if isinstance(operator, Misfit):
            continue
        needs = operator.precondition
        # The unmet literals of the precondition; positive ones take precedence.
        unmet = needs.positive & ~bits | needs.negative & bits & ~needs.positive
        undone = [step for step, changed in made.items() if changed & unmet]
        for step in undone:
            del made[step]
        # Continue as if the precondition held.
        bits ^= unmet
        after = operator.apply(bits)
        changed = bits ^ after
        # Each fact belongs to the step that changed it last.
        made = {step: before & ~changed for step, before in made.items()}
        made[number] = changed
        bits = after
    touched = reduce(or_, made.values(), 0)
    return _literals(task, bits, touched, fleeting)


# Constraints --------------------------------------------------------------------------------------
# Constraints such as "never two doors open" come from hvr's own reading of the request. A model's
# plan uses nothing else from this reading, least of all the goal.

Constraints = tuple[Trajectory, ...]


def read_constraints(reader: Reader, request: str, inventory: Inventory) -> tuple[str, ...]:
    """Return the constraints, as PDDL, that all interpretations of a request have in common.

    There are none if hvr cannot read the request.
    """
    try:
        goals = reader.goals(request, inventory)
    except (LanguageError, ImpossibleGoalError):
        return ()
    read = [dict.fromkeys(c for stage in goal.stages for c in stage.constraints) for goal in goals]
    return tuple(text for text in read[0] if all(text in others for others in read))


def constraints_in(task: Task, texts: Iterable[str]) -> Constraints:
    """Ground PDDL constraints with the objects of a task."""
    domain, problem = task.domain, task.problem
    parsed = And(tuple(parse_constraint(text, domain, problem.objects) for text in texts))
    return grounded_constraints(Task(domain, problem.replace(constraints=parsed)))


def broken_constraints(
    state: State, actions: Sequence[GroundAction], kept: Constraints
) -> tuple[tuple[int, Trajectory], ...]:
    """Return (1-based step, constraint) for each constraint that a step violates.

    `kept` are the constraints in force in `state`. Inapplicable steps are skipped.
    """
    if not kept:
        return ()
    monitor = ConstraintMonitor(kept)
    monitor.observe(state)
    found: list[tuple[int, Trajectory]] = []
    for number, action in enumerate(actions, start=1):
        state = run_actions(state.task, state, (action,))
        found += [(number, one) for one in monitor.observe(state)]
    return tuple(found)


def remaining_constraints(
    state: State, actions: Sequence[GroundAction], kept: Constraints
) -> Constraints:
    """Return the constraints still in force after some steps; see `broken_constraints`."""
    monitor = ConstraintMonitor(kept)
    if kept:
        monitor.observe(state)
        for action in actions:
            state = run_actions(state.task, state, (action,))
            monitor.observe(state)
    return monitor.prohibitions


# Planner repair -----------------------------------------------------------------------------------
# An extension of the paper: the classical planner bridges gaps that the model left. It sees only
# the current state and either a postcondition by the model or the precondition of the next step.


class PlannerRepair:
    """Finds actions from a state to a condition with a classical planner."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self.calls = 0
        self.planners: dict[str, None] = {}
        """The names of the planners whose plans were used."""

    def to(
        self,
        state: State,
        goal: Formula,
        predicted: PredictedWorld,
        objects: Collection[str] = (),
        relevant: Formula | None = None,
        kept: tuple[Trajectory, ...] = (),
    ) -> tuple[GroundAction, ...] | None:
        """Return actions that achieve a condition, or None if none are found.

        Args:
            objects: Potentially useful objects that the condition does not name.
            relevant: Part of the condition that determines the relevant objects; None for all of
                it.
            kept: Ground constraints that the actions must not violate.

        Raises:
            DataFileError: The recorded run that is repeated lacks the planner's result.
        """
        task = state.task
        if state.holds(goal):
            return ()
        try:
            planner_task = predicted.planner_task(state, goal, objects, relevant or goal, kept)
            if planner_task is None:
                return None
            self.calls += 1
            result = self._planner.solve(planner_task)
        except DataFileError:
            raise  # an unrecorded planner result would make the run unrepeatable
        except HvrError:
            return None
        # The planner saw fewer objects, so a quantified condition may fail in the full task.
        if result.plan is None or not run_actions(task, state, result.plan).holds(goal):
            return None
        if broken_constraints(state, result.plan, kept):
            return None
        if count_applicable(task, state, result.plan) < len(result.plan):
            return None
        self.planners[result.planner] = None
        return result.plan

    def through(
        self, state: State, actions: Sequence[GroundAction], predicted: PredictedWorld
    ) -> tuple[GroundAction, ...]:
        """Return the actions, each preceded by the steps that make it applicable.

        Actions that cannot be made applicable are left out, since later actions may still be
        useful.
        """
        task = state.task
        done: list[GroundAction] = []
        for action in actions:
            operator = task.try_ground(action)
            if not isinstance(operator, Operator):
                continue
            if not count_applicable(task, state, (action,)):
                way = self._enabling_steps(state, action, predicted)
                if way is None:
                    continue
                done += way
                state = run_actions(task, state, way)
            done.append(action)
            state = run_actions(task, state, (action,))
        return tuple(done)

    def _enabling_steps(
        self, state: State, action: GroundAction, predicted: PredictedWorld
    ) -> tuple[GroundAction, ...] | None:
        task = state.task
        # Most actions lack only nearness, which needs no planner.
        move = insert_navigation(task, state, action)
        if move is not None and count_applicable(task, state, (move, action)) == 2:
            return (move,)
        precondition = _precondition(task, action)
        # Only literals determine relevance: disjunctions and quantifiers range over so many kinds
        # that they would select far too many objects.
        plain = And(
            tuple(
                part
                for part in getattr(precondition, "operands", (precondition,))
                if isinstance(part, Atom)
                or (isinstance(part, Not) and isinstance(part.operand, Atom))
            )
        )
        return self.to(state, precondition, predicted, action.args, plain)


def _precondition(task: Task, action: GroundAction) -> Formula:
    schema = task.domain.actions[action.name]
    return cast(Formula, substitute(schema.precondition, binding_of(schema, action)))
