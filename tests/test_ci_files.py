"""The GitHub action and the pre-commit hooks of hvr."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import pytest
import yaml

from hvr.doors.cli.main import main

ROOT = Path(__file__).parents[1]
DOMAIN = """(define (domain d) (:requirements :strips) (:predicates (p) (q))
  (:action a :parameters () :precondition (p) :effect (q)))
"""
PROBLEM = "(define (problem x) (:domain d) (:init (p)) (:goal (q)))\n"


NEEDS_BASH = pytest.mark.skipif(shutil.which("bash") is None, reason="the action runs in bash")
# Stands in for a runner's Python: it creates environments without network access.
PYTHON = """#!{bash}
case "$*" in
  *"-m venv"*)
    mkdir -p "${{@: -1}}/{bin}"
    cp "$0" "${{@: -1}}/{bin}/python{exe}" ;;
  *"-m pip"*)
    echo "$*" >> "$RUNNER_TEMP_/installs"
    printf '#!{bash}\\nexec "{python}" -m hvr "$@"\\n' > "$(dirname "$0")/hvr{exe}"
    chmod +x "$(dirname "$0")/hvr{exe}" ;;
  *) exec "{python}" "$@" ;;
esac
"""


class Runner:
    """Runs the scripts of the action in order, with a runner's environment.

    There is no network: `actions/setup-python` provides a Python that only pretends to install
    packages, and `actions/cache` keeps the folder. On Windows, RUNNER_TEMP has backslashes and
    environments have Scripts and `.exe`; bash and Python come from this machine.
    """

    def __init__(self, folder: Path, *, windows: bool = False) -> None:
        self.folder = folder
        self.repository = folder / "repository"
        self.temp = folder / "_temp"
        self.summary = folder / "summary.md"
        self.python = folder / "tools" / "python"
        for path in (self.repository, self.temp, self.python.parent):
            path.mkdir(parents=True)
        self.windows = windows
        text = PYTHON.format(bash=shutil.which("bash"), python=sys.executable,
                             bin="Scripts" if windows else "bin",
                             exe=".exe" if windows else "")  # fmt: skip
        self.python.write_text(text)
        self.python.chmod(0o755)
        self.outputs: dict[str, str] = {}

    def __call__(self, **inputs: str) -> tuple[int, str]:
        """Return the exit code of the first failing script, or 0, and all output."""
        action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
        values = {f"inputs.{name}": one["default"] for name, one in action["inputs"].items()}
        given = {f"inputs.{name.replace('_', '-')}": text for name, text in inputs.items()}
        assert given.keys() <= values.keys()
        values |= given
        values["github.action_path"] = str(ROOT)
        values["steps.python.outputs.python-path"] = str(self.python)
        printed = ""
        for step in action["runs"]["steps"]:
            if "run" not in step:
                continue
            code, text = self._run(step, values)
            printed += text
            if code:
                return code, printed
        return 0, printed

    def _run(self, step: dict[str, Any], values: dict[str, str]) -> tuple[int, str]:
        output = self.folder / "output"
        output.write_text("")
        self.summary.write_text("")
        temp = str(self.temp)
        env = {
            **{name: text for name, text in os.environ.items() if not name.startswith("PYTEST")},
            "PYTHONPATH": str(ROOT),
            "RUNNER_TEMP": temp.replace("/", "\\") if self.windows else temp,
            "RUNNER_TEMP_": temp,
            "RUNNER_OS": "Windows" if self.windows else "Linux",
            "RUNNER_ARCH": "X64",
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(self.repository),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
        }
        for name, text in step.get("env", {}).items():
            env[name] = re.sub(r"\$\{\{ (\S+) \}\}", lambda match: values[match[1]], text)
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.repository, env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        for line in output.read_text().splitlines():
            name, _, text = line.partition("=")
            self.outputs[f"{step['id']}.{name}"] = text
        return done.returncode, done.stdout + done.stderr

    @property
    def installs(self) -> int:
        file = self.temp / "installs"
        return len(file.read_text().splitlines()) if file.exists() else 0


@pytest.fixture(params=[False, True], ids=["linux", "windows"])
def runner(request: pytest.FixtureRequest, tmp_path: Path) -> Runner:
    made = Runner(tmp_path, windows=request.param)
    (made.repository / "domain.pddl").write_text(DOMAIN)
    (made.repository / "problem.pddl").write_text(PROBLEM)
    return made


@pytest.mark.slow
@NEEDS_BASH
@pytest.mark.parametrize(("plan", "code"), [("(a)\n", 0), ("(a)\n(b)\n", 1), ("prose\n", 2)])
def test_the_action_annotates_and_tells_the_exit_code(runner: Runner, plan: str, code: int) -> None:
    (runner.repository / "my plan.txt").write_text(plan)
    done = runner(domain="domain.pddl", problem="problem.pddl", plans="my plan.txt\n",
                  format="github\nsarif=hvr.sarif\n", args="--advise")  # fmt: skip
    assert done[0] == code, done[1]
    assert runner.outputs["validate.exit-code"] == str(code)
    assert ("::error file=my plan.txt" in done[1]) is (code > 0)
    results = json.loads((runner.repository / "hvr.sarif").read_text())["runs"][0]["results"]
    assert bool(results) is (code > 0)
    assert ("my plan.txt" in runner.summary.read_text()) is (code > 0)


@pytest.mark.slow
@NEEDS_BASH
def test_the_action_reads_every_line_and_runs_none(runner: Runner) -> None:
    for name in ("a b.plan", "-x.plan", "c.log"):
        (runner.repository / name).write_text("(a)\n(b)\n")
    evil = "$(touch hacked) `touch hacked`; touch hacked"
    done = runner(
        domain="domain.pddl",
        problem="problem.pddl",
        plans="a b.plan\n-x.plan\n",
        args=f"--state-at 1\n--skip '*.log'   --skip \"{evil}\"\n--happenings\n",
        output_file="out put.txt",
        format="json=all.json\ntext\n",
        summary="false",
    )
    assert done[0] == 1, done[1]
    judged = json.loads((runner.repository / "all.json").read_text())
    assert [one["plan"] for one in judged] == ["a b.plan", "./-x.plan"]
    assert all(one["state"]["after_step"] == 1 and one["happenings"] for one in judged)
    assert "2 plans: 2 invalid" in (runner.repository / "out put.txt").read_text()
    assert not (runner.repository / "hacked").exists()
    assert runner.summary.read_text() == ""
    done = runner(plans="a b.plan", args="--skip 'open")
    assert done[0] == 2
    assert "args cannot be read" in done[1]
    assert runner.outputs["validate.exit-code"] == "2"
    done = runner(domain=evil, problem=evil, plans=evil, format=evil, output_file=evil)
    assert done[0] == 2
    assert not (runner.repository / "hacked").exists()


@pytest.mark.slow
@NEEDS_BASH
def test_the_action_installs_once_for_each_python(runner: Runner) -> None:
    (runner.repository / "problem.plan").write_text("(a)\n")
    assert runner()[0] == 0
    assert runner()[0] == 0
    assert runner.installs == 1
    key = runner.outputs["hvr.key"]
    python = ".".join(map(str, sys.version_info[:3]))
    system = "Windows" if runner.windows else "Linux"
    assert re.fullmatch(rf"hvr-{system}-X64-{re.escape(python)}-[0-9a-f]{{32}}", key)
    # An unusable environment of another Python exists.
    (broken,) = runner.temp.glob("hvr/*/hvr*")
    broken.write_text("#!/nowhere/python\n")
    assert runner()[0] == 0
    assert runner.installs == 2


def test_the_scripts_of_the_action_have_no_inputs_pasted_in() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    for step in action["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert step.get("shell", "bash") == "bash"


# The hooks --------------------------------------------------------------------------------------

BROKEN = {
    "lpg.SOL": "(b)\n",
    "sas_plan": "(a)\n(b)\n",
    "p1.txt": "I would go to b.\n",
    "p1.md": "```\n(b)\n```\n",
    "answer.json": '[{"name": "b", "args": []}]\n',
    "x.soln": "(b)\n",
    "x.plan": "prose\n",
    "x.plan.gz": "",
    "p2.hddl": "(define (proble",
    "p2.pddl": "",
    "domain.pddl": DOMAIN.replace(":effect (q)", ":effect (p)"),
}
"""Files that make a commit fail in a repository of a domain, a problem and a plan."""


SOUND = {"domain.pddl": DOMAIN, "p1.pddl": PROBLEM, "p1.plan": "(a)\n", "README.md": "(b)\n",
         "notes.txt": "Ask (Ann).\n"}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_the_hooks_call_passes_no_broken_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for sound, text in SOUND.items():
        Path(sound).write_text(text)
    assert main(["validate"]) == main(["lint"]) == 0
    Path(name).write_text(BROKEN[name])
    assert main(["validate"]) or main(["lint"])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="hooks need git")
def test_no_broken_commit_passes_the_hooks(tmp_path: Path) -> None:
    pre_commit = shutil.which("pre-commit", path=Path(sys.executable).parent) or shutil.which(
        "pre-commit"
    )
    if pre_commit is None:
        pytest.skip("pre-commit is not installed")
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    for hook in hooks:
        # The same hook without the environment that pre-commit would install.
        hook["entry"] = f"{sys.executable} -m {hook['entry']}"
        hook["language"] = "system"
    config = {"repos": [{"repo": "local", "hooks": hooks}]}
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PRE_COMMIT_HOME": str(tmp_path / "cache")}
    for name in [name for name in env if name.startswith("GIT")]:
        del env[name]
    repository = tmp_path / "repository"
    repository.mkdir()

    def passes() -> bool:
        git("add", "--all")
        return subprocess.run(
            [pre_commit, "run"], cwd=repository, env=env, capture_output=True, check=False
        ).returncode == 0  # fmt: skip

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=repository, env=env, check=True, stdout=DEVNULL)

    for name, text in {**SOUND, ".pre-commit-config.yaml": yaml.safe_dump(config)}.items():
        (repository / name).write_text(text)
    git("init", "-q")
    git("config", "user.email", "a@example.org")
    git("config", "user.name", "a")
    assert passes()
    git("commit", "-qm", "a")
    for name in ("lpg.SOL", "p2.hddl"):
        (repository / name).write_text(BROKEN[name])
        assert not passes(), name
        (repository / name).unlink()
    # The only staged change is a deletion, which pre-commit passes to no hook.
    (repository / "p1.pddl").unlink()
    assert not passes()


_LIGHT = """
import sys
import tomllib

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Nothing())
sys.argv[:] = ["hvr", *{arguments!r}]
from hvr.doors.cli.main import run
run()
"""
_PACKAGES = (
    "owlready2", "oxrdflib", "pyoxigraph", "rdflib", "rich", "unified_planning",
    "up_fast_downward", "numpy", "yaml", "torch", "jsonschema",
)  # fmt: skip


def run_light(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = _LIGHT.format(packages=_PACKAGES, arguments=arguments)
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "GITHUB_ACTIONS": ""},
    )  # fmt: skip


def test_a_bare_install_has_no_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["dependencies"] == []
    for name, packages in project["optional-dependencies"].items():
        # The language server lints and validates, which needs no other extra.
        light = name in ("plan", "lsp")
        assert light or any(package.startswith("hvr[") for package in packages)


@pytest.mark.slow
def test_the_validator_and_the_linter_need_no_package(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    (tmp_path / "problem.pddl").write_text(PROBLEM)
    (tmp_path / "my.plan").write_text("(a)\n(b)\n")
    done = run_light(tmp_path, "validate", ".", "--format", "sarif", "--advise", "--jobs", "2")
    assert done.returncode == 1 and '"HVR103"' in done.stdout, done.stderr
    done = run_light(tmp_path, "lint", ".", "--format", "junit")
    assert done.returncode == 0 and "<testsuites" in done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", [("plan", "make coffee"), ("kg", "check")])
def test_what_needs_more_says_what_to_install(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = run_light(tmp_path, *command)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "pip install '.[plan]'" in done.stderr
    assert "Traceback" not in done.stderr
