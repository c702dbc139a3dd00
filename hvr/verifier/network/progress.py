"""What training tells while it runs, and who listens: a bar, a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hvr.errors import DataFileError


@dataclass(frozen=True)
class Epoch:
    """One pass over the training plans.

    Args:
        stage: `alignment`, `graph` (stage I) or `local` (stage II).
        number: from 1.
        of: how many there are at most.
        loss: mean of the training loss.
        validation: what the stage is stopped by, higher is better; None where it is the loss.
    """

    stage: str
    number: int
    of: int
    loss: float
    validation: float | None = None


Tell = Callable[[Epoch], None]


def silent(_: Epoch) -> None:
    """Nobody listens."""


def both(*listeners: Tell) -> Tell:
    """Return all of them listen."""

    def tell(epoch: Epoch) -> None:
        for listener in listeners:
            listener(epoch)

    return tell


@contextmanager
def bar() -> Iterator[Tell]:
    """Return a progress bar for each stage, on standard error."""
    from rich.console import Console
    from rich.progress import Progress, TaskID

    with Progress(console=Console(stderr=True), transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def tell(epoch: Epoch) -> None:
            if epoch.stage not in tasks:
                tasks[epoch.stage] = progress.add_task(epoch.stage, total=epoch.of)
            progress.update(tasks[epoch.stage], completed=epoch.number)

        yield tell


@contextmanager
def csv_log(path: Path) -> Iterator[Tell]:
    """Return a CSV file with one line an epoch.

    Raises:
        DataFileError: it cannot be written.
    """
    try:
        file = path.open("w", encoding="utf-8", newline="")
    except OSError as error:
        raise DataFileError(f"cannot write the log {path}: {error.strerror}") from error
    with file:
        writer = csv.writer(file)
        writer.writerow(["stage", "epoch", "loss", "validation"])

        def tell(epoch: Epoch) -> None:
            shown = "" if epoch.validation is None else f"{epoch.validation:.6f}"
            writer.writerow([epoch.stage, epoch.number, f"{epoch.loss:.6f}", shown])
            file.flush()

        yield tell
