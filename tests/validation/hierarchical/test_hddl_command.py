"""`hvr validate` on hierarchical plans, selected by the domain, in all formats."""

import json
from pathlib import Path

import pytest

from hvr.validation.outcomes import FORMATS
from tests.command_line import Hvr

PARCELS = Path(__file__).parents[3] / "examples" / "parcels"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for file in PARCELS.iterdir():
        (tmp_path / file.name).write_text(file.read_text(encoding="utf-8"))
    text = (tmp_path / "plan.txt").read_text()
    (tmp_path / "listed.txt").write_text(text.replace("11 0 12 3", "11 12 0 3"))
    (tmp_path / "cut.txt").write_text(text[:200])
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_exit_codes_are_those_of_other_plans(hvr_: Hvr) -> None:
    model = ("validate", "domain.hddl", "problem.hddl")
    valid = hvr_(*model, "plan.txt")
    assert (valid.code, valid.out) == (0, "plan.txt: valid (7 steps, cost 7)\n")
    assert hvr_(*model, "plan.txt", "listed.txt").code == 1
    assert hvr_(*model, "plan.txt", "listed.txt", "--any-order").code == 0
    assert hvr_(*model, "cut.txt").code == 2
    assert hvr_(*model, "plan.txt", "listed.txt", "--jobs", "2").code == 1
    refused = hvr_(*model, "plan.txt", "--advise")
    assert refused.code == 2
    assert "hierarchical" in refused.err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_reports_them(hvr_: Hvr, form: str) -> None:
    said = hvr_("validate", "domain.hddl", "problem.hddl", "plan.txt", "listed.txt",
                "--format", form).out  # fmt: skip
    assert "listed.txt" in said
    assert "listing order" in said or "HVR127" in said or "listing-order" in said


@pytest.mark.usefixtures("folder")
def test_json_has_the_certificate_of_a_valid_plan(hvr_: Hvr) -> None:
    out = hvr_("validate", "domain.hddl", "problem.hddl", "plan.txt", "--json").out
    (plan,) = json.loads(out)
    first = plan["certificate"][1]
    assert first["method"] == "carry"
    assert first["parameters"] == {
        "?parcel": "book", "?from": "depot", "?to": "shop", "?van": "van1",
    }  # fmt: skip
    assert first["subtasks"] == [11, 0, 12, 3]


def test_a_plan_without_its_decomposition_is_told_of_the_option(hvr_: Hvr, folder: Path) -> None:
    lines = (folder / "plan.txt").read_text().splitlines()[1:8]
    (folder / "plain.txt").write_text("".join(f"({x.partition(' ')[2]})\n" for x in lines))
    model = ("validate", "domain.hddl", "problem.hddl", "plain.txt")
    said = hvr_(*model)
    assert (said.code, "--no-decomposition" in said.out) == (2, True)
    assert hvr_(*model, "--no-decomposition").code == 0
    assert "--no-decomposition" not in hvr_("validate", *model[1:3], "problem.hddl").out


def test_names_in_another_case_are_told_of_it(hvr_: Hvr, folder: Path) -> None:
    text = (folder / "plan.txt").read_text()
    (folder / "upper.txt").write_text(text.replace(" load ", " LOAD "))
    said = hvr_("validate", "domain.hddl", "problem.hddl", "upper.txt")
    assert (said.code, "did you mean 'load'?" in said.out) == (1, True)


@pytest.mark.usefixtures("folder")
def test_a_broken_model_is_named_with_its_place(hvr_: Hvr, folder: Path) -> None:
    text = (folder / "domain.hddl").read_text().replace("(go ?van ?from)", "(goes ?van ?from)")
    (folder / "broken.hddl").write_text(text)
    ended = hvr_("validate", "broken.hddl", "problem.hddl", "plan.txt")
    assert ended.code == 2
    assert "broken.hddl:17:" in ended.err
