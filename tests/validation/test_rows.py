"""Rows of files get the same verdicts as single plans, on every engine, even after a kill."""

from __future__ import annotations

import io
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.base.engines.registry import EngineChoice
from hvr.validation import stream
from hvr.validation.streaming import Verdicts
from tests.command_line import Hvr
from tests.validation.test_stream import DOMAIN, problem

GOOD = {"domain": DOMAIN, "problem": problem(1), "plan": "(light l0)"}
SHORT = {**GOOD, "problem": problem(2), "id": "short"}
ROWS: list[Any] = [GOOD, SHORT, {**GOOD, "plan": ")("}, {"domain": 1}, [], {**GOOD, "id": 7}]
OUTCOMES = ["valid", "invalid", "unknown", "unknown", "unknown", "valid"]


def _file(folder: Path, rows: list[Any]) -> Path:
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def _verdicts(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_line_for_each_row(tmp_path: Path, hvr_: Hvr) -> None:
    ended = hvr_("validate", "--rows", _file(tmp_path, ROWS), "-q")
    said = _verdicts(ended.out)
    assert ended.code == 2
    assert [verdict["outcome"] for verdict in said] == OUTCOMES
    assert [verdict["row"] for verdict in said] == list(range(1, 7))
    assert [verdict["id"] for verdict in said] == [None, "short", None, None, None, 7]
    assert said[1]["rule"] == "HVR102" and "(lit l1) must be true" in said[1]["reason"]
    assert "domain must be a string" in said[3]["reason"] and "object" in said[4]["reason"]


def test_from_standard_input(hvr_: Hvr, monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BytesIO(json.dumps(GOOD).encode() + b"\n\nno JSON\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
    ended = hvr_("validate", "--rows", "-", "-q")
    assert [v["outcome"] for v in _verdicts(ended.out)] == ["valid", "unknown"]


@pytest.mark.parametrize("kept", [0, 1, 3, 6])
def test_it_goes_on_where_it_was_killed(kept: int, tmp_path: Path, hvr_: Hvr) -> None:
    rows, whole, part = _file(tmp_path, ROWS), tmp_path / "whole", tmp_path / "part"
    assert hvr_("validate", "--rows", rows, "--output-file", whole, "-q").code == 2
    lines = whole.read_bytes().splitlines(keepends=True)
    part.write_bytes(b"".join(lines[:kept]) + (lines[kept][:20] if kept < 6 else b""))
    assert hvr_("validate", "--rows", rows, "--output-file", part, "-q").code == 2
    assert part.read_bytes() == whole.read_bytes()


def test_what_was_judged_before_counts_for_the_exit_code(tmp_path: Path, hvr_: Hvr) -> None:
    rows, out = _file(tmp_path, [SHORT, GOOD]), tmp_path / "out"
    assert hvr_("validate", "--rows", rows, "--output-file", out, "-q").code == 1
    assert hvr_("validate", "--rows", rows, "--output-file", out, "-q").code == 1
    told = hvr_("validate", "--rows", rows, "--output-file", out)
    assert "2 rows already judged" in told.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rows.jsonl", "--output-file", "rows.jsonl"], "would overwrite"),
        (["nowhere.jsonl"], "nowhere.jsonl"),
        (["rows.jsonl", "--watch"], "--rows cannot be combined with other files"),
        (["rows.jsonl", "--engine", "rey"], "did you mean 'ray'"),
        (["rows.jsonl", "--address", "auto"], "needs a cluster engine"),
        (["rows.jsonl", "--output-file", "no/where"], "no/where"),
    ],
)
def test_bad_input(
    words: list[str], said: str, tmp_path: Path, hvr_: Hvr, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = _file(tmp_path, ROWS)
    before = file.read_bytes()
    ended = hvr_("validate", "--rows", *words)
    assert ended.code == 2 and said in ended.err
    assert file.read_bytes() == before


def test_an_input_is_not_replaced_and_a_missing_one_leaves_no_output(
    tmp_path: Path, hvr_: Hvr
) -> None:
    rows, output = tmp_path / "rows.jsonl", tmp_path / "verdicts.jsonl"
    for other in (output, rows):
        assert hvr_("validate", "--rows", rows, "--output-file", other).code == 2
    assert list(tmp_path.iterdir()) == []
    rows.write_text("")
    ended = hvr_("validate", "--rows", rows, "--output-file", rows)
    assert (ended.code, "would overwrite" in ended.err) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["here", "processes"])
def test_engines_agree(name: str) -> None:
    rows = [(DOMAIN, problem(n % 3 + 1), f"(light l{n % 4})") for n in range(700)]
    alone = list(stream(rows))
    choice = EngineChoice(name, jobs=1 if name == "here" else 2)
    assert [j.to_json() for j in stream(rows, engine=choice)] == [j.to_json() for j in alone]


@pytest.mark.slow
@given(st.lists(st.sampled_from([GOOD, SHORT, ROWS[2]]), max_size=5))
def test_columns_get_the_verdicts_of_the_stream(rows: list[dict[str, str]]) -> None:
    columns = {name: [row[name] for row in rows] for name in ("domain", "problem", "plan")}
    batch = Verdicts()({**columns, "other": list(range(len(rows)))})
    judged = stream([(row["domain"], row["problem"], row["plan"]) for row in rows])
    assert batch["outcome"] == [str(j.report.outcome) for j in judged]
    assert batch["other"] == list(range(len(rows)))
    assert all(
        bool(r) == (o != "valid") for r, o in zip(batch["reason"], batch["outcome"], strict=True)
    )


@pytest.mark.slow
@pytest.mark.skipif(find_spec("pyarrow") is None, reason="needs pyarrow")
def test_parquet(tmp_path: Path, hvr_: Hvr) -> None:
    import pyarrow as arrow
    from pyarrow import parquet

    file = tmp_path / "rows.parquet"
    parquet.write_table(arrow.Table.from_pylist([GOOD, {**GOOD, "plan": ""}]), file)
    ended = hvr_("validate", "--rows", file, "-q")
    assert [v["outcome"] for v in _verdicts(ended.out)] == ["valid", "invalid"]
    parquet.write_table(arrow.Table.from_pylist([{"plan": "x"}]), file)
    assert "no column 'domain'" in hvr_("validate", "--rows", file).err
    file.write_bytes(b"no parquet")
    assert "no Parquet file" in hvr_("validate", "--rows", file).err


def test_parquet_without_its_package(
    tmp_path: Path, hvr_: Hvr, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    ended = hvr_("validate", "--rows", tmp_path / "rows.parquet")
    assert ended.code == 2 and ".[ray]" in ended.err


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray")
@pytest.mark.filterwarnings("ignore")
def test_a_step_of_ray_data() -> None:
    import ray

    rows = [{k: v for k, v in row.items() if k != "id"} for row in (GOOD, SHORT)]
    try:
        data = ray.data.from_items(rows).map_batches(Verdicts, concurrency=1)
        assert [row["outcome"] for row in data.take_all()] == ["valid", "invalid"]
    finally:
        ray.shutdown()
