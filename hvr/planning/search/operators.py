"""Ground operators over bit sets, their mutexes, and reductions of the search problem."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hvr.pddl import GroundAction
from hvr.pddl.state import Conjunction, set_bits

# Operators ----------------------------------------------------------------------------------------
# Ground operators over fluents that are bits: the search problem's representation of actions.


@dataclass(frozen=True, slots=True)
class Literals:
    """A conjunction, as masks of the fluents that must be true and that must be false."""

    true: int = 0
    false: int = 0

    @property
    def all(self) -> int:
        return self.true | self.false

    def holds(self, state: int) -> bool:
        return not (self.true & ~state or self.false & state)

    def implies(self, other: Literals) -> bool:
        return not (other.true & ~self.true or other.false & ~self.false)

    def __and__(self, other: Literals) -> Literals:
        return Literals(self.true | other.true, self.false | other.false)


@dataclass(frozen=True, slots=True)
class ActionChoice:
    """An action that a step of an operator performs in states where `precondition` holds."""

    action: GroundAction
    precondition: Literals | Conjunction


_COMPARED = 500
"""Maximum number of conjunctions to compare pairwise; keeping redundant ones is harmless."""

bits = set_bits
"""Yield the positions of the set bits in ascending order."""

Conditional = tuple[Literals, int, int]
"""A conditional effect: (condition, add, delete)."""


@dataclass(frozen=True, slots=True)
class GroundOperator:
    """One action or a sequence of actions as an operator with a conjunctive precondition.

    Args:
        steps: For each action in the sequence, its alternatives; at least one is applicable.
            Auxiliary operators have no steps.
        add, delete: Unconditional effects, as disjoint masks.
        conditional: Conditional effects; a fluent both deleted and added is true afterwards.
    """

    steps: tuple[tuple[ActionChoice, ...], ...]
    precondition: Literals
    add: int
    delete: int
    conditional: tuple[Conditional, ...] = ()

    @property
    def cost(self) -> int:
        return len(self.steps)

    @property
    def reads(self) -> int:
        mask = self.precondition.all
        for condition, _, _ in self.conditional:
            mask |= condition.all
        return mask

    @property
    def writes(self) -> int:
        mask = self.add | self.delete
        for _, add, delete in self.conditional:
            mask |= add | delete
        return mask

    def effects(self) -> Iterator[Conditional]:
        """Yield all effects, with the precondition added to each condition."""
        yield self.precondition, self.add, self.delete
        for condition, add, delete in self.conditional:
            yield self.precondition & condition, add, delete


GoalAlternatives = tuple[Literals, ...]
"""Alternative goals; with none, the goal is unreachable."""


def minimal(conjunctions: Iterable[Literals]) -> list[Literals]:
    """Drop conjunctions that imply another conjunction. In long lists, drop only duplicates."""
    # Shortest first: a conjunction implies only conjunctions with at most as many literals.
    ordered = sorted(dict.fromkeys(conjunctions), key=lambda c: c.all.bit_count())
    if len(ordered) > _COMPARED:
        return ordered
    kept: list[Literals] = []
    for one in ordered:
        if not any(one.implies(other) for other in kept):
            kept.append(one)
    return kept


# Mutexes ------------------------------------------------------------------------------------------
# Pairs of fluents that are never true together, and simplifications that follow from them.
#
# The pairs are a bit matrix with one integer per row, so that the fluents compatible with a whole
# precondition are the intersection of a few rows.

CompatibleFluents = dict[int, int]
"""For each fluent, the mask of fluents that may be true together with it, including itself."""


def mutexes(initial: int, operators: Sequence[GroundOperator], fluents: int) -> CompatibleFluents:
    """Return, for each fluent, the mask of the fluents that may be true at the same time.

    This is the h2 fixpoint over positive preconditions (Haslum & Geffner 2000). Pairs that it does
    not reach are mutually exclusive in every reachable state.
    """
    together = {bit: (initial if initial >> bit & 1 else 0) for bit in bits(fluents)}
    # Each conditional effect is considered alone, together with the unconditional effects.
    # Deletes of other conditional effects are ignored, which may miss a mutex but never invents
    # one.
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
        # Fluents that have been true: an empty precondition is compatible with all of them.
        ever = sum(1 << bit for bit, others in together.items() if others)
        for case, (number, needs, add, delete, last) in enumerate(cases):
            others = partners(together, needs)
            # A case yields new pairs only if its precondition has become compatible with more
            # fluents.
            if others is None or others & ever == seen[case]:
                continue
            seen[case] = others & ever
            changed |= _join(together, add, others & ever & ~delete | add)
            # Several conditional effects of an operator may happen together.
            happening[number] |= last
            changed |= _join(together, last, happening[number])
    return together


def partners(together: CompatibleFluents, needs: int) -> int | None:
    """Return the fluents that may be true with all of `needs`; None if these exclude each other."""
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
    """Drop operators and literals that mutexes prove impossible, implied or without effect.

    Among operators with equal effects and cost, only operators with minimal preconditions are kept;
    they can replace the others in every plan.
    """
    groups: dict[object, dict[Literals, GroundOperator]] = {}
    for operator in operators:
        simple = _simplified(operator, together)
        if simple is not None:
            effects = simple.add, simple.delete, simple.conditional, simple.cost
            groups.setdefault(effects, {}).setdefault(simple.precondition, simple)
    return [group[needs] for group in groups.values() for needs in minimal(group)]


def _simplified(operator: GroundOperator, together: CompatibleFluents) -> GroundOperator | None:
    may = partners(together, operator.precondition.true)
    if may is None:
        return None
    # Fluents excluded by the positive preconditions are false anyway. Fewer negative
    # preconditions mean larger variables, because such fluents stay alone (see `groups`).
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
    # Adding a fluent of the effect's own condition changes nothing, unless another effect deletes
    # it.
    undone = delete
    for _, _, less in conditional:
        undone |= less
    conditional = tuple(
        (condition, more & ~(condition.true & ~undone), less)
        for condition, more, less in conditional
        if more & ~(condition.true & ~undone) or less
    )
    # In this order, because an add wins over a delete even if the fluent was true before.
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
    """Cover the fluents greedily by groups of mutually exclusive fluents.

    Each group becomes a variable of the search. Few large groups shorten states and inform
    landmarks and heuristics; an optimal cover is not worth its cost. A fluent with a negative
    condition stays alone, because SAS+ cannot express that a larger variable does not have a value.
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
# Reductions that keep the length of a shortest plan; each docstring gives the argument. A plan of
# the reduced problem is executed by taking, at each step, an applicable alternative
# (`hvr.planning.search.ground.plan_actions`). Together they make the state space of a kitchen task
# dozens of times smaller.

