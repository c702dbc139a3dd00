"""AA-blocks (blocks of atomic actions) from a model, checked step by step and corrected.

As in the paper (sections 2.3, 2.4 and B.3), a block of `x` steps is corrected up to `2 x` times and
has at most 50 steps.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hvr.pddl import Atom, GroundAction, State, Task, Trajectory
from hvr.planning.plans import MacroAction, block_conditions
from hvr.planning.search.navigation import Navigation, find_navigation, repair_navigation
from hvr.policies.llm.answers import read_blocks
from hvr.policies.llm.answers.plans import mark_actions, read_exact_actions
from hvr.policies.llm.conditions import conjunction
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
from hvr.policies.llm.schemas import END, AnswerForm, WorldForms, call_line
from hvr.policies.llm.settings import PolicySettings
from hvr.validation.report import Failure, explain_literal
from hvr.validation.validator import Validator

Block = tuple[GroundAction, ...]
_WORD = re.compile(r"[\w-]+")
_UNCHANGED = "before step 1, and no step since has changed it"

_MOST_LINES = 200
"""Maximum number of actions per answer that are read."""

_MOST_NOTES = 20
_LONGEST_NOTE = 300
"""Maximum number of characters in a note about unreadable lines, which users and prompts see."""

MAX_POSTCONDITION_ATTEMPTS = 3
"""Maximum number of corrections of an executable block that does not achieve its postcondition.

