"""A dialogue with the robot: requests, questions, corrections and undo in one scene."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
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
from hvr.language.dialogue import (
    CANCEL,
    DialogueMemory,
    DialogueQuestion,
    Rewriter,
    chosen,
    small_talk,
)
from hvr.language.goal_builder import Goal, Stage
from hvr.language.grammar import Reader, make_reader
from hvr.language.own_words import effects_of
from hvr.language.paraphrase import in_order
from hvr.language.statements import answer, is_question
from hvr.language.truth import SceneView, StatementJudge
from hvr.pddl import GroundAction, parse_formula
from hvr.pddl.task import holds_initially
from hvr.runs.folder import RunFolder
from hvr.runs.past_turns import PastTurn, brought_about, handled, moved, same_verb
from hvr.runs.request import Options, read_request
from hvr.runs.result import Run
from hvr.runs.spine import OpenScene, carry_out, open_scene
from hvr.validation.report import count
from hvr.validation.validator import Validator

if TYPE_CHECKING:
    from hvr.execution.events import Event
    from hvr.planning.plans import Planned
    from hvr.runs.request import RunRequest

_UNDO = re.compile(
    r"(?:please |no,? |ok(?:ay)?,? )*(?:(?:undo|revert|reverse)"
    r"(?P<what> (?:(?:everything|all|it all|all of (?:it|that|them|this))"
    r"(?: you(?: have)? d(?:id|one))?"
    r"|both|the last two(?: \w+)?"
    r"|(?:that|it|this|the|my)?(?: ?(?:last|previous))?"
    r"(?: (?:thing|one|step|bit|request|action|change))?"
    r"|what you(?: have)?(?: just)? (?:did|done)))?|take (?:that|it) back)(?: please| again)?"
)
_NOT_THAT = re.compile(r"no\W+not (?P<thing>[^,.;]+)")
_WHICH = re.compile(
    r"(?:and )?(?:which|what) (?P<thing>[\w ]+?)(?: (?:did|have) you (?:use|used|take|taken|"
    r"chosen|choose|mean|pick)| do you mean| was (?:it|that)| is (?:it|that))?"
)
_DEED = re.compile(r"(?:did|have) you (?:really |already |just )?(?P<verb>\w+) (?P<thing>.+)")
_PUT = re.compile(
    r"where (?:exactly )?(?:did|have) you (?:just )?(?:put|placed?|left|leave) (?P<thing>.+)"
    r"|(?:which [\w ]+?|what) (?:did|have) you (?:put|placed?) (?P<into>.+?) (?:in|on|into|onto)"
    r"|have you seen (?P<seen>.+)"
)
_WAS = re.compile(
    r"where (?:was|were) (?P<thing>.+?)(?: (?:before|originally|at first|first|earlier))"
    r"|where (?:did|have) you (?:get|got|find|found|take|taken) (?P<from>.+?)(?: from)?"
)
_DID = frozenset(
    {"what did you do", "what did you just do", "what have you done", "what have you just done"}
    | {"what happened", "what just happened", "what did i ask", "what did i ask for"}
    | {"what did i ask you to do", "what did i tell you to do", "what did i want you to do"}
)


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
        if self.options.policy_name != "symbolic":
            raise UsageError("a conversation works only with the symbolic policy", field="policy")
        if self.options.reading is not None:
            raise UsageError(
                "a conversation asks which reading is meant: omit the reading", field="reading"
            )
        if not self.options.execute:
            raise UsageError(
                "a conversation executes its requests: omit the dry run", field="execute"
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
        try:
            reply = self._reply(text)
        except AmbiguousError as error:
            reply = self._ask(DialogueQuestion(error.question, error.choices))
        except LanguageError as error:
            reply = self._ask_or_refuse(error)
        except (ImpossibleGoalError, PlannerError) as error:
            reply = ConversationReply(kind="refused", text=str(error))
        self.replies = (*self.replies, reply)
        self._folder.append("conversation.jsonl", {"said": text, **reply.to_json()})
        return reply

    # --- turns ---------------------------------------------------------------------------

    def _reply(self, text: str) -> ConversationReply:
        if self._question is not None:
            question, self._question = self._question, None
            number = chosen(text, question.choices)
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
        plain = " ".join(text.lower().split()).strip(" .!?")
        if (undo := _UNDO.fullmatch(plain)) is not None:
            what = (undo["what"] or "").strip()
            whole = what.startswith(("everything", "all", "it all"))
            two = what == "both" or "two" in what
            return self._undo(len(self._done) if whole else 2 if two else 1)
        if (unwanted := _NOT_THAT.fullmatch(plain)) and self._was_last(unwanted["thing"]):
            return self._undo()
        if talk := small_talk(plain):
            take_back = "; 'undo' takes the last request back" if self._done else ""
            talk += take_back if talk.startswith("nothing") else ""
            return ConversationReply(kind="answer", text=talk)
        if plain in _DID:
            return self._tell()
        if plain == "why" or plain.startswith("why "):
            return self._why(plain)
        if (found := self._recalled(plain)) is not None:
            return found
        if plain == "where" and self._memory.things:
            text = "where is it?"
        if (put := _PUT.fullmatch(plain)) is not None:
            text = f"where is {put['thing'] or put['into'] or put['seen']}?"
        if is_question(text):
            return self._answer(text)
        return self._request(text)

    def _named(self, text: str) -> tuple[str, ...]:
        if text in {"it", "that", "them", "they"}:
            return self._memory.things[:1] if text in {"it", "that"} else self._memory.group
        tokens, spans = self._rewriter().spans(text)
        if len(spans) != 1 or spans[0].end != len(tokens) or spans[0].start:
            return ()
        try:
            return StatementJudge(self._reader, self._view()).things(spans[0].thing)
        except LanguageError:
            return ()

    def _was_last(self, text: str) -> bool:
        names = self._named(text)
        return bool(names) and bool(self._done) and set(names) <= set(self._memory.group)

    def _recalled(self, plain: str) -> ConversationReply | None:
        """Answer a question about earlier turns, such as 'did you wash it?', or return None."""
        judge = StatementJudge(self._reader, self._view())
        if (which := _WHICH.fullmatch(plain)) is not None and self._done:
            used = (*self._memory.group, *self._done[-1].acted, *self._memory.places)
            found = [n for n in used if n in self._named(which["thing"])][:1]
            if found:
                return ConversationReply(kind="answer", text=found[0])
        if (deed := _DEED.fullmatch(plain)) is not None and self._done:
            return self._did(deed["verb"], deed["thing"])
        if (was := _WAS.fullmatch(plain)) is not None:
            names = self._named(was["thing"] or was["from"])
            origins = [n for n in names if n in self._memory.origins]
            said = [
                f"{judge.called(n)} was {self._relation(place)} {judge.called(place)}"
                for n in origins
                if (place := self._memory.origins[n]) in self.inventory().classes
            ]
            if said:
                return ConversationReply(kind="answer", text="; ".join(said))
        return None

    def _did(self, verb: str, thing: str) -> ConversationReply | None:
        """Answer whether an earlier turn did something; None if the verb is not understood."""
        names = self._named(thing)
        acted = {name for done in self._done for name in done.acted}
        if names and verb in {"use", "used", "touch", "touched"}:
            found = bool(acted & {*names})
        elif names and verb in {"move", "moved"}:
            found = moved(names, self._done, self.inventory())
        else:
            said = f"{verb} {' and '.join(names) or thing}"
            try:
                goals = self._reader.goals(said, self._done[0].before)
            except (LanguageError, ImpossibleGoalError):
                return None
            found = brought_about(goals, self._done, self.inventory(), self._reader)
        return ConversationReply(kind="answer", text="yes" if found else "no")

    def _relation(self, place: str) -> str:
        return self._reader.taxonomy.relation(self.inventory().classes[place])

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
        if isinstance(refusal, ImpossibleGoalError):  # 'no, in the drawer' can still correct it
            self._memory = self._memory.replace(request=text)
        raise refusal or LanguageError(f"say what to do, or ask a question: {text.strip()!r}")

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
            if found.things:
                things = tuple(dict.fromkeys((*found.things, *self._memory.things)))
                around = [p for n in found.things if (p := self.inventory().parents.get(n))]
                places = tuple(dict.fromkeys((*around, *self._memory.places)))
                self._memory = self._memory.replace(
                    things=things[:20], group=found.things, places=places[:20]
                )
            self._memory = self._memory.replace(request=request)
            return ConversationReply(kind="answer", text=found.text, request=request)
        raise refusal or LanguageError(f"hvr does not understand the question {text.strip()!r}")

    def _ask(self, question: DialogueQuestion) -> ConversationReply:
        self._question = question
        return ConversationReply(kind="question", text=question.text, choices=question.choices)

    def _ask_or_refuse(self, error: LanguageError) -> ConversationReply:
        if isinstance(error, ProposalError):
            return self._ask(DialogueQuestion("Shall I do this?", error.requests))
        if not error.suggestions:
            return ConversationReply(kind="refused", text=str(error))
        first = str(error).partition(" (did you")[0]
        return self._ask(DialogueQuestion(f"{first}. Did you mean this?", error.suggestions))

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
        """Forbid putting held objects that the goal does not name back into their containers."""
        wanted = " ".join(stage.wanted for stage in goal.stages)
        origins, classes = self._memory.origins, self.inventory().classes
        held = [n for n in self.inventory().held if n not in wanted and n in origins]
        never = tuple(
            f"(always (not (in {name} {place})))"
            for name in held
            if goal.contingency is None
            if (place := origins[name]) in classes and self._relation(place) == "in"
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
        for name in portable:
            place = done.before.parents.get(name)
            if place and self.inventory().parents.get(name) != place:
                origins.pop(name, None)  # the latest move comes last
                origins[name] = place
        alike = set(portable or places)
        judge = StatementJudge(self._reader, self._view())
        spans = self._rewriter().spans(done.request)[1]
        named = [n for s in spans if s.thing.nouns for n in judge.things(s.thing)[:1]]
        again = self._memory.used if same_verb(done.request, self._memory.request) else ()
        self._memory = DialogueMemory(
            done.request,
            tuple(dict.fromkeys((*(portable or places), *self._memory.things)))[:20],
            tuple(portable or places),
            tuple(dict.fromkeys((*places, *named, *self._memory.places)))[:20],
            tuple(dict.fromkeys((*again, *alike))),
            MappingProxyType(origins),
            done.acted,
        )

    # --- questions about the past --------------------------------------------------------

    def _tell(self) -> ConversationReply:
        if not self._done:
            return ConversationReply(kind="answer", text="nothing yet")
        done = self._done[-1]
        if done.run is None:
            return ConversationReply(
                kind="answer", text=f"an error ended {done.request!r} half-way"
            )
        blocks = [block.macro.name for ready in done.run.plans for block in ready.plan.blocks]
        return ConversationReply(
            kind="answer", text="; ".join(blocks) or "nothing to do: it already holds"
        )

    def _why(self, text: str) -> ConversationReply:
        tokens, spans = self._rewriter().spans(text)
        judge = StatementJudge(self._reader, self._view())
        names = {n for span in spans for n in judge.things(span.thing)} if spans else set()
        if text == "why" and self._done:
            return ConversationReply(kind="answer", text=f"you asked: {self._done[-1].request}")
        if not names and set(tokens) & {"it", "that", "them"}:
            names = set(self._memory.things[:1]) | set(self._memory.places[:1])
        for done in reversed(self._done):
            for planned in reversed(done.planned):
                actions = planned.plan.actions
                fitting = [
                    n
                    for n, action in enumerate(actions)
                    if names & set(action.args) and self._imperative(action).split()[0] in tokens
                ] or [n for n, action in enumerate(actions) if names & set(action.args)]
                if fitting:
                    meant = tuple(n for n in actions[fitting[0]].args if n in names)
                    things = tuple(dict.fromkeys((*meant, *self._memory.things)))
                    self._memory = self._memory.replace(things=things, group=meant)
                    return ConversationReply(
                        kind="answer", text=self._because(done, planned, fitting[0])
                    )
        return ConversationReply(kind="answer", text="I did not do that")

    def _because(self, done: PastTurn, planned: Planned, number: int) -> str:
        actions = planned.plan.actions
        without = (*actions[:number], *actions[number + 1 :])
        report = Validator(planned.task).check(without)
        asked = f"you asked: {done.request}"
        if report.valid or report.failure is None:
            return f"because {asked}"
        failure = report.failure
        step = failure.step - 1 if failure.step is not None else len(without)
        if not 0 <= step < len(without):
            return f"because {asked}"
        later = self._imperative(without[step])
        return f"to {later}, which would not work otherwise; {asked}"

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
        """Yield `wanted` and, if different, its literals that can each be achieved alone."""
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

    def _imperative(self, action: GroundAction) -> str:
        wording = wording_of(self._reader.ontology).actions.get(action.name)
        if wording is None:
            return str(action)
        return wording.imperative.fill([*map(self._label, action.args)]).lower() or str(action)

    def _label(self, name: str) -> str:
        object_class = self.inventory().classes.get(name)
        return f"the {self._reader.taxonomy.label(object_class)}" if object_class else name

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
