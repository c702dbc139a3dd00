"""Calls that enable a refused call are learnt, stored with the graph, and proposed, never made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hvr.errors import DataFileError
from hvr.tools.calling.calls import CallFailure, CallOutcome, ToolCall
from hvr.tools.navigation.chains import CallFacts, NavigationTool, cheapest_chain, with_enablers
from hvr.tools.navigation.preconditions import (
    LearntConditions,
    LearntEnablers,
    conditions_path,
    read_conditions,
    write_conditions,
)
from tests.command_line import Hvr

STATUS = frozenset({"status"})
MODULE = '''
loans = {f"L-{n}": {"email": f"{name}@lib.org", "fine": "open"} for n, name in
         enumerate(["ann", "bob", "cid", "dan"])}
def find_loan(email: str) -> dict:
    """Find the loan of a member."""
    return next({"loan_id": k, **v} for k, v in loans.items() if v["email"] == email)
def renew(loan_id: str) -> str:
    """Renew a loan."""
    if loans[loan_id]["fine"] == "open":
        raise ValueError("there is a fine to be paid")
    return "renewed"
def pay_fine(loan_id: str) -> str:
    """Pay the fine of a loan."""
    loans[loan_id]["fine"] = "paid"
    return "paid"
'''


def made(tool: str, thing: str, *, ok: bool = True) -> CallOutcome:
    failure = None if ok else CallFailure.REFUSED
    return CallOutcome(ToolCall(tool, {"loan_id": thing}), failure=failure)


def taught(*things: str) -> LearntEnablers:
    learnt = LearntEnablers()
    for thing in things:
        learnt.observe(made("renew", thing, ok=False))
        learnt.observe(made("pay_fine", thing))
        learnt.observe(made("renew", thing))
    return learnt


def test_two_things_confirm_what_makes_a_call_possible_and_one_twice_does_not() -> None:
    assert taught("a", "a", "a").confirmed(["renew"]) == {}
    learnt = taught("a", "b")
    assert learnt.confirmed(["renew", "pay_fine"]) == {"renew": ("pay_fine",)}
    assert learnt.of("renew")[0].shared == {("loan_id", "loan_id")}


def test_a_call_that_is_refused_all_the_same_refutes_it() -> None:
    learnt = taught("a", "b")
    learnt.observe(made("renew", "c", ok=False))
    learnt.observe(made("pay_fine", "d"))
    learnt.observe(made("renew", "c", ok=False))
    assert learnt.confirmed(["renew"]), "the call was about another thing"
    learnt.observe(made("pay_fine", "c"))
    learnt.observe(made("renew", "c", ok=False))
    assert learnt.confirmed(["renew"]) == {}


def test_of_several_calls_in_between_none_is_credited() -> None:
    learnt = LearntEnablers()
    for thing in "ab":
        learnt.observe(made("renew", thing, ok=False))
        learnt.observe(made("pay_fine", thing))
        learnt.observe(made("extend", thing))
        learnt.observe(made("renew", thing))
    assert learnt.of("renew") == ()


@pytest.mark.slow
def test_a_refused_tool_is_reached_over_what_makes_it_possible() -> None:
    steps = [NavigationTool("renew", frozenset({"loan"}), frozenset()),
             NavigationTool("pay_fine", frozenset({"loan"}), frozenset())]  # fmt: skip
    start, goal = CallFacts(frozenset({"loan"})), CallFacts(done=frozenset({"renew"}))
    plain = cheapest_chain(start, goal, steps)
    assert plain is not None and plain.calls == ("renew",)
    refused = cheapest_chain(start, goal, with_enablers(steps, {"renew": ["pay_fine"]}))
    assert refused is not None and refused.calls == ("pay_fine", "renew")
    assert cheapest_chain(start, goal, with_enablers(steps, {"renew": ["gone"]})) is None


def learnt_of_states() -> LearntConditions:
    learnt = LearntConditions()
    for number, status in enumerate(["pending", "sent"] * 5):
        call = ToolCall("cancel", {"order": f"secret-{number}"})
        failure = None if status == "pending" else CallFailure.REFUSED
        known = {"order": frozenset({(STATUS, status), (frozenset({"api", "key"}), "xyzzy")})}
        learnt.observe(CallOutcome(call, failure=failure), known)
    learnt.enabling = taught("a", "b")
    return learnt


def test_what_was_learnt_is_read_as_it_was_written(tmp_path: Path) -> None:
    learnt, path = learnt_of_states(), conditions_path(tmp_path / "graph.jsonl")
    write_conditions(path, learnt)
    text = path.read_text(encoding="utf-8")
    assert "secret-0" not in text and "xyzzy" not in text
    again = read_conditions(path)
    write_conditions(path, again)
    assert path.read_text(encoding="utf-8") == text
    assert again.conditions("cancel") == learnt.conditions("cancel")
    sent = {"order": frozenset({(STATUS, "sent")})}
    assert again.violated("cancel", sent) is not None
    assert again.enabling.confirmed(["renew"]) == {"renew": ("pay_fine",)}
    assert read_conditions(tmp_path / "none.json").conditions("cancel") == ()


@pytest.mark.parametrize("text", ["{}", "[]", '{"form": "hvr-conditions-1"}', "[", "null"])
def test_a_damaged_file_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.conditions.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataFileError, match=r"graph\.conditions\.json"):
        read_conditions(path)


@pytest.mark.slow
def test_a_write_that_makes_a_goal_possible_is_proposed_and_not_made(
    tmp_path: Path, hvr_: Hvr
) -> None:
    (tmp_path / "library_desk.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "world.toml").write_text(
        '[tools]\nmodule = "library_desk"\nreads = ["find_loan"]\n', encoding="utf-8"
    )
    graph = tmp_path / "graph.jsonl"

    def asked(name: str, *goals: str) -> dict[str, object]:
        options = [word for goal in goals for word in ("--goal", goal)]
        ended = hvr_("tools", "run", str(tmp_path), *options, "--given", f"email={name}@lib.org",
                     "--graph", graph, "--json", "--yes")  # fmt: skip
        return {**json.loads(ended.out), "code": ended.code}

    for name in ("ann", "bob"):
        assert asked(name, "renew", "pay_fine")["reached"], name
    refused = asked("cid", "renew")
    calls = refused["calls"]
    assert isinstance(calls, list) and "pay_fine" not in [call["tool"] for call in calls]
    assert refused["code"] == 2 and refused["decision"] == "ask"
    assert "--goal pay_fine --goal renew" in str(refused["why"])
    given = ("--given", "email=cid@lib.org", "--graph", graph)
    planned = hvr_("tools", "plan", str(tmp_path), "--goal", "renew", *given)
    assert "learnt: 'pay_fine' made 'renew' possible" in planned.out
    assert asked("cid", "pay_fine", "renew")["reached"]
    # Without learnt calls, only the refusal is reported.
    graph = tmp_path / "other.jsonl"
    assert asked("dan", "renew")["code"] == 1
