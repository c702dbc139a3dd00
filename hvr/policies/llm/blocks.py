"""AA-blocks: written by the model, checked step by step, corrected by backprompting.

Paper, sections 2.3, 2.4 and B.3: a block is corrected up to `2 x` times, where `x` is its
present length, and has at most 50 steps.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from hvr.pddl import Atom, GroundAction, State, Task, Trajectory
from hvr.planning.macro_actions import block_conditions
from hvr.planning.plans import MacroAction
from hvr.planning.search.navigation import Navigation, find_navigation, repair_navigation
from hvr.policies.llm.answers import read_blocks
from hvr.policies.llm.answers.actions import mark_actions, read_exact_actions
from hvr.policies.llm.conditions import conjunction, refined
from hvr.policies.llm.dialogue import Dialogue, PromptWords, numbered_steps
from hvr.policies.llm.mapper import Mapper
from hvr.policies.llm.prediction import (
    PredictedWorld,
    count_applicable,
    count_executable,
    is_propositional,
    run_actions,
)
from hvr.policies.llm.record import BlockChecked, BlockRecord, BlockWritten, PolicyEvent
from hvr.policies.llm.repair import (
    Constraints,
    PlannerRepair,
    broken_constraints,
    remaining_constraints,
)
from hvr.policies.llm.settings import PolicySettings
from hvr.validation import Validator
from hvr.validation.report import Failure, explain_literal

Block = tuple[GroundAction, ...]
_WORD = re.compile(r"[\w-]+")
_UNCHANGED = "before step 1, and no step since has changed it"

_MOST_LINES = 200
"""Actions of an answer that are mapped, those included that mean nothing."""

_MOST_NOTES = 20
_LONGEST_NOTE = 300
"""Notes on what cannot be read in an answer, and their characters: people and prompts get them."""

MAX_POSTCONDITION_ATTEMPTS = 3
"""Most corrections of a block whose steps all work but miss its postcondition: the condition
itself may be wrong. hvr's own; the paper has no such check."""


@dataclass(frozen=True)
class BlockError:
    """An error in a block.

    Args:
        text: the error in sentences.
        step: number of the first step that cannot be done, from 1; None when all can be done
            and only the postcondition is missed.
        wrong: steps that cannot be done when each of them is skipped, plus literals of the
            postcondition that are missing at the end; infinite when there is no block at all.
        done: steps that can be done.
    """

    text: str
    step: int | None
    wrong: float
    done: int = 0

    @property
    def rank(self) -> tuple[float, int]:
        """How bad the error is; of two blocks with as much wrong, the one that does more is
        better.
        """
        return self.wrong, -self.done


@dataclass(frozen=True)
class Assignment:
    """The macro action that a block is written for, and what its prompts say.

    Args:
        request: the whole task.
        number: number of the macro action, from 1.
        macro: the macro action; without H, one that stands for the whole task.
        names: the objects that the prompt describes.
        history: what was planned before, as the prompt shows it.
        hierarchical: whether the macro action is a part of the task.
    """

    request: str
    number: int
    macro: MacroAction
    names: tuple[str, ...]
    history: str
    hierarchical: bool = True


