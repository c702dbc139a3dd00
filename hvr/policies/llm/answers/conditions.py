"""Parser for conditions of macro actions, which tolerates malformed PDDL literals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeAlias

from hvr.policies.llm.answers.text import (
    INSTANCE,
    Line,
    clean,
    json_values,
    read_line,
    starts_with_verb,
)

# Literals -----------------------------------------------------------------------------------------
# Models write `(not (on mug-1 plate-1))`, `not on(mug-1, plate-1)`, …


@dataclass(frozen=True)
class LiteralText:
    """A literal as the model wrote it.

    Args:
        positive: Whether the literal is not negated.
        text: The literal in PDDL notation, with the names as written.
        words: All words except negations, in lower case. They allow an exact match with the domain,
            in which `a` may be an object and `has` a predicate.
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
    """Return the distinct literals in a list or conjunction, and parts that are not literals."""
    literals: dict[str, LiteralText] = {}
    problems: list[str] = []
    for part, positive in _parts(_tree(text)):
        _read(part, positive, literals, problems, 0)
    return tuple(literals.values()), tuple(dict.fromkeys(problems))


def _tree(text: str) -> list[Node]:
    # A word directly before a parenthesis belongs inside: `on(a b)` becomes `(on a b)`.
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
            # Deeper nesting is flattened, which bounds the recursion over the tree.
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
    parts: list[tuple[list[Node], bool]] = []
    run: list[Node] = []
    positive = True

    def end() -> None:
        nonlocal positive
        if run:
            parts.append((list(run), positive))
            run.clear()
            positive = True

    # Keep a disjunction whole, so that it is reported as a problem.
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
    part: list[Node], positive: bool, into: dict[str, LiteralText], problems: list[str], depth: int
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
    # (mug-1 on plate-1) and (tomato-1 sliced): the predicate is the word that is not an instance
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


# Conditions ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MacroConditions:
    """The conditions of one macro action; `problems` lists the parts that are not literals."""

    precondition: tuple[LiteralText, ...] = ()
    postcondition: tuple[LiteralText, ...] = ()
    problems: tuple[str, ...] = ()


_SIDE = re.compile(
    r"(?<![\w(])(?P<side>:?pre(?:[ _-]?conditions?)?|:?post(?:[ _-]?conditions?)?|:?effects?"
    # Possessive quantifiers, because backtracking over many blanks would take quadratic time.
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
_MAX_JSON_DEPTH = 20
"""Maximum nesting depth up to which JSON values are searched for literals."""

_LISTS = ("macro_actions", "macro_plan", "conditions", "steps", "plan", "actions")


@dataclass
class _Entry:
    number: int | None = None
    pre: list[str] = field(default_factory=list)
    post: list[str] = field(default_factory=list)
    sides: list[str] = field(default_factory=list)


def read_conditions(text: str, count: int) -> tuple[MacroConditions, ...]:
    """Return the conditions of `count` macro actions.

    Conditions are assigned by number if the numbers are consistent, otherwise by order. Missing
    conditions are empty. Accepted forms are `(and …)`, `(not (x a))`, `not x(a)`, `x(a, b)`, `(x,
    a, b)`, `x a b` and JSON. Parts with `or`, `when` or a quantifier are reported as problems.
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


def says_nothing(text: str) -> bool:
    """Return whether text declares that there are no conditions, as in `Preconditions: none`."""
    lines = (_SIDE.sub("", line).strip(" \t.*-") for line in text.lower().splitlines())
    return any(line and line in _NOTHING for line in lines)


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
            # A repeated side, or a precondition after a postcondition, starts a new macro action.
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
    # The first piece is the text before any label; the others are sides and their texts.
    pattern = _PDDL_SIDE if ":precondition" in text.lower() or ":effect" in text.lower() else _SIDE
    position, name = 0, ""
    for label in pattern.finditer(text):
        yield name, text[position : label.start()].strip(" ;,.-–—|:")
        side = label["side"].lower().lstrip(":")
        name = "pre" if side.startswith(("pre", "req", "before")) else "post"
        position = label.end()
    yield name, text[position:].strip(" ;.|:")


def _begins(line: Line, head: str, side: str, labelled: bool) -> bool:
    if not head or _LITERAL.match(head):
        return False
    if line.number is not None:
        return labelled or not side or starts_with_verb(head) or not _is_bare_literal(head)
    if line.heading or labelled:
        return bool(re.search(r"[^\W\d_]{3}", head)) and not _is_bare_literal(head)
    return False


def _is_list(text: str) -> bool:
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
    if depth > _MAX_JSON_DEPTH:
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
