"""Parsers of plans: atomic actions, macro plans, batched blocks, and selected objects."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hvr.errors import PddlSyntaxError
from hvr.pddl.plan import read_plan
from hvr.policies.llm.answers.text import (
    INSTANCE,
    Line,
    Order,
    at_start,
    clean,
    from_json,
    in_line,
    in_prose,
    is_whole,
    json_values,
    lines,
    read_order,
    starts_with_verb,
    unlabelled,
    without_leading,
    words,
)
from hvr.validation.extraction import last_of, plans_in
from hvr.validation.extraction.lines import KnownSymbols
from hvr.validation.sequences import action_of

# Actions ------------------------------------------------------------------------------------------
# Parser of atomic actions in a block or a whole plan.


@dataclass(frozen=True)
class ActionText:
    """An action as the model wrote it.

    Args:
        name: Action name, or a verb with its particle.
        args: Object names or noun phrases.
        line: The line of the answer that contains the action.
    """

    name: str
    args: tuple[str, ...]
    line: str = ""

    def __str__(self) -> str:
        return f"({', '.join((self.name, *self.args))})"


@dataclass(frozen=True)
class Actions:
    """The actions in an answer.

    Args:
        unread: Lines that could not be read although actions are expected there.
        note: How the actions were found and what was ignored; empty for the usual format.
    """

    actions: tuple[ActionText, ...]
    unread: tuple[str, ...] = ()
    note: str = ""


_SECTION = re.compile(
    r"(?P<lead>[\w ,'/-]{0,60}?)\b(?P<head>(?:atomic[ _-])?actions?|(?:e-?)?plan|sequence|steps"
    r"|(?:aa-?)?block|list)\b(?P<tail>[\w ,()'-]{0,50}):\s*(?P<rest>.*)",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\W*(?:verbal )?(?P<head>descriptions?|explanations?|notes?|reasoning|thoughts?|summary"
    r"|observation"
    r"|rationale|assumptions?|considerations|result|goal|preconditions?|postconditions?|history"
    r"|objects?|analysis|state|comments?|remarks?|why|error|feedback|problem)\b"
    r"[\w ,()-]{0,40}(?::\s*(?P<rest>.*)|$)",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"\b(?:correct(?:ed|ion|ions)|revised|updated|final|improved|fixed|rewritten|modified)\b",
    re.IGNORECASE,
)
_PART = re.compile(r"\b(?:macro|sub-?task|part|phase|stage)\b|\b(?:step|ma) ?\d", re.IGNORECASE)
_YAML = re.compile(
    r"^ {0,9}-? {0,9}(?:name|action) ?: {0,3}([A-Za-z_]{1,40}) ?\n"
    r" {0,9}(?:args|arguments|objects|parameters) ?: {0,3}"
    r"\[?([^\[\]\n]{0,200})\]? ?$",
    re.IGNORECASE | re.MULTILINE,
)
_FINISHED = re.compile(
    r"\W*(?:done|end|stop|finish(?:ed)?|complete(?:d)?|none|n/a|end of (?:plan|actions|block)"
    r"|task (?:is )?complete[d]?|no (?:further |more )?actions?.{0,30})\W*",
    re.IGNORECASE,
)


_ASIDES = frozenset({"thought", "thoughts", "observation", "comment", "remark"})
"""Headings that apply to a single line; the plan continues after it."""


@dataclass
class _Block:
    headed: bool
    lines: list[Line] = field(default_factory=list)
    has_actions: bool = False


def read_actions(text: str) -> Actions:
    """Return the actions in an answer.

    Accepted forms are `(a, b)`, `a(b)`, `(a b)`, `a b`, English imperatives, tables and JSON, with
    any numbering and with or without code fences, comments and chat. Text under `Description:` is
    ignored. A corrected plan replaces the plan before it.
    """
    text = _YAML.sub(r"- \1(\2)", clean(text))
    orders = from_json(text)
    if orders:
        return Actions(tuple(ActionText(*order, shown) for order, shown in orders))
    blocks = _blocks(lines(text))
    ranked = [b for b in reversed(blocks) if b.headed] + [b for b in blocks[::-1] if not b.headed]
    unread: tuple[str, ...] = ()
    # Loose sentences count only if no block contains anything clearer, since most of them are chat.
    for alone in (False, True):
        for block in ranked:
            result = _read(block, alone)
            if result.actions:
                return result
            unread = unread or result.unread
    return Actions((), unread)


# Finding actions ----------------------------------------------------------------------------


def _blocks(answer_lines: Iterable[Line]) -> list[_Block]:
    block = _Block(headed=False)
    blocks = [block]
    skipping = part = False
    for line in answer_lines:
        is_action = _is_action(line)
        section = None if is_action else _SECTION.fullmatch(line.text)
        if section is not None and _announces(line, section):
            # A heading inside a multi-part plan continues it, unless it announces a correction.
            goes_on = part and block.has_actions and not _AGAIN.search(line.text)
            if not goes_on:
                block = _Block(headed=True)
                blocks.append(block)
            skipping = part = False
            if section["rest"]:
                _add(block, Line(section["rest"], listed=True))
            continue
        other = None if is_action or line.listed else _OTHER.fullmatch(line.text)
        if other is not None:
            skipping = skipping or other["head"].lower() not in _ASIDES
            continue
        if not is_action and line.heading and _AGAIN.search(line.text):
            block = _Block(headed=True)
            blocks.append(block)
            skipping = False
            continue
        if not is_action and (line.heading if line.listed else _PART.search(line.text)):
            part = True
        # The first action ends an explanation that precedes the plan.
        if skipping and is_action and not block.has_actions:
            skipping = False
        if not skipping:
            _add(block, line)
    return blocks


def _add(block: _Block, line: Line) -> None:
    block.lines.append(line)
    block.has_actions = block.has_actions or _is_action(line)


def _announces(line: Line, section: re.Match[str]) -> bool:
    """Return whether a line is the heading of a plan, unlike the step `Action: pick_up mug-1`."""
    rest = section["rest"]
    if section["head"].lower() == "action" and rest:
        return False
    if line.listed:
        return not rest and not starts_with_verb(line.text)
    return not rest or bool(in_line(rest)) or bool(re.match(r"1[.)]", rest))


def _is_action(line: Line) -> bool:
    if line.text.count("|") >= 2:
        return bool(in_line(line.text))
    return at_start(line.text) is not None and (line.listed or is_whole(line.text))


# Reading a block ----------------------------------------------------------------------------


def _read(block: _Block, alone: bool) -> Actions:
    actions: list[ActionText] = []
    unread: list[str] = []
    ended = False
    number = 0
    for place, line in enumerate(block.lines):
        following = block.lines[place + 1] if place + 1 < len(block.lines) else None
        goes_on = not ended or (line.number is not None and line.number == number + 1)
        orders = _orders(line, following, goes_on, alone)
        if orders:
            actions += [ActionText(name, args, line.text) for name, args in orders]
            ended = False
        elif goes_on and _should_be_action(line, following, block.headed, bool(actions)):
            unread.append(line.text)
        elif actions and not line.listed:
            ended = True
        number = line.number if line.number is not None else number
    return Actions(tuple(actions), tuple(unread))


def _orders(line: Line, following: Line | None, goes_on: bool, alone: bool) -> list[Order]:
    text = line.text
    if _FINISHED.fullmatch(text):
        return []
    listed = line.listed or line.fenced or text[:1] in "[(|"
    if listed and not (line.heading and text.endswith(":")) and (orders := in_line(text)):
        return orders
    if _is_action(line):
        return in_line(text)
    if not goes_on or _heads(line, following) or text.endswith(":"):
        return []
    if alone and not line.listed and len(calls := in_prose(text)) > 1:
        return calls
    if line.listed or (alone and _is_short_order(text)):
        return [o for o in read_order(unlabelled(text)) if o[1] or line.listed]
    return []


def _heads(line: Line, following: Line | None) -> bool:
    if following is None or not _is_action(following):
        return False
    restarts = following.number == 1 and line.number is not None
    return restarts or following.indent > line.indent + 1


def _is_short_order(text: str) -> bool:
    words = len(text.split())
    return starts_with_verb(text) and words <= (14 if INSTANCE.search(text) else 7)


def _should_be_action(line: Line, following: Line | None, headed: bool, begun: bool) -> bool:
    if _FINISHED.fullmatch(line.text) or _heads(line, following) or line.text.endswith(":"):
        return False
    if line.listed:
        return (headed or begun) and not _OTHER.fullmatch(line.text)
    return headed and re.match(r"\(?[a-z]+_[a-z_]+\b", line.text) is not None


# Exact actions ------------------------------------------------------------------------------------
# Actions in exact notation: `(stack a b)`, `(charge)`, `fly(plane, x, y)`.
#
# The English parser treats `a` as an article and rejects names that are not household verbs.
# Actions that match the domain exactly are therefore marked before the answer is read. A plan that
# is exact throughout is also read by `hvr.validation.extraction`, just as for rewards, `hvr judge`
# and `hvr validate --extract`.

ACTION_MARK = "do_"
"""Prefix that makes the English parser read an action name as a verb."""

NO_OBJECT = "nothing-0"
"""Placeholder that the English parser reads as the object of an action without arguments."""

_CALL = re.compile(r"(?P<before>[\w-]+)?\((?P<body>[^()\n]{0,500})\)")


def read_exact_actions(
    text: str, arities: Mapping[str, int], predicates: Collection[str], objects: Collection[str]
) -> Actions:
    """Return the actions in an answer to a prompt with known names, and a note on unusual formats.

    The English parser takes precedence, unless it finds only a part of a plan in exact notation.
    Facts with one of the `predicates` are not steps. `arities` gives the number of arguments of
    each action.
    """
    read = unmark_actions(read_actions(mark_actions(text, arities, objects)))
    calls = [(action.name.lower(), tuple(map(str.lower, action.args))) for action in read.actions]

    def exact(name: str, args: Sequence[str]) -> bool:
        return arities.get(name) == len(args) and all(arg in objects for arg in args)

    if not all(exact(*call) for call in calls):
        return read
    try:
        known = KnownSymbols(arities, predicates, objects)
        plans = plans_in(_plain(text), "the answer", known)
        plan = last_of(plans) if plans else None
        steps = [] if plan is None else [*map(action_of, read_plan(plan.text).steps)]
    except PddlSyntaxError:
        return read
    whole = [(step.name, step.args) for step in steps]
    if plan is None or len(whole) <= max(len(calls), 1) or not all(exact(*call) for call in whole):
        return read
    rest = iter(whole)
    if not all(call in rest for call in calls):
        return read
    exact_actions = tuple(ActionText(step.name, step.args, str(step)) for step in steps)
    return Actions(exact_actions, (), plan.note)


def mark_actions(text: str, arities: Mapping[str, int], objects: Container[str]) -> str:
    """Mark the actions in exact notation, so that `read_actions` reads them as actions.

    `arities` gives the number of arguments of each action.
    """

    def plain(match: re.Match[str]) -> str:
        words = [w for w in re.split(r"[\s,]+", match["body"].strip().lower()) if w]
        if match["before"] is not None:
            words = [match["before"].lower(), *words]
        if not words:
            return match[0]
        name, *args = words
        names = (name, name.replace("-", "_"), name.replace("_", "-"))
        known = next((n for n in names if n in arities), None)
        if known is None or arities[known] != len(args) or any(a not in objects for a in args):
            return match[0]
        if [(a.name, list(a.args)) for a in read_actions(match[0]).actions] == [(name, args)]:
            return match[0]
        return f"({', '.join((ACTION_MARK + known, *(args or [NO_OBJECT])))})"

    return _CALL.sub(plain, text)


def unmark_actions(read: Actions) -> Actions:
    return Actions(
        tuple(
            ActionText(_plain(a.name), tuple(x for x in a.args if x != NO_OBJECT), _plain(a.line))
            for a in read.actions
        ),
        tuple(map(_plain, read.unread)),
    )


def _plain(text: str) -> str:
    return text.replace(f", {NO_OBJECT}", "").replace(ACTION_MARK, "")


# Plans --------------------------------------------------------------------------------------------
# Parsers of macro plans, of batched blocks, and of selected objects.

# Macro plans --------------------------------------------------------------------------------------

_LONGEST = 200
"""Maximum number of characters in a macro action's name, which appears in all later prompts."""

