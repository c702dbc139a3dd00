"""Cut a plan into macro actions: each block ends where something has been accomplished.

Which actions end a block, and unless what follows, is said by the ontology (`k:endsBlock`,
`k:continuedBy`): those whose effect may be wanted for its own sake. Its precondition is what its
actions need and do not bring about themselves; its postcondition is what it changes for good.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hvr.base.nested import Steps, finish
from hvr.knowledge.conduct import UseName, load_conduct
from hvr.knowledge.wording import load_wording
from hvr.pddl import GroundAction, Task
from hvr.pddl.conditions import Conjunction
from hvr.pddl.model import Atom
from hvr.planning.plans import AABlock, MacroAction
from hvr.planning.search.ground import Literals, bits

_FLEETING = "near"


def macro_blocks(task: Task, actions: Sequence[GroundAction]) -> tuple[AABlock, ...]:
    """Cut a valid plan into blocks.

    Args:
        task: the task, in whose initial state the plan must be applicable.
        actions: the plan.
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

    The precondition is what it needs and does not bring about itself; the postcondition is what
    it changes for good.

    Args:
        task: the task.
        state: the bits of the state before the block, which is applicable there.
        block: its actions.

    Returns:
        precondition and postcondition as literals without nearness, and the bits of the state
        after the block.
    """
    after = state
    needs = have = Literals()
    for action in block:
        operator = task.ground(action)
        # The block itself needs only what none of its earlier actions has brought about.
        used = support(operator.precondition, after)
        needs = Literals(
            needs.true | used.true & ~have.true, needs.false | used.false & ~have.false
        )
        following = operator.apply(after)
        # Changes that are undone within the block do not count as brought about.
        have = Literals(
            (have.true | following & ~after) & following,
            (have.false | after & ~following) & ~following,
        )
        after = following
    changes = Literals(after & ~state, state & ~after)
    return tuple(_literals(task, needs)), tuple(_literals(task, changes)), after


def support(condition: Conjunction, state: int) -> Literals:
    """Return literals that make a condition true in a state; of a disjunction, only the first."""
    return finish(_support(condition, state, True)) or Literals(0, 0)


def _support(condition: Conjunction, state: int, sure: bool) -> Steps[Literals | None]:
    """Do what `support` does; None where a condition that is not sure to hold does not."""
    if not sure and not condition.holds_without_clauses(state, ()):
        return None
    true, false = condition.positive, condition.negative
    for clause in condition.clauses:
        held = clause.positive & state
        missing = clause.negative & ~state
        # One literal supports a disjunction; the lowest bit makes it the same one every time.
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
    conduct = load_conduct()
    block: list[GroundAction] = []
    for number, action in enumerate(actions):
        block.append(action)
        following = actions[number + 1].name if number + 1 < len(actions) else ""
        if action.name in conduct.ends and following not in conduct.continued[action.name]:
            yield block
            block = []
    if block:
        yield block


def _literals(task: Task, literals: Literals) -> Iterator[str]:
    signed = [(task.fluent(bit), True) for bit in bits(literals.true)]
    signed += [(task.fluent(bit), False) for bit in bits(literals.false)]
    for atom, positive in sorted(signed, key=lambda pair: (str(pair[0]), pair[1])):
        if atom.predicate != _FLEETING:
            yield str(atom) if positive else f"(not {atom})"


def block_name(task: Task, block: Sequence[GroundAction], before: int, after: int) -> str:
    """Name what a block accomplishes, in a few words."""
    conduct = load_conduct()
    gained = [task.fluent(bit) for bit in bits(after & ~before)]
    last = block[-1]
    # A block that uses an appliance is named by what that has done, not by switching it off.
    used = [a for a in block if a.name in conduct.used]
    if used:
        return _used(used[-1].args[0], gained, conduct.uses) or _titled(used[-1])
    text = _titled(last) or f"go to {last.args[0]}"
    first = [a for a in block if a.name in conduct.both]
    if first and last.name not in conduct.both:
        text = f"{_titled(first[0])} and {text}"
    return text


def _titled(action: GroundAction) -> str:
    wording = load_wording().actions.get(action.name)
    return wording.title.fill(action.args) if wording is not None else ""


def _used(tool: str, gained: Sequence[Atom], uses: Sequence[UseName]) -> str:
    """Name what using a thing has done, by its most telling change; empty if by none."""
    for use in uses:
        names = [
            a.args[0] for a in gained if a.predicate == use.predicate and a.args[1:] == use.rest
        ]
        if names:
            return use.title.fill((" and ".join(sorted(names)), tool))
    return ""
