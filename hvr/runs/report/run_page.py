"""The story of a run as plain values, read from its run folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hvr.base.texts import read_log
from hvr.errors import DataFileError, HvrError
from hvr.models.recording import NAME
from hvr.runs.folder import LOCK_FILE, STATUS_FILE, RunState, read_status, scene_after, scene_before
from hvr.runs.report.floor_plan.plan import FloorPlan, Pose, Route, route
from hvr.validation.report import count

if TYPE_CHECKING:
    from hvr.pddl.formulas import Atom


# Story --------------------------------------------------------------------------------------------
# The story of a run as plain values: plans, steps, failures, dialogue with the model, outcome.

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
    """One contribution to the planning dialogue.

    Args:
        speaker: The model, the validator, the planner or the library.
        good: Result of a check; None for turns that are not checks.
    """

    speaker: str
    title: str
    lines: tuple[str, ...] = ()
    problem: str = ""
    good: bool | None = None


@dataclass(frozen=True)
class AskedModel:
    purpose: str
    prompt: str
    answer: str
    error: str = ""


def turns_of(events: Iterable[Mapping[str, Any]]) -> tuple[DialogueTurn, ...]:
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
    """Return the prompts and answers in a run's transcript; empty if there is no transcript."""
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

    Each plan starts from its problem file, updated by unexpected facts observed after each step.
    Steps are omitted if the files do not match the trace, for example in runs of older versions.
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
    """An event of the trace other than a step, such as `failure` or `replanning`."""

    event: str
    title: str
    text: str


@dataclass(frozen=True)
class StoryStep:
    """An executed step.

    Args:
        plan, block: 0-based indexes of the step's plan, and of its block in the plan.
        as_expected: Whether the outcome matches the domain's prediction, except for changes that no
            action caused.
        missing: Expected facts that do not hold in the observation.
        unexpected: Observed facts that were not expected.
        unseen: Expected effects that were out of view and are believed.
        expected: Effects that the domain predicts; None if unknown.
        pose: Pose of the robot after the step; None if there is no picture of the scene.
        changed: Literals that became true; only in PDDL worlds.
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
    name: str
    precondition: tuple[str, ...]
    postcondition: tuple[str, ...]
    actions: tuple[str, ...]


@dataclass(frozen=True)
class StoryPlan:
    """A plan of the run; `reason` says why it replaced an earlier plan, if it did."""

    blocks: tuple[StoryBlock, ...]
    first_step: int
    validator: str
    planner: str
    reason: str = ""


@dataclass(frozen=True)
class Story:
    """A run from request to outcome.

    Args:
        facts: Information about the run, as (title, text) pairs.
        reached: Whether the goal was reached; None if the run was not executed, not judged or not
            finished.
        outcome: The result, or the progress of an unfinished run, as a sentence.
        before: The scene before the run; None if unknown.
        after: The scene after the run; None if unknown.
        note: Note on the picture of the initial scene.
        route: The robot's route; None if there is no picture.
        simulated: Whether the run's language model is simulated.
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


# Reading ------------------------------------------------------------------------------------------
# Reads a run folder into a story.
#
# Traces of older and newer versions are accepted: unknown events become remarks, missing fields
# stay empty.

_TRACE = "trace.jsonl"

_OF_PLANNING = frozenset(
    "understood objects macro-plan conditions macro-check block block-check left-out".split()
)
"""Events before the first step that the page shows as a dialogue."""

_DAMAGED = (KeyError, TypeError, ValueError, AttributeError)


def read_story(folder: Path) -> Story:
    """Read the folder of a finished or interrupted run.

    Raises:
        DataFileError: The folder is not a run folder, a file in it is damaged, or the trace of a
            finished run is missing or incomplete.
    """
    if not any((folder / name).is_file() for name in (STATUS_FILE, _TRACE)):
        if (folder / LOCK_FILE).is_file():
            raise DataFileError(f"{folder}: the run was killed before it started")
        raise DataFileError(f"{folder} is not a run folder: {STATUS_FILE} and {_TRACE} are missing")
    about, state = read_status(folder)
    events = read_trace(folder, about, state)
    scene = str(about.get("scene") or "")
    before, note = scene_before(folder, scene)
    try:
        plans, starts = _plans(events)
        steps = _steps(events, starts)
        way = None
        if before is not None:
            raw = [e for e in events if e.get("event") == "step"]
            way = route(before.agent, raw, [s.number for s in steps if not s.as_expected])
        steps = _completed(steps, way, expected_changes(folder, steps))
        ends = [event for event in events if event.get("event") == "finished"]
        end = ends[-1] if ends else {}
        return Story(
            request=str(about.get("request") or folder.name),
            scene=scene,
            facts=tuple(_facts(about, end, plans)),
            state=state,
            reached=_reached(about, end) if state is RunState.FINISHED else None,
            outcome=_outcome(about, end, steps)
            if state is RunState.FINISHED
            else _unfinished(state, about, plans, steps),
            plans=plans,
            steps=steps,
            before=before,
            after=scene_after(folder),
            note=note,
            route=way,
            simulated=_simulated(folder, about),
            turns=turns_of(events),
            asked=asked_of(folder),
        )
    except _DAMAGED as error:
        raise DataFileError(
            f"{folder}: the run cannot be read ({type(error).__name__}: {error})"
        ) from error