_KEYS = ("macro_plan", "macro_actions", "plan", "steps", "actions")
_STEP_KEYS = ("macro_action", "action", "step", "name", "description", "task", "text")
_PLAN = re.compile(
    r"(?:[\w ']{0,40}\b)?(?:macro[ -]?(?:plan|actions?)|plan|steps|answer)\b[^:.]{0,60}:",
    re.IGNORECASE,
)
_AGAIN_plans = re.compile(
    r"\b(?:correct(?:ed|ion)|revised|updated|final|improved|fixed|better|new)\b", re.IGNORECASE
)
_END = re.compile(
    r"(?:\W*(?:notes?|explanations?|reasoning|assumptions?|considerations|rationale|tips?"
    r"|preconditions?|objects?|ingredients|why)\b.{0,60}:)",
    re.IGNORECASE,
)
_IN_ONE_LINE = re.compile(r"^[^\n]{0,80}\b1[.)] [^\n]{1,1000}? 2[.)] [^\n]*$", re.MULTILINE)
_NUMBER = re.compile(r"(?<=\S) (?=\d{1,2}[.)] [A-Z])")
_SENTENCE = re.compile(
    r"\b(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|then|next|after that|afterwards|after this"
    r"|finally|lastly|and then)\b,?\s*",
    re.IGNORECASE,
)


