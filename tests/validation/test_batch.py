"""Many plans: selection of files, order, and processes."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import pytest

import hvr
from hvr.base.engines.registry import EngineChoice
from hvr.errors import UsageError
from hvr.validation import Outcome, batch, suite_collection
from hvr.validation.batch import (
    BatchOptions,
    LoadedModel,
    ModelReader,
    UnusableModelError,
    judge_all,
)
from hvr.validation.findings import Judged
from hvr.validation.reporters import render_result
from hvr.validation.suite_collection import judge_suite, plans_of
from hvr.validation.suites import Job, Suite
from tests.validation.validation_task import write_task

SOURCES = Path(hvr.__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_task(tmp_path)


def model(options: BatchOptions | None = None) -> LoadedModel:
    return ModelReader(options or BatchOptions()).read("domain.pddl", "problem.pddl")


def expand(names: list[str]) -> list[str]:
    return list(plans_of("domain.pddl", "problem.pddl", names).jobs[0].plans)


def outcomes(results: list[Judged]) -> list[tuple[str, str]]:
    return [(Path(r.plan).name, r.report.outcome.value) for r in results]


EXPECTED = [
    ("ajar.plan", "invalid"),
    ("broken.plan", "unknown"),
    ("early.plan", "invalid"),
    ("good.plan", "valid"),
]


# Files ----------------------------------------------------------------------------------------


def test_a_folder_stands_for_the_plans_below_it() -> None:
    more = Path("plans/more")
    more.mkdir()
    (Path("plans") / ".hidden").mkdir()
    for name in ("sas_plan.2", "a.soln", "plan.json", "x.pddl", "p.plan.1", ".hidden/b.plan"):
        (more.parent / name if "/" in name else more / name).write_text("")
    found = [Path(name).name for name in expand(["plans"])]
    assert found == [
        "ajar.plan", "broken.plan", "early.plan", "good.plan",
        "a.soln", "p.plan.1", "plan.json", "sas_plan.2",
    ]  # fmt: skip


def test_patterns_files_and_standard_input() -> None:
    assert expand(["plans/*r*.plan"]) == [
        "plans/ajar.plan",
        "plans/broken.plan",
        "plans/early.plan",
    ]
    assert len(expand([str(Path.cwd() / "**" / "*.plan")])) == 4
    assert expand(["-", "plans/good.plan", "./plans/good.plan", "-"]) == ["-", "plans/good.plan"]
    Path("[1].plan").write_text("")
    assert expand(["[1].plan", "missing.plan"]) == ["[1].plan", "missing.plan"]


def test_nothing_found_is_an_error() -> None:
    Path("empty").mkdir()
    with pytest.raises(UsageError, match="no plan found in empty"):
        expand(["empty"])
    with pytest.raises(UsageError, match=r"no file matches '\*\.nothing'"):
        expand(["plans/good.plan", "*.nothing"])


# Judging --------------------------------------------------------------------------------------


def on(engine: EngineChoice, files: Sequence[str]) -> list[Judged]:
    """Judge files of a single problem on an engine."""
    suite = Suite((Job("domain.pddl", "problem.pddl", tuple(files)),))
    return list(judge_suite(suite, BatchOptions(), engine=engine))


def test_a_model_that_was_edited_is_read_again() -> None:
    files = expand(["plans"])
    assert outcomes(on(EngineChoice(jobs=1), files)) == EXPECTED
    domain = Path("domain.pddl").read_text().replace("fill", "pour")
    Path("domain.pddl").write_text(domain)
    assert ("good.plan", "valid") not in outcomes(on(EngineChoice(jobs=1), files))


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_results_come_in_order_and_an_unreadable_plan_stops_nothing(jobs: int) -> None:
    files = expand(["plans"]) * 20 + ["plans/none.plan"]
    results = on(EngineChoice(jobs=jobs), files)
    assert outcomes(results) == EXPECTED * 20 + [("none.plan", "unknown")]
    assert results[-1].rule == "HVR004"
    assert results[1].rule == "HVR001"
    assert results[1].result.diagnostic is not None
    assert results[1].result.diagnostic.location.line == 1
    assert all(result.seconds > 0 for result in results)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 3])
def test_standard_input_is_read_once_and_in_its_place(
    jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbf(open) (fill)")))
    files = ["plans/good.plan", "-", "plans/early.plan"]
    results = on(EngineChoice(jobs=jobs), files)
    assert [(r.plan, r.report.outcome) for r in results] == [
        ("plans/good.plan", Outcome.VALID),
        ("<stdin>", Outcome.INVALID),
        ("plans/early.plan", Outcome.INVALID),
    ]


def test_results_do_not_wait_for_the_last_plan() -> None:
    results = judge_all(model(), ["plans/good.plan", "plans/none.plan"])
    assert next(results).report.valid


def die_of_early_plans() -> None:
    """Make a plan kill the worker process that judges it."""
    real = suite_collection.judge

    def deadly(given: LoadedModel, file: str) -> Judged:
        if file.endswith("early.plan"):
            os.kill(os.getpid(), signal.SIGKILL)
        return real(given, file)

    suite_collection.judge = deadly  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_worker_that_dies_costs_only_its_plan() -> None:
    engine = EngineChoice(jobs=2, start=die_of_early_plans)
    files = [*expand(["plans"]), *["plans/good.plan"] * 20]
    results = on(engine, files)
    assert outcomes(results)[:4] == [*EXPECTED[:2], ("early.plan", "unknown"), EXPECTED[3]]
    assert outcomes(results)[4:] == [("good.plan", "valid")] * 20
    assert "a worker process died" in results[2].report.reason
    assert results[2].rule == "HVR005"


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray")
@pytest.mark.filterwarnings("ignore")
def test_files_are_judged_on_a_cluster() -> None:
    files = [*expand(["plans"]), "plans/none.plan"] * 3
    alone = [result.replace(seconds=0) for result in on(EngineChoice("here"), files)]
    assert [result.replace(seconds=0) for result in on(EngineChoice("ray"), files)] == alone


def test_running_out_of_depth_or_memory_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    given = model()
    for error, words in ((RecursionError(), "too deeply"), (MemoryError(), "memory")):

        def fail(*_: object, error: BaseException = error, **__: object) -> None:
            raise error

        monkeypatch.setattr(type(given.validator), "check_file", fail)
        (result,) = judge_all(given, ["plans/good.plan"])
        assert result.report.outcome is Outcome.UNKNOWN
        assert words in result.report.reason
        assert result.rule == "HVR005"


def test_a_model_that_cannot_be_used_has_one_result() -> None:
    Path("bad.pddl").write_text(
        "(define (domain d)\n  (:predicates (p))\n  (:action a :effect (q)))"
    )
    with pytest.raises(UnusableModelError, match=r"bad\.pddl:3") as caught:
        ModelReader(BatchOptions()).read("bad.pddl", "problem.pddl")
    result = caught.value.result
    assert (result.plan, result.rule) == ("", "HVR002")
    assert result.result.diagnostic is not None
    assert result.result.diagnostic.location.line == 3
    with pytest.raises(UnusableModelError) as caught:
        ModelReader(BatchOptions()).read("domain.pddl", "none.pddl")
    assert caught.value.exit_code == 2
    assert caught.value.result.rule == "HVR004"
    assert caught.value.result.result.diagnostic is not None
    assert caught.value.result.result.diagnostic.location.file == "none.pddl"


def test_a_state_on_the_way() -> None:
    (result,) = judge_all(model(BatchOptions(state_at=2)), ["plans/good.plan"])
    assert result.state is not None
    assert (result.state.step, result.state.atoms) == (2, ("(full)", "(open)"))
    (result,) = judge_all(model(BatchOptions(state_at=7)), ["plans/good.plan"])
    assert result.state is not None
    assert (result.state.step, result.state.requested) == (3, 7)
    assert "state after step 3, the last one reached:" in render_result(result)
    (result,) = judge_all(model(BatchOptions(state_at=1)), ["plans/early.plan"])
    assert result.state is not None
    assert (result.state.step, result.state.atoms) == (0, ())


def test_happenings() -> None:
    (result,) = judge_all(model(BatchOptions(happenings=True)), ["plans/good.plan"])
    assert result.happenings is not None
    assert [(h.step, h.action, h.added, h.deleted) for h in result.happenings] == [
        (1, "(open)", ("(open)",), ()),
        (2, "(fill)", ("(full)",), ()),
        (3, "(close)", (), ("(open)",)),
    ]


def test_options_reach_the_validator() -> None:
    given = model(BatchOptions(tolerance=Fraction(1, 2), epsilon=Fraction(1, 8)))
    assert given.validator.tolerance == Fraction(1, 2)
    assert given.validator.epsilon == Fraction(1, 8)
    assert model().validator.tolerance == batch.TOLERANCE


def test_advice() -> None:
    (result,) = judge_all(model(BatchOptions(advise=True)), ["plans/ajar.plan"])
    assert result.result.repair is not None
    assert [str(action) for action in result.result.repair.actions] == ["(close)"]
    assert result.result.repair.completes


def test_minimising() -> None:
    Path("long.plan").write_text("(open)\n(close)\n(open)\n(fill)\n(close)\n")
    (result,) = judge_all(model(BatchOptions(minimise=True)), ["long.plan"])
    assert result.result.minimised is not None
    assert len(result.result.minimised) == 3
    assert len(result.result.removed) == 2


@pytest.mark.slow
def test_an_interrupt_ends_all_processes_quickly() -> None:
    """Workers blocked on a pipe without a writer do not delay the exit."""
    os.mkfifo("never.plan")
    process = subprocess.Popen(
        [sys.executable, "-m", "hvr", "validate", "domain.pddl", "problem.pddl",
         "plans/good.plan", "never.plan", "--jobs", "2"],
        env={**os.environ, "PYTHONPATH": str(SOURCES), "GITHUB_ACTIONS": ""},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert "good.plan: valid" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 130
    assert errors == "interrupted\n"
