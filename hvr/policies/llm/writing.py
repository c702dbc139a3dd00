"""Writes a plan with a language model (paper, section 2), in the order of the paper's figure 1.

request ─▶ objects ─▶ macro plan ─▶ conditions ─▶ check ─▶ for each macro action:
    objects ─▶ block ─▶ navigation ─▶ check ─▶ correct ─▶ repair ─▶ refine ─▶ library
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from hvr.judging.model_judge import JudgeRound
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.embedders import Embedder
from hvr.knowledge.world_file import load_world
from hvr.models.errors import ModelError
from hvr.models.model import Model
from hvr.pddl import Domain, Problem, State, Task
from hvr.planning.library import Library, MacroMatch, Query, retrieve
from hvr.planning.plans import AABlock, MacroAction, Plan
from hvr.planning.search.planners import Planner
from hvr.policies.llm.answers import (
    MacroConditions,
    read_conditions,
    read_macro_plan,
    read_objects,
    says_nothing,
)
from hvr.policies.llm.blocks import Assignment, BlockBatches, BlockWriter, finish_record
from hvr.policies.llm.conditions import (
    check_macros,
    conjunction,
    correction_values,
    with_conditions,
    without_nearness,
)
from hvr.policies.llm.dialogue import Dialogue, PromptWords, planned_steps
from hvr.policies.llm.mapper import ActionSet, Mapper
from hvr.policies.llm.prediction import PredictedWorld, is_propositional, run_actions
from hvr.policies.llm.prompts import Prompts
from hvr.policies.llm.record import (
    BlockRecord,
    BlockWritten,
    ConditionsWritten,
    MacroCheck,
    MacroPlanChecked,
    MacroPlanWritten,
    ObjectsChosen,
    PlanningRecord,
    PolicyEvent,
    StepsLeftOut,
)
from hvr.policies.llm.repair import (
    PlannerRepair,
    broken_constraints,
    constraints_in,
    eliminate_actions,
    repair_judged_blocks,
)
from hvr.policies.llm.schemas import AnswerForm, WorldForms, kinds_form, titles_form
from hvr.policies.llm.settings import PolicySettings
from hvr.values import cached_property

# Retrieval ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ObjectRetrieval:
    """Selects the objects for a prompt (paper, sections 2.2 and 3.3).

    If retrieval is on (the setting R), the model selects kinds, and the embedder maps them to
    objects.
    """

    dialogue: Dialogue
    settings: PolicySettings
    embedder: Embedder
    listen: Callable[[PolicyEvent], None]
    _chosen: dict[str, str] = field(default_factory=dict, init=False)

    def choose(
        self, request: str, predicted: PredictedWorld, otherwise: tuple[str, ...] = ()
    ) -> tuple[str, ...]:
        """Return the objects for a request in the predicted state; all objects if retrieval is off.

        Args:
            otherwise: For a macro action, the objects of the whole task, which are used if `direct`
                is on or no name in the answer exists.
        """
        names = tuple(o.name for o in predicted.task.problem.objects)
        settings, there = self.settings, predicted.task.objects
        if not settings.retrieval:
            return names
        if settings.direct and otherwise:
            # The macro action is in the last line, after the task.
            named = predicted.named_in(
                request.rsplit("\n", 1)[-1], otherwise, self.embedder, expansion=settings.expansion
            )
            if named:
                picked = tuple(n for n in named if n in there)
                self.listen(ObjectsChosen(request, picked))
                return picked
        answer = self._answer(request, predicted)
        reasons, unmatched = predicted.pick(
            read_objects(answer),
            request,
            self.embedder,
            knowledge=settings.knowledge,
            expansion=settings.expansion,
        )
        self.dialogue.tally.unreadable += bool(answer) and not reasons
        picked = tuple(n for n in reasons if n in there) or otherwise or names
        self.listen(ObjectsChosen(request, picked, unmatched))
        return picked

    def ask_ahead(self, requests: Iterable[str], predicted: PredictedWorld) -> None:
        """Ask for the kinds of objects for several independent requests at once."""
        asked = [one for one in dict.fromkeys(requests) if one not in self._chosen]
        form, classes = kinds_form(predicted.kinds), ", ".join(predicted.kinds)
        values = [{"request": request, "classes": classes} for request in asked]
        self._chosen.update(zip(asked, self.dialogue.ask_all("select", form, values), strict=True))

    def _answer(self, request: str, predicted: PredictedWorld) -> str:
        if request in self._chosen:
            return self._chosen[request]
        form, classes = kinds_form(predicted.kinds), ", ".join(predicted.kinds)
        return self.dialogue.ask("select", form, request=request, classes=classes)

    def with_named(
        self, texts: Iterable[str], predicted: PredictedWorld, known: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Return the known objects and the objects named in `texts`.

        If the setting `expansion` is on, the objects on which the latter depend are added.
        """
        if not self.settings.retrieval:
            return known
        return predicted.with_named(texts, known, self.embedder, expansion=self.settings.expansion)


