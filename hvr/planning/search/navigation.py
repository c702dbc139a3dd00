"""The navigation heuristic, derived from the PDDL domain.

The paper (section 2.4, "Heuristic-based Plan Verification and Correction") inserts missing
navigation steps. A navigation action has one parameter and makes a predicate (nearness) true of it
and false of everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hvr.pddl import ActionSchema, Atom, Domain, Forall, GroundAction, Not, State, Task
from hvr.pddl.facts import conjuncts
from hvr.pddl.state import Operator
from hvr.pddl.task import binding_of
from hvr.validation.violations import unmet_literals
from hvr.values import Value

_MOST_ROUNDS = 10


class Navigation(Value):
    moves: tuple[tuple[str, str], ...]

    @property
    def actions(self) -> frozenset[str]:
        return frozenset(action for action, _ in self.moves)

    @property
    def predicates(self) -> frozenset[str]:
        return frozenset(predicate for _, predicate in self.moves)


def find_navigation(domain: Domain) -> Navigation | None:
    """Return the navigation actions of a domain, or None if there are none."""
    moves = [
        (schema.name, predicate)
        for schema in domain.actions.values()
        if (predicate := _nearness(schema)) is not None
    ]
    return Navigation(tuple(moves)) if moves else None


def _nearness(schema: ActionSchema) -> str | None:
    """Return the predicate that an action makes true of its parameter and nothing else, if any."""
    if len(schema.parameters) != 1:
        return None
    parameter = schema.parameters[0].name
    parts = list(conjuncts(schema.effect))
    added = [p.predicate for p in parts if isinstance(p, Atom) and p.args == (parameter,)]
    for part in parts:
        if not isinstance(part, Forall) or len(part.variables) != 1:
            continue
        variable = part.variables[0].name
        for inner in conjuncts(part.body):
            match inner:
                case Not(Atom(predicate, args)) if args == (variable,) and predicate in added:
                    return predicate
                case _:
                    pass
    return None


# One step -----------------------------------------------------------------------------------


def insert_navigation(
    task: Task, state: State, action: GroundAction, navigation: Navigation | None = None
) -> GroundAction | None:
    """Return the navigation action to insert before an action; None if none is needed or helps.

    Arguments are tried from last to first, because the last one usually names the place. Then their
    places are tried, because some objects cannot be approached. If no move makes the action
    applicable, the result is a move after which fewer literals are unmet and none of them is about
    nearness: navigation cannot satisfy the other literals.
    """
    navigation = navigation or find_navigation(task.domain)
    operator = task.try_ground(action)
    if navigation is None or not isinstance(operator, Operator):
        return None
    if action.name in navigation.actions or operator.applicable(state.bits, state.values):
        return None
    helpful: GroundAction | None = None
    unmet: int | None = None
    for move in _moves(task, state, action, navigation):
        after = _after(task, state, move)
        if after is None:
            continue
        if operator.applicable(after.bits, after.values):
            return move
        if helpful is not None:
            continue
        if unmet is None:
            count, near = _unmet(task, state, action, navigation)
            unmet = count if near else 0
        count, near = _unmet(task, after, action, navigation) if unmet else (0, True)
        if count < unmet and not near:
            helpful = move
    return helpful


def _moves(
    task: Task, state: State, action: GroundAction, navigation: Navigation
) -> Iterator[GroundAction]:
    arguments = tuple(dict.fromkeys(reversed(action.args)))
    places = dict.fromkeys(arguments)
    holders = arguments
    atoms = [a for a in task.atoms_in(state.bits) if len(a.args) == 2]
    # Two levels, for example a thing on a dish on a table.
    for _ in range(2):
        outer = {a.args[1]: None for h in holders for a in atoms if a.args[0] == h}
        holders = tuple(sorted(outer))
        places.update(dict.fromkeys(holders))
    for place in places:
        for name, _ in navigation.moves:
            move = GroundAction(name, (place,))
            if task.misfit(move) is None:
                yield move


def _unmet(
    task: Task, state: State, action: GroundAction, navigation: Navigation
) -> tuple[int, bool]:
    schema = task.domain.actions[action.name]
    literals = unmet_literals(
        task, state.bits, state.values, schema.precondition, binding_of(schema, action), ()
    )
    formulas = [literal.formula for literal in literals]
    near = any(isinstance(f, Atom) and f.predicate in navigation.predicates for f in formulas)
    return len(formulas), near


def _after(task: Task, state: State, action: GroundAction) -> State | None:
    operator = task.try_ground(action)
    if not isinstance(operator, Operator) or not operator.applicable(state.bits, state.values):
        return None
    values = operator.apply_numbers(state.bits, state.values)
    return State(task, task.close(operator.apply(state.bits, state.values), values), values)


# A block ------------------------------------------------------------------------------------


def drop_useless(
    task: Task, state: State, actions: Sequence[GroundAction], navigation: Navigation | None = None
) -> tuple[GroundAction, ...]:
    """Drop redundant navigation from a block.

    Navigation is redundant if the robot is already at the object, or if everything up to the next
    navigation is applicable without it. All other applicable actions stay applicable, and the block
    ends in the same state. Navigation before an inapplicable action is kept, because it may be
    meant for that action.
    """
    navigation = navigation or find_navigation(task.domain)
    kept = list(actions)
    if navigation is None:
        return tuple(kept)
    place = 0
    now = state
    while place < len(kept):
        after = _after(task, now, kept[place])
        if (
            kept[place].name in navigation.actions
            and after is not None
            and _useless(task, now, after, kept[place + 1 :], navigation)
        ):
            del kept[place]
            continue
        now = after or now
        place += 1
    return tuple(kept)


def _useless(
    task: Task, before: State, after: State, rest: Sequence[GroundAction], navigation: Navigation
) -> bool:
    if after == before:
        return True
    without_move, with_move = before, after
    moved = False
    for action in rest:
        with_it, without = _after(task, with_move, action), _after(task, without_move, action)
        if (with_it is None) != (without is None):
            return False
        if with_it is None or without is None:
            if not moved:
                return False
            continue
        with_move, without_move = with_it, without
        moved = moved or action.name in navigation.actions
        if moved and with_move == without_move:
            return True
    return False


def repair_navigation(
    task: Task, state: State, actions: Sequence[GroundAction], navigation: Navigation | None = None
) -> tuple[GroundAction, ...]:
    """Insert missing navigation into a block and drop redundant navigation.

    Actions that stay inapplicable are kept, but not executed.
    """
    navigation = navigation or find_navigation(task.domain)
    block = tuple(actions)
    if navigation is None:
        return block
    # Dropping a move may, rarely, require another insertion.
    for _ in range(_MOST_ROUNDS):
        inserted = _inserted(task, state, block, navigation)
        repaired = drop_useless(task, state, inserted, navigation)
        if repaired == block:
            break
        block = repaired
    return block


def _inserted(
    task: Task, state: State, actions: Sequence[GroundAction], navigation: Navigation
) -> tuple[GroundAction, ...]:
    result: list[GroundAction] = []
    for action in actions:
        move = insert_navigation(task, state, action, navigation)
        if move is not None:
            result.append(move)
            state = _after(task, state, move) or state
        result.append(action)
        state = _after(task, state, action) or state
    return tuple(result)
