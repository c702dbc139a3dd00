"""The turns of a dialogue that were carried out, what they changed, and questions about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from hvr.errors import ImpossibleGoalError, LanguageError
from hvr.execution.deviations import PLACE_PREDICATES
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.wording import wording_of
from hvr.language.dialogue import Rewriter
from hvr.language.goal_builder import Goal
from hvr.language.grammar import Reader
from hvr.language.phrases import DialogueMemory
from hvr.language.statements import QuestionAnswer, answer
from hvr.language.truth import SceneView, StatementJudge
from hvr.pddl import And, Atom, Exists, Expression, GroundAction, Not, Or, TypedName, parse_formula
from hvr.runs.result import Run
from hvr.validation.report import count
from hvr.validation.validator import Validator

if TYPE_CHECKING:
    from hvr.planning.plans import Planned


@dataclass(frozen=True)
class PastTurn:
    """A request that was carried out, with its plans and the scene before it.

    `run` is None if an error ended the request after it had changed the scene.
    """

    request: str
    before: Inventory
    run: Run | None
    planned: tuple[Planned, ...]

    @property
    def acted(self) -> tuple[str, ...]:
        """The objects in the plans' actions, most recent first."""
        names = [n for p in self.planned for a in p.plan.actions for n in a.args]
        return tuple(dict.fromkeys(reversed(names)))


def brought_about(
    goals: Sequence[Goal], turns: Sequence[PastTurn], now: Inventory, reader: Reader
) -> bool | None:
    """Return whether one of the turns made a goal true that did not hold before it.

    The result is None if the goals have neither facts nor denied facts, as with 'or'.
    """
    kinds = {n: reader.taxonomy.pddl_type(c) for n, c in now.classes.items()}
    objects = [TypedName(n, (kind,)) for n, kind in kinds.items()]

    def is_one(fact: Atom, atom: Atom, types: Mapping[str, tuple[str, ...]]) -> bool:
        """Return whether a fact is an instance of an atom, whose variables have `types`."""
        return fact.predicate == atom.predicate and all(
            reader.domain.has_type((kinds.get(own, ""),), types[asked])
            if asked in types
            else own == asked
            for own, asked in zip(fact.args, atom.args, strict=True)
        )

    wanted = [parse_formula(s.wanted, reader.domain, objects) for g in goals for s in g.stages]
    asked = [one for formula in wanted for one in _positive(formula, {})]
    denied = [one for formula in wanted for one in _positive(formula, {}, denied=True)]
    if not (asked or denied):
        return None
    for before, after in pairwise([*(turn.before for turn in turns), now]):
        ended = [any(is_one(f, *one) for f in before.facts - after.facts) for one in denied]
        new = [any(is_one(f, *one) for f in after.facts - before.facts) for one in asked]
        held = [any(is_one(f, *one) for f in after.facts) for one in denied]
        gone = all(end or not still for end, still in zip(ended, held, strict=True))
        holds = all(any(is_one(f, *one) for f in after.facts) for one in asked)
        if (any(new) or any(ended)) and holds and gone:
            return True
    return False


def _positive(
    formula: Expression, types: Mapping[str, tuple[str, ...]], *, denied: bool = False
) -> Iterator[tuple[Atom, Mapping[str, tuple[str, ...]]]]:
    match formula:
        case Atom() if not denied:
            yield formula, types
        case Not(operand) if denied:
            yield from _positive(operand, types)
        case And(operands):
            for operand in operands:
                yield from _positive(operand, types, denied=denied)
        case Exists(variables, body):
            inner = {**types, **{v.name: v.types for v in variables}}
            yield from _positive(body, inner, denied=denied)


def moved(names: Sequence[str], turns: Sequence[PastTurn], now: Inventory) -> bool:
    """Return whether any of the turns moved any of the objects."""
    changed = (now.facts ^ turn.before.facts for turn in turns)
    return any(
        a.predicate in PLACE_PREDICATES and a.args[0] in names for facts in changed for a in facts
    )


