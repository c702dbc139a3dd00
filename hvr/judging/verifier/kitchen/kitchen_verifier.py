"""The kitchen verifier that comes with hvr, with a check of the plan's end by the read goal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pyoxigraph import Store

from hvr.base.extras import need_gnn
from hvr.errors import HvrError
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
from hvr.validation import Validator

if TYPE_CHECKING:
    from hvr.judging.verifier.verdict import RiskFinding, Verdict
    from hvr.judging.verifier.verifier import Verifier


# Graph --------------------------------------------------------------------------------------------
# A kitchen plan as the plan graph of `hvr.judging.verifier.graph`.


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


# --------------------------------------------------------------------------------------------------

# Check of the end ---------------------------------------------------------------------------------
# Whether the end of a plan is what hvr reads in the request: a judgement without a network.
#
# The goal that hvr's grammar reads is held against the state at the end. What hvr cannot read it
# does not judge.

_State = Mapping[Atom, bool]
_WHERE = frozenset({"on", "in", "holding"})
_NAME = re.compile(r"[\w-]+")


@dataclass(frozen=True)
class EndCheck:
    """What is said of the end of a plan.

    Args:
        lacking: what is asked for and not so, in words; empty if all is.
        unread: why there is no answer; empty if there is one.
        bare: the goal is reached, and nothing is changed that need not be for it.
    """

    lacking: str = ""
    unread: str = ""
    bare: bool = False


def check_end(plan: LinkedPlan, request: str) -> EndCheck:
    """Judge a plan by the goal that hvr reads.

    A request that can mean several things is judged where they agree.

    Args:
        plan: can be carried out; may be without steps.
        request: the sentence.
    """
    named = {a for f in plan.start for a in f.args if "-" in a}
    types = {n: n.rpartition("-")[0] for n in sorted(named)} | dict(plan.types)
    plan = replace(plan, types=types)
    domain = parse_domain(load_world().agent.path)
    ontology = load_ontology()
    inventory = _inventory(plan, ontology)
    try:
        readings = Reader(ontology, domain).goals(request, inventory)
    except HvrError as error:
        return EndCheck(unread=" ".join(str(error).split()))
    if readings[0].unread and not plan.steps:
        words = ", ".join(map(repr, readings[0].unread))
        return EndCheck(unread=f"{words} was not read in the request")
    goals = [_Goal([s.wanted for s in r.stages], plan, inventory, domain) for r in readings]
    so = [goal.reached(plan.steps) for goal in goals]
    if all(so):
        return EndCheck(bare=all(_is_bare(plan, goal) for goal in goals))
    if any(so):
        return EndCheck(unread="the request can mean several things")
    return EndCheck(lacking=in_order(readings[0].said))


def _inventory(plan: LinkedPlan, ontology: Ontology) -> Inventory:
    """Return the things of a plan, with what is so of their classes and at the start."""
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
    """A goal in the things of a plan: all stages of a reading."""

    wanted: list[str]
    plan: LinkedPlan
    inventory: Inventory
    domain: Domain

    def reached(self, steps: tuple[LinkedStep, ...]) -> bool:
        """Return whether steps reach each stage in order, and the last one at their end."""
        states = _states(self.plan, steps)
        if states is None:
            return False
        place = 0
        for stage in self.wanted[:-1]:
            found = (i for i in range(place, len(states)) if self._holds(stage, states[i]))
            place = next(found, len(states))
        return place < len(states) and self._holds(self.wanted[-1], states[-1])

    def _holds(self, stage: str, state: _State) -> bool:
        """Return whether a stage holds where some facts are not as at the start."""
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
    """Return the states before and after each step; None if a step cannot be executed."""
    states: list[_State] = [_start(plan)]
    for step in steps:
        state = states[-1]
        needed = (n.fact for n in step.needs)
        unmet = [f for f in needed if state.get(_atom(f), False) != f.positive]
        # What a step does to things that it is not given is done by conditional effects.
        others = {f.args[0] for f in step.makes if f.args} - set(step.action.args)
        if not all(f.args and f.args[0] in others for f in unmet):
            return None
        spared = {f.args[0] for f in unmet}
        made = {_atom(f): f.positive for f in step.makes if spared.isdisjoint(f.args[:1])}
        states.append({**state, **made})
    return states


def _carried_along(facts: set[Atom], stage: str, types: Mapping[str, str]) -> set[Atom]:
    """Return where the contents of the goal's vessels lie: where the vessel stands.

    "The bowl with the sponge to the shelf" asks for the sponge in the bowl on the shelf.
    """
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
    """Say whether the steps that a goal can do without change nothing that the others do not.

    Doors are closed, taps turned off and knives put down, and nobody asks for it. What can be left
    out is found by action elimination (Nakhost and Müller 2010): a step goes with those that cannot
    do without it.
    """
    kept = plan.steps
    for step in plan.steps:
        fewer = _without(plan, kept, step)
        if len(fewer) < len(kept) and goal.reached(fewer):
            kept = fewer
    return _changed(plan, plan.steps) <= _changed(plan, kept)


def _changed(plan: LinkedPlan, steps: tuple[LinkedStep, ...]) -> set[tuple[str, ...]]:
    """Return which things lie elsewhere than at the start, and which other facts differ."""
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
    """Return steps without one of them, and without those that can then not be carried out."""
    kept: tuple[LinkedStep, ...] = ()
    for other in steps:
        if other is not step and _end(plan, (*kept, other)) is not None:
            kept = (*kept, other)
    return kept


# The shipped verifier -----------------------------------------------------------------------------
# The kitchen verifier that comes with hvr.

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
"""What families of states are called. They group predicates for the verifier alone, so that the
ontology has no words for them."""
_DOUBT = (
    "the network doubts the plan (score {score:.2f}), but it reaches the goal that hvr reads in "
    "the request and changes nothing else"
)
_SURE = 0.5
"""Score from which the network holds a plan for right rather than wrong."""
_BESIDE = (FROM, NEAR)
"""Roles of things that a plan need not touch."""
FOLDER = Path(__file__).resolve().parent.parent / "data" / "kitchen"
"""Where the trained verifier lies."""


@lru_cache(maxsize=1)
def load_kitchen_verifier() -> Verifier:
    """Return the trained verifier, loaded once.

    Raises:
        MissingExtraError: the extra `gnn` is not installed.
        DataFileError: its files are damaged.
    """
    need_gnn()
    from hvr.judging.verifier.verifier import Verifier

    return Verifier.load(FOLDER)


def verdict_of(request: str, *parts: tuple[Task, Sequence[GroundAction]]) -> Verdict:
    """Return how well a plan fits what was asked.

    Args:
        request: the sentence.
        parts: a task with its plan; several for a request that was planned in stages.

    Raises:
        MissingExtraError: the extra `gnn` is not installed.
        UsageError: a step cannot be executed.
    """
    verifier = load_kitchen_verifier()
    plan = causal_links(*parts)
    return judge(verifier, plan, request)


def judge(verifier: Verifier, plan: LinkedPlan, request: str) -> Verdict:
    """Return the verdict of a verifier on one plan, its reasons in the words of the kitchen.

    The goal that hvr reads is a second vote (`_second_vote`): a plan that the network accepts gets
    no verdict where a named thing is left alone, or where the goal does not hold and the network
    is in doubt.
    A plan that is not accepted has a reason at least. Where the network alone doubts a plan that
    reaches the goal that hvr reads, and changes nothing else (`check_end`), there is no verdict.
    A plan without steps is judged by rule: its score is 1 where that goal holds from the start, 0
    where it does not, and there is no verdict where hvr cannot read the request.
    """
    from dataclasses import replace

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
    """Return why a plan that the network accepts may not be what was asked; empty if it is.

    A plan that leaves a named thing alone is never said to be what was asked. Otherwise the
    reading decides only where the network itself is in doubt: hvr may misread a sentence.
    """
    asked = mentions_of(request)
    if missed := [t for t in untouched(plan, asked) if t.role not in _BESIDE]:
        names = " and the ".join(_names(t.classes) for t in missed)
        return f"the network accepts the plan, but no step has to do with the {names}"
    if score >= _SURE:
        return ""
    if found.lacking:
        return f"the network accepts the plan, but hvr asks for '{found.lacking}', which is not so"
    if found.unread and (similar := only_similar(plan, asked)):
        names = " and the ".join(_names(t.classes) for t in similar)
        return f"the plan handles something like the {names}, and hvr cannot read the request"
    return ""


def _without_steps(verifier: Verifier, plan: LinkedPlan, request: str) -> Verdict:
    from hvr.judging.verifier.verdict import RiskFinding, Verdict

    graph = graph_of(plan, request)
    found = check_end(plan, request)
    risk = 0.5 if found.unread else float(bool(found.lacking))
    reason = f"nothing is done, and it is not so from the start that {found.lacking}"
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
        claim="nothing to do: as hvr reads the request, it is so already",
    )


def _of_the_whole(verdict: Verdict, plan: LinkedPlan) -> RiskFinding:
    """Return a reason for a low score where no step and no link is above its threshold."""
    from hvr.judging.verifier.verdict import RiskFinding

    last = len(plan.steps)
    reason = _reason(last, verdict.graph, plan)
    if ":" not in reason:
        risky = max(range(last), key=lambda i: verdict.node_risks[i])
        step = verdict.graph.nodes[risky].text
        reason += f"; no step stands out, '{step}' fits least"
    return RiskFinding(last, verdict.node_risks[last], reason)


def _reworded(finding: RiskFinding, graph: PlanGraph, plan: LinkedPlan) -> RiskFinding:
    from dataclasses import replace

    return replace(finding, reason=_reason(finding.where, graph, plan))


def _reason(where: int | tuple[int, int], graph: PlanGraph, plan: LinkedPlan) -> str:
    asked = mentions_of(graph.request)
    missing = [
        *(f"nothing is done with the {_names(t.classes)}" for t in untouched(plan, asked)),
        *(f"nothing is {STATES[f]} at the end" for f in missing_states(plan, asked) if f in STATES),
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
    strange = [
        class_label(c)
        for c in (class_of(a, plan.types) for a in plan.steps[where].action.args)
        if not is_named(c, asked)
    ]
    text = f"'{node.text}' does not seem to serve the request"
    return text + (f": it does not name the {' or the '.join(strange)}" if strange else "")


def _because(missing: Sequence[str]) -> str:
    return f": {' and '.join(missing)}" if missing else ""


def _names(classes: frozenset[str]) -> str:
    return " or ".join(sorted(class_label(c) for c in classes))
