from __future__ import annotations

import pytest

from hvr.tools.tool_plans import ToolNameRemover, cleaned, without_number


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("Step 2 Call book_train to book a seat", "Call book_train to book a seat"),
        ("Step 12: Use X to go", "Use X to go"),
        ("1. Open the file", "Open the file"),
        ("2.1) Open the file", "Open the file"),
        ("3 mugs are washed", "3 mugs are washed"),
        ("Stepping back", "Stepping back"),
        ("", ""),
    ],
)
def test_numbers_go(step: str, expected: str) -> None:
    assert without_number(step) == expected


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("Step 2 Call book_train to book a seat", "book a seat"),
        ("Step 1: Use Object Detection to find the mug", "find the mug"),
        ("Call `book_train` tool to book a seat", "book a seat"),
        ("Call unknown_tool to do it", "do it"),
        ("call the doctor and ask", "call the doctor and ask"),
        ("Call my sister to say hello", "Call my sister to say hello"),
        ("Book a seat", "Book a seat"),
        ("Call book_train", "Call book_train"),
    ],
)
def test_names_of_tools_go(step: str, expected: str) -> None:
    assert ToolNameRemover(["book_train", "Object Detection", "Object"])(step) == expected


def test_cleaned_leaves_names_in_or_takes_them_out() -> None:
    steps = ("Step 1 Call a to x", "Step 2 y")
    assert cleaned(steps, ["a"], names=True) == ("Call a to x", "y")
    assert cleaned(steps, ["a"], names=False) == ("x", "y")
