"""A resident process that answers requests: `hvr validate --serve`."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.doors.cli.main import main
from hvr.errors import PddlSyntaxError, UsageError
from hvr.validation import Outcome, stream, validate
from hvr.validation.batch import BatchOptions
from hvr.validation.streaming import ResidentValidator
from tests.validation.validation_task import write_task

TEXTS = {
    "domain": "(define (domain d) (:predicates (p) (q)) (:action a :precondition (p) :effect (q)))",
    "problem": "(define (problem one) (:domain d) (:init (p)) (:goal (q)))",
    "plan": "(a)",
}


def ask(resident: ResidentValidator, **request: Any) -> dict[str, Any]:
    return resident.answer(json.dumps({**TEXTS, **request}))


def from_files(resident: ResidentValidator, names: dict[str, str]) -> dict[str, Any]:
    return resident.answer(json.dumps({f"{part}_file": name for part, name in names.items()}))


def test_texts_are_judged_and_the_id_comes_back() -> None:
    answer = ask(ResidentValidator(BatchOptions()), id=["any", 1])
    assert (answer["id"], answer["outcome"], answer["cost"]) == (["any", 1], "valid", 1)


def test_files_are_read_anew_for_each_request(tmp_path: Path) -> None:
    resident = ResidentValidator(BatchOptions())
    names = {part: str(tmp_path / f"{part}.pddl") for part in TEXTS}
    for part, text in TEXTS.items():
        Path(names[part]).write_text(text)
    assert from_files(resident, names)["outcome"] == "valid"
    Path(names["problem"]).write_text(TEXTS["problem"].replace("(:init (p))", "(:init)"))
    answer = from_files(resident, names)
    assert answer["outcome"] == "invalid"
    assert answer["failure"]["literals"][0]["location"]["file"] == names["domain"]


def test_a_model_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    resident = ResidentValidator(BatchOptions())
    ask(resident)
    monkeypatch.setattr("hvr.validation.batch.parse_problem", None)
    assert ask(resident, plan="")["outcome"] == "invalid"


def test_few_models_are_kept() -> None:
    resident = ResidentValidator(BatchOptions())
    for number in range(40):
        assert ask(resident, problem=TEXTS["problem"] + f"; {number}")["outcome"] == "valid"
    assert len(resident._models) == 16


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ("[]", "object"),
        ("[" * 100_000, "nested"),
        (b"\xff\xfe{}", "not valid JSON"),
        ('{"id": 1, "domain": "(a)"}', "problem"),
        (json.dumps({**TEXTS, "plans": []}), "plans"),
        (json.dumps({**TEXTS, "domain": 5}), "domain"),
        (json.dumps({**TEXTS, "domain": "domain.pddl"}), "domain_file"),
        (json.dumps({**TEXTS, "problem": "problem.pddl"}), "problem_file"),
        (json.dumps({**TEXTS, "plan_file": "plan.txt"}), "plan_file"),
        (json.dumps({"domain_file": "no-such-file", "problem": "(x)", "plan": ""}), "no-such-file"),
    ],
)
def test_a_request_that_cannot_be_used_is_answered_by_an_error(
    line: str | bytes, words: str
) -> None:
    assert words in ResidentValidator(BatchOptions()).answer(line)["error"]


@given(
    st.dictionaries(
        st.sampled_from(["id", *TEXTS, "plan_file"]), st.text() | st.none() | st.integers()
    )
)
def test_whatever_is_asked_is_answered(request: dict[str, Any]) -> None:
    resident = ResidentValidator(BatchOptions(advise=True))
    for line in (json.dumps(request), json.dumps({**TEXTS, **request})):
        answer = resident.answer(line)
        assert answer["id"] is None or answer["id"] == request["id"]
        assert "error" in answer or answer["outcome"] in ("valid", "invalid", "unknown")
        json.dumps(answer)


def test_the_command_answers_as_json_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_task(tmp_path)
    names = {"domain": "domain.pddl", "problem": "problem.pddl", "plan": "bad.plan"}
    Path("bad.plan").write_text("(brew)")
    main(["validate", *names.values(), "--json"])
    (expected,) = json.loads(capsys.readouterr().out)
    files = {f"{part}_file": name for part, name in names.items()}
    lines = f"\n{json.dumps({'id': 1, **files})}\nnonsense\n".encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    assert main(["validate", "--serve"]) == 0
    one, two = map(json.loads, capsys.readouterr().out.splitlines())
    assert one == {"id": 1, **expected}
    assert "not valid JSON" in two["error"]


def test_serving_takes_no_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--serve", "domain.pddl"]) == 2
    assert "--serve" in capsys.readouterr().err


@pytest.mark.parametrize("part", TEXTS)
@pytest.mark.parametrize(
    "content", ["hunter2:x:0\n", "(a\nhunter2", "\ufeff[hunter2]", "(a) hunter2 ("]
)
def test_an_answer_quotes_no_file_that_does_not_parse(
    part: str, content: str, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text(content)
    request = {name: text for name, text in TEXTS.items() if name != part}
    answer = ResidentValidator(BatchOptions()).answer(
        json.dumps({**request, f"{part}_file": str(secret)})
    )
    assert (answer["outcome"], answer["rule"]) == ("unknown", "HVR001")
    assert answer["diagnostic"]["location"]["file"] == str(secret)
    assert "hunter2" not in json.dumps(answer)


def test_a_fault_of_a_text_is_quoted_beside_files(tmp_path: Path) -> None:
    file = tmp_path / "domain.pddl"
    file.write_text(TEXTS["domain"])
    request = {"domain_file": str(file), "problem": TEXTS["problem"], "plan": "(a) oops"}
    assert "oops" in ResidentValidator(BatchOptions()).answer(json.dumps(request))["reason"]


@pytest.mark.parametrize("part", TEXTS)
def test_a_server_of_texts_opens_no_file(part: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text(TEXTS[part])
    resident = ResidentValidator(BatchOptions(), texts_only=True)
    texts = {name: text for name, text in TEXTS.items() if name != part}
    for path in (file, tmp_path / "none"):
        answer = resident.answer(json.dumps({**texts, f"{part}_file": str(path)}))
        assert answer == {
            "id": None,
            "error": f"'{part}_file' names a file, but this server accepts only PDDL text",
        }
    assert ask(resident)["outcome"] == "valid"


def test_texts_only_goes_with_serve(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--texts-only", "domain.pddl"]) == 2
    assert "--serve" in capsys.readouterr().err


@pytest.mark.parametrize("part", TEXTS)
@pytest.mark.parametrize("content", ["hunter2 is the password\n", "(hunter2)\n", ""])
def test_a_text_is_never_opened_as_a_file(
    part: str, content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("secret", "a.plan", "(a)"):
        Path(name).write_text(content or TEXTS[part])
        for text in (name, str(tmp_path / name)):
            answer = json.dumps(ask(ResidentValidator(BatchOptions(extract=True)), **{part: text}))
            if text == TEXTS[part]:
                assert '"outcome": "valid"' in answer
            else:
                assert '"outcome": "valid"' not in answer
            assert "hunter2" not in answer


def test_python_takes_strings_for_texts_and_paths_for_files(tmp_path: Path) -> None:
    paths = {part: tmp_path / f"{part}.pddl" for part in TEXTS}
    for part, text in TEXTS.items():
        paths[part].write_text(text)
    assert validate(**paths).valid
    assert validate(**TEXTS).valid
    for part in ("domain", "problem"):
        with pytest.raises(UsageError, match="pathlib"):
            validate(**{**TEXTS, part: str(paths[part])})
    with pytest.raises(PddlSyntaxError) as caught:
        validate(**{**TEXTS, "plan": str(paths["plan"])})
    assert "(a)" not in str(caught.value)


def test_rows_open_no_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret.plan"
    secret.write_text("(a)")
    texts = (TEXTS["domain"], TEXTS["problem"], str(secret))
    (judged,) = stream([texts])
    assert judged.report.outcome is Outcome.UNKNOWN
    (judged,) = stream([(str(secret), *texts[1:])])
    assert judged.report.outcome is Outcome.UNKNOWN