The paper does not check the postcondition, which itself may be wrong.
"""


@dataclass(frozen=True)
class BlockError:
    """An error in a block.

    Args:
        step: 1-based number of the first step that is inapplicable or violates a constraint; None
            if only the postcondition fails.
        wrong: Number of inapplicable steps, violations of constraints, and postcondition literals
            that do not hold if these steps are skipped; infinite if there is no block.
        done: Number of applicable steps.
    """

    text: str
    step: int | None
    wrong: float
    done: int = 0

    @property
    def rank(self) -> tuple[float, int]:
        """Sort key, best block first: fewer errors, then more applicable steps."""
        return self.wrong, -self.done


@dataclass(frozen=True)
class Assignment:
    """The macro action for which to write a block, and the contents of its prompts.

    Args:
        number: 1-based number of the macro action.
        names: Names of the objects that the prompt describes.
        history: The steps so far, as prompt text.
        hierarchical: Whether the macro action is only one part of the task.
    """

    request: str
    number: int
    macro: MacroAction
    names: tuple[str, ...]
    history: str
    hierarchical: bool = True


@dataclass
class BlockWriter:
    """Writes the blocks of a plan."""

    dialogue: Dialogue
    settings: PolicySettings
    prompt_words: PromptWords
    mapper: Callable[[tuple[str, ...]], Mapper]
    bridge: PlannerRepair
    listen: Callable[[PolicyEvent], None]
    forms: WorldForms
    _unmapped: list[str] = field(default_factory=list, init=False)
    _impossible: bool = field(default=False, init=False)
    _reading: str = field(default="", init=False)

    def write(
        self, work: Assignment, predicted: PredictedWorld, answer: str | None = None
    ) -> BlockRecord:
        """Return a block for a macro action, from `answer` or by asking the model.

        The predicted state does not change.
        """
        self._unmapped = []
        conditions = (*work.macro.precondition, *work.macro.postcondition)
        work = with_objects(work, (*predicted.held(predicted.state), *conditions), predicted)
        if self.settings.structured:
            work = with_objects(work, predicted.places(work.names), predicted)
        values = self._values(work, predicted)
        if self.settings.constrained:
            answer = self._step_by_step(work, predicted, values)
        elif answer is None:
            prompt = "block" if work.hierarchical else "plan"
            answer = self.dialogue.ask(prompt, self._form(work), **values)
        written = self._read(answer, work, predicted)
        self._count_unreadable(written)
        self._announce(work, written, "model")
        task, state = predicted.task, predicted.state
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
        block, tries = self._correct(work, predicted, written, values)
        repaired = False
        if self.settings.planner_repair and self._error(work, predicted, block):
            bridged = self._bridge(work, predicted, block)
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

    def _values(self, work: Assignment, predicted: PredictedWorld) -> dict[str, str]:
        whole = not work.hierarchical
        values = {
            "request": work.request,
            "objects": self.prompt_words.objects(predicted, work.names),
            "knowledge": self.prompt_words.steps(predicted, work.names, whole=whole),
            "actions": predicted.actions(),
            "history": work.history,
        }
        if work.hierarchical:
            values["macro"] = work.macro.name
            values["wanted"] = self.prompt_words.wanted(work.macro, predicted.task, predicted.state)
        return values

    def _form(self, work: Assignment) -> AnswerForm | None:
        if not self.settings.structured:
            return None
        return self.forms.steps(work.names, self._limit(work))

    def _step_by_step(
        self, work: Assignment, predicted: PredictedWorld, values: Mapping[str, str]
    ) -> str:
        # No action leads to a new state, so the block ends. A correction could contain any action,
        # so the planner repairs the block instead.
        task, state = predicted.task, predicted.state
        given = {"macro": work.request, "wanted": "", **values}
        block: Block = ()
        seen = {state.bits}
        while len(block) < self._limit(work):
            ways = self.forms.ways(state, work.names, predicted.navigation, seen)
            if not ways:
                break
            form = self.forms.next_step(ways)
            answer = self.dialogue.ask("step", form, **given, block=numbered_steps(block))
            chosen = next((a for a in ways if call_line(a) == answer), None)
            if chosen is None:
                self.dialogue.tally.unreadable += bool(answer) and answer != END
                break
            block = (*block, *ways[chosen])
            state = run_actions(task, state, ways[chosen])
            seen.add(state.bits)
        return f"Actions:\n{numbered_steps(block)}"

    def _read(self, answer: str, work: Assignment, predicted: PredictedWorld) -> Block:
        task = predicted.task
        read = read_exact_actions(
            answer, predicted.arities, tuple(task.domain.predicates), task.objects
        )
        self._reading = read.note
        mapper = self.mapper(work.names)
        notes = [f"{line}: this is no action" for line in read.unread]
        limit = self._limit(work)
        state, actions = predicted.state, list[GroundAction]()
        self._impossible = False
        for place, text in enumerate(read.actions):
            if len(actions) == limit or place == _MOST_LINES:
                # This comes first, since prompts show only a few notes.
                notes.insert(0, f"{len(read.actions)} actions are too many: {limit} are allowed")
                break
            # Track the object in the hand, since lines often name only the place to put it.
            held = next(iter(predicted.held(state)), None)
            mapped = mapper.map(text, holding=held)
            if mapped.action is None:
                notes.append(mapped.note)
                self._impossible = self._impossible or mapped.impossible
                continue
            actions.append(mapped.action)
            state = run_actions(predicted.task, state, (mapped.action,))
        self._unmapped += [note[:_LONGEST_NOTE] for note in notes[:_MOST_NOTES]]
        return tuple(actions)

    def _count_unreadable(self, block: Block) -> None:
        # an impossible action was still read
        unread = not block and bool(self._unmapped) and not self._impossible
        self.dialogue.tally.unreadable += unread

    def _most_tries(self, block: Block) -> int:
        if self.settings.constrained:
            return 0
        most = self.settings.tries_per_step * max(1, len(block))
        own = self.settings.block_tries
        return most if own is None else min(most, own)

    def _limit(self, work: Assignment) -> int:
        return self.settings.block_limit if work.hierarchical else self.settings.plan_limit

    # Correcting -----------------------------------------------------------------------------

    def _correct(
        self, work: Assignment, predicted: PredictedWorld, written: Block, values: dict[str, str]
    ) -> tuple[Block, int]:
        # On ties take the latest version, which was written with the most feedback.
        task, state, limit = predicted.task, predicted.state, self._limit(work)
        block, tries, at_end = written, 0, 0
        prompt = "correct_block" if work.hierarchical else "correct_plan"
        best: tuple[tuple[float, int], Block] | None = None
        former = written
        while True:
            # Insert missing moves before the check, so that they do not use up tries.
            walked = repair_navigation(task, state, block, predicted.navigation)[:limit]
            if walked != block:
                block = walked
                self._announce(work, block, "navigation")
            error = self._error(work, predicted, block)
            # As in the paper, the limit depends on the current length; empty blocks have two tries.
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
            # The prompt shows the unreadable lines of the latest answer only.
            unread, self._unmapped = self._unmapped, []
            problem = "\n".join([error.text, *unread[:3]])
            wider = with_objects(work, [error.text], predicted)
            if wider.names != work.names:
                work = wider
                values["objects"] = self.prompt_words.objects(predicted, work.names)
            answer = self.dialogue.ask(
                prompt,
                self._form(work),
                **values,
                block=numbered_steps(block),
                problem=problem,
                attempt=str(tries),
                attempts=str(most),
            )
            corrected = self._read(answer, work, predicted)
            # An answer without any action uses up a try and changes nothing.
            if corrected:
                block = corrected
                self._announce(work, block, "correction")
            repeats = corrected == former
            self._count_unreadable(corrected)
            self.dialogue.tally.repeated += repeats
            if self.settings.structured and (repeats or not corrected):
                # The next answer would be identical, so the planner takes over.
                return best[1], tries
            former = corrected or former

    def _error(
        self, work: Assignment, predicted: PredictedWorld, block: Block
    ) -> BlockError | None:
        wanted = work.macro.postcondition if work.hierarchical else predicted.goal
        # An empty block without a postcondition would pass every check. It is correct only if the
        # model found nothing to do for a macro action.
        if not block and not wanted and (self._unmapped or not work.hierarchical):
            nothing = "there is no action in the answer that can be carried out"
            return BlockError(nothing, None, math.inf)
        return check_block(predicted.task, predicted.state, block, wanted, predicted.kept)

    def _bridge(self, work: Assignment, predicted: PredictedWorld, block: Block) -> Block:
        # A plan for the postcondition replaces the rest of the block. Without such a plan, the rest
        # is kept, and each of its steps is made applicable where possible.
        task, state = predicted.task, predicted.state
        breaks = broken_constraints(state, block, predicted.kept)
        # Stop before the first inapplicable step and before the first broken constraint.
        good = block[: min([count_applicable(task, state, block), *(n - 1 for n, _ in breaks)])]
        after = run_actions(task, state, good)
        wanted = work.macro.postcondition if work.hierarchical else predicted.goal
        if wanted:
            goal = conjunction(task, wanted)
            kept = remaining_constraints(state, good, predicted.kept)
            used = {name for action in block for name in action.args}
            rest = self.bridge.to(after, goal, predicted, used, kept=kept)
            if rest is not None:
                return (*good, *rest)
        bridged = (*good, *self.bridge.through(after, block[len(good) :], predicted))
        worse = len(broken_constraints(state, bridged, predicted.kept)) > len(breaks)
        return block if worse else bridged

    def _announce(self, work: Assignment, block: Block, source: str) -> None:
        notes: tuple[str, ...] = ()
        if source in {"model", "correction"}:
            notes = (*filter(None, [self._reading]), *self._unmapped)
        self.listen(BlockWritten(work.number, work.macro.name, block, source, notes))


def finish_record(record: BlockRecord, task: Task, state: State, hierarchical: bool) -> BlockRecord:
    """Return a record with the verdict on its block and, if `hierarchical`, refined conditions."""
    valid = count_applicable(task, state, record.actions) == len(record.actions)
    achieved, macro = None, record.macro
    if hierarchical:
        goal = conjunction(task, macro.postcondition)
        achieved = run_actions(task, state, record.actions).holds(goal)
        if valid and is_propositional(task):
            # The proven needs and effects of the block replace the model's guesses.
            before, after, _ = block_conditions(task, state.bits, record.actions)
            macro = macro.replace(precondition=before, postcondition=after)
    return replace(record, macro=macro, verified_after=valid, achieved=achieved)


def with_objects(work: Assignment, texts: Iterable[str], predicted: PredictedWorld) -> Assignment:
    """Add the objects that texts name to those that the prompt describes.

    A model can use only described objects, and retrieval may have missed one in an error message.
    """
    known = {o.name for o in predicted.task.problem.objects}
    named = (word for text in texts for word in _WORD.findall(text) if word in known)
    return replace(work, names=tuple(dict.fromkeys((*work.names, *named))))


def check_block(
    task: Task,
    state: State,
    block: Sequence[GroundAction],
    wanted: Sequence[str],
    kept: Constraints = (),
) -> BlockError | None:
    """Return the first error in a block, or None.

    The block must achieve the literals `wanted` and respect the constraints `kept`.
    """
    validator = Validator(task, state=state)
    navigation = find_navigation(task.domain)
    # The text explains only the first error, since later errors often follow from it. The counts
    # cover the whole block, so that versions of it can be compared.
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
            why += _explain_obstacle(validator, action, failure, navigation)
            text = f"step {number} {action} cannot be done: {why}"
            return BlockError(text, number, wrong, done)
        if number in breaking:
            text = _explain_violation(validator, number, action, breaking[number])
            return BlockError(text, number, wrong, done)
    if missing:
        text = f"at the end of the block this does not hold: {' '.join(missing)}"
        return BlockError(text, None, wrong, done)
    return None


def _explain_violation(
    validator: Validator, number: int, action: GroundAction, constraint: Trajectory
) -> str:
    wanted = constraint.operator == "always"
    literals = validator.unmet(constraint.formulas[0], {}, wanted=wanted)
    own = [x for x in literals if x.changed_by is not None and x.changed_by.number == number]
    # If two facts break it together, such as two open doors, the step itself may be right.
    others = [x for x in literals if x not in own] or own
    why = " ".join(explain_literal(x, _UNCHANGED) for x in others)
    return f"step {number} {action} breaks what the task demands all the time: {why}"


def _explain_obstacle(
    validator: Validator, action: GroundAction, failure: Failure, navigation: Navigation | None
) -> str:
    if navigation is None or not all(
        isinstance(x.formula, Atom) and x.formula.predicate in navigation.predicates
        for x in failure.literals
    ):
        return ""
    obstacles = []
    for move in navigation.actions:
        for name in action.args:
            # Use a fork, because the validator itself must stay before the failed step.
            report = validator.fork().apply(GroundAction(move, (name,)))
            if report.failure is not None and report.failure.literals:
                why = " ".join(explain_literal(x, _UNCHANGED) for x in report.failure.literals)
                obstacles.append(f" It cannot go to {name}: {why}")
    return "".join(obstacles)


# Batches ------------------------------------------------------------------------------------------
# One prompt asks for the blocks of several macro actions, which saves calls. Each block is then
# checked and corrected as usual. Blocks missing from the answer are requested separately.

MAX_BATCH = 8
"""Maximum number of macro actions in one prompt, since the model must track their effects."""


@dataclass
class BlockBatches:
    """Blocks of several macro actions that the model writes in one answer."""

    dialogue: Dialogue
    prompt_words: PromptWords
    names: Callable[[Sequence[MacroAction]], tuple[str, ...]]
    forms: WorldForms
    _drafts: list[str | None] = field(default_factory=list, init=False)

    @property
    def empty(self) -> bool:
        return not self._drafts

    def skip(self) -> None:
        """Discard the next block, because the library provides it."""
        del self._drafts[:1]

    def next(
        self, macros: Sequence[MacroAction], predicted: PredictedWorld, done: str
    ) -> str | None:
        """Return the written block of the first macro action, or None if it must be requested.

        If no written block is left, one prompt asks the model for the blocks of several macro
        actions.
        """
        if self._drafts:
            return self._drafts.pop(0)
        batch = tuple(macros[:MAX_BATCH])
        while len(batch) > 1:
            values = self._values(batch, predicted, done)
            if self.dialogue.fits("blocks", **values):
                form = None
                if self.dialogue.structured:
                    most = self.prompt_words.settings.block_limit
                    form = self.forms.blocks(self._names_in(batch, predicted), len(batch), most)
                answer = self.dialogue.ask("blocks", form, **values)
                plain = mark_actions(answer, predicted.arities, predicted.task.objects)
                self._drafts = list(read_blocks(plain, len(batch)))
                unread = bool(answer) and not any(self._drafts)
                self.dialogue.tally.unreadable += unread
                return self._drafts.pop(0)
            batch = batch[:-1]
        return None

    def _values(
        self, batch: Sequence[MacroAction], predicted: PredictedWorld, done: str
    ) -> dict[str, str]:
        names = self._names_in(batch, predicted)
        return {
            "request": self.prompt_words.request,
            "objects": self.prompt_words.objects(predicted, names),
            "knowledge": self.prompt_words.steps(predicted, names),
            "actions": predicted.actions(),
            "history": done,
            "macros": self.prompt_words.listed(batch, predicted.task, predicted.state),
        }

    def _names_in(self, batch: Sequence[MacroAction], predicted: PredictedWorld) -> tuple[str, ...]:
        names = self.names(batch)
        if not self.dialogue.structured:
            return names
        return tuple(dict.fromkeys((*names, *predicted.places(names))))
