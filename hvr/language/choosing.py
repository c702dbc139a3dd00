"""Goals that leave a choice: one goal of which either part will do."""

from __future__ import annotations

from collections.abc import Sequence

from hvr.errors import ImpossibleGoalError
from hvr.language.goals import Goal, Stage


def one_of(goals: Sequence[Goal | ImpossibleGoalError]) -> Goal:
    """Return the goal that any of some goals meets; the planner then takes the shortest way.

    Of goals in several stages only the first that is possible is kept, with a note.

    Args:
        goals: the goals, or why they are impossible.

    Raises:
        ImpossibleGoalError: all are impossible.
    """
    possible = [goal for goal in goals if isinstance(goal, Goal)]
    refused = [goal for goal in goals if isinstance(goal, ImpossibleGoalError)]
    if not possible:
        raise refused[0]
    first = possible[0]
    reasons = tuple(f"one choice is out: {error}" for error in refused)
    notes = tuple(dict.fromkeys(note for goal in possible for note in goal.notes)) + reasons
    if len(possible) == 1:
        return Goal(first.stages, notes, first.unread)
    same = {goal.stages[0].constraints for goal in possible}
    if len(same) > 1 or any(len(goal.stages) > 1 for goal in possible):
        return Goal(first.stages, (*notes, "taking the first of the choices"), first.unread)
    wanted = dict.fromkeys(goal.stages[0].wanted for goal in possible)
    ends = [end for end in first.stages[0].ends
            if all(end in goal.stages[0].ends for goal in possible)]  # fmt: skip
    text = next(iter(wanted)) if len(wanted) == 1 else f"(or {' '.join(wanted)})"
    stage = Stage(text, tuple(ends), first.stages[0].constraints)
    return Goal((stage,), notes, first.unread)