def read_trace(folder: Path, about: Mapping[str, Any], state: RunState) -> list[dict[str, Any]]:
    """Return the recorded events of a run, ignoring an incomplete last line.

    Raises:
        DataFileError: A line is damaged, the trace of a finished run is missing, or the trace of a
            successful run is cut off.
    """
    path = folder / _TRACE
    if not path.is_file():
        if state is RunState.FINISHED:
            raise _incomplete_trace(folder, about, "is missing")
        return []
    events = []
    for number, event in read_log(path):
        if not isinstance(event, dict):
            raise DataFileError(f"{path}:{number}: expected an event as a JSON object")
        events.append(event)
    ended = any(event.get("event") == "finished" for event in events)
    if state is RunState.FINISHED and about.get("reached") and not ended:
        raise _incomplete_trace(folder, about, "is cut off before the end of the run")
    return events


def _incomplete_trace(folder: Path, about: Mapping[str, Any], fault: str) -> DataFileError:
    message = f"{folder}: {_TRACE} {fault}, so the steps of the run are unknown"
    if (reached := about.get("reached")) is not None:
        claim = "was reached" if reached else "was not reached"
        message += f"; only {STATUS_FILE} says that the goal {claim}"
    return DataFileError(message)


def _plans(events: Iterable[Mapping[str, Any]]) -> tuple[tuple[StoryPlan, ...], list[int]]:
    plans: list[StoryPlan] = []
    belongs, reason = [], ""
    for event in events:
        if event.get("event") == "replanning":
            reason = str(event.get("reason") or "")
        elif event.get("event") == "plan":
            plan = event["plan"]
            if event.get("looking_for"):
                things = ", ".join(map(str, event["looking_for"]))
                reason = str(event.get("purpose") or f"looking for {things}")
            plans.append(
                StoryPlan(
                    blocks=tuple(map(_block, plan["blocks"])),
                    first_step=int(event.get("first_step", 1)),
                    validator=str((event.get("validation") or {}).get("outcome") or ""),
                    planner=str(plan.get("planner") or ""),
                    reason=reason,
                )
            )
            reason = ""
        belongs.append(len(plans) - 1)
    return tuple(plans), belongs


def _block(raw: Mapping[str, Any]) -> StoryBlock:
    macro = raw["macro"]
    return StoryBlock(
        name=str(macro["name"]),
        precondition=_texts(macro.get("precondition")),
        postcondition=_texts(macro.get("postcondition")),
        actions=tuple(map(_action, raw["actions"])),
    )


def _action(raw: Mapping[str, Any]) -> str:
    return f"({' '.join([str(raw['action']), *map(str, raw.get('args') or ())])})"


def _steps(events: Sequence[Mapping[str, Any]], starts: Sequence[int]) -> tuple[StoryStep, ...]:
    steps: list[StoryStep] = []
    remarks: dict[int, list[Remark]] = {}
    for event, plan in zip(events, starts, strict=True):
        kind = str(event.get("event", ""))
        if kind == "step":
            steps.append(_step(event, plan))
        elif kind == "noticed":
            number = steps[-1].number if steps else 1
            for failure in event.get("failures") or ():
                remarks.setdefault(number, []).append(_remark("failure", failure))
        elif kind not in _OF_PLANNING and kind not in ("plan", "finished"):
            about = event.get("step")
            number = about if isinstance(about, int) else steps[-1].number if steps else 1
            remarks.setdefault(number, []).append(_remark(kind, event))
    return tuple(
        replace(step, remarks=(*step.remarks, *remarks.get(step.number, ()))) for step in steps
    )


def _step(event: Mapping[str, Any], plan: int) -> StoryStep:
    differs = event.get("difference") or {}
    missing, unexpected = _texts(differs.get("missing")), _texts(differs.get("unexpected"))
    failures = tuple(_remark("failure", f) for f in event.get("failures") or ())
    success = bool(event.get("success", True))
    # old traces contain differences instead of failures
    wrong = bool(failures) if "failures" in event else bool(missing or unexpected)
    return StoryStep(
        number=int(event["step"]),
        action=str(event["action"]),
        plan=plan,
        block=int(event.get("block") or 0),
        success=success,
        error=str(event.get("error") or ""),
        as_expected=success and not wrong,
        missing=missing,
        unexpected=unexpected,
        expected=None,
        sent=tuple(_sent(action) for action in event.get("sent") or ()),
        unseen=_texts(event.get("not_seen")),
        heard=_texts(event.get("sounds")),
        remarks=failures,
        changed=_texts(event.get("changed")),
    )


