"""`hvr validate --plot`: the numeric fluents of a plan over time, as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.cli.output import check_writable, write_whole
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.validation.judged import Judged
    from hvr.validation.suites import Suite


def check_plot(path: Path, suite: Suite) -> None:
    """Say early that nothing can be drawn.

    Raises:
        UsageError: there is more than one plan.
        DataFileError: the file could not be written.
    """
    check_writable(path)
    plans = sum(len(job.plans) for job in suite.jobs)
    if plans != 1:
        raise UsageError(f"--plot draws one plan, and {plans} plans are given")


def plotted(path: Path, results: Iterable[Judged]) -> Iterator[Judged]:
    """Draw the one result, and pass it on.

    Raises:
        UsageError: the domain is hierarchical, and its plans have no times.
        DataFileError: the file cannot be written.
    """
    for result in results:
        if result.values is not None:
            from hvr.report.curve_chart import draw

            write_whole(
                path,
                draw(result.values, f"{Path(result.plan).name}: {result.report.outcome.value}"),
            )
        yield result
