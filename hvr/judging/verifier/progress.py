"""Training progress: what is told after each epoch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


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
