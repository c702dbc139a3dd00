"""A bench's transcripts in one file, which others can replay."""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory

from hvr.base.declared import decode
from hvr.base.files import writing
from hvr.bench.cells import Cell
from hvr.bench.folder import MANIFEST, BenchFolder
from hvr.errors import DataFileError
from hvr.models.choice import ModelChoice

_CELLS = "cells.json"
_FOLDER = "transcripts"
_NAME = re.compile(rf"{_FOLDER}/[\w.+-]+\.jsonl")
_MOST_BYTES = 2_000_000_000
"""Maximum unpacked size of a recording."""
_UNREADABLE = (
    OSError,
    zipfile.BadZipFile,
    zlib.error,
    RuntimeError,  # encrypted, or compressed in an unknown way
    KeyError,
    AttributeError,
    ValueError,
)


def record_bench(folder: Path, cells: Sequence[Cell], file: Path) -> int:
    """Write the prompts, answers and planner results of a bench into one ZIP file.

    Returns:
        The number of transcripts.

    Raises:
        DataFileError: The file cannot be written.
    """
    paths = sorted((folder / _FOLDER).glob("*.jsonl"))
    kept = [path for path in paths if not path.stem.endswith("-aside")]
    with writing(file), zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, json.dumps(BenchFolder(folder).manifest(), indent=1))
        archive.writestr(_CELLS, json.dumps([cell.to_json() for cell in cells]))
        for path in kept:
            archive.write(path, f"{_FOLDER}/{path.name}")
    return sum(not path.name.endswith(".planner.jsonl") for path in kept)


@dataclass(frozen=True, kw_only=True)
class RecordedOptions:
    """The options of a recorded bench that its prompts and scores depend on."""

    execute: bool = True
    embedder: str = ModelChoice.embedder
    temperature: float = ModelChoice.temperature


@dataclass(frozen=True)
class Recording:
    """An unpacked recording.

    Args:
        cassettes: Folder of the transcripts.
    """

    cells: tuple[Cell, ...]
    cassettes: Path
    options: RecordedOptions


@contextmanager
def opened_recording(file: Path) -> Iterator[Recording]:
    """Unpack a recording; its folder exists until the end of the block.

    Raises:
        DataFileError: The file is missing or not a recording.
    """
    with TemporaryDirectory(prefix="hvr-replay-") as place:
        try:
            with zipfile.ZipFile(file) as archive:
                members = [m for m in archive.infolist() if _NAME.fullmatch(m.filename)]
                listed = archive.getinfo(_CELLS)
                if sum(member.file_size for member in (*members, listed)) > _MOST_BYTES:
                    raise DataFileError(f"{file}: the recording is larger than 2 GB")
                data = json.loads(archive.read(listed))
                cells = decode(tuple[Cell, ...], data, _CELLS, ValueError)
                options = _options(archive)
                for member in members:
                    archive.extract(member, place)
        except _UNREADABLE as error:
            raise DataFileError(f"{file} is not a recording of a bench: {error}") from None
        yield Recording(cells, Path(place) / _FOLDER, options)


def _options(archive: zipfile.ZipFile) -> RecordedOptions:
    if MANIFEST not in archive.namelist():
        return RecordedOptions()
    subject = json.loads(archive.read(MANIFEST)).get("subject", {})
    known = {f.name for f in fields(RecordedOptions)}
    values = {k: v for k, v in subject.get("options", {}).items() if k in known}
    return decode(RecordedOptions, values, MANIFEST, ValueError)
