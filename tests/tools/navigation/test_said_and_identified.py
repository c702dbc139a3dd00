"""Written values are stated in the request, or are the ID of the one matching entity."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import Hvr

LIBRARY = '''
from pathlib import Path

MEMBERS = {"bob@lib.org": "m1", "ann@lib.org": "m2"}
LOANS = {"m1": [("l1", "b1", "2026-11-01")],
         "m2": [("l2", "b1", "2026-11-02"), ("l3", "b2", "2026-11-03")]}
BOOKS = {"b1": "Dune", "b2": "Emma"}


def find_member(email: str) -> dict[str, str]:
    """Find a member."""
    return {"member_id": MEMBERS[email], "email": email}


def list_loans(member_id: str) -> list[dict[str, str]]:
    """List the loans of a member."""
    return [{"loan_id": a, "book_id": b, "date": d} for a, b, d in LOANS[member_id]]


def get_book(book_id: str) -> dict[str, str]:
    """Get a book."""
    return {"book_id": book_id, "title": BOOKS[book_id]}


def last_order(member_id: str) -> dict[str, object]:
    """Get what a member ordered last."""
    return {"item": "lamp", "quantity": 700, "address": "Old Road 1"}


def return_book(loan_id: str) -> dict[str, str]:
    """Return a book."""
    with (Path(__file__).parent / "written").open("a") as file:
        file.write(loan_id + "\\n")
    return {"returned": loan_id}


def order_item(member_id: str, item: str, quantity: int, address: str) -> str:
    """Order something."""
    with (Path(__file__).parent / "written").open("a") as file:
        file.write(f"{quantity} to {address}\\n")
    return "ordered"


def delete_member(email: str) -> dict[str, str]:
    """Delete a member."""
    with (Path(__file__).parent / "written").open("a") as file:
        file.write(f"deleted {email}\\n")
    return {"card_id": "c1"}


def get_card(card_id: str) -> dict[str, str]:
    """Get a card."""
    return {"card_id": card_id}
'''
READS = '["find_member", "list_loans", "get_book", "last_order", "get_card"]'


class Library:
    def __init__(self, folder: Path, hvr_: Hvr) -> None:
        self._folder, self._hvr = folder, hvr_
        (folder / "desk.py").write_text(LIBRARY)
        (folder / "world.toml").write_text(f'[tools]\nmodule = "desk"\nreads = {READS}\n')

    def run(self, goal: str, **values: str) -> tuple[int, dict[str, Any]]:
        given = [word for n, v in values.items() for word in ("--given", f"{n}={v}")]
        words = ("tools", "run", str(self._folder), "--goal", goal, *given, "--yes", "--json")
        done = self._hvr(*words)
        return done.code, json.loads(done.out)

    @property
    def written(self) -> list[str]:
        file = self._folder / "written"
        return file.read_text().splitlines() if file.exists() else []


@pytest.fixture
def library(tmp_path: Path, hvr_: Hvr) -> Library:
    folder = tmp_path / "library"
    folder.mkdir()
    return Library(folder, hvr_)


def test_what_contradicts_what_was_said_is_not_written(library: Library) -> None:
    code, told = library.run("return_book", email="bob@lib.org", title="Emma")
    assert code == 2 and library.written == []
    (question,) = told["questions"]
    assert question["kind"] == "confirm" and "Dune, not Emma" in question["why"]


@pytest.mark.slow
@pytest.mark.parametrize(("title", "loan"), [("Dune", "l2"), ("Emma", "l3")])
def test_the_one_that_meets_what_was_said_is_written(
    library: Library, title: str, loan: str
) -> None:
    code, told = library.run("return_book", email="ann@lib.org", title=title)
    assert code == 0 and library.written == [loan]
    (source,) = told["calls"][-1]["sources"]
    assert source["source"] == "identified" and f"title {title}" in source["why"]


def test_of_several_none_is_written_and_each_is_told_apart(library: Library) -> None:
    code, told = library.run("return_book", email="ann@lib.org")
    assert code == 2 and library.written == []
    (question,) = told["questions"]
    assert question["kind"] == "several"
    assert [(c["value"], "2026-11" in c["told"]) for c in question["choices"]] == [
        ("l2", True), ("l3", True)]  # fmt: skip


def test_amounts_and_addresses_of_results_are_asked_for(library: Library) -> None:
    code, told = library.run("order_item", email="ann@lib.org", item="lamp")
    assert code == 2 and library.written == [] and told["calls"] == []
    assert told["ask"] == ["quantity", "address"]


@pytest.mark.slow
def test_a_tool_that_may_write_is_no_look_up(library: Library) -> None:
    code, _ = library.run("get_card", email="ann@lib.org")
    assert code == 2 and library.written == []


@pytest.mark.slow
def test_the_property_of_the_described_thing_is_the_answer(library: Library) -> None:
    _, told = library.run("date", email="ann@lib.org", title="Dune")
    assert told["values"] == {"date": "2026-11-02"}
    _, told = library.run("title", email="ann@lib.org")
    assert sorted(told["values"]["title"]) == ["Dune", "Emma"]


@pytest.mark.parametrize("goal", ["date", "get_book"])
@pytest.mark.parametrize("said", [{"title": "Emma"}, {"colour": "red"}])
def test_no_answer_is_given_for_what_was_not_asked(
    library: Library, goal: str, said: dict[str, str]
) -> None:
    """Bob has only Dune, and nothing reveals its colour."""
    code, told = library.run(goal, email="bob@lib.org", **said)
    assert code == 2 and told["values"] == {} and not told["reached"]
    (question,) = told["questions"]
    assert question["kind"] == "confirm" and next(iter(said.values())) in question["why"]


def test_the_refusal_of_a_look_up_is_told(library: Library) -> None:
    code, told = library.run("return_book", email="nobody@lib.org")
    assert code == 2 and "'find_member' refused" in told["why"]
