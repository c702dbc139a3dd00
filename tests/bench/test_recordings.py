"""Recordings of a bench in one file."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from hvr.bench.folder import BenchFolder, opened_recording
from hvr.errors import DataFileError
from tests.command_line import Hvr


@pytest.mark.slow
def test_a_recording_repeats_a_bench_without_its_model(hvr_: Hvr, tmp_path: Path) -> None:
    first, second, file = tmp_path / "first", tmp_path / "second", tmp_path / "runs.zip"
    model = ("--models", "scripted:error=0.3", "--no-execute", "--temperature", "0.3")
    settings = ("--tasks", "T2", "--settings", "HVR++structured,HVR+")
    made = hvr_("bench", *settings, *model, "--save", str(first), "--record", str(file))
    assert made.code == 0, made.err
    again = hvr_("bench", "--replay", str(file), "--save", str(second))
    assert again.code == 0, again.err
    results = [BenchFolder(folder).results() for folder in (first, second)]
    assert [r.cell for r in results[0]] == [r.cell for r in results[1]]
    assert [r.record for r in results[0] if r.record] and all(
        one.scores is not None
        and other.scores is not None
        and one.scores.plan_length == other.scores.plan_length
        and (one.scores.executed, other.scores.executed) == (None, None)
        and one.scores.spent.input == other.scores.spent.input
        for one, other in zip(*results, strict=True)
    )


@pytest.mark.parametrize(
    "content", [b"", b"no archive", {"other.txt": "nothing"}, {"cells.json": '[{"task": 3}]'}]
)
def test_what_is_no_recording_is_named(tmp_path: Path, content: bytes | dict[str, str]) -> None:
    file = tmp_path / "runs.zip"
    if isinstance(content, dict):
        with zipfile.ZipFile(file, "w") as archive:
            for name, text in content.items():
                archive.writestr(name, text)
    else:
        file.write_bytes(content)
    with (
        pytest.raises(DataFileError, match=r"runs\.zip is not a recording"),
        opened_recording(file),
    ):
        pass


def test_a_recording_writes_only_transcripts(tmp_path: Path) -> None:
    file = tmp_path / "runs.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("cells.json", "[]")
        archive.writestr("../evil.jsonl", "x")
        archive.writestr("transcripts/../../evil.jsonl", "x")
        archive.writestr("transcripts/a.jsonl", "{}")
    with opened_recording(file) as recording:
        folder = recording.cassettes
        assert recording.cells == ()
        assert [p.name for p in folder.parent.rglob("*") if p.is_file()] == ["a.jsonl"]
    assert not folder.exists()


def test_the_price_is_told_without_asking_a_model(hvr_: Hvr) -> None:
    ended = hvr_(
        "bench", "--tasks", "T1-T24", "--settings", "all", "--models",
        "openai:gpt-4o-mini,openai:mine,scripted:error=0,hf:own", "--price",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    known, unknown, simulated, local = ended.out.splitlines()
    assert "openai:gpt-4o-mini: 250 plans" in known and "about $" in known
    assert "price unknown" in unknown and "simulated" in simulated and "free" in local
