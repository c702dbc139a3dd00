"""Display of runs, plans and reports at a prompt and in a notebook."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

import hvr
from hvr.base.printable import MAX_TABLE_ROWS, html_card


class Whole(HTMLParser):
    """Checks that every element is closed in order, and keeps the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def html_of(value: object) -> str:
    html: str = value._repr_html_()  # type: ignore[attr-defined]
    return Whole(html).text


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> hvr.Run:
    folder = tmp_path_factory.mktemp("runs") / "coffee"
    return hvr.plan("make coffee", options=hvr.Options(save=folder))


@pytest.mark.slow
def test_a_run_is_a_line_and_a_table_with_the_scene(run: hvr.Run) -> None:
    end = f"goal reached after {len(run.steps)} steps"
    assert repr(run) == f"<Run 'make coffee' in {run.scene}: {end}; {run.folder}>"
    text = html_of(run)
    assert f"make coffee: {end}" in text and "<svg" in run._repr_html_()
    assert all(str(step.action) in text for step in run.steps)


def test_a_run_without_its_folder_has_no_picture(tmp_path: Path) -> None:
    run = hvr.plan("make coffee", options=hvr.Options(save=tmp_path / "r", execute=False))
    assert re.fullmatch(
        r"<Run 'make coffee' in FloorPlan\d+: planned, \d+ steps, reaches the goal; .*>", repr(run)
    )
    shutil.rmtree(run.folder)
    assert str(run.plans[0].plan.actions[-1]) in html_of(run)
    assert "<svg" not in run._repr_html_()


def test_a_plan(run: hvr.Run) -> None:
    plan = run.plans[0].plan
    assert re.fullmatch(r"<Plan: \d+ actions in \d+ blocks?(, optimal)?>", repr(plan))
    assert all(block.macro.name in html_of(plan) for block in plan.blocks)


def test_reports(run: hvr.Run, tmp_path: Path) -> None:
    good, domain, problem = (
        run.plans[0].report,
        *map(run.folder.joinpath, ("domain.pddl", "problem.pddl")),
    )
    assert re.fullmatch(
        r"<ValidationReport: valid, (\d+) of \1 steps executed, cost \d+>", repr(good)
    )
    assert "The plan is valid" in html_of(good)
    plan = tmp_path / "plan.pddl"
    plan.write_text("(toggle_off coffeemachine-1)\n")
    bad = hvr.validate(domain, problem, plan)
    assert repr(bad) == "<ValidationReport: invalid, 0 of 1 steps executed>"
    assert "The plan is invalid" in html_of(bad) and "cannot be executed" in html_of(bad)


def test_texts_are_texts_and_long_tables_are_cut() -> None:
    told = html_card("<b>", ["a & b\nc", ""], ["<i>"], [["<script>"]] * (MAX_TABLE_ROWS + 3))
    text = Whole(told).text
    assert "<b>a & bc<i><script>" in text and "and 3 more" in text
    assert text.count("<script>") == MAX_TABLE_ROWS and "<script>" not in told
