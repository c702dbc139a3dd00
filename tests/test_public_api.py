"""Every public name can be imported at any time, any number of times."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hvr

ROOT = Path(__file__).parents[1]
DOMAIN = """(define (domain d) (:predicates (p) (q)) (:action a :precondition (p) :effect (q)))"""
PROBLEM = """(define (problem i) (:domain d) (:init (p)) (:goal (q)))"""


def modules() -> list[str]:
    """Return the names of all modules of hvr."""
    return [m.name for m in pkgutil.walk_packages(hvr.__path__, "hvr.") if "__main__" not in m.name]


def test_type_checkers_see_the_names_where_they_are_imported_from() -> None:
    assert sorted(hvr.__all__) == dir(hvr)
    tree = ast.parse(Path(hvr.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    typed = {
        name.asname or name.name: f"{node.module}:{name.name}"
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module != "typing"
        for name in node.names
    }
    typed["rewards"] = typed["rewards"].replace(":", ".")
    assert typed == hvr._WHERE


def test_the_page_of_the_public_door_lists_each_name_once() -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `hvr\.(\w+)", page, re.MULTILINE)
    assert len(set(rows)) == len(rows) and set(rows) <= set(hvr._WHERE)
    assert all(name.endswith("Error") for name in set(hvr._WHERE) - set(rows))


# These pages and examples show internals; all others show stable names only.
INTERNALS = {"knowledge", "retrieval", "stand_in"}
INTERNAL_EXAMPLES = {"teach", "toy_planner"}


def _imports(text: str) -> set[str]:
    return {
        module
        for module in re.findall(r"^\s*(?:from|import) (hvr[\w.]*)", text, re.MULTILINE)
        if module != "hvr"
    }


def test_pages_and_examples_import_from_the_public_door_alone() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    examples = (ROOT / "examples").rglob("*.py")
    stable = [page for page in pages if page.stem not in INTERNALS]
    stable += [example for example in examples if example.stem not in INTERNAL_EXAMPLES]
    wrong = {
        path.relative_to(ROOT).as_posix(): found
        for path in stable
        if (found := _imports(path.read_text(encoding="utf-8")))
    }
    assert wrong == {}


def test_only_pages_that_show_the_inside_may_import_it() -> None:
    pages = [path for path in (ROOT / "docs").rglob("*.md") if path.stem in INTERNALS]
    assert all(
        _imports(path.read_text(encoding="utf-8")) for path in pages if "results" not in path.parts
    )


@pytest.mark.slow
def test_every_name_is_there_twice_after_every_room_was_imported() -> None:
    """Only the import of a room can replace a name of hvr."""
    rooms = [name for name in modules() if name.count(".") == 1]
    code = f"""
import importlib, hvr
first = {{name: getattr(hvr, name) for name in hvr.__all__}}
for module in {rooms!r}:
    importlib.import_module(module)
for name in hvr.__all__:
    assert getattr(hvr, name) is first[name], name
    assert getattr(hvr, name) is first[name], name
    exec(f"from hvr import {{name}}")
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_name_says_what_it_is() -> None:
    for name in hvr._WHERE:
        assert getattr(hvr, name).__doc__, name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        hvr.nothing  # noqa: B018


@pytest.mark.slow
def test_the_functions_may_be_called_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number in (1, 2):
        importlib.import_module("hvr.planning.plans")
        options = hvr.Options(execute=False, save=Path(f"run-{number}"))
        run = hvr.plan("make coffee", options=options)
        assert isinstance(run, hvr.Run) and isinstance(run.plans[0].plan, hvr.Plan)
        report = hvr.validate(DOMAIN, PROBLEM, "(a)")
        assert isinstance(report, hvr.ValidationReport) and report.valid


