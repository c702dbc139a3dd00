"""Literals as models write them: `(not (on mug-1 plate-1))`, `not on(mug-1, plate-1)`, …"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeAlias

from hvr.policies.llm.answers.orders import INSTANCE


@dataclass(frozen=True)
class LiteralText:
    """A literal as it was written.

    Args:
        predicate: its name.
        args: names of objects.
        positive: whether it is not negated.
        text: the literal in PDDL's form, with the names as written.
        words: all its words but negations, in lower case: where they are a literal of the domain to
            the letter, `a` is an object and `has` a predicate.
    """

    predicate: str
    args: tuple[str, ...]
    positive: bool
    text: str
    words: tuple[str, ...] = field(default=(), compare=False)


Node: TypeAlias = "str | list[Node]"

_TOKEN = re.compile(r"[()\[\]]|[,;\n¬!~&∧|]|[^\s()\[\],;¬!~&∧|]+")
_NOT = frozenset({"not", "no", "¬", "!", "~", "-not"})
_AND = frozenset({"and", "&", "&&", "∧", "^", "also", ",", ";", "\n"})
_OTHER = frozenset({"or", "when", "forall", "exists", "imply", "implies", "if", "=", "|", "||"})
_NOTHING = frozenset({"none", "nothing", "n/a", "na", "true", "null", "empty", "-", "", "no"})
_ARTICLES = frozenset({"the", "a", "an", "robot", "is", "are", "be", "must", "been", "has"})
_NAME = re.compile(r"[A-Za-z][\w-]*")
_MOST_WORDS = 10
_DEEPEST = 30
_MOST_TOKENS = 20_000


def read_literals(text: str) -> tuple[tuple[LiteralText, ...], tuple[str, ...]]:
    """Return the literals of a list or conjunction, each once, and the parts that are not any."""
    literals: dict[str, LiteralText] = {}
    problems: list[str] = []
    for part, positive in _parts(_tree(text)):
        _read(part, positive, literals, problems, 0)
    return tuple(literals.values()), tuple(dict.fromkeys(problems))


def _tree(text: str) -> list[Node]:
    """Return words and lists, nested like the parentheses.

    A word right before a parenthesis goes inside: `on(a b)` is read as `(on a b)`.
    """
    top: list[Node] = []
    stack = [top]
    text = re.sub(r"(?:^|(?<=\n))\s*(?:[-*•+]|\d+[.)])\s+", "", text)
    text = re.sub(r"\s*(?:#|//|--)\s.*|`|\"|'", "", text)
    previous_end = -1
    for token in islice(_TOKEN.finditer(text), _MOST_TOKENS):
        word = token[0]
        if word in "([":
            inner: list[Node] = []
            last = stack[-1][-1] if stack[-1] else None
            touching = token.start() == previous_end
            if isinstance(last, str) and touching and last not in _AND | _NOT:
                stack[-1].pop()
                inner.append(last)
            stack[-1].append(inner)
            if len(stack) < 200:
                stack.append(inner)
        elif word in ")]":
            if len(stack) > 1:
                stack.pop()
        else:
            stack[-1].append(word.rstrip(".:") or word)
        previous_end = token.end()
    return top


def _parts(nodes: list[Node]) -> list[tuple[list[Node], bool]]:
    """Return the members of a conjunction without parentheses, with their signs."""
    parts: list[tuple[list[Node], bool]] = []
    run: list[Node] = []
    positive = True

    def end() -> None:
        nonlocal positive
        if run:
            parts.append((list(run), positive))
            run.clear()
            positive = True

    other = any(isinstance(n, str) and n.lower() in {"or", "||"} for n in nodes)
    if other:
        return [(list(nodes), True)]
    for node in nodes:
        if isinstance(node, list):
            if run and isinstance(run[0], str) and run[0].lower() in _OTHER:
                run.append(node)
                continue
            end_sign = positive
            if run:
                end()
                end_sign = True
            parts.append((node, end_sign))
            positive = True
        elif node.lower() in _AND:
            end()
        elif node.lower() in _NOT and not run:
            positive = not positive
        else:
            run.append(node)
    end()
    return parts


def _read(
    part: list[Node],
    positive: bool,
    into: dict[str, LiteralText],
    problems: list[str],
    depth: int,
) -> None:
    part = [n for n in part if n not in (",", ";", "\n")]
    while len(part) == 1 and isinstance(part[0], list) and depth < _DEEPEST:
        part = [n for n in part[0] if n not in (",", ";", "\n")]
        depth += 1
    if not part or depth >= _DEEPEST:
        if part:
            problems.append(_shown(part)[:200])
        return
    head = part[0].lower() if isinstance(part[0], str) else ""
    rest = part[1:]
    if head in _NOT and rest:
        inner = rest[0] if len(rest) == 1 and isinstance(rest[0], list) else rest
        _read(inner, not positive, into, problems, depth + 1)
    elif head == "and" and not positive:
        problems.append(_shown([*(["not"]), part]))
    elif head == "and" or (part and all(isinstance(n, list) for n in part)):
        members = rest if head == "and" else part
        for inner, sign in _parts(members):
            _read(inner, sign == positive, into, problems, depth + 1)
    elif len(part) == 1 and head in _NOTHING:
        return
    else:
        literal = _literal(part, positive)
        if literal is None:
            shown = _shown(part)
            problems.append(shown if positive else f"(not {shown})")
        else:
            into.setdefault(f"{positive} {literal.words}", literal)


def _literal(part: list[Node], positive: bool) -> LiteralText | None:
    words: list[str] = []
    for node in part:
        word = node[0] if isinstance(node, list) and len(node) == 1 else node
        if not isinstance(word, str):
            return None
        words.append(word)
    if any(w.lower() in _OTHER for w in words) or words[0].startswith(("?", ":")):
        return None
    denied = [w for w in words[1:] if w.lower() in _NOT]
    if len(denied) > 1:
        return None
    positive = positive != bool(denied)
    words = [w for w in words if w.lower() not in _NOT]
    spelt = tuple(w.lower() for w in words)
    words = [w for w in words if w.lower() not in _ARTICLES]
    # (mug-1 on plate-1) and (tomato-1 sliced): the predicate is what is no instance
    if len(words) > 1 and INSTANCE.fullmatch(words[0]) and not INSTANCE.fullmatch(words[1]):
        words[0], words[1] = words[1], words[0]
    loosely = 0 < len(words) <= 4 and _NAME.fullmatch(words[0]) and not INSTANCE.fullmatch(words[0])
    if not loosely or not all(re.fullmatch(r"[A-Za-z][\w|-]*", a) for a in words[1:]):
        if not 1 < len(spelt) <= _MOST_WORDS or not all(re.fullmatch(r"[\w-]+", w) for w in spelt):
            return None
        words = list(spelt)
    name, args = words[0], tuple(words[1:])
    text = f"({' '.join((name, *args))})"
    return LiteralText(name, args, positive, text if positive else f"(not {text})", spelt)


def _shown(part: list[Node], depth: int = 0) -> str:
    if depth > _DEEPEST:
        return "…"
    inner = " ".join(n if isinstance(n, str) else _shown(n, depth + 1) for n in part)
    return f"({inner})"
