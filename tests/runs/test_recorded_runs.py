"""Runs recorded by earlier versions of hvr replay byte for byte."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

import pytest

from tests.command_line import Hvr

RECORDED = Path(__file__).with_name("recorded")
RUNS = sorted(path.name.removesuffix(".tar.xz") for path in RECORDED.glob("*.tar.xz"))
REPEATED = (
    "domain.pddl", "llm.jsonl", "plan.json", "plan.pddl", "planning.json", "problem.pddl",
    "subgraph.json", "trace.jsonl",
)  # fmt: skip


def test_there_are_recorded_runs() -> None:
    assert RUNS == ["coffee", "simulated-T2", "simulated-T4-library"]


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_a_recorded_run_is_repeated_byte_for_byte(name: str, hvr_: Hvr, tmp_path: Path) -> None:
    with tarfile.open(RECORDED / f"{name}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    first, second = tmp_path / name, tmp_path / "again"
    ended = hvr_("plan", "--llm", f"replay:{first}", "--save", second)
    assert (ended.code, ended.err) == (0, "")
    assert "goal reached" in ended.out
    differing = [f for f in REPEATED if content(first / f) != content(second / f)]
    assert differing == []


def content(path: Path) -> bytes:
    """Return the content of a file without the commit in a transcript."""
    return re.sub(rb'"commit": "[0-9a-f]*\+?"', b"", path.read_bytes())
