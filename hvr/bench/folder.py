"""The folder of a bench: a manifest, and a file for each finished cell.

manifest.json   settings, models, options, prompt digests, and the time and machine of each start
cells/ID.json   result of a finished cell, written atomically
ledger.sqlite   with a budget: charges of the models, over all cells and starts
sent.sqlite     with a rate limit: requests that all processes sent in the last minute
transcripts/    ID.jsonl: prompts and answers of a cell, reused when an unfinished cell is resumed;
                ID-aside.jsonl: failed requests
bench.lock      held while a bench runs here; cells/ID.lock: held while a process runs a cell
"""

from __future__ import annotations

import json
import platform
import re
import sys
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hvr
from hvr.base.declared import decode
from hvr.base.files import commit, temporary_folder, try_lock, write_whole, writing
from hvr.base.secrets import Scrubber
from hvr.base.texts import read_json
from hvr.bench.cells import NO_MODEL, Cell, CellOptions, CellResult, parts_of_setting
from hvr.errors import DataFileError, UsageError
from hvr.models.choice import ModelChoice
from hvr.models.config import read_config
from hvr.models.connect import calls_per_plan
from hvr.policies.llm.record import BUDGET_SPENT

MANIFEST = "manifest.json"

_LOCK = "bench.lock"
_PATIENCE_S = 30.0


