"""Split a plan into macro actions: at accomplishments, or at landmarks reached permanently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import islice
from operator import or_

from hvr.base.nested import Steps, run_trampoline
from hvr.knowledge.wording import BlockTitle, load_action_annotations, load_wording
from hvr.pddl import GroundAction, Task
from hvr.pddl.formulas import Atom
from hvr.pddl.state import Conjunction, Operator
from hvr.planning.plans import AABlock, MacroAction
from hvr.planning.search.ground import Literals, bits

# Macro actions ------------------------------------------------------------------------------------
# A block ends where something has been accomplished. The ontology says which actions end a block,
# and which next actions continue it (`k:endsBlock`, `k:continuedBy`): their effects may be goals
# in themselves. The precondition of a block is what its actions need and do not achieve
# themselves; its postcondition is what it changes for good.

_NEARNESS = "near"


def macro_blocks(task: Task, actions: Sequence[GroundAction]) -> tuple[AABlock, ...]:
    """Split a plan into blocks.

    Args:
        actions: A plan that is applicable in the initial state of the task.
    """
    state = task.initial.bits
    blocks = []
    for block in _cut(actions):
        precondition, postcondition, after = block_conditions(task, state, block)
        macro = MacroAction(block_name(task, block, state, after), precondition, postcondition)
        blocks.append(AABlock(macro, tuple(block)))
        state = after
    return tuple(blocks)


def block_conditions(
    task: Task, state: int, block: Sequence[GroundAction]
) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """Return the pre- and postcondition of a block.

    The precondition is what its actions need and do not achieve themselves; the postcondition is
    what the block changes permanently.

    Args:
        state: The mask of the state before the block, which must be applicable there.

    Returns:
        The precondition and postcondition as literals, without nearness, and the mask of the state
        after the block.
    """
    after = state
    needs = have = Literals()
    for action in block:
        operator = task.ground(action)
        # The block needs only what its earlier actions have not achieved.
        used = support(operator.precondition, after)
        needs = Literals(
            needs.true | used.true & ~have.true, needs.false | used.false & ~have.false
        )
        following = operator.apply(after)
        # Changes that are undone within the block do not count as achieved.
        have = Literals(
            (have.true | following & ~after) & following,
            (have.false | after & ~following) & ~following,
        )
        after = following
    changes = Literals(after & ~state, state & ~after)
    return tuple(_literals(task, needs)), tuple(_literals(task, changes)), after


def support(condition: Conjunction, state: int) -> Literals:
    """Return literals that make a condition true in a state; for a disjunction, only the first."""
    return run_trampoline(_support(condition, state, True)) or Literals(0, 0)


def _support(condition: Conjunction, state: int, sure: bool) -> Steps[Literals | None]:
    """Do the same as `support`; return None if a condition that may be false is false."""
    if not sure and not condition.holds_without_clauses(state, ()):
        return None
    true, false = condition.positive, condition.negative
    for clause in condition.clauses:
        held = clause.positive & state
        missing = clause.negative & ~state
        # One literal supports a disjunction; taking the lowest bit is deterministic.
        if held:
            true |= held & -held
        elif missing:
            false |= missing & -missing
        else:
            inner: Literals | None = None
            for part in clause.parts:
                inner = yield _support(part, state, False)
                if inner is not None:
                    true |= inner.true
                    false |= inner.false
                    break
            if inner is None and not sure:
                return None
    return Literals(true, false)


def _cut(actions: Sequence[GroundAction]) -> Iterator[list[GroundAction]]:
    annotations = load_action_annotations()
    block: list[GroundAction] = []
    for number, action in enumerate(actions):
        block.append(action)
        following = actions[number + 1].name if number + 1 < len(actions) else ""
        if action.name in annotations.ends and following not in annotations.continued[action.name]:
            yield block
            block = []
    if block:
        yield block


def _literals(task: Task, literals: Literals) -> Iterator[str]:
    signed = [(task.fluent(bit), True) for bit in bits(literals.true)]
    signed += [(task.fluent(bit), False) for bit in bits(literals.false)]
    for atom, positive in sorted(signed, key=lambda pair: (str(pair[0]), pair[1])):
        if atom.predicate != _NEARNESS:
            yield str(atom) if positive else f"(not {atom})"


def block_name(task: Task, block: Sequence[GroundAction], before: int, after: int) -> str:
    """Return a short description of what a block accomplishes."""
    annotations = load_action_annotations()
    gained = [task.fluent(bit) for bit in bits(after & ~before)]
    last = block[-1]
    # Name a block that uses an appliance by its result, not by the final switching off.
    used = [a for a in block if a.name in annotations.used]
    if used:
        return _used(used[-1].args[0], gained, annotations.uses) or _titled(used[-1])
    text = _titled(last) or f"go to {last.args[0]}"
    first = [a for a in block if a.name in annotations.both]
    if first and last.name not in annotations.both:
        text = f"{_titled(first[0])} and {text}"
    return text


def _titled(action: GroundAction) -> str:
    wording = load_wording().actions.get(action.name)
    return wording.title.fill(action.args) if wording is not None else ""


def _used(tool: str, gained: Sequence[Atom], uses: Sequence[BlockTitle]) -> str:
    """Describe the most important change that using an appliance caused; "" if there is none."""
    for use in uses:
        names = [
            a.args[0] for a in gained if a.predicate == use.predicate and a.args[1:] == use.rest
        ]
        if names:
            return use.title.fill((" and ".join(sorted(names)), tool))
    return ""


# Landmark blocks ----------------------------------------------------------------------------------
# Blocks of arbitrary plans end where a landmark is reached for good.
#
# A fact is a landmark of a plan if the plan's actions, even without deletes, cannot reach the
# goal without it (Hoffmann, Porteous and Sebastia 2004). Considering only the plan's own actions
# makes this fast for any problem.

_NAMED = 3
"""Maximum number of facts in the name of a block."""


def landmark_blocks(task: Task, actions: Sequence[GroundAction]) -> tuple[AABlock, ...]:
    """Split a valid plan into blocks.

    The precondition of a block lists what its actions read and do not achieve themselves. The
    postcondition lists what it achieves and a later block or the goal reads. Negative literals are
    limited to facts that the plan makes true at some time.

    Args:
        task: A classical task.
        actions: A plan that is valid in the initial state.
    """
    operators = [task.ground(action) for action in actions]
    states = [task.initial.bits]
    for operator in operators:
        states.append(operator.apply(states[-1]))
    reads = [support(o.precondition, state) for o, state in zip(operators, states, strict=False)]
    reads = [_with_triggers(r, o, s) for r, o, s in zip(reads, operators, states, strict=False)]
    goal = support(task.goal, states[-1])
    landmarks = _landmarks(operators, states[0], goal)
    lasting = _lasting(states)
    ends = _ends(lasting, landmarks)
    ever = reduce(or_, states)
    blocks = []
    start = 0
    for end in ends:
        later = _needed(reads[end:], states[end:], goal)
        own = _needed(reads[start:end], states[start : end + 1], Literals())
        before, after = states[start], states[end]
        gained = Literals(after & ~before & later.true, before & ~after & later.false)
        reached = lasting[end] & ~lasting[start] & landmarks
        named = islice(bits(reached), _NAMED)
        name = ", ".join(str(task.fluent(bit)).strip("()") for bit in named)
        macro = MacroAction(
            name or str(actions[end - 1]).strip("()"),
            _texts(task, Literals(own.true, own.false & ever)),
            _texts(task, gained),
        )
        blocks.append(AABlock(macro, tuple(actions[start:end])))
        start = end
    return tuple(blocks)


def _with_triggers(read: Literals, operator: Operator, state: int) -> Literals:
    for condition, add, delete in operator.conditional:
        if condition.holds(state) and (add & ~state or delete & state):
            used = support(condition, state)
            read = Literals(read.true | used.true, read.false | used.false)
    return read


def _needed(reads: Sequence[Literals], states: Sequence[int], goal: Literals) -> Literals:
    """Regress `goal` through some steps: return what must hold at their start."""
    true, false = goal.true, goal.false
    for number in range(len(reads) - 1, -1, -1):
        before, after = states[number], states[number + 1]
        true = true & ~(after & ~before) | reads[number].true
        false = false & ~(before & ~after) | reads[number].false
    return Literals(true, false)


def _lasting(states: Sequence[int]) -> list[int]:
    stays = states[-1]
    lasting = []
    for state in reversed(states):
        stays &= state
        lasting.append(stays)
    return lasting[::-1]


def _ends(lasting: Sequence[int], landmarks: int) -> list[int]:
    steps = len(lasting) - 1
    ends = [n for n in range(1, steps) if lasting[n] & ~lasting[n - 1] & landmarks]
    return [*ends, steps] if steps else []


def _landmarks(operators: Sequence[Operator], initial: int, goal: Literals) -> int:
    """Return the mask of facts without which the operators cannot achieve `goal`."""
    added = 0
    for operator in operators:
        added |= operator.add
        for _, add, _ in operator.conditional:
            added |= add
    landmarks = goal.true & ~initial
    # A fact is a landmark if the goal is unreachable without it in the delete relaxation.
    for bit in bits(added & ~initial & ~landmarks):
        if not _reaches(operators, initial, goal.true, ~(1 << bit)):
            landmarks |= 1 << bit
    return landmarks


def _reaches(operators: Sequence[Operator], initial: int, goal: int, allowed: int) -> bool:
    true = initial
    waiting = list(operators)
    while goal & ~true:
        before = true
        blocked = []
        for operator in waiting:
            # Only positive literals are checked, which overestimates what is reachable.
            if operator.precondition.positive & ~true:
                blocked.append(operator)
                continue
            true |= operator.add & allowed
            triggered = [not condition.positive & ~true for condition, _, _ in operator.conditional]
            for (_, add, _), takes_place in zip(operator.conditional, triggered, strict=True):
                if takes_place:
                    true |= add & allowed
            if not all(triggered):
                blocked.append(operator)
        if true == before:
            return False
        waiting = blocked
    return True


def _texts(task: Task, literals: Literals) -> tuple[str, ...]:
    true = sorted(str(task.fluent(bit)) for bit in bits(literals.true))
    false = sorted(f"(not {task.fluent(bit)})" for bit in bits(literals.false))
    return (*true, *false)
