"""The transcription of the paper's tables, checked against the sums in the paper."""

from __future__ import annotations

from statistics import fmean

import pytest

from hvr.bench.cells import HIGH, MODERATE
from hvr.bench.export import MODELS, SETTINGS, TABLES, paper_tables

PAPER = paper_tables()
TWELVE = (*MODERATE, *HIGH)
ROUNDING = 0.0101


def close(printed: float | None, computed: float) -> bool:
    return printed is not None and abs(printed - computed) <= ROUNDING


def mean(row: object, tasks: tuple[str, ...]) -> float:
    assert isinstance(row, dict)
    return fmean(row[t] for t in tasks)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_averages_follow_from_the_rows_and_are_those_of_table_2(
    model: str, setting: str
) -> None:
    summary = PAPER.summary(model)[setting]
    pc, ld, epv = (PAPER.per_task(m, model)[setting] for m in ("pc", "ld", "epv"))
    for name, tasks in (("avg", TWELVE), ("moderate", MODERATE), ("high", HIGH)):
        assert close(pc[name], mean(pc, tasks))
        assert pc[name] == summary["pc_all" if name == "avg" else f"pc_{name}"]
    lengths = [v for t in TWELVE[:11] if (v := ld[t]) is not None]
    assert len(lengths) == 11
    assert (ld["min"], ld["max"]) == (min(lengths), max(lengths))
    assert close(ld["avg"], fmean(lengths))
    assert close(ld["abs"], fmean(map(abs, lengths)))
    assert [summary[f"ld_{n}"] for n in ("min", "max", "avg", "abs")] == [
        ld[n] for n in ("min", "max", "avg", "abs")
    ]
    assert close(epv["avg"], mean(epv, TWELVE))
    assert summary["epv"] == epv["avg"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("measure", ["mpv", "aabv"])
@pytest.mark.parametrize("stage", ["before", "after"])
def test_verification_before_and_after(model: str, measure: str, stage: str) -> None:
    table = PAPER.per_task(measure, model, stage)
    expected = {"HVR", "HV"} | ({"HR"} if (measure, stage) == ("aabv", "before") else set())
    assert set(table) == expected
    for setting, row in table.items():
        assert close(row["avg"], mean(row, TWELVE))
        assert PAPER.summary(model)[setting][f"{measure}_{stage}"] == row["avg"]


@pytest.mark.parametrize("model", MODELS)
def test_execution_is_of_correct_plans_only(model: str) -> None:
    pc, es = PAPER.per_task("pc", model), PAPER.per_task("es", model)
    for setting in SETTINGS:
        for task in TWELVE:
            assert (pc[setting][task] == 100) == (es[setting][task] is not None)


def test_averages_over_the_settings() -> None:
    for model in MODELS:
        table = PAPER.tables[PAPER.number("pc", model)]
        for name, printed in table["average_of_settings"].items():
            assert close(printed, fmean(table["rows"][s][name] for s in SETTINGS))


def test_table_1_has_all_tasks() -> None:
    rows = PAPER.tables["1"]["rows"]
    assert set(rows) == {*TWELVE, "T5bis"}
    assert (rows["T1"]["steps"], rows["T12"]["steps"], rows["T12"]["objects"]) == (8, 41, 10)


def test_every_table_from_5_to_16_is_there() -> None:
    assert {n for pair in TABLES.values() for n in pair} == set(map(str, range(5, 17)))
    assert set(PAPER.tables) == {"1", "2", "4", *map(str, range(5, 17))}


# The file describes the paper's inconsistencies in sentences; these tests verify them.


def mentions(*words: str) -> bool:
    return any(all(w in text for w in words) for text in PAPER.inconsistencies)


def test_table_4_has_the_values_of_t5_but_for_epv() -> None:
    for model in MODELS:
        for measure in ("pc", "ld", "epv"):
            for setting in SETTINGS:
                here = PAPER.special()[setting][model][measure]["T5"]
                theirs = PAPER.per_task(measure, model)[setting]
                assert here == theirs["T2" if measure == "epv" else "T5"]
    assert mentions("table 4", "T2", "EPV")


def test_the_averages_of_table_4() -> None:
    special = PAPER.special()
    for model in MODELS:
        for measure in ("pc", "ld", "epv"):
            for task in ("T5", "T5bis"):
                computed = fmean(special[s][model][measure][task] or 0.0 for s in SETTINGS)
                printed = special["avg"][model][measure][task]
                assert close(printed, computed) == (measure != "pc")
                assert measure != "pc" or mentions(f"{printed}", f"{computed:.1f} %")


def test_verified_plans_with_blocks_that_are_not() -> None:
    odd = [
        (model, setting, task)
        for model in MODELS
        for setting in ("HVR", "HV")
        for task in TWELVE
        if PAPER.per_task("epv", model)[setting][task] == 100
        and PAPER.per_task("aabv", model, "after")[setting][task] != 100
    ]
    assert odd == [("Phi3", "HVR", "T6"), ("Phi3", "HV", "T5"), ("Gemini", "HVR", "T5")]
    assert mentions("Phi3 HVR T6", "HV T5", "Gemini HVR T5")


def test_the_average_execution_success() -> None:
    values = [v for m in MODELS for row in PAPER.per_task("es", m).values()
              for v in row.values() if v is not None]  # fmt: skip
    assert fmean(values) == pytest.approx(97.98, abs=0.005)
    assert mentions("95 %", "97.98 %")
