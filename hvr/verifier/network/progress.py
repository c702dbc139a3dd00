"""Training progress: what is told after each epoch, and a CSV file of it."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from hvr.files import append_text, write_whole


@dataclass(frozen=True)
class Epoch:
    """Figures of one pass over the training plans.

    Args:
        stage: `alignment`, `graph` (stage I) or `local` (stage II) of a network; `judge`, whose
            epochs are simulated drafts.
        number: from 1.
        of: number of epochs at most.
        loss: mean training loss.
        validation: the early stopping criterion, higher is better; None if it is the loss.
    """

    stage: str
    number: int
    of: int
    loss: float
    validation: float | None = None


ProgressCallback = Callable[[Epoch], None]
"""Called after each epoch."""


def no_progress(_: Epoch) -> None:
    """Ignore the epoch."""


def combined(*callbacks: ProgressCallback) -> ProgressCallback:
    """Return a callback that calls several, in order."""

    def report(epoch: Epoch) -> None:
        for callback in callbacks:
            callback(epoch)

    return report


@contextmanager
def csv_log(path: Path) -> Iterator[ProgressCallback]:
    """Write a CSV file with one line an epoch.

    Raises:
        DataFileError: it cannot be written.
    """

    def report(epoch: Epoch) -> None:
        validation = "" if epoch.validation is None else f"{epoch.validation:.6f}"
        append_text(path, _row(epoch.stage, epoch.number, f"{epoch.loss:.6f}", validation))

    write_whole(path, _row("stage", "epoch", "loss", "validation"))
    yield report


def _row(*values: object) -> str:
    text = StringIO()
    csv.writer(text).writerow(values)
    return text.getvalue()
