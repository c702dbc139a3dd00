"""Planner-assisted repair: the classical planner goes where the model did not get to.

This is hvr's own, beyond the paper. The planner sees only the present state and a condition
that the model has written: a postcondition, or what its next step needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import cast

from hvr.errors import DataFileError, HvrError
from hvr.pddl import (
    And,
    Atom,
    Domain,
    Formula,
    GroundAction,
    Not,
    Problem,
    State,
    Task,
    TypedName,
    substitute,
)
from hvr.pddl.conditions import Operator
from hvr.pddl.task import binding_of
from hvr.policies.llm.foresight import applicable, run
from hvr.retrieval.inventory import Inventory
from hvr.retrieval.places import tidy_places
from hvr.retrieval.relevance import relevant_objects
from hvr.search.navigation import insert_navigation
from hvr.search.planners import Planner

MOST_OBJECTS = 40
"""A problem with more objects takes half a minute to ground; none is tried."""


class Bridge:
    """Finds ways from a state to a condition.

    Args:
        domain: the actions.
        planner: the classical planner.
    """

    def __init__(self, domain: Domain, planner: Planner) -> None:
        self._domain = domain
        self._planner = planner
        self.calls = 0

    def to(
        self,
        state: State,
        goal: Formula,
        inventory: Inventory,
        objects: Iterable[str] = (),
        relevant: Formula | None = None,
    ) -> tuple[GroundAction, ...] | None:
        """Return actions that lead to a condition, or None if none were found.

        Args:
            state: where to begin; its task has all objects.
            goal: the condition.
            inventory: what there is in the scene.
            objects: what may be of use besides what the condition needs.
            relevant: the part of the condition by which objects are chosen; all of it if None.
        """
        task = state.task
        if state.holds(goal):
            return ()
        fluents = task.fluent_predicates
        fixed = frozenset(a for a in inventory.facts if a.predicate not in fluents)
        facts = fixed | state.atoms()
        now = replace(inventory, facts=facts)
        try:
            names = set(relevant_objects([relevant or goal], now).names)
            names |= _with_places(objects, now)
            if len(names) > MOST_OBJECTS:
                return None
            self.calls += 1
            result = self._planner.solve(Task(self._domain, self._problem(task, now, names, goal)))
        except DataFileError:
            raise  # what was found cannot be written down: the run could not be repeated
        except HvrError:
            return None
        if result.plan is None or not run(task, state, result.plan).holds(goal):
            return None
        return result.plan if applicable(task, state, result.plan) == len(result.plan) else None

    def through(
        self, state: State, actions: Sequence[GroundAction], inventory: Inventory
    ) -> tuple[GroundAction, ...]:
        """Return the actions with what it takes to make each applicable; without those that never
        are.

        Args:
            state: where to begin.
            actions: the block.
            inventory: what there is in the scene.
        """
        task = state.task
        done: list[GroundAction] = []
        for action in actions:
            operator = task.try_ground(action)
            if not isinstance(operator, Operator):
                continue
            if not operator.applicable(state.bits):
                way = self._way(state, action, inventory)
                if way is None:
                    continue
                done += way
                state = run(task, state, way)
            done.append(action)
            state = run(task, state, (action,))
        return tuple(done)

    def _way(
        self, state: State, action: GroundAction, inventory: Inventory
    ) -> tuple[GroundAction, ...] | None:
        """Return what it takes to make an action applicable; often only going there."""
        task = state.task
        move = insert_navigation(task, state, action)
        if move is not None and applicable(task, state, (move, action)) == 2:
            return (move,)
        precondition = _precondition(task, action)
        # Disjunctions and quantifiers speak of every kind of thing; they choose no objects.
        plain = And(
            tuple(
                part
                for part in getattr(precondition, "operands", (precondition,))
                if isinstance(part, Atom)
                or (isinstance(part, Not) and isinstance(part.operand, Atom))
            )
        )
        return self.to(state, precondition, inventory, action.args, plain)

    def _problem(self, task: Task, inventory: Inventory, names: set[str], goal: Formula) -> Problem:
        chosen = names & {o.name for o in task.problem.objects}
        known = chosen | {c.name for c in self._domain.constants}
        problem = Problem(
            "bridge",
            self._domain.name,
            tuple(TypedName(o.name, o.types) for o in task.problem.objects if o.name in chosen),
            frozenset(
                a
                for a in inventory.facts
                if a.predicate in self._domain.predicates and known.issuperset(a.args)
            ),
            goal,
        )
        return tidy_places(problem, goal, inventory)


def _with_places(names: Iterable[str], inventory: Inventory) -> set[str]:
    """Return some objects and what they stand on or in, and what that stands on or in."""
    objects = set(names)
    for _ in range(2):
        objects |= {inventory.parents[n] for n in objects if n in inventory.parents}
    return objects


def _precondition(task: Task, action: GroundAction) -> Formula:
    schema = task.domain.actions[action.name]
    return cast(Formula, substitute(schema.precondition, binding_of(schema, action)))
