"""Read and write plans as JSON, with the location of each value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from json import JSONDecoder
from sys import intern
from typing import Any

from hvr.errors import PddlSyntaxError
from hvr.pddl.model import GroundAction
from hvr.pddl.plan import PlanText, Step, TimedAction, in_order, read_plan
from hvr.pddl.reader import Location, SourceText

# Json places --------------------------------------------------------------------------------------
# JSON values that record their locations.

_DEEPEST = 12
"""Number of nesting levels with locations; deeper values are parsed without them."""
_GAP = re.compile(r"[\s,:]*")
_DECODER = JSONDecoder()


class LocatedObject(dict[str, Any]):
    """A JSON object with the location of its opening brace."""

    __slots__ = ("location",)

    location: Location


class LocatedText(str):
    """A JSON string with the location of its opening quotation mark."""

    __slots__ = ("location",)

    location: Location


def parse_located_json(source: SourceText, holders: frozenset[str]) -> Any:
    """Parse valid JSON, with `LocatedObject` and `LocatedText` for dict and str.

    `holders` are the keys whose values get locations. Deep nesting raises a RecursionError.
    """
    return _read(source, _skip(source.text, 0), holders, _DEEPEST)


def _read(source: SourceText, offset: int, holders: frozenset[str], levels: int) -> Any:
    text = source.text
    if text[offset] == "[" and levels:
        return [_read(source, place, holders, levels - 1) for place in _items(text, offset)]
    if text[offset] == "{":
        value, _ = _DECODER.raw_decode(text, offset)
        # Share the keys, which repeat in every step.
        members = LocatedObject(zip(map(intern, value), value.values(), strict=True))
        if levels and not holders.isdisjoint(value):
            # Keys and values alternate.
            for name, place in zip(value, islice(_items(text, offset), 1, None, 2), strict=True):
                if name in holders:
                    members[name] = _read(source, place, holders, levels - 1)
        members.location = source.location(offset)
        return members
    value, _ = _DECODER.raw_decode(text, offset)
    if not isinstance(value, str):
        return value
    placed = LocatedText(value)
    placed.location = source.location(offset)
    return placed


def item_locations(text: str) -> Iterator[int]:
    """Yield the offset of each item of a JSON text that is a list."""
    return _items(text, _skip(text, 0))


def _items(text: str, offset: int) -> Iterator[int]:
    place = _skip(text, offset + 1)
    while text[place] not in "]}":
        yield place
        place = _skip(text, _DECODER.raw_decode(text, place)[1])


def _skip(text: str, place: int) -> int:
    gap = _GAP.match(text, place)
    assert gap is not None
    return gap.end()


# Plan json ----------------------------------------------------------------------------------------

_PLANS = ("plan", "steps", "actions", "sas_plan")
_WRAPPINGS = ("result", "output")
"""Keys around a plan; planning.domains returns the planner's output beside the plan as well."""
_HELD = (*_PLANS, *_WRAPPINGS)
_HOLDERS = frozenset((*_HELD, "blocks"))
_MOST_WRAPPINGS = 4
_NO_STEPS = frozenset(
    (
        "domain goal goals init initial_state macro metric objects postcondition precondition "
        "problem state"
    ).split()
)
"""Keys beside a plan whose values may be facts, which look like steps."""
_STEP_LINE = re.compile(
    r"^[ \t]*(?:[0-9.]+[ \t]*:[ \t]*)?"
    r"(?:\([^()?:\n]+\)|[^\W\d][^\s():]*\([^()?:\n]*\))[ \t]*(?:\[[^\n]*)?$",
    re.MULTILINE,
)
_TIMES = ("time", "start", "start_time")
_ARGUMENTS = ("args", "arguments", "parameters")
_DECIMAL = re.compile(r"-?[0-9]{1,400}(?:\.[0-9]{1,400})?(?:e[-+]?[0-9]{1,2})?")
_NAME = re.compile(r"[^?,:=\[\]{}\"`\s();]+")


def plan_to_json(actions: Iterable[GroundAction]) -> list[dict[str, Any]]:
    """Convert a plan to a list of `{"action": name, "args": [name, …]}`."""
    return [{"action": a.name, "args": list(a.args)} for a in actions]


