"""Verdicts about a stream of plans, as long as it likes, in the memory of a few models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from hvr.errors import UsageError
from hvr.validation import rules
from hvr.validation.batch import BatchOptions, UnusableModelError, judge_source
from hvr.validation.judged import Judged
from hvr.validation.kept import KeptModels
from hvr.validation.report import Outcome, PlanResult, ValidationReport

if TYPE_CHECKING:
    from hvr.base.engines.registry import EngineChoice

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
        models = KeptModels(options)
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
        self._models = KeptModels(self._options)

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
            "reason": [reason_of(report) for report in reports],
        }


def rule_of(result: Judged) -> str:
    """Return the id of the rule that a plan breaks, or that keeps it from being judged; or ""."""
    failure = result.report.failure
    return result.rule or (rules.FAILURE_RULES[failure.kind].id if failure else "")


def reason_of(report: ValidationReport) -> str:
    """Return why a plan is not valid, as one line; "" if it is."""
    if report.valid:
        return ""
    return " ".join((report.reason or report.explain()).split())


def _judged(models: KeptModels, texts: tuple[str, str], plans: Sequence[str]) -> Iterator[Judged]:
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
    """In any process: judge the plans of one problem."""
    options, texts, plans = chunk
    return list(_judged(_models(options), texts, plans))


@lru_cache(maxsize=1)
def _models(options: BatchOptions) -> KeptModels:
    """Return the models of this process, which judges many chunks of the same problems."""
    return KeptModels(options)


def _lost(reason: str) -> Judged:
    report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason=f"not judged: {reason}")
    return Judged(PlanResult(_PLAN, *_NAMES, report), rules.UNDECIDED.id)


def _texts(row: object, number: int) -> tuple[str, str, str]:
    if not isinstance(row, tuple | list) or len(row) != len(COLUMNS):
        raise UsageError(f"row {number} has to be three texts: {', '.join(COLUMNS)}")
    for name, text in zip(COLUMNS, row, strict=True):
        if not isinstance(text, str):
            raise UsageError(f"row {number}: the {name} has to be a text")
    return row[0], row[1], row[2]