def handled(done: PastTurn, goal: Goal, reader: Reader) -> list[str]:
    acted = [n for p in done.planned for a in p.plan.actions for n in a.args]
    kinds = {n: reader.taxonomy.pddl_type(c) for n, c in done.before.classes.items()}
    objects = [TypedName(n, (kind,)) for n, kind in kinds.items()]
    found: dict[str, None] = {}

    def collect(formula: Expression, types: Mapping[str, tuple[str, ...]]) -> None:
        match formula:
            case Atom():
                for arg in formula.args:
                    if arg in kinds:
                        found[arg] = None
                    for name in _binding(types.get(arg, ()), acted, kinds, done.before, reader):
                        found[name] = None
            case Not(operand) if isinstance(operand, Atom):
                collect(operand, types)
            case And(operands) | Or(operands):
                for operand in operands:
                    collect(operand, types)
            case Exists(variables, body):
                collect(body, {**types, **{v.name: v.types for v in variables}})

    for stage in goal.stages:
        collect(parse_formula(stage.wanted, reader.domain, objects, file="<goal>"), {})
    return list(found)


def _binding(
    types: Sequence[str],
    acted: Sequence[str],
    kinds: Mapping[str, str],
    inventory: Inventory,
    reader: Reader,
) -> list[str]:
    if not types:
        return []
    used = [n for n in acted if kinds.get(n) in types]
    if used:
        return [used[-1]]
    classes = [c for kind in types if (c := reader.taxonomy.class_of_type(kind))]
    return [n for c in classes for n in inventory.of(c)][:1]


def same_verb(one: str, other: str) -> bool:
    return bool(one and other) and one.split()[0] == other.split()[0]


# Questions about earlier turns --------------------------------------------------------------------

_DEED = re.compile(r"(?:did|have|had) you (?:really |already |just |ever )?(?P<deed>.+)")
_WORKED = re.compile(
    r"did (?:it|that) work(?: out)?|did you (?:do|manage) (?:it|that|so)|is (?:it|that) done|"
    r"are you (?:done|finished|ready)|have you (?:done (?:it|that)|finished)"
)
_WHICH = re.compile(
    r"(?:and )?(?:which|what) (?P<thing>[\w ]+?)"
    r"(?: (?:did|have) you (?:just )?\w+(?: it)?(?: \w+)?| do you mean| (?:was|is) (?:it|that))?"
)
_PUT = re.compile(
    r"where (?:exactly )?(?:did|have) you (?:just )?(?:put|placed?|left|leave) (?P<put>.+)"
    r"|(?:which [\w ]+?|what) (?:did|have) you (?:put|placed?) (?P<into>.+?) (?:in|on|into|onto)"
    r"|have you seen (?P<seen>.+)|where does (?P<stands>.+?) (?:stand|lie|sit|belong|live)"
)
_WAS = re.compile(
    r"where (?:was|were) (?P<thing>.+?)(?: (?:before|originally|at first|first|earlier|initially))"
    r"|where (?:did|have) you (?:get|got|find|found|take|taken) (?P<got>.+?)(?: from)?"
    r"|where (?:did|do|does) (?P<came>.+?) (?:come|stand|lie|belong|go)(?: from| before| first)*"
)
_TAG = re.compile(r",? (?:right|(?:is|are)(?:n't)? (?:it|they))\??$")
_STATED = re.compile(
    r"(?:and |so )?(?P<thing>it|they|(?:the|my) .+?) (?P<be>is|are) (?P<rest>.+?)\??"
)
_IS_BACK = re.compile(r"(?:is|are) (?P<thing>.+?) back(?: again| where (?:it|they) (?:was|were))?")
_BACK_AT = re.compile(r"(?P<asked>(?:is|are) .+?) back (?P<place>(?:in|on|at) .+)")
_BEFORE = re.compile(
    r"(?P<asked>(?:was|were|is) .+?)(?: (?:before|originally|at first|earlier))+(?: that)?"
)
_TOLD = re.compile(
    r"what (?:did|have|had) i (?:just )?(?:ask|say|said|tell|told|want|order|request)\w*\b.*"
)
_DID = re.compile(
    r"what (?:all |just )?(?:happened|(?:did|have|had) you (?:all |just )*(?:do|done|changed?))\b.*"
)
_STEPS = re.compile(r"how many (?:steps|actions|moves)\b.*|how long did (?:it|that) take")
_ALL = frozenset({"far", "all", "everything", "today", "overall", "altogether", "now"})


def as_question(text: str) -> str:
    """Return the question of whether a statement ("it's open, isn't it?") is true, or ''."""
    text = text.lower().strip(" .!").replace("'s ", " is ").replace("'re ", " are ")
    stated = _STATED.fullmatch(_TAG.sub("", text))
    return f"{stated['be']} {stated['thing']} {stated['rest']}" if stated else ""