def plan_from_json(data: object) -> tuple[GroundAction, ...]:
    """Read a plan in any form that `steps_from_json` accepts, with its steps in execution order.

    Raises:
        PddlSyntaxError: The value is not a plan, or two steps have the same time.
    """
    return in_order(steps_from_json(data))


def steps_from_json(data: object) -> tuple[Step, ...]:
    """Read the output of `plan_to_json`, and other common JSON forms of plans.

    Forms of a plan:

    - a list of steps;
    - an object with such a list, or the text of a plan file, under `plan`, `steps`, `actions` or
      `sas_plan`, possibly inside `result` or `output` (as planning.domains answers);
    - a saved plan of macro actions with their blocks.

    Forms of a step:

    - an object with `action` or `name`, and `args`, `arguments`, `parameters` or `objects`; with a
      `time`, `start` or `start_time` it may also have a `duration`;
    - a string such as "(pick-up a)", with times as in plan files;
    - a list of names.

    Raises:
        PddlSyntaxError: The value is not a plan.
    """
    if isinstance(data, dict) and isinstance(data.get("blocks"), list):
        blocks = [block.get("actions") for block in data["blocks"] if isinstance(block, dict)]
        if len(blocks) == len(data["blocks"]) and all(isinstance(b, list) for b in blocks):
            steps = [step for block in blocks for step in block or ()]
            _refuse_steps_beside(data, "blocks", steps)
            for block in data["blocks"]:
                _refuse_steps_beside(block, "actions", block["actions"])
            data = steps
    wrapped = False
    for _ in range(_MOST_WRAPPINGS):
        if not isinstance(data, dict):
            break
        held = [name for name in _HELD if isinstance(data.get(name), list | dict | str)]
        wraps = [name for name in held if name in _PLANS] or held
        if len(wraps) != 1:
            break
        _refuse_steps_beside(data, wraps[0], data[wraps[0]])
        data, wrapped = data[wraps[0]], True
    if isinstance(data, str) and wrapped:
        read = read_plan(data, file="the text in the JSON plan").steps
        return tuple([_placed(step, _place_of(data)) for step in read])
    if not isinstance(data, Sequence) or isinstance(data, str | bytes):
        raise PddlSyntaxError('a JSON plan must be a list of {"action": name, "args": [name, …]}')
    names: dict[str, str] = {}
    found: list[Step] = []
    for number, item in enumerate(data, 1):
        step = _step_from_json(number, item)
        action = step.action if isinstance(step, TimedAction) else step
        # Share the strings: names occur in many steps.
        name, *args = [names.setdefault(text, text) for text in (action.name, *action.args)]
        action = GroundAction(name, tuple(args), _place_of(item))
        if isinstance(step, TimedAction):
            found.append(TimedAction(action, step.start, step.duration))
        else:
            found.append(action)
        if type(found[-1]) is not type(found[0]):
            raise PddlSyntaxError(f"only one of steps 1 and {number} of the JSON plan has a time")
    return tuple(found)


def _refuse_steps_beside(holder: dict[str, Any], name: str, plan: object) -> None:
    for key, value in holder.items():
        if key == name or key in _NO_STEPS or not _has_steps(value, _MOST_WRAPPINGS):
            continue
        try:
            same = steps_from_json({"plan": value}) == steps_from_json({"plan": plan})
        except PddlSyntaxError:
            same = False
        if not same:
            raise PddlSyntaxError(f"the JSON plan has different steps in {name!r} and {key!r}")


def _has_steps(value: object, levels: int) -> bool:
    if isinstance(value, str):
        return _STEP_LINE.search(value) is not None
    if not levels or not isinstance(value, list | dict):
        return False
    if isinstance(value, list):
        return any(_has_steps(item, levels - 1) for item in value)
    named = "action" in value or ("name" in value and not value.keys().isdisjoint(_ARGUMENTS))
    others = (item for key, item in value.items() if key not in _NO_STEPS)
    return named or any(_has_steps(item, levels - 1) for item in others)


def _placed(step: Step, place: Location | None) -> Step:
    if isinstance(step, GroundAction):
        return step.replace(location=place)
    return TimedAction(step.action.replace(location=place), step.start, step.duration)


