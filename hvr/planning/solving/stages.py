"""Several conditions to be reached one after the other, as one problem."""

from __future__ import annotations

from collections.abc import Sequence

from hvr.pddl import And, Atom, Domain, Formula, Predicate, Problem, When


def remembering(
    domain: Domain, problem: Problem, stages: Sequence[Formula]
) -> tuple[Domain, Problem]:
    """Return a domain whose actions remember which conditions held before them, and in which order.

    The goal is the problem's, reached after each condition has held, one after the other.
    """
    if not stages:
        return domain, problem
    marks = [Atom(f"stage-{number}-reached") for number in range(1, len(stages) + 1)]
    # All conditions are evaluated before an action: of two stages the later is marked a step later.
    due = [And((stage, *marks[number - 1 : number])) for number, stage in enumerate(stages)]
    remembers = tuple(When(condition, mark) for condition, mark in zip(due, marks, strict=True))
    actions = {
        name: schema.replace(effect=And((schema.effect, *remembers)))
        for name, schema in domain.actions.items()
    }
    predicates = {mark.predicate: Predicate(mark.predicate) for mark in marks}
    return (
        domain.replace(actions=actions, predicates={**domain.predicates, **predicates}),
        problem.replace(goal=And((problem.goal, *marks))),
    )
