"""`hvr validate --gantt` and `--values FILE`: pictures of a plan over time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.doors.cli.output import check_writable, write_whole
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.validation.judged import Judged
    from hvr.validation.suites import Suite

SUFFIXES: Mapping[str, tuple[str, ...]] = {"gantt": (".svg", ".html"), "values": (".svg",)}
"""The endings of files that each option draws."""


def named_pictures(gantt: str | None, values: str | bool | None) -> dict[str, Path]:
    """Return the file of each option that names one.

    Raises:
        UsageError: A file has an ending that the option cannot draw.
    """
    named = {"gantt": gantt, "values": values}
    pictures = {option: Path(file) for option, file in named.items() if isinstance(file, str)}
    for option, path in pictures.items():
        endings = SUFFIXES[option]
        if path.suffix.lower() not in endings:
            hint = "; write --values after the files" if option == "values" else ""
            drawn = " or ".join(endings)
            raise UsageError(f"--{option} draws {drawn} files, and {path} is none{hint}")
    return pictures


def check_pictures(pictures: Mapping[str, Path], suite: Suite) -> None:
    """Refuse early what cannot be drawn.

    Args:
        pictures: The file of each option, by the option's name.
        suite: The plans to judge.

    Raises:
        UsageError: There is more than one plan.
        DataFileError: A file cannot be written.
    """
    for option, path in pictures.items():
        check_writable(path)
        plans = sum(len(job.plans) for job in suite.jobs)
        if plans != 1:
            raise UsageError(f"--{option} draws one plan, and {plans} plans are given")


def drawn(pictures: Mapping[str, Path], results: Iterable[Judged]) -> Iterator[Judged]:
    """Draw the one result, and pass it on.

    Raises:
        UsageError: The plan is hierarchical or could not be read, so there is nothing to draw.
        DataFileError: A file cannot be written.
    """
    for result in results:
        if result.timeline is not None:
            title = f"{Path(result.plan).name}: {result.report.outcome.value}"
            for option, path in pictures.items():
                write_whole(path, _picture(option, path, result, title))
            yield result
            continue
        yield result
        names = " and ".join(map(str, pictures.values()))
        raise UsageError(f"{names} not written: there is no plan over time to draw")


def _picture(option: str, path: Path, result: Judged, title: str) -> str:
    assert result.timeline is not None
    if option == "values":
        from hvr.runs.report.curve_chart import draw

        return draw(result.values or (), title, result.timeline)
    from hvr.runs.report import gantt_chart

    if path.suffix.lower() == ".html":
        return gantt_chart.draw_page(result.timeline, title)
    return gantt_chart.draw(result.timeline, title)