def read_macro_plan(text: str) -> tuple[str, ...]:
    """Return the macro actions in an answer, one phrase each, in order.

    Numbers, bullets, `Step 1:`, bold type, code fences and JSON are accepted. Nested items explain
    the step above them and are ignored, as is chat around the list. A plan with a heading such as
    "corrected" or "final" replaces the plan before it. A single paragraph ("First, …, then …") is
    split into steps.
    """
    text = _IN_ONE_LINE.sub(lambda line: _NUMBER.sub("\n", line[0]), clean(text))
    for value in reversed(json_values(text)):
        if steps := _from_json(value):
            return tuple(steps)
    answer_lines = list(lines(text))
    steps = (
        _from_list(answer_lines) or _from_plain_lines(answer_lines) or _from_paragraph(answer_lines)
    )
    return tuple(steps)


def _from_json(value: Any) -> list[str]:
    if isinstance(value, dict):
        for key in _KEYS:
            if isinstance(value.get(key), list):
                return _from_json(value[key])
        numbered = [v for k, v in value.items() if re.fullmatch(r"(?:step\W?)?\d+", str(k).lower())]
        return _from_json(numbered)
    if not isinstance(value, list):
        return []
    steps = []
    for entry in value:
        phrase = entry
        if isinstance(entry, dict):
            phrase = next((entry[k] for k in _STEP_KEYS if isinstance(entry.get(k), str)), None)
        if isinstance(phrase, str):
            step = _step(next((line.text for line in lines(phrase)), ""))
            steps += [step] if step else []
    return steps


