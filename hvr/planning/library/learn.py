"""Learning from a successful plan: an entry for each of its blocks."""

from __future__ import annotations

from hvr.knowledge.ontology import Ontology
from hvr.pddl import State, Task
from hvr.planning.library.entry import Entry, Origin
from hvr.planning.library.library import Library
from hvr.planning.library.lift import lift
from hvr.planning.plans import Plan


def learn(
    plan: Plan,
    task: Task,
    agent: str,
    origin: Origin,
    *,
    state: State | None = None,
    ontology: Ontology | None = None,
) -> tuple[Entry, ...]:
    """Lift the blocks of a plan that was carried out with success.

    Blocks that change nothing for good, such as going somewhere, are not worth keeping.

    Args:
        plan: the plan.
        task: the problem that it solves, in the domain of the agent.
        agent: name of the agent.
        origin: where it was carried out.
        state: the state before the plan; the task's initial state if None.
        ontology: names of classes; hvr's own if None.

    Returns:
        The entries in order of id, none twice.

    Raises:
        UsageError: an action of the plan cannot be executed.
        UnknownObjectError, PddlSemanticError: an action does not fit the task.
    """
    now = state or task.initial
    entries = []
    for block in plan.blocks:
        if not block.actions:
            continue
        entry = lift(block, task, now, agent=agent, origin=origin, ontology=ontology)
        if entry.postcondition:
            entries.append(entry)
        bits = now.bits
        for action in block.actions:
            bits = task.ground(action).apply(bits)
        now = State(task, bits, now.values)
    return Library(entries).entries