@pytest.mark.slow
def test_a_plan_is_verified_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("torch", "torch_geometric", "safetensors"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    run = hvr.plan("make coffee", options=hvr.Options(execute=False))
    for plan in (run, run.folder, str(run.folder)):
        verdict = hvr.verify(plan)
        assert isinstance(verdict, hvr.Verdict) and verdict.accepted
    with pytest.raises(hvr.DataFileError, match="no such file"):
        hvr.verify("nowhere.pddl")
    with pytest.raises(hvr.UsageError, match="needs its problem"):
        hvr.verify(run.folder / "plan.pddl", "make coffee")


def test_a_string_is_a_text_and_a_path_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("d.pddl", DOMAIN), ("p.pddl", PROBLEM), ("plan.txt", "(a)\n")):
        Path(name).write_text(text, encoding="utf-8")
    files = Path("d.pddl"), Path("p.pddl")
    assert hvr.validate(*files, Path("plan.txt")).valid
    assert hvr.validate(DOMAIN, Path("p.pddl"), "(a)").valid
    assert not hvr.validate(*files, "").valid
    with pytest.raises(hvr.PddlError):
        hvr.validate(*files, "I would do a.")
    with pytest.raises(hvr.UsageError, match=r"pass a file as pathlib\.Path"):
        hvr.validate("d.pddl", "p.pddl", "(a)")
    with pytest.raises(hvr.DataFileError, match=r"none\.pddl"):
        hvr.validate(Path("none.pddl"), Path("p.pddl"), "(a)")
    # A text is never opened as a file, even if one has that name.
    Path("(a)").write_text("(b)\n", encoding="utf-8")
    assert hvr.validate(*files, "(a)").valid
    with pytest.raises(hvr.PddlError):
        hvr.validate(*files, "plan.txt")


@pytest.mark.slow
def test_the_cell_of_the_readme_runs_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (cell,) = re.findall(r"```python\n(.+?)```", text, re.DOTALL)
    for name, content in (("domain.pddl", DOMAIN), ("problem.pddl", PROBLEM), ("plan.txt", "(a)")):
        (tmp_path / name).write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for _ in range(2):
        exec(compile(cell, "README.md", "exec"), names)


@pytest.mark.slow
def test_solve_lint_and_judge_take_texts_files_and_values(tmp_path: Path) -> None:
    files = tmp_path / "d.pddl", tmp_path / "p.pddl"
    for path, text in zip(files, (DOMAIN, PROBLEM), strict=True):
        path.write_text(text, encoding="utf-8")
    domain = hvr.parse_domain(DOMAIN)
    values = domain, hvr.parse_problem(PROBLEM, domain)
    for given in ((DOMAIN, PROBLEM), files, values):
        solution = hvr.solve(*given, planner="forward", seconds=20)
        assert isinstance(solution, hvr.Solution) and solution.steps is not None
        assert hvr.validate(*given, solution.steps).valid
        judgement = hvr.judge(*given, "(a)\n(a)")
        assert isinstance(judgement, hvr.Judgement) and len(judgement.removed) == 1
        assert [str(step) for step in judgement.repaired or ()] == ["(a)"]
        assert all(isinstance(finding, hvr.LintFinding) for finding in hvr.lint(*given))
    for wrong in (hvr.solve, hvr.lint):
        with pytest.raises(hvr.UsageError, match=r"pass a file as pathlib\.Path"):
            wrong("d.pddl", "p.pddl")


@pytest.mark.parametrize("plan", [None, 42, b"(a)", ["(a)"], [("a",)], [1]])
def test_a_plan_of_another_type_is_refused_with_advice(plan: object) -> None:
    for call in (hvr.validate, hvr.judge):
        with pytest.raises(hvr.HvrError, match="must be a GroundAction"):
            call(DOMAIN, PROBLEM, plan)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [float("nan"), "x", -1])
@pytest.mark.parametrize("name", ["tolerance", "epsilon", "numeric_tolerance"])
def test_a_tolerance_that_is_no_number_is_refused(name: str, value: object) -> None:
    with pytest.raises(hvr.HvrError, match=f"^{name} must be a number"):
        hvr.validate(DOMAIN, PROBLEM, "(a)", **{name: value})  # type: ignore[arg-type]


def test_models_of_another_type_are_refused() -> None:
    for call in (hvr.lint, hvr.solve):
        with pytest.raises(hvr.HvrError, match="the domain must be a str or a path"):
            call(b"(define)", PROBLEM)  # type: ignore[arg-type]


def test_a_world_is_loaded_from_a_path() -> None:
    for other in (7, None, [], b"home", True):
        with pytest.raises(hvr.UsageError, match="a name or a path"):
            hvr.load_world(other)
    folder = hvr.load_world("home").folder
    assert hvr.load_world(folder).folder == folder
