"""Answers to requests, one after the other, by a process that stays: models are read once.

A request is an object with the texts `domain`, `problem` and `plan`. In place of a text, it may
name a file: `domain_file`, `problem_file`, `plan_file`. A text is never taken for a file name, so a
plan from elsewhere cannot open files. An `id` is returned with the answer. The answer is what
`hvr validate --json` says of one plan; a request that cannot be used is answered by `error`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hvr.errors import HvrError, UsageError
from hvr.pddl.lexer import decode
from hvr.texts import parse_json, read_bytes
from hvr.validation.batch import (
    BatchOptions,
    LoadedModel,
    UnusableModelError,
    judge_source,
)
from hvr.validation.kept import KeptModels

_PARTS = ("domain", "problem", "plan")
_FILE = "_file"
_KEYS = ("id", *_PARTS, *(f"{part}{_FILE}" for part in _PARTS))


class Resident:
    """Judges plans as requests ask for it, and keeps the models that it has read.

    A model is known by what its texts say: a file that was changed is another model.

    Args:
        options: what to find out about each plan.
    """

    def __init__(self, options: BatchOptions) -> None:
        self._models = KeptModels(options)

    def answer(self, line: str | bytes) -> dict[str, Any]:
        """Return the answer to a request: JSON values. Nothing in a request raises."""
        try:
            request = parse_json(line)
        except (ValueError, MemoryError) as error:
            return {"id": None, "error": f"this is not JSON: {error}"}
        if not isinstance(request, dict):
            return {"id": None, "error": "a request is an object"}
        try:
            said = self._judge(request)
        except (HvrError, MemoryError, RecursionError) as error:
            said = {"error": str(error) or "it cannot be judged"}
        except Exception as error:
            # A fault of hvr itself; the next request may well be answered.
            said = {"error": f"hvr failed: {type(error).__name__}: {error}"}
        return {"id": request.get("id"), **said}

    def _judge(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if surplus := [name for name in request if name not in _KEYS]:
            raise UsageError(f"a request has no {surplus[0][:60]!r}; it has {', '.join(_KEYS)}")
        domain, problem, plan = (_source(request, part) for part in _PARTS)
        try:
            model = self._model(domain, problem)
        except UnusableModelError as error:
            return error.result.to_json()
        name = "<plan>" if isinstance(plan, str) else str(plan)
        return judge_source(model, name, lambda: plan).to_json()

    def _model(self, domain: str | Path, problem: str | Path) -> LoadedModel:
        names = (
            "<domain>" if isinstance(domain, str) else str(domain),
            "<problem>" if isinstance(problem, str) else str(problem),
        )
        return self._models.model(names, (_text(domain, names[0]), _text(problem, names[1])))


def _source(request: Mapping[str, Any], part: str) -> str | Path:
    """Return a part of a request: a string is its text, a path its file.

    Raises:
        UsageError: The part is missing, there twice, or no string.
    """
    named = f"{part}{_FILE}"
    given = [key for key in (part, named) if key in request]
    if len(given) != 1 or not isinstance(request[given[0]], str):
        raise UsageError(f'there has to be either the text "{part}" or the name "{named}"')
    source: str = request[given[0]]
    if given[0] == named:
        return Path(source)
    if part != "plan" and "(" not in source:
        raise UsageError(f'"{part}" is a text without parentheses; to name a file, use "{named}"')
    return source


def _text(source: str | Path, name: str) -> str:
    """Return the text of a domain or problem.

    Raises:
        DataFileError: its file cannot be read.
        PddlSyntaxError: it is no text.
    """
    return source if isinstance(source, str) else decode(read_bytes(source), name)
