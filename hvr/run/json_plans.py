"""PDDL plans written as JSON: a list of steps, alone or under `plan`, `steps` or `actions`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hvr.errors import DataFileError
from hvr.pddl import GroundAction, parse_plan
from hvr.texts import parse_json, read_text

_LISTS = ("plan", "steps", "actions")
_NAMES = ("name", "action")
_ARGUMENTS = ("args", "arguments", "parameters", "objects")


def read_json_plan(path: Path) -> tuple[GroundAction, ...]:
    """Read a plan.

    Args:
        path: File with steps such as `"(pick ball a)"`, `["pick", "ball", "a"]` or
            `{"name": "pick", "args": ["ball", "a"]}`.

    Raises:
        DataFileError: The file cannot be read or is not such a plan.
        PddlError: A step is not PDDL.
    """
    try:
        document = parse_json(read_text(path))
    except ValueError as error:
        raise DataFileError(f"{path}: expected one JSON document: {error}") from error
    while isinstance(document, dict):
        name = next((name for name in _LISTS if name in document), None)
        if name is None:
            raise DataFileError(f"{path}: expected a list of steps, alone or under 'plan'")
        document = document[name]
    if not isinstance(document, list):
        raise DataFileError(f"{path}: expected a list of steps, found {document!r:.60}")
    return tuple([_step(f"{path}: step {n}", step) for n, step in enumerate(document, 1)])


def _step(where: str, step: Any) -> GroundAction:
    words: Any = step
    if isinstance(step, dict):
        name = next((step[key] for key in _NAMES if key in step), None)
        args: Any = next((step[key] for key in _ARGUMENTS if key in step), [])
        words = [name, *(args.values() if isinstance(args, dict) else args)]
        if not args and isinstance(name, str):
            words = name
    if isinstance(words, list) and words and all(isinstance(word, str) for word in words):
        words = f"({' '.join(words)})"
    if isinstance(words, str):
        text = words.strip()
        steps = parse_plan(text if text.startswith("(") else f"({text})")
        if len(steps) == 1:
            return steps[0]
    raise DataFileError(f'{where}: expected a step such as "(pick ball a)", found {step!r:.60}')
