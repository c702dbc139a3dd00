"""Benches of policies, next to settings and models, with intervals and LaTeX output."""

from __future__ import annotations

import random
import re
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.bench.cells import NO_MODEL, CellOptions, plan_cells
from hvr.bench.export import latex_escaped, to_latex
from hvr.bench.folder import BenchFolder
from hvr.bench.runner import run_bench, run_cell
from hvr.bench.tables import Summary, bootstrap_interval, summarise
from hvr.errors import UsageError
from tests.command_line import Hvr

POLICY = '''
from hvr.errors import ImpossibleGoalError
from hvr.policies.symbolic import SymbolicPolicy


class Refuses(SymbolicPolicy):
    """Finds no plan for what it is asked second."""

    def plan(self, stage, graph, inventory, reason=""):
        raise ImpossibleGoalError("there is none")


class Breaks(SymbolicPolicy):
    def understand(self, request, graph, inventory):
        raise ValueError("a mistake in the policy")
'''


@pytest.fixture(scope="module")
def benched(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    folder = tmp_path_factory.mktemp("bench") / "b"
    (folder.parent / "benched_policies.py").write_text(POLICY, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder.parent))
        cells = plan_cells(
            ["T1", "T2"], ["HVR+"], ["scripted:error=0"], [0],
            policies=["symbolic", "benched_policies:Refuses", "benched_policies:Breaks"],
        )  # fmt: skip
        run_bench(folder, cells, run_cell, CellOptions(execute=False))
    return summarise(BenchFolder(folder).results())


@pytest.mark.slow
def test_policies_are_measured_as_settings_are(benched: Summary) -> None:
    symbolic = benched.row("policy:symbolic", NO_MODEL)
    assert symbolic is not None and symbolic.cells == 2 and not symbolic.errors
    assert symbolic.stats["success"].mean == symbolic.stats["pc"].mean == 1
    assert symbolic.stats["calls"].mean == 0
    refuses = benched.row("policy:benched_policies:Refuses", NO_MODEL)
    assert refuses is not None and refuses.stats["success"].mean == 0 and not refuses.errors
    breaks = benched.row("policy:benched_policies:Breaks", NO_MODEL)
    assert breaks is not None and breaks.errors == 2


def test_policies_stand_beside_each_model(benched: Summary) -> None:
    beside = benched.beside()
    assert beside.models == ("scripted:error=0",)
    names = [beside.name(row.setting) for row in beside.rows]
    assert names == ["HVR+", "symbolic (no model)", "Refuses (no model)", "Breaks (no model)"]
    assert beside.beside() == beside


def test_latex_has_a_line_for_each_setting(benched: Summary) -> None:
    text = to_latex(benched)
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 2
    lines = [line for line in text.splitlines() if line.endswith(r"\\")]
    for table in (lines[:5], lines[5:]):
        assert len({line.count("&") for line in table}) == 1
    assert "symbolic (no model) & 100.0 & 100.0" in text


@given(st.text())
def test_nothing_that_latex_would_read_is_left(text: str) -> None:
    written = re.sub(r"\\(?:text\w+\{\}|[&%$#_{}])", "", latex_escaped(text))
    assert not set(written) & set("&%$#_{}~^\\")


@pytest.mark.slow
@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=4), min_size=2, max_size=8))
def test_an_interval_is_within_the_values_and_always_the_same(groups: list[list[float]]) -> None:
    bounds = bootstrap_interval(groups)
    assert bounds is not None
    low, high = bounds
    everything = [value for group in groups for value in group]
    assert min(everything) - 1e-9 <= low <= high <= max(everything) + 1e-9
    assert bootstrap_interval(groups) == bounds


@pytest.mark.slow
def test_intervals_hold_the_mean_about_as_often_as_they_say() -> None:
    rng = random.Random(1)
    held = 0
    for _ in range(60):
        low, high = bootstrap_interval([[rng.gauss(0, 1)] for _ in range(40)]) or (0.0, 0.0)
        held += low <= 0 <= high
    assert 50 <= held <= 60


def test_one_value_has_no_interval() -> None:
    assert bootstrap_interval([[0.5]]) is None
    assert bootstrap_interval([[], [0.5]]) is None
    assert bootstrap_interval([[0.2, 0.4]]) is not None
    assert fmean([0.2, 0.4]) == pytest.approx(0.3)


def test_an_unknown_policy_is_refused(hvr_: Hvr, tmp_path: Path) -> None:
    ended = hvr_("bench", "--policy", "nobody", "--save", str(tmp_path / "b"))
    assert ended.code == 2 and "nobody" in ended.err
    with pytest.raises(UsageError):
        plan_cells(["T1"], [], ["scripted"], [0], policies=["no_such_module:Policy"])
