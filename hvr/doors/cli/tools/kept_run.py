"""The folder of a run of tools, from its first moment on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.base.files import append_json_line, write_whole, writing
from hvr.errors import HvrError

if TYPE_CHECKING:
    from hvr.execution.events import Event

_TRACE = "trace.jsonl"


@dataclass(frozen=True)
class KeptRun:
    """A folder in which a run is written down while it goes on.

    Args:
        folder: of the run.
        about: what is asked, and where.
    """

    folder: Path
    about: Mapping[str, Any]

    def begin(self) -> None:
        """Say that the run has begun; what an earlier try left is gone.

        Raises:
            DataFileError: the folder cannot be written.
        """
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / _TRACE).unlink(missing_ok=True)
        self._tell(state="started")

    def heard(self, listen: Callable[[Event], None] | None) -> Callable[[Event], None]:
        """Return a listener that writes each event down before another hears it."""

        def hear(event: Event) -> None:
            append_json_line(self.folder / _TRACE, event.to_json())
            if listen is not None:
                listen(event)

        return hear

    def break_off(self, error: BaseException) -> None:
        """Say why the run broke off, and write its page."""
        name = type(error).__name__
        said = str(error) or ("interrupted" if isinstance(error, KeyboardInterrupt) else name)
        self._tell(state="broken off", error=name, message=said)
        from hvr.runs.report.run_page.page import render
        from hvr.runs.report.run_page.reading import read_story

        write_whole(self.folder / "run.html", render(read_story(self.folder)))

    def _tell(self, **more: str) -> None:
        text = json.dumps({**more, **self.about}, indent=2, ensure_ascii=False)
        write_whole(self.folder / "task.json", f"{text}\n")


@contextmanager
def kept(folder: Path | None, about: Mapping[str, Any]) -> Iterator[KeptRun | None]:
    """Keep a run in a folder, also one that breaks off; nothing is kept without one."""
    if folder is None:
        yield None
        return
    run = KeptRun(folder, about)
    run.begin()
    try:
        yield run
    except BaseException as error:
        # What is told of the run must not hide why it broke off.
        with suppress(HvrError):
            run.break_off(error)
        raise