def _sent(action: Mapping[str, Any]) -> str:
    skipped = ("action", "success", "error")
    arguments = ", ".join(
        f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in action.items() if k not in skipped
    )
    call = f"{action.get('action', '?')}({arguments})"
    if action.get("success", True):
        return call
    return f"{call} failed: {action.get('error') or 'no reason'}"


def _remark(kind: str, event: Mapping[str, Any]) -> Remark:
    title = " ".join(
        str(event[key]) for key in ("kind", "rung", "attempt") if event.get(key) is not None
    )
    text = next(
        (str(event[key]) for key in ("explanation", "reason", "text", "message") if event.get(key)),
        "",
    )
    if event.get("outcome"):
        text = f"{text.rstrip('.')}; outcome: {event['outcome']}" if text else str(event["outcome"])
    literals = _texts(event.get("literals"))
    if literals:
        text += f" ({'violated ' if text else ''}{' '.join(literals)})"
    if not text:
        rest = {k: v for k, v in event.items() if k not in ("event", "step", "kind", "rung")}
        text = ", ".join(
            f"{k}: {v}" for k, v in rest.items() if isinstance(v, str | int | float | bool)
        )
    return Remark(kind, f"{kind}: {title}" if title else kind, text.strip())


def _completed(
    steps: Iterable[StoryStep], way: Route | None, expected: Mapping[int, Changes]
) -> tuple[StoryStep, ...]:
    poses = {visit.number: visit.pose for visit in way.visits} if way is not None else {}
    return tuple(
        replace(s, expected=expected.get(s.number), pose=poses.get(s.number)) for s in steps
    )


def _reached(about: Mapping[str, Any], end: Mapping[str, Any]) -> bool | None:
    value = about["reached"] if "reached" in about else end.get("reached")
    return None if value is None else bool(value)


def _outcome(about: Mapping[str, Any], end: Mapping[str, Any], steps: Sequence[StoryStep]) -> str:
    reached, verdict = _reached(about, end), str(about.get("verdict") or "")
    reason = verdict or str(end.get("reason") or "")
    if about.get("would_reach") is not None:
        does = "reaches" if about["would_reach"] else "does not reach"
        return f"Planned, not executed: the plan {does} the goal{': ' * bool(verdict)}{verdict}."
    if reached:
        return "The goal is reached" + (f": {verdict}." if verdict else ".")
    if reached is None:
        if verdict:
            return f"Not judged: {verdict}."
        return "Carried out." if steps else "Planned and validated, not executed."
    unmet = " ".join(_texts(end.get("remains")) or _texts(end.get("unmet")))
    failure = f"The goal is not reached: {reason}" if reason else "The goal is not reached"
    return f"{failure}. Missing: {unmet}" if unmet else f"{failure}."


def _unfinished(
    state: RunState,
    about: Mapping[str, Any],
    plans: Sequence[StoryPlan],
    steps: Sequence[StoryStep],
) -> str:
    if state is RunState.RUNNING:
        waits = "the first step is not done yet" if plans else "there is no plan yet"
        far = f"{count(len(steps), 'step')} so far" if steps else waits
        return f"The run is in progress: {far}."
    far = "before the first step" if plans else "before there was a plan"
    if steps:
        far = f"after {count(len(steps), 'step')}"
    broke = f"The run broke off {far}"
    if state is RunState.KILLED:
        return f"{broke}, without a recorded reason: it was killed."
    return f"{broke}: {about.get('message') or about.get('error')}"


def _simulated(folder: Path, about: Mapping[str, Any]) -> bool:
    if "simulated" in about:
        return bool(about["simulated"])
    path = folder / NAME
    header = read_log(path)[:1] if path.is_file() else []
    return any(isinstance(value, dict) and bool(value.get("simulated")) for _, value in header)


def _facts(
    about: Mapping[str, Any], end: Mapping[str, Any], plans: Sequence[StoryPlan]
) -> Iterable[tuple[str, str]]:
    pairs = (
        ("scene", about.get("scene")),
        ("task", about.get("task")),
        ("policy", about.get("policy")),
        ("setting", about.get("setting")),
        ("model", about.get("model") or (about.get("llm") or {}).get("spec")),
        ("planner", (plans[-1].planner if plans else "") or about.get("planner")),
        ("environment", about.get("env")),
        ("seed", about.get("seed")),
        ("plans", len(plans) or None),
        ("earlier tries", len(about.get("earlier") or ()) or None),
        ("failures", _counted(end.get("failures"))),
        ("recoveries", _counted(end.get("recoveries"))),
    )
    for title, value in pairs:
        if value not in (None, ""):
            yield title, str(value)
    if reading := "; then ".join(_texts(about.get("reading"))):
        yield "read as", reading
    if (reader := str(about.get("read_by") or "grammar")) != "grammar":
        yield "read by", reader
    if unread := ", ".join(_texts(about.get("unread"))):
        yield "not read", unread
    for stage in about.get("goal") or ():
        yield "goal", str(stage)
    for note in about.get("notes") or ():
        yield "assumed", str(note)


def _counted(counts: Any) -> str:
    return ", ".join(f"{name}: {count}" for name, count in dict(counts or {}).items())
