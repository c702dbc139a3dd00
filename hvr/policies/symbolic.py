"""The built-in policy: sentence to goal by grammar and ontology, goal to plan by search."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

from hvr.errors import ImpossibleGoalError, PlannerError
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.retrieval.relevance import (
    Relevant,
    allow_all_places,
    forbid_objects,
    forbid_untidy_places,
    one_of_each,
    relevant_objects,
    with_others,
)
from hvr.knowledge.wording import action_annotations_of
from hvr.language.goal_builder import Stage, end_conditions
from hvr.language.grammar import Reader, make_reader
from hvr.language.paraphrase import constraints_said
from hvr.pddl import And, Atom, Domain, Problem, Task, TypedName, parse_constraint, parse_formula
from hvr.pddl.facts import necessary_literals
from hvr.pddl.model import Formula, changes_of
from hvr.planning.macro_actions import macro_blocks
from hvr.planning.plans import Plan, Planned, Policy, PolicyContext, Understanding
from hvr.planning.search.fast_downward import SearchResult
from hvr.planning.search.planners import Planner
from hvr.validation.minimise import eliminate, postpone
from hvr.values import cached_property

# More objects -------------------------------------------------------------------------------------
# More objects than a goal seems to need, from the domain alone: before anybody says "impossible".
#
# A choice of objects that is too narrow makes a problem without a plan. What the whole scene would
# take is asked of its lifted actions: whether the goal can be reached at all if nothing ever became
# false, and if so, by which actions (a relaxed plan; Hoffmann & Nebel 2001).


def widening_choices(
    chosen: Relevant,
    pose: Callable[[], Task],
    complete: Callable[[Relevant, Iterable[str]], Relevant],
    seconds: float,
) -> Iterator[Relevant]:
    """Yield chosen objects, then more, in the end all there are; less where none would help.

    Whoever has tried all that is yielded, and found no plan, knows that there is none.

    Args:
        chosen: what is tried first.
        pose: makes the task with all objects, or with one more for all that are alike.
        complete: adds objects to a choice, with what these depend on.
        seconds: how long at most, each time, to look for what else is needed.
    """
    yield chosen
    task = pose()
    if is_unreachable(task, seconds):
        return
    more = relaxed_plan_objects(task, seconds)
    if more is None:
        return
    wider = complete(chosen, more)
    if wider.reasons.keys() > chosen.reasons.keys():
        yield wider
    everything = [o.name for o in task.problem.objects]
    if not wider.reasons.keys() >= {*everything}:
        yield complete(wider, everything)


def is_unreachable(task: Task, seconds: float) -> bool:
    """Return whether it is shown, without a search, that a task has no plan.

    False says nothing.
    """
    # Imported here and below: most goals have a plan among the objects chosen first.
    from hvr.validation.reachability import Reachable

    reachable = Reachable(task, seconds)
    return reachable.complete and any(
        positive and isinstance(literal, Atom) and literal not in reachable
        for literal, positive in necessary_literals(task.problem.goal)
    )


def relaxed_plan_objects(task: Task, seconds: float) -> tuple[str, ...] | None:
    """Return the objects of a relaxed plan and what belongs to them; None if there is no such plan.

    Without the time for one they are none.
    """
    from hvr.validation.relaxation import Deadline, Relaxation

    relaxation = Relaxation(task.initial, task.goal, frozenset(), Deadline(seconds), beyond=0)
    if not relaxation.reachable:
        return None if relaxation.complete else ()
    plan = relaxation.relaxed_plan(task.initial.bits)
    steps = plan[0] if plan is not None else set()
    actions = [relaxation.operators[number].action for number in sorted(steps)]
    names = dict.fromkeys(name for action in actions for name in action.args)
    return tuple(dict.fromkeys([*names, *_belonging(task, names)]))


def _belonging(task: Task, names: Collection[str]) -> Iterator[str]:
    """Yield what fixed facts pair with one of some objects alone, as a switch with its machine.

    Conditions of actions may ask that it be there (`exists`) without naming it among arguments.
    """
    pairs: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for atom in sorted(task.problem.init, key=str):
        if len(atom.args) == 2 and task.is_static(atom.predicate):
            pairs[atom.predicate].append(atom.args)
    for rows in pairs.values():
        first, second = (Counter(row[side] for row in rows) for side in (0, 1))
        for one, other in rows:
            if first[one] == second[other] == 1 and (one in names) is not (other in names):
                yield other if one in names else one


# Symbolic -----------------------------------------------------------------------------------------
# The built-in policy: sentence to goal by grammar and ontology, goal to plan by search.
#
# It needs no key and no network. `understand` turns a sentence into a goal; `plan` chooses the
# relevant objects, has a classical planner find a short plan, and cuts it into macro actions.

_LATER = re.compile(r"\((?:sometime|at end)\b")
"""Constraints on what is to happen at some time; the others forbid."""


_WIDENING_S = 20.0
"""How long at most, each time, to look for what else a goal may need."""


@dataclass(frozen=True)
class _Posed:
    """A stage of a goal as formulas.

    Args:
        wanted: what is asked for.
        goal: the same with the conditions on how the world is left.
        kept: trajectory constraints.
    """

    wanted: Formula
    goal: Formula
    kept: tuple[Formula, ...]


class SymbolicPolicy(Policy[Stage]):
    """The policy that plans without a language model.

    Args:
        ontology: words, task knowledge and preferences.
        domain: the actions.
        planner: the classical planner.
        any_place: plan as if everything could be put everywhere, for a world that forces puts.
        reader: who reads requests, one of `hvr.language.grammar.READERS`; None for the best that
            is installed.
        reading: which of several readings of a request is meant, from 1.
    """

    def __init__(
        self,
        ontology: Ontology,
        domain: Domain,
        planner: Planner,
        *,
        any_place: bool = False,
        reader: str | None = "grammar",
        reading: int | None = None,
    ) -> None:
        self.ontology = ontology
        self.domain = domain
        self.planner = planner
        self.any_place = any_place
        self._reader = reader
        self.reading = reading

    @classmethod
    def open(cls, context: PolicyContext) -> Self:
        """See `Policy`."""
        return cls(
            context.ontology,
            context.domain,
            context.planner,
            reader=context.reader,
            reading=context.reading,
        )

    @cached_property
    def reader(self) -> Reader:
        """The reader of requests."""
        return make_reader(self._reader, self.ontology, self.domain, any_place=self.any_place)

    @cached_property
    def _changing(self) -> frozenset[str]:
        effects = (schema.effect for schema in self.domain.actions.values())
        return frozenset(a.predicate for e in effects for a in changes_of(e) if isinstance(a, Atom))

    def understand(
        self, request: str, graph: KnowledgeGraph, inventory: Inventory
    ) -> Understanding[Stage]:
        """See `Policy`."""
        del graph
        goal = self.reader.goal(request, inventory, self.reading)
        return Understanding(goal.stages, goal)

    def with_ends(self, wanted: str) -> Stage:
        """Return a goal given as PDDL, with the preferences for how the world is left."""
        holding = "(holding" in wanted
        return Stage(wanted, tuple(end_conditions(self.reader.taxonomy, set(), holding=holding)))

    def clearing(self, things: Sequence[str], place: str) -> Stage:
        """Return the goal of taking things away from a place."""
        gone = " ".join(f"(not (on {t} {place})) (not (in {t} {place}))" for t in things)
        free = " ".join(f"({p})" for p in self.ontology.predicates("handEmpty"))
        return Stage(f"(and {gone} {free})")

    def keeping(self, stage: Stage, constraints: Sequence[str]) -> Stage:
        """See `Policy`."""
        return stage.replace(constraints=tuple(constraints))

    def needs(self, stage: Stage, graph: KnowledgeGraph, inventory: Inventory) -> tuple[str, ...]:
        """See `Policy`."""
        return self._relevant(stage, graph, inventory).names

    def opening(
        self,
        place: str,
        closing: Sequence[str],
        stage: Stage,
        graph: KnowledgeGraph,
        inventory: Inventory,
    ) -> Planned:
        """See `Policy`; what is to happen at some time need not happen yet."""
        kept = tuple(c for c in stage.constraints if not _LATER.search(c))
        (is_open,) = self.ontology.predicates("isOpen")
        shut = " ".join(f"(not ({is_open} {other}))" for other in closing)
        wanted = f"(and ({is_open} {place}) {shut})"
        return self.plan(Stage(wanted, constraints=kept), graph, inventory)

    def _relevant(self, stage: Stage, graph: KnowledgeGraph, inventory: Inventory) -> Relevant:
        return self._chosen(self._asked(stage, graph, inventory), inventory)

    def _chosen(self, asked: _Posed, inventory: Inventory) -> Relevant:
        return relevant_objects([asked.wanted], inventory, asked.kept, self._changing)

    def _asked(self, stage: Stage, graph: KnowledgeGraph, inventory: Inventory) -> _Posed:
        objects = [TypedName(n, (graph.pddl_type(n),)) for n in inventory.classes]
        return _Posed(
            parse_formula(stage.wanted, self.domain, objects, file="<goal>"),
            parse_formula(stage.text, self.domain, objects, file="<goal>"),
            tuple([parse_constraint(c, self.domain, objects) for c in stage.constraints]),
        )

    def plan(
        self, stage: Stage, graph: KnowledgeGraph, inventory: Inventory, reason: str = ""
    ) -> Planned:
        """Return a plan for one stage of a goal, from the state in the graph.

        Args:
            stage: the goal.
            graph: the world as observed.
            inventory: the objects and facts of the world.
            reason: why an earlier plan could not go on; unused, since the state says it all.

        Raises:
            ImpossibleGoalError: it is proven that there is no plan, with all objects; or with those
                chosen, of which nobody knows where they are.
            PlannerError: no plan was found in the time allowed.
        """
        del reason
        asked = self._asked(stage, graph, inventory)
        chosen = self._chosen(asked, inventory)
        for relevant in self._ever_more(asked, chosen, graph, inventory):
            tidy = relevant is chosen  # what is kept for tidiness must not rule a plan out
            planned = self._planned(asked, relevant, graph, inventory, tidy=tidy)
            if planned is not None:
                return planned
        keeping = ""
        if asked.kept:
            said = constraints_said(asked.kept, self.reader.taxonomy, inventory)
            keeping = f" that keeps to this: {said}"
        full = sorted(inventory.too_full)
        if full:
            keeping += f"; there was no room in {' and '.join(full)}"
        lost = sorted(inventory.unplaced & chosen.reasons.keys())
        unseen = f"; nobody has seen where {' and '.join(lost)} are" if lost else ""
        raise ImpossibleGoalError(
            f"there is no way to do this in {inventory.scene} with {', '.join(chosen.names)}"
            f"{'' if lost else ' or anything else'}: the planner has shown that no plan exists"
            f"{keeping}{unseen}"
        )

    def _ever_more(
        self, asked: _Posed, chosen: Relevant, graph: KnowledgeGraph, inventory: Inventory
    ) -> Iterator[Relevant]:
        """Yield the chosen objects, then ever more of them, until it is known that none help.

        What nobody has seen is looked for before anything else is tried.
        """
        if inventory.unplaced & chosen.reasons.keys():
            return iter((chosen,))

        def pose() -> Task:
            every = one_of_each(chosen, inventory)
            return Task(self.domain, self._wider(asked, every.names, graph, inventory))

        return widening_choices(
            chosen, pose, partial(with_others, inventory=inventory), _WIDENING_S
        )

    def _planned(
        self,
        asked: _Posed,
        relevant: Relevant,
        graph: KnowledgeGraph,
        inventory: Inventory,
        *,
        tidy: bool,
    ) -> Planned | None:
        """Return a plan with some objects, None where there is none."""
        if tidy:
            problem = self._problem(asked, relevant.names, graph, inventory)
            problem = forbid_untidy_places(problem, asked.wanted, inventory)
        else:
            problem = self._wider(asked, relevant.names, graph, inventory)
        task = Task(self.domain, problem)
        try:
            result = self.planner.solve(task)
        except PlannerError as error:
            if tidy:
                raise
            raise PlannerError(
                f"there is no plan with what this seems to need, and whether there is one with "
                f"more of what is in {inventory.scene} was not decided: {error}"
            ) from error
        if result.plan is not None:
            plan = _finish(task, result, action_annotations_of(self.ontology).late)
            return Planned(problem, task, relevant, plan, 1)
        if not result.optimal:
            raise PlannerError(
                f"{result.planner or 'the planner'} found no plan, and no proof that there is none"
            )
        return None

    def _wider(
        self, asked: _Posed, names: Iterable[str], graph: KnowledgeGraph, inventory: Inventory
    ) -> Problem:
        return forbid_objects(self._problem(asked, names, graph, inventory), inventory.too_full)

    def _problem(
        self, asked: _Posed, names: Iterable[str], graph: KnowledgeGraph, inventory: Inventory
    ) -> Problem:
        problem = graph.problem(self.domain, "task", names, asked.goal)
        problem = problem.replace(constraints=And(asked.kept))
        if self.any_place:
            problem = allow_all_places(problem, self.ontology, inventory.did_not_fit)
        return forbid_objects(problem, inventory.avoided)


def _finish(task: Task, result: SearchResult, late: Collection[str]) -> Plan:
    assert result.plan is not None
    actions = result.plan if result.optimal else eliminate(task, result.plan)
    actions = postpone(task, actions, late)
    return Plan(macro_blocks(task, actions), result.optimal, result.planner, result.seconds)
