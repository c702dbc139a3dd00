"""The built-in policy: grammar and ontology produce the goal, and a classical planner the plan.

It needs neither a key nor a network. `understand` turns a sentence into a goal. `plan` selects the
relevant objects, has a planner find a short plan, and divides it into macro actions.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

from hvr.errors import ImpossibleGoalError, PddlError, PlannerError
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.inventory import PLACEHOLDER, Inventory
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
from hvr.language.paraphrase import paraphrase_constraints
from hvr.pddl import (
    And,
    Atom,
    Domain,
    Expression,
    Problem,
    Task,
    Trajectory,
    TypedName,
    parse_constraint,
    parse_formula,
)
from hvr.pddl.facts import necessary_literals
from hvr.pddl.formulas import Forall, Formula, changes_of, substitute
from hvr.planning.plans import Plan, Planned, Policy, PolicyContext, Understanding, macro_blocks
from hvr.planning.search.fast_downward import SearchResult
from hvr.planning.search.planners import Planner
from hvr.policies.placing import Placing, check_numbers
from hvr.validation.minimise import eliminate, postpone
from hvr.values import cached_property

# Object widening ----------------------------------------------------------------------------------
# If too few objects are selected, the problem has no plan. A relaxed plan over the whole scene
# (Hoffmann & Nebel 2001) finds the missing objects before the goal is reported as impossible.


def widening_choices(
    chosen: Relevant,
    make_task: Callable[[], Task],
    complete: Callable[[Relevant, Iterable[str]], Relevant],
    seconds: float,
) -> Iterator[Relevant]:
    """Yield the selected objects, then larger selections, up to all objects.

    The larger selections are left out if even the task with all objects provably has no plan. A
    goal without a plan for any of the selections is therefore impossible.

    Args:
        make_task: Builds the task with all objects, or with one extra object per group of identical
            objects.
        complete: Adds objects to a selection, together with the objects on which they depend.
        seconds: Time limit of each proof that there is no plan.
    """
    yield chosen
    task = make_task()
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
    """Return whether a task provably has no plan; False if undecided in `seconds`."""
    # Imported on demand, here and below, since most goals have a plan with the first selection.
    from hvr.validation.reachability import Reachable

    reachable = Reachable(task, seconds)
    return reachable.complete and any(
        positive and isinstance(literal, Atom) and literal not in reachable
        for literal, positive in necessary_literals(task.problem.goal)
    )


def relaxed_plan_objects(task: Task, seconds: float) -> tuple[str, ...] | None:
    """Return the objects of a relaxed plan, and those paired with them by static facts.

    The result is None if no relaxed plan exists, and empty if the time limit was reached.
    """
    from hvr.validation.relaxation import Deadline, Relaxation

    relaxation = Relaxation(task.initial, task.goal, frozenset(), Deadline(seconds), beyond=0)
    if not relaxation.reachable:
        return None if relaxation.complete else ()
    plan = relaxation.relaxed_plan(task.initial.bits)
    steps = plan[0] if plan is not None else set()
    actions = [relaxation.operators[number].action for number in sorted(steps)]
    names = dict.fromkeys(name for action in actions for name in action.args)
    return tuple(dict.fromkeys([*names, *_paired_objects(task, names)]))


def _paired_objects(task: Task, names: Collection[str]) -> Iterator[str]:
    """Yield objects, such as stove knobs, that static facts pair one-to-one with given objects."""
    # An action's precondition may require such an object (`exists`) without naming it as an
    # argument.
    pairs: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for atom in sorted(task.problem.init, key=str):
        if len(atom.args) == 2 and task.is_static(atom.predicate):
            pairs[atom.predicate].append(atom.args)
    for rows in pairs.values():
        first, second = (Counter(row[side] for row in rows) for side in (0, 1))
        for one, other in rows:
            if first[one] == second[other] == 1 and (one in names) is not (other in names):
                yield other if one in names else one


# Policy -------------------------------------------------------------------------------------------

_NAME = re.compile(r"(?<![\w?-])[a-z][a-z0-9_]*-\d+(?![\w-])")
"""Name of an object in a goal."""

_LATER = re.compile(r"\((?:sometime|sometime-after|at end)\s")
"""Constraints that require something to happen at some time; all others are prohibitions."""


_ROOM_ROUNDS = 4
"""Maximum number of plans for one goal until all objects fit."""

_WIDENING_S = 20.0
"""Time limit of each search for further objects, in seconds."""


@dataclass(frozen=True)
class _Parsed:
    """A parsed stage of a goal: as requested, and including the end-state preferences."""

    wanted: Formula
    goal: Formula
    ends: tuple[Formula, ...]
    kept: tuple[Formula, ...]


@dataclass(frozen=True)
class _Draft:
    """A plan as the planner returned it, before it is shortened."""

    task: Task
    relevant: Relevant
    result: SearchResult
    assumed: tuple[Trajectory, ...]

    def planned(self, late: Collection[str]) -> Planned:
        plan = _finish(self.task, self.result, late)
        return Planned(self.task.problem, self.task, self.relevant, plan, 1, self.assumed)


class SymbolicPolicy(Policy[Stage]):
    """A policy that plans without a language model.

    Args:
        any_place: Whether any object may be put anywhere, for worlds that force placements.
        reader: Name of a reader in `hvr.language.grammar.READERS`; None for the best one installed.
        reading: 1-based number of the reading to use if the request is ambiguous.
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
        return cls(
            context.ontology,
            context.domain,
            context.planner,
            reader=context.reader,
            reading=context.reading,
        )

    @cached_property
    def reader(self) -> Reader:
        return make_reader(self._reader, self.ontology, self.domain, any_place=self.any_place)

    @cached_property
    def _changing(self) -> frozenset[str]:
        effects = (schema.effect for schema in self.domain.actions.values())
        return frozenset(a.predicate for e in effects for a in changes_of(e) if isinstance(a, Atom))

    def understand(
        self, request: str, graph: KnowledgeGraph, inventory: Inventory
    ) -> Understanding[Stage]:
        del graph
        goal = self.reader.goal(request, inventory, self.reading)
        return Understanding(goal.stages, goal)

    def with_ends(self, wanted: str) -> Stage:
        """Return a PDDL goal as a stage with the default end-state preferences."""
        holding = "(holding" in wanted
        return Stage(wanted, tuple(end_conditions(self.reader.taxonomy, set(), holding=holding)))

    def clearing(self, things: Sequence[str], place: str) -> Stage:
        """Return the goal of removing objects from a place."""
        gone = " ".join(f"(not (on {t} {place})) (not (in {t} {place}))" for t in things)
        free = " ".join(f"({p})" for p in self.ontology.predicates("handEmpty"))
        return Stage(f"(and {gone} {free})")

    def keeping(self, stage: Stage, constraints: Sequence[str]) -> Stage:
        # A reaction to anything of a kind stays as it is; reduce the others to what is left.
        standing = [c for c in stage.constraints if "(sometime-after " in c]
        left = [c for c in constraints if not (standing and c.startswith("(sometime-after "))]
        return stage.replace(constraints=tuple(dict.fromkeys((*standing, *left))))

    def needs(self, stage: Stage, graph: KnowledgeGraph, inventory: Inventory) -> tuple[str, ...]:
        return self._chosen(self._parse(stage, graph, inventory), inventory).names

    def untidy(self, stage: Stage, graph: KnowledgeGraph, inventory: Inventory) -> tuple[str, ...]:
        return tuple(_untidy(self._parse(stage, graph, inventory).ends, inventory))

    def opening(
        self,
        place: str,
        closing: Sequence[str],
        stage: Stage,
        graph: KnowledgeGraph,
        inventory: Inventory,
    ) -> Planned:
        """Return a plan that opens a place, or goes to one without a door; see `Policy.opening`.

        Constraints that require something to happen at some time are dropped, since it may happen
        later.
        """
        is_openable = inventory.true("openable", place)
        (reached,) = self.ontology.predicates("isOpen" if is_openable else "near")
        return self._going(f"({reached} {place})", closing, stage, graph, inventory)

    def visiting(
        self,
        thing: str,
        closing: Sequence[str],
        stage: Stage,
        graph: KnowledgeGraph,
        inventory: Inventory,
    ) -> Planned:
        """Return a plan that goes to an object; see `Policy.visiting`."""
        (near,) = self.ontology.predicates("near")
        return self._going(f"({near} {thing})", closing, stage, graph, inventory)

    def _going(
        self,
        wanted: str,
        closing: Sequence[str],
        stage: Stage,
        graph: KnowledgeGraph,
        inventory: Inventory,
    ) -> Planned:
        kept = tuple(c for c in stage.constraints if not _LATER.search(c))
        (is_open,) = self.ontology.predicates("isOpen")
        shut = " ".join(f"(not ({is_open} {p}))" for p in closing if inventory.true("openable", p))
        wanted = f"(and {wanted} {shut})"
        # Not `self.plan`, which a subclass may reserve for the goal.
        return SymbolicPolicy.plan(self, Stage(wanted, constraints=kept), graph, inventory)

    def _chosen(self, parsed: _Parsed, inventory: Inventory) -> Relevant:
        goals = [parsed.wanted, *_required(parsed.kept)]
        return relevant_objects(goals, inventory, parsed.kept, self._changing)

    def _parse(self, stage: Stage, graph: KnowledgeGraph, inventory: Inventory) -> _Parsed:
        objects = [TypedName(n, (graph.pddl_type(n),)) for n in inventory.classes]
        try:
            return _Parsed(
                parse_formula(stage.wanted, self.domain, objects, file="<goal>"),
                parse_formula(stage.text, self.domain, objects, file="<goal>"),
                tuple([parse_formula(end, self.domain, objects) for end in stage.ends]),
                tuple([parse_constraint(c, self.domain, objects) for c in stage.constraints]),
            )
        except PddlError as error:
            # A goal that was read earlier may name an object that has since gone or is avoided.
            texts = " ".join((stage.wanted, stage.text, *stage.constraints))
            gone = [n for n in dict.fromkeys(_NAME.findall(texts)) if n not in inventory.classes]
            if not gone:
                raise
            raise ImpossibleGoalError(
                f"the goal names {_few(gone)}, which can no longer be used"
            ) from error

    def plan(
        self, stage: Stage, graph: KnowledgeGraph, inventory: Inventory, reason: str = ""
    ) -> Planned:
        """Return a plan for one stage of a goal, from the state in the graph.

        Raises:
            ImpossibleGoalError: No plan exists with all objects, or with the selected ones if the
                location of one of them is unknown.
            PlannerError: No plan was found within the time limit.
        """
        del reason
        parsed = self._parse(stage, graph, inventory)
        check_numbers(parsed.wanted, inventory)
        placing = Placing(parsed.wanted, inventory)
        chosen = _with_room(self._chosen(parsed, inventory), placing, inventory)
        placing.check(chosen.names)
        if untidy := [n for n in _untidy(parsed.ends, inventory) if n not in chosen.reasons]:
            chosen = with_others(chosen, untidy, inventory)
        # Neither predicted sizes nor tidiness may rule out the only plan.
        try:
            planned = self._widened(parsed, chosen, graph, inventory, placing)
        except PlannerError:
            if not placing.crowds:
                raise
            planned = None
        if planned is None and placing.crowds:
            placing.relax()
            planned = self._widened(parsed, chosen, graph, inventory, placing)
        if planned is not None:
            return planned
        keeping = ""
        if parsed.kept:
            text = paraphrase_constraints(parsed.kept, self.reader.taxonomy, inventory)
            keeping = f" that keeps to this: {text}"
        assumed = []
        if full := sorted(inventory.too_full):
            assumed.append(f"there is no more room in {_few(full)}")
        for thing in sorted({name for crowd in placing.confirmed() for name in crowd.things}):
            places = sorted(c.place for c in placing.confirmed() if thing in c.things)
            assumed.append(f"{thing} is too large for {_few(places)}")
        if lost := sorted(inventory.unplaced & chosen.reasons.keys()):
            assumed.append(f"{_few(lost)} {'has' if len(lost) == 1 else 'have'} not been seen")
        raise ImpossibleGoalError(
            f"there is no way to do this in {inventory.scene} with {_few(chosen.names)}"
            f"{'' if lost else ' or anything else'}{keeping}: the planner has shown that no plan "
            f"exists{', given that ' if assumed else ''}{' and '.join(assumed)}"
        )

    def _widened(
        self,
        parsed: _Parsed,
        chosen: Relevant,
        graph: KnowledgeGraph,
        inventory: Inventory,
        placing: Placing,
    ) -> Planned | None:
        for relevant in self._selections(parsed, chosen, graph, inventory):
            tidy = relevant is chosen
            planned = self._planned(parsed, relevant, graph, inventory, placing, tidy=tidy)
            if planned is not None:
                return planned
        return None

    def _selections(
        self, parsed: _Parsed, chosen: Relevant, graph: KnowledgeGraph, inventory: Inventory
    ) -> Iterator[Relevant]:
        if inventory.unplaced & chosen.reasons.keys():
            return iter((chosen,))

        def make_task() -> Task:
            every = one_of_each(chosen, inventory)
            return Task(self.domain, self._wider(parsed, every.names, graph, inventory))

        return widening_choices(
            chosen, make_task, partial(with_others, inventory=inventory), _WIDENING_S
        )

    def _planned(
        self,
        parsed: _Parsed,
        relevant: Relevant,
        graph: KnowledgeGraph,
        inventory: Inventory,
        placing: Placing,
        *,
        tidy: bool,
    ) -> Planned | None:
        """Return a plan within the predicted space, else the last plan found, or None.

        If `tidy`, untidy placements are forbidden; see `forbid_untidy_places`.
        """
        draft = None
        for _ in range(_ROOM_ROUNDS):
            try:
                draft = self._found(parsed, relevant, graph, inventory, placing, tidy=tidy)
            except PlannerError:
                if draft is None:
                    raise
                break
            if draft is None:
                return None
            # Shortening a plan takes long, so an overfull one is planned anew without it.
            if not placing.overfull(draft.task, draft.result.plan or ()):
                break
            relevant = _with_room(relevant, placing, inventory)
        late = action_annotations_of(self.ontology).late
        return None if draft is None else draft.planned(late)

    def _found(
        self,
        parsed: _Parsed,
        relevant: Relevant,
        graph: KnowledgeGraph,
        inventory: Inventory,
        placing: Placing,
        *,
        tidy: bool,
    ) -> _Draft | None:
        if tidy:
            problem = self._problem(parsed, relevant.names, graph, inventory)
            problem = forbid_untidy_places(problem, parsed.wanted, inventory)
        else:
            problem = self._wider(parsed, relevant.names, graph, inventory)
        problem = problem.replace(init=problem.init - placing.misfits(relevant.names))
        assumed = placing.constraints(relevant.names)
        if assumed:
            problem = problem.replace(constraints=And((*parsed.kept, *assumed)))
        task = Task(self.domain, problem)
        try:
            result = self.planner.solve(task)
        except PlannerError as error:
            if tidy:
                raise
            raise PlannerError(
                f"no plan exists with the objects that this seems to need; whether more objects "
                f"of {inventory.scene} would help is undecided: {error}"
            ) from error
        if result.plan is not None:
            return _Draft(task, relevant, result, assumed)
        if not result.optimal:
            raise PlannerError(
                f"{result.planner or 'the planner'} found neither a plan nor a proof that none "
                "exists"
            )
        return None

    def _wider(
        self, parsed: _Parsed, names: Iterable[str], graph: KnowledgeGraph, inventory: Inventory
    ) -> Problem:
        return forbid_objects(self._problem(parsed, names, graph, inventory), inventory.too_full)

    def _problem(
        self, parsed: _Parsed, names: Iterable[str], graph: KnowledgeGraph, inventory: Inventory
    ) -> Problem:
        problem = graph.problem(self.domain, "task", names, parsed.goal)
        problem = problem.replace(constraints=And(parsed.kept))
        if self.any_place:
            problem = allow_all_places(problem, self.ontology, inventory.did_not_fit)
        return forbid_objects(problem, inventory.avoided)