@dataclass
class BlockWriter:
    """Writes the blocks of a plan.

    Args:
        dialogue: asks the model.
        settings: which parts of the method are on.
        telling: the words of the prompts.
        mapper: returns the mapper for the objects of an assignment.
        bridge: the classical planner.
        listen: called with each event.
    """

    dialogue: Dialogue
    settings: PolicySettings
    telling: PromptWords
    mapper: Callable[[tuple[str, ...]], Mapper]
    bridge: PlannerRepair
    listen: Callable[[PolicyEvent], None]
    _unmapped: list[str] = field(default_factory=list, init=False)
    _reading: str = field(default="", init=False)

    def write(
        self, work: Assignment, foresight: PredictedWorld, answer: str | None = None
    ) -> BlockRecord:
        """Return a block for a macro action from the predicted state, which stays as it is.

        Args:
            work: the macro action.
            foresight: the predicted state.
            answer: what the model has answered already; None asks it.

        Raises:
            LLMError: the model did not answer.
        """
        self._unmapped = []
        conditions = (*work.macro.precondition, *work.macro.postcondition)
        work = with_objects(work, (*foresight.held(foresight.state), *conditions), foresight)
        values = self._values(work, foresight)
        prompt = "block" if work.hierarchical else "plan"
        answer = self.dialogue.ask(prompt, **values) if answer is None else answer
        written = self._read(answer, work, foresight)
        self._announce(work, written, "model")
        task, state = foresight.task, foresight.state
        before = count_applicable(task, state, written) == len(written)
        if not self.settings.verification:
            return BlockRecord(
                macro=work.macro,
                written=written,
                actions=written,
                verified_before=before,
                verified_after=None,
                unmapped=tuple(self._unmapped),
            )
        block, tries = self._correct(work, foresight, written, values)
        repaired = False
        if self.settings.planner_repair and self._error(work, foresight, block):
            bridged = self._bridge(work, foresight, block)
            repaired = bridged != block
            if repaired:
                block = bridged
                self._announce(work, block, "planner")
        return finish_record(
            BlockRecord(
                macro=work.macro,
                written=written,
                actions=block,
                verified_before=before,
                verified_after=None,
                tries=tries,
                repaired=repaired,
                unmapped=tuple(self._unmapped),
            ),
            task,
            state,
            work.hierarchical,
        )

    # Asking -------------------------------------------------------------------------------

    def _values(self, work: Assignment, foresight: PredictedWorld) -> dict[str, str]:
        whole = not work.hierarchical
        values = {
            "request": work.request,
            "objects": self.telling.objects(foresight, work.names),
            "knowledge": self.telling.steps(foresight, work.names, whole=whole),
            "actions": foresight.actions(),
            "history": work.history,
        }
        if work.hierarchical:
            values["macro"] = work.macro.name
            values["wanted"] = self.telling.wanted(work.macro, foresight.task, foresight.state)
        return values

    def _read(self, answer: str, work: Assignment, foresight: PredictedWorld) -> Block:
        """Return the actions of an answer, and take note of what cannot be read."""
        task = foresight.task
        read = read_exact_actions(
            answer, foresight.arities, tuple(task.domain.predicates), task.objects
        )
        self._reading = read.note
        mapper = self.mapper(work.names)
        notes = [f"{line}: this is no action" for line in read.unread]
        limit = self._limit(work)
        state, actions = foresight.state, list[GroundAction]()
        for place, text in enumerate(read.actions):
            if len(actions) == limit or place == _MOST_LINES:
                # First: a prompt shows few notes.
                notes.insert(0, f"{len(read.actions)} actions are too many: {limit} are allowed")
                break
            # The hand is followed through the block: what it holds is meant where a line names
            # only the place.
            held = next(iter(foresight.held(state)), None)
            mapped = mapper.map(text, holding=held)
            if mapped.action is None:
                notes.append(mapped.note)
                continue
            actions.append(mapped.action)
            state = run_actions(foresight.task, state, (mapped.action,))
        self._unmapped += [note[:_LONGEST_NOTE] for note in notes[:_MOST_NOTES]]
        return tuple(actions)

    def _most_tries(self, block: Block) -> int:
        most = self.settings.tries_per_step * max(1, len(block))
        own = self.settings.block_tries
        return most if own is None else min(most, own)

    def _limit(self, work: Assignment) -> int:
        return self.settings.block_limit if work.hierarchical else self.settings.plan_limit

    # Correcting -----------------------------------------------------------------------------

    def _correct(
        self, work: Assignment, foresight: PredictedWorld, written: Block, values: dict[str, str]
    ) -> tuple[Block, int]:
        """Correct a block until nothing is wrong or the tries are spent.

        When they are spent, the best block that was written is kept, which need not be the last
        one. Of equally good blocks the latest wins: it was written knowing the most errors.
        """
        task, state, limit = foresight.task, foresight.state, self._limit(work)
        block, tries, at_end = written, 0, 0
        prompt = "correct_block" if work.hierarchical else "correct_plan"
        best: tuple[tuple[float, int], Block] | None = None
        while True:
            # Missing moves are inserted before the check: they cost none of the model's tries.
            walked = repair_navigation(task, state, block, foresight.navigation)[:limit]
            if walked != block:
                block = walked
                self._announce(work, block, "navigation")
            error = self._error(work, foresight, block)
            # By the present length, as in the paper; an empty block may be corrected as well.
            most = self._most_tries(block)
            self.listen(BlockChecked(work.number, error.text if error else "", tries, most))
            if error is None:
                return block, tries
            if best is None or error.rank <= best[0]:
                best = error.rank, block
            if tries >= most or (error.step is None and at_end >= MAX_POSTCONDITION_ATTEMPTS):
                if best[1] != block:
                    self._announce(work, best[1], "best")
                return best[1], tries
            at_end += error.step is None
            tries += 1
            # The prompt shows what could not be read in the latest answer, and in no older one.
            unread, self._unmapped = self._unmapped, []
            problem = "\n".join([error.text, *unread[:3]])
            wider = with_objects(work, [error.text], foresight)
            if wider.names != work.names:
                work = wider
                values["objects"] = self.telling.objects(foresight, work.names)
            answer = self.dialogue.ask(
                prompt,
                **values,
                block=numbered_steps(block),
                problem=problem,
                attempt=str(tries),
                attempts=str(most),
            )
            corrected = self._read(answer, work, foresight)
            # An answer without a single action has used up a try and changes nothing.
            if corrected:
                block = corrected
                self._announce(work, block, "correction")

    def _error(
        self, work: Assignment, foresight: PredictedWorld, block: Block
    ) -> BlockError | None:
        """Return what is wrong with a block, or None."""
        wanted = work.macro.postcondition if work.hierarchical else foresight.goal
        # No step of an empty block can fail: without a postcondition to miss it would pass.
        # It is right only where the model found nothing to do for a macro action.
        if not block and not wanted and (self._unmapped or not work.hierarchical):
            nothing = "there is no action in the answer that can be carried out"
            return BlockError(nothing, None, math.inf)
        return check_block(foresight.task, foresight.state, block, wanted, foresight.kept)

    def _bridge(self, work: Assignment, foresight: PredictedWorld, block: Block) -> Block:
        """Return the part of a block that works, continued by the planner.

        A plan for the postcondition replaces the rest of the block. Only where there is none is
        the rest kept, with whatever makes each of its steps applicable.
        """
        task, state = foresight.task, foresight.state
        breaks = broken_constraints(state, block, foresight.kept)
        good = block[: min([count_applicable(task, state, block), *(n - 1 for n, _ in breaks)])]
        after = run_actions(task, state, good)
        wanted = work.macro.postcondition if work.hierarchical else foresight.goal
        if wanted:
            goal = conjunction(task, wanted)
            kept = remaining_constraints(state, good, foresight.kept)
            rest = self.bridge.to(after, goal, foresight, _arguments(block), kept=kept)
            if rest is not None:
                return (*good, *rest)
        bridged = (*good, *self.bridge.through(after, block[len(good) :], foresight))
        worse = len(broken_constraints(state, bridged, foresight.kept)) > len(breaks)
        return block if worse else bridged

    def _announce(self, work: Assignment, block: Block, source: str) -> None:
        notes: tuple[str, ...] = ()
        if source in {"model", "correction"}:
            notes = (*filter(None, [self._reading]), *self._unmapped)
        self.listen(BlockWritten(work.number, work.macro.name, block, source, notes))


