"""The conditions of a block as its execution shows them.

Before: what its actions need and do not bring about themselves, and what makes its effects
come about. After: what it changes for good. Bystanders are left out: that other things in the
fridge are chilled when its door is closed says nothing about what the block is for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hvr.pddl import Atom, GroundAction, Task
from hvr.planning.library.explain import BlockTrace, Support
from hvr.planning.library.literals import Literal, literal_text
from hvr.planning.library.words import natural

FLEETING = "near"
"""The predicate that is never the purpose of a block: the next navigation makes it false."""


@dataclass(frozen=True)
class BlockConditions:
    """Ground conditions of a block.

    Args:
        needs: literals that must hold before, static facts included.
        effects: literals that it changes for good.
        objects: the objects of its steps, then others in its conditions.
        fluent: the predicates that change at all.
    """

    needs: tuple[Literal, ...]
    effects: tuple[Literal, ...]
    objects: tuple[str, ...]
    fluent: frozenset[str]

    def precondition(self) -> tuple[str, ...]:
        """Return the precondition as PDDL, without static facts."""
        return tuple(literal_text(n) for n in self.needs if n[0].predicate in self.fluent)

    def postcondition(self) -> tuple[str, ...]:
        """Return the postcondition as PDDL."""
        return tuple(literal_text(e) for e in self.effects)


def conditions_of(
    task: Task,
    facts: frozenset[Atom],
    actions: Sequence[GroundAction],
    named: Iterable[str] = (),
) -> BlockConditions:
    """Return the conditions of a block, computed from what it does in a situation.

    Args:
        task: the task.
        facts: what is true before the block, static facts included.
        actions: the block; it must be executable.
        named: objects that the block is about although no step names them, such as the food
            in a microwave that is switched on.

    Raises:
        UsageError: an action cannot be executed.
        UnknownObjectError, PddlSemanticError: an action does not fit the task.
    """
    run = BlockTrace(task, facts, tuple(actions))
    constants = {c.name for c in task.domain.constants}
    core = dict.fromkeys(a for action in actions for a in action.args)
    changed = {a for atom in run.after ^ run.before for a in atom.args}
    core.update(dict.fromkeys(n for n in named if n in changed))
    needs = set(run.needs())
    linked = {a for atom, positive in needs if positive for a in atom.args}
    changes = [
        *((atom, True) for atom in run.after - run.before),
        *((atom, False) for atom in run.before - run.after),
    ]
    changes = sorted((c for c in changes if c[0].predicate != FLEETING), key=_order)
    causes = {c: run.causes(c) for c in changes}
    about = {*core, *linked, *constants}
    tied = _representatives(task, _tied(task, changes, causes, about), changes, about)
    about |= tied
    kept = [c for c in changes if about.issuperset(c[0].args)]
    for change in kept:
        needs |= causes[change]
    positive = {a for atom, wanted in needs if wanted for a in atom.args}
    objects = (about & {a for atom, _ in kept for a in atom.args}) | positive | set(core)
    needs = {n for n in needs if n[1] or _says_something(n, set(core), objects | constants)}
    rest = sorted(objects - set(core) - constants, key=natural)
    return BlockConditions(
        tuple(sorted(needs, key=_order)),
        tuple(kept),
        (*(c for c in core if c not in constants), *rest),
        frozenset(task.fluent_predicates),
    )


def _says_something(literal: Literal, core: set[str], known: set[str]) -> bool:
    """Return whether a negative literal is about the block, not about what is not in its way."""
    args = literal[0].args
    if len(args) < 2:
        return known.issuperset(args)
    return core.issuperset(args) and len(set(args)) == len(args)


def _tied(
    task: Task, changes: Iterable[Literal], causes: dict[Literal, Support], about: set[str]
) -> set[str]:
    """Return the objects that static facts tie to those of the block: pieces of what is sliced."""
    tied: set[str] = set()
    for change in changes:
        for other in set(change[0].args) - about:
            if any(
                positive
                and task.is_static(atom.predicate)
                and other in atom.args
                and not about.isdisjoint(atom.args)
                and about.issuperset(set(atom.args) - {other})
                for atom, positive in causes[change]
            ):
                tied.add(other)
    return tied


def _representatives(
    task: Task, tied: set[str], changes: Sequence[Literal], about: set[str]
) -> set[str]:
    """Return one for each kind of change among tied objects; none where the block has such a one.

    Slicing makes all pieces of a tomato; the block needs one, and how many there are differs from
    kitchen to kitchen.
    """

    def shape(name: str) -> tuple[object, ...]:
        mine = [
            (atom.predicate, tuple("*" if a == name else a for a in atom.args), positive)
            for atom, positive in changes
            if name in atom.args
        ]
        return task.objects[name], tuple(sorted(mine))

    seen = {shape(name) for name in about if name in task.objects}
    kept = set()
    for name in sorted(tied, key=natural):
        key = shape(name)
        if key not in seen:
            seen.add(key)
            kept.add(name)
    return kept


def _order(literal: Literal) -> tuple[str, tuple[tuple[str, int, str], ...], bool]:
    atom, positive = literal
    return atom.predicate, tuple(natural(a) for a in atom.args), not positive