# Writing ------------------------------------------------------------------------------------------

_REMAINING = "Reach what is left of the goal"
"""Name of the macro action that hvr appends for unreached parts of the goal."""

_UNREAD = "no condition can be read in the answer"
"""Message about an answer without conditions."""

Macros = tuple[MacroAction, ...]
Checks = tuple[MacroCheck, MacroCheck]


@dataclass(frozen=True, kw_only=True)
class Equipment:
    """The model, prompts and tools for writing plans.

    Args:
        library: Macro actions to use instead of asking the model; None to use none.
        compile_task: Compiles tasks; see `PredictedScene`.
    """

    ontology: Ontology
    domain: Domain
    model: Model
    settings: PolicySettings
    embedder: Embedder
    planner: Planner
    prompts: Prompts
    library: Library | None = None
    agent: str = field(default_factory=lambda: load_world().agent.name)
    listen: Callable[[PolicyEvent], None] = lambda _: None
    temperature: float = 0.0
    compile_task: Callable[[Domain, Problem], Task] = Task


class Writing:
    """Writes one plan from the request and the graph, without a reference goal."""

    def __init__(
        self,
        equipment: Equipment,
        request: str,
        predicted: PredictedWorld,
        constraints: Sequence[str] = (),
    ) -> None:
        self.equipment = equipment
        self.settings = equipment.settings
        self.request = request
        self.library_uses: list[str] = []
        """IDs of the library entries used in the plan."""
        self._listen = equipment.listen
        self._predicted = predicted
        if constraints:
            self._predicted.keep(constraints_in(self._predicted.task, constraints))
        self._first_kept = self._predicted.kept
        self._dialogue = Dialogue(
            equipment.model,
            equipment.prompts,
            equipment.temperature,
            structured=self.settings.structured,
        )
        self._retrieval = ObjectRetrieval(
            self._dialogue, self.settings, equipment.embedder, self._listen
        )
        self._prompt_words = PromptWords(self.settings, request)

    def write(self) -> PlanningRecord:
        """Return the plan with its record."""
        started = time.perf_counter()
        bridge = PlannerRepair(self.equipment.planner)
        writer = BlockWriter(
            self._dialogue,
            self.settings,
            self._prompt_words,
            self._mapper_of,
            bridge,
            self._listen,
            self._forms,
        )
        checks: tuple[MacroCheck | None, MacroCheck | None] = (None, None)
        if self.settings.hierarchical:
            macros = self._macro_plan()
            known = self._known(macros)
            if self.settings.verification and len(known) < len(macros):
                macros, checks = self._conditions(macros, known)
            elif self.settings.verification:
                macros = tuple(match.block.macro for match in known)
                check = check_macros(self._predicted.task, self._predicted.state, macros)
                checks = check, check
            records = self._blocks(macros, known, writer)
        else:
            whole = Assignment(
                self.request, 1, MacroAction(self.request), self._names, "nothing", False
            )
            records = [writer.write(whole, self._predicted)]
        written = tuple(AABlock(r.macro, r.actions) for r in records)
        rounds: tuple[JudgeRound, ...] = ()
        if self.settings.judge and is_propositional(self._predicted.task):
            predicted = self._predicted
            judged, rounds = repair_judged_blocks(
                predicted.task, written, predicted.nearness, self._listen, predicted.reduced
            )
            written, rounds = (judged, rounds) if self._no_worse(judged, written) else (written, ())
        blocks, removed = self._elimination(written)
        name = self._dialogue.model.name
        return PlanningRecord(
            plan=Plan(blocks, planner=name, seconds=time.perf_counter() - started),
            blocks=tuple(records),
            hierarchical=self.settings.hierarchical,
            macro_before=checks[0],
            macro_after=checks[1],
            removed=removed,
            library_used=sum(bool(r.from_library) for r in records),
            planner_calls=bridge.calls,
            planners=tuple(bridge.planners),
            judged=rounds,
            unreadable=self._dialogue.tally.unreadable,
            repeated=self._dialogue.tally.repeated,
        )

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return self._retrieval.choose(self.request, self._predicted)

    @cached_property
    def _mapper_of(self) -> Callable[[tuple[str, ...]], Mapper]:
        @cache
        def mapper(names: tuple[str, ...]) -> Mapper:
            return Mapper(self._actions, self.equipment.embedder, names, self._predicted.wording)

        return mapper

    @cached_property
    def _actions(self) -> ActionSet:
        # One action set serves all states of the plan, because it contains every action that may
        # become applicable.
        return ActionSet(self._predicted.task)

    @cached_property
    def _forms(self) -> WorldForms:
        return WorldForms(self._actions, self._predicted.nearness)

    # Macro actions and their conditions -----------------------------------------------------

    def _macro_plan(self) -> Macros:
        objects = self._predicted.classes(self._names)
        request, limit = self.request, self.settings.macro_limit
        for _ in range(2):
            answer = self._dialogue.ask(
                "macro_plan",
                titles_form(limit),
                request=request,
                objects=objects,
                knowledge=self._prompt_words.task(self._predicted, self._names),
            )
            read = answer.splitlines() if self.settings.structured else read_macro_plan(answer)
            self._dialogue.tally.unreadable += bool(answer) and not read
            titles = tuple(read) or (self.request,)
            if len(titles) <= limit:
                self._listen(MacroPlanWritten(titles))
                return tuple(MacroAction(title) for title in titles)
            request = (
                f"{self.request} (An earlier plan had {len(titles)} macro actions. Write at most "
                f"{limit}.)"
            )
        raise ModelError(
            f"{self._dialogue.model.name}: the macro plan has {len(titles)} macro actions, more "
            f"than the limit of {limit}, in two attempts; simplify the request or change the model",
            kind="garbled",
        )

    def _conditions(self, macros: Macros, known: Sequence[MacroMatch]) -> tuple[Macros, Checks]:
        # The first `known` macro actions come from the library and keep its conditions.
        titles = [m.name for m in macros]
        listed = "\n".join(f"{i}. {name}" for i, name in enumerate(titles, start=1))
        form = self._condition_form(titles)
        answer = self._dialogue.ask("conditions", form, **self._world(), macros=listed)
        written, dropped, unread = self._read_conditions(answer, titles)
        macros = (*(match.block.macro for match in known), *written[len(known) :])
        self._listen(ConditionsWritten(macros, dropped))
        return self._corrected(macros, len(known), self.settings.macro_tries, unread)

    def _corrected(
        self, macros: Macros, fixed: int, tries: int, unread: bool = False
    ) -> tuple[Macros, Checks]:
        first = None
        for attempt in range(tries + 1):
            check = check_macros(self._predicted.task, self._predicted.state, macros)
            first = first or check
            self._listen(MacroPlanChecked(check, attempt))
            problem = check.problem or (_UNREAD if unread else "")
            if not problem or attempt == tries:
                break
            values = self._correction(macros, problem, attempt + 1)
            titles = [m.name for m in macros]
            form = self._condition_form(titles)
            answer = self._dialogue.ask("correct_conditions", form, **values)
            written, dropped, unread = self._read_conditions(answer, titles, macros)
            repeats = written[fixed:] == macros[fixed:]
            self._dialogue.tally.repeated += repeats
            macros = (*macros[:fixed], *written[fixed:])
            self._listen(ConditionsWritten(macros, dropped))
            if repeats and (self.settings.structured or unread):
                break  # the next answer would be the same
        assert first is not None
        return macros, (first, check)

    def _correction(self, macros: Macros, problem: str, number: int) -> dict[str, str]:
        def objects(words: Iterable[str]) -> str:
            mentioned = set(words)
            return self._prompt_words.objects(
                self._predicted, [n for n in self._names if n in mentioned]
            )

        def fits(values: dict[str, str]) -> bool:
            # Without R, the prompt contains the whole scene, whatever its length.
            return not self.settings.retrieval or self._dialogue.fits(
                "correct_conditions", **{**values, "knowledge": ""}
            )

        return correction_values(self._world(), macros, problem, number, objects=objects, fits=fits)

    def _read_conditions(
        self, answer: str, titles: Sequence[str], earlier: Sequence[MacroAction] = ()
    ) -> tuple[Macros, tuple[str, ...], bool]:
        written = read_conditions(answer, len(titles))
        unread = all(one == MacroConditions() for one in written) and not says_nothing(answer)
        self._dialogue.tally.unreadable += unread and bool(answer)
        mapper = self._mapper_of(self._names)
        macros = with_conditions(titles, written, mapper, self._predicted.nearness, earlier)
        return (*macros, unread)

    def _condition_form(self, titles: Sequence[str]) -> AnswerForm | None:
        return self._forms.conditions(titles, self._names) if self.settings.structured else None

    def _world(self) -> dict[str, str]:
        return {
            "request": self.request,
            "objects": self._prompt_words.objects(self._predicted, self._names),
            "knowledge": self._prompt_words.conditions(self._predicted, self._names),
            "predicates": (
                predicate_lines(self._predicted)
                if self.settings.structured
                else _predicates(self._predicted.task, self._predicted.nearness)
            ),
        }

    # Blocks ---------------------------------------------------------------------------------

    def _blocks(
        self, macros: Macros, known: Sequence[MacroMatch], writer: BlockWriter
    ) -> list[BlockRecord]:
        # After each block, the remaining conditions are checked from its actual final state, and
        # corrected once (paper, B.3). Batched blocks that are pending were written for these
        # conditions, so they prevent the correction.
        records: list[BlockRecord] = []
        rest = macros
        batches = BlockBatches(self._dialogue, self._prompt_words, self._names_of, self._forms)
        if self.settings.structured and self.settings.retrieval and not self.settings.batching:
            asked = [self._wanted(m) for m in macros[len(known) :]]
            if not self.settings.direct:
                self._retrieval.ask_ahead(asked, self._predicted)
        while rest := rest or self._remaining_goal(records):
            number = len(records) + 1
            if records and self.settings.verification and batches.empty:
                fixed = max(0, len(known) - len(records))
                rest, _ = self._corrected(rest, fixed, 1)
            macro, rest = rest[0], rest[1:]
            match = (
                known[number - 1]
                if number <= len(known)
                else self._match(macro, self._predicted.state)
            )
            if match is not None:
                # The library's block replaces the batched one.
                batches.skip()
                record = self._from_library(number, macro, match)
            else:
                record = self._written(number, (macro, *rest), records, writer, batches)
            records.append(record)
            self._predicted.advance(record.actions)
        return records

    def _remaining_goal(self, records: Sequence[BlockRecord]) -> Macros:
        predicted = self._predicted
        if not self.settings.verification or (records and records[-1].macro.name == _REMAINING):
            return ()
        # Use the whole goal, because reaching the rest must not undo the part that holds.
        holds = predicted.state.holds(conjunction(predicted.task, predicted.goal))
        return () if holds else (MacroAction(_REMAINING, (), predicted.goal),)

    def _written(
        self,
        number: int,
        macros: Macros,
        records: Sequence[BlockRecord],
        writer: BlockWriter,
        batches: BlockBatches,
    ) -> BlockRecord:
        done = planned_steps([AABlock(r.macro, r.actions) for r in records])
        answer = None
        if self.settings.batching and not self.settings.constrained:
            answer = batches.next(macros, self._predicted, done)
        wanted = self._wanted(macros[0])
        chosen = self._names
        if answer is None:
            chosen = self._retrieval.choose(wanted, self._predicted, self._names)
        work = Assignment(self.request, number, macros[0], chosen, done)
        return writer.write(work, self._predicted, answer)

    def _wanted(self, macro: MacroAction) -> str:
        return f"{self.request}\nMacro action: {macro.name}"

    def _names_of(self, macros: Sequence[MacroAction]) -> tuple[str, ...]:
        texts = [t for m in macros for t in (m.name, *m.precondition, *m.postcondition)]
        return self._retrieval.with_named(texts, self._predicted, self._names)

    # The library ----------------------------------------------------------------------------

    def _known(self, macros: Macros) -> tuple[MacroMatch, ...]:
        matches: list[MacroMatch] = []
        state = self._predicted.state
        for macro in macros:
            match = self._match(macro, state)
            if match is None:
                break
            plain = without_nearness(match.block.macro, self._predicted.nearness)
            matches.append(replace(match, block=match.block.replace(macro=plain)))
            state = run_actions(self._predicted.task, state, match.block.actions)
        return tuple(matches)

    def _match(self, macro: MacroAction, state: State) -> MacroMatch | None:
        # A match with the model's postcondition is preferred, but a similar name suffices: the
        # library's conditions are proven, whereas the model's are guesses.
        library = self.equipment.library
        if library is None or not self.settings.library:
            return None
        for wanted in dict.fromkeys((macro.postcondition, ())):
            query = Query(
                name=macro.name,
                agent=self.equipment.agent,
                request=self.request,
                postcondition=wanted,
            )
            match = retrieve(
                library,
                query,
                self._predicted.task,
                state,
                self.equipment.embedder,
                ontology=self.equipment.ontology,
            )
            kept = self._predicted.kept
            if match and not broken_constraints(state, match.block.actions, kept):
                return match
        return None

    def _from_library(self, number: int, macro: MacroAction, match: MacroMatch) -> BlockRecord:
        self.library_uses.append(match.entry.id)
        block = match.block.actions
        self._listen(BlockWritten(number, macro.name, block, "library"))
        record = BlockRecord(
            macro=match.block.macro,
            written=block,
            actions=block,
            verified_before=True,
            verified_after=None,
            from_library=match.entry.name,
        )
        return finish_record(record, self._predicted.task, self._predicted.state, hierarchical=True)

    # Elimination ----------------------------------------------------------------------------

    def _elimination(self, blocks: tuple[AABlock, ...]) -> tuple[tuple[AABlock, ...], int]:
        if not self.settings.elimination or not is_propositional(self._predicted.task):
            return blocks, 0
        kept, left_out = eliminate_actions(self._predicted.task, blocks, self._predicted.nearness)
        if not self._no_worse(kept, blocks):
            return blocks, 0
        if left_out:
            self._listen(StepsLeftOut(left_out))
        return kept, len(left_out)

    def _no_worse(self, changed: Iterable[AABlock], blocks: Iterable[AABlock]) -> bool:
        start, kept = self._predicted.task.initial, self._first_kept
        changed, blocks = tuple(changed), tuple(blocks)
        goal = conjunction(start.task, self._predicted.goal)
        ends = [
            run_actions(start.task, start, [a for b in p for a in b.actions])
            for p in (changed, blocks)
        ]
        if ends[1].holds(goal) and not ends[0].holds(goal):
            return False
        after, before = (
            len(broken_constraints(start, [a for b in plan for a in b.actions], kept))
            for plan in (changed, blocks)
        )
        return after <= before


def _predicates(task: Task, nearness: frozenset[str]) -> str:
    return " ".join(f"({' '.join(parts)})" for parts in _fluents(task, nearness))


def predicate_lines(predicted: PredictedWorld) -> str:
    """Return one line per predicate that actions change: its parameters and its meaning.

    Predicates about nearness are left out.
    """
    lines = []
    for name, *parameters in _fluents(predicted.task, predicted.nearness):
        clause = predicted.wording.clause(name, parameters)
        lines.append(f"({' '.join((name, *parameters))}){f': {clause}' if clause else ''}")
    return "\n".join(lines)


def _fluents(task: Task, nearness: frozenset[str]) -> list[tuple[str, ...]]:
    used = [p for n, p in task.domain.predicates.items() if n in task.fluent_predicates]
    return [
        (p.name, *(v.name.lstrip("?") for v in p.parameters))
        for p in used
        if p.name not in nearness
    ]
