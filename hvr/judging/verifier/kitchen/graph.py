"""A kitchen plan as the plan graph of `hvr.judging.verifier.graph`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hvr.judging.verifier.graph import PlanGraph, PlanNode
from hvr.judging.verifier.kitchen.linked_plan import (
    FINISH,
    FINISH_TEXT,
    INITIAL_STATE,
    LinkedPlan,
    Name,
    all_lifted,
    causal_links,
    class_of,
    say_action,
    say_ends,
)
from hvr.judging.verifier.kitchen.mentions import RequestMentions, mentions_of
from hvr.judging.verifier.kitchen.step_features import (
    best_named_match,
    end_features,
    is_piece,
    step_features,
)
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.wording import load_wording
from hvr.pddl.model import GroundAction
from hvr.pddl.task import Task
from hvr.tools.tool_plans import Tool, ToolGraph


def kitchen_graph(
    task: Task, actions: Sequence[GroundAction], request: str, plan_id: str = "plan"
) -> PlanGraph:
    """Return the plan graph of a kitchen plan.

    Args:
        task: the plan must be executable in its initial state.
        actions: the plan.
        request: what was asked, in words.
        plan_id: names the plan in messages.

    Raises:
        UsageError: a step cannot be executed.
    """
    return graph_of(causal_links((task, actions)), request, plan_id)


def graph_of(plan: LinkedPlan, request: str, plan_id: str = "plan") -> PlanGraph:
    """Return the plan graph of a plan whose causal links are known.

    A step is a node: its tool is the name of the action, its inputs are its preconditions and its
    outputs its effects, by class. An edge is a causal link; steps that need nothing of another
    follow Start, which stands for the initial state. The last node, `finish`, stands for the end:
    what is so then are its inputs, and it follows the steps that made it so, or Start where there
    are no steps. Outputs that begin with `*` say what of a node the request names (`marks`); those
    of the end also tell which of the states that it asks for have been there from the start.
    """
    return _graph(plan, request, request, plan_id, class_of)


def reading_of(plan: LinkedPlan, request: str, plan_id: str = "plan") -> PlanGraph:
    """Return the same graph as the verifier reads it: things to carry are known by the request
    only.

    They are named, like something that is named, or other things; furniture and appliances keep
    their classes. In the request their names are `thing`. So nothing can be learnt of a mug that
    would not hold of a ladle.
    """
    asked = mentions_of(request)
    names = {thing: _read(class_of(thing, plan.types), asked) for thing in plan.types}

    def name(thing: str, types: Mapping[str, str]) -> str:
        return names.get(thing) or class_of(thing, types)

    return _graph(plan, request, asked.frame, plan_id, name)


def _read(object_class: str, asked: RequestMentions) -> str:
    ontology = load_ontology()
    if not (ontology.has_class(object_class) and ontology.is_a(object_class, "Pickupable")):
        return object_class
    word = best_named_match(object_class, asked).word
    return f"{word} {'piece' if is_piece(object_class) else 'thing'}"


def _graph(plan: LinkedPlan, request: str, shown: str, plan_id: str, name: Name) -> PlanGraph:
    asked = mentions_of(request)
    types = plan.types
    nodes = [
        PlanNode(
            step.action.name,
            say_action(step.action, types, name),
            all_lifted([n.fact for n in step.needs], types, name),
            (*all_lifted(step.makes, types, name), *step_features(step, asked, types)),
        )
        for step in plan.steps
    ]
    ends = [n.fact for n in plan.ends]
    nodes.append(
        PlanNode(
            FINISH,
            say_ends(ends, types, name),
            all_lifted(ends, types, name),
            end_features(plan, asked),
        )
    )
    last = len(plan.steps)
    producers = dict.fromkeys(n.producer for n in plan.ends if n.producer != INITIAL_STATE)
    # Without steps the end follows Start, as all that follows nothing else.
    ending = producers or ((last - 1,) if last else ())
    edges = (*plan.edges, *((p, last) for p in ending))
    return PlanGraph(plan_id, shown, tuple(nodes), edges)


def kitchen_tools(graphs: Iterable[PlanGraph]) -> ToolGraph:
    """Return the atomic actions as tools, with all types that some plans have.

    Args:
        graphs: the training plans. Links go between actions that follow each other in them.
    """
    actions = load_wording().actions
    takes: dict[str, set[str]] = {name: set() for name in (*actions, FINISH)}
    gives: dict[str, set[str]] = {name: set() for name in (*actions, FINISH)}
    links: set[tuple[str, str]] = set()
    for graph in graphs:
        for node in graph.nodes:
            takes.setdefault(node.tool, set()).update(node.inputs)
            gives.setdefault(node.tool, set()).update(node.outputs)
        links |= {(graph.nodes[a].tool, graph.nodes[b].tool) for a, b in graph.edges}
    about = {name: known.purpose for name, known in actions.items()} | {FINISH: FINISH_TEXT}
    return ToolGraph(
        tuple(
            Tool(name, about.get(name, ""), tuple(sorted(takes[name])), tuple(sorted(gives[name])))
            for name in takes
        ),
        tuple(sorted(links)),
    )
