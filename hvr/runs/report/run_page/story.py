"""The story of a run as plain values: plans, steps, failures, dialogue with the model, outcome."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hvr.base.texts import read_log
from hvr.errors import HvrError
from hvr.models.transcript import NAME
from hvr.runs.folder import RunState
from hvr.runs.report.charts import bullets, details, element, escaped, paragraph
from hvr.runs.report.floor_plan.plan import FloorPlan, Pose, Route

if TYPE_CHECKING:
    from hvr.pddl.model import Atom


# Dialogue -----------------------------------------------------------------------------------------
# The dialogue that made a plan: what the model wrote, what the validator and planner did to it.

_SPEAKERS = {
    "model": ("Model", "writes a block"),
    "correction": ("Model", "corrects the block"),
    "library": ("Library", "has a block that worked before"),
    "navigation": ("Navigation", "inserts missing moves"),
    "planner": ("Planner", "repairs the block"),
    "best": ("hvr", "goes back to the best block: the tries are spent"),
}
_MOST = 20_000
"""Characters of a prompt or an answer that the page shows."""


@dataclass(frozen=True)
class DialogueTurn:
    """A turn of the dialogue.

    Args:
        speaker: Who speaks or acts: the model, the validator, the planner, the library.
        title: What happens, in a few words.
        lines: What was written, a line each.
        problem: What is wrong; empty where nothing is.
        good: Whether a check passed; None for what is no check.
    """

    speaker: str
    title: str
    lines: tuple[str, ...] = ()
    problem: str = ""
    good: bool | None = None


@dataclass(frozen=True)
class AskedModel:
    """A request to the model and its answer.

    Args:
        purpose: What the model was asked for.
        prompt: The messages.
        answer: Its answer; empty where it gave none.
        error: Why there is no answer.
    """

    purpose: str
    prompt: str
    answer: str
    error: str = ""


def turns_of(events: Iterable[Mapping[str, Any]]) -> tuple[DialogueTurn, ...]:
    """Return the turns of a trace, in order."""
    return tuple(turn for event in events for turn in _turns(event))


def _turns(event: Mapping[str, Any]) -> Iterator[DialogueTurn]:
    match event.get("event"):
        case "objects":
            unmatched = _texts(event.get("unmatched"))
            problem = f"nothing in the scene is called {', '.join(unmatched)}" if unmatched else ""
            names = (", ".join(_texts(event.get("names"))),)
            yield DialogueTurn("Model", "chooses objects", names, problem)
        case "macro-plan":
            yield DialogueTurn("Model", "writes macro actions", _texts(event.get("names")))
        case "conditions":
            yield DialogueTurn(
                "Model",
                "gives the macro actions conditions",
                tuple([_conditions(macro) for macro in event.get("macros") or ()]),
                "; ".join(_texts(event.get("dropped"))),
            )
        case "macro-check":
            yield _check(
                f"checks the macro actions: {event.get('verified')} of {event.get('total')} "
                "have preconditions that hold",
                event,
            )
        case "block":
            speaker, title = _SPEAKERS.get(str(event.get("source")), ("hvr", "changes the block"))
            unread = "; ".join(_texts(event.get("unmapped")))
            name = f"{title} for “{event.get('name')}”"
            yield DialogueTurn(speaker, name, _texts(event.get("actions")), unread)
        case "block-check":
            tries = f" (correction {event.get('attempt')} of {event.get('attempts')} at most)"
            yield _check(f"checks the block{tries if event.get('attempt') else ''}", event)
        case "left-out":
            yield DialogueTurn(
                "Validator", "leaves out needless steps", _texts(event.get("actions"))
            )
        case "judged":
            changed = [f"without {a}" for a in _texts(event.get("removed"))]
            changed += [f"with {a}" for a in _texts(event.get("inserted"))]
            yield DialogueTurn(
                "Judge", "judges the plan", tuple(changed), str(event.get("unmended") or "")
            )
        case "plan":
            validation = event.get("validation") or {}
            outcome = str(validation.get("outcome") or "not validated")
            yield DialogueTurn(
                "Validator", f"checks the whole plan: {outcome}", good=outcome == "valid"
            )


def _check(title: str, event: Mapping[str, Any]) -> DialogueTurn:
    problem = str(event.get("problem") or "")
    return DialogueTurn("Validator", title, (), problem, not problem)


def _conditions(macro: Mapping[str, Any]) -> str:
    before, after = (" ".join(_texts(macro.get(f"{when}condition"))) for when in ("pre", "post"))
    return f"{macro.get('name')}: before {before or 'nothing'}; after {after or 'nothing'}"


def asked_of(folder: Path) -> tuple[AskedModel, ...]:
    """Return what a run asked its model, as its transcript has it; none without a transcript.

    Raises:
        DataFileError: The transcript is damaged.
    """
    path = folder / NAME
    if not path.is_file():
        return ()
    return tuple(
        AskedModel(
            str(value["purpose"]),
            "\n\n".join(
                f"[{message.get('role')}]\n{message.get('text')}"
                for message in value.get("messages") or ()
                if isinstance(message, Mapping)
            ),
            _text_of(value.get("answer")),
            _text_of(value.get("error")),
        )
        for _, value in read_log(path)
        if isinstance(value, Mapping) and "purpose" in value
    )


def _text_of(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(value.get("text") or value.get("message") or "")
    return str(value or "")


def dialogue(turns: Iterable[DialogueTurn], asked: Iterable[AskedModel]) -> str:
    """Return the dialogue as markup; nothing where no model was asked."""
    asked = tuple(asked)
    if not asked:
        return ""
    items = (_item(turn) for turn in turns)
    exchanges = (
        details(
            f"{number}. {one.purpose.replace('_', ' ')}" + (": no answer" if one.error else ""),
            _whole("asked", one.prompt),
            _whole("answered", one.answer or one.error),
        )
        for number, one in enumerate(asked, 1)
    )
    return (
        element("ol", *items, class_="dialogue")
        + element("h3", escaped(f"All {len(asked)} prompts and answers, word for word"))
        + "".join(exchanges)
    )


def _item(turn: DialogueTurn) -> str:
    kind = {True: "good", False: "bad", None: "open"}[turn.good]
    mark = {True: " ✓", False: " ✗", None: ""}[turn.good]
    head = element(
        "p",
        element("strong", escaped(turn.speaker)),
        " ",
        escaped(turn.title),
        element("span", mark, class_="mark"),
        class_="title",
    )
    lines = [element("code", escaped(line)) for line in turn.lines if line]
    body = bullets(lines) if lines else ""
    problem = paragraph(turn.problem, "problem")
    return element("li", head, body, problem, class_=f"{kind} {turn.speaker.lower()}")


def _whole(title: str, text: str) -> str:
    shown = text if len(text) <= _MOST else f"{text[:_MOST]}\n… ({len(text)} characters)"
    return element("p", escaped(title), class_="note") + element("pre", escaped(shown))


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(map(str, values or ()))


# Expected effects ---------------------------------------------------------------------------------
# The effects that the domain predicts for each step of a run, worked out from its files.

Changes = tuple[tuple[str, ...], tuple[str, ...]]
"""Facts that become true, and facts that cease to be."""


class _Done(Protocol):
    @property
    def number(self) -> int: ...
    @property
    def plan(self) -> int: ...
    @property
    def action(self) -> str: ...
    @property
    def missing(self) -> tuple[str, ...]: ...
    @property
    def unexpected(self) -> tuple[str, ...]: ...


def expected_changes(folder: Path, steps: Iterable[_Done]) -> Mapping[int, Changes]:
    """Return the expected changes by number of the step.

    Each plan starts from its problem file; after a step the facts that were seen otherwise are
    taken over. Where the files do not carry the trace, as in runs of other versions, steps are
    left out.

    Args:
        folder: the run folder, with `domain.pddl`, `problem.pddl`, `problem-2.pddl`, …
        steps: of the run, in order.
    """
    expected: dict[int, Changes] = {}
    for plan, group in groupby(steps, key=lambda step: step.plan):
        try:
            expected.update(_of_plan(folder, plan, list(group)))
        except (HvrError, OSError, ValueError):
            continue
    return expected


def _of_plan(folder: Path, plan: int, steps: list[_Done]) -> dict[int, Changes]:
    from hvr.pddl import GroundAction, Task, parse_domain, parse_problem
    from hvr.validation import Validator

    suffix = "" if plan <= 0 else f"-{plan + 1}"
    domain = parse_domain(folder / "domain.pddl")
    task = Task(domain, parse_problem(folder / f"problem{suffix}.pddl", domain))
    validator = Validator(task)
    expected: dict[int, Changes] = {}
    for step in steps:
        name, *args = step.action.strip("()").split()
        report = validator.apply(GroundAction(name, tuple(args)))
        if not report.ok:
            break
        added, deleted = sorted(map(str, report.added)), sorted(map(str, report.deleted))
        expected[step.number] = (tuple(added), tuple(deleted))
        if step.missing or step.unexpected:
            state = validator.state.atoms() - _atoms(step.missing) | _atoms(step.unexpected)
            validator = Validator(task, state=task.state(state))
    return expected


def _atoms(texts: Iterable[str]) -> frozenset[Atom]:
    from hvr.pddl import Atom

    split = (text.strip("()").split() for text in texts)
    return frozenset(Atom(name, tuple(args)) for name, *args in split)


# Story --------------------------------------------------------------------------------------------
# The story of a run as plain values: plans, steps, failures, outcome.


@dataclass(frozen=True)
class Remark:
    """An event of the trace between steps, or about one.

    Args:
        event: `failure`, `recovery`, `replanning` or another name from the trace.
        title: what it is, in a few words.
        text: the explanation.
    """

    event: str
    title: str
    text: str


@dataclass(frozen=True)
class StoryStep:
    """A step as it went.

    Args:
        number: in the run, from 1.
        action: as PDDL.
        plan: index of its plan.
        block: index of its block in the plan.
        success: the environment reported success.
        error: its message if not.
        as_expected: everything went as the domain says, but for what changes by itself.
        missing: facts expected that do not hold in what was observed.
        unexpected: facts that hold in what was observed and were not expected.
        unseen: expected effects that were out of view and are believed.
        heard: sounds, in words.
        expected: what the domain says that the action changes; None if that is not known.
        sent: the environment's own actions, in a line each.
        remarks: events of the trace about it.
        pose: where the robot was after it; None without a picture of the scene.
        changed: literals that hold since the step; of worlds of facts only.
    """

    number: int
    action: str
    plan: int
    block: int
    success: bool
    error: str
    as_expected: bool
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    expected: Changes | None
    sent: tuple[str, ...]
    unseen: tuple[str, ...] = ()
    heard: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
    pose: Pose | None = None
    changed: tuple[str, ...] = ()

    @property
    def objects(self) -> tuple[str, ...]:
        """Names of the objects of the action."""
        return tuple(self.action.strip("()").split()[1:])


@dataclass(frozen=True)
class StoryBlock:
    """A macro action with the actions that carry it out."""

    name: str
    precondition: tuple[str, ...]
    postcondition: tuple[str, ...]
    actions: tuple[str, ...]


@dataclass(frozen=True)
class StoryPlan:
    """A plan of the run.

    Args:
        blocks: in order.
        first_step: number of its first step in the run.
        validator: the outcome of its validation.
        planner: who made it.
        reason: why it was made, if it was not the first.
    """

    blocks: tuple[StoryBlock, ...]
    first_step: int
    validator: str
    planner: str
    reason: str = ""


@dataclass(frozen=True)
class Story:
    """A run from request to outcome.

    Args:
        request: the sentence.
        scene: where.
        facts: further things to say about it, by title.
        reached: whether the goal was reached; None if not executed, not judged or not finished.
        outcome: how it ended, or how far it has come, in a sentence.
        plans: in order.
        steps: in order.
        before: the scene before it, or None.
        after: the scene after it, or None.
        note: what to know about the picture of the scene before.
        route: the robot's way; None without a picture.
        simulated: a simulated model made the plan.
        state: how far it has come.
        turns: The turns of model, validator and planner that made the plans.
        asked: The requests to the model, with its answers.
    """

    request: str
    scene: str
    facts: tuple[tuple[str, str], ...]
    reached: bool | None
    outcome: str
    plans: tuple[StoryPlan, ...]
    steps: tuple[StoryStep, ...]
    before: FloorPlan | None = None
    after: FloorPlan | None = None
    note: str = ""
    route: Route | None = None
    simulated: bool = False
    state: RunState = RunState.FINISHED
    turns: tuple[DialogueTurn, ...] = ()
    asked: tuple[AskedModel, ...] = ()
