"""Normalisation of answers: characters, thoughts, Markdown, JSON and English imperatives."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hvr.knowledge.wording import load_action_annotations, load_wording

# Text ---------------------------------------------------------------------------------------------

MAX_ANSWER_CHARACTERS = 200_000
"""Maximum number of characters in an answer including its thoughts."""

MAX_READ_CHARACTERS = 20_000
"""Maximum number of characters in an answer without its thoughts; real answers are shorter."""

MAX_LINE_CHARACTERS = 2_000
"""Maximum number of characters in a line."""

MAX_ANSWER_LINES = 4_000
"""Maximum number of lines."""

_CHARACTERS = str.maketrans(
    "\u20e3‘’‚‛′“”„«»‐‑−、。【】「」\t\x00\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029",
    ')\'\'\'\'\'"""""---,.[]""  \n\n\n\n\n\n\n\n',
    "\u200b\u200c\u200d\u2060\ufeff\u00ad\ufe0f",
) | dict.fromkeys(map(ord, "→⇒➜➔➡⟶▶"), "->")
_THOUGHT = re.compile(r"<(/?)(?:think|thinking|thought|reasoning|scratchpad)>", re.IGNORECASE)
_TURN = re.compile(
    r"^ {0,9}(?:<\|?(?:user|human|im_start|end|eot_id|im_end|endoftext|start_header_id)"
    r"[^>\n]{0,40}>"
    r"|#{2,} *(?:instruction|user|human|question|input)\b[^\n]{0,80}$"
    r"|(?:user|human) *:)",
    re.IGNORECASE | re.MULTILINE,
)
# Shorten long runs of blanks: patterns that retry from each blank take quadratic time.
_WIDE = re.compile(r" {20,}")
_BLANK = re.compile(r"^\s*$")
_MARKER = re.compile(
    r"""\s*(?:
        (?P<number>\(?\[?(?:step|action|task|macro\s?action|ma|aa)?\s?\#?
            (?P<digits>\d{1,3})(?:\.0*)?\s?[.):\]]+(?!\d))
      | (?P<named>(?:step|action|macro\s?action)\s?\#?(?P<named_digits>\d{1,3})\s+-+\s)
      | (?P<dash>(?P<dash_digits>\d{1,3})\s+-+(?!>)\s?)
      | (?P<bare>(?P<bare_digits>\d{1,3})\s+(?=\(|[a-z]+_))
      | (?P<letter>[a-z][.)]\s)
      | (?P<bullet>[-*+•‣▪◦·●○■□✓✔–—>]+(?=\s)|[•‣▪◦·●○■✓✔])
      | (?P<box>\[[ xX]?\](?=\s))
    )\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_DIGITS = ("digits", "named_digits", "dash_digits", "bare_digits")
_FENCED = re.compile(r"^\s*(?:`{3,}|~{3,})\s*[\w+-]*\s*$")


@dataclass(frozen=True)
class Line:
    """A line of an answer.

    Args:
        number: Number of a numbered list item; otherwise None.
        listed: Whether the line is a list item.
        indent: Number of leading spaces.
        heading: Whether the line starts with `#`, is entirely bold, or ends with a colon.
        fenced: Whether the line is inside a code fence.
    """

    text: str
    number: int | None = None
    listed: bool = False
    indent: int = 0
    heading: bool = False
    fenced: bool = False


def clean(text: str) -> str:
    """Normalise characters and line endings, and remove the model's thoughts and invented turns.

    A thought that is not closed extends to the end of the text. The answer ends where the model
    begins to write the user's next message, or at the limits of this module.
    """
    text = text[:MAX_ANSWER_CHARACTERS].replace("\r\n", "\n").replace("\r", "\n")
    # Normalisation expands some characters to a dozen others.
    text = unicodedata.normalize("NFKC", text)[:MAX_ANSWER_CHARACTERS].translate(_CHARACTERS)
    text = _WIDE.sub(" " * 20, re.sub(r"(?<=[A-Za-z])[–—](?=\d)", "-", text))
    text = _without_thoughts(text)[:MAX_READ_CHARACTERS]
    text = "\n".join(text.split("\n", MAX_ANSWER_LINES)[:MAX_ANSWER_LINES])
    cut = next((m for m in _TURN.finditer(text) if text[: m.start()].strip()), None)
    return text[: cut.start()] if cut else text


def _without_thoughts(text: str) -> str:
    kept: list[str] = []
    depth = position = 0
    for mark in _THOUGHT.finditer(text):
        if not mark[1]:
            if not depth:
                kept.append(text[position : mark.start()])
            depth += 1
        elif depth:
            depth -= 1
        else:  # the opening tag was in the prompt
            kept.clear()
        position = mark.end()
    if not depth:
        kept.append(text[position:])
    return "\n".join(kept)


def lines(text: str) -> Iterator[Line]:
    fenced = False
    for full in text.split("\n"):
        raw = full[:MAX_LINE_CHARACTERS].rstrip()
        if _FENCED.match(raw):
            fenced = not fenced
            continue
        if _BLANK.match(raw):
            continue
        line = read_line(raw, fenced)
        if re.search(r"\w", line.text):
            yield line


def read_line(raw: str, fenced: bool = False) -> Line:
    indent = len(raw) - len(raw.lstrip())
    rest = raw.strip()
    # "> 1. …" is a quotation.
    while rest.startswith("> "):
        rest = rest[2:].lstrip()
    heading = bool(re.match(r"#{1,6}\s", rest))
    if heading:
        rest = rest.lstrip("#").strip()
    bold = re.fullmatch(r"(\*\*|__)(?=\S)[^*]+(\*\*|__)\s*:?", rest) is not None
    rest = _without_emphasis(rest)
    number: int | None = None
    listed = False
    for _ in range(3):  # "- 1. Step 1: …"
        marker = _MARKER.match(rest)
        if marker is None or not rest[marker.end() :].strip():
            break
        digits = next((d for d in map(marker.group, _DIGITS) if d), None)
        number = int(digits) if digits and number is None else number
        listed = True
        rest = rest[marker.end() :]
    rest = _without_emphasis(rest).strip()
    heading = heading or rest.endswith(":") or (bold and not listed)
    return Line(rest, number, listed, indent, heading, fenced)


def _without_emphasis(text: str) -> str:
    text = text.replace("\\_", "_").replace("**", "").replace("`", "")
    text = re.sub(r"(?<![\w])__(?=\w)|(?<=\w)__(?![\w])", "", text)
    # "*so*" is emphasis, "* so" a list item.
    text = re.sub(r"(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])", r"\1", text)
    return re.sub(r"(?<![\w])_(?=[A-Za-z])([^_\n]*)(?<=\w)_(?![\w])", r"\1", text)


def json_values(text: str) -> list[Any]:
    """Return the outermost JSON arrays and objects in cleaned text, in order.

    Empty ones and arrays of numbers are left out.
    """
    decoder = json.JSONDecoder()
    values: list[Any] = []
    position = 0
    # Each failed attempt may read to the end of the text, so allow only a few.
    failures = 0
    while failures < 20:
        start = re.compile(r"[\[{]").search(text, position)
        if start is None:
            break
        try:
            value, position = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            failures += 1
            position = start.end()
            continue
        numbers = isinstance(value, list) and all(isinstance(v, int | float) for v in value)
        if value and not numbers:
            values.append(value)
    return values


# Words --------------------------------------------------------------------------------------------


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PARTICLES = words("""up on off away down out to onto into in inside over at toward towards""")
"""Words that belong to the verb before them, such as "up" in "pick up"."""

ARTICLES = words(
    """the a an some your its my this that these those any one robot's available same"""
)
PREPOSITIONS = words(
    """on onto upon in into inside to at toward towards under near by over next beside off up down
    away out -> => within"""
)
ENDS = words(
    """with using for while because since until where which who so before after if when as via from
    without again order make ensure making allowing to_"""
)
"""Words after which no object of the action follows."""