def _from_list(answer_lines: Sequence[Line]) -> list[str]:
    plans: list[list[Line]] = [[]]
    ended = False
    for line in answer_lines:
        if not line.listed:
            if _END.match(line.text):
                ended = True
            elif _PLAN.match(line.text) or (line.heading and _AGAIN_plans.search(line.text)):
                ended = False
                if plans[-1] and _AGAIN_plans.search(line.text):
                    plans.append([])
        elif not ended:
            plans[-1].append(line)
    chosen = next((plan for plan in reversed(plans) if plan), [])
    if any(line.number is not None for line in chosen):
        chosen = [line for line in chosen if line.number is not None]
    if not chosen:
        return []
    outermost = min(line.indent for line in chosen)
    # One extra space is carelessness, not nesting.
    steps = [step for line in chosen if line.indent <= outermost + 1 and (step := _step(line.text))]
    if len(steps) == 1 and len(chosen) > 2:
        return [step for line in chosen if (step := _step(line.text))]
    return steps


def _from_plain_lines(answer_lines: Sequence[Line]) -> list[str]:
    texts = [line.text for line in answer_lines]
    if len(texts) == 1 and len(_SENTENCE.findall(texts[0])) > 1:
        return []
    return [step for text in texts if starts_with_verb(text) and (step := _step(text))]


