"""No reading, whatever its source, leads to a write that the request does not order."""

from __future__ import annotations

import pytest

from hvr.knowledge.retrieval.embedders import TextVectors
from hvr.tools.catalogue.schema import Catalogue, Effect, ToolParameter, ToolSchema
from hvr.tools.navigation.chains import NextMove
from hvr.tools.navigation.request import GoalCall, ToolRequest
from hvr.tools.navigation.words.reading import ReadRequest, guarded
from hvr.tools.navigation.words.request_reader import RequestReader
from hvr.tools.navigation.words.vocabulary import verbs_of

_FINE = (ToolParameter("member_id", "string", required=True),)
TOOLS = Catalogue((
    ToolSchema("get_fine", "Show the fine of a member.", _FINE, effect=Effect.READS),
    ToolSchema("pay_fine", "Pay the fine of a member.", _FINE, effect=Effect.WRITES),
    ToolSchema("delete_member", "Delete a member.", _FINE, effect=Effect.UNKNOWN),
))  # fmt: skip


def kept(text: str, *names: str) -> tuple[list[str], NextMove | None]:
    request = ToolRequest(tuple(GoalCall(name, {"member_id": "M-1"}) for name in names))
    read = guarded(ReadRequest(request, "Read."), text, TOOLS)
    return [goal.tool for goal in read.request.goals] if read.request else [], read.move


@pytest.mark.parametrize(
    "text",
    [
        "Don't pay the fine of M-1.", "Did M-1 pay the fine?", "Never pay the fine of M-1!",
        "Can you tell me whether M-1 paid the fine?", "Should I pay the fine of M-1?",
        "What would happen if I paid the fine of M-1?", "Bob wants to pay the fine of M-1.",
        "I am thinking about paying the fine of M-1.", "M-1 has paid the fine.",
        "I'd rather you didn't pay the fine of M-1.", "There is no need to pay M-1's fine.",
        "How do I pay the fine of M-1?", "Is it possible to pay the fine of M-1?",
        "Do not show or pay the fine of M-1.", "Neither show nor pay the fine of M-1.",
        "I don't want to show or pay the fine of M-1.", "Don't show the fine and pay it.",
        "Bob wants to see the fine and pay it.",
        "Ann said to show it, look at it and pay the fine.",
        "Make sure you don't pay the fine of M-1.", "Pay no fine of M-1.",
    ],
)  # fmt: skip
def test_what_is_not_ordered_is_not_written(text: str) -> None:
    assert kept(text, "pay_fine") == ([], NextMove.ANSWER)


@pytest.mark.parametrize(
    "text",
    [
        "Pay the fine of M-1.", "Could you please pay the fine of M-1?",
        "Don't forget to pay the fine of M-1.", "I'd like to pay the fine of M-1.",
        "M-1 is late, pay the fine.", "Don't wait, pay the fine of M-1.",
        "Can someone pay the fine of M-1?", "I am Ann and want to pay the fine.",
        "Pay the fine of M-1, would you?", "Why don't you pay the fine of M-1?",
        "M-1 doesn't care any more: please pay the fine of M-1.",
        "Pay the fine of M-1 because I don't want any trouble.",
        "The fine of M-1 should be paid.", "Pay the fine if you can.",
        "It would be great if you could pay the fine of M-1.",
    ],
)  # fmt: skip
def test_what_is_ordered_is_kept(text: str) -> None:
    assert kept(text, "pay_fine") == (["pay_fine"], None)


def test_each_call_is_judged_by_the_clause_that_is_about_it() -> None:
    text = "Show the fine of M-1, but don't pay it."
    assert kept(text, "get_fine", "pay_fine") == (["get_fine"], None)
    text = "Pay the fine of M-1 without deleting the member."
    assert kept(text, "pay_fine", "delete_member") == (["pay_fine"], None)


@pytest.mark.parametrize(
    "text",
    [
        "If M-1 is overdue, pay the fine.",
        "Pay the fine of M-1 unless it was paid.",
        "Show the fine of M-1 or pay it.",
    ],
)
def test_what_is_ordered_under_a_condition_is_confirmed_first(text: str) -> None:
    assert kept(text, "pay_fine") == ([], NextMove.ASK)


def test_the_verb_of_a_name_is_the_one_that_the_description_begins_with() -> None:
    names = (("renew_loan", "Renew a loan."), ("git_add", "Adds a file."), ("get_loan", "A loan."))
    assert [verbs_of(ToolSchema(*one))[0] for one in names] == ["renew", "add", "get"]


@pytest.mark.parametrize(
    "after",
    ["No wait, M-2.", "I mean M-2.", "Sorry, M-2!", "M-2 too.", "Actually, don't.", "Never mind.",
     "Or maybe not.", "Just kidding.", "I changed my mind."],
)  # fmt: skip
def test_an_afterthought_holds_a_written_order_back(after: str) -> None:
    read = RequestReader(TOOLS, (), TextVectors("lexical-hash").encode).read(
        f"Pay the fine of M-1. {after}"
    )
    assert (read.request, read.move) == (None, NextMove.ASK)


@pytest.mark.parametrize(
    "after",
    ["", "Thanks!", "Cheers, Ann", "Have a nice day!", "I am Ann.", "It is late.", "Not M-2."],
)  # fmt: skip
def test_courtesy_and_statements_hold_no_order_back(after: str) -> None:
    read = RequestReader(TOOLS, (), TextVectors("lexical-hash").encode).read(
        f"Pay the fine of M-1. {after}"
    )
    assert read.request is not None
    assert read.request.goals[0].tool == "pay_fine"


_PAY = ToolParameter("amount", "number", required=True)
_TO = ToolParameter("to", "string", "Who gets it", required=True)
BANK = Catalogue(
    (ToolSchema("transfer_money", "Transfer money.", (_TO, _PAY), effect=Effect.WRITES),)
)


@pytest.mark.parametrize("amount", ["up to 50", "about 50", "over 50", "50 or so", "at least 50"])
def test_a_bound_is_no_exact_value(amount: str) -> None:
    read = RequestReader(BANK, (), TextVectors("lexical-hash").encode)
    assert read.read("Transfer 50 to Bob.").request is not None
    assert read.read(f"Transfer {amount} to Bob.").move is NextMove.ASK


def test_a_share_is_no_amount() -> None:
    read = RequestReader(BANK, (), TextVectors("lexical-hash").encode)
    assert read.read("Transfer 20% to Bob.").request is None
    level = ToolParameter("level", "integer", "Brightness from 0 to 100", required=True)
    lamp = Catalogue((ToolSchema("dim_lamp", "Dim the lamp.", (level,), effect=Effect.WRITES),))
    dimmed = RequestReader(lamp, (), TextVectors("lexical-hash").encode)
    assert dimmed.read("Dim the lamp to 20%.").request is not None


def test_an_adverb_before_a_noun_is_accounted_for() -> None:
    door = ToolParameter("door", "string", required=True)
    home = Catalogue((ToolSchema("lock_door", "Lock a door.", (door,), effect=Effect.WRITES),))
    read = RequestReader(home, (), TextVectors("lexical-hash").encode)
    assert read.read("Lock the front door.").request is not None
    assert read.read("Lock the front door and the back door.").unread == ("back",)