Fluents = Mapping[int, int]
"""A mapping of fluents to their representatives."""


def merge_twins(
    initial: int, operators: Sequence[GroundOperator], goals: GoalAlternatives, fluents: int
) -> tuple[list[GroundOperator], GoalAlternatives, int]:
    """Merge fluents with equal initial values that every effect changes equally into one of them.

    Such fluents have equal values in every reachable state, so each can replace the others. The
    result is the operators, the goals and the mask of the remaining fluents.
    """
    # By induction over the steps. A fluent's history lists the effects that change it, and
    # whether they add.
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
    """Make fluents false where their values do not matter; return the initial state and operators.

    A fluent f is dead while g is true if every condition on f excludes g, and every operator that
    deletes g sets f. Two states with g that differ only in f then allow the same plans, and the
    state without f represents both. For example, an object in the hand need not be "near".
    """
    dead_with: dict[int, int] = {}
    for bit, while_ in _dead_fluents(operators, goals, together).items():
        for other in bits(while_):
            dead_with[other] = dead_with.get(other, 0) | 1 << bit
    decisive = sum(1 << bit for bit in dead_with)

    def dead_given(true: int) -> int:
        found = 0
        for bit in bits(true & decisive):
            found |= dead_with[bit]
        return found

    # Each operator deletes the fluents that are dead given what is certainly true after it. Where
    # g is true but not certain, f keeps its value, which is correct but not minimal.
    smaller = []
    for operator in operators:
        after = dead_given(operator.precondition.true & ~_deletes(operator) | operator.add)
        conditional = tuple(
            (
                condition,
                add & ~(after | dead_given(add)),
                delete & ~after | dead_given(add) & ~after,
            )
            for condition, add, delete in operator.conditional
        )
        add, delete = operator.add & ~after, operator.delete | after
        smaller.append(
            GroundOperator(operator.steps, operator.precondition, add, delete, conditional)
        )
    return initial & ~dead_given(initial), smaller


