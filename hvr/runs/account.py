"""What a run says of itself in `task.json`: that it has begun, that it is finished, or why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from hvr.errors import DataFileError, HvrError
from hvr.runs.folder import RunFolder
from hvr.runs.report.run_page.state import ACCOUNT, STARTED, RunState


class Account:
    """The account of a run.

    Args:
        folder: of the run.
        begun: the request, and all that it takes to repeat the run.
    """

    def __init__(self, folder: RunFolder, begun: Mapping[str, Any]) -> None:
        self._folder = folder
        self._begun = {"state": STARTED, "began": _now(), **begun}

    def begin(self) -> None:
        """Say that the run has begun.

        Raises:
            DataFileError: it cannot be written.
        """
        self._write(self._begun)

    def finish(self, result: Mapping[str, Any]) -> None:
        """Say that the run is finished.

        Args:
            result: what came of it.

        Raises:
            DataFileError: it cannot be written.
        """
        self._write({**self._begun, "state": RunState.FINISHED, "ended": _now(), **result})

    def break_off(self, error: BaseException) -> None:
        """Say why the run broke off.

        Raises:
            DataFileError: it cannot be written.
        """
        name = type(error).__name__
        message = str(error) or ("interrupted" if isinstance(error, KeyboardInterrupt) else name)
        self._write({
            **self._begun, "state": RunState.BROKEN_OFF, "ended": _now(),
            "error": name, "message": message,
        })  # fmt: skip

    def _write(self, values: Mapping[str, Any]) -> None:
        import os

        from hvr.base.secrets.scrubber import Scrubber

        self._folder.write_json(ACCOUNT, Scrubber.of(os.environ).value(values))


@contextmanager
def accounted(folder: RunFolder, begun: Mapping[str, Any]) -> Iterator[Account]:
    """Say that a run has begun, and why it broke off if it does; then let go of its folder.

    What could not be done for a reason that hvr knows, before anything was planned or asked, leaves
    no folder. Any other error has its folder as the attribute `folder`.

    Args:
        folder: of the run.
        begun: the request, and all that it takes to repeat the run.
    """
    account = Account(folder, begun)
    try:
        account.begin()
        yield account
    except BaseException as error:
        if isinstance(error, HvrError) and not folder.worth_keeping():
            with suppress(OSError):  # somebody has removed it already
                folder.discard()
            raise
        error.folder = folder.path  # type: ignore[attr-defined]
        # On a full disk there is no room for an account; that error is the one to report.
        with suppress(DataFileError):
            account.break_off(error)
        raise
    finally:
        folder.close()


def earlier_tries(about: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return when each try of a run began that broke off, and why, from its account."""
    names = ("began", "ended", "error", "message")
    last = {name: about[name] for name in names if name in about}
    return [*about.get("earlier", ()), last]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
