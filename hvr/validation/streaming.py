"""Verdicts for streams of plans: rows of a file, or requests to a resident process."""

from __future__ import annotations

import sys
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from hvr.base import declared
from hvr.base.registry import load
from hvr.base.texts import parse_json, read_bytes, unreadable
from hvr.errors import DataFileError, HvrError, UsageError
from hvr.pddl.reader import Diagnostic, decode
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
from hvr.values import Value, answer_json

if TYPE_CHECKING:
    from hvr.base.engines.registry import EngineChoice


# Model cache --------------------------------------------------------------------------------------

_MOST_MODELS = 16
_MOST_CHARACTERS = 10_000_000
"""Memory limits: the number of cached models, and the total length of their texts."""


class ModelCache:
    """Caches models by their names and texts, including the errors of unusable models."""

    def __init__(self, options: BatchOptions) -> None:
        self._reader = ModelReader(options)
        self._models: dict[tuple[str, str, str, str], LoadedModel | UnusableModelError] = {}

    def __len__(self) -> int:
        return len(self._models)

    def model(self, names: tuple[str, str], texts: tuple[str, str]) -> LoadedModel:
        """Return the model of a domain and a problem, or raise an UnusableModelError."""
        key = *names, *texts
        model = self._models.pop(key, None)
        if model is None:
            try:
                model = self._reader.read(*names, texts=texts)
            except UnusableModelError as error:
                if isinstance(error.__cause__, MemoryError):
                    raise  # there may be more memory next time
                model = error.with_traceback(None)
                # Its cause would keep the frames of the parser alive, and the texts with them.
                model.__cause__ = model.__context__ = None
        # Insertion order is usage order: the least recently used model is evicted first.
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

COLUMNS = "domain", "problem", "plan"

_NAMES = "<domain>", "<problem>"
_PLAN = "<plan>"
_LARGEST_CHUNK = 256
_CHARACTERS = 1_000_000
"""Limits for a chunk that is sent to another process."""

_Chunk: TypeAlias = tuple[BatchOptions, tuple[str, str], tuple[str, ...]]
"""Options, the texts of domain and problem, and plans for them."""


def stream(
    rows: Iterable[tuple[str, str, str]],
    options: BatchOptions | None = None,
    engine: EngineChoice | None = None,
) -> Generator[Judged, None, None]:
    """Judge plans as they arrive, and yield one result per plan, in order.

    A row is read when its result is requested, or a bounded number of rows earlier if other
    processes judge. Each process keeps the last few problems compiled, so rows of one problem
    should be adjacent. Unusable text has the outcome "unknown" and does not affect other rows. No
    file is ever opened.

    Args:
        rows: Triples of PDDL texts: a domain, a problem and a plan.
        engine: The engine whose processes judge, or None to judge in this process.

    Raises:
        UsageError: A row does not consist of three strings; the message contains its number.
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
    """Adds verdicts to batches of rows, for Ray Data or other tables with columns.

    dataset.map_batches(Verdicts, batch_format="numpy", concurrency=4)
    """

    def __init__(self, options: BatchOptions | None = None) -> None:
        self._options = options or BatchOptions()
        self._models = ModelCache(self._options)

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """Return a batch with the columns `domain`, `problem` and `plan`, extended by four columns.

        They are `outcome` ("valid", "invalid" or "unknown"), `rule` (the id of the broken rule, or
        ""), `step` (the number of the failing step, or 0) and `reason`.
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
    """Return the id of the rule that makes a plan invalid or unusable, or ""."""
    failure = result.report.failure
    return result.rule or (findings.FAILURE_RULES[failure.kind].id if failure else "")


def rejection_reason(report: ValidationReport) -> str:
    """Return the reason why a plan is not valid, on one line, or "" if it is valid."""
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
        raise UsageError(f"row {number} must be three strings: {', '.join(COLUMNS)}")
    for name, text in zip(COLUMNS, row, strict=True):
        if not isinstance(text, str):
            raise UsageError(f"row {number}: {name} must be a string, got {type(text).__name__}")
    return row[0], row[1], row[2]


# Server -------------------------------------------------------------------------------------------
# A resident process answers requests in turn and reads each model once.
#
# A request is an object with the texts `domain`, `problem` and `plan`. Instead of a text, it may
# name a file: `domain_file`, `problem_file`, `plan_file`. A text is never taken for a file name, so
# untrusted plans cannot open files. An `id` is returned with the answer. The answer is the output
# of `hvr validate --json` for one plan, or `error` if the request is unusable. If a named file does
# not parse, the answer gives the location without quoting the file, which may be any file on the
# machine.

_PARTS = ("domain", "problem", "plan")


class TextsRequest(Value):
    """A self-contained request to judge a plan.

    Attributes:
        id: Any JSON value; the answer repeats it.
        domain: PDDL or HDDL text of the domain.
        problem: PDDL or HDDL text of the problem.
        plan: Text of the plan.
    """

    id: Any = None
    domain: str | None = None
    problem: str | None = None
    plan: str | None = None


class JudgeRequest(TextsRequest):
    """A request to judge a plan; each part is given as a text or as a file.

    Attributes:
        domain_file: Path of the domain file.
        problem_file: Path of the problem file.
        plan_file: Path of the plan file.
    """

    domain_file: str | None = None
    problem_file: str | None = None
    plan_file: str | None = None