_LEADING = re.compile(
    r"^(?:(?:and|then|next|now|first|firstly|second|third|finally|lastly|afterwards|also|please"
    r"|carefully|gently|so|after that|once there|again)\b,?\s+"
    r"|(?:the\s+)?(?:robot|agent|arm)(?:'s)?\s+(?:should|must|can|will|has to|needs to)?\s*"
    r"|(?:i|you|we)(?:'ll| will| would| should| must| can| need to| have to| then)?\s+"
    r"|(?:i'll|we'll|let's)\s+|use the robot(?: arm)? to\s+)",
    re.IGNORECASE,
)


def without_leading(text: str) -> str:
    """Remove introductory words such as `Then` or `The robot should`."""
    for _ in range(4):
        shorter = _LEADING.sub("", text, count=1)
        if shorter == text:
            break
        text = shorter
    return text


def stem(word: str) -> str:
    """Return the base form of a verb (`pick` for `picking`), or the word if it is not a verb."""
    verbs = load_wording().order_verbs
    word = word.lower().strip("'\".,;:!()[]")
    if word in verbs:
        return word
    for ending, instead in (("ies", "y"), ("es", ""), ("s", ""), ("ing", ""), ("ing", "e")):
        if word.endswith(ending) and (base := word[: -len(ending)] + instead) in verbs:
            return base
    if word.endswith("ing") and len(word) > 5 and word[-4] == word[-5] and word[:-4] in verbs:
        return word[:-4]
    return word


def is_verb(word: str) -> bool:
    """Return whether a word, in any inflection, can begin an imperative."""
    return stem(word) in load_wording().order_verbs


