"""Parser of atomic actions in a block or a whole plan."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hvr.errors import PddlSyntaxError
from hvr.pddl.plan import read_plan
from hvr.policies.llm.answers.forms import (
    at_start,
    from_json,
    in_line,
    in_prose,
    is_whole,
    unlabelled,
)
from hvr.policies.llm.answers.text import (
    INSTANCE,
    Line,
    Order,
    clean,
    lines,
    read_order,
    starts_with_verb,
)
from hvr.validation.extraction import last_of, plans_in
from hvr.validation.extraction.lines import KnownSymbols
from hvr.validation.sequences import action_of


@dataclass(frozen=True)
class ActionText:
    """An action as written.

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
    """The actions found in an answer.

    Args:
        unread: Unreadable lines in places where actions are expected.
        note: Remark on the extraction and ignored parts; empty for the usual format.
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
"""Headings that cover a single line; the plan continues after it."""


@dataclass
class _Block:
    """Lines that may be a plan; `headed` if a heading announced them as one."""

    headed: bool
    lines: list[Line] = field(default_factory=list)
    has_actions: bool = False


def read_actions(text: str) -> Actions:
    """Return the actions of an answer.

    Accepted forms are `(a, b)`, `a(b)`, `(a b)`, `a b`, English imperatives, tables and JSON, with
    any numbering and with or without code fences, comments and chat. Text under `Description:` is
    ignored. A corrected version of a plan replaces the earlier one.
    """
    text = _YAML.sub(r"- \1(\2)", clean(text))
    orders = from_json(text)
    if orders:
        return Actions(tuple(ActionText(*order, shown) for order, shown in orders))
    blocks = _blocks(lines(text))
    ranked = [b for b in reversed(blocks) if b.headed] + [b for b in blocks[::-1] if not b.headed]
    unread: tuple[str, ...] = ()
    # Loose sentences count only if no block has anything clearer, since most of them are chat.
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
    """Return whether a line heads a plan, unlike a step such as `Action: pick_up mug-1`."""
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
# The parser of English treats `a` as an article and rejects names that are not household verbs.
# Actions that match the domain exactly are therefore marked before the answer is read. A plan that
# is exact throughout is also read by `hvr.validation.extraction`, in the same way as for rewards,
# `hvr judge` and `hvr validate --extract`.

ACTION_MARK = "do_"
"""Prefix that turns any action name into a verb."""

NO_OBJECT = "nothing-0"
"""Placeholder argument of an action without arguments."""

_CALL = re.compile(r"(?P<before>[\w-]+)?\((?P<body>[^()\n]{0,500})\)")


def read_exact_actions(
    text: str, arities: Mapping[str, int], predicates: Collection[str], objects: Collection[str]
) -> Actions:
    """Return the actions of an answer, with a note if its format is unusual.

    The parser of English takes precedence unless it finds only part of an exactly written plan.
    Facts of the `predicates` are not steps.
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
    """Return an answer whose exact actions (by `arities`) are marked for the parser of English."""

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
    """Restore the names of marked actions."""
    return Actions(
        tuple(
            ActionText(_plain(a.name), tuple(x for x in a.args if x != NO_OBJECT), _plain(a.line))
            for a in read.actions
        ),
        tuple(map(_plain, read.unread)),
    )


def _plain(text: str) -> str:
    return text.replace(f", {NO_OBJECT}", "").replace(ACTION_MARK, "")