def read_json_plan(source: SourceText) -> PlanText:
    """Read a plan from JSON text; raise a PddlSyntaxError if it is not JSON or not a plan."""
    import json

    from hvr.base.texts import parse_json

    try:
        parse_json(source.text)
    except json.JSONDecodeError as error:
        source.syntax_error(error.pos, f"this is not JSON: {error.msg}", expected="a JSON plan")
    except ValueError as error:
        source.syntax_error(0, f"unusable JSON: {error}", expected="a JSON plan")
    try:
        # The value without locations is not kept: each is many times the size of the text.
        data = parse_located_json(source, _HOLDERS)
    except RecursionError:
        data = parse_json(source.text)
    try:
        steps = steps_from_json(data)
    except PddlSyntaxError as error:
        source.syntax_error(0, str(error))
    return PlanText(steps, "json", tuple(source.warnings))


def _step_from_json(number: int, item: object) -> Step:
    shape = 'write {"action": name, "args": [name, …]}'
    if isinstance(item, str):
        return _step_from_text(number, item)
    if isinstance(item, list) and item and all(map(_is_name, item)):
        return GroundAction(item[0].lower(), tuple(name.lower() for name in item[1:]))
    if not isinstance(item, dict):
        raise PddlSyntaxError(f"step {number} of the JSON plan is not an object; {shape}")
    times = [key for key in _TIMES if key in item]
    if times:
        start = _number(number, item[times[0]])
        duration = _number(number, item["duration"]) if "duration" in item else None
        timeless = {k: v for k, v in item.items() if k not in (times[0], "duration")}
        action = _step_from_json(number, timeless)
        if isinstance(action, TimedAction):
            raise PddlSyntaxError(f"step {number} of the JSON plan has two times")
        return TimedAction(action, start, duration)
    # Without a time, a duration is only a note, as in plan files.
    item = {key: value for key, value in item.items() if key != "duration"}
    text = item.get("name")
    if isinstance(text, str) and text.strip().startswith("("):
        more = next((k for k, v in item.items() if k != "action" and k != "name"), None)
        action_text = str(item.get("action", "")).lstrip()
        if more is not None or (
            not action_text.startswith("(:") and _STEP_LINE.search(action_text)
        ):
            raise PddlSyntaxError(
                f"step {number} of the JSON plan has {(more or 'action')!r} in addition to a "
                "complete step"
            )
        return _step_from_text(number, text)  # planning.domains puts an explanation under "action".
    if len(item) == 1 and isinstance(item.get("action"), str) and "(" in item["action"]:
        return _step_from_text(number, item["action"])
    named = [key for key in ("action", "name") if key in item]
    given = [key for key in (*_ARGUMENTS, "objects") if key in item]
    if unknown := sorted(map(str, item.keys() - {*named[:1], *given[:1]})):
        raise PddlSyntaxError(f"step {number} of the JSON plan has the key {unknown[0]!r}; {shape}")
    name = item[named[0]] if named else None
    args = item[given[0]] if given else []
    if isinstance(args, dict):
        args = list(args.values())
    if not isinstance(name, str) or not name:
        raise PddlSyntaxError(f"step {number} of the JSON plan has no action name; {shape}")
    if not isinstance(args, list) or not all(isinstance(a, str) and a for a in args):
        raise PddlSyntaxError(f"the args of step {number} of the JSON plan are not names; {shape}")
    for text in (name, *args):
        if not _is_name(text):
            raise PddlSyntaxError(f"{text!r} in step {number} of the JSON plan is not a name")
    return GroundAction(name.lower(), tuple(a.lower() for a in args))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _number(number: int, value: object) -> Fraction:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        match = _DECIMAL.fullmatch(str(value))
        if match is not None:
            return Fraction(match[0])
    raise PddlSyntaxError(f"the time {str(value)[:57]!r} of step {number} is not a number")


def _step_from_text(number: int, text: str) -> Step:
    try:
        steps = read_plan(text if "(" in text else f"({text})").steps
    except PddlSyntaxError:
        steps = ()
    if len(steps) != 1:
        raise PddlSyntaxError(f"step {number} of the JSON plan, {text[:57]!r}, is not a step")
    return steps[0]


def _place_of(item: object) -> Location | None:
    place: Location | None = getattr(item, "location", None)
    return place
