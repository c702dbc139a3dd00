"""Bench reports: hand-computed numbers, tables, CSV, JSON, HTML page, comparison."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest
from rich.console import Console

from hvr.bench.cells import Cell, CellOptions, CellResult, plan_cells
from hvr.bench.export import HEADER, bench_report, to_csv, to_json
from hvr.bench.folder import BenchFolder
from hvr.bench.runner import run_bench
from hvr.bench.tables import ALL, Stat, compare, load_results, main_tables, summarise, task_tables
from hvr.errors import DataFileError
from tests.bench import bench_cells

SIMULATED = "scripted:error=0.1"


def made(task: str, seed: int, pc: float, setting: str = "HVR") -> CellResult:
    return bench_cells.result(Cell(task, "FloorPlan1", setting, SIMULATED, seed), pc=pc)


def results(seeds: int = 3) -> list[CellResult]:
    cells = plan_cells(["T1", "T5", "T5bis", "T7"], ["HVR", "HR", "LLM"], [SIMULATED, "openai:x"],
                       range(seeds))  # fmt: skip
    return [bench_cells.result(cell) for cell in cells]


def printed(table: object) -> str:
    console = Console(width=250, file=io.StringIO(), record=True)
    console.print(table)
    return console.export_text()


def apart_from_interval(stat: Stat) -> Stat:
    assert stat.low is not None and stat.high is not None
    assert stat.low <= stat.mean <= stat.high
    return replace(stat, low=None, high=None)


# --- numbers ---


def test_means_over_tasks_then_over_seeds() -> None:
    summary = summarise([made("T1", 0, 1.0), made("T7", 0, 0.5), made("T1", 1, 0.5)])
    stats = summary.rows[0].stats
    # Seed 0 has 0.75, seed 1 has 0.5.
    assert apart_from_interval(stats["pc"]) == Stat(0.625, stdev([0.75, 0.5]), 3)
    assert apart_from_interval(stats["pc_moderate"]) == Stat(0.75, stdev([1.0, 0.5]), 2)
    assert stats["pc_high"] == Stat(0.5, None, 1)
    of_task = summary.stats["pc", SIMULATED, "HVR", "T1"]
    assert apart_from_interval(of_task) == Stat(0.75, stdev([1.0, 0.5]), 2)
    assert ("pc", SIMULATED, "HVR", "T2") not in summary.stats


def test_lengths_over_the_tasks_of_a_seed() -> None:
    def longer(result: CellResult, ld: float) -> CellResult:
        assert result.scores
        return replace(result, scores=replace(result.scores, ld=ld))

    stats = summarise(
        [longer(made("T1", 0, 1.0), -0.5), longer(made("T2", 0, 1.0), 1.0)]
    ).rows[0].stats  # fmt: skip
    assert [stats[n].mean for n in ("ld", "ld_min", "ld_max", "ld_abs")] == [0.25, -0.5, 1.0, 0.75]


def test_t5bis_is_in_its_own_table_only() -> None:
    summary = summarise([made("T5", 0, 1.0), made("T5bis", 0, 0.0)])
    assert summary.rows[0].stats["pc"].mean == 1.0
    assert summary.stats["pc", SIMULATED, "HVR", "T5bis"].mean == 0.0


def test_goals_are_counted_over_all_tasks_and_the_papers_measures_over_its_own() -> None:
    stats = summarise([made("T1", 0, 1.0), made("T13", 0, 0.5), made("T14", 0, 0.5)]).rows[0].stats
    assert apart_from_interval(stats["success"]) == Stat(1 / 3, None, 3)
    assert stats["over"] == Stat(0.25, None, 1)
    assert stats["pc"] == Stat(1.0, None, 1)


def test_errors_are_counted_and_in_no_mean() -> None:
    failed = replace(made("T2", 0, 0.0), scores=None, error="no answer", error_kind="LLMError")
    row = summarise([made("T1", 0, 1.0), failed]).rows[0]
    assert (row.cells, row.errors, row.stats["pc"].mean) == (1, 1, 1.0)
    assert row.failures == {"error: LLMError": 1}


def test_unknown_values_stay_unknown() -> None:
    row = summarise([made("T1", 0, 1.0)]).rows[0]
    assert "cost" not in row.stats
    assert row.stats["tokens"].mean == 1200


# --- tables ---


@pytest.mark.slow
def test_tables_for_the_terminal_say_what_is_simulated() -> None:
    summary = summarise(results())
    texts = [printed(table) for table in main_tables(summary)]
    assert ["(simulated)" in text for text in texts] == [True] * 3 + [False] * 3
    assert max(len(line.rstrip()) for text in texts for line in text.splitlines()) <= 80
    plans = next(x for x in texts[3].splitlines() if x.strip().startswith("HVR "))
    # Goals come first, then steps over the best known for plans that reach them (seed 0 only).
    leading = ["33.3", "±57.7", "25.0"]
    assert plans.split() == ["HVR", *leading, *["95.0", "±5.0"] * 3, "25.0", "±0.0"]
    assert "95 % intervals" in texts[4]
    bounds = next(x for x in texts[4].splitlines() if x.strip().startswith("HVR "))
    low, _, high = bounds.split()[1:4]
    assert 0 <= int(low) <= 33 <= int(high) <= 100
    making = next(x for x in texts[5].splitlines() if x.strip().startswith("HVR "))
    assert making.split()[3:7] == ["(50.0)", "100.0", "(40.0)", "90.0"]
    tables = [printed(t) for t in task_tables(summary)]
    assert all("simulated" in t for t in tables if "scripted" in t)
    (correctness,) = [t for t in tables if "Plan correctness" in t and "openai" in t]
    assert ["HVR", "95", "95", "95", "95"] in [x.split() for x in correctness.splitlines()]


# --- CSV and JSON ---


def test_csv_has_a_line_for_each_cell() -> None:
    failed = replace(made("T2", 9, 0.0), scores=None, error='said "no", twice\nover')
    lines = list(csv.DictReader(io.StringIO(to_csv([*results(), failed]))))
    assert len(lines) == len(results()) + 1
    assert tuple(lines[0]) == HEADER
    assert lines[0]["pc"] == "1.0"
    assert lines[0]["cost"] == ""  # unknown, not 0
    assert {x["simulated"] for x in lines if x["model"] == SIMULATED} == {"True"}
    assert lines[-1]["error"] == 'said "no", twice\nover'
    assert lines[-1]["pc"] == ""


@pytest.mark.slow
def test_a_json_document_is_read_again(tmp_path: Path) -> None:
    document = to_json({"subject": {}, "starts": []}, results(), summarise(results()))
    path = tmp_path / "old.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert [r.scores for r in load_results(path)] == [r.scores for r in results()]
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(DataFileError, match="neither"):
        load_results(path)
    with pytest.raises(DataFileError, match="no such file"):
        load_results(tmp_path / "none.json")
    with pytest.raises(DataFileError, match="not a bench folder"):
        load_results(tmp_path)


# --- comparison ---


@pytest.mark.slow
def test_a_difference_counts_where_it_exceeds_the_spread() -> None:
    old = [made("T1", 0, 0.4), made("T1", 1, 0.6), made("T2", 0, 0.5), made("T2", 1, 0.5)]
    new = [made("T1", 0, 0.5), made("T1", 1, 0.7), made("T2", 0, 0.3), made("T2", 1, 0.3)]
    deltas = {(d.measure, d.task): d for d in compare(old, new)}
    one, two = deltas["pc", "T1"], deltas["pc", "T2"]
    assert one.difference == pytest.approx(0.1)
    assert (one.beyond_spread, one.mark) == (False, "")  # the spread is 0.14
    assert two.difference == pytest.approx(-0.2)
    assert (two.beyond_spread, two.mark) == (True, "▼")
    # Fewer calls are better.
    assert deltas["calls", "T2"].mark == "▲"
    assert deltas["ld", "T2"].mark == ""


def test_one_seed_has_no_spread() -> None:
    (delta,) = [d for d in compare([made("T1", 0, 0.4)], [made("T1", 0, 0.5)])
                if (d.measure, d.task) == ("pc", "T1")]  # fmt: skip
    assert (delta.beyond_spread, delta.mark) == (None, "?")


def test_means_are_compared_over_the_tasks_of_both() -> None:
    old = [made("T1", 0, 0.5), made("T2", 0, 0.0)]
    (delta,) = [d for d in compare(old, [made("T1", 0, 0.5)])
                if (d.measure, d.task) == ("pc", ALL)]  # fmt: skip
    assert delta.difference == 0.0


# --- the report of the studio ---


class Shown:
    """The tables, headings and texts of a report."""

    def __init__(self, report: dict[str, Any]) -> None:
        self.headings = [section["title"] for section in report["sections"]]
        parts = [part for section in report["sections"] for part in section["parts"]]
        self.tables = {
            part["title"]: [part["header"], *part["rows"]]
            for part in parts
            if part["kind"] == "table"
        }
        names = [series["name"] for part in parts for series in part.get("series", ())]
        cells = [cell for rows in self.tables.values() for row in rows for cell in row]
        self.texts = [*self.headings, *(part["title"] for part in parts), *names, *cells]
        self.warning = report["warning"]


def page(cell_results: list[CellResult], folder: Path) -> Shown:
    cells = [r.cell for r in cell_results]
    bench = BenchFolder(folder)
    with bench.locked():
        bench.open(cells, CellOptions(), {})
    manifest = BenchFolder(folder).manifest()
    return Shown(bench_report(manifest, cell_results, summarise(cell_results)))


@pytest.mark.slow
def test_the_page_has_the_papers_tables_beside_hvrs(tmp_path: Path) -> None:
    document = page(results(), tmp_path)
    for number in range(5, 17):
        assert any(f"table {number}," in caption for caption in document.tables)
    paper = document.tables["Paper, table 11, Gemini"]
    assert paper[1][:3] == ["HVR", "100.00", "100.00"]
    assert document.tables["Paper, table 2, Gemini"][1] == ["HVR", "94.19", "100.00", "88.39"]
    assert document.tables["Paper, table 2, Gemini, continued"][1] == [
        "HVR", "33.33", "337.50", "109.13", "109.13", "88.11", "(100.00) 100.00", "(16.33) 79.83",
    ]  # fmt: skip
    header, first, *_ = document.tables["hvr, plans · openai:x"]
    shown = dict(zip(header, first, strict=True))
    assert (shown["setting"], shown["PC"]) == ("HVR", "95.0 ±5.0")
    header, first, *_ = document.tables["hvr, lengths and verification · openai:x"]
    shown = dict(zip(header, first, strict=True))
    assert (shown["MPV"], shown["LD min"], shown["errors"]) == ("(50.0) 100.0", "25.0 ±0.0", "0")
    own = document.tables["hvr, Plan correctness (PC), per cent · openai:x"]
    assert own[0] == ["setting", "T1", "T5", "T5bis", "T7"]
    assert own[1] == ["HVR", *["95.0 ±5.0"] * 4]
    assert document.tables["Paper, table 4, Phi3"][-1][0] == "avg"


@pytest.mark.slow
def test_the_page_says_simulated_everywhere_a_simulation_is_shown(tmp_path: Path) -> None:
    document = page(results(), tmp_path)
    named = [t for t in document.texts if "scripted" in t and "{" not in t]
    assert len(named) > 10 and "Simulated, not a language model" in document.warning
    assert [t for t in named if "(simulated)" not in t] == []


def test_a_page_of_one_cell_and_one_of_errors(tmp_path: Path) -> None:
    page([made("T1", 0, 1.0)], tmp_path / "one")
    failed = replace(made("T1", 0, 0.0), scores=None, error="<script>alert(1)</script> & co")
    document = page([failed], tmp_path / "error")
    assert "<script>alert(1)</script> & co" in document.texts
    assert "Errors" in document.headings


@pytest.mark.slow
def test_the_same_results_give_the_same_page(tmp_path: Path) -> None:
    run_bench(tmp_path, [r.cell for r in results()], bench_cells.quick, CellOptions())
    bench = BenchFolder(tmp_path)
    pages = {
        json.dumps(bench_report(bench.manifest(), r, summarise(r))) for r in (bench.results(),) * 2
    }
    assert len(pages) == 1