@dataclass(frozen=True)
class BenchFolder:
    path: Path

    def open(
        self, cells: Sequence[Cell], options: CellOptions, prompts: Mapping[str, str]
    ) -> tuple[CellResult, ...]:
        """Start a bench in this folder, or resume it; call this method within `locked`.

        Returns:
            Results of earlier runs in the order of the cells. Cells to be retried are missing:
            those with errors, and plans that ran out of requests if more are allowed now.

        Raises:
            UsageError: The folder contains a different bench.
        """
        subject = subject_of(cells, options, prompts)
        manifest = self.manifest() if self.exists() else None
        if manifest is None:
            self._require_new()
            manifest = {"subject": subject, "starts": []}
        other = _differences(manifest["subject"], subject)
        if other:
            raise UsageError(
                f"{self.path} contains a bench with different {', '.join(other)}: choose a new "
                "folder, or repeat its options to resume it"
            )
        manifest["starts"].append({**this_start(), "cells": len(cells)})
        # Written first, because a folder without a manifest is not recognised as a bench.
        _write(self.path / MANIFEST, manifest)
        for name in ("cells", "transcripts"):
            with writing(self.path):
                (self.path / name).mkdir(exist_ok=True)
        known = {result.cell: result for result in self.results()}
        finished = (known[c] for c in cells if c in known and known[c].finished)
        return tuple(result for result in finished if not _may_go_on(result, options))

    def exists(self) -> bool:
        return (self.path / MANIFEST).is_file()

    def manifest(self) -> dict[str, Any]:
        path = self.path / MANIFEST
        if not path.is_file():
            raise DataFileError(f"{self.path} is not a bench folder: {MANIFEST} is missing")
        try:
            values = read_json(path, strict=False)
            if not _is_manifest(values):
                raise TypeError("'subject' or 'starts' has a wrong type")
        except (KeyError, TypeError) as error:
            raise DataFileError(f"{path} is damaged: {error}") from error
        return dict(values)

    def results(self) -> tuple[CellResult, ...]:
        """Return all results in the order of the cells; unreadable result files are left out."""
        results = []
        for path in sorted((self.path / "cells").glob("*.json")):
            try:
                results.append(CellResult.from_json(read_json(path, strict=False)))
            except (ValueError, TypeError, AttributeError, DataFileError):
                continue
        place = self._order()
        return tuple(sorted(results, key=lambda r: (place(r.cell), r.cell)))

    def write(self, result: CellResult) -> None:
        _write(self.path / "cells" / f"{result.cell.id}.json", result.to_json())

    @property
    def ledger(self) -> Path:
        """File of the models' charges, for all cells and all starts of the bench."""
        return self.path / "ledger.sqlite"

    def transcript(self, cell: Cell) -> Path:
        """Return the path of a cell's transcript, which all attempts at the cell share."""
        return self.path / "transcripts" / f"{cell.id}.jsonl"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder against other benches, creating it if missing.

        Raises:
            UsageError: A different process is running a bench in this folder.
            DataFileError: The folder contains other files, or cannot be written.
        """
        if not self.exists():
            self._require_new()
        with writing(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            lock = try_lock(self.path / _LOCK)
        if lock is None:
            raise UsageError(
                f"{self.path}: another bench is running here; wait, or choose another folder",
                field="save",
            )
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def locked_cell(self, cell: Cell) -> Iterator[None]:
        """Lock a cell, after waiting for processes of a killed bench that are still running it.

        Raises:
            DataFileError: A process is still running the cell after 30 s.
        """
        path = self.path / "cells" / f"{cell.id}.lock"
        with writing(path):
            until = time.monotonic() + _PATIENCE_S
            while (lock := try_lock(path)) is None and time.monotonic() < until:
                pass
        if lock is None:
            raise DataFileError(
                f"{path}: another process is running this cell; wait for it to end, or stop it"
            )
        try:
            yield
        finally:
            lock.release()

    def _order(self) -> Callable[[Cell], tuple[int, ...]]:
        subject = self.manifest()["subject"] if self.exists() else {}
        ranks = [
            {name: rank for rank, name in enumerate(subject.get(key, ()))}
            for key in ("tasks", "settings", "models")
        ]

        def place(cell: Cell) -> tuple[int, ...]:
            names = (cell.task, cell.setting, cell.model)
            return tuple(r.get(name, len(r)) for r, name in zip(ranks, names, strict=True))

        return place

    def _require_new(self) -> None:
        if not self.path.exists():
            return
        # Ignore the remains of a bench that was killed before it began.
        if not self.path.is_dir() or any(
            entry.name != _LOCK and entry.suffix != ".part" for entry in self.path.iterdir()
        ):
            raise DataFileError(
                f"{self.path}: the bench folder must be new or empty; choose another"
            )


def _may_go_on(result: CellResult, options: CellOptions) -> bool:
    if result.error_kind != BUDGET_SPENT or result.scores is None:
        return False
    chosen = read_config(replace(options.model, spec=result.cell.model)).trusted()
    return result.scores.spent.calls < calls_per_plan(chosen.options)


def _address(spec: str, model: ModelChoice) -> str | None:
    return read_config(replace(model, spec=spec)).trusted().options.base_url


def subject_of(
    cells: Sequence[Cell], options: CellOptions, prompts: Mapping[str, str]
) -> dict[str, Any]:
    def unique(values: list[Any]) -> list[Any]:
        return list(dict.fromkeys(values))

    # URLs from the environment or a file count as well: answers of two servers must not be mixed.
    addresses = (
        {}
        if options.cassettes
        else {
            model: Scrubber().text(url)
            for model in unique([c.model for c in cells if c.model != NO_MODEL])
            if (url := _address(model, options.model))
        }
    )
    return {
        **({"addresses": addresses} if addresses and not options.model.base_url else {}),
        "tasks": unique([c.task for c in cells]),
        "scenes": sorted({c.scene for c in cells}),
        "settings": {name: parts_of_setting(name) for name in unique([c.setting for c in cells])},
        "models": unique([c.model for c in cells]),
        "seeds": sorted({c.seed for c in cells}),
        "options": options.to_json(),
        "prompts": dict(sorted(prompts.items())),
    }


def this_start() -> dict[str, Any]:
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "hvr": hvr.__version__,
        "commit": commit(),
        "python": sys.version.split()[0],
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
    }


def _is_manifest(values: Mapping[str, Any]) -> bool:
    subject, starts = values["subject"], values["starts"]
    return (
        isinstance(subject, dict)
        and all(isinstance(subject[key], list) for key in ("tasks", "models", "seeds"))
        and all(isinstance(n, str) for n in (*subject["tasks"], *subject["models"]))
        and isinstance(subject["settings"], dict)
        and isinstance(starts, list)
        and all(isinstance(start, dict) for start in starts)
    )


def _differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    return [name for name in here if json.loads(json.dumps(here[name])) != there.get(name)]


def _write(path: Path, value: Any) -> None:
    write_whole(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


# Recordings ---------------------------------------------------------------------------------------
# The transcripts of a bench in one file, which others can replay.

_CELLS = "cells.json"
_FOLDER = "transcripts"
_NAME = re.compile(rf"{_FOLDER}/[\w.+-]+\.jsonl")
_MOST_BYTES = 2_000_000_000
"""Maximum unpacked size of a recording in bytes."""
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
    """Write prompts, answers and planner results to a ZIP file; return the transcript count."""
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
    """The options of a recorded bench that determine its prompts and scores."""

    execute: bool = True
    embedder: str = ModelChoice.embedder
    temperature: float = ModelChoice.temperature


@dataclass(frozen=True)
class Recording:
    """An unpacked recording of a bench; `cassettes` is the folder of its transcripts."""

    cells: tuple[Cell, ...]
    cassettes: Path
    options: RecordedOptions


@contextmanager
def opened_recording(file: Path) -> Iterator[Recording]:
    """Unpack a recording into a temporary folder, which is deleted at the end of the context.

    Raises:
        DataFileError: The file is not a recording, or is larger than 2 GB.
    """
    with temporary_folder("hvr-replay-") as place:
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