def _from_paragraph(answer_lines: Sequence[Line]) -> list[str]:
    steps = []
    for line in answer_lines:
        for sentence in re.split(r"(?<=[.!;])\s+", line.text):
            for piece in _SENTENCE.split(sentence):
                part = re.sub(r"[,\s]+and$", "", without_leading(piece.strip(" ,;.")))
                if starts_with_verb(part) and (step := _step(part)):
                    steps.append(step[:1].upper() + step[1:])
    return steps


def _step(text: str) -> str:
    text = text.strip().strip("\"'").strip()[:_LONGEST]
    title, colon, rest = text.partition(":")
    if colon:
        # "Slice the tomato: use the knife" and "Preparation: Slice the tomato"
        rest = rest.strip()
        is_step = starts_with_verb(title) and not re.fullmatch(r"\w+ing", title.strip())
        text = rest if rest and not is_step and starts_with_verb(rest) else title
    text = re.sub(r"\s+[-–—]+\s+.*$", "", text)
    text = re.sub(r"\s*\((?![^()]*-\d)[^()]*\)\s*\.?$", "", text)
    text = text.strip().rstrip(".,;").strip("\"'").strip()
    return text if re.search(r"[^\W\d_]{2}", text) else ""


# Blocks -------------------------------------------------------------------------------------------

