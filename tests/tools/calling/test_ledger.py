"""The ledger records writing calls before they are made, and no call is repeated silently."""

from __future__ import annotations

import json
import multiprocessing
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import DataFileError
from hvr.tools.calling.calls import CallFailure, CallOutcome, Json, Provenance, Source, ToolCall
from hvr.tools.calling.guard import GuardedTools, ProposedCall
from hvr.tools.calling.log import CallLedger, CallState, key_of
from hvr.tools.calling.python_world import PythonTools
from hvr.tools.catalogue.schema import Catalogue, Effect, ToolParameter, ToolSchema
from tests import warm
from tests.tools.calling.paying import PAY, bank, paid, pay

SAID = {("to",): Source(Provenance.SAID), ("amount",): Source(Provenance.SAID)}
REPOSITORY = Path(__file__).parents[3]


def approve(proposed: ProposedCall) -> bool | None:
    """Approve new calls, and leave the others undecided."""
    return True if proposed.before is None else None


def test_an_entry_is_on_the_disk_before_the_call(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    seen: list[CallState] = []

    def look(to: str, amount: int) -> None:
        del to, amount
        (entry,) = CallLedger(path).entries()
        seen.append(entry.state)

    tools = PythonTools(bank(tmp_path).catalogue, {"pay": look, "balance": lambda: 0})
    guarded = GuardedTools(tools, "bank", ledger=CallLedger(path, "pay Bob"))
    assert guarded.call_with(PAY, SAID).ok
    (entry,) = CallLedger(path).entries()
    assert (seen, entry.state, entry.tool) == ([CallState.OPEN], CallState.DONE, "pay")
    assert entry.arguments == {"to": "Bob", "amount": 5} and entry.request == "pay Bob"
    assert guarded.call(ToolCall("balance", {})).ok
    assert len(CallLedger(path).entries()) == 1  # read-only calls have no entry


@pytest.mark.parametrize(
    ("failure", "state"),
    [
        (None, CallState.DONE),
        (CallFailure.REFUSED, CallState.NOT_DONE),
        (CallFailure.BAD_ARGUMENTS, CallState.NOT_DONE),
        (CallFailure.TIMED_OUT, CallState.UNCERTAIN),
        (CallFailure.UNAVAILABLE, CallState.UNCERTAIN),
        (CallFailure.WRONG_TYPE, CallState.UNCERTAIN),
    ],
)
def test_what_failed_may_have_been_done_unless_it_was_refused(
    tmp_path: Path, failure: CallFailure | None, state: CallState
) -> None:
    ledger = CallLedger(tmp_path / "ledger.jsonl", "a")
    ledger.close(ledger.begin(PAY, {}), CallOutcome(PAY, failure=failure))
    assert ledger.entries()[0].state is state
    same, other = CallLedger(ledger.path, "a").before(PAY), CallLedger(ledger.path, "b").before(PAY)
    assert (same is None) is (state is CallState.NOT_DONE)
    # Another request may repeat the writes of this one, but not unclear ones.
    assert (other is None) is (state is not CallState.UNCERTAIN)
    ledger.settle(PAY, "the user says so", done=False)
    assert (CallLedger(ledger.path, "a").before(PAY) is None) is (state is not CallState.DONE)


def test_the_same_command_twice_does_not_pay_twice(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    for _ in range(3):
        guarded = GuardedTools(bank(tmp_path), "bank", None, CallLedger(path, "pay Bob"), approve)
        guarded.call_with(PAY, SAID, again=True)
    assert paid(tmp_path) == 1
    (waiting,) = guarded.waiting
    assert waiting.before is not None and not waiting.before.unclear and not guarded.uncertain
    assert "was called with these arguments" in guarded.outcomes[-1].error
    for answer, times in ((False, 1), (True, 2)):
        guarded = GuardedTools(
            bank(tmp_path), "bank", None, CallLedger(path, "pay Bob"), lambda _, a=answer: a
        )
        assert guarded.call_with(PAY, SAID).ok is answer and paid(tmp_path) == times


def test_idempotent_tools_may_be_called_again(tmp_path: Path) -> None:
    inner = bank(tmp_path)
    tools = tuple(replace(tool, idempotent=True) for tool in inner.catalogue.tools)
    again = PythonTools(Catalogue(tools), {"pay": pay(tmp_path), "balance": lambda: 0})
    for _ in range(2):
        ledger = CallLedger(tmp_path / "ledger.jsonl", "a")
        assert GuardedTools(again, "bank", None, ledger, approve).call_with(PAY, SAID).ok


@pytest.mark.slow
@given(
    st.dictionaries(
        st.text(max_size=3), st.integers(-9, 9) | st.floats(-9, 9).map(round) | st.text(max_size=3)
    )
)
def test_equal_calls_have_one_key(arguments: dict[str, Json]) -> None:
    call = ToolCall("t", arguments)
    other = {k: float(v) if isinstance(v, int) else v for k, v in reversed(arguments.items())}
    assert key_of(call) == key_of(ToolCall("t", {**other, "left out": None}))
    assert key_of(call) != key_of(ToolCall("t", {**arguments, "more": 1}))
    assert key_of(call) != key_of(ToolCall("u", arguments))


@given(st.integers(0, 400), st.binary(max_size=3))
def test_a_torn_end_is_an_open_entry_or_none(
    tmp_path_factory: pytest.TempPathFactory, cut: int, junk: bytes
) -> None:
    path = tmp_path_factory.mktemp("l") / "ledger.jsonl"
    ledger = CallLedger(path, "a")
    ledger.close(ledger.begin(PAY, {}), CallOutcome(PAY))
    whole = path.read_bytes()
    begun = whole.index(b"\n")
    path.write_bytes(whole[:cut] + junk.replace(b"\n", b""))
    if not junk:
        (left,) = CallLedger(path).entries() or (None,)
        assert (left is None) is (min(cut, len(whole)) < begun)
    again = CallLedger(path, "b")
    try:
        again.begin(PAY, {})
    except (DataFileError, UnicodeDecodeError):
        return
    assert path.read_bytes().endswith(b"\n")


def test_a_ledger_that_is_none_is_refused_and_nothing_is_called(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_text('{"event": "other"}\nno JSON\n{}\n')
    guarded = GuardedTools(bank(tmp_path), "bank", None, CallLedger(path, "a"), approve)
    for _ in range(2):  # and stays so
        with pytest.raises(DataFileError, match=r"ledger\.jsonl:1: not an entry"):
            guarded.call_with(PAY, SAID)
    assert paid(tmp_path) == 0


def test_an_entry_that_cannot_be_written_means_no_call(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.mkdir()
    guarded = GuardedTools(bank(tmp_path), "bank", None, CallLedger(path, "a"), approve)
    with pytest.raises(DataFileError):
        guarded.call_with(PAY, SAID)
    assert paid(tmp_path) == 0


def test_secrets_are_not_in_the_ledger(tmp_path: Path) -> None:
    ledger = CallLedger(tmp_path / "ledger.jsonl", "a")
    ledger.begin(ToolCall("pay", {"api_key": "hunter2"}), {})
    assert "hunter2" not in (tmp_path / "ledger.jsonl").read_text()


def _pays(folder: str) -> None:
    path = Path(folder)
    ledger = CallLedger(path / "ledger.jsonl", "pay Bob")
    GuardedTools(bank(path), "bank", None, ledger, approve).call_with(PAY, SAID)


@pytest.mark.slow
def test_two_processes_do_not_both_make_a_call(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_pays, args=(str(tmp_path),)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 4
    assert paid(tmp_path) == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="processes are not killed by SIGKILL there")
def test_killed_at_random_moments_nothing_is_written_twice(tmp_path: Path) -> None:
    drawn = random.Random(1)
    for moment in range(6):
        folder = tmp_path / str(moment)
        folder.mkdir()
        killed(folder, drawn.uniform(0, 0.05))
        for _ in range(2):
            _pays(str(folder))
        entries = CallLedger(folder / "ledger.jsonl").entries()
        assert paid(folder) <= 1, entries
        # An interrupted payment awaits a decision: its entry is open.
        assert paid(folder) == 1 or entries[-1].unclear


def killed(folder: Path, seconds: float) -> None:
    """Pay in another process, and kill it some time after it is ready."""
    process = warm.Popen(
        [sys.executable, "-m", "tests.tools.calling.paying", str(folder)],
        cwd=REPOSITORY, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(seconds)
    process.kill()
    process.wait()
    process.stdout.close()


def test_the_ledger_says_where_values_came_from(tmp_path: Path) -> None:
    ledger = CallLedger(tmp_path / "ledger.jsonl", "a")
    GuardedTools(bank(tmp_path), "bank", None, ledger).call_with(PAY, SAID)
    first = json.loads((tmp_path / "ledger.jsonl").read_text().partition("\n")[0])
    assert [one["source"] for one in first["sources"]] == ["said", "said"]


def test_only_tools_that_write_wait_for_approval(tmp_path: Path) -> None:
    read = ToolSchema("look", takes=(ToolParameter("n", "integer"),), effect=Effect.READS)
    tools = PythonTools(Catalogue((read,)), {"look": lambda n=0: n})
    guarded = GuardedTools(tools, "w", None, None, lambda _: None)
    assert guarded.call(ToolCall("look", {})).ok and not guarded.waiting
    guarded = GuardedTools(bank(tmp_path), "bank", None, None, lambda _: None)
    assert guarded.call_with(PAY, SAID).failure is CallFailure.NOT_ALLOWED
    assert [one.to_json()["tool"] for one in guarded.waiting] == ["pay"]
