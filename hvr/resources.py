"""Where the data files that come with hvr are."""

from __future__ import annotations

from pathlib import Path

from hvr.errors import DataFileError

_PACKAGE = Path(__file__).resolve().parent


def data_path(name: str) -> Path:
    """Path of a data folder: `ontology`, `domains` or `tasks`.

    An installed hvr has it inside the package; in a checkout it is at the top.

    Raises:
        DataFileError: there is no such folder.
    """
    for candidate in (_PACKAGE / "data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise DataFileError(
        f"hvr's data folder {name!r} is missing from {_PACKAGE / 'data'}: install hvr again"
    )