def starts_with_verb(text: str) -> bool:
    words = without_leading(text.strip()).split(maxsplit=1)
    return bool(words) and is_verb(words[0].split("-")[0])


def split_name(name: str) -> list[str]:
    """Return the words of an identifier such as `PickupObject` or `pick_up`, in lower case."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return re.findall(r"[^\W_]+", name.lower())


# Imperatives --------------------------------------------------------------------------------------
# Sentences such as `Pick up the mug-1 and put it on the countertop-1`.

Order = tuple[str, tuple[str, ...]]
"""A verb with its particle, and its noun phrases."""

INSTANCE = re.compile(r"(?<![A-Za-z])[A-Za-z][A-Za-z_]*+[-_ |#]?\d+")
"""Name of an object, such as `mug-1`, `Mug_1` or `Mug 1`."""

_COMMENT = re.compile(r"(?:\s+[-–—]+\s|\s#|\s//|:\s).*$")
_CLAUSES = re.compile(r",?\s+and\s+(?:then\s+)?|,?\s+then\s+|;\s+|\.\s+(?=[A-Z])|,\s+(?=then\b)")
_PRONOUNS = frozenset({"it", "them", "itself"})
_NEAR = frozenset({"next", "near", "beside", "by"})


def read_order(text: str) -> list[Order]:
    """Return the imperatives in a sentence; empty if it does not begin with a verb.

    Phrases with `from` and `with` are ignored, and `it` refers to the first object of the previous
    imperative.
    """
    text = re.sub(r"\([^()]*\)", " ", text)
    text = _COMMENT.sub("", without_leading(text.strip()))
    clauses: list[str] = []
    for part in _CLAUSES.split(text):
        words = without_leading(part.strip()).split(maxsplit=1)
        if words and (is_verb(words[0]) or not clauses):
            clauses.append(" ".join(words))
        elif words and clauses:
            clauses[-1] += f" and {part}"
    orders: list[Order] = []
    for clause in clauses:
        order = _clause(clause, orders[-1][1][:1] if orders else ())
        if order is None:
            break
        orders.append(order)
    return orders


def noun_phrases(text: str) -> tuple[str, ...]:
    """Return the names in an argument such as `mug-1 on the countertop-1`."""
    return _phrases(_words(text))[0]


def _clause(text: str, antecedent: tuple[str, ...]) -> Order | None:
    words = _words(text)
    if not words or not is_verb(words[0]):
        return None
    verb = stem(words[0])
    name = [verb]
    rest = words[1:]
    while rest and rest[0].lower() in PARTICLES:
        name.append(rest.pop(0).lower())
    if verb in load_action_annotations().contents_verbs:
        rest = _poured(rest)
    phrases, preposition = _phrases(rest)
    if len(name) == 1 and preposition and preposition not in _NEAR:
        name.append(preposition)
    args: list[str] = []
    for phrase in phrases:
        args += antecedent if phrase.lower() in _PRONOUNS else (phrase,)
    return " ".join(name), tuple(args)


def _poured(words: list[str]) -> list[str]:
    lower = [w.lower() for w in words]
    return words[lower.index("from") + 1 :] if "from" in lower else words


def _words(text: str) -> list[str]:
    text = text.replace(",", " , ").replace("->", " -> ").replace("=>", " -> ")
    stripped = (w if w == "->" else w.strip("\"'.;:!?<>[]{}*") for w in text.split())
    return [w for w in stripped if w]


def _phrases(words: list[str]) -> tuple[tuple[str, ...], str]:
    phrases: list[str] = []
    current: list[str] = []
    preposition = ""

    def end() -> None:
        if current:
            phrases.append(" ".join(current))
            current.clear()

    for place, word in enumerate(words):
        lower = word.lower()
        following = words[place + 1] if place + 1 < len(words) else ""
        if lower in ENDS or (lower == "to" and is_verb(following)):
            break
        if lower in PREPOSITIONS or (lower == "top" and following.lower() == "of"):
            end()
            preposition = preposition or lower.replace("->", "to").replace("top", "on")
        elif lower in {",", "and", "&"}:
            end()
        elif lower in ARTICLES or (not current and (lower == "of" or word.isdigit())):
            continue
        else:
            current.append(word)
            if INSTANCE.fullmatch(" ".join(current[-2:])) or INSTANCE.fullmatch(word):
                end()
    end()
    return tuple(phrases), preposition


# Actions on one line ------------------------------------------------------------------------------


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
_REMARK = re.compile(r"(?:\s*#|\s*;|\s*//|\s+--+\s|\s+-\s|\s+[–—]\s).*$|\s\[\d+(?:\.\d+)?\]\s*$")
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
    tail = _REMARK.sub("", text[group.end() :]) if group else ""
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
    rest = _REMARK.sub("", " " + text[match.end() :])
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
