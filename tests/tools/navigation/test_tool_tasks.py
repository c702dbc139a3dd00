"""Tasks in random shops whose tools fail at random."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.tool_faults import FAULT_KINDS, FaultyTools, ToolFault
from hvr.tools.calling.calls import CallFailure, ToolCall
from hvr.tools.calling.guard import CallPolicy, GuardedTools
from hvr.tools.calling.python_world import PythonTools
from hvr.tools.catalogue.schema import Catalogue, Effect, ToolParameter, ToolSchema
from hvr.tools.navigation.execution import carry_out
from hvr.tools.navigation.experience import CountedExperience
from hvr.tools.navigation.preconditions import LearntConditions
from hvr.tools.navigation.queries import MAX_CALL_ATTEMPTS, call_key
from hvr.tools.navigation.request import EntityQuery, GoalCall, NamedValue, ToolRequest
from hvr.tools.navigation.tasks import Learnt

THINGS = ("lamp", "desk", "mug", "kettle")


def shop(orders: list[tuple[str, str]]) -> tuple[PythonTools, dict[str, Any]]:
    """Return a shop in which Ann has orders of (item, status)."""
    state: dict[str, Any] = {
        "orders": {
            f"#{number}": {"order_id": f"#{number}", "user_id": "ann_1", "status": status,
                           "items": [{"item_id": f"i{number}", "name": thing}]}
            for number, (thing, status) in enumerate(orders, 100)
        }
    }  # fmt: skip

    def by_email(email: str) -> str:
        if email != "ann@x.org":
            raise ValueError("nobody")
        return "ann_1"

    def by_name(first_name: str) -> str:
        if first_name != "Ann":
            raise ValueError("nobody")
        return "ann_1"

    def get_user_details(user_id: str) -> dict[str, Any]:
        if user_id != "ann_1":
            raise ValueError("nobody")
        return {"user_id": user_id, "email": "ann@x.org", "orders": list(state["orders"])}

    def get_order_details(order_id: str) -> dict[str, Any]:
        return copy.deepcopy(state["orders"][order_id])

    def cancel_order(order_id: str) -> dict[str, Any]:
        order = state["orders"][order_id]
        if order["status"] != "pending":
            raise ValueError("only a pending order can be cancelled")
        order["status"] = "cancelled"
        return copy.deepcopy(order)

    functions = {
        "find_user_id_by_email": (by_email, "email", Effect.READS),
        "find_user_id_by_name": (by_name, "first_name", Effect.READS),
        "get_user_details": (get_user_details, "user_id", Effect.READS),
        "get_order_details": (get_order_details, "order_id", Effect.READS),
        "cancel_order": (cancel_order, "order_id", Effect.WRITES),
    }
    tools = tuple(
        ToolSchema(name, takes=(ToolParameter(takes, "string", required=True),), effect=effect)
        for name, (_, takes, effect) in functions.items()
    )
    return PythonTools(Catalogue(tools), {n: f for n, (f, _, _) in functions.items()}, state), state


FACTS = (NamedValue("email", "ann@x.org"), NamedValue("first_name", "Ann"))


def cancelled(thing: str) -> ToolRequest:
    return ToolRequest(
        (GoalCall("cancel_order", {"order_id": EntityQuery((NamedValue("name", thing),))}),), FACTS
    )


orders = st.lists(st.sampled_from(THINGS), min_size=1, max_size=4, unique=True)


@pytest.mark.slow
@given(orders, st.data())
@settings(max_examples=10)
def test_of_several_orders_the_one_is_taken_that_has_the_features(
    things: list[str], data: st.DataObject
) -> None:
    tools, state = shop([(thing, "pending") for thing in things])
    wanted = data.draw(st.sampled_from(things))
    went = carry_out(GuardedTools(tools, "shop"), cancelled(wanted))
    assert went.steps.complete
    gone = [o["items"][0]["name"] for o in state["orders"].values() if o["status"] == "cancelled"]
    assert gone == [wanted]


@pytest.mark.slow
@given(
    orders,
    st.dictionaries(
        st.sampled_from(("find_user_id_by_email", "find_user_id_by_name", "get_user_details",
                         "get_order_details", "cancel_order")),
        st.tuples(st.sampled_from(FAULT_KINDS), st.none() | st.integers(1, 8)),
        max_size=4,
    ),
    st.integers(0, 3),
)  # fmt: skip
@settings(max_examples=12)
def test_whatever_fails_it_ends_and_nothing_is_written_twice(
    things: list[str], failing: dict[str, tuple[CallFailure, int | None]], rest: int
) -> None:
    inner, state = shop([(thing, "pending") for thing in things])
    faults = {name: ToolFault(kind, calls) for name, (kind, calls) in failing.items()}
    tools = GuardedTools(FaultyTools(inner, faults), "shop", CallPolicy(200))
    went = carry_out(tools, cancelled(things[0]), Learnt(CountedExperience(rest=rest)))
    assert len(went.outcomes) < 200
    counted: dict[str, int] = {}
    for outcome in went.outcomes:
        counted[call_key(outcome.call)] = counted.get(call_key(outcome.call), 0) + (not outcome.ok)
    assert all(times <= MAX_CALL_ATTEMPTS for times in counted.values())
    writes = [outcome for outcome in went.outcomes if outcome.call.tool == "cancel_order"]
    sure = (None, CallFailure.REFUSED)
    assert [w.failure for w in writes if w.failure not in sure] == [w.failure for w in writes[-1:]
            if w.failure not in sure]  # fmt: skip
    done = sum(order["status"] == "cancelled" for order in state["orders"].values())
    assert done == len(went.steps.done) <= 1


def test_another_tool_is_called_where_one_fails_for_good() -> None:
    inner, _ = shop([("lamp", "pending")])
    faults = {"find_user_id_by_email": ToolFault(CallFailure.TIMED_OUT)}
    went = carry_out(GuardedTools(FaultyTools(inner, faults), "shop"), cancelled("lamp"))
    assert went.steps.complete
    assert "find_user_id_by_name" in {outcome.call.tool for outcome in went.outcomes}


class Said:
    """A user with a constant answer who records the calls."""

    def __init__(self, said: bool | None) -> None:
        self._said = said
        self.asked: list[ToolCall] = []

    def __call__(self, call: ToolCall) -> bool | None:
        self.asked.append(call)
        return self._said


@pytest.mark.slow
def test_a_call_in_doubt_is_repeated_if_the_user_says_that_it_was_not_done() -> None:
    for said, complete in ((False, True), (True, True), (None, False)):
        inner, state = shop([("lamp", "pending")])
        faults = {"cancel_order": ToolFault(CallFailure.TIMED_OUT, 5)}
        tools = GuardedTools(FaultyTools(inner, faults), "shop")
        went = carry_out(tools, cancelled("lamp"), was_done=Said(said))
        assert went.steps.complete is complete
        assert (state["orders"]["#100"]["status"] == "cancelled") is (said is False)


@pytest.mark.slow
def test_a_call_in_doubt_is_settled_by_a_look_up_that_shows_what_it_writes() -> None:
    inner, state = shop([("lamp", "pending")])
    before = carry_out(GuardedTools(inner, "shop"), cancelled("lamp")).outcomes
    inner.reset()
    faults = {"cancel_order": ToolFault(CallFailure.TIMED_OUT, 5)}
    tools = GuardedTools(FaultyTools(inner, faults), "shop")
    went = carry_out(tools, cancelled("lamp"), Learnt(CountedExperience([before])))
    assert went.steps.complete
    assert state["orders"]["#100"]["status"] == "cancelled"
    assert [o.call.tool for o in went.outcomes][-3:] == [
        "cancel_order", "get_order_details", "cancel_order"]  # fmt: skip


@pytest.mark.slow
def test_conditions_are_trusted_when_confirmed_and_then_another_entity_is_taken() -> None:
    learnt = LearntConditions()
    statuses = ("pending", "delivered", "pending", "pending", "delivered", "delivered")
    for number, status in enumerate(statuses):
        tools, _ = shop([*[("vase", "pending")] * number, ("lamp", status)])
        carry_out(GuardedTools(tools, "shop"), cancelled("lamp"), Learnt(conditions=learnt))
    found = {" ".join(one.name): one for one in learnt.conditions("cancel_order") if one.confirmed}
    assert found["status"].values == ("pending",)
    tools, state = shop([("lamp", "delivered"), ("lamp", "pending")])
    went = carry_out(GuardedTools(tools, "shop"), cancelled("lamp"), Learnt(conditions=learnt))
    assert went.steps.complete
    assert [order["status"] for order in state["orders"].values()] == ["delivered", "cancelled"]
    assert all(outcome.ok for outcome in went.outcomes)


def address_book() -> tuple[PythonTools, dict[str, Any]]:
    """Return orders to two towns for a user who lives in the second."""
    homes = {"#1": {"city": "Ulm", "street": "A 1"}, "#2": {"city": "Bonn", "street": "B 2"}}

    def get_user_details(user_id: str) -> dict[str, Any]:
        return {"user_id": user_id, "home": dict(homes["#2"]), "orders": list(homes)}

    def get_order_details(order_id: str) -> dict[str, Any]:
        return {"order_id": order_id, "home": dict(homes[order_id])}

    def keep_order(order_id: str) -> str:
        return f"{order_id} is kept"

    def send_order(order_id: str, city: str, street: str) -> str:
        homes[order_id] = {"city": city, "street": street}
        return "sent"

    functions = {
        "get_user_details": (get_user_details, ("user_id",), Effect.READS),
        "get_order_details": (get_order_details, ("order_id",), Effect.READS),
        "keep_order": (keep_order, ("order_id",), Effect.WRITES),
        "send_order": (send_order, ("order_id", "city", "street"), Effect.WRITES),
    }
    tools = tuple(
        ToolSchema(name, takes=tuple(ToolParameter(one, "string", required=True) for one in takes),
                   effect=effect)
        for name, (_, takes, effect) in functions.items()
    )  # fmt: skip
    return PythonTools(Catalogue(tools), {n: f for n, (f, _, _) in functions.items()}, homes), homes


@pytest.mark.parametrize("kind", [None, *FAULT_KINDS])
def test_an_address_that_stands_in_a_result_is_asked_for(kind: CallFailure | None) -> None:
    tools, homes = address_book()
    faults = {"get_user_details": ToolFault(kind)} if kind else {}
    request = ToolRequest(
        (GoalCall("keep_order", {"order_id": "#2"}),
         GoalCall("send_order", {"order_id": "#1", "city": "Bonn", "street": EntityQuery()})),
        (NamedValue("user_id", "ann_1"),),
    )  # fmt: skip
    went = carry_out(GuardedTools(FaultyTools(tools, faults), "orders"), request)
    assert went.decision.ask == ("street",) and not went.outcomes
    assert homes["#1"] == {"city": "Ulm", "street": "A 1"}


def every(thing: str) -> ToolRequest:
    query = EntityQuery((NamedValue("name", thing),), every=True)
    return ToolRequest((GoalCall("cancel_order", {"order_id": query}),), FACTS)


@pytest.mark.slow
@settings(max_examples=8)
@given(st.lists(st.tuples(st.sampled_from(THINGS[:2]), st.just("pending")), min_size=1, max_size=5))
def test_all_means_each_entity_that_meets_what_was_said_once(orders: list[tuple[str, str]]) -> None:
    tools, state = shop(orders)
    went = carry_out(GuardedTools(tools, "shop"), every("lamp"))
    writes = [o.call.arguments["order_id"] for o in went.outcomes if o.call.tool == "cancel_order"]
    lamps = [f"#{n}" for n, (thing, _) in enumerate(orders, 100) if thing == "lamp"]
    assert sorted(map(str, writes)) == lamps
    assert went.steps.complete is bool(lamps)
    left = [key for key, order in state["orders"].items() if order["status"] == "pending"]
    assert not set(left) & set(lamps)


def test_what_is_refused_for_one_of_all_is_done_for_the_others_and_told() -> None:
    tools, state = shop([("lamp", "pending"), ("lamp", "delivered"), ("lamp", "pending")])
    went = carry_out(GuardedTools(tools, "shop"), every("lamp"))
    assert [o["status"] for o in state["orders"].values()] == [
        "cancelled",
        "delivered",
        "cancelled",
    ]
    assert not went.steps.complete and went.exit_code == 1
    assert "only a pending order" in went.decision.why


@pytest.mark.slow
def test_one_of_all_of_which_a_condition_is_known_to_fail_is_named() -> None:
    learnt = LearntConditions()
    for number, status in enumerate(("pending", "delivered") * 3):
        tools, _ = shop([*[("vase", "pending")] * number, ("lamp", status)])
        carry_out(GuardedTools(tools, "shop"), cancelled("lamp"), Learnt(conditions=learnt))
    tools, state = shop([("lamp", "delivered"), ("lamp", "pending")])
    went = carry_out(GuardedTools(tools, "shop"), every("lamp"), Learnt(conditions=learnt))
    assert [order["status"] for order in state["orders"].values()] == ["delivered", "cancelled"]
    assert not went.steps.complete and "'cancel_order' for #100" in went.decision.why


def test_a_refusal_to_confirm_ends_a_goal_that_means_all() -> None:
    tools, state = shop([("lamp", "pending"), ("lamp", "pending")])
    went = carry_out(GuardedTools(tools, "shop", CallPolicy(dry=True)), every("lamp"))
    assert all(order["status"] == "pending" for order in state["orders"].values())
    assert went.exit_code == 4


def test_a_refused_goal_is_done_once_another_goal_has_made_it_possible() -> None:
    state = {"paid": False, "renewed": False}

    def renew() -> str:
        if not state["paid"]:
            raise ValueError("pay first")
        state["renewed"] = True
        return "renewed"

    def pay() -> str:
        state["paid"] = True
        return "paid"

    names = {"renew": renew, "pay": pay}
    catalogue = Catalogue(tuple(ToolSchema(name, effect=Effect.WRITES) for name in names))
    request = ToolRequest((GoalCall("renew", {}), GoalCall("pay", {})), ordered=False)
    tools = GuardedTools(PythonTools(catalogue, names, state), "desk")
    went = carry_out(tools, request)
    assert state == {"paid": True, "renewed": True}
    assert went.steps.complete and not went.steps.left
