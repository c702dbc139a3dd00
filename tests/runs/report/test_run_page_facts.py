"""The page of a run in a PDDL world: the changes of each step."""

from __future__ import annotations

from pathlib import Path

from hvr.doors.studio.documents import run_document, shared_run
from hvr.execution.facts.running import save_run
from hvr.runs.report.run_page import read_story
from hvr.worlds.facts.environment import read_faults
from tests.worlds.facts.small_worlds import acted, rooms


def test_a_run_among_facts_has_a_page(tmp_path: Path) -> None:
    domain, problem = rooms()
    run, env = acted(domain, problem, read_faults(["no-effect@2"]))
    save_run(tmp_path / "run", domain, problem, run, request="deliver <both>")
    told = read_story(tmp_path / "run")
    assert told.reached is run.finished.reached is True and len(told.steps) == run.finished.steps
    assert not told.steps[1].as_expected
    truth = {str(atom) for atom in env.env.state.atoms()}
    last: dict[str, bool] = {}
    for step in run_document(tmp_path / "run")["story"]["steps"]:
        for fact in step["changed"]:
            if not fact.startswith("(= "):
                last[fact.removeprefix("(not ").replace("))", ")")] = not fact.startswith("(not ")
    assert last
    assert all((fact in truth) == holds for fact, holds in last.items())
    page = shared_run(tmp_path / "run")
    assert "deliver &lt;both&gt;" in page and "deliver <both>" not in page
    assert "hvrRoom=" not in page  # a run without a room does not need the library that draws rooms
