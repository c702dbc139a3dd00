"""The scripts of `benchmarks/` and their input files."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.inputs import measured, records, tasks_of
from hvr.errors import DataFileError

ROOT = Path(__file__).parent.parent
SCRIPTS = sorted(
    path for path in (ROOT / "benchmarks").glob("*.py")
    if 'if __name__ == "__main__"' in path.read_text(encoding="utf-8")
)  # fmt: skip


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.stem))
def test_a_script_has_options_and_tells_its_conditions(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "ArgumentParser(" in text, "--help"
    assert "conditions(" in text or path.stem == "knowledge", "machine and versions"


@pytest.mark.parametrize("packed", [False, True])
def test_records_are_read_gzipped_or_not(packed: bool, tmp_path: Path) -> None:
    text = b'{"id": 1}\n\n{"id": 2}\n'
    path = tmp_path / "cases.jsonl"
    path.write_bytes(gzip.compress(text) if packed else text)
    assert [record["id"] for record in records(path, "id")] == [1, 2]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no such file"),
        (b"", "the file is empty"),
        (b"{", ":1: invalid JSON"),
        (b'{"id": 1}\n\n[1]', ":3: expected a JSON object"),
        (b'{"id": 1}\n{"name": 2}', ":2: missing key 'id'"),
        (b"\x1f\x8bnonsense", "damaged"),
        (b"\xff\xfe\xff", "UTF"),
    ],
)
def test_a_file_that_is_missing_or_malformed_is_one_line(
    content: bytes | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cases.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataFileError, match=said):
        records(path, "id")

    def main() -> None:
        records(path, "id")

    assert measured(main) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and str(path) in told


def test_a_measurement_ends_with_its_own_exit_code() -> None:
    assert (measured(lambda: 1), measured(lambda: None)) == (1, 0)
    assert measured(lambda: len(tasks_of("T99"))) == 2
    assert tasks_of("T1, T13-T14") == ("T1", "T13", "T14")


@pytest.mark.slow
def test_no_goal_of_a_world_with_hidden_facts_is_missed() -> None:
    """The page about worlds of facts runs this for three domains and all kinds of faults."""
    words = "--domains mine --hide --plans 1 --steps 20 --kinds lost-effect".split()
    ended = subprocess.run(
        [sys.executable, ROOT / "benchmarks/world_faults.py",
         "--data", ROOT / "tests/worlds/facts/hidden", *words],
        capture_output=True, text=True, encoding="utf-8", check=True,
    )  # fmt: skip
    (line,) = [line for line in ended.stdout.splitlines() if line.startswith("| mine |")]
    _, _, plans, faults, *_, missed, _, _ = line.split("|")
    assert int(plans) == 1 and int(faults) > 10 and int(missed) == 0


def test_dialogues_of_the_package_come_in_the_form_of_the_shared_data(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    from benchmarks.toolworld_decisions import package_rows

    (tmp_path / "possible_answer").mkdir()
    asked = {"id": "d_1", "involved_classes": ["Files"], "excluded_function": ["mv"],
             "question": [[{"role": "user", "content": "Sort it."}], []]}  # fmt: skip
    answer = {"id": "d_1", "ground_truth": [[], ["sort(file_name='a(b).txt')", "Files.ls()"]]}
    (tmp_path / "d.json").write_text(json.dumps(asked) + "\n", encoding="utf-8")
    (tmp_path / "possible_answer" / "d.json").write_text(json.dumps(answer), encoding="utf-8")
    (row,) = package_rows(tmp_path, "d.json")
    assert row["classes"] == ["Files"] and row["excluded_function"] == ["mv"]
    assert row["turns"] == [
        {"user": ["Sort it."], "calls": []},
        {"user": [], "calls": [{"api": "sort"}, {"api": "ls"}]},
    ]
    answer["ground_truth"] = [["no call"], []]
    (tmp_path / "possible_answer" / "d.json").write_text(json.dumps(answer), encoding="utf-8")
    with pytest.raises(DataFileError, match="not a call"):
        package_rows(tmp_path, "d.json")


def test_requests_without_an_answer_are_irrelevant_ones(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    from benchmarks.toolworld_decisions import package_rows

    asked = {"id": "i_1", "question": [[{"role": "user", "content": "Hi"}]], "function": [{}]}
    (tmp_path / "i.json").write_text(json.dumps(asked), encoding="utf-8")
    assert package_rows(tmp_path, "i.json") == [{"id": "i_1", "user": ["Hi"], "functions": [{}]}]


def test_correct_calls_written_as_python_are_read_and_others_refused() -> None:
    from benchmarks.toolworlds import parsed_call

    takes = {"sort": ["file_name"], "diff": ["one", "two"]}
    assert parsed_call("sort('a.txt')", takes) == {"api": "sort", "kwargs": {"file_name": "a.txt"}}
    read = parsed_call("diff('a', two=['b', 1.5])", takes)
    assert read["kwargs"] == {"one": "a", "two": ["b", 1.5]}
    for text in ("diff(", "a.b()", "sort(open('x'))"):
        with pytest.raises(DataFileError, match="cannot be read"):
            parsed_call(text, takes)


def test_open_cases_of_hierarchical_plans_are_counted_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "benchmarks"))
    from benchmarks.agreement_hddl import agreement

    parcels = Path(__file__).parent.parent / "examples" / "parcels"
    files = {"domain": str(parcels / "domain.hddl"), "problem": str(parcels / "problem.hddl")}
    (tmp_path / "cut.txt").write_text("==>\n0 (drive", encoding="utf-8")
    (tmp_path / "empty.txt").write_text("==>\nroot\n<==\n", encoding="utf-8")
    plans = [("plan.txt", "valid")]
    plans += [(str(tmp_path / name), None) for name in ("cut.txt", "empty.txt")]
    cases = [
        {"id": name, **files, "plan": str(parcels / name), "mutation": None, "expected": verdict,
         "expected_any_order": verdict}
        for name, verdict in plans
    ]  # fmt: skip
    assert agreement(tmp_path, cases) == 0
    assert capsys.readouterr().out.count("1 of 1 as expected") == 2
    cases[1]["expected"] = "valid"
    assert agreement(tmp_path, cases) == 1