def finish_record(record: BlockRecord, task: Task, state: State, hierarchical: bool) -> BlockRecord:
    """Return a record with the verdict on its block, and with refined conditions.

    Args:
        record: how the block came about.
        task: the task.
        state: the state before the block.
        hierarchical: whether the block belongs to a macro action, which has conditions.
    """
    valid = count_applicable(task, state, record.actions) == len(record.actions)
    achieved, macro = None, record.macro
    if hierarchical:
        goal = conjunction(task, macro.postcondition)
        achieved = run_actions(task, state, record.actions).holds(goal)
        if valid and is_propositional(task):
            # What the model guessed gives way to what the block provably needs and changes.
            before, after, _ = block_conditions(task, state.bits, record.actions)
            macro = refined(macro, before, after)
    return replace(record, macro=macro, verified_after=valid, achieved=achieved)


def with_objects(work: Assignment, texts: Iterable[str], foresight: PredictedWorld) -> Assignment:
    """Return an assignment whose prompt also describes the objects that some texts name.

    The model can only use objects that the prompt describes. Retrieval may have missed one that
    a condition or the validator's message names.
    """
    known = {o.name for o in foresight.task.problem.objects}
    named = (word for text in texts for word in _WORD.findall(text) if word in known)
    return replace(work, names=tuple(dict.fromkeys((*work.names, *named))))


def check_block(
    task: Task,
    state: State,
    block: Sequence[GroundAction],
    wanted: Sequence[str],
    kept: Constraints = (),
) -> BlockError | None:
    """Return what is wrong with a block, or None.

    Args:
        task: the task.
        state: the state before it.
        block: the actions.
        wanted: literals that must hold after it.
        kept: what is left of the constraints that it must not break.
    """
    validator = Validator(task, state=state)
    navigation = find_navigation(task.domain)
    # The text explains the first error only, since later ones often follow from it; the whole
    # block is counted all the same, so that two blocks can be compared.
    done = count_executable(task, state, block)
    end = run_actions(task, state, block)
    missing = [text for text in wanted if not end.holds(conjunction(task, [text]))]
    breaks = broken_constraints(state, block, kept)
    breaking = dict(reversed(breaks))
    wrong = len(block) - done + len(missing) + len(breaks)
    for number, action in enumerate(block, start=1):
        report = validator.apply(action)
        if report.failure is not None:
            failure = report.failure
            why = " ".join(explain_literal(x, _UNCHANGED) for x in failure.literals)
            why = why or failure.message
            why += _what_is_in_the_way(validator, action, failure, navigation)
            text = f"step {number} {action} cannot be done: {why}"
            return BlockError(text, number, wrong, done)
        if number in breaking:
            text = _what_is_broken(validator, number, action, breaking[number])
            return BlockError(text, number, wrong, done)
    if missing:
        text = f"at the end of the block this does not hold: {' '.join(missing)}"
        return BlockError(text, None, wrong, done)
    return None


