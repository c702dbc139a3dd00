"""Docstrings, comments, messages and pages avoid known lapses of style.

The patterns come from sentences that had to be rewritten; they find lapses, not style. A correct
line that matches a pattern can usually be simplified.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CODE = ("hvr", "examples", "benchmarks", "studies", "tests", "tools")
LAPSES = {
    "an argument without a noun": (
        r"^\s*\*{0,2}\w+: (?:of|it|them|that|those|whom|whose|as|has|is)\b(?! JSON)"
    ),
    "an old word": r"\b(?:shall|lest|wherein|whereby|naught|aught|yonder|hither|errand)\b",
    "no one in particular": r"\b(?:somebody|nobody|anybody)\b",
    "a clause for a noun": r"\b(?:Return|Yield|Print) (?:what|whom|that which|those)\b",
    "a doubled pronoun": r"\bthat which\b|\bthose (?:of|by|for) which\b",
}
ANY_LAPSE = re.compile("|".join(LAPSES.values()), re.MULTILINE)
IN_MESSAGES = LAPSES | {"a negated noun": r"(?<!there )\bis no (?!longer\b|more\b|\w+er\b)[a-z{]"}


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of docstrings and comments of a module that may have lapses."""
    text = path.read_text(encoding="utf-8")
    if not ANY_LAPSE.search(text):  # parsing takes most of the time
        return
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", ())
        for statement in body if isinstance(body, list) else ():
            value = getattr(statement, "value", None)
            if isinstance(statement, ast.Expr) and isinstance(value, ast.Constant):
                text_of = value.value if isinstance(value.value, str) else ""
                yield from enumerate(text_of.splitlines(), statement.lineno)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the templates of errors and help texts; `{}` stands for a value."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and node.exc is not None:
            yield from templates(node.exc)
        elif isinstance(node, ast.keyword) and node.arg in ("help", "description", "epilog"):
            yield from templates(node.value)


def templates(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the texts in an expression."""
    if isinstance(node, ast.JoinedStr):
        parts = [str(p.value) if isinstance(p, ast.Constant) else "{}" for p in node.values]
        yield node.lineno, "".join(parts)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from templates(child)


def page(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a page outside its code blocks."""
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        if not fenced:
            yield number, line


def lapses(lines: Iterator[tuple[int, str]], known: dict[str, str]) -> list[str]:
    return [
        f"{number}: {name}: {line.strip()}"
        for number, line in lines
        for name, pattern in known.items()
        if re.search(pattern, line)
    ]


MODULES = sorted(path for folder in CODE for path in (ROOT / folder).rglob("*.py"))
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])


@pytest.mark.slow
@pytest.mark.parametrize("folder", CODE)
def test_docstrings_and_comments_are_plain(folder: str) -> None:
    found = {
        str(path.relative_to(ROOT)): wrong
        for path in MODULES
        if path.is_relative_to(ROOT / folder) and (wrong := lapses(prose(path), LAPSES))
    }
    assert found == {}


@pytest.mark.slow
def test_messages_and_help_texts_are_plain() -> None:
    found = {
        str(path.relative_to(ROOT)): wrong
        for path in MODULES
        if path.is_relative_to(ROOT / "hvr") and (wrong := lapses(messages(path), IN_MESSAGES))
    }
    assert found == {}


def test_pages_are_plain() -> None:
    found = {
        str(path.relative_to(ROOT)): wrong
        for path in PAGES
        if (wrong := lapses(page(path), LAPSES))
    }
    assert found == {}


@pytest.mark.parametrize(
    "text",
    ["call: it.", "number: of the step, from 1.", "Return what is wrong.", "It shall be so."],
)
def test_a_lapse_is_found(text: str) -> None:
    assert lapses(iter([(1, text)]), LAPSES)
    assert lapses(iter([(1, "{} is no file")]), IN_MESSAGES)
    assert not lapses(iter([(1, "{} is not a file; it is no longer used")]), IN_MESSAGES)