def _dead_fluents(
    operators: Sequence[GroundOperator], goals: GoalAlternatives, together: CompatibleFluents
) -> dict[int, int]:
    # For each f, the candidates g; initially all fluents compatible with it.
    fluents = sum(1 << bit for bit, others in together.items() if others)
    dead = {bit: together[bit] & fluents & ~(1 << bit) for bit in bits(fluents)}
    # Remove each g that may be true when f is read …
    effects = [needs for operator in operators for needs, _, _ in operator.effects()]
    for needs in (*goals, *effects):
        may = partners(together, needs.true)
        for bit in bits(needs.all & fluents):
            dead[bit] &= ~may if may is not None else -1
    # … and each g that may be deleted while f keeps its value, because f would then matter.
    # Many operators delete the same fluents: for these, only what all of them set counts.
    always_set: dict[int, int] = {}
    for operator in operators:
        deletes = _deletes(operator)
        always_set[deletes] = always_set.get(deletes, -1) & (operator.add | operator.delete)
    for deletes, sets in always_set.items():
        for bit in dead:
            if not sets >> bit & 1:
                dead[bit] &= ~deletes
    # No g may be forgotten itself: the argument requires that only the operators checked above
    # delete it.
    forgettable = sum(1 << bit for bit, while_ in dead.items() if while_)
    return {bit: while_ & ~forgettable for bit, while_ in dead.items() if while_ & ~forgettable}


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
    """Merge mutually exclusive fluents if it does not matter which of them is true.

    Fluents of a class are interchangeable if every operator that reads one of them has a twin for
    each of the others: it reads that fluent instead, and is otherwise equal up to the classes. For
    example, it does not matter on which worktop a knife lies unless the goal names the worktop. The
    classes are the coarsest such partition within the groups, found by refinement. States that are
    equal up to the classes are bisimilar (Milner 1990), so one fluent can represent a class.

    Args:
        groups: Groups of mutually exclusive fluents that cover all fluents.

    Returns:
        The initial state, operators and goals with one fluent per class.
    """
    # Refinement only splits classes, and it is done when their number stops growing.
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
        if known is not None and known.steps:
            choices = dict.fromkeys((*known.steps[0], *renamed.steps[0]))
            renamed = GroundOperator((tuple(choices),), *key)
        merged[key] = renamed
    fewer = tuple(dict.fromkeys(_literals(goal, classes) for goal in goals))
    return _mask(initial, classes), list(merged.values()), fewer


def _roles(
    operators: Sequence[GroundOperator], goals: GoalAlternatives, classes: Fluents
) -> dict[int, set[Hashable]]:
    # Roles in preconditions do not identify the operator, because another fluent's twin is
    # another operator. A fluent that is only deleted, or read by a conditional effect, has no
    # twin: the same operator must treat the whole class equally. Negative conditions need no role,
    # because their fluents are alone in their groups.
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
    """Fuse actions that only prepare the next action with that action.

    Let R be the operators of one action such that, for all r and r' in R, r; r' has the effects of
    r', and no effect of R is part of a goal; for example, navigation. No shortest plan has two
    operators of R in a row or ends with one. An operator r that neither enables the next operator
    nor interferes with it can be moved behind it. So each r can be fused with the operators that it
    enables into macro operators with the cost of both, and R itself can be dropped. Without such an
    action, the operators are returned unchanged.
    """
    by_action: dict[str, list[GroundOperator]] = {}
    for operator in operators:
        name = operator.steps[0][0].action.name if operator.steps else ""
        by_action.setdefault(name, []).append(operator)
    for name, preparing in by_action.items():
        if name and _overwrite_each_other(preparing, goals, together):
            others = [o for n, same in by_action.items() if n != name for o in same]
            needs = [(o.precondition.true, o.precondition.false, o) for o in others]
            # Most pairs exclude each other, so this test comes first and creates no objects.
            pairs = (
                _joined(first, second)
                for first in preparing
                for true, false, second in needs
                if not (true & first.delete or false & first.add)
            )
            macros = [macro for macro in pairs if macro is not None]
            # Within one operator an add wins, so it cannot express that the second action
            # conditionally deletes what the first one added.
            if not any(less & m.add for m in macros for _, _, less in m.conditional):
                return others + macros
    return list(operators)


def _overwrite_each_other(
    preparing: Sequence[GroundOperator], goals: GoalAlternatives, together: CompatibleFluents
) -> bool:
    positive = negative = written = added = deleted = 0
    for goal in goals:
        positive |= goal.true
        negative |= goal.false
    # r' must write everything that R writes, except what is false anyway when r' is applicable,
    # so that no effect of r remains. It must not need an effect of R, so that r can be dropped.
    for operator in preparing:
        if operator.conditional or operator.cost > 1:
            return False
        written |= operator.writes
        added |= operator.add
        deleted |= operator.delete
    if positive & added or negative & deleted:
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
