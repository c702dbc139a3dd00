"""Repair of a model's plan: planner, action elimination, the judge, and constraints."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
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
from hvr.validation import Validator, minimise
from hvr.validation.trajectory import ConstraintMonitor, grounded_constraints

# Redundant steps ----------------------------------------------------------------------------------
# Action elimination: leave out the steps without which a plan comes to the same end.
#
# Action elimination (Nakhost & Müller, ICAPS 2010) needs a goal. Since no gold goal may be known
# here, the goal is the final state of everything that the plan touches.


def plan_outcome(
    task: Task, state: State, actions: Sequence[GroundAction], fleeting: frozenset[str]
) -> And:
    """Return the final state of everything that a plan touches, as a condition.

    A lamp that is switched on and off again appears as off: a shorter plan may not leave it on.
    What the last step was done for counts, if it changes nothing else.

    Args:
        task: the task.
        state: the state before the plan.
        actions: the plan; steps that are not applicable are skipped.
        fleeting: predicates that do not count, such as nearness.
    """
    # Step by step: the two ends alone would not show what was changed and changed back.
    touched, first = 0, state
    for action in actions:
        following = run_actions(task, state, (action,))
        touched |= state.bits ^ following.bits
        state = following
    lasting = _literals(task, state, touched, fleeting)
    return And((*lasting.operands, *_arrival(task, first, actions, fleeting)))


def needed_steps(
    task: Task, state: State, actions: Sequence[GroundAction], fleeting: frozenset[str]
) -> tuple[int, ...]:
    """Return the numbers of the steps to keep, from 0, for the same end but for fleeting facts.

    Args:
        task: the task.
        state: the state before the plan.
        actions: the plan. All steps are kept when one of them is not applicable.
        fleeting: predicates that do not count, such as nearness.
    """
    end = run_actions(task, state, actions)
    everything = tuple(range(len(actions)))
    goal = plan_outcome(task, state, actions, fleeting)
    while True:
        problem = task.problem.replace(init=state.atoms(static=True), goal=goal)
        kept = minimise.eliminate_actions(Task(task.domain, problem).initial, actions)
        if kept is None or kept == everything:
            return everything
        # A shorter plan may change what the whole plan leaves alone; then that joins the goal.
        # The new literals hold at the plan's end and not yet in the goal, so the goal grows each
        # time, the whole plan always reaches it, and the loop ends.
        other = run_actions(task, state, [actions[n] for n in kept])
        more = _literals(task, end, end.bits ^ other.bits, fleeting)
        if not more.operands:
            return kept
        goal = And((*goal.operands, *more.operands))


def eliminate_actions(
    task: Task, blocks: Sequence[AABlock], fleeting: frozenset[str]
) -> tuple[tuple[AABlock, ...], tuple[GroundAction, ...]]:
    """Return the blocks of a plan without unnecessary steps, and these steps.

    Args:
        task: the task, whose initial state the plan begins in.
        blocks: of the plan. They stay as they are when one of the steps is not applicable.
        fleeting: predicates that do not count, such as nearness.
    """
    actions = tuple(a for b in blocks for a in b.actions)
    if count_applicable(task, task.initial, actions) < len(actions):
        return tuple(blocks), ()
    # A plan that changes nothing for good is left as it is: its purpose is not known.
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


def _arrival(
    task: Task, state: State, actions: Sequence[GroundAction], fleeting: frozenset[str]
) -> tuple[Atom, ...]:
    """Return what a last step that changes nothing for good was done for.

    Going to a lamp serves what is done there; if nothing is, it was meant for itself.
    """
    if not actions:
        return ()
    before = run_actions(task, state, actions[:-1])
    after = run_actions(task, before, actions[-1:])
    changed = list(task.atoms_in(before.bits ^ after.bits))
    if not all(a.predicate in fleeting for a in changed):
        return ()
    gained = task.atoms_in(after.bits & ~before.bits)
    return tuple(sorted((a for a in gained if set(a.args) <= set(actions[-1].args)), key=str))


def _literals(task: Task, state: State, fluents: int, fleeting: frozenset[str]) -> And:
    true = [a for a in task.atoms_in(fluents & state.bits) if a.predicate not in fleeting]
    false = [a for a in task.atoms_in(fluents & ~state.bits) if a.predicate not in fleeting]
    return And((*sorted(true, key=str), *(Not(a) for a in sorted(false, key=str))))


# Judged repair ------------------------------------------------------------------------------------
# The loop of judge and planner on a model's plan, before it is executed.
#
# No gold goal may be known here. What the model wants is taken to be what its steps would bring
# about if each of them could be executed: the state that all it touches is in then, but for
# fleeting facts and what a later step supposes to be undone.


def repair_judged_blocks(
    task: Task,
    blocks: tuple[AABlock, ...],
    fleeting: frozenset[str],
    listen: Callable[[PlanJudged], None],
    reduced: Callable[[Problem, Sequence[GroundAction]], Problem] | None = None,
) -> tuple[tuple[AABlock, ...], tuple[JudgeRound, ...]]:
    """Return the blocks of a plan without superfluous steps and with missing ones.

    Args:
        task: the task, in whose initial state the plan begins.
        blocks: the plan.
        fleeting: predicates that do not count, such as nearness.
        listen: is told what was changed, and that what is wrong could not be repaired.
        reduced: returns a problem with the objects alone that the plan has to do with; None to
            look at all objects.

    Returns:
        the blocks, and the rounds; none where there is nothing to say, nothing is known to repair
        the plan, or it changes nothing for good.
    """
    state = task.initial
    actions = _steps(blocks)
    goal = intended_outcome(task, state, actions, fleeting)
    if not goal.operands:
        return blocks, ()
    whole = task.problem.replace(init=state.atoms(static=True), goal=goal)
    problem = whole if reduced is None else reduced(whole, actions)
    everywhere = Validator(Task(task.domain, whole))
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
        # Where few objects were looked at, a condition on all of a kind may say more.
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
    """Return blocks with what a verdict says of their steps done."""
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
    """Return what the steps of a plan would bring about if each could be executed.

    A step that needs what an earlier one took away is taken to follow on that one's being undone:
    who picks up a cup with a bottle in the hand does not want to hold both.
    """
    bits, made = state.bits, dict[int, int]()
    for number, action in enumerate(actions):
        operator = task.try_ground(action)
        if isinstance(operator, Misfit):
            continue
        needs = operator.precondition
        wanting = needs.positive & ~bits | needs.negative & bits & ~needs.positive
        undone = [step for step, changed in made.items() if changed & wanting]
        for step in undone:
            del made[step]
        bits ^= wanting
        after = operator.apply(bits)
        changed = bits ^ after
        # Each fact is the work of the step that changed it last.
        made = {step: before & ~changed for step, before in made.items()}
        made[number] = changed
        bits = after
    touched = 0
    for changed in made.values():
        touched |= changed
    true = [a for a in task.atoms_in(touched & bits) if a.predicate not in fleeting]
    false = [a for a in task.atoms_in(touched & ~bits) if a.predicate not in fleeting]
    return And((*sorted(true, key=str), *(Not(a) for a in sorted(false, key=str))))


# Constraints --------------------------------------------------------------------------------------
# Constraints on the way: what a request forbids, and which steps of a block break it.
#
# They are those that hvr itself reads in the request, as "never two doors open". Of its reading a
# plan knows nothing else, least of all the goal.

Constraints = tuple[Trajectory, ...]


def read_constraints(reader: Reader, request: str, inventory: Inventory) -> tuple[str, ...]:
    """Return the PDDL constraints of a request that are the same in all its readings.

    There are none where the request cannot be read.
    """
    try:
        goals = reader.goals(request, inventory)
    except (LanguageError, ImpossibleGoalError):
        return ()
    read = [dict.fromkeys(c for stage in goal.stages for c in stage.constraints) for goal in goals]
    return tuple(text for text in read[0] if all(text in others for others in read))


def constraints_in(task: Task, texts: Iterable[str]) -> Constraints:
    """Return PDDL constraints with the objects of a task."""
    domain, problem = task.domain, task.problem
    parsed = And(tuple(parse_constraint(text, domain, problem.objects) for text in texts))
    return grounded_constraints(Task(domain, problem.replace(constraints=parsed)))


def broken_constraints(
    state: State, actions: Sequence[GroundAction], kept: Constraints
) -> tuple[tuple[int, Trajectory], ...]:
    """Return the steps that break constraints, from 1, each with what it breaks.

    Args:
        state: the state before the first step.
        actions: the steps; those that are not applicable are skipped.
        kept: what is left of the constraints, `state` included.
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
    """Return what is left of constraints after some steps; see `broken_constraints`."""
    monitor = ConstraintMonitor(kept)
    if kept:
        monitor.observe(state)
        for action in actions:
            state = run_actions(state.task, state, (action,))
            monitor.observe(state)
    return monitor.prohibitions


