"""A request for every entity leads to a call for each, and to no other."""

from __future__ import annotations

from pathlib import Path

import pytest

import hvr
from hvr.tools.calling.guard import ProposedCall

DESK = '''
loans = {
    "L-1": ("ann@x.org", "Emma"), "L-2": ("bob@x.org", "Dune"), "L-3": ("ann@x.org", "Ulysses"),
    "L-4": ("ann@x.org", "Middlemarch"),
}
renewed = []


def list_loans(email: str) -> list[dict]:
    """List the loans of a member.

    Args:
        email: the e-mail address of the member.
    """
    found = [{"loan_id": n, "title": t} for n, (of, t) in loans.items() if of == email]
    if not found:
        raise ValueError(f"no member with {email}")
    return found


def renew_loan(loan_id: str) -> dict:
    """Renew a loan.

    Args:
        loan_id: the number of the loan.
    """
    if loans[loan_id][1] == "Ulysses":
        raise ValueError("it is reserved")
    renewed.append(loan_id)
    return {"loan_id": loan_id}


def return_loan(loan_id: str) -> dict:
    """Return a loan.

    Args:
        loan_id: the number of the loan.
    """
    del loans[loan_id]
    return {"loan_id": loan_id}
'''
WORLD = '[tools]\nmodule = "desk"\nreads = ["list_loans"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "desk.py").write_text(DESK)
    (tmp_path / "world.toml").write_text(WORLD)
    return tmp_path


def yes(call: ProposedCall) -> bool:
    del call
    return True


def test_a_call_is_made_for_every_entity_and_no_other(folder: Path) -> None:
    with hvr.open_tools(folder, trust=True) as library:
        done = library.run("Return all loans of ann@x.org.", approve=yes)
    made = [o.call.arguments["loan_id"] for o in done.outcomes if o.call.tool == "return_loan"]
    assert done.reached and sorted(map(str, made)) == ["L-1", "L-3", "L-4"]


def test_one_refusal_leaves_the_others_and_is_told(folder: Path) -> None:
    with hvr.open_tools(folder, trust=True) as library:
        done = library.run("Renew every loan of ann@x.org.", approve=yes)
    good = [o.call.arguments["loan_id"] for o in done.outcomes if o.ok and o.call.tool[:2] == "re"]
    assert sorted(map(str, good)) == ["L-1", "L-4"]
    assert not done.reached and "made for 2 of 3" in done.why and "reserved" in done.why


def test_all_calls_are_shown_where_no_one_confirms_them(folder: Path) -> None:
    with hvr.open_tools(folder, trust=True) as library:
        done = library.run("Return each loan of ann@x.org.")
    assert [one.call.arguments for one in done.waiting] == [
        {"loan_id": "L-1"}, {"loan_id": "L-3"}, {"loan_id": "L-4"}
    ]  # fmt: skip
    assert not any(o.call.tool == "return_loan" and o.ok for o in done.outcomes)


def test_a_call_that_the_user_declines_is_not_made(folder: Path) -> None:
    with hvr.open_tools(folder, trust=True) as library:
        done = library.run(
            "Return all loans of ann@x.org.",
            approve=lambda call: call.call.arguments["loan_id"] != "L-3",
        )
    made = [o.call.arguments["loan_id"] for o in done.outcomes
            if o.ok and o.call.tool == "return_loan"]  # fmt: skip
    assert sorted(map(str, made)) == ["L-1", "L-4"] and not done.reached