@dataclass(frozen=True)
class PastQuestions:
    """Answers questions about what was done and asked in a dialogue, and why."""

    reader: Reader
    view: SceneView
    memory: DialogueMemory
    done: Sequence[PastTurn]
    last: Run | None = None
    """The last run, which may have undone others."""

    @property
    def judge(self) -> StatementJudge:
        return StatementJudge(self.reader, self.view)

    @property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self.reader, self.view.inventory, self.memory)

    def answer(self, text: str) -> QuestionAnswer | None:
        """Return the answer to a lower-case question, or None if it is not about the past."""
        if text == "why" or text.startswith("why "):
            return self._why(text)
        if _TOLD.fullmatch(text):
            return QuestionAnswer(self._told(text))
        if _DID.fullmatch(text):
            return QuestionAnswer(
                self._told(text) if {*text.split()} & _ALL else self._tell(1 + ("before" in text))
            )
        if self.last is not None and _WORKED.fullmatch(text):
            return QuestionAnswer("yes" if self.last.reached else "no")
        if self.last is not None and _STEPS.fullmatch(text):
            steps = self.last.finished.steps if self.last.finished else 0
            return QuestionAnswer(count(steps, "step"))
        if (back := _IS_BACK.fullmatch(text)) and (names := self.named(back["thing"])):
            parents, origins = self.view.inventory.parents, self.memory.origins
            away = [n for n in names if origins.get(n, parents.get(n)) != parents.get(n)]
            return QuestionAnswer("no" if away else "yes", names)
        if not self.done:
            return None
        if (which := _WHICH.fullmatch(text)) and (found := self._which(which["thing"])):
            return found
        if (deed := _DEED.fullmatch(text)) and (did := self._did(deed["deed"])) is not None:
            return QuestionAnswer(
                "yes" if did else "no", self._spoken(deed["deed"].partition(" ")[2])
            )
        if (was := _WAS.fullmatch(text)) and (found := self._was(next(filter(None, was.groups())))):
            return found
        if before := _BEFORE.fullmatch(text):
            view = SceneView(self.done[-1].before, self.view.unseen)
            for asked in self._rewriter.requests(before["asked"]):
                with suppress(LanguageError):
                    return answer(asked, self.reader, view) if isinstance(asked, str) else None
        return None

    def in_present(self, text: str) -> str:
        """Return the question about the present that a question about the past asks, or ''."""
        put = _PUT.fullmatch(text.rstrip("?"))
        if text == "where" and self.memory.things:
            return "where is it?"
        if (_TAG.search(text) or text.endswith("?")) and (asked := as_question(text)):
            return asked
        if back := _BACK_AT.fullmatch(text):
            return f"{back['asked']} {back['place']}"
        return f"where is {next(filter(None, put.groups()))}?" if put else ""

    def named(self, text: str) -> tuple[str, ...]:
        """Return the objects that a noun phrase or pronoun means."""
        if text in {"it", "that", "them", "they"}:
            return self.memory.things[:1] if text in {"it", "that"} else self.memory.group
        tokens, spans = self._rewriter.spans(text)
        if len(spans) != 1 or spans[0].end != len(tokens) or spans[0].start:
            return ()
        with suppress(LanguageError):
            return self.judge.things(spans[0].thing)
        return ()

    def was_last(self, text: str) -> bool:
        """Return whether the last request was about the objects that a noun phrase means."""
        names = self.named(text)
        return bool(names) and bool(self.done) and set(names) <= set(self.memory.group)

    def _which(self, thing: str) -> QuestionAnswer | None:
        """Return the object that the last request used, such as a drawer or one of several mugs."""
        used = (*self.memory.group, *self.done[-1].acted, *self.memory.places)
        if thing in {"one", "ones"}:
            classes = self.view.inventory.classes
            alike = [n for n in used if len(self.view.inventory.of(classes.get(n, ""))) > 1]
        else:
            named = self.named(thing) or self.named(f"the {thing}")
            alike = [n for n in used if n in named]
        return QuestionAnswer(alike[0], (alike[0],)) if alike else None

    def _did(self, deed: str) -> bool | None:
        verb, _, thing = deed.partition(" ")
        names = self.named(thing)
        acted = {name for done in self.done for name in done.acted}
        if names and verb in {"use", "used", "touch", "touched"}:
            return bool(acted & {*names})
        if names and verb in {"move", "moved"}:
            return moved(names, self.done, self.view.inventory)
        for said in self._rewriter.requests(deed):
            if not isinstance(said, str):
                return None
            for when in (self.done[0].before, self.view.inventory):
                with suppress(LanguageError, ImpossibleGoalError):
                    goals = self.reader.goals(said, when)
                    return brought_about(goals, self.done, self.view.inventory, self.reader)
        return None

    def _spoken(self, text: str) -> tuple[str, ...]:
        """Return the objects that a text names; among similar objects, the ones used last."""
        acted = [name for done in reversed(self.done) for name in done.acted]
        found: list[str] = []
        for span in self._rewriter.spans(text)[1]:
            with suppress(LanguageError):
                names = self.judge.things(span.thing) if span.thing.kind != "pronoun" else ()
                used = [n for n in acted if n in names]
                found += names if len(names) == 1 else used[:1]
        return tuple(dict.fromkeys(found))

    def _was(self, thing: str) -> QuestionAnswer | None:
        names = [n for n in self.named(thing) if n in self.memory.origins]
        said = [
            f"{self.judge.called(n)} was {self._relation(place)} {self.judge.called(place)}"
            for n in names
            if (place := self.memory.origins[n]) in self.view.inventory.classes
        ]
        return QuestionAnswer("; ".join(said), tuple(names)) if said else None

    def _relation(self, place: str) -> str:
        return self.reader.taxonomy.relation(self.view.inventory.classes[place])

    def _told(self, text: str) -> str:
        if not self.done:
            return "nothing yet"
        words = {*text.split()}
        requests = [done.request for done in self.done]
        chosen = requests if words & _ALL else requests[:1] if "first" in words else requests[-1:]
        return "; then ".join(chosen)

    def _tell(self, previous: int) -> str:
        if not self.done:
            return "nothing yet"
        done = self.done[-1] if previous < 2 else self.done[-min(previous, len(self.done))]
        if done.run is None:
            return f"an error ended {done.request!r} half-way"
        blocks = [block.macro.name for ready in done.run.plans for block in ready.plan.blocks]
        return "; ".join(blocks) or "nothing to do: it already holds"

    def _why(self, text: str) -> QuestionAnswer:
        """Explain why an earlier plan contains a step: what would fail without it."""
        tokens, spans = self._rewriter.spans(text)
        names: set[str] = set()
        for span in spans:
            with suppress(LanguageError):
                names |= {*self.judge.things(span.thing)}
        if text in {"why", "why that", "why is that", "why did you do that"} and self.done:
            return QuestionAnswer(f"you asked: {self.done[-1].request}")
        if not names and {*tokens} & {"it", "that", "them"}:
            names = {*self.memory.things[:1], *self.memory.places[:1]}
        found = [
            (done, planned, n, action)
            for done in reversed(self.done)
            for planned in reversed(done.planned)
            for n, action in enumerate(planned.plan.actions)
            if names & set(action.args)
        ]
        said = [x for x in found if self._imperative(x[3]).split()[0] in tokens]
        if not found:
            return QuestionAnswer("I did not do that")
        done, planned, number, action = (said or found)[0]
        meant = tuple(n for n in action.args if n in names)
        if not said and not {"did", "have"} & {*tokens}:  # 'why is the pen in the drawer?'
            return QuestionAnswer(f"because you asked: {done.request}", meant)
        return QuestionAnswer(self._because(done, planned, number), meant)

    def _because(self, done: PastTurn, planned: Planned, number: int) -> str:
        actions = planned.plan.actions
        without = (*actions[:number], *actions[number + 1 :])
        report = Validator(planned.task).check(without)
        asked = f"you asked: {done.request}"
        if report.valid or report.failure is None:
            return f"because {asked}"
        step = report.failure.step - 1 if report.failure.step is not None else len(without)
        if not 0 <= step < len(without):
            return f"because {asked}"
        return f"to {self._imperative(without[step])}, which would not work otherwise; {asked}"

    def _imperative(self, action: GroundAction) -> str:
        wording = wording_of(self.reader.ontology).actions.get(action.name)
        if wording is None:
            return str(action)
        return wording.imperative.fill([*map(self._label, action.args)]).lower() or str(action)

    def _label(self, name: str) -> str:
        object_class = self.view.inventory.classes.get(name)
        return f"the {self.reader.taxonomy.label(object_class)}" if object_class else name
