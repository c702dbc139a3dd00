"""A dialogue with the robot: requests, questions, corrections and undo in one scene."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from hvr.errors import (
    AmbiguousError,
    HvrError,
    ImpossibleGoalError,
    LanguageError,
    PlannerError,
    ProposalError,
    UsageError,
)
from hvr.execution.deviations import PLACE_PREDICATES
from hvr.knowledge.ontology import REACH
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.wording import wording_of
from hvr.language.answers import CANCEL, DialogueQuestion, chosen, small_talk, undone, unmarked
from hvr.language.dialogue import Rewriter
from hvr.language.goal_builder import Goal, Stage
from hvr.language.grammar import Reader, make_reader
from hvr.language.own_words import effects_of
from hvr.language.paraphrase import in_order
from hvr.language.phrases import DialogueMemory
from hvr.language.statements import answer, is_question
from hvr.language.truth import SceneView, StatementJudge
from hvr.pddl import parse_formula
from hvr.pddl.task import holds_initially
from hvr.runs.folder import RunFolder
from hvr.runs.past_turns import PastQuestions, PastTurn, as_question, handled, same_verb
from hvr.runs.request import Options, read_request
from hvr.runs.result import Run
from hvr.runs.spine import OpenScene, carry_out, open_scene
from hvr.validation.report import count

if TYPE_CHECKING:
    from hvr.execution.events import Event
    from hvr.runs.request import RunRequest

_NOT_THAT = re.compile(r"(?:no\W+)?not (?P<thing>[^,.;]+?)(?:,? sorry)?")
_ONLY = re.compile(r"(?:i|we) (?:only|just) (?:wanted|want|meant|said|asked for) (?P<what>.+)")
_SENTENCE = re.compile(r"(?<=[.!?\u2026])\s+")


@dataclass(frozen=True, kw_only=True)
class ConversationReply:
    """The robot's reply to one turn of a dialogue.

    Args:
        kind: `done` (carried out), `failed` (tried without success), `answer` (to a question),
            `question` (see `choices`) or `refused`.
        choices: The possible answers to a question, in words.
        request: The request as understood, without references to earlier turns; empty if the turn
            was not a request.
        run: The run, if the turn was a request that was carried out.
    """

    kind: str
    text: str
    choices: tuple[str, ...] = ()
    request: str = ""
    run: Run | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "text": self.text,
            "choices": list(self.choices),
            "request": self.request,
            "folder": None if self.run is None else str(self.run.folder),
        }


@dataclass
class Conversation:
    """A dialogue in one scene, whose state persists from turn to turn.

    Each request that is carried out is a run with its own folder (`turn-1`, …) inside the folder of
    the conversation. Call `close` at the end, or use the object as a context manager: `with
    Conversation() as robot: print(robot.say("open the fridge").text)`.

    Raises:
        HvrError: An option is invalid, or the scene cannot be opened.
    """

    options: Options = field(default_factory=Options)
    listen: Callable[[Event | Any], None] | None = None

    def __post_init__(self) -> None:
        self.replies: tuple[ConversationReply, ...] = ()
        """All replies so far."""
        self._memory = DialogueMemory()
        self._done: list[PastTurn] = []
        self._question: DialogueQuestion | None = None
        self._turns = 0
        self._last: Run | None = None
        if self.options.policy_name != "symbolic":
            raise UsageError("a conversation works only with policy 'symbolic'", field="policy")
        if self.options.reading is not None:
            raise UsageError(
                "a conversation asks about ambiguous requests: omit the reading", field="reading"
            )
        if not self.options.execute:
            raise UsageError(
                "a conversation executes each request, so a dry run is impossible", field="execute"
            )
        self._base = read_request("open a conversation", None, self.options)
        folder = RunFolder.create(self.options.save, "conversation", datetime.now())
        with ExitStack() as opened:
            opened.callback(folder.close)
            self._scene: OpenScene = opened.enter_context(open_scene(self._base, folder))
            world = self._base.world
            self._reader: Reader = make_reader(
                self.options.reader, world.scene_ontology, world.agent.domain()
            )
            self._folder = folder
            self._close = opened.pop_all()

    @property
    def folder(self) -> str:
        """Path of the folder that records the conversation."""
        return str(self._folder.path)

    @property
    def question(self) -> DialogueQuestion | None:
        """The robot's open question; a new request discards it."""
        return self._question

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the scene and release the folder. Idempotent."""
        self._close.close()

    def say(self, text: str) -> ConversationReply:
        """Reply to a request, a question, or an answer to the robot's question.

        Raises:
            SimulatorError, DataFileError: The scene or the folder can no longer be used.
        """
        said: list[str] = []
        try:
            parts, unread = self._parts(text)
        except LanguageError:
            parts, unread = [text], []
        for remark in unread:
            if text.find(remark) < text.find(parts[0].partition(". ")[0]):
                self._mention(remark)  # 'The mug is dirty. Wash it.'
        run: Run | None = None
        for number, part in enumerate(parts, 1):
            reply = self._replied(part)
            said.append(reply.text)
            run = reply.run or run
            self._last = run or self._last
            if reply.kind in {"question", "refused", "failed"}:
                unread = [*unread, *parts[number:]]
                break
        said[-1] += f"; not read: {', '.join(unread)}" if unread else ""
        reply = replace(reply, text=". ".join(said), run=run)
        self.replies = (*self.replies, reply)
        self._folder.append("conversation.jsonl", {"said": text, **reply.to_json()})
        return reply

    # --- turns ---------------------------------------------------------------------------

    def _parts(self, text: str) -> tuple[list[str], list[str]]:
        """Split a turn with questions into its sentences; drop those that only greet or thank.

        The second list contains the sentences that say nothing about the scene.
        """
        parts = [part for part in _SENTENCE.split(text.strip()) if part]
        kept = [part for part in parts if not small_talk(part)] or parts[-1:]
        says = self._rewriter().says_something
        said = [p for p in kept if is_question(p) or undone(p, 1) or says(p)] or kept
        said = [p for p in said if is_question(p) or not as_question(p)] or said
        unread = [part for part in kept if part not in said]
        return said if any(map(is_question, said)) else [" ".join(said)], unread

    def _replied(self, text: str) -> ConversationReply:
        try:
            return self._reply(text)
        except AmbiguousError as error:
            self._mention(text)
            return self._ask(DialogueQuestion(error.question, error.choices))
        except LanguageError as error:
            self._mention(text)
            if stated := as_question(text):
                with suppress(LanguageError):
                    return self._answer(stated)
            return self._ask_or_refuse(error)
        except (ImpossibleGoalError, PlannerError) as error:
            self._mention(text)
            return ConversationReply(kind="refused", text=str(error))

    def _mention(self, text: str) -> None:
        with suppress(LanguageError):
            text = next((r for r in self._rewriter().requests(text) if isinstance(r, str)), text)
        try:
            asks, spans = is_question(text), self._rewriter().spans(text)[1]
        except LanguageError:
            return
        judge = StatementJudge(self._reader, self._view())
        names: list[str] = []
        for span in spans:
            with suppress(LanguageError):
                found = judge.things(span.thing) if span.thing.kind != "everything" else ()
                names += found if len(found) == 1 or span.thing.many else ()
        movable = tuple(n for n in names if self.inventory().true("pickupable", n))
        places = tuple(n for n in names if n not in movable)
        memory = self._memory
        self._memory = memory.replace(
            request=memory.request if asks or self._rewriter().is_elliptic(text) else text,
            asked=text if asks else "",
            things=tuple(dict.fromkeys((*movable, *places, *memory.things)))[:20],
            group=movable or places or memory.group,
            places=tuple(dict.fromkeys((*places, *memory.places)))[:20],
            used=movable or memory.used,
        )

    def _reply(self, text: str) -> ConversationReply:
        if self._question is not None:
            question, self._question = self._question, None
            number = chosen(text, question.choices)
            if question.requests and text.lower().strip(" .!") in {"both", "all", "both of them"}:
                return self._carry_out(" and ".join(question.requests))
            if number == CANCEL:
                return ConversationReply(kind="answer", text="all right, I do nothing")
            if number is not None:
                return self._carry_out(question.meant(number))
            try:
                return self._turn(text)
            except (AmbiguousError, ProposalError):
                raise
            except LanguageError as error:
                if error.suggestions:
                    raise
                return self._ask(question)
        return self._turn(text)

    def _turn(self, text: str) -> ConversationReply:
        plain = " ".join(unmarked(text).lower().split()).strip(" .!?")
        if number := undone(plain, len(self._done)):
            return self._undo(number)
        past = PastQuestions(self._reader, self._view(), self._memory, self._done, self._last)
        if (unwanted := _NOT_THAT.fullmatch(plain)) and past.was_last(unwanted["thing"]):
            if {*past.named(unwanted["thing"])} == {*self._memory.group}:
                return self._undo()
            return self._request(f"put {unwanted['thing']} back")
        if talk := small_talk(text):
            take_back = "; 'undo' takes the last request back" if self._done else ""
            talk += take_back if talk.startswith("nothing") else ""
            return ConversationReply(kind="answer", text=talk)
        if (told := past.answer(plain)) is not None:
            self._spoke_of(told.things)
            return ConversationReply(kind="answer", text=told.text)
        text = past.in_present(plain + "?" * text.rstrip().endswith("?")) or text
        remark, pause, asked = text.rpartition(", ")
        if pause and is_question(asked) and not is_question(text):
            if not self._reads(remark):
                self._mention(remark)  # 'I lost my watch, where is it?'
                return self._turn(asked)
            done = self._request(remark)
            if done.kind != "done":
                return done
            self._last = done.run
            reply = self._turn(asked)
            return replace(reply, text=f"{done.text}. {reply.text}", run=reply.run or done.run)
        if (only := _ONLY.match(plain)) and self._done:
            rewritten = (r for r in self._rewriter().requests(only["what"]) if isinstance(r, str))
            if (request := next(filter(self._reads, rewritten), None)) is not None:
                undone_ = self._undo()
                if undone_.kind == "failed":
                    return undone_
                reply = self._request(request)
                return replace(reply, text=f"{undone_.text}. {reply.text}")
        return self._answer(text) if is_question(text) else self._request(text)

    def _spoke_of(self, names: tuple[str, ...]) -> None:
        if not names:
            return
        around = [p for n in names if (p := self.inventory().parents.get(n))]
        self._memory = self._memory.replace(
            things=tuple(dict.fromkeys((*names, *self._memory.things)))[:20],
            group=names,
            places=tuple(dict.fromkeys((*around, *self._memory.places)))[:20],
        )

    def _request(self, text: str) -> ConversationReply:
        refusal: HvrError | None = None
        for request in self._rewriter().requests(text):
            if isinstance(request, DialogueQuestion):
                return self._ask(request)
            if is_question(request):
                return self._answer(request)
            try:
                self._reader.goals(request, self.inventory())
            except (LanguageError, ImpossibleGoalError) as error:
                refusal = refusal if isinstance(refusal, ImpossibleGoalError) else error
                continue
            return self._carry_out(request)
        raise refusal or LanguageError(
            f"hvr does not understand {text.strip()!r}: say what to do, or ask a question"
        )

    def _answer(self, text: str) -> ConversationReply:
        refusal: LanguageError | None = None
        for request in self._rewriter().requests(text):
            if isinstance(request, DialogueQuestion):
                return self._ask(request)
            try:
                found = answer(request, self._reader, self._view())
            except LanguageError as error:
                refusal = refusal or error
                continue
            self._spoke_of(found.things)
            self._memory = self._memory.replace(asked=request)
            return ConversationReply(kind="answer", text=found.text, request=request)
        raise refusal or LanguageError(f"hvr does not understand the question {text.strip()!r}")

    def _ask(self, question: DialogueQuestion) -> ConversationReply:
        self._question = question
        return ConversationReply(kind="question", text=question.text, choices=question.choices)

    def _ask_or_refuse(self, error: LanguageError) -> ConversationReply:
        if isinstance(error, ProposalError):
            return self._ask(DialogueQuestion("Shall I do this?", error.requests))
        readable = tuple(text for text in error.suggestions if self._reads(text))
        if not readable:
            return ConversationReply(kind="refused", text=str(error))
        first = str(error).partition(" (did you")[0]
        return self._ask(DialogueQuestion(f"{first}. Did you mean this?", readable))

    def _reads(self, text: str) -> bool:
        try:
            return bool(self._reader.goals(text, self.inventory()))
        except AmbiguousError:
            return True
        except (LanguageError, ImpossibleGoalError):
            return False

    # --- runs ----------------------------------------------------------------------------

    def _carry_out(self, text: str) -> ConversationReply:
        goals = self._reader.goals(text, self.inventory())
        if len(goals) > 1:
            raise AmbiguousError(tuple(in_order(goal.paraphrase) for goal in goals))
        goal = self._keeping(goals[0])
        before = self.inventory()
        try:
            try:
                done, run = self._run(text, self._kept_out(goal))
            except (ImpossibleGoalError, PlannerError):
                if self._kept_out(goal) == goal:
                    raise
                done, run = self._run(text, goal)
        except HvrError:
            if self.inventory().facts != before.facts:
                self._done.append(
                    PastTurn(text, before, None, ())
                )  # 'undo' restores what was changed
            raise
        self._remember(done, goal)
        self._done.append(done)
        return _told(text, run, goal)

    def _keeping(self, goal: Goal) -> Goal:
        # Drop an end-state preference that does not hold now: the user has left the fridge open.
        if not self._done or goal.contingency is not None:
            return goal
        world, domain = self._scene.world, self._reader.domain
        problem = world.graph.problem(domain, "now")

        def holds(end: str) -> bool:
            formula = parse_formula(end, domain, problem.objects, file="<goal>")
            return holds_initially(domain, problem, formula)

        stages = (s.replace(ends=tuple(filter(holds, s.ends))) for s in goal.stages)
        return goal.replace(stages=tuple(stages))

    def _kept_out(self, goal: Goal) -> Goal:
        """Forbid putting held objects back into their containers unless the goal names them."""
        wanted = " ".join(stage.wanted for stage in goal.stages)
        origins, classes = self._memory.origins, self.inventory().classes
        taxonomy = self._reader.taxonomy
        held = [n for n in self.inventory().held if n not in wanted and n in origins]
        never = tuple(
            f"(always (not (in {name} {place})))"
            for name in held
            if goal.contingency is None
            if (place := origins[name]) in classes and taxonomy.relation(classes[place]) == "in"
        )
        stages = (s.replace(constraints=(*s.constraints, *never)) for s in goal.stages)
        return goal.replace(stages=tuple(stages))

    def _run(self, text: str, goal: Goal) -> tuple[PastTurn, Run]:
        self._turns += 1
        path = self._folder.path / f"turn-{self._turns}"
        request: RunRequest = replace(
            self._base, text=text, options=replace(self._base.options, save=path)
        )
        folder = RunFolder.create(path, text, datetime.now())
        before = self.inventory()
        run, planned = carry_out(
            request,
            folder,
            request.to_json(),
            self.listen,
            time.perf_counter(),
            scene=self._scene,
            goal=goal,
        )
        return PastTurn(text, before, run, planned), run

    def _remember(self, done: PastTurn, goal: Goal) -> None:
        used = handled(done, goal, self._reader)
        portable = [n for n in used if done.before.true("pickupable", n)]
        places = [n for n in used if n not in portable]
        origins = dict(self._memory.origins)
        now = self.inventory()
        acted = [n for n in done.acted if done.before.true("pickupable", n)]
        for name in dict.fromkeys((*reversed(acted), *portable)):
            place = done.before.parents.get(name)
            if (
                place
                and now.parents.get(name) != place
                and (name in now.parents or name in now.held)
            ):
                origins.pop(name, None)  # the latest move comes last
                origins[name] = place
        moved = [
            n for n in portable if self.inventory().parents.get(n) != done.before.parents.get(n)
        ]
        about = moved or portable or places
        places += [n for n in portable if moved and n not in moved]
        judge = StatementJudge(self._reader, self._view())
        spans = self._rewriter().spans(done.request)[1]
        named = [n for s in spans if s.thing.nouns for n in judge.things(s.thing)[:1]]
        unread = self._rewriter().spans(" , ".join(goal.unread))[1]
        aside = [n for s in unread if s.thing.nouns for n in judge.things(s.thing)[:1]]
        again = self._memory.used if same_verb(done.request, self._memory.request) else ()
        self._memory = DialogueMemory(
            done.request,
            tuple(dict.fromkeys((*aside, *about, *portable, *self._memory.things)))[:20],
            tuple(about),
            tuple(dict.fromkeys((*places, *named, *self._memory.places)))[:20],
            tuple(dict.fromkeys((*again, *about))),
            MappingProxyType(origins),
            done.acted or self._memory.acted,
        )

    # --- undo ----------------------------------------------------------------------------

    def _undo(self, number: int = 1) -> ConversationReply:
        last_ones = self._done[-number:]
        if not last_ones:
            return ConversationReply(kind="answer", text="there is nothing to undo")
        requests = "; ".join(done.request for done in last_ones)
        wanted, lost = self._restoring(last_ones[0].before)
        if not wanted:
            del self._done[-number:]
            return ConversationReply(
                kind="failed" if lost else "answer", text=_left(lost) or "nothing changed"
            )
        last: HvrError | None = None
        for literals in self._possible(wanted):
            stage = Stage(f"(and {' '.join(literals)})")
            lost += [self._said(text) for text in wanted if text not in literals]
            goal = Goal((stage,), notes=tuple(filter(None, (_left(lost),))), paraphrase=("undone",))
            try:
                undone, run = self._run(f"undo: {requests}", goal)
            except (ImpossibleGoalError, PlannerError) as error:
                last = error
                continue
            reply = _told(undone.request, run, goal)
            if run.reached:
                del self._done[-number:]
                self._forget()
            return replace(reply, text=reply.text.replace(": undone", f", undone: {requests}"))
        raise last or ImpossibleGoalError("this cannot be undone")

    def _forget(self) -> None:
        now = self.inventory().parents
        origins = {n: p for n, p in self._memory.origins.items() if now.get(n) != p}
        self._memory = self._memory.replace(origins=MappingProxyType(origins))

    def _possible(self, wanted: Sequence[str]) -> Iterator[list[str]]:
        """Yield `wanted` and, if they differ, the literals in it that can be achieved alone."""
        yield list(wanted)
        policy = _policy_of(self._base, self._reader)
        graph, inventory = self._scene.world.graph, self.inventory()
        kept = []
        for literal in wanted:
            try:
                policy.plan(Stage(literal), graph, inventory)
            except (ImpossibleGoalError, PlannerError):
                continue
            kept.append(literal)
        if kept and len(kept) < len(wanted):
            yield kept

    def _restoring(self, before: Inventory) -> tuple[list[str], list[str]]:
        now = self.inventory()
        can = effects_of(self._reader.domain)
        there = self._reader.taxonomy.is_there
        reach = self._reader.taxonomy.roles.predicate(REACH)
        wanted: list[str] = []
        lost: list[str] = []
        changes = [(a, True) for a in before.facts - now.facts]
        changes += [(a, False) for a in now.facts - before.facts]
        for atom, held in sorted(changes, key=str):
            if not atom.args or atom.predicate == reach:
                continue
            names = [n for n in atom.args if n in before.classes]
            if atom.predicate in self._marks or atom.predicate == self._present:
                continue
            if not any((atom.predicate, sign) in can for sign in (True, False)):
                continue
            gone = any(there(before, n) and not there(now, n) for n in names)
            new = any(there(now, n) and not there(before, n) for n in names)
            if new or (gone and (held or (atom.predicate, False) in can)):
                continue  # pieces that did not exist before; facts about objects that are cut up
            literal = str(atom) if held else f"(not {atom})"
            moved = atom.predicate in PLACE_PREDICATES and not held
            if moved and any(
                a.predicate in PLACE_PREDICATES and a.args[0] == atom.args[0]
                for a in before.facts - now.facts
            ):
                continue  # implied by being at the old place
            if (atom.predicate, held) in can:
                wanted.append(literal)
            else:
                lost.append(self._said(literal))
        return wanted, lost

    def _said(self, literal: str) -> str:
        positive = literal.startswith("(not ")
        words = literal.removeprefix("(not ").strip("()").split()
        judge = StatementJudge(self._reader, self._view())
        args = [judge.called(n) if n in judge.inventory.classes else n for n in words[1:]]
        wording = wording_of(self._reader.ontology)
        return wording.clause(words[0], args, positive=positive) or literal

    @property
    def _marks(self) -> frozenset[str]:
        ontology = self._reader.ontology
        return frozenset(p for m in ontology.instances("Mark") for p in ontology.predicates(m))

    @property
    def _present(self) -> str:
        return self._reader.taxonomy.there.strip("()").split()[0]

    # --- state ---------------------------------------------------------------------------

    def inventory(self) -> Inventory:
        """Return the objects and facts that the robot knows now."""
        return self._scene.world.inventory()

    def _view(self) -> SceneView:
        return SceneView(self.inventory(), frozenset(self._scene.world.perception.unopened))

    def _rewriter(self) -> Rewriter:
        return Rewriter(self._reader, self.inventory(), self._memory)


def _told(request: str, run: Run, goal: Goal) -> ConversationReply:
    notes = "".join(f"; {note}" for note in goal.notes)
    steps = run.finished.steps if run.finished else 0
    if run.reached:
        said = in_order(goal.paraphrase)
        text = f"done in {count(steps, 'step')}: {said}" if steps else f"already so: {said}"
        if goal.unread:
            text += f"; not read: {', '.join(goal.unread)}"
        return ConversationReply(kind="done", text=text + notes, request=request, run=run)
    why = run.verdict or (run.finished.reason if run.finished else "")
    return ConversationReply(
        kind="failed", text=f"not done: {why}{notes}", request=request, run=run
    )


def _left(lost: Sequence[str]) -> str:
    return f"this cannot be undone: {'; '.join(dict.fromkeys(lost))}" if lost else ""


def _policy_of(request: RunRequest, reader: Reader) -> Any:
    from hvr.policies.symbolic import SymbolicPolicy

    return SymbolicPolicy(reader.ontology, reader.domain, request.planner)
