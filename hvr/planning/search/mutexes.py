"""Fluents that are never true together, and what follows from them.

Pairs are kept as a matrix of bits, one integer a row, so that what is true together with a whole
precondition is the intersection of a few rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from hvr.planning.search.operators import (
    Conditional,
    Goals,
    GroundOperator,
    Literals,
    bits,
    minimal,
)

Together = dict[int, int]
"""For each fluent the fluents, as bits, that may be true together with it (itself included)."""


def mutexes(initial: int, operators: Sequence[GroundOperator], fluents: int) -> Together:
    """Find, for each fluent, the fluents that can be true together with it.

    The h2 fixpoint over positive preconditions (Haslum & Geffner 2000), from below: pairs that
    it does not reach are mutually exclusive in every reachable state.
    """
    together = {bit: (initial if initial >> bit & 1 else 0) for bit in bits(fluents)}
    # Conditional effects are looked at one by one, each together with the unconditional ones. What
    # others of them delete is left aside: a mutex may be missed by it, but none is made up.
    cases = [
        (number, needs.true, operator.add | add, operator.delete | delete, add)
        for number, operator in enumerate(operators)
        for needs, add, delete in operator.effects()
    ]
    seen: list[int | None] = [None] * len(cases)
    happening = [0] * len(operators)
    changed = True
    while changed:
        changed = False
        # Fluents that were true at some time, since an empty precondition excludes nothing.
        ever = sum(1 << bit for bit, others in together.items() if others)
        for case, (number, needs, add, delete, last) in enumerate(cases):
            others = partners(together, needs)
            # A case yields more only when more can be true with its precondition.
            if others is None or others & ever == seen[case]:
                continue
            seen[case] = others & ever
            changed |= _join(together, add, others & ever & ~delete | add)
            # Effects of several conditions may come together.
            happening[number] |= last
            changed |= _join(together, last, happening[number])
    return together


def partners(together: Together, needs: int) -> int | None:
    """Return what may be true where all of `needs` is; None where they cannot all be true."""
    common = -1
    for bit in bits(needs):
        common &= together[bit]
    return None if needs & ~common else common


def _join(together: Together, added: int, others: int) -> bool:
    changed = False
    for bit in bits(added):
        fresh = (others | 1 << bit) & ~together[bit]
        if fresh:
            changed = True
            together[bit] |= fresh
            for other in bits(fresh):
                together[other] |= 1 << bit
    return changed


def simplify(operators: Sequence[GroundOperator], together: Together) -> list[GroundOperator]:
    """Drop what mutexes show to be impossible, implied or without effect.

    Of operators with the same effects and cost only those with minimal preconditions stay: the
    others can be replaced by them in every plan.
    """
    groups: dict[object, dict[Literals, GroundOperator]] = {}
    for operator in operators:
        simple = _simplified(operator, together)
        if simple is not None:
            effects = simple.add, simple.delete, simple.conditional, simple.cost
            groups.setdefault(effects, {}).setdefault(simple.precondition, simple)
    return [group[needs] for group in groups.values() for needs in minimal(group)]


def _simplified(operator: GroundOperator, together: Together) -> GroundOperator | None:
    """Return the operator in its simplest form, or None when it never changes anything."""
    may = partners(together, operator.precondition.true)
    if may is None:
        return None
    # What excludes the rest of the precondition is false anyway. To have fewer fluents that must
    # be false is worth much: each stays alone in its variable (see `groups`).
    needs = Literals(operator.precondition.true, operator.precondition.false & may)
    add, delete = operator.add, operator.delete
    undecided: list[Conditional] = []
    for condition, more, less in operator.conditional:
        both = needs & condition
        may_both = partners(together, both.true)
        if may_both is None or both.true & both.false:
            continue
        rest = Literals(condition.true & ~needs.true, condition.false & ~needs.false & may_both)
        if rest.all:
            undecided.append((rest, more, less & may_both & ~more))
        else:
            add, delete = add | more, delete | less
    conditional = tuple(
        (condition, more & ~add, less & ~add & ~delete)
        for condition, more, less in undecided
        if more & ~add or less & ~add & ~delete
    )
    # To add what its condition demands changes nothing, unless another effect deletes it.
    undone = delete
    for _, _, less in conditional:
        undone |= less
    conditional = tuple(
        (condition, more & ~(condition.true & ~undone), less)
        for condition, more, less in conditional
        if more & ~(condition.true & ~undone) or less
    )
    # In this order: an add wins over a delete even where the fluent is true before.
    delete &= may & ~needs.false & ~add
    add &= ~needs.true
    if not (add or delete or conditional):
        return None
    return GroundOperator(operator.steps, needs, add, delete, conditional)


def groups(
    operators: Sequence[GroundOperator], goals: Goals, fluents: int, together: Together
) -> tuple[tuple[int, ...], ...]:
    """Cover the fluents greedily by groups of mutually exclusive ones.

    Each group becomes a variable of the search, so few large ones make states short and tell
    landmarks and heuristics what excludes what; the smallest cover is not worth its search. A
    fluent that something needs to be false stays alone: the format cannot express "not this value"
    of a variable with several.
    """
    alone = 0
    for goal in goals:
        alone |= goal.false
    for operator in operators:
        for needs, _, _ in operator.effects():
            alone |= needs.false
    cover: list[tuple[int, ...]] = [(bit,) for bit in bits(alone & fluents)]
    left = fluents & ~alone
    exclusive = {bit: left & ~together[bit] for bit in bits(left)}
    while left:
        group = 0
        candidates = left
        while candidates:
            bit = _most_exclusive(candidates, exclusive)
            group |= 1 << bit
            candidates &= exclusive[bit] & ~(1 << bit)
        cover.append(tuple(bits(group)))
        left &= ~group
    return tuple(cover)


def _most_exclusive(candidates: int, exclusive: Together) -> int:
    return max(bits(candidates), key=lambda bit: ((exclusive[bit] & candidates).bit_count(), -bit))
