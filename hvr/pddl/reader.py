"""Tokens to nested lists, without recursion, so that no file is too deep to refuse politely."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from typing import NoReturn

from hvr.pddl.diagnostics import PddlTextSyntaxError
from hvr.pddl.lexer import SourceText, Word, first_word, inner_tokens, tokens, words

MAX_NESTING = 12_000
"""Deeper nesting is refused."""

_FLAT = 150
"""What is nested deeper is first written as flat as possible: it is quicker then."""

MOST_SURPLUS = 100
"""A text with more surplus `)` is refused: its structure cannot be told."""

_FIRST_WORD = re.compile(r"\s*+([^\s()]++)")


class Group:
    """A parenthesised list; `offset` is that of its opening parenthesis.

    A list is split, and its items become objects with a place, when they are first asked for.

    Attributes:
        text: The text between the parentheses; None if it contains lists.
        inside: The text between the parentheses if it contains lists and is not split yet.
        tokens: The items of a list with neither, until `items` is read; deep lists are groups.
        places: The offset of each token.
    """

    __slots__ = ("inside", "items", "offset", "places", "text", "tokens")

    items: list[Word | Group]
    tokens: list[str | Group]
    places: array[int]

    def __init__(self, offset: int, text: str | None = None, inside: str | None = None) -> None:
        self.offset = offset
        self.text = text
        self.inside = inside

    def __getattr__(self, name: str) -> list[Word | Group]:
        # Reached only while `items` has not been set.
        if name != "items":
            raise AttributeError(name)
        if self.text is not None:
            self.items = [*words(self.text, self.offset + 1)]
        elif self.inside is not None:
            tokens = inner_tokens(self.inside, self.offset + 1)
            self.items = [node_of(token, place) for token, place in tokens]
            self.inside = None
        else:
            self.items = [
                node_of(token, place) if isinstance(token, str) else token
                for token, place in zip(self.tokens, self.places, strict=True)
            ]
            del self.tokens, self.places
        return self.items

    def raw(self) -> Iterator[tuple[str, int, Node | None]]:
        """Yield the items, those that are not objects yet as a token and its offset.

        Lists have `(` and `)` around them.
        """
        if self.inside is not None:
            for token, place in inner_tokens(self.inside, self.offset + 1):
                yield token, place, None
        elif self.text is None and hasattr(self, "tokens"):
            for place, part in zip(self.places, self.tokens, strict=True):
                yield (part, place, None) if isinstance(part, str) else ("", place, part)
        else:
            for node in self.items:
                yield "", node.offset, node

    def used_up(self) -> Iterator[tuple[str, int, Node | None]]:
        """Yield the items like `raw`; drop each.

        Nothing else may be asked of the group afterwards.
        """
        if self.inside is not None:
            yield from self.raw()
            return
        if self.text is None and hasattr(self, "tokens"):
            places, tokens = self.places, self.tokens
            del self.tokens, self.places
            tokens.reverse()
            for place in places:
                token = tokens.pop()
                yield (token, place, None) if isinstance(token, str) else ("", place, token)
            return
        nodes = self.items[::-1]
        self.items.clear()
        while nodes:
            node = nodes.pop()
            yield "", node.offset, node


Node = Word | Group


def node_of(token: str, offset: int) -> Node:
    """Return a token, which may be a whole list, as an object."""
    if token[0] != "(":
        return Word(token, offset)
    inside = token[1:-1]
    return Group(offset, None, inside) if "(" in inside else Group(offset, inside)


def read_nodes(source: SourceText) -> list[Node]:
    """Read the word or list that a text consists of, and what follows it.

    Reading ends where anything but sections follows: what it begins with is the last node. A strict
    reading ends at late sections, too; a lenient one skips surplus `)` with a warning.

    Raises:
        PddlSyntaxError: unbalanced parentheses, or nesting deeper than MAX_NESTING.
    """
    lenient = source.lenient
    surplus = 0
    top: list[Node] = []
    stack: list[Group] = []
    deep = False
    items: list[str | Group] = []
    places: array[int] = array("q")
    for token, offset in tokens(source):
        if token == "(":
            if top and not stack and not lenient:
                return [*top, Word(token, offset)]
            group = Group(offset)
            if stack:
                items.append(group)
                places.append(offset)
            else:
                top.append(group)
            stack.append(group)
            if len(stack) > _FLAT and not deep:
                deep = True
                _check_depth(source)
            items = group.tokens = []
            places = group.places = array("q")
        elif token == ")":
            if not stack:
                surplus += 1
                _overlook_surplus(source, offset, surplus, begun=bool(top))
                continue
            closed = stack.pop()
            if not stack and closed is not top[0] and head_of(closed)[:1] != ":":
                return top
            if stack:
                items, places = stack[-1].tokens, stack[-1].places
        elif stack:
            items.append(token)
            places.append(offset)
        else:
            top.append(node := node_of(token, offset))
            late = isinstance(node, Group) and head_of(node)[:1] == ":"
            if len(top) > 1 and not (late and lenient):
                return top
    if stack:
        _unclosed(source, stack)
    if deep:
        from hvr.pddl.flattening import flatten

        flatten(top)
    return top


def _overlook_surplus(source: SourceText, offset: int, count: int, *, begun: bool) -> None:
    """Refuse a `)` that closes nothing, or warn of it in a lenient reading."""
    message = "a ')' too many"
    if not begun:
        source.syntax_error(offset, message, expected="'('", found="')'")
    if count > MOST_SURPLUS:
        source.syntax_error(offset, f"more than {MOST_SURPLUS} ')' too many", found="')'")
    source.overlook(offset, message, expected="end of text", found="')'", error=PddlTextSyntaxError)


def _check_depth(source: SourceText) -> None:
    """Raise for nesting beyond MAX_NESTING and for deep lists that are not closed.

    An object for each open list would take many times the text.
    """
    opened = array("q")
    for token, offset in tokens(source):
        if token == "(":
            opened.append(offset)
            if len(opened) > MAX_NESTING:
                source.syntax_error(
                    offset,
                    f"parentheses are nested more than {MAX_NESTING} deep",
                    expected="a flatter formula",
                )
        elif token == ")" and opened:
            opened.pop()
    if opened:
        _never_closed(source, opened[-1], "")


def _unclosed(source: SourceText, stack: list[Group]) -> NoReturn:
    # A section inside a section means that the outer one was not closed: say so, since the end
    # of the text is far from the place to mend.
    queue = [stack[0]]
    for outer in queue:
        for inner in outer.items:
            if not isinstance(inner, Group):
                continue
            queue.append(inner)
            if head_of(inner)[:1] == head_of(outer)[:1] == ":":
                source.syntax_error(
                    inner.offset,
                    f"a ')' is missing before '({head_of(inner)}': the list '({head_of(outer)}' at "
                    f"{source.location(outer.offset)} is still open",
                    expected="')'",
                    found=f"'({head_of(inner)}'",
                )
    opened = stack[-1]
    _never_closed(source, opened.offset, head_of(opened))


def _never_closed(source: SourceText, offset: int, head: str) -> NoReturn:
    source.syntax_error(
        len(source.text.rstrip()),
        f"the text ends before the list '({head}' is closed",
        expected=f"')' for the '(' at {source.location(offset)}",
        found="end of text",
    )


def alike(one: Group, two: Group) -> bool:
    """Return whether two lists have the same words, in the same lists."""
    waiting: list[tuple[Node, Node]] = [(one, two)]
    while waiting:
        left, right = waiting.pop()
        if isinstance(left, Word) or isinstance(right, Word):
            if not (isinstance(left, Word) and isinstance(right, Word) and left.text == right.text):
                return False
        elif len(left.items) != len(right.items):
            return False
        else:
            waiting += zip(left.items, right.items, strict=True)
    return True


def first_of(group: Group) -> Node | None:
    """Return what a list begins with, None if it is empty. Nothing else of it is split."""
    if group.text is not None:
        return first_word(group.text, group.offset + 1)
    if group.inside is not None:
        return node_of(*next(inner_tokens(group.inside, group.offset + 1)))
    if hasattr(group, "tokens"):
        if not group.tokens:
            return None
        first = group.tokens[0]
        return node_of(first, group.places[0]) if isinstance(first, str) else first
    return group.items[0] if group.items else None


def head_of(group: Group) -> str:
    """Return the word that a list begins with, or nothing."""
    if (text := group.text or group.inside) is not None:
        match = _FIRST_WORD.match(text)
        return match[1] if match else ""
    first = first_of(group)
    return first.text if isinstance(first, Word) else ""