class ResidentValidator:
    """Judges plans on request, and caches models by content, so a changed file is read again.

    If `texts_only`, requests must not name files.
    """

    def __init__(self, options: BatchOptions, *, texts_only: bool = False) -> None:
        self._models = ModelCache(options)
        self._kind = TextsRequest if texts_only else JudgeRequest

    def answer(self, line: str | bytes) -> dict[str, Any]:
        """Return the answer to a request as JSON values; for an unusable request, an error."""
        try:
            request = parse_json(line)
        except (ValueError, MemoryError) as error:
            return {"id": None, "error": f"not valid JSON: {error}"}
        if not isinstance(request, dict):
            return {"id": None, "error": "expected a JSON object"}
        try:
            answer = self._judge(request)
        except (HvrError, MemoryError, RecursionError) as error:
            answer = {"error": str(error) or "it cannot be judged"}
        except Exception as error:
            # A bug in hvr: the process must survive it, since the next request may be fine.
            answer = {"error": f"hvr failed: {type(error).__name__}: {error}"}
        return {"id": request.get("id"), **answer}

    def _judge(self, request: Mapping[str, Any]) -> dict[str, Any]:
        surplus = sorted(request.keys() & {f"{part}_file" for part in _PARTS})
        if surplus and self._kind is TextsRequest:
            raise UsageError(f"{surplus[0]!r} names a file, but this server accepts only PDDL text")
        asked = declared.decode(self._kind, request)
        domain, problem, plan = (_source(asked, part) for part in _PARTS)
        files = {str(source) for source in (domain, problem, plan) if isinstance(source, Path)}
        try:
            model = self._model(domain, problem)
        except UnusableModelError as error:
            return answer_json(_without_words(error.result, files))
        name = "<plan>" if isinstance(plan, str) else str(plan)
        return answer_json(_without_words(judge_source(model, name, lambda: plan), files))

    def _model(self, domain: str | Path, problem: str | Path) -> LoadedModel:
        names = (
            "<domain>" if isinstance(domain, str) else str(domain),
            "<problem>" if isinstance(problem, str) else str(problem),
        )
        return self._models.model(names, (_text(domain, names[0]), _text(problem, names[1])))


def _without_words(judged: Judged, files: Collection[str]) -> Judged:
    # The error about a text that does not parse quotes the text.
    diagnostic = judged.result.diagnostic
    if judged.rule != findings.SYNTAX.id or (diagnostic and diagnostic.location.file not in files):
        return judged
    reason = "the file does not parse"
    report = judged.report.replace(reason=reason)
    place = diagnostic and Diagnostic(diagnostic.location, reason, expected=diagnostic.expected)
    return judged.replace(result=judged.result.replace(report=report, diagnostic=place))


def _source(request: TextsRequest, part: str) -> str | Path:
    named = f"{part}_file"
    source: str | None = getattr(request, part)
    file: str | None = getattr(request, named, None)
    if (source is None) == (file is None):
        raise UsageError(f'expected either the text "{part}" or the file name "{named}"')
    if source is None:
        return Path(str(file))
    if part != "plan" and "(" not in source:
        raise UsageError(
            f'"{part}" must be PDDL text, but has no parentheses; to name a file, use "{named}"'
        )
    return source


def _text(source: str | Path, name: str) -> str:
    return source if isinstance(source, str) else decode(read_bytes(source), name)


# Row files ----------------------------------------------------------------------------------------

_BATCH = 256


class PlanRow(Value):
    """A row of a file of plans.

    Attributes:
        number: 1-based number of the row.
        id: The id given in the file, any JSON value, or None if the row has no id.
        texts: The domain, the problem and the plan (empty if the row is unusable).
        error: The reason why the row is unusable, or "".
    """

    number: int
    id: Any = None
    texts: tuple[str, str, str] = ("", "", "")
    error: str = ""


def read_rows(name: str) -> Iterator[PlanRow]:
    """Yield the rows of a file lazily; an unusable row contains its error.

    Args:
        name: A file of JSON lines, each an object with `domain`, `problem`, `plan` and optionally
            `id`; a file that ends in .parquet with these columns; or `-` for lines of standard
            input.

    Raises:
        DataFileError: The file cannot be read.
        UsageError: A column is missing.
        MissingExtraError: pyarrow, which reads Parquet, is not installed.
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
            yield PlanRow(number, error=f"not valid JSON: {error}")
            continue
        if isinstance(values, dict):
            yield _row(number, values)
        else:
            yield PlanRow(number, error="expected a JSON object")


def _row(number: int, values: Mapping[str, Any]) -> PlanRow:
    mark = values.get("id")
    for name in COLUMNS:
        if not isinstance(values.get(name), str):
            return PlanRow(number, mark, error=f"{name} must be a string")
    return PlanRow(number, mark, (values["domain"], values["problem"], values["plan"]))


def _parquet(name: str) -> Iterator[PlanRow]:
    parquet = load("pyarrow.parquet", "pyarrow", "ray")
    try:
        file = parquet.ParquetFile(name)
    except OSError as error:
        raise unreadable(name, error) from error
    except Exception as error:
        raise DataFileError(f"{name} is not a Parquet file: {error}") from error
    with file:
        columns = file.schema_arrow.names
        lacking = [column for column in COLUMNS if column not in columns]
        if lacking:
            raise UsageError(f"{name} has no column {lacking[0]!r} (columns: {', '.join(columns)})")
        selected = [*COLUMNS, *(["id"] if "id" in columns else [])]
        number = 0
        for batch in file.iter_batches(batch_size=_BATCH, columns=selected):
            for values in batch.to_pylist():
                number += 1
                yield _row(number, values)
