"""A bench reaches its models like `hvr plan`: key, address, limits, cache, budget."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hvr.bench.cells import Cell, CellOptions, CellResult, RunCell, plan_cells
from hvr.bench.folder import BenchFolder
from hvr.bench.runner import check_models, prompt_digests, run_bench, run_cell
from hvr.errors import BudgetError, UsageError
from hvr.knowledge.retrieval.embedders import LexicalEmbedder
from hvr.models.choice import ModelChoice
from hvr.models.config import ModelOptions
from hvr.models.connect import connect, embedder_options, reach
from hvr.models.limits import Budget, Budgeted, Limits
from hvr.models.model import Message, Request
from tests.command_line import Hvr
from tests.extras import needs
from tests.model_server import Behaviour, make_coffee
from tests.models.llm_fakes import Fake, said
from tests.models.servers import OpenAIServer

needs("openai")

KEY = "sk-anothersecret0123456789"
SPEC = "openai:test-model"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("HVR_") or name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
            monkeypatch.delenv(name)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A server with its address in pyproject.toml and its key in the environment."""
    with OpenAIServer(Behaviour(make_coffee)) as running:
        Path("pyproject.toml").write_text(
            f'[tool.hvr.llm]\nbase-url = "{running.url}"\ntimeout = 321\nattempts = 1\n',
            encoding="utf-8",
        )
        monkeypatch.setenv("HVR_LLM_API_KEY", KEY)
        yield running


def trusted(**given: Any) -> ModelChoice:
    """Return a choice that lets the project's pyproject.toml name the address."""
    return ModelChoice(trust_project=True, **given)


def bench(folder: str, choice: ModelChoice, seeds: int = 1) -> tuple[CellResult, ...]:
    """Return the results of one task with a model that always makes coffee."""
    cells = plan_cells(["T2"], ["HVR"], [SPEC], range(seeds))
    options = CellOptions(model=choice, execute=False)
    return run_bench(Path(folder), cells, run_cell, options, prompts=prompt_digests(options))


@pytest.mark.slow
def test_key_and_address_come_from_where_hvr_plan_has_them(server: OpenAIServer) -> None:
    (result,) = bench("b", trusted())
    assert result.finished, result.error
    assert {r.headers["authorization"] for r in server.received} == {f"Bearer {KEY}"}
    assert not any(
        KEY.encode() in path.read_bytes() for path in Path("b").rglob("*") if path.is_file()
    )


@pytest.mark.usefixtures("server")
def test_the_time_out_is_that_of_the_file() -> None:
    assert reach(trusted(spec=SPEC)).options.timeout == 321
    assert connect(trusted(spec=SPEC)).name == SPEC


@pytest.mark.slow
def test_a_cached_answer_is_counted_apart(server: OpenAIServer) -> None:
    choice = trusted(cache=Path("answers.sqlite"))
    (first,) = bench("one", choice)
    asked = len(server.received)
    (second,) = bench("two", choice)
    assert first.scores is not None and second.scores is not None
    assert len(server.received) == asked
    assert first.scores.spent.calls == asked and first.scores.spent.cached_calls == 0
    assert second.scores.spent.calls == 0 and second.scores.spent.cached_calls == asked


@pytest.mark.slow
def test_the_budget_is_that_of_the_whole_bench(server: OpenAIServer) -> None:
    one = trusted(limits=Limits(calls=1000))
    (whole,) = bench("whole", one)
    assert whole.scores is not None
    calls = whole.scores.spent.calls
    limited = trusted(limits=Limits(calls=calls + 1))
    before = len(server.received)
    results = bench("b", limited, seeds=3)
    assert [r.finished for r in results] == [True, False, False]
    assert all("budget" in r.error for r in results[1:])
    assert len(server.received) - before == calls + 1
    # Resuming with the same budget asks nothing more; a larger budget keeps the bench's identity.
    bench("b", limited, seeds=3)
    assert len(server.received) - before == calls + 1
    larger = replace(limited, limits=Limits(calls=3 * calls + 1))
    assert all(r.finished for r in bench("b", larger, seeds=3))
    assert len(BenchFolder(Path("b")).results()) == 3