_HEADING = re.compile(
    r"^[ \t>#*_\d.)-]{0,12}(?:macro[ _-]?action|macro|block|sub-?task)[ \t*_#:-]{0,6}"
    r"(?P<number>\d{1,3})\b[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_PLAIN = re.compile(r"^[#*_ \t]{0,6}(?P<number>\d{1,3})[.):][ \t*]*(?=[A-Z])[^\n(]*$", re.MULTILINE)


def read_blocks(text: str, count: int) -> tuple[str | None, ...]:
    """Return the part of an answer for each macro action; None if it is missing.

    Headings have the form `Macro action 2: …`; without them, numbered sentences serve as headings.
    If a number occurs twice, the last part counts, since corrections come last.
    """
    text = clean(text)
    headings = list(_HEADING.finditer(text)) or list(_PLAIN.finditer(text))
    parts: list[str | None] = [None] * count
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    for heading, end in zip(headings, ends, strict=bool(headings)):
        number = int(heading["number"])
        if 1 <= number <= count:
            parts[number - 1] = text[heading.end() : end].strip("\n")
    return tuple(parts)


# Objects ------------------------------------------------------------------------------------------

_OBJECTS_HEADING = re.compile(
    r"(?:[\w ,']{0,60}?\b)?(?:objects?|items?|ingredients|tools|answer|list|needed|required"
    r"|utensils|appliances|classes|output|furniture|following)\b[^:.]{0,80}?(?::|\bare\b)\s*(?P<rest>.*)",
    re.IGNORECASE,
)
_OBJECT_KEYS = (
    "objects",
    "items",
    "relevant_objects",
    "needed_objects",
    "required_objects",
    "classes",
)
_NAME_KEYS = ("name", "object", "class", "type", "id", "item")
_EXPLAINED = re.compile(r"\s*(?:\(|\[|\s[-–—]+\s|:\s|\s--|->|=>|#|//|;\s|\s=\s).*$")
_NAME = re.compile(r"[A-Za-z][A-Za-z_]*(?:[ -][A-Za-z_]+){0,2}(?:[-_ |]\d+)?")
_OPENING = re.compile(r"^(?:and|or|the|an?|some|also|optionally|plus|possibly)\s+", re.IGNORECASE)
MAX_NAMES = 100
"""Maximum number of selected names; a kitchen has fewer kinds of objects."""

_CHAT = words(
    """to is are was be will would should you your i i'm we this that these those need needed task
    here sure certainly okay ok yes note please let hope because since if for which it they
    there make makes order can based given first then step help required not none nothing n/a"""
)


def read_objects(text: str) -> tuple[str, ...]:
    """Return the distinct names in an answer as written, in order, at most `MAX_NAMES`.

    Commas, bullets, numbers, JSON, code fences and headings are accepted. Explanations after a dash
    or colon or in parentheses are ignored, as is chat around the list.
    """
    text = clean(text)
    for value in json_values(text):
        names = list(_objects_from_json(value))
        if names:
            return _unique(names)
    return _unique(_from_lines(list(lines(text))))


def _objects_from_json(value: Any, nested: bool = True) -> Iterator[str]:
    if isinstance(value, list):
        for entry in value:
            if isinstance(entry, str):
                yield from _names(entry)
            elif isinstance(entry, dict):
                named = next((entry[k] for k in _NAME_KEYS if isinstance(entry.get(k), str)), None)
                if named is not None:
                    yield from _names(named)
    elif isinstance(value, dict) and nested:
        chosen = [value[k] for k in _OBJECT_KEYS if k in value] or [
            v for v in value.values() if isinstance(v, list)
        ]
        for entry in chosen:
            yield from _objects_from_json(entry, nested=False)


def _from_lines(answer_lines: list[Line]) -> Iterator[str]:
    # running text beside a list is chat
    headed = False
    has_list = any(line.listed for line in answer_lines)
    for line in answer_lines:
        rest = line.text
        heading = _OBJECTS_HEADING.fullmatch(rest)
        if heading is not None and not (line.listed and not _group(rest)):
            headed = True
            rest = heading["rest"]
        elif line.listed and (group := re.fullmatch(r"([\w &/]+):\s+(.*,.*)", rest)):
            rest = group[2]  # "- Cookware: Pan, Pot"
        elif has_list and not line.listed and not line.fenced and not (headed and "," in rest):
            continue
        names = list(_names(rest))
        if names and (line.listed or _is_list(rest, names)):
            yield from names


def _group(text: str) -> bool:
    _, colon, rest = text.partition(":")
    return bool(colon) and (not rest.strip() or "," in rest)


def _is_list(text: str, names: list[str]) -> bool:
    parts = [p for p in re.split(r",|\s+and\s+", re.sub(r"\([^()]*\)", "", text)) if p.strip()]
    return bool(names) and len(names) >= len(parts)


def _names(text: str) -> Iterator[str]:
    text = re.sub(r"\([^()]*\)", "", text)
    for piece in re.split(r"[,;|]|\s+and\s+|\s+&\s+", text):
        part = _bare_object(piece)
        if _NAME.fullmatch(part) and not _CHAT & set(part.lower().split()):
            yield part


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    known: dict[str, str] = {}
    for name in names:
        known.setdefault(re.sub(r"[\s_]+", "", name).lower(), name)
    return tuple(known.values())[:MAX_NAMES]


def _bare_object(piece: str) -> str:
    name = _EXPLAINED.sub("", piece.strip().strip("\"'[]{}<>*").strip())
    name = _OPENING.sub("", _OPENING.sub("", name)).strip(" .!\"'[]{}<>*:")
    return re.sub(r"^\d+\s?x?\s+", "", name)
