"""Ground operators over fluents that are bits, their mutexes, and smaller equivalent problems."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hvr.pddl import GroundAction
from hvr.pddl.state import set_bits

# Operators ----------------------------------------------------------------------------------------
# Ground operators over fluents that are bits: what is handed from task to search problem.


@dataclass(frozen=True, slots=True)
class Literals:
    """A conjunction: fluents that must be true and fluents that must be false, as bits."""

    true: int = 0
    false: int = 0

    @property
    def all(self) -> int:
        """The fluents it speaks of."""
        return self.true | self.false

    def holds(self, state: int) -> bool:
        """Say whether it is true in a state."""
        return not (self.true & ~state or self.false & state)

    def implies(self, other: Literals) -> bool:
        """Say whether `other` is a part of this."""
        return not (other.true & ~self.true or other.false & ~self.false)

    def __and__(self, other: Literals) -> Literals:
        return Literals(self.true | other.true, self.false | other.false)


@dataclass(frozen=True, slots=True)
class ActionChoice:
    """An action for a step of an operator, to be taken when its precondition holds."""

    action: GroundAction
    precondition: Literals


_COMPARED = 500
"""Comparing each conjunction with each takes quadratic time; to keep some too many does no harm."""

bits = set_bits
"""The positions of the set bits, lowest first."""

Conditional = tuple[Literals, int, int]
"""A conditional effect: (condition, add, delete)."""


@dataclass(frozen=True, slots=True)
class GroundOperator:
    """What one or several actions in a row do, with a conjunctive precondition.

    Args:
        steps: for each action in the row the choices for it, of which one is applicable.
        precondition: what must hold.
        add, delete: unconditional effects, as bits; no bit is in both.
        conditional: conditional effects; what is both deleted and added is true afterwards.
    """

    steps: tuple[tuple[ActionChoice, ...], ...]
    precondition: Literals
    add: int
    delete: int
    conditional: tuple[Conditional, ...] = ()

    @property
    def cost(self) -> int:
        """How many actions it stands for."""
        return len(self.steps)

    @property
    def reads(self) -> int:
        """The fluents that it looks at."""
        mask = self.precondition.all
        for condition, _, _ in self.conditional:
            mask |= condition.all
        return mask

    @property
    def writes(self) -> int:
        """The fluents that it may change."""
        mask = self.add | self.delete
        for _, add, delete in self.conditional:
            mask |= add | delete
        return mask

    def effects(self) -> Iterator[Conditional]:
        """Yield all effects with what must hold for each, the precondition included."""
        yield self.precondition, self.add, self.delete
        for condition, add, delete in self.conditional:
            yield self.precondition & condition, add, delete


GoalAlternatives = tuple[Literals, ...]
"""Alternatives of which one must hold; none: the goal cannot be reached."""


def minimal(conjunctions: Iterable[Literals]) -> list[Literals]:
    """Drop conjunctions that imply another one; of very many only doubles, to save time."""
    # Short ones first: a conjunction implies only such as have no more literals than it has.
    ordered = sorted(dict.fromkeys(conjunctions), key=lambda c: c.all.bit_count())
    if len(ordered) > _COMPARED:
        return ordered
    kept: list[Literals] = []
    for one in ordered:
        if not any(one.implies(other) for other in kept):
            kept.append(one)
    return kept


# Mutexes ------------------------------------------------------------------------------------------
# Fluents that are never true together, and what follows from them.
#
# Pairs are kept as a matrix of bits, one integer a row, so that what is true together with a whole
# precondition is the intersection of a few rows.

CompatibleFluents = dict[int, int]
"""For each fluent the fluents, as bits, that may be true together with it (itself included)."""


def mutexes(initial: int, operators: Sequence[GroundOperator], fluents: int) -> CompatibleFluents:
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


def partners(together: CompatibleFluents, needs: int) -> int | None:
    """Return what may be true where all of `needs` is; None where they cannot all be true."""
    common = -1
    for bit in bits(needs):
        common &= together[bit]
    return None if needs & ~common else common


def _join(together: CompatibleFluents, added: int, others: int) -> bool:
    changed = False
    for bit in bits(added):
        fresh = (others | 1 << bit) & ~together[bit]
        if fresh:
            changed = True
            together[bit] |= fresh
            for other in bits(fresh):
                together[other] |= 1 << bit
    return changed


def simplify(
    operators: Sequence[GroundOperator], together: CompatibleFluents
) -> list[GroundOperator]:
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


def _simplified(operator: GroundOperator, together: CompatibleFluents) -> GroundOperator | None:
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
    operators: Sequence[GroundOperator],
    goals: GoalAlternatives,
    fluents: int,
    together: CompatibleFluents,
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


def _most_exclusive(candidates: int, exclusive: CompatibleFluents) -> int:
    return max(bits(candidates), key=lambda bit: ((exclusive[bit] & candidates).bit_count(), -bit))


# Reduction ----------------------------------------------------------------------------------------
# Smaller search problems with shortest plans of the same length.
#
# Each function keeps the length of a shortest plan and keeps every operator's steps usable: a
# plan of the smaller problem is carried out by taking, at each step, a choice that is
# applicable (`hvr.planning.search.ground.plan_actions`). Each docstring gives the reason. Together
# they make the state space of a kitchen task tens of times smaller.

Fluents = Mapping[int, int]
"""A fluent for each fluent."""


def merge_twins(
    initial: int, operators: Sequence[GroundOperator], goals: GoalAlternatives, fluents: int
) -> tuple[list[GroundOperator], GoalAlternatives, int]:
    """Keep one of fluents that start alike and that every effect changes alike.

    They have the same value in every reachable state, so one may be read for the other.

    Returns:
        the operators, the goals, and the fluents that are left.
    """
    # By induction over the steps: alike at the start, and changed alike by whatever happens. What
    # an effect does to a fluent is its number and whether it adds.
    changes: dict[int, list[tuple[int, bool]]] = {bit: [] for bit in bits(fluents)}
    effects = [(operator.add, operator.delete) for operator in operators]
    effects += [(a, d & ~a) for operator in operators for _, a, d in operator.conditional]
    for number, (add, delete) in enumerate(effects):
        for bit in bits(add & fluents):
            changes[bit].append((number, True))
        for bit in bits(delete & fluents):
            changes[bit].append((number, False))
    first: dict[Hashable, int] = {}
    kept = {
        bit: first.setdefault((initial >> bit & 1, tuple(history)), bit)
        for bit, history in changes.items()
    }
    smaller = [_renamed(operator, kept) for operator in operators]
    return smaller, tuple(_literals(goal, kept) for goal in goals), _mask(fluents, kept)


def forget_dead(
    initial: int,
    operators: Sequence[GroundOperator],
    goals: GoalAlternatives,
    together: CompatibleFluents,
) -> tuple[int, list[GroundOperator]]:
    """Make fluents false where their value cannot matter.

    A fluent f is dead while g is true when whatever reads f excludes g, and what deletes g
    sets f. Then two states with g that differ in f allow the same plans, and the one in which
    f is false may stand for both. (What a robot holds is no longer near it, say.)

    Returns:
        the initial state and the operators.
    """
    # For each f the g while which it is dead, at first all that are ever true with it.
    fluents = sum(1 << bit for bit, others in together.items() if others)
    dead = {bit: together[bit] & fluents & ~(1 << bit) for bit in bits(fluents)}
    # Not those that may be true when f is read …
    effects = [needs for operator in operators for needs, _, _ in operator.effects()]
    for needs in (*goals, *effects):
        may = partners(together, needs.true)
        for bit in bits(needs.all & fluents):
            dead[bit] &= ~may if may is not None else -1
    # … nor those that may cease to be true while f keeps its value, which would matter again.
    for operator in operators:
        sets, deletes = operator.add | operator.delete, _deletes(operator)
        for bit in dead:
            if not sets >> bit & 1:
                dead[bit] &= ~deletes
    # No g may be forgotten itself: it must become false only where an operator deletes it, since
    # it is those that were seen to set f.
    mortal = sum(1 << bit for bit, while_ in dead.items() if while_)
    dead = {bit: while_ & ~mortal for bit, while_ in dead.items() if while_ & ~mortal}

    def buried(true: int) -> int:
        return sum(1 << bit for bit, while_ in dead.items() if while_ & true)

    # An operator makes false what is dead by what is surely true after it. Where g is true and the
    # operator does not say so, f keeps its value: correct, if not as small as could be.
    smaller = []
    for operator in operators:
        after = buried(operator.precondition.true & ~_deletes(operator) | operator.add)
        conditional = tuple(
            (condition, add & ~(after | buried(add)), delete & ~after | buried(add) & ~after)
            for condition, add, delete in operator.conditional
        )
        add, delete = operator.add & ~after, operator.delete | after
        smaller.append(
            GroundOperator(operator.steps, operator.precondition, add, delete, conditional)
        )
    return initial & ~buried(initial), smaller


def _deletes(operator: GroundOperator) -> int:
    mask = operator.delete
    for _, _, less in operator.conditional:
        mask |= less
    return mask


def merge_interchangeable(
    initial: int,
    operators: Sequence[GroundOperator],
    goals: GoalAlternatives,
    groups: Iterable[Sequence[int]],
) -> tuple[int, list[GroundOperator], GoalAlternatives]:
    """Merge fluents, of which one at most is true, when it does not matter which one.

    Fluents of a class are interchangeable when each operator that reads one of them has, for
    each other one, a twin that reads that instead, reads the rest alike, and does the same up
    to the classes. (So it does not matter on which worktop a knife lies, unless the goal says
    so.) The classes are the coarsest such partition within the groups, found by refinement; states
    that are equal up to the classes are then bisimilar (Milner 1990), and one class may stand
    as one fluent.

    Args:
        initial: the initial state.
        operators: the operators.
        goals: the goals.
        groups: of mutually exclusive fluents; they cover all fluents.

    Returns:
        the initial state, operators and goals in terms of one fluent for each class.
    """
    # Classes only ever split, so that none has split when there are as many as before.
    classes = {bit: group[0] for group in groups for bit in group}
    count = 0
    while count != len(set(classes.values())):
        count = len(set(classes.values()))
        roles = _roles(operators, goals, classes)
        first: dict[Hashable, int] = {}
        classes = {
            bit: first.setdefault((classes[bit], frozenset(roles[bit])), bit) for bit in classes
        }
    merged: dict[Hashable, GroundOperator] = {}
    for operator in operators:
        renamed = _renamed(operator, classes)
        key = renamed.precondition, renamed.add, renamed.delete, renamed.conditional
        known = merged.get(key)
        if known is not None:
            choices = dict.fromkeys((*known.steps[0], *renamed.steps[0]))
            renamed = GroundOperator((tuple(choices),), *key)
        merged[key] = renamed
    fewer = tuple(dict.fromkeys(_literals(goal, classes) for goal in goals))
    return _mask(initial, classes), list(merged.values()), fewer


def _roles(
    operators: Sequence[GroundOperator], goals: GoalAlternatives, classes: Fluents
) -> dict[int, set[Hashable]]:
    """Return the roles of each fluent, with effects up to the classes, the rest literally."""
    # Roles in preconditions do not name the operator, because the twin that another fluent has is
    # another operator. Where a fluent is only deleted, or read by a condition of an effect, there
    # is no twin: the same operator has to treat the others alike. Fluents that must be false are
    # alone in their group and need no role.
    roles: dict[int, set[Hashable]] = {bit: set() for bit in classes}
    for number, operator in enumerate(operators):
        needs = operator.precondition
        add = _mask(operator.add, classes)
        delete = _mask(operator.delete, classes) & ~add
        conditional = tuple(
            (condition, _mask(more, classes), _mask(less, classes))
            for condition, more, less in operator.conditional
        )
        for bit in bits(needs.true):
            rest = needs.true & ~(1 << bit)
            roles[bit].add((rest, needs.false, add, delete, conditional))
        for bit in bits(operator.delete & ~needs.true):
            roles[bit].add((number,))
        for condition, more, less in operator.conditional:
            for bit in bits(condition.true):
                rest = condition.true & ~(1 << bit)
                effect = _mask(more, classes), _mask(less, classes)
                roles[bit].add((number, rest, condition.false, effect))
            for bit in bits(less & ~needs.true & ~condition.true):
                roles[bit].add((number, condition))
    for goal in goals:
        for bit in bits(goal.true):
            roles[bit].add((goal.true & ~(1 << bit), goal.false))
    return roles


def fuse(
    operators: Sequence[GroundOperator], goals: GoalAlternatives, together: CompatibleFluents
) -> list[GroundOperator]:
    """Join actions that only prepare for the next one to that one.

    Let R be the operators of one action such that r; r' has, for r and r' in R, the effects of
    r', and no effect of R is part of a goal: going somewhere, say. No shortest plan has two of R
    in a row or ends with one. Nor need r come before an operator that neither depends on it
    nor interferes with it: it can be moved behind that, until it meets one that does. So
    each r can be joined to what follows it, as a macro operator that costs both, and R itself
    left out.
    """
    by_action: dict[str, list[GroundOperator]] = {}
    for operator in operators:
        by_action.setdefault(operator.steps[0][0].action.name, []).append(operator)
    for name, preparing in by_action.items():
        if _overwrite_each_other(preparing, goals, together):
            others = [o for n, same in by_action.items() if n != name for o in same]
            pairs = (_joined(first, second) for first in preparing for second in others)
            macros = [macro for macro in pairs if macro is not None]
            # Within one operator an add wins, so that it cannot express that the second action
            # deletes, on a condition, what the first one has added.
            if not any(less & m.add for m in macros for _, _, less in m.conditional):
                return others + macros
    return list(operators)


def _overwrite_each_other(
    preparing: Sequence[GroundOperator], goals: GoalAlternatives, together: CompatibleFluents
) -> bool:
    wanted = unwanted = written = added = deleted = 0
    for goal in goals:
        wanted |= goal.true
        unwanted |= goal.false
    # r' writes all that R writes, except for what cannot be true when r' is applicable, so that
    # nothing of r is left after it; and it needs nothing that R brings about, so that r can go.
    for operator in preparing:
        if operator.conditional or operator.cost > 1:
            return False
        written |= operator.writes
        added |= operator.add
        deleted |= operator.delete
    if wanted & added or unwanted & deleted:
        return False
    for operator in preparing:
        needs = operator.precondition
        may = partners(together, needs.true)
        if needs.true & added or needs.false & deleted or may is None:
            return False
        if written & ~operator.writes & may:
            return False
    return True


def _joined(first: GroundOperator, second: GroundOperator) -> GroundOperator | None:
    """Join two operators in a row; None when that is impossible or need not be done."""
    after = Literals(first.add, first.delete)
    rest = _regressed(second.precondition, after)
    if rest is None:
        return None
    independent = not (second.reads | second.writes) & first.writes
    if independent and not second.writes & first.reads:
        return None
    needs = first.precondition & rest
    if needs.true & needs.false:
        return None
    conditional: list[Conditional] = []
    for condition, more, less in second.conditional:
        before = _regressed(condition, after)
        if before is not None:
            conditional.append((before, more, less & ~second.add))
    add = second.add | first.add & ~second.delete
    delete = (first.delete | second.delete) & ~add
    return GroundOperator(first.steps + second.steps, needs, add, delete, tuple(conditional))


def _regressed(condition: Literals, after: Literals) -> Literals | None:
    if condition.true & after.false or condition.false & after.true:
        return None
    return Literals(condition.true & ~after.true, condition.false & ~after.false)


def _renamed(operator: GroundOperator, names: Fluents) -> GroundOperator:
    add = _mask(operator.add, names)
    conditional: dict[Conditional, None] = {}
    for condition, more, less in operator.conditional:
        changed = _mask(more, names)
        effect = _literals(condition, names), changed, _mask(less, names) & ~changed
        conditional[effect] = None
    return GroundOperator(
        operator.steps,
        _literals(operator.precondition, names),
        add,
        _mask(operator.delete, names) & ~add,
        tuple(conditional),
    )


def _literals(literals: Literals, names: Fluents) -> Literals:
    return Literals(_mask(literals.true, names), _mask(literals.false, names))


def _mask(mask: int, names: Fluents) -> int:
    result = 0
    for bit in bits(mask):
        result |= 1 << names[bit]
    return result
