"""The registry of implementations refuses a wrong name or class in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvr.base.registry import Registry
from hvr.errors import UsageError
from hvr.execution.executor import Executor
from hvr.models.connect import PROVIDERS
from hvr.planning.plans import Policy, RecoveryStrategies
from hvr.planning.search.planners import PLANNERS, make_planner
from hvr.policies import POLICIES, policy_class
from hvr.worlds.environment import ENVIRONMENTS

ALL = (ENVIRONMENTS, PLANNERS, POLICIES, PROVIDERS)


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Third-party modules that fail to import."""
    for name, code in (
        ("lacks_a_package", "import no_such_package_at_all"),
        ("raises", "raise ImportError('boom')"),
        ("does_not_parse", "def ("),
        ("stumbles", "1 / 0"),
    ):
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.parametrize("registry", ALL, ids=lambda r: r.kind)
def test_every_entry_is_there_and_can_be_called(registry: Registry) -> None:
    assert registry.names()[: len(registry.entries)] == tuple(registry.entries)
    for name in registry.entries:
        registry.check(name)
        if name not in ("hf", "gemini", "openai"):  # their packages are extras
            assert callable(registry.load(name))


def test_hvrs_own_names_are_found_without_reading_what_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read(**_: str) -> None:
        raise AssertionError("the entry points were read")

    monkeypatch.setattr("importlib.metadata.entry_points", read)
    for registry in ALL:
        registry.check(next(iter(registry.entries)))
    make_planner("up:fast-downward", 1)


@pytest.mark.usefixtures("modules")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lacks_a_package:X", "cannot be imported: No module named 'no_such_package_at_all'"),
        ("raises:X", "cannot be imported: boom"),
        ("stumbles:X", "cannot be imported: division by zero"),
        ("does_not_parse:X", "cannot be imported: invalid syntax"),
        ("no_such_module:X", "No module named 'no_such_module'"),
        ("json:nothing", "json has no 'nothing'"),
        ("os:sep", "sep is not callable"),
        ("symbolik", "did you mean 'symbolic'"),
    ],
)
def test_what_cannot_be_loaded_is_refused(name: str, words: str) -> None:
    with pytest.raises(UsageError) as refused:
        POLICIES.load(name)
    assert words in str(refused.value)


def test_what_is_no_policy_is_refused() -> None:
    with pytest.raises(UsageError, match="'json:dumps' is not a policy"):
        policy_class("json:dumps")


def test_a_mistyped_planner_is_guessed() -> None:
    with pytest.raises(UsageError, match="did you mean 'up'"):
        make_planner("upp:enhsp", 1)


def test_recovery_strategies_that_do_not_exist_are_refused() -> None:
    class Climber(Policy[str]):
        recovery_strategies = RecoveryStrategies(("jump",))

    with pytest.raises(UsageError, match=r"unknown recovery strategy 'jump'.*retry"):
        Executor(None, Climber(), print, print)  # type: ignore[arg-type, abstract]


class NoPlan(Policy[str]):
    """An incomplete policy."""


def test_a_policy_that_lacks_a_method_is_refused() -> None:
    with pytest.raises(UsageError, match="missing open, understand, plan, clearing"):
        policy_class(f"{__name__}:NoPlan")


@pytest.mark.parametrize(
    ("registry", "arguments", "words"),
    [
        (PLANNERS, ("", 1.0), "planner .* must return an object with solve, got NoneType"),
        (PROVIDERS, ("", None), "an object with name, simulated, answer, got NoneType"),
        (ENVIRONMENTS, (None,), "an object with reset, step, stop, last_event, got NoneType"),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_what_an_entry_returns_is_checked(
    registry: Registry, arguments: tuple[object, ...], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        registry.make("builtins:print", *arguments)