@pytest.mark.slow
def test_a_start_without_a_limit_counts_for_the_next_one(server: OpenAIServer) -> None:
    cells = plan_cells(["T2"], ["HVR"], [SPEC], range(2))

    def only_the_first(cell: Cell, options: CellOptions, folder: Path) -> CellResult:
        if cell.seed:
            raise OSError("the power went out")
        return run_cell(cell, options, folder)

    def start(run: RunCell, choice: ModelChoice) -> list[bool]:
        options = CellOptions(model=choice, execute=False)
        results = run_bench(Path("b"), cells, run, options, prompts=prompt_digests(options))
        return [result.finished for result in results]

    assert start(only_the_first, trusted()) == [True, False]
    asked = len(server.received)
    assert start(run_cell, trusted(limits=Limits(calls=asked))) == [True, False]
    assert len(server.received) == asked
    assert start(run_cell, trusted()) == [True, True]


def asked_until_refused(choice: ModelChoice, plans: int = 1, ledger: Path | None = None) -> str:
    """Ask a model until a limit refuses the request, and return the reason."""
    meter = connect(choice, plans=plans, ledger=ledger)
    with pytest.raises(BudgetError) as caught:
        for _ in range(1000):
            meter.answer(Request(messages=(Message("user", "x"),)))
    return str(caught.value)


@pytest.mark.slow
def test_a_plan_takes_a_hundred_calls_unless_somebody_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with OpenAIServer() as server:
        plain = trusted(spec=SPEC, base_url=server.url)

        def calls(choice: ModelChoice, **given: Any) -> int:
            before = len(server.received)
            refusal = asked_until_refused(choice, **given)
            assert "to allow more, raise max_calls or the setting calls-per-plan" in refusal
            return len(server.received) - before

        assert calls(plain) == 100
        assert calls(replace(plain, limits=Limits(calls=120))) == 120
        assert calls(replace(plain, limits=Limits(calls=3))) == 3
        assert calls(replace(plain, limits=Limits(tokens=10_000_000))) == 100
        monkeypatch.setenv("HVR_LLM_CALLS_PER_PLAN", "7")
        assert calls(plain) == 7
        assert calls(plain, plans=3) == 21
        assert calls(replace(plain, calls_per_plan=5)) == 5
        # Plans share a ledger: each has its own limit, and all share one.
        ledger = tmp_path / "ledger.sqlite"
        together = replace(plain, limits=Limits(calls=12))
        assert [calls(together, ledger=ledger, plans=None) for _ in range(3)] == [7, 5, 0]


def test_a_budget_without_a_price_is_refused_before_anything_is_run(hvr_: Hvr) -> None:
    ended = hvr_("bench", "--tasks", "T2", "--settings", "HVR", "--max-dollars", 1, "--save", "b")
    assert ended.code == 2 and "price" in ended.err
    assert not Path("b").exists()


def test_an_embedder_is_made_once_whatever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    from hvr.bench import runner as cell

    made: list[str] = []

    def make(name: str, options: ModelOptions) -> LexicalEmbedder:
        del options
        made.append(name)
        return LexicalEmbedder()

    cell._made.cache_clear()
    monkeypatch.setattr(cell, "make_embedder", make)
    cells = plan_cells(["T1", "T2"], ["HVR", "LLM"], ["scripted", "scripted:error=0.1"], [0])
    check_models(cells, CellOptions(model=ModelChoice(embedder="minilm")))
    assert made == ["minilm"]
    cell._made.cache_clear()


@pytest.mark.usefixtures("server")
def test_the_key_of_a_model_is_for_embedders_of_its_provider_alone() -> None:
    def access(spec: str, embedder: str) -> tuple[str | None, str | None]:
        options = embedder_options(trusted(spec=spec, embedder=embedder))
        return options.base_url, options.api_key

    assert access(SPEC, "openai:e")[1] == KEY
    assert access(SPEC, "gemini:e") == (None, None)
    assert access("gemini:m", "openai:e") == (None, None)


@pytest.mark.slow
def test_answers_of_another_server_are_another_bench(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench("b", trusted())
    monkeypatch.setenv("HVR_LLM_BASE_URL", "http://elsewhere.example/v1")
    with pytest.raises(UsageError, match="different addresses"):
        bench("b", trusted())
    assert server.received


def test_a_ledger_is_shared_and_never_overdrawn(tmp_path: Path) -> None:
    ledger, limits = tmp_path / "ledger.sqlite", Limits(calls=20)

    def ask(_: int) -> int:
        model = Budgeted(Fake([said()] * 10), Budget(limits, ledger))
        asked = 0
        for _ in range(5):
            try:
                model.answer(Request(messages=(Message("user", "x"),)))
            except BudgetError:
                continue
            asked += 1
        return asked

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(8))) == 20
