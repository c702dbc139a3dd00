"""Planner-assisted repair: the classical planner gets to where the model did not.

This is hvr's own, beyond the paper. The planner sees only the present state and a condition
of the model's making: a postcondition that it wrote, or what its next step needs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import cast

from hvr.errors import DataFileError, HvrError
from hvr.pddl import (
    And,
    Atom,
    Formula,
    GroundAction,
    Not,
    State,
    Task,
    Trajectory,
    substitute,
)
from hvr.pddl.conditions import Operator
from hvr.pddl.task import binding_of
from hvr.planning.search.navigation import insert_navigation
from hvr.planning.search.planners import Planner
from hvr.policies.llm.foresight import Foresight, applicable, run
from hvr.policies.llm.keeping import broken


class Bridge:
    """Finds ways from a state to a condition.

    Args:
        planner: the classical planner.
    """

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self.calls = 0

    def to(
        self,
        state: State,
        goal: Formula,
        foresight: Foresight,
        objects: Collection[str] = (),
        relevant: Formula | None = None,
        kept: tuple[Trajectory, ...] = (),
    ) -> tuple[GroundAction, ...] | None:
        """Return actions that lead to a condition, or None if none were found.

        Args:
            state: where to begin; its task has all objects.
            goal: the condition.
            foresight: the world.
            objects: objects that may be of use besides those that the condition needs.
            relevant: the part of the condition that objects are chosen by; all of it if None.
            kept: ground constraints that the actions must not break.
        """
        task = state.task
        if state.holds(goal):
            return ()
        try:
            posed = foresight.posed(state, goal, objects, relevant or goal, kept)
            if posed is None:
                return None
            self.calls += 1
            result = self._planner.solve(posed)
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
        self, state: State, actions: Sequence[GroundAction], foresight: Foresight
    ) -> tuple[GroundAction, ...]:
        """Return the actions, each preceded by what makes it applicable.

        An action that nothing makes applicable is left out: those behind it may still work.

        Args:
            state: where to begin.
            actions: the block.
            foresight: the world.
        """
        task = state.task
        done: list[GroundAction] = []
        for action in actions:
            operator = task.try_ground(action)
            if not isinstance(operator, Operator):
                continue
            if not applicable(task, state, (action,)):
                way = self._way(state, action, foresight)
                if way is None:
                    continue
                done += way
                state = run(task, state, way)
            done.append(action)
            state = run(task, state, (action,))
        return tuple(done)

    def _way(
        self, state: State, action: GroundAction, foresight: Foresight
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
        return self.to(state, precondition, foresight, action.args, plain)


def _precondition(task: Task, action: GroundAction) -> Formula:
    schema = task.domain.actions[action.name]
    return cast(Formula, substitute(schema.precondition, binding_of(schema, action)))