# Planner repair -----------------------------------------------------------------------------------
# Planner-assisted repair: the classical planner gets to where the model did not.
#
# This is hvr's own, beyond the paper. The planner sees only the present state and a condition
# of the model's making: a postcondition that it wrote, or what its next step needs.


class PlannerRepair:
    """Finds ways from a state to a condition."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self.calls = 0

    def to(
        self,
        state: State,
        goal: Formula,
        foresight: PredictedWorld,
        objects: Collection[str] = (),
        relevant: Formula | None = None,
        kept: tuple[Trajectory, ...] = (),
    ) -> tuple[GroundAction, ...] | None:
        """Return actions that lead to a condition, or None if none were found.

        Args:
            state: where to begin; its task has all objects.
            goal: the condition.
            foresight: the world.
            objects: objects that may be of use besides those that the condition needs.
            relevant: the part of the condition that objects are chosen by; all of it if None.
            kept: ground constraints that the actions must not break.
        """
        task = state.task
        if state.holds(goal):
            return ()
        try:
            posed = foresight.posed(state, goal, objects, relevant or goal, kept)
            if posed is None:
                return None
            self.calls += 1
            result = self._planner.solve(posed)
        except DataFileError:
            raise  # the planner's result cannot be recorded: the run could not be repeated
        except HvrError:
            return None
        # The planner saw fewer objects: a quantified condition may say more in the full task.
        if result.plan is None or not run_actions(task, state, result.plan).holds(goal):
            return None
        if broken_constraints(state, result.plan, kept):
            return None
        return (
            result.plan if count_applicable(task, state, result.plan) == len(result.plan) else None
        )

    def through(
        self, state: State, actions: Sequence[GroundAction], foresight: PredictedWorld
    ) -> tuple[GroundAction, ...]:
        """Return the actions, each preceded by what makes it applicable.

        An action that nothing makes applicable is left out: those behind it may still work.
        """
        task = state.task
        done: list[GroundAction] = []
        for action in actions:
            operator = task.try_ground(action)
            if not isinstance(operator, Operator):
                continue
            if not count_applicable(task, state, (action,)):
                way = self._way(state, action, foresight)
                if way is None:
                    continue
                done += way
                state = run_actions(task, state, way)
            done.append(action)
            state = run_actions(task, state, (action,))
        return tuple(done)

    def _way(
        self, state: State, action: GroundAction, foresight: PredictedWorld
    ) -> tuple[GroundAction, ...] | None:
        """Return actions that make an action applicable, or None."""
        task = state.task
        # Most actions lack nothing but nearness, for which no planner is needed.
        move = insert_navigation(task, state, action)
        if move is not None and count_applicable(task, state, (move, action)) == 2:
            return (move,)
        precondition = _precondition(task, action)
        # Disjunctions and quantifiers range over all kinds of things: relevance by them would
        # choose far too many objects.
        plain = And(
            tuple(
                part
                for part in getattr(precondition, "operands", (precondition,))
                if isinstance(part, Atom)
                or (isinstance(part, Not) and isinstance(part.operand, Atom))
            )
        )
        return self.to(state, precondition, foresight, action.args, plain)


def _precondition(task: Task, action: GroundAction) -> Formula:
    schema = task.domain.actions[action.name]
    return cast(Formula, substitute(schema.precondition, binding_of(schema, action)))
