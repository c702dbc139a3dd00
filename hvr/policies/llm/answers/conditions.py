"""Reader of the conditions of macro actions: PDDL literals, more or less."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hvr.policies.llm.answers.literals import LiteralText, read_literals
from hvr.policies.llm.answers.text import Line, clean, json_values, read_line
from hvr.policies.llm.answers.words import starts_with_verb


@dataclass(frozen=True)
class MacroConditions:
    """The conditions of one macro action.

    Args:
        precondition: what must hold before it.
        postcondition: what holds after it.
        problems: parts that were left out, since they are no literals.
    """

    precondition: tuple[LiteralText, ...] = ()
    postcondition: tuple[LiteralText, ...] = ()
    problems: tuple[str, ...] = ()


_SIDE = re.compile(
    r"(?<![\w(])(?P<side>:?pre(?:[ _-]?conditions?)?|:?post(?:[ _-]?conditions?)?|:?effects?"
    # A blank that is taken is not given back: else many of them take the square of their time.
    r"|requirements|requires|results?|before|after)\b\s*+(?:\([^()]*\)\s*+)?(?:\*\*)?\s*+"
    r"(?::|=|(?=\())",
    re.IGNORECASE,
)
_PDDL_SIDE = re.compile(r"(?P<side>:precondition|:effect|:postcondition)\b", re.IGNORECASE)
_LITERAL = re.compile(
    r"\(|(?:not|no|¬|!|~)\b|[a-z_]+\s?\(|(?:none|n/a|nothing|true)\b\W*$", re.IGNORECASE
)
_KEYS = {
    "pre": ("preconditions", "precondition", "pre", "requires", "before"),
    "post": ("postconditions", "postcondition", "post", "effects", "effect", "after", "results"),
}
_DEEPEST = 20
"""Levels of a JSON value in which literals are looked for."""

_LISTS = ("macro_actions", "macro_plan", "conditions", "steps", "plan", "actions")


@dataclass
class _Entry:
    """The conditions of one macro action, as written."""

    number: int | None = None
    pre: list[str] = field(default_factory=list)
    post: list[str] = field(default_factory=list)
    sides: list[str] = field(default_factory=list)


def read_conditions(text: str, count: int) -> tuple[MacroConditions, ...]:
    """Return the conditions of each macro action, always `count` of them.

    They are matched by their numbers where these are clear, otherwise by their order; missing
    ones are empty. `(and …)`, `(not (x a))`, `not x(a)`, `x(a, b)`, `(x, a, b)`, `x a b` and JSON
    are understood. Parts with `or`, `when` or a quantifier are listed as problems.

    Args:
        text: the answer.
        count: how many macro actions the plan has.
    """
    text = clean(text)
    entries = _from_json(text) or _from_lines(text)
    numbers = [entry.number for entry in entries]
    clear = [n for n in numbers if n is not None]
    by_number = len(clear) == len(entries) == len(set(clear))
    by_number = by_number and all(1 <= n <= count for n in clear)
    result = [MacroConditions()] * count
    for place, entry in enumerate(entries):
        where = entry.number - 1 if by_number and entry.number is not None else place
        if where < count:
            result[where] = _conditions(entry)
    return tuple(result)


def _conditions(entry: _Entry) -> MacroConditions:
    pre, wrong = read_literals("\n".join(entry.pre))
    post, also = read_literals("\n".join(entry.post))
    return MacroConditions(pre, post, (*wrong, *also))


# Text ---------------------------------------------------------------------------------------


def _from_lines(text: str) -> list[_Entry]:
    entries: list[_Entry] = []
    side = ""
    for raw in text.split("\n"):
        line = read_line(raw[:20_000])
        if re.search(r"\w|\)", line.text) is None or re.match(r"\s*(?:```|~~~)", raw):
            continue
        pieces = list(_pieces(line.text))
        head = pieces[0][1]
        if _begins(line, head, side, len(pieces) > 1):
            entries.append(_Entry(line.number))
            side = ""
        elif side and entries and (line.listed or _is_list(head)):
            getattr(entries[-1], side).append(head)
        for name, body in pieces[1:]:
            side = name
            # The same side for the second time, or what was before after what came after.
            if (
                not entries
                or side in entries[-1].sides
                or (side == "pre" and "post" in entries[-1].sides)
            ):
                entries.append(_Entry(line.number if not head else None))
            entries[-1].sides.append(side)
            getattr(entries[-1], side).append(body)
    return [entry for entry in entries if entry.sides]


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Cut a line at `Preconditions:` and the like.

    The first piece is the text before any of these, the others are the sides with their texts.
    """
    pattern = _PDDL_SIDE if ":precondition" in text.lower() or ":effect" in text.lower() else _SIDE
    position, name = 0, ""
    for label in pattern.finditer(text):
        yield name, text[position : label.start()].strip(" ;,.-–—|:")
        side = label["side"].lower().lstrip(":")
        name = "pre" if side.startswith(("pre", "req", "before")) else "post"
        position = label.end()
    yield name, text[position:].strip(" ;.|:")


