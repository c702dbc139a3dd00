"""The loop of judge and planner on a model's plan, before it is executed.

No gold goal may be known here. What the model wants is taken to be what its steps would bring about
if each of them could be executed: the state that all it touches is in then, but for fleeting facts
and what a later step supposes to be undone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hvr.judging.loop import MOST_ROUNDS, Round, run_loop
from hvr.judging.verdict import PlanVerdict
from hvr.pddl import And, GroundAction, Misfit, Not, Problem, State, Task
from hvr.planning.plans import AABlock
from hvr.policies.llm.events import PlanJudged
from hvr.validation import Validator


def judged_blocks(
    task: Task,
    blocks: tuple[AABlock, ...],
    fleeting: frozenset[str],
    listen: Callable[[PlanJudged], None],
    reduced: Callable[[Problem, Sequence[GroundAction]], Problem] | None = None,
) -> tuple[tuple[AABlock, ...], tuple[Round, ...]]:
    """Return the blocks of a plan without superfluous steps and with missing ones.

    Args:
        task: the task, in whose initial state the plan begins.
        blocks: the plan.
        fleeting: predicates that do not count, such as nearness.
        listen: is told what was changed, and that what is wrong could not be mended.
        reduced: returns a problem with the objects alone that the plan has to do with; None to
            look at all objects.

    Returns:
        the blocks, and the rounds; none where there is nothing to say, nothing is known to mend
        the plan, or it changes nothing for good.
    """
    state = task.initial
    actions = _steps(blocks)
    goal = intended(task, state, actions, fleeting)
    if not goal.operands:
        return blocks, ()
    whole = task.problem.replace(init=state.atoms(static=True), goal=goal)
    problem = whole if reduced is None else reduced(whole, actions)
    everywhere = Validator(Task(task.domain, whole))
    validator = everywhere if problem is whole else Validator(Task(task.domain, problem))
    rounds: list[Round] = []
    removed: list[GroundAction] = []
    inserted: list[GroundAction] = []
    unmended = ""
    changed = blocks
    while len(rounds) < MOST_ROUNDS:
        loop = run_loop(validator, _steps(changed), most=1)
        verdict = loop.verdict
        if not loop.rounds or verdict is None:
            unmended = "" if verdict is None or verdict.valid else _why(verdict)
            break
        done = _mended(changed, verdict)
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
    """Return in words why a plan stays as it is."""
    reasons = [critique.reason for critique in verdict.critiques]
    return "; ".join([verdict.unknown or "no steps were found that mend the plan", *reasons])


def _mended(blocks: tuple[AABlock, ...], verdict: PlanVerdict) -> tuple[AABlock, ...]:
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


def intended(
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
