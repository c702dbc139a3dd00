"""Answers to requests, one after the other, by a process that stays: models are read once.

A request is an object with the texts `domain`, `problem` and `plan`. In place of a text, it may
name a file: `domain_file`, `problem_file`, `plan_file`. A text is never taken for a file name, so a
plan from elsewhere cannot open files. An `id` is returned with the answer. The answer is what
`hvr validate --json` says of one plan, or `error` where the request cannot be used. If a named file
does not parse, the answer gives the place and none of its words: it may be any file of the machine.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from hvr.base.texts import parse_json, read_bytes
from hvr.errors import HvrError, UsageError
from hvr.pddl.diagnostics import Diagnostic
from hvr.pddl.lexer import decode
from hvr.validation import rules
from hvr.validation.batch import (
    BatchOptions,
    LoadedModel,
    UnusableModelError,
    judge_source,
)
from hvr.validation.judged import Judged
from hvr.validation.kept import KeptModels

_PARTS = ("domain", "problem", "plan")
_FILE = "_file"
_TEXT_KEYS = ("id", *_PARTS)
_KEYS = (*_TEXT_KEYS, *(f"{part}{_FILE}" for part in _PARTS))


class Resident:
    """Judges plans as requests ask for it, and keeps the models that it has read.

    A model is known by what its texts say: a file that was changed is another model.

    Args:
        options: what to find out about each plan.
        texts_only: Whether to refuse requests that name files, so that none is opened.
    """

    def __init__(self, options: BatchOptions, *, texts_only: bool = False) -> None:
        self._models = KeptModels(options)
        self._keys = _TEXT_KEYS if texts_only else _KEYS

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
        if surplus := [name for name in request if name not in self._keys]:
            if surplus[0] in _KEYS:
                raise UsageError(f"{surplus[0]!r} names a file: this server takes texts only")
            known = ", ".join(self._keys)
            raise UsageError(f"a request has no {surplus[0][:60]!r}; it has {known}")
        domain, problem, plan = (_source(request, part) for part in _PARTS)
        files = {str(source) for source in (domain, problem, plan) if isinstance(source, Path)}
        try:
            model = self._model(domain, problem)
        except UnusableModelError as error:
            return _without_words(error.result, files).to_json()
        name = "<plan>" if isinstance(plan, str) else str(plan)
        return _without_words(judge_source(model, name, lambda: plan), files).to_json()

    def _model(self, domain: str | Path, problem: str | Path) -> LoadedModel:
        names = (
            "<domain>" if isinstance(domain, str) else str(domain),
            "<problem>" if isinstance(problem, str) else str(problem),
        )
        return self._models.model(names, (_text(domain, names[0]), _text(problem, names[1])))


def _without_words(judged: Judged, files: Collection[str]) -> Judged:
    """Withhold the message about a named file that does not parse: it quotes the file.

    Args:
        judged: The result.
        files: Names of the files that the request names.
    """
    told = judged.result.diagnostic
    if judged.rule != rules.SYNTAX.id or (told and told.location.file not in files):
        return judged
    reason = "the file does not parse"
    report = judged.report.replace(reason=reason)
    place = told and Diagnostic(told.location, reason, expected=told.expected)
    return judged.replace(result=judged.result.replace(report=report, diagnostic=place))


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
