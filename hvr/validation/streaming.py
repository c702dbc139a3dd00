"""Verdicts for streams of plans: rows of a file, or requests to a resident process."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from hvr.base.extras import load
from hvr.base.texts import parse_json, read_bytes, unreadable
from hvr.errors import DataFileError, HvrError, UsageError
from hvr.pddl.diagnostics import Diagnostic
from hvr.pddl.reader import decode
from hvr.validation import findings
from hvr.validation.batch import (
    BatchOptions,
    LoadedModel,
    ModelReader,
    UnusableModelError,
    judge_source,
)
from hvr.validation.findings import STDIN, Judged
from hvr.validation.report import Outcome, PlanResult, ValidationReport
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.base.engines.registry import EngineChoice


# Model cache --------------------------------------------------------------------------------------
# Models that were read from texts, kept while they are in use.

_MOST_MODELS = 16
_MOST_CHARACTERS = 10_000_000
"""Bounds of memory: models that are kept, and the length of their texts together."""


class ModelCache:
    """Reads each model once while it is in use; one that cannot be used is remembered as such.

    A model is known by its names and by what its texts say.

    Args:
        options: what to find out about its plans.
    """

    def __init__(self, options: BatchOptions) -> None:
        self._reader = ModelReader(options)
        self._models: dict[tuple[str, str, str, str], LoadedModel | UnusableModelError] = {}

    def __len__(self) -> int:
        """How many models are kept."""
        return len(self._models)

    def model(self, names: tuple[str, str], texts: tuple[str, str]) -> LoadedModel:
        """Return the model of a domain and a problem.

        Raises:
            UnusableModelError: one of them cannot be used.
        """
        key = *names, *texts
        model = self._models.pop(key, None)
        if model is None:
            try:
                model = self._reader.read(*names, texts=texts)
            except UnusableModelError as error:
                if isinstance(error.__cause__, MemoryError):
                    raise  # there may be more memory the next time
                model = error.with_traceback(None)
                # What it came from holds the frames of reading, and with them what was read.
                model.__cause__ = model.__context__ = None
        # The one used last is the last to go.
        self._models[key] = model
        while len(self._models) > 1 and self._too_many:
            del self._models[next(iter(self._models))]
        if isinstance(model, UnusableModelError):
            raise UnusableModelError(model, model.result)
        return model

    @property
    def _too_many(self) -> bool:
        size = sum(len(text) for _, _, *texts in self._models for text in texts)
        return len(self._models) > _MOST_MODELS or size > _MOST_CHARACTERS


# Streaming ----------------------------------------------------------------------------------------
# Verdicts about a stream of plans, as long as it likes, in the memory of a few models.

COLUMNS = "domain", "problem", "plan"
"""What a row is made of."""

_NAMES = "<domain>", "<problem>"
_PLAN = "<plan>"
_LARGEST_CHUNK = 256
_CHARACTERS = 1_000_000
"""Bounds of what is sent to another process at a time."""

_Chunk: TypeAlias = tuple[BatchOptions, tuple[str, str], tuple[str, ...]]
"""Options, the texts of domain and problem, and plans for them."""


def stream(
    rows: Iterable[tuple[str, str, str]],
    options: BatchOptions | None = None,
    engine: EngineChoice | None = None,
) -> Iterator[Judged]:
    """Judge plans as they come, and give a result for each, in their order.

    A row is read when its result is asked for; by other processes a bounded number of rows earlier.
    A problem is compiled once while it is among the last few that were used, once in each process,
    so rows of one problem should stand together. A text that cannot be used has the outcome
    "unknown" and does not stop the others; no file is ever opened.

    Args:
        rows: the texts of a domain, a problem and a plan each.
        options: what to find out about each plan.
        engine: where plans are judged; in this process if None.

    Raises:
        UsageError: a row is not three texts; the message says which.
    """
    options = options or BatchOptions()
    if engine is None:
        models = ModelCache(options)
        for number, row in enumerate(rows, 1):
            domain, problem, plan = _texts(row, number)
            yield from _judged(models, (domain, problem), (plan,))
        return
    sizes: dict[int, int] = {}

    def counted() -> Iterator[_Chunk]:
        for number, chunk in enumerate(_chunks(rows, options)):
            sizes[number] = len(chunk[2])
            yield chunk

    with (
        closing(engine.open()) as opened,
        closing(opened.run(_judge_chunk, counted(), ordered=True)) as judged,
    ):
        for finished in judged:
            size = sizes.pop(finished.number)
            yield from finished.value or (_lost(finished.lost) for _ in range(size))


class Verdicts:
    """Adds verdicts to batches of rows: a step of Ray Data, or of anything with columns.

        dataset.map_batches(Verdicts, batch_format="numpy", concurrency=4)

    Args:
        options: what to find out about each plan.
    """

    def __init__(self, options: BatchOptions | None = None) -> None:
        self._options = options or BatchOptions()
        self._models = ModelCache(self._options)

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """Return a batch with four more columns.

        Args:
            batch: columns `domain`, `problem` and `plan`, of texts, and any others.

        Returns:
            The columns, and `outcome` ("valid", "invalid" or "unknown"), `rule` (the id of the rule
            that is broken, or ""), `step` (the number of the failing step, or 0) and `reason`.
        """
        columns = (map(str, batch[name]) for name in COLUMNS)
        judged = [
            result
            for domain, problem, plan in zip(*columns, strict=True)
            for result in _judged(self._models, (domain, problem), (plan,))
        ]
        reports = [result.result.report for result in judged]
        return {
            **batch,
            "outcome": [str(report.outcome) for report in reports],
            "rule": [rule_of(result) for result in judged],
            "step": [report.failure.step or 0 if report.failure else 0 for report in reports],
            "reason": [rejection_reason(report) for report in reports],
        }


def rule_of(result: Judged) -> str:
    """Return the id of the rule that a plan breaks, or that keeps it from being judged; or ""."""
    failure = result.report.failure
    return result.rule or (findings.FAILURE_RULES[failure.kind].id if failure else "")


def rejection_reason(report: ValidationReport) -> str:
    """Return why a plan is not valid, as one line; "" if it is."""
    if report.valid:
        return ""
    return " ".join((report.reason or report.explain()).split())


def _judged(models: ModelCache, texts: tuple[str, str], plans: Sequence[str]) -> Iterator[Judged]:
    try:
        model = models.model(_NAMES, texts)
    except UnusableModelError as error:
        for _ in plans:
            yield error.result
        return
    for plan in plans:
        yield judge_source(model, _PLAN, lambda text=plan: text)  # type: ignore[misc]


def _chunks(rows: Iterable[object], options: BatchOptions) -> Iterator[_Chunk]:
    """Put plans together that follow each other and are for one problem."""
    texts: tuple[str, str] | None = None
    plans: list[str] = []
    size = 0
    for number, row in enumerate(rows, 1):
        domain, problem, plan = _texts(row, number)
        full = len(plans) >= _LARGEST_CHUNK or size > _CHARACTERS
        if texts is not None and (full or texts != (domain, problem)):
            yield options, texts, tuple(plans)
            plans, size = [], 0
        texts = domain, problem
        plans.append(plan)
        size += len(plan)
    if texts is not None:
        yield options, texts, tuple(plans)


def _judge_chunk(chunk: _Chunk) -> list[Judged]:
    options, texts, plans = chunk
    return list(_judged(_models(options), texts, plans))


@lru_cache(maxsize=1)
def _models(options: BatchOptions) -> ModelCache:
    return ModelCache(options)


def _lost(reason: str) -> Judged:
    report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason=f"not judged: {reason}")
    return Judged(PlanResult(_PLAN, *_NAMES, report), findings.UNDECIDED.id)


def _texts(row: object, number: int) -> tuple[str, str, str]:
    if not isinstance(row, tuple | list) or len(row) != len(COLUMNS):
        raise UsageError(f"row {number} has to be three texts: {', '.join(COLUMNS)}")
    for name, text in zip(COLUMNS, row, strict=True):
        if not isinstance(text, str):
            raise UsageError(f"row {number}: the {name} has to be a text")
    return row[0], row[1], row[2]


# Server -------------------------------------------------------------------------------------------
# Answers to requests, one after the other, by a process that stays: models are read once.
#
# A request is an object with the texts `domain`, `problem` and `plan`. In place of a text, it may
# name a file: `domain_file`, `problem_file`, `plan_file`. A text is never taken for a file name, so
# a plan from elsewhere cannot open files. An `id` is returned with the answer. The answer is what
# `hvr validate --json` says of one plan, or `error` where the request cannot be used. If a named
# file does not parse, the answer gives the place and none of its words: it may be any file of the
# machine.

_PARTS = ("domain", "problem", "plan")
_FILE = "_file"
_TEXT_KEYS = ("id", *_PARTS)
_KEYS = (*_TEXT_KEYS, *(f"{part}{_FILE}" for part in _PARTS))


class ResidentValidator:
    """Judges plans as requests ask for it, and keeps the models that it has read.

    A model is known by what its texts say: a file that was changed is another model.

    Args:
        options: what to find out about each plan.
        texts_only: Whether to refuse requests that name files, so that none is opened.
    """

    def __init__(self, options: BatchOptions, *, texts_only: bool = False) -> None:
        self._models = ModelCache(options)
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
    """Withhold the message about a named file that does not parse: it quotes the file."""
    told = judged.result.diagnostic
    if judged.rule != findings.SYNTAX.id or (told and told.location.file not in files):
        return judged
    reason = "the file does not parse"
    report = judged.report.replace(reason=reason)
    place = told and Diagnostic(told.location, reason, expected=told.expected)
    return judged.replace(result=judged.result.replace(report=report, diagnostic=place))


def _source(request: Mapping[str, Any], part: str) -> str | Path:
    """Return a part of a request: a string is its text, a path its file."""
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
    return source if isinstance(source, str) else decode(read_bytes(source), name)


# Row files ----------------------------------------------------------------------------------------
# Files of rows to judge, each with the texts of a domain, a problem and a plan.

_BATCH = 256


class PlanRow(Value):
    """A row of a file.

    Attributes:
        number: its place in the file, from 1.
        id: what the row is called in the file, any JSON value; None where it says nothing.
        texts: of domain, problem and plan; empty where the row cannot be used.
        error: why it cannot be used, or "".
    """

    number: int
    id: Any = None
    texts: tuple[str, str, str] = ("", "", "")
    error: str = ""


def read_rows(name: str) -> Iterator[PlanRow]:
    """Read rows as they are asked for; a row that cannot be used says why.

    Args:
        name: a file of JSON lines, each an object with `domain`, `problem`, `plan` and if it likes
            `id`; one that ends in .parquet, with these columns; or - for lines of standard input.

    Raises:
        DataFileError: the file cannot be read.
        UsageError: it lacks a column.
        MissingExtraError: Parquet needs pyarrow.
    """
    if name.endswith(".parquet"):
        yield from _parquet(name)
        return
    try:
        if name == STDIN:
            if sys.stdin is None or sys.stdin.closed:
                raise DataFileError("cannot read standard input: it is closed")
            yield from _lines(sys.stdin.buffer)
        else:
            with Path(name).open("rb") as file:
                yield from _lines(file)
    except OSError as error:
        raise unreadable("standard input" if name == STDIN else name, error) from error


def _lines(lines: Iterable[bytes]) -> Iterator[PlanRow]:
    number = 0
    for line in lines:
        if not line.strip():
            continue
        number += 1
        try:
            values = parse_json(line)
        except (ValueError, MemoryError) as error:
            yield PlanRow(number, error=f"this is not JSON: {error}")
            continue
        if isinstance(values, dict):
            yield _row(number, values)
        else:
            yield PlanRow(number, error="a row is an object")


def _row(number: int, values: Mapping[str, Any]) -> PlanRow:
    mark = values.get("id")
    for name in COLUMNS:
        if not isinstance(values.get(name), str):
            return PlanRow(number, mark, error=f"its {name} is no text")
    return PlanRow(number, mark, (values["domain"], values["problem"], values["plan"]))


def _parquet(name: str) -> Iterator[PlanRow]:
    parquet = load("pyarrow.parquet", "pyarrow", "ray")
    try:
        file = parquet.ParquetFile(name)
    except OSError as error:
        raise unreadable(name, error) from error
    except Exception as error:
        raise DataFileError(f"{name} is no Parquet file: {error}") from error
    with file:
        columns = file.schema_arrow.names
        lacking = [column for column in COLUMNS if column not in columns]
        if lacking:
            raise UsageError(f"{name} has no column {lacking[0]!r} (columns: {', '.join(columns)})")
        wanted = [*COLUMNS, *(["id"] if "id" in columns else [])]
        number = 0
        for batch in file.iter_batches(batch_size=_BATCH, columns=wanted):
            for values in batch.to_pylist():
                number += 1
                yield _row(number, values)
