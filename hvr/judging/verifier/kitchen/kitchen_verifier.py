"""The trained kitchen verifier, and a check of a plan's final state against the goal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pyoxigraph import Store

from hvr.base.registry import need_gnn
from hvr.errors import AlreadyThereError, HvrError
from hvr.judging.verifier.graph import START as GRAPH_START
from hvr.judging.verifier.graph import PlanGraph, PlanNode
from hvr.judging.verifier.kitchen.linked_plan import (
    FINISH,
    FINISH_TEXT,
    INITIAL_STATE,
    Fact,
    LinkedPlan,
    LinkedStep,
    Name,
    all_lifted,
    causal_links,
    class_label,
    class_of,
    say_action,
    say_ends,
)
from hvr.judging.verifier.kitchen.mentions import FROM, NEAR, RequestMentions, mentions_of
from hvr.judging.verifier.kitchen.step_features import (
    best_named_match,
    end_features,
    is_named,
    is_piece,
    missing_states,
    only_similar,
    step_features,
    untouched,
)
from hvr.judging.verifier.verdict import RiskFinding, Verdict
from hvr.knowledge.graph_reader import FactReader
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.wording import load_wording
from hvr.knowledge.world_file import load_world
from hvr.language.grammar import Reader
from hvr.language.paraphrase import in_order
from hvr.pddl import Atom, Domain, Problem, TypedName, parse_domain, parse_formula
from hvr.pddl.model import GroundAction
from hvr.pddl.task import Task
from hvr.tools.tool_plans import Tool, ToolGraph
from hvr.validation.validator import Validator

if TYPE_CHECKING:
    from hvr.judging.verifier.verifier import Verifier


# Graph --------------------------------------------------------------------------------------------


def graph_of(plan: LinkedPlan, request: str, plan_id: str = "plan") -> PlanGraph:
    """Return the plan graph of a plan with causal links.

    Each step is a node: its tool is the action's name, and its inputs and outputs are the
    preconditions and effects, with each object replaced by its class. Edges are causal links; a
    step that needs no other step follows Start, the initial state. The last node, `finish`, is
    the final state: its inputs are the final facts, and it follows the steps that caused them, or
    Start if there are none. Outputs that begin with `*` relate a node to the request
    (`step_features`).
    """
    return _graph(plan, request, request, plan_id, class_of)


def reading_of(plan: LinkedPlan, request: str, plan_id: str = "plan") -> PlanGraph:
    """Return the plan graph for the verifier, in which movable objects have generic names.

    They are called a named, similar or other thing, depending on how the request names them; in the
    request, each is `thing`. Furniture and appliances keep their classes. What is learnt from a mug
    therefore also applies to a ladle.
    """
    mentions = mentions_of(request)
    names = {thing: _read(class_of(thing, plan.types), mentions) for thing in plan.types}

    def name(thing: str, types: Mapping[str, str]) -> str:
        return names.get(thing) or class_of(thing, types)

    return _graph(plan, request, mentions.frame, plan_id, name)


def _read(object_class: str, mentions: RequestMentions) -> str:
    ontology = load_ontology()
    if not (ontology.has_class(object_class) and ontology.is_a(object_class, "Pickupable")):
        return object_class
    word = best_named_match(object_class, mentions).word
    return f"{word} {'piece' if is_piece(object_class) else 'thing'}"


def _graph(plan: LinkedPlan, request: str, shown: str, plan_id: str, name: Name) -> PlanGraph:
    mentions = mentions_of(request)
    types = plan.types
    nodes = [
        PlanNode(
            step.action.name,
            say_action(step.action, types, name),
            all_lifted([n.fact for n in step.needs], types, name),
            (*all_lifted(step.makes, types, name), *step_features(step, mentions, types)),
        )
        for step in plan.steps
    ]
    ends = [n.fact for n in plan.ends]
    nodes.append(
        PlanNode(
            FINISH,
            say_ends(ends, types, name),
            all_lifted(ends, types, name),
            end_features(plan, mentions),
        )
    )
    last = len(plan.steps)
    producers = dict.fromkeys(n.producer for n in plan.ends if n.producer != INITIAL_STATE)
    # Without steps, the final state follows Start.
    ending = producers or ((last - 1,) if last else ())
    edges = (*plan.edges, *((p, last) for p in ending))
    return PlanGraph(plan_id, shown, tuple(nodes), edges)


def kitchen_tools(graphs: Iterable[PlanGraph]) -> ToolGraph:
    """Return the atomic actions as tools, with the links and types that occur in the graphs."""
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


# Check of the end ---------------------------------------------------------------------------------
# Check whether a plan's final state satisfies the goal that hvr's grammar reads in the request,
# without a network. A request that hvr cannot read is not judged.

_State = Mapping[Atom, bool]
_WHERE = frozenset({"on", "in", "holding"})
_NAME = re.compile(r"[\w-]+")


@dataclass(frozen=True)
class EndCheck:
    """The result of checking the final state of a plan.

    Args:
        lacking: Unsatisfied parts of the request, in words; empty if everything holds.
        unread: Reason why the request cannot be checked; empty if it can.
        bare: Whether the goal holds and nothing else was changed.
    """

    lacking: str = ""
    unread: str = ""
    bare: bool = False


def check_end(plan: LinkedPlan, request: str) -> EndCheck:
    """Check the final state of an executable plan against the goal that hvr reads from the request.

    An ambiguous request is checked only if all its readings have the same result.
    """
    # Initial facts may mention objects without a type: infer it from the name.
    named = {a for f in plan.start for a in f.args if "-" in a}
    types = {n: n.rpartition("-")[0] for n in sorted(named)} | dict(plan.types)
    plan = replace(plan, types=types)
    domain = parse_domain(load_world().agent.path)
    ontology = load_ontology()
    inventory = _inventory(plan, ontology)
    try:
        readings = Reader(ontology, domain).goals(request, inventory)
    except AlreadyThereError:
        return EndCheck(bare=not plan.steps)
    except HvrError as error:
        return EndCheck(unread=" ".join(str(error).split()))
    if readings[0].unread and not plan.steps:
        words = ", ".join(map(repr, readings[0].unread))
        return EndCheck(unread=f"hvr could not read {words} in the request")
    goals = [_Goal([s.wanted for s in r.stages], plan, inventory, domain) for r in readings]
    reached = [goal.reached(plan.steps) for goal in goals]
    if all(reached):
        return EndCheck(bare=all(_is_bare(plan, goal) for goal in goals))
    if any(reached):
        return EndCheck(unread="the request can mean several things")
    return EndCheck(lacking=in_order(readings[0].paraphrase))


def _inventory(plan: LinkedPlan, ontology: Ontology) -> Inventory:
    classes = {n: class_of(n, plan.types) for n in plan.types}
    classes = {n: c for n, c in classes.items() if ontology.has_class(c)}
    facts = {
        Atom(predicate, (name,))
        for name, object_class in classes.items()
        for kind in ontology.superclasses(object_class, reflexive=True)
        for predicate in ontology.predicates(kind)
    }
    facts |= {Atom("present", (name,)) for name in classes}
    facts |= {_atom(f) for f in plan.start if f.positive}
    facts |= FactReader(ontology).read(Store(), classes)
    return Inventory("", ontology, classes, frozenset(facts), {})


@dataclass(frozen=True)
class _Goal:
    stages: list[str]
    plan: LinkedPlan
    inventory: Inventory
    domain: Domain

    def reached(self, steps: tuple[LinkedStep, ...]) -> bool:
        states = _states(self.plan, steps)
        if states is None:
            return False
        # Each stage must hold at or after the place of the one before.
        place = 0
        for stage in self.stages[:-1]:
            found = (i for i in range(place, len(states)) if self._holds(stage, states[i]))
            place = next(found, len(states))
        return place < len(states) and self._holds(self.stages[-1], states[-1])

    def _holds(self, stage: str, state: _State) -> bool:
        objects = tuple(TypedName(n, (self.plan.types[n],)) for n in self.inventory.classes)
        goal = parse_formula(stage, self.domain, objects, file="<goal>")
        facts = {a for a in self.inventory.facts if state.get(a, True)}
        facts |= {a for a, now in state.items() if now}
        facts |= _carried_along(facts, stage, self.plan.types)
        problem = Problem("end", self.domain.name, objects, frozenset(facts), goal)
        return Validator(Task(self.domain, problem)).check([]).valid


def _start(plan: LinkedPlan) -> dict[Atom, bool]:
    needs = (n.fact for s in plan.steps for n in s.needs if n.producer == INITIAL_STATE)
    return {_atom(f): f.positive for f in (*needs, *plan.start)}


def _end(plan: LinkedPlan, steps: tuple[LinkedStep, ...]) -> _State | None:
    states = _states(plan, steps)
    return states[-1] if states is not None else None


def _states(plan: LinkedPlan, steps: tuple[LinkedStep, ...]) -> list[_State] | None:
    states: list[_State] = [_start(plan)]
    for step in steps:
        state = states[-1]
        needed = (n.fact for n in step.needs)
        unmet = [f for f in needed if state.get(_atom(f), False) != f.positive]
        # Conditional effects may act on objects that are not arguments; their needs may be unmet.
        others = {f.args[0] for f in step.makes if f.args} - set(step.action.args)
        if not all(f.args and f.args[0] in others for f in unmet):
            return None
        exempt = {f.args[0] for f in unmet}
        made = {_atom(f): f.positive for f in step.makes if exempt.isdisjoint(f.args[:1])}
        states.append({**state, **made})
    return states


def _carried_along(facts: set[Atom], stage: str, types: Mapping[str, str]) -> set[Atom]:
    # "The bowl with the sponge to the shelf" asks for the sponge, in the bowl, to be on the shelf.
    words = set(_NAME.findall(stage))
    named = {name for name, kind in types.items() if name in words or kind in words}
    lies = {a.args[0]: a for a in facts if a.predicate in ("in", "on") and len(a.args) == 2}
    found = set()
    for thing, below in lies.items():
        carrier, seen = below.args[1], {thing}
        while carrier in named and carrier in lies and carrier not in seen:
            seen.add(carrier)
            where = lies[carrier]
            found.add(Atom(where.predicate, (thing, where.args[1])))
            carrier = where.args[1]
    return found


def _atom(fact: Fact) -> Atom:
    return Atom(fact.predicate, fact.args)


def _is_bare(plan: LinkedPlan, goal: _Goal) -> bool:
    # Requests do not ask for doors to be closed, taps turned off and knives put down. Redundant
    # steps are found by action elimination (Nakhost and Müller 2010): a step is removed with its
    # dependents.
    kept = plan.steps
    for step in plan.steps:
        fewer = _without(plan, kept, step)
        if len(fewer) < len(kept) and goal.reached(fewer):
            kept = fewer
    return _changed(plan, plan.steps) <= _changed(plan, kept)


def _changed(plan: LinkedPlan, steps: tuple[LinkedStep, ...]) -> set[tuple[str, ...]]:
    start, end = _start(plan), _end(plan, steps) or {}
    differ = [a for a in end if a.args and end[a] != start.get(a, False)]
    return {
        ("where", str(a.args[0])) if a.predicate in _WHERE else (a.predicate, *map(str, a.args))
        for a in differ
        if a.predicate != "near"
    }


def _without(
    plan: LinkedPlan, steps: tuple[LinkedStep, ...], step: LinkedStep
) -> tuple[LinkedStep, ...]:
    kept: tuple[LinkedStep, ...] = ()
    for other in steps:
        if other is not step and _end(plan, (*kept, other)) is not None:
            kept = (*kept, other)
    return kept


# The shipped verifier -----------------------------------------------------------------------------

STATES: Mapping[str, str] = {
    "heat": "hot or cooked",
    "cold": "cold",
    "wash": "washed",
    "slice": "sliced",
    "crack": "cracked",
    "fill": "filled",
    "open": "open",
    "switch": "switched on",
    "hold": "in the hand",
}
"""Names of families of states in messages. The families group predicates for the verifier alone, so
the ontology has no labels for them.
"""
_DOUBT = (
    "the network rejects the plan (score {score:.2f}), but it reaches the goal that hvr reads in "
    "the request and changes nothing else"
)
_SURE = 0.5
"""Minimum score at which the network considers a plan right rather than wrong."""
_BESIDE = (FROM, NEAR)
"""Roles of things that a plan need not touch."""
FOLDER = Path(__file__).resolve().parent.parent / "data" / "kitchen"
"""Folder of the trained verifier."""


@lru_cache(maxsize=1)
def load_kitchen_verifier() -> Verifier:
    """Return the trained verifier, which is loaded only once."""
    need_gnn()
    from hvr.judging.verifier.verifier import Verifier

    return Verifier.load(FOLDER)


def verdict_of(request: str, *parts: tuple[Task, Sequence[GroundAction]]) -> Verdict:
    """Judge how well a plan fits a request.

    Args:
        parts: Task and plan; several pairs for a request planned in stages.

    Raises:
        UsageError: A step is not executable.
    """
    verifier = load_kitchen_verifier()
    plan = causal_links(*parts)
    return judge(verifier, plan, request)


def judge(verifier: Verifier, plan: LinkedPlan, request: str) -> Verdict:
    """Judge a plan, with reasons in everyday kitchen words.

    hvr also parses the request into a goal, as a second opinion (`_second_vote`). A plan that the
    network accepts gets no verdict if no step involves an object that the request names, or if the
    network is uncertain and the plan does not achieve the parsed goal. A plan that the network
    rejects gets at least one reason; it gets no verdict if it achieves the parsed goal and changes
    nothing else (`check_end`).

    A plan without steps is judged by rule: its score is 1 if the goal holds initially, and 0
    otherwise. There is no verdict on it if hvr cannot read the request.
    """
    if not plan.steps:
        return _without_steps(verifier, plan, request)
    verdict = replace(verifier.score([reading_of(plan, request)])[0], graph=graph_of(plan, request))
    reworded = tuple(_reworded(f, verdict.graph, plan) for f in verdict.findings)
    if not (reworded or verdict.accepted):
        reworded = (_of_the_whole(verdict, plan),)
    verdict = replace(verdict, findings=reworded)
    found = check_end(plan, request)
    if verdict.accepted:
        return replace(verdict, unknown=_second_vote(verdict.score, found, plan, request))
    if found.bare:
        return replace(verdict, unknown=_DOUBT.format(score=verdict.score))
    return verdict


def _second_vote(score: float, found: EndCheck, plan: LinkedPlan, request: str) -> str:
    """Return why an accepted plan may not match the request after all; empty if it seems to."""
    # Leaving a named thing untouched is always an objection. Otherwise the reading decides only
    # where the network is uncertain, since hvr may misread a sentence.
    mentions = mentions_of(request)
    if missed := [t for t in untouched(plan, mentions) if t.role not in _BESIDE]:
        names = " and the ".join(_names(t.classes) for t in missed)
        return f"the network accepts the plan, but no step involves the {names}"
    if score >= _SURE:
        return ""
    if found.lacking:
        return f"the network accepts the plan, but it does not achieve '{found.lacking}'"
    if found.unread and (similar := only_similar(plan, mentions)):
        names = " and the ".join(_names(t.classes) for t in similar)
        return f"the plan handles something similar to the {names}, and hvr cannot read the request"
    return ""


def _without_steps(verifier: Verifier, plan: LinkedPlan, request: str) -> Verdict:
    graph = graph_of(plan, request)
    found = check_end(plan, request)
    risk = 0.5 if found.unread else float(bool(found.lacking))
    reason = f"the plan is empty, and the initial state does not satisfy '{found.lacking}'"
    findings = (RiskFinding(0, risk, reason),) if found.lacking else ()
    limits = verifier.thresholds
    return Verdict(
        graph,
        1 - risk,
        (risk,),
        (risk,),
        limits,
        findings,
        found.unread,
        claim="nothing to do: hvr reads the request as already satisfied",
    )


def _of_the_whole(verdict: Verdict, plan: LinkedPlan) -> RiskFinding:
    last = len(plan.steps)
    reason = _reason(last, verdict.graph, plan)
    if ":" not in reason:
        risky = max(range(last), key=lambda i: verdict.node_risks[i])
        step = verdict.graph.nodes[risky].text
        reason += f"; no step stands out; '{step}' fits least"
    return RiskFinding(last, verdict.node_risks[last], reason)


def _reworded(finding: RiskFinding, graph: PlanGraph, plan: LinkedPlan) -> RiskFinding:
    return replace(finding, reason=_reason(finding.where, graph, plan))


def _reason(where: int | tuple[int, int], graph: PlanGraph, plan: LinkedPlan) -> str:
    mentions = mentions_of(graph.request)
    missing = [
        *(f"nothing is done with the {_names(t.classes)}" for t in untouched(plan, mentions)),
        *(
            f"nothing is {STATES[f]} at the end"
            for f in missing_states(plan, mentions)
            if f in STATES
        ),
    ]
    if isinstance(where, tuple):
        source, target = where
        if graph.nodes[target].tool == FINISH:
            return "something that was asked for seems to be left undone" + _because(missing)
        first = "the start" if source == GRAPH_START else graph.nodes[source].text
        return f"a step between '{first}' and '{graph.nodes[target].text}' seems to be missing"
    node = graph.nodes[where]
    if node.tool == FINISH:
        return "the end does not seem to be what was asked for" + _because(missing)
    unnamed = [
        class_label(c)
        for c in (class_of(a, plan.types) for a in plan.steps[where].action.args)
        if not is_named(c, mentions)
    ]
    text = f"'{node.text}' does not seem to serve the request"
    return text + (f": the request does not name the {' or the '.join(unnamed)}" if unnamed else "")


def _because(missing: Sequence[str]) -> str:
    return f": {' and '.join(missing)}" if missing else ""


def _names(classes: frozenset[str]) -> str:
    return " or ".join(sorted(class_label(c) for c in classes))
