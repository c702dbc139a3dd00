"""Groups of correct plans and plans that miss the request, with labelled errors."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from hvr.judging.verifier.graph import PlanGraph
from hvr.judging.verifier.kitchen.kitchen_verifier import reading_of
from hvr.judging.verifier.kitchen.linked_plan import INITIAL_STATE, Fact, LinkedPlan, class_of
from hvr.judging.verifier.kitchen.mentions import PAST_EVENTS, mentions_of
from hvr.judging.verifier.kitchen.step_features import PlanOutcome, is_so
from studies.plan_network.perturbations import Operation, Perturbed, unharmed

_IN_PASSING = frozenset({"opened", "toggled", "near", "hand_empty", "present"})

COST = 2.0
"""c of a plan that misses the request, independent of how nearly correct it is."""


def kitchen_family(
    request: str,
    plan_id: str,
    true: LinkedPlan,
    wrong: Sequence[tuple[str, LinkedPlan]],
    also: Sequence[LinkedPlan] = (),
) -> tuple[Perturbed, ...]:
    """Return the contrast group of a request: its correct and wrong plans.

    Wrong plans, each with its kind from `hard_negatives.KINDS`, are omitted if they satisfy the
    literal request (`fulfils_as_said`).
    """
    good = [unharmed(reading_of(plan, request, plan_id)) for plan in (true, *also)]
    missing = [plan for _, plan in wrong if not fulfils_as_said(request, plan, true)]
    return (*good, *(_marked(true, plan, request, plan_id) for plan in missing))


def _marked(true: LinkedPlan, plan: LinkedPlan, request: str, plan_id: str) -> Perturbed:
    graph = reading_of(plan, request, plan_id)
    strange, gaps, missing = _differences(_keys(true), _keys(plan))
    last = len(plan.steps)
    # The end node is always wrong, because the plan misses the goal.
    labels = [int(i in strange) for i in range(last)] + [1]
    edges = tuple(int(any(a < g <= b for g in gaps)) for a, b in graph.all_edges)
    operation = Operation("DROP" if missing else "REPLACE", missing, None, COST)
    return Perturbed(graph, (operation,), tuple(labels), _some(edges, graph, bool(gaps)))


def _keys(plan: LinkedPlan) -> list[tuple[str, ...]]:
    return [(s.action.name, *(class_of(a, plan.types) for a in s.action.args)) for s in plan.steps]


def _differences(
    true: Sequence[tuple[str, ...]], wrong: Sequence[tuple[str, ...]]
) -> tuple[set[int], set[int], tuple[str, ...]]:
    """Return the wrong steps, the positions before missing steps, and the missing steps."""
    strange: set[int] = set()
    gaps: set[int] = set()
    missing: list[str] = []
    matcher = SequenceMatcher(None, list(true), list(wrong), autojunk=False)
    for what, a, b, c, d in matcher.get_opcodes():
        if what in {"replace", "insert"}:
            strange |= set(range(c, d))
        if what == "delete" or (what == "replace" and b - a > d - c):
            gaps.add(d)
            missing += [step[0] for step in true[a:b]]
    return strange, gaps, tuple(missing)


def _some(edges: tuple[int, ...], graph: PlanGraph, has_gaps: bool) -> tuple[int, ...]:
    """Return the link labels; the links to the end are labelled if no link spans a missing step."""
    if not has_gaps or any(edges):
        return edges
    last = len(graph.nodes) - 1
    return tuple(int(b == last) for _, b in graph.all_edges)


def fulfils_as_said(request: str, plan: LinkedPlan, true: LinkedPlan) -> bool:
    """Return whether a plan that misses the true plan's goal still satisfies the literal request.

    For example, the goal of "put a clean plate on the table" requires washing the plate. If the
    plate is clean from the start, a plan that only puts it there satisfies the request.
    """
    asked = mentions_of(request)
    outcome = PlanOutcome.of(plan)
    if not any(s in asked.lasting and s not in outcome.states for s in asked.states):
        return False
    if not all(is_so(outcome, state, asked) for state in asked.states):
        return False
    made = [n.fact for n in true.ends if n.producer != INITIAL_STATE]
    return {_lifted(f, true) for f in made if f.predicate not in PAST_EVENTS | _IN_PASSING} <= {
        _lifted(f, plan) for f in (*(n.fact for n in plan.ends), *plan.start)
    }


def _lifted(fact: Fact, plan: LinkedPlan) -> tuple[str, bool, tuple[str, ...]]:
    return fact.predicate, fact.positive, tuple(class_of(a, plan.types) for a in fact.args)