def _required(constraints: Iterable[Expression]) -> Iterator[Expression]:
    for constraint in constraints:
        if isinstance(constraint, Trajectory) and constraint.operator.startswith("sometime"):
            yield constraint.formulas[-1]


def _with_room(chosen: Relevant, placing: Placing, inventory: Inventory) -> Relevant:
    more = placing.expect(chosen.names)
    if chosen.reasons.keys() >= set(more):
        return chosen
    return with_others(chosen, more, inventory, "for things that have no room elsewhere")


def _untidy(ends: Iterable[Formula], inventory: Inventory) -> Iterator[str]:
    # An earlier plan has left the objects in this state, so a new plan must include them.
    # One that only seems tidy is seen again before success is reported.
    every = [end for end in ends if isinstance(end, Forall)]
    for name in sorted(inventory.used & inventory.classes.keys()):
        kind = inventory.ontology.pddl_type(inventory.classes[name])
        for end in every:
            if kind in end.variables[0].types:
                body = substitute(end.body, {end.variables[0].name: PLACEHOLDER})
                if name in inventory.doubted or not inventory.holds(body, name):
                    yield name
                    break


def _finish(task: Task, result: SearchResult, late: Collection[str]) -> Plan:
    assert result.plan is not None
    # A proven shortest plan has no redundant steps.
    actions = result.plan if result.optimal else eliminate(task, result.plan)
    actions = postpone(task, actions, late)
    return Plan(macro_blocks(task, actions), result.optimal, result.planner, result.seconds)


def _few(names: Sequence[str], most: int = 6) -> str:
    if not names:
        return "no objects"
    shown = (
        [*names] if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} more"]
    )
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
