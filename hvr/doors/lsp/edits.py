"""Edits that remove the cause of a finding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hvr.doors.lsp.models import Models
from hvr.doors.lsp.symbols import Kind, Symbols
from hvr.doors.lsp.syntax import Leaf, List, Tree, line_tokens, split_lines

_SUGGESTION = re.compile(r"did you mean '([^']+)'\?")
_FLAG = re.compile(r":[a-z][a-z-]*")
_DECLARED = {
    "HVR301": Kind.RELATION,
    "HVR304": Kind.RELATION,
    "HVR305": Kind.TYPE,
    "HVR306": Kind.OBJECT,
    "HVR316": Kind.OBJECT,
}


class Edit(NamedTuple):
    """A replacement of a range of text."""

    line: int
    start: int
    end_line: int
    end: int
    text: str


class Fix(NamedTuple):
    """An edit with its title; `preferred` if it is the obvious one."""

    title: str
    edits: tuple[Edit, ...]
    preferred: bool = False


def fixes(
    models: Models, file: str, rule: str, message: str, line: int, column: int, about: str = ""
) -> Iterator[Fix]:
    """Yield the fixes of a finding on a 0-based line, whose subject is `about`."""
    names = models.names(file)
    tree = names.tree
    word = _word_at(tree, line, column)
    suggested = _SUGGESTION.search(message)
    if suggested is not None and word is not None:
        edit = Edit(word.line, word.start, word.line, word.end, suggested[1])
        yield Fix(f"Replace by {suggested[1]!r}", (edit,), preferred=True)
    if rule == "HVR202" and isinstance(names, Symbols):
        yield from _missing_flag(tree, message)
    elif rule == "HVR308" and (flag := _FLAG.search(about or message)) is not None:
        yield from _flag_removed(tree, flag[0])
    elif rule in _DECLARED and isinstance(names, Symbols):
        yield from _declaration_removed(names, _DECLARED[rule], about)
    if not rule.startswith("HVR0") and isinstance(names, Symbols):
        indent = re.match(r"\s*", tree.lines[line])
        assert indent is not None
        comment = f"{indent.group()}; hvr: ignore {rule}\n"
        yield Fix(f"Ignore {rule} here", (Edit(line, 0, line, 0, comment),))


def _missing_flag(tree: Tree, message: str) -> Iterator[Fix]:
    flags = _FLAG.findall(message)
    if not flags:
        return
    flag = flags[0]
    node = _find(tree, ":requirements")
    if node is not None and node.closed:
        place = Edit(node.end_line, node.end - 1, node.end_line, node.end - 1, f" {flag}")
    else:
        head = _find(tree, "domain")
        if head is None or not head.closed:
            return
        text = f"\n  (:requirements {flag})"
        place = Edit(head.end_line, head.end, head.end_line, head.end, text)
    yield Fix(f"Add {flag} to :requirements", (place,), preferred=True)


def _flag_removed(tree: Tree, flag: str) -> Iterator[Fix]:
    node = _find(tree, ":requirements")
    for item in node.items if node is not None else []:
        if isinstance(item, Leaf) and item.text == flag:
            yield Fix(f"Remove {flag}", (_cut(tree, item.line, item.start, item.line, item.end),))
            return


def _declaration_removed(names: Symbols, kind: Kind, name: str) -> Iterator[Fix]:
    declared = names.declarations.get((kind, name.lower(), 0))
    if declared is None:
        return
    uses = [o for o in names.occurrences if o.identity == declared.occurrence.identity]
    if len(uses) > 1:
        return  # it is used in a place that the finding does not count
    if kind is Kind.RELATION and declared.node is not None:
        node = declared.node
        edit = _cut(names.tree, node.line, node.start, node.end_line, node.end)
    else:
        one = declared.occurrence
        if not _keeps_types(declared.node, one.line, one.start):
            return
        edit = _cut(names.tree, one.line, one.start, one.line, one.end)
    yield Fix(f"Remove the {declared.noun} {name}", (edit,))


def _keeps_types(node: List | None, line: int, start: int) -> bool:
    """Return whether a name can be cut from a typed list without changing other names' types."""
    items = [] if node is None else node.items
    for number, item in enumerate(items):
        if isinstance(item, Leaf) and (item.line, item.start) == (line, start):
            following = items[number + 1] if number + 1 < len(items) else None
            before = items[number - 1]
            typed = isinstance(following, Leaf) and following.text == "-"
            named = isinstance(before, Leaf) and not before.text.startswith(":")
            after_type = number >= 2 and getattr(items[number - 2], "text", "") == "-"
            # The only name before a type would leave the type without a name.
            return not typed or (named and not after_type)
    return False


def _cut(tree: Tree, line: int, start: int, end_line: int, end: int) -> Edit:
    """Return the edit that removes a stretch with the blanks before it, or its whole line."""
    before, after = tree.lines[line][:start], tree.lines[end_line][end:]
    if not before.strip() and not after.strip() and end_line + 1 < len(tree.lines):
        return Edit(line, 0, end_line + 1, 0, "")
    blanks = len(before) - len(before.rstrip())
    return Edit(line, start - blanks, end_line, end, "")


def _find(tree: Tree, head: str) -> List | None:
    for item in tree.items:
        if isinstance(item, List):
            for node in [item, *item.items]:
                if isinstance(node, List) and node.head == head:
                    return node
    return None


def _word_at(tree: Tree, line: int, column: int) -> Leaf | None:
    """Return the word at a position, or the first one in the list that begins there."""
    items = list(tree.items)
    path = tree.path(line, column + 1)
    if path:
        items = path[-1].items
        if (path[-1].line, path[-1].start) == (line, column) and items:
            return items[0] if isinstance(items[0], Leaf) else None
    for item in items:
        if isinstance(item, Leaf) and item.line == line and item.start <= column <= item.end:
            return item
    return None


# Formatting ---------------------------------------------------------------------------------------
# Formatting: indentation by nesting, without moving a word to another line.

_INDENT = 2
_COMMENT = re.compile(r"[^;]*")
_BLANKS = re.compile(r"[ \t]+")


def formatted(text: str, *, indent: int = _INDENT) -> str:
    """Return a text with each line indented by `indent` blanks per level of nesting.

    Words and comments keep their order and lines; only blanks change. Formatting a formatted text
    changes nothing.
    """
    lines: list[str] = []
    depth = 0
    for line in split_lines(text):
        tokens = [token for token, _, _ in line_tokens(line)]
        closing = 0
        while closing < len(tokens) and tokens[closing] == ")":
            closing += 1
        level = max(0, depth - closing)
        lines.append((" " * (indent * level) + _tidy(line)).rstrip())
        depth = max(0, depth + tokens.count("(") - tokens.count(")"))
    while len(lines) > 1 and not lines[-1]:
        lines.pop()
    return "\n".join(_few_blank(lines)) + "\n" if any(lines) else ""


def _tidy(line: str) -> str:
    """Return a line without redundant blanks; the gap before a trailing comment stays."""
    code = _COMMENT.match(line)
    assert code is not None
    words = _BLANKS.sub(" ", code.group().strip())
    words = re.sub(r"\( +", "(", words)
    words = re.sub(r" +\)", ")", words)
    comment = line[code.end() :].rstrip()
    return f"{words}  {comment}" if words and comment else words or comment


def _few_blank(lines: list[str]) -> list[str]:
    """Return the lines with at most one blank line in a row, and none at the beginning."""
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    return kept