def _what_is_broken(
    validator: Validator, number: int, action: GroundAction, constraint: Trajectory
) -> str:
    """Return which constraint a step breaks, and what would have to be otherwise before it."""
    wanted = constraint.operator == "always"
    literals = validator.unmet(constraint.formulas[0], {}, wanted=wanted)
    own = [x for x in literals if x.changed_by is not None and x.changed_by.number == number]
    # Where it takes two to break it, such as two open doors, the step itself may be right.
    others = [x for x in literals if x not in own] or own
    why = " ".join(explain_literal(x, _UNCHANGED) for x in others)
    return f"step {number} {action} breaks what the task demands all the time: {why}"


def _what_is_in_the_way(
    validator: Validator, action: GroundAction, failure: Failure, navigation: Navigation | None
) -> str:
    """Return why the robot cannot go to what it is not near: a closed door, mostly."""
    if navigation is None or not all(
        isinstance(x.formula, Atom) and x.formula.predicate in navigation.predicates
        for x in failure.literals
    ):
        return ""
    obstacles = []
    for move in navigation.actions:
        for name in action.args:
            # On a fork: the validator itself has to stay before the failed step.
            report = validator.fork().apply(GroundAction(move, (name,)))
            if report.failure is not None and report.failure.literals:
                why = " ".join(explain_literal(x, _UNCHANGED) for x in report.failure.literals)
                obstacles.append(f" It cannot go to {name}: {why}")
    return "".join(obstacles)


def _arguments(block: Sequence[GroundAction]) -> set[str]:
    return {name for action in block for name in action.args}


# Batches ------------------------------------------------------------------------------------------
# Blocks of several macro actions from one prompt: a call for each would cost more than they need.
#
# Each block is then checked and corrected as if it had been asked for alone. What an answer lacks
# is asked for alone.

MAX_BATCH = 8
"""Most macro actions of a prompt: what they do to the world must still be followed."""


@dataclass
class BlockBatches:
    """The blocks that were written ahead.

    Args:
        dialogue: asks the model.
        telling: the words of the prompts.
        names: returns the objects that macro actions are about.
    """

    dialogue: Dialogue
    telling: PromptWords
    names: Callable[[Sequence[MacroAction]], tuple[str, ...]]
    _drafts: list[str | None] = field(default_factory=list, init=False)

    @property
    def empty(self) -> bool:
        """Whether the next block has to be asked for."""
        return not self._drafts

    def skip(self) -> None:
        """Leave out the next block: the library has it."""
        del self._drafts[:1]

    def next(
        self, macros: Sequence[MacroAction], foresight: PredictedWorld, done: str
    ) -> str | None:
        """Return the answer for the first of some macro actions; None where it is to be asked for
        alone.

        Args:
            macros: those that are left.
            foresight: the predicted world.
            done: what was planned before, as prompts show it.

        Raises:
            LLMError: the model did not answer.
        """
        if self._drafts:
            return self._drafts.pop(0)
        batch = tuple(macros[:MAX_BATCH])
        while len(batch) > 1:
            values = self._values(batch, foresight, done)
            if self.dialogue.fits("blocks", **values):
                answer = self.dialogue.ask("blocks", **values)
                plain = mark_actions(answer, foresight.arities, foresight.task.objects)
                self._drafts = list(read_blocks(plain, len(batch)))
                return self._drafts.pop(0)
            batch = batch[:-1]
        return None

    def _values(
        self, batch: Sequence[MacroAction], foresight: PredictedWorld, done: str
    ) -> dict[str, str]:
        names = self.names(batch)
        return {
            "request": self.telling.request,
            "objects": self.telling.objects(foresight, names),
            "knowledge": self.telling.steps(foresight, names),
            "actions": foresight.actions(),
            "history": done,
            "macros": self.telling.listed(batch, foresight.task, foresight.state),
        }
