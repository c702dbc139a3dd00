"""Planner-assisted repair: the classical planner gets to where the model did not.

This is hvr's own, beyond the paper. The planner sees only the present state and a condition
of the model's making: a postcondition that it wrote, or what its next step needs.
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
    Trajectory,
    TypedName,
    substitute,
)
from hvr.pddl.conditions import Operator
from hvr.pddl.task import binding_of
from hvr.policies.llm.foresight import applicable, run
from hvr.policies.llm.keeping import broken
from hvr.retrieval.inventory import Inventory
from hvr.retrieval.places import tidy_places
from hvr.retrieval.relevance import relevant_objects
from hvr.search.navigation import insert_navigation
from hvr.search.planners import Planner

MOST_OBJECTS = 40
"""Larger problems are not tried: grounding one takes half a minute."""


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
        kept: tuple[Trajectory, ...] = (),
    ) -> tuple[GroundAction, ...] | None:
        """Return actions that lead to a condition, or None if none were found.

        Args:
            state: where to begin; its task has all objects.
            goal: the condition.
            inventory: the objects and facts of the scene.
            objects: objects that may be of use besides those that the condition needs.
            relevant: the part of the condition that objects are chosen by; all of it if None.
            kept: ground constraints that the actions must not break.
        """
        task = state.task
        if state.holds(goal):
            return ()
        fluents = task.fluent_predicates
        fixed = frozenset(a for a in inventory.facts if a.predicate not in fluents)
        facts = fixed | state.atoms()
        now = replace(inventory, facts=facts)
        try:
            names = set(relevant_objects([relevant or goal], now, kept, fluents).names)
            names |= _with_places(objects, now)
            if len(names) > MOST_OBJECTS:
                return None
            self.calls += 1
            problem = self._problem(task, now, names, goal).replace(constraints=And(kept))
            result = self._planner.solve(Task(self._domain, problem))
        except DataFileError:
            raise  # the planner's result cannot be recorded: the run could not be repeated
        except HvrError:
            return None
        # The planner saw fewer objects: a quantified condition may say more in the full task.
        if result.plan is None or not run(task, state, result.plan).holds(goal):
            return None
        if broken(state, result.plan, kept):
            return None
        return result.plan if applicable(task, state, result.plan) == len(result.plan) else None

    def through(
        self, state: State, actions: Sequence[GroundAction], inventory: Inventory
    ) -> tuple[GroundAction, ...]:
        """Return the actions, each preceded by what makes it applicable.

        An action that nothing makes applicable is left out: those behind it may still work.

        Args:
            state: where to begin.
            actions: the block.
            inventory: the objects and facts of the scene.
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
        """Return actions that make an action applicable, or None."""
        task = state.task
        # Most actions lack nothing but nearness, for which no planner is needed.
        move = insert_navigation(task, state, action)
        if move is not None and applicable(task, state, (move, action)) == 2:
            return (move,)
        precondition = _precondition(task, action)
        # Disjunctions and quantifiers range over all kinds of things: relevance by them would
        # choose far too many objects.
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
    """Return some objects with their places and the places of these: a mug, its tray, the table."""
    objects = set(names)
    for _ in range(2):
        objects |= {inventory.parents[n] for n in objects if n in inventory.parents}
    return objects


def _precondition(task: Task, action: GroundAction) -> Formula:
    schema = task.domain.actions[action.name]
    return cast(Formula, substitute(schema.precondition, binding_of(schema, action)))
