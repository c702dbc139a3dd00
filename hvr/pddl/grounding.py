"""Which ground actions a task has, and which are applicable in a state."""

from __future__ import annotations

from collections.abc import Iterator

from hvr.pddl.facts import Facts, Relation, bindings, necessary_literals
from hvr.pddl.model import ActionSchema, Equal, GroundAction
from hvr.pddl.state import State
from hvr.pddl.task import Task


def ground_all(task: Task) -> Iterator[GroundAction]:
    """Yield the ground actions whose static preconditions can hold, in a fixed order.

    Arguments are found by joining the static facts that the precondition needs, not by trying
    all objects. Whether the fluents it needs can ever be true is not looked at.
    """
    for schema in task.domain.actions.values():
        literals = [
            (literal, positive)
            for literal, positive in necessary_literals(schema.precondition)
            if isinstance(literal, Equal) or task.is_static(literal.predicate)
        ]
        for binding in bindings(
            schema.parameters, literals, {}, task.static_facts.relation, task.members
        ):
            yield _action(schema, binding)


def applicable_actions(state: State) -> Iterator[GroundAction]:
    """Yield the actions that are applicable in a state, in a fixed order.

    Raises:
        GroundingLimitError: a quantifier of an action has too many instances.
    """
    task = state.task
    true = Facts(task.atoms_in(state.bits))

    def relation(predicate: str) -> Relation:
        return (task.static_facts if task.is_static(predicate) else true).relation(predicate)

    for schema in task.domain.actions.values():
        literals = list(necessary_literals(schema.precondition))
        for binding in bindings(schema.parameters, literals, {}, relation, task.members):
            action = _action(schema, binding)
            if task.ground(action).applicable(state.bits, state.values):
                yield action


def _action(schema: ActionSchema, binding: dict[str, str]) -> GroundAction:
    return GroundAction(schema.name, tuple([binding[p.name] for p in schema.parameters]))
