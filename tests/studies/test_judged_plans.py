"""Files of judged plans: faults are reported with their line number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hvr.errors import DataFileError
from studies.judging.corpus import Missing, load, read_cases

CASE = {
    "id": "one", "source": "hand", "domain": "domain.pddl", "problem": "problem.pddl",
    "plan": ["(a)", "(b)"], "remove": [[2]], "missing": [{"step": 1, "action": "(c)"}],
}  # fmt: skip


def written(folder: Path, *lines: str) -> Path:
    path = folder / "plans.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_case_is_read(tmp_path: Path) -> None:
    (case,) = read_cases(written(tmp_path, json.dumps(CASE), ""))
    assert case.remove == ((2,),) and case.missing == (Missing(1, "(c)"),)
    with pytest.raises(DataFileError, match=r"case one: .*domain\.pddl"):
        load(case, tmp_path, {})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"problem": None}, "'problem'"),
        ({"plan": "(a)"}, "list of strings"),
        ({"plan": [1]}, "list of strings"),
        ({"plan": ["(a"]}, "ends before"),
        ({"remove": [[3]]}, "steps from 1 to 2"),
        ({"remove": []}, r"\[\[\]\]"),
        ({"missing": [{"step": 1}]}, "'action'"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    path = written(tmp_path, json.dumps(CASE), json.dumps({**CASE, **change}))
    with pytest.raises(DataFileError, match=rf"plans\.jsonl:2: (?s:.*){said}"):
        list(read_cases(path))


@pytest.mark.parametrize("line", ["{", "[]", "3"])
def test_a_line_that_is_no_object(tmp_path: Path, line: str) -> None:
    with pytest.raises(DataFileError, match="jsonl:1: "):
        list(read_cases(written(tmp_path, line)))
