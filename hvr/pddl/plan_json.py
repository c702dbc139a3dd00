"""Plans as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from hvr.errors import PddlSyntaxError
from hvr.pddl.json_places import with_places
from hvr.pddl.lexer import Source
from hvr.pddl.location import Location
from hvr.pddl.model import GroundAction
from hvr.pddl.plan import PlanText, parse_plan

_PLANS = ("plan", "steps", "actions", "sas_plan")
_WRAPPINGS = ("result", "output")
"""Around a plan; planning.domains gives the planner's output beside the plan, too."""
_HELD = (*_PLANS, *_WRAPPINGS)
_HOLDERS = frozenset((*_HELD, "blocks"))
_MOST_WRAPPINGS = 4
_NAME = re.compile(r"[^?,:=\[\]{}\"`\s();]+")


def plan_to_json(actions: Iterable[GroundAction]) -> list[dict[str, Any]]:
    """Return a plan as JSON values: a list of `{"action": name, "args": [name, …]}`."""
    return [{"action": a.name, "args": list(a.args)} for a in actions]


def plan_from_json(data: object) -> tuple[GroundAction, ...]:
    """Read what `plan_to_json` gives, and the other forms in which programs give plans.

    A plan is a list of steps, or an object with such a list, or with the text of a plan file, as
    `plan`, `steps`, `actions`, `sas_plan`, or in `result` or `output` (as planning.domains
    answers), or a saved plan of macro actions with their blocks. A step is an object with `action`
    or `name`, and `args`, `arguments` or `parameters`; or a text, such as "(pick-up a)".

    Raises:
        PddlSyntaxError: the value is not a plan.
    """
    if isinstance(data, dict) and isinstance(data.get("blocks"), list):
        blocks = [block.get("actions") for block in data["blocks"] if isinstance(block, dict)]
        if len(blocks) == len(data["blocks"]) and all(isinstance(b, list) for b in blocks):
            data = [step for block in blocks for step in block or ()]
    wrapped = False
    for _ in range(_MOST_WRAPPINGS):
        if not isinstance(data, dict):
            break
        held = [name for name in _HELD if isinstance(data.get(name), list | dict | str)]
        wraps = [name for name in held if name in _PLANS] or held
        if len(wraps) != 1:
            break
        data, wrapped = data[wraps[0]], True
    if isinstance(data, str) and wrapped:
        read = parse_plan(data, file="the text in the JSON plan")
        return tuple([step.replace(location=_place_of(data)) for step in read])
    if not isinstance(data, Sequence) or isinstance(data, str | bytes):
        raise PddlSyntaxError('a JSON plan is a list of {"action": name, "args": [name, …]}')
    names: dict[str, str] = {}
    steps = []
    for number, item in enumerate(data, 1):
        step = _step_from_json(number, item)
        # Names occur in many steps: one string for each is enough.
        name, *args = [names.setdefault(text, text) for text in (step.name, *step.args)]
        steps.append(GroundAction(name, tuple(args), _place_of(item)))
    return tuple(steps)


def read_json_plan(source: Source) -> PlanText:
    """Read the text of a JSON plan.

    Raises:
        PddlSyntaxError: the text is not JSON, or the value is not a plan.
    """
    import json

    from hvr.texts import parse_json

    try:
        parse_json(source.text)
    except json.JSONDecodeError as error:
        source.syntax_error(error.pos, f"this is not JSON: {error.msg}", expected="a JSON plan")
    except ValueError as error:
        source.syntax_error(0, f"this JSON cannot be used: {error}", expected="a JSON plan")
    try:
        # Not beside the value without places: each is many times the size of the text.
        data = with_places(source, _HOLDERS)
    except RecursionError:
        data = parse_json(source.text)
    try:
        steps = plan_from_json(data)
    except PddlSyntaxError as error:
        source.syntax_error(0, str(error))
    return PlanText(steps, "json", tuple(source.warnings))


def _step_from_json(number: int, item: object) -> GroundAction:
    shape = 'write {"action": name, "args": [name, …]}'
    if isinstance(item, str):
        return _step_from_text(number, item)
    if not isinstance(item, dict):
        raise PddlSyntaxError(f"step {number} of the JSON plan is not an object; {shape}")
    name = item.get("name")
    if isinstance(name, str) and name.strip().startswith("("):
        return _step_from_text(number, name)  # what else planning.domains says explains it
    named = [key for key in ("action", "name") if key in item]
    given = [key for key in ("args", "arguments", "parameters") if key in item]
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
        if not _NAME.fullmatch(text):
            raise PddlSyntaxError(f"{text!r} in step {number} of the JSON plan is not a name")
    return GroundAction(name.lower(), tuple(a.lower() for a in args))


def _step_from_text(number: int, text: str) -> GroundAction:
    try:
        steps = parse_plan(text if "(" in text else f"({text})")
    except PddlSyntaxError:
        steps = ()
    if len(steps) != 1:
        raise PddlSyntaxError(f"step {number} of the JSON plan, {text[:57]!r}, is not a step")
    return steps[0]


def _place_of(item: object) -> Location | None:
    place: Location | None = getattr(item, "location", None)
    return place