def _begins(line: Line, head: str, side: str, labelled: bool) -> bool:
    """Return whether a line opens the conditions of the next macro action."""
    if not head or _LITERAL.match(head):
        return False
    if line.number is not None:
        return labelled or not side or starts_with_verb(head) or not _is_bare_literal(head)
    if line.heading or labelled:
        return bool(re.search(r"[^\W\d_]{3}", head)) and not _is_bare_literal(head)
    return False


def _is_list(text: str) -> bool:
    """Return whether a line continues a list of literals, rather than being a title or chat."""
    return bool(re.search(r"[()]", text)) or _is_bare_literal(text.split(",")[0])


def _is_bare_literal(text: str) -> bool:
    return re.fullmatch(r"[a-z_]+(?:\s+[A-Za-z_]+-\d+){1,2}", text.strip()) is not None


# JSON ---------------------------------------------------------------------------------------


def _from_json(text: str) -> list[_Entry]:
    values = json_values(text)
    entries: list[_Entry] = []
    for value in values:
        entries += _values(value)
    return entries


def _values(value: Any) -> list[_Entry]:
    if isinstance(value, dict):
        if (entry := _entry(value)) is not None:
            return [entry]
        for key in _LISTS:
            if isinstance(value.get(key), list | dict):
                return _values(value[key])
        entries = []
        for key, inner in value.items():
            if isinstance(inner, dict) and (entry := _entry(inner)) is not None:
                if entry.number is None and (digits := re.search(r"\d{1,3}$", str(key))):
                    entry.number = int(digits[0])
                entries.append(entry)
        return entries
    if isinstance(value, list):
        return [e for v in value if isinstance(v, dict) and (e := _entry(v)) is not None]
    return []


def _entry(value: dict[str, Any]) -> _Entry | None:
    lower = {str(k).lower().replace("-", "").replace("_", ""): v for k, v in value.items()}
    entry = _Entry()
    for side, keys in _KEYS.items():
        for key in keys:
            if key in lower:
                entry.sides.append(side)
                getattr(entry, side).extend(_texts(lower[key]))
                break
    number = next((lower[k] for k in ("number", "id", "step", "index") if k in lower), None)
    if isinstance(number, int) and not isinstance(number, bool):
        entry.number = number
    return entry if entry.sides else None


def _texts(value: Any, depth: int = 0) -> list[str]:
    if depth > _DEEPEST:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        name, args = value.get("predicate"), value.get("args", value.get("arguments", ()))
        if isinstance(name, str) and isinstance(args, list):
            text = f"({' '.join([name, *map(str, args)])})"
            denied = value.get("positive") is False or value.get("negated") is True
            return [f"(not {text})" if denied else text]
        return []
    if isinstance(value, list):
        if (
            value
            and all(isinstance(v, str) and re.fullmatch(r"[\w-]+", v) for v in value[1:])
            and (
                len(value) > 1 and isinstance(value[0], str) and re.fullmatch(r"[a-z_]+", value[0])
            )
        ):
            return [f"({' '.join(value)})"]
        return [text for v in value for text in _texts(v, depth + 1)]
    return []
