"""The story of a run as plain values: plans, steps, failures, dialogue with the model, outcome."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hvr.base.texts import read_log
from hvr.errors import HvrError
from hvr.models.recording import NAME
from hvr.runs.folder import RunState
from hvr.runs.report.floor_plan.plan import FloorPlan, Pose, Route

if TYPE_CHECKING:
    from hvr.pddl.formulas import Atom


# Dialogue -----------------------------------------------------------------------------------------

_SPEAKERS = {
    "model": ("Model", "writes a block"),
    "correction": ("Model", "corrects the block"),
    "library": ("Library", "has a block that worked before"),
    "navigation": ("Navigation", "inserts missing moves"),
    "planner": ("Planner", "repairs the block"),
    "best": ("hvr", "returns to the best block: no corrections are left"),
}


@dataclass(frozen=True)
class DialogueTurn:
    """A turn of the dialogue that made a plan.

    Args:
        speaker: The model, the validator, the planner or the library.
        good: Whether a check passed; None for other turns.
    """

    speaker: str
    title: str
    lines: tuple[str, ...] = ()
    problem: str = ""
    good: bool | None = None


@dataclass(frozen=True)
class AskedModel:
    """A request to the model and its answer, or the reason why there is none."""

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
            problem = f"the scene has no {', '.join(unmatched)}" if unmatched else ""
            names = (", ".join(_texts(event.get("names"))),)
            yield DialogueTurn("Model", "chooses objects", names, problem)
        case "macro-plan":
            yield DialogueTurn("Model", "writes macro actions", _texts(event.get("names")))
        case "conditions":
            yield DialogueTurn(
                "Model",
                "writes conditions of the macro actions",
                tuple([_conditions(macro) for macro in event.get("macros") or ()]),
                "; ".join(_texts(event.get("dropped"))),
            )
        case "macro-check":
            yield _check(
                f"checks the macro actions: {event.get('verified')} of {event.get('total')} "
                "are applicable",
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
            yield DialogueTurn("Validator", "removes redundant steps", _texts(event.get("actions")))
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
    """Return the model requests in a run's transcript; none without a transcript."""
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


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(map(str, values or ()))


# Expected effects ---------------------------------------------------------------------------------

Changes = tuple[tuple[str, ...], tuple[str, ...]]
"""Facts that become true, and facts that become false."""


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
    """Return the effects that the domain predicts for each step, by step number.

    Each plan starts from its problem file; unexpected facts observed after a step are adopted.
    Steps are omitted if the files do not match the trace, as in runs of other versions.

    Args:
        folder: The run folder, with `domain.pddl`, `problem.pddl`, `problem-2.pddl`, …
        steps: Steps of the run, in order.
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
    from hvr.validation.validator import Validator

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


@dataclass(frozen=True)
class Remark:
    """An event of the trace about a step or between steps, such as `failure` or `replanning`."""

    event: str
    title: str
    text: str


@dataclass(frozen=True)
class StoryStep:
    """An executed step.

    Args:
        success: Whether the environment reported success.
        as_expected: Whether the outcome matches the domain, except for changes without an action.
        missing: Expected facts that do not hold in the observation.
        unexpected: Facts of the observation that were not expected.
        unseen: Expected effects that were out of view and are believed.
        heard: Audio events in words.
        expected: Effects that the domain predicts; None if unknown.
        pose: Pose of the robot after the step; None without a picture of the scene.
        changed: Literals that became true; only in worlds of facts.
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
        """The arguments of the action."""
        return tuple(self.action.strip("()").split()[1:])


@dataclass(frozen=True)
class StoryBlock:
    """A macro action with its atomic actions."""

    name: str
    precondition: tuple[str, ...]
    postcondition: tuple[str, ...]
    actions: tuple[str, ...]


@dataclass(frozen=True)
class StoryPlan:
    """A plan of the run, and why it replaced another one, if it did."""

    blocks: tuple[StoryBlock, ...]
    first_step: int
    validator: str
    planner: str
    reason: str = ""


@dataclass(frozen=True)
class Story:
    """A run from request to outcome.

    Args:
        facts: Further information, by title.
        reached: Whether the goal was reached; None if not executed, not judged or not finished.
        outcome: The result, or the progress so far, in a sentence.
        note: Note on the picture of the initial scene.
        route: The robot's route; None without a picture.
        simulated: Whether a simulated model made the plan.
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
