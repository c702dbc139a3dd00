"""Each example and notebook runs, and prints the promised output."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests import warm

EXAMPLES = Path(__file__).parents[1] / "examples"
PRINTS = {
    "plan_request.py": "goal reached: True",
    "solve_problem.py": "2 steps; the shortest plan has 2",
    "repair_plan.py": "repaired: (pick-up a)",
    "check_folder.py": "short.txt: valid",
    "score_answers.py": "1.00  (pick-up a)",
    "own_policy.py": "True ['do all of it']",
    "own_world.py": "(put cup office)",
    "measure_planners.py": "policy:own_policy:OneBlock reached: True",
    "call_tools.py": "done: True after 5 calls",
    "guard_agent.py": "a guess is a question: True",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PRINTS)
def test_an_example_runs_as_a_reader_runs_it(name: str, tmp_path: Path) -> None:
    paths = os.pathsep.join([str(EXAMPLES.parent), str(EXAMPLES)])
    done = warm.run(
        [sys.executable, EXAMPLES / name], cwd=tmp_path, capture_output=True, text=True,
        check=False, timeout=300, env=os.environ | {"PYTHONPATH": paths, "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert PRINTS[name] in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["validate.ipynb", "robot.ipynb"])
def test_the_cells_of_a_notebook_run_in_order(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((EXAMPLES / name).read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    names: dict[str, object] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), name, "exec"), names)


def test_every_program_is_on_the_list_and_the_ten_are_run() -> None:
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for path in [*EXAMPLES.glob("*.py"), *EXAMPLES.glob("*.ipynb")]:
        assert f"({path.name})" in listed, path.name
    assert len(PRINTS) == 10
