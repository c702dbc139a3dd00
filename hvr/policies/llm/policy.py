"""The language model's policy (paper, section 2): the spine reads like its figure 1.

request ─▶ objects ─▶ macro plan ─▶ conditions ─▶ check ─▶ for each macro action:
    objects ─▶ block ─▶ navigation ─▶ check ─▶ correct ─▶ repair ─▶ refine ─▶ library
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from hvr.agents import DEFAULT_AGENT
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import Ontology
from hvr.library import Library, Match, Query, retrieve
from hvr.llm.model import Model
from hvr.pddl import Domain, GroundAction, Problem, State, Task
from hvr.plans import AABlock, MacroAction, Plan
from hvr.policies.llm.action_set import action_set
from hvr.policies.llm.answers import read_conditions, read_macro_plan
from hvr.policies.llm.blocks import Assignment, BlockWriter, finish, history
from hvr.policies.llm.bridge import Bridge
from hvr.policies.llm.conditions import check_macros, describe, lasting, with_conditions
from hvr.policies.llm.dialogue import Dialogue
from hvr.policies.llm.events import (
    BlockWritten,
    ConditionsWritten,
    MacroPlanChecked,
    MacroPlanWritten,
    PolicyEvent,
    StepsLeftOut,
)
from hvr.policies.llm.foresight import Foresight, applicable, run
from hvr.policies.llm.lean import lean, outcome
from hvr.policies.llm.mapper import Mapper
from hvr.policies.llm.prompts import Prompts
from hvr.policies.llm.record import BlockRecord, MacroCheck, PlanningRecord
from hvr.policies.llm.retrieval import Retrieval
from hvr.policies.llm.settings import PolicySettings
from hvr.policies.symbolic import Planned
from hvr.retrieval.context import class_context, object_context
from hvr.retrieval.embedders import Embedder
from hvr.retrieval.inventory import Inventory
from hvr.retrieval.relevance import Relevant
from hvr.search.navigation import find_navigation
from hvr.search.planners import Planner


class LLMPolicy:
    """Plans with a language model. It knows the request and the graph, and no gold goal.

    Args:
        ontology: classes and their names.
        domain: the actions.
        model: who answers.
        settings: which parts are on.
        embedder: maps names to objects and actions.
        planner: for planner-assisted repair.
        prompts: the templates.
        library: macro actions to use instead of asking; None for none.
        agent: whose domain it is, for the library.
        listen: is told what happens.
        seed: for the model's sampling, where the provider takes one.
        temperature: of the model's sampling.
        compile_task: see `Foresight`.
    """

    name = "llm"

    def __init__(
        self,
        ontology: Ontology,
        domain: Domain,
        model: Model,
        settings: PolicySettings,
        *,
        embedder: Embedder,
        planner: Planner,
        prompts: Prompts,
        library: Library | None = None,
        agent: str = DEFAULT_AGENT,
        listen: Callable[[PolicyEvent], None] | None = None,
        seed: int | None = None,
        temperature: float = 0.0,
        compile_task: Callable[[Domain, Problem], Task] = Task,
    ) -> None:
        self.ontology = ontology
        self.domain = domain
        self.settings = settings
        self.embedder = embedder
        self.library = library
        self.agent = agent
        self.records: list[PlanningRecord] = []
        """Of every plan that was made, in order."""
        self.library_uses: list[str] = []
        """Ids of the entries of the library whose blocks went into a plan."""
        self._planner = planner
        self._compile = compile_task
        self._listen = listen or _nobody
        self._dialogue = Dialogue(model, prompts, temperature, seed)
        self._retrieval = Retrieval(self._dialogue, settings, embedder, self._listen)

    # As a policy of the executor ----------------------------------------------------------

    def clearing(self, things: Sequence[str], place: str) -> str:
        """Return the request to take things away from a place."""
        return f"take {' and '.join(things)} away from {place} and put it somewhere else"

    def plan(
        self, stage: str, graph: KnowledgeGraph, inventory: Inventory, trouble: str = ""
    ) -> Planned:
        """Return a plan for a request, whose goal is how it should leave what it touches.

        Args:
            stage: the request.
            graph: the world as observed.
            inventory: what there is in it.
            trouble: why an earlier plan could not be carried on.

        Raises:
            LLMError: the model did not answer.
        """
        request = stage
        if trouble:
            request = f"{stage} (A first attempt was broken off: {trouble} Go on from here.)"
        record = self.write(request, graph, inventory)
        self.records.append(record)
        task = Task(self.domain, graph.problem(self.domain, "plan"))
        navigation = find_navigation(self.domain)
        fleeting = navigation.predicates if navigation else frozenset()
        goal = outcome(task, task.initial, record.plan.actions, fleeting)
        problem = task.problem.replace(goal=goal)
        relevant = Relevant({o.name: "it is in the scene" for o in problem.objects})
        task = Task(self.domain, problem)
        return Planned(problem, task, relevant, record.plan, record.planner_calls)

    # Writing a plan -------------------------------------------------------------------------

    def write(self, request: str, graph: KnowledgeGraph, inventory: Inventory) -> PlanningRecord:
        """Return a plan for a request in the world that a graph shows, and how it came about.

        Args:
            request: in words.
            graph: the world; it is not changed.
            inventory: what there is in it.

        Raises:
            LLMError: the model did not answer; what was asked so far is in its transcript.
        """
        started = time.perf_counter()
        foresight = Foresight(graph, self.domain, inventory, self._compile)
        actions = action_set(foresight.task)

        @cache
        def mapper(names: tuple[str, ...]) -> Mapper:
            return Mapper(actions, self.embedder, names)

        bridge = Bridge(self.domain, self._planner)
        writer = BlockWriter(self._dialogue, self.settings, mapper, bridge, self._listen)
        names = self._retrieval.choose(request, foresight)
        checks: tuple[MacroCheck | None, MacroCheck | None] = (None, None)
        if self.settings.hierarchical:
            macros = self._macro_plan(request, names, foresight)
            known = self._known(request, macros, foresight)
            if self.settings.verification and len(known) < len(macros):
                macros, checks = self._conditions(
                    request, names, macros, known, foresight, mapper(names)
                )
            elif self.settings.verification:
                macros = tuple(match.block.macro for match in known)
                check = check_macros(foresight.task, foresight.state, macros)
                checks = check, check
            records = self._blocks(request, names, macros, known, foresight, writer, mapper(names))
        else:
            whole = Assignment(request, 1, MacroAction(request), names, "nothing", False)
            records = [writer.write(whole, foresight)]
        plan, removed = self._elimination(records, foresight)
        name = self._dialogue.model.name
        return PlanningRecord(
            plan=Plan(plan, planner=name, seconds=time.perf_counter() - started),
            blocks=tuple(records),
            hierarchical=self.settings.hierarchical,
            macro_before=checks[0],
            macro_after=checks[1],
            removed=removed,
            library_used=sum(bool(r.from_library) for r in records),
            planner_calls=bridge.calls,
        )

    def _macro_plan(
        self, request: str, names: tuple[str, ...], foresight: Foresight
    ) -> tuple[MacroAction, ...]:
        """Return the macro actions; the request itself is the only one if the model gives none."""
        objects = class_context(foresight.graph, names)
        answer = self._dialogue.ask("macro_plan", request=request, objects=objects)
        found = read_macro_plan(answer)[: self.settings.macro_limit] or (request,)
        self._listen(MacroPlanWritten(found))
        return tuple(MacroAction(name) for name in found)

    def _conditions(
        self,
        request: str,
        names: tuple[str, ...],
        macros: Sequence[MacroAction],
        known: Sequence[Match],
        foresight: Foresight,
        mapper: Mapper,
    ) -> tuple[tuple[MacroAction, ...], tuple[MacroCheck, MacroCheck]]:
        """Return the macro actions with conditions, corrected, and the checks before and after.

        The first ones, which the library knows, have the conditions that were found there.
        """
        titles = [m.name for m in macros]
        listed = "\n".join(f"{i}. {name}" for i, name in enumerate(titles, start=1))
        values = self._about(request, names, foresight)
        answer = self._dialogue.ask("conditions", **values, macros=listed)
        written = read_conditions(answer, len(titles))
        found, dropped = with_conditions(titles, written, mapper, foresight.nearness)
        found = (*(match.block.macro for match in known), *found[len(known) :])
        self._listen(ConditionsWritten(found, dropped))
        tries = self.settings.macro_tries
        return self._corrected(request, names, found, len(known), foresight, mapper, tries)

    def _corrected(
        self,
        request: str,
        names: tuple[str, ...],
        macros: tuple[MacroAction, ...],
        fixed: int,
        foresight: Foresight,
        mapper: Mapper,
        tries: int,
    ) -> tuple[tuple[MacroAction, ...], tuple[MacroCheck, MacroCheck]]:
        """Return macro actions whose conditions are corrected until each can follow those before
        it.

        The first `fixed` ones keep theirs. Returns the checks before and after, too.
        """
        first = None
        for attempt in range(tries + 1):
            check = check_macros(foresight.task, foresight.state, macros)
            first = first or check
            self._listen(MacroPlanChecked(check, attempt))
            if not check.problem or attempt == tries:
                break
            values = self._about(request, names, foresight)
            answer = self._dialogue.ask(
                "correct_conditions", **values, conditions=describe(macros),
                problem=f"{check.problem}\n(correction {attempt + 1})",
            )  # fmt: skip
            titles = [m.name for m in macros]
            written = read_conditions(answer, len(titles))
            found, dropped = with_conditions(titles, written, mapper, foresight.nearness, macros)
            macros = (*macros[:fixed], *found[fixed:])
            self._listen(ConditionsWritten(macros, dropped))
        assert first is not None
        return macros, (first, check)

    def _about(self, request: str, names: tuple[str, ...], foresight: Foresight) -> dict[str, str]:
        """Return what prompts about conditions tell of the world."""
        return {
            "request": request,
            "objects": object_context(foresight.graph, names),
            "predicates": _predicates(foresight.task, foresight.nearness),
        }

    def _blocks(
        self,
        request: str,
        names: tuple[str, ...],
        macros: Sequence[MacroAction],
        known: Sequence[Match],
        foresight: Foresight,
        writer: BlockWriter,
        mapper: Mapper,
    ) -> list[BlockRecord]:
        """Return the blocks, one after the other.

        After each one the conditions of those that are still to come are checked again, from the
        state to which it really leads, and corrected once (paper, B.3).
        """
        records: list[BlockRecord] = []
        rest = tuple(macros)
        while rest:
            number = len(records) + 1
            if records and self.settings.verification:
                fixed = max(0, len(known) - len(records))
                rest, _ = self._corrected(request, names, rest, fixed, foresight, mapper, 1)
            macro, rest = rest[0], rest[1:]
            match = known[number - 1] if number <= len(known) else None
            if match is None:
                match = self._match(request, macro, foresight.task, foresight.state)
            if match is not None:
                record = self._taken(number, macro, match, foresight)
            else:
                wanted = f"{request}\nMacro action: {macro.name}"
                chosen = self._retrieval.choose(wanted, foresight, names)
                done = history([AABlock(r.macro, r.actions) for r in records])
                work = Assignment(request, number, macro, chosen, done)
                record = writer.write(work, foresight)
            records.append(record)
            foresight.advance(record.actions)
        return records

    def _known(
        self, request: str, macros: Sequence[MacroAction], foresight: Foresight
    ) -> tuple[Match, ...]:
        """Return macro actions of the library for the first of the plan, as far as there
        are any.
        """
        found: list[Match] = []
        state = foresight.state
        for macro in macros:
            match = self._match(request, macro, foresight.task, state)
            if match is None:
                break
            plain = lasting(match.block.macro, foresight.nearness)
            found.append(replace(match, block=replace(match.block, macro=plain)))
            state = run(foresight.task, state, match.block.actions)
        return tuple(found)

    def _match(self, request: str, macro: MacroAction, task: Task, state: State) -> Match | None:
        """Return a macro action of the library that works from a state, or None.

        One that brings about what the model has written is preferred to one that only goes by
        the same words: the library's conditions were proven, the model's are a guess.
        """
        if self.library is None or not self.settings.library:
            return None
        for wanted in dict.fromkeys((macro.postcondition, ())):
            query = Query(name=macro.name, agent=self.agent, request=request, postcondition=wanted)
            match = retrieve(
                self.library, query, task, state, self.embedder, ontology=self.ontology
            )
            if match is not None:
                return match
        return None

    def _taken(
        self, number: int, macro: MacroAction, match: Match, foresight: Foresight
    ) -> BlockRecord:
        """Return the record of a block that was taken from the library."""
        self.library_uses.append(match.entry.id)
        block = match.block.actions
        self._listen(BlockWritten(number, macro.name, block, "library"))
        record = BlockRecord(
            macro=match.block.macro, written=block, actions=block, verified_before=True,
            verified_after=None, from_library=match.entry.name,
        )  # fmt: skip
        return finish(record, foresight.task, foresight.state, hierarchical=True)

    # The end --------------------------------------------------------------------------------

    def _elimination(
        self, records: Sequence[BlockRecord], foresight: Foresight
    ) -> tuple[tuple[AABlock, ...], int]:
        """Return the blocks of the plan, without unnecessary steps if that is asked for."""
        blocks = tuple(AABlock(r.macro, r.actions) for r in records)
        if not self.settings.elimination:
            return blocks, 0
        task = foresight.task
        state = task.initial
        actions = tuple(a for b in blocks for a in b.actions)
        if applicable(task, state, actions) < len(actions):
            return blocks, 0
        # A plan that changes nothing is left as it is: what it was for is not known.
        kept = set(lean(task, state, actions, foresight.nearness)) or set(range(len(actions)))
        shorter: list[AABlock] = []
        position = 0
        left_out: list[GroundAction] = []
        for block in blocks:
            numbers = range(position, position + len(block.actions))
            position += len(block.actions)
            rest = tuple(actions[n] for n in numbers if n in kept)
            left_out += [actions[n] for n in numbers if n not in kept]
            shorter.append(replace(block, actions=rest))
        if left_out:
            self._listen(StepsLeftOut(tuple(left_out)))
        return tuple(b for b in shorter if b.actions), len(left_out)


def _nobody(event: PolicyEvent) -> None:
    del event


def _predicates(task: Task, nearness: frozenset[str]) -> str:
    """Return the predicates that conditions may use, as the prompts show them."""
    used = [p for n, p in task.domain.predicates.items() if n in task.fluent_predicates]
    return " ".join(
        f"({' '.join((p.name, *(v.name.lstrip('?') for v in p.parameters)))})"
        for p in used
        if p.name not in nearness
    )
