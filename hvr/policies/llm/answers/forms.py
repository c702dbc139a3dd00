"""Notations for an action on one line: `(a, b)`, `a(b)`, `(a b)`, `a b`, tables, JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hvr.policies.llm.answers.text import (
    INSTANCE,
    PREPOSITIONS,
    Order,
    is_verb,
    json_values,
    noun_phrases,
    read_order,
    split_name,
)

_LABEL = re.compile(
    r"^(?:(?:next |atomic |robot )?(?:action|act|step|command|skill|aa)\s?#?\d*\s*[:=]\s*"
    r"|(?:robot|agent|self|env)\s?[.:]\s?)",
    re.IGNORECASE,
)
_GROUP = re.compile(
    r"(?P<name>(?<![A-Za-z])[A-Za-z][\w.]*+(?:-[A-Za-z]\w*+)*+\s?+)?(?P<open>[(\[])"
    r"(?P<body>[^()\[\]]{0,300})(?:[)\]]|$)"
)
_PLAIN = re.compile(r"(?P<name>[A-Za-z][\w]*(?:-[A-Za-z]\w*)*)\s*(?P<colon>:|=|->|-\s)?\s*")
_VIRTUAL = re.compile(
    r"\[(?P<name>[A-Za-z]\w*)\]\s*(?P<args>(?:<[^<>]{1,60}>\s*(?:\(\d+\))?\s*)+)$"
)
_ARGUMENT = re.compile(r"<([^<>]+)>\s*(?:\((\d+)\))?")
_COMMENT = re.compile(r"(?:\s*#|\s*;|\s*//|\s+--+\s|\s+-\s|\s+[–—]\s).*$|\s\[\d+(?:\.\d+)?\]\s*$")
_LIST_KEYS = ("actions", "plan", "action_sequence", "steps", "block", "action_list", "sequence")
_NAME_KEYS = ("action", "name", "predicate", "function", "action_name", "skill", "type")
_ARG_KEYS = ("args", "arguments", "objects", "parameters", "params", "arg", "object", "target")
_EXPLAINING = frozenset({"step", "number", "description", "reason", "comment", "explanation", "id"})


def unlabelled(text: str) -> str:
    """Remove a label such as `Action:` or `robot.` from the beginning of a line."""
    return _LABEL.sub("", text.strip(), count=1).strip()


def at_start(text: str) -> Order | None:
    """Return the action at the beginning of a line, in any notation except English, or None."""
    text = unlabelled(text)
    group = _GROUP.match(text)
    if group is not None:
        order = _group(group, strict=False)
        if order is not None:
            return order
    return _virtual(text) or _plain(text)


def is_whole(text: str) -> bool:
    """Return whether fewer than three words follow the first parentheses of a line."""
    text = unlabelled(text)
    group = _GROUP.match(text)
    tail = _COMMENT.sub("", text[group.end() :]) if group else ""
    return len(re.findall(r"[^\W\d_]{2,}", _GROUP.sub("", tail))) < 3


def in_line(text: str) -> list[Order]:
    """Return all actions in a list item or table row."""
    text = unlabelled(text)
    if text.count("|") >= 2:
        return _row(text)
    if (virtual := _virtual(text)) is not None:
        return [virtual]
    if len(parts := text.split(" | ")) > 1:
        several = [order for part in parts if (order := at_start(part)) is not None]
        if len(several) == len(parts):
            return several
    orders: list[Order] = []
    for group in _GROUP.finditer(text):
        if orders and group["open"] == "[" and text[0] != "[":
            continue  # a remark
        order = _group(group, strict=group.start() > 0)
        if order is None and not orders:
            order = _spaced(text[: group.start("open")], group["body"])
        if order is None:
            continue
        name, args = order
        before = text[: group.start()]
        if not args and not orders and (english := read_order(before)) and len(english) == 1:
            args = english[0][1]  # "Turn on the microwave-1 (toggle_on)"
        orders.append((name, args))
        comment = re.match(r"\s*(?:#|;(?!\s*[A-Za-z_]+\()|//|--|[–—])", text[group.end() :])
        if comment:
            break
    if orders:
        return orders
    plain = _plain(text)
    return [plain] if plain else []


def in_prose(text: str) -> list[Order]:
    """Return the actions in running text; used as a last resort.

    They must be written like calls with a numbered object, such as `mug-1`.
    """
    calls = (_group(group, strict=True) for group in _GROUP.finditer(text))
    return [o for o in calls if o is not None and any(map(INSTANCE.fullmatch, o[1]))]


def _spaced(before: str, body: str) -> Order | None:
    words = before.split()
    args = _arguments(body)
    alike = args and all(map(INSTANCE.fullmatch, args)) and INSTANCE.search(before) is None
    if not alike or not 0 < len(words) <= 3 or not is_verb(words[0]):
        return None
    return " ".join(words), args


def _group(group: re.Match[str], strict: bool) -> Order | None:
    name, body = (group["name"] or ""), group["body"].strip()
    if name and not name.endswith(" "):
        name = name.split(".")[-1]
        if group["open"] == "[" and INSTANCE.search(body) is None:
            return None
        return (name, _arguments(body)) if _is_name(name, strict) else None
    if name and _is_name(name.strip(), True) and not _is_name(_first(body), True):
        if "_" in name or split_name(name)[1:]:
            return name.strip(), _arguments(body)
        return None
    first = _first(body)
    if not first or (INSTANCE.fullmatch(first) and not _is_name(first, True)):
        return None
    if "," in body:
        head, _, rest = body.partition(",")
        words = head.strip().strip("\"'<>").split()
        if len(words) > 1 and ("_" in words[0] or not is_verb(words[0])):
            if "_" not in words[0]:
                return None
            return words[0], (*_arguments(" ".join(words[1:])), *_arguments(rest))
        if not words or not _is_name(" ".join(words), strict):
            return None
        return " ".join(words), _arguments(rest)
    if not _is_name(first, True):
        return None
    if "_" not in first and len(split_name(first)) == 1:
        orders = read_order(body)
        return orders[0] if len(orders) == 1 and (orders[0][1] or not strict) else None
    words = [w.strip("\"'<>") for w in body.split()[1:]]
    return first, tuple(w for w in words if w and w.lower() not in PREPOSITIONS and w[0] != "?")


def _first(body: str) -> str:
    words = re.split(r"[\s,]+", body.strip().strip("\"'<>"), maxsplit=1)
    return words[0].strip("\"'<>:") if words else ""


def _is_name(name: str, strict: bool) -> bool:
    words = split_name(name)
    if not words:
        return False
    return is_verb(words[0]) or (not strict and re.fullmatch(r"[A-Za-z][\w -]*", name) is not None)


def _plain(text: str) -> Order | None:
    match = _PLAIN.match(text)
    if match is None:
        return None
    name = match["name"]
    words = split_name(name)
    compound = len(words) > 1 and (
        "_" in name or "-" in name or re.match(r"[A-Z]?[a-z]+[A-Z]", name) is not None
    )
    if not is_verb(words[0]) or not (compound or (match["colon"] and match["colon"] != "-")):
        return None
    if not compound and INSTANCE.search(text) is None:
        return None
    rest = _COMMENT.sub("", " " + text[match.end() :])
    if len(rest.split()) > 6 and INSTANCE.search(rest) is None:
        return None
    return name, _arguments(rest)


def _arguments(text: str) -> tuple[str, ...]:
    text = text.strip()
    if "," not in text:
        tokens = text.split()
        alone = len(tokens) > 1 and all(re.fullmatch(r"\W*[\w#|-]*\W*", t) for t in tokens)
        if "=" not in text and alone and "?" not in text:
            return noun_phrases(text)
    args = []
    for written in text.split(","):
        args.append(_argument(re.sub(r"^\s*[A-Za-z_]\w*\s*(?:=|:)\s*", "", written.strip(" {}"))))
    return tuple(a for a in args if a)


_SMALL = re.compile(r"^(?:(?:the|an?|on|in|to|into|onto|from)\s+)+", re.IGNORECASE)


def _argument(text: str) -> str:
    name = _SMALL.sub("", text.strip("\"'<>[]{}().:;! "))
    return "" if name.startswith("?") or name.lower() in {"none", "null"} else name


def _virtual(text: str) -> Order | None:
    match = _VIRTUAL.match(text.strip())
    if match is None:
        return None
    args = [f"{n}-{i}" if i else n for n, i in _ARGUMENT.findall(match["args"])]
    return match["name"], tuple(args)


def _row(text: str) -> list[Order]:
    cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
    cells = [c for c in cells if re.search(r"[^\W\d_]", c)]
    for cell in cells:
        if (order := at_start(cell)) is not None and (order[1] or "(" in cell):
            return [order]
    if not cells or not _is_name(cells[0], True):
        return []
    args = [a for cell in cells[1:3] if len(cell.split()) < 4 for a in _arguments(cell)]
    if args:
        return [(cells[0], tuple(args))]
    return read_order(cells[0])


# JSON ---------------------------------------------------------------------------------------


def from_json(text: str) -> list[tuple[Order, str]]:
    """Return the actions, and their texts, in the last JSON value that contains actions.

    Consecutive values with one action each count as one value.
    """
    actions: list[tuple[Order, str]] = []
    pieces = False
    for value in json_values(text):
        orders = [(order, f"{order[0]}({', '.join(order[1])})") for order in _value(value)]
        if not orders:
            continue
        # Consecutive single objects form one plan; among several lists, the last one counts.
        single = isinstance(value, dict) and not any(str(k).lower() in _LIST_KEYS for k in value)
        single = single or (isinstance(value, list) and len(orders) == 1)
        if not (single and pieces):
            actions = []
        actions += orders
        pieces = single
    return actions


def _value(value: Any) -> Iterator[Order]:
    if isinstance(value, dict):
        value = {str(k).lower().replace(" ", "_"): v for k, v in value.items()}
        lists = [value[k] for k in _LIST_KEYS if isinstance(value.get(k), list)]
        if lists:
            yield from _value(lists[-1])
        elif (order := _dictionary(value)) is not None:
            yield order
    elif isinstance(value, list):
        names = [v for v in value if isinstance(v, str)]
        if len(names) == len(value) and _is_call(names):
            yield names[0], tuple(names[1:])
            return
        for entry in value:
            if isinstance(entry, str):
                yield from in_line(entry) or read_order(entry)
            elif isinstance(entry, dict) and (order := _dictionary(entry)) is not None:
                yield order
            elif isinstance(entry, list) and all(isinstance(v, str) for v in entry):
                if _is_call(entry):
                    yield entry[0], tuple(entry[1:])
                elif len(entry) == 1:
                    yield from in_line(entry[0])


def _is_call(names: list[str]) -> bool:
    return (
        1 < len(names) < 5
        and re.fullmatch(r"[\w-]+(?: \w+)?", names[0]) is not None
        and _is_name(names[0], True)
        and not any(_is_name(n, True) and ("_" in n or "(" in n) for n in names[1:])
        and INSTANCE.search(names[0]) is None
    )


def _dictionary(value: dict[str, Any]) -> Order | None:
    name = next((value[k] for k in _NAME_KEYS if isinstance(value.get(k), str)), None)
    if name is None:
        if len(value) == 1 and _is_name(key := next(iter(value)), True):
            return key, _values(value[key])
        return None
    rest = {k: v for k, v in value.items() if v is not name and k.lower() not in _EXPLAINING}
    chosen = next((rest[k] for k in _ARG_KEYS if k in rest and len(rest) == 1), rest)
    if isinstance(chosen, dict) and any(k in rest for k in _ARG_KEYS[:5]):
        chosen = next(rest[k] for k in _ARG_KEYS[:5] if k in rest)
    args = _values(chosen)
    if not args and re.search(r"[( ]", name):
        orders = in_line(name) or read_order(name)
        return orders[0] if orders else None
    return name, args


def _values(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return _arguments(value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return tuple(a for v in value if isinstance(v, str) for a in _arguments(v))
    return ()
