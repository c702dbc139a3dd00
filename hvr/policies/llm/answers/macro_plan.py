"""Reader of macro plans: numbered lists with a sentence for each macro action."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from hvr.policies.llm.answers.text import Line, clean, json_values, lines
from hvr.policies.llm.answers.words import starts_with_verb, without_leading

_LONGEST = 200
"""Characters of a macro action that are read; its name stands in every later prompt."""

_KEYS = ("macro_plan", "macro_actions", "plan", "steps", "actions")
_STEP_KEYS = ("macro_action", "action", "step", "name", "description", "task", "text")
_PLAN = re.compile(
    r"(?:[\w ']{0,40}\b)?(?:macro[ -]?(?:plan|actions?)|plan|steps|answer)\b[^:.]{0,60}:",
    re.IGNORECASE,
)
_AGAIN = re.compile(
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
    """Return the macro actions of an answer, one phrase each, in order.

    Numbers, bullets, `Step 1:`, bold type, code fences and JSON are understood. Nested items
    explain the step above them and are left out, as is chat around the list. When a later plan is
    headed as corrected or final, the last one counts. An answer in one paragraph ("First, …,
    then …") is split.

    Args:
        text: the answer.
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
        if isinstance(phrase, str) and (step := _step(_bare(phrase))):
            steps.append(step)
    return steps


def _bare(entry: str) -> str:
    return next((line.text for line in lines(entry)), "")


def _from_list(answer_lines: Sequence[Line]) -> list[str]:
    """Return the outermost items of the last list, only the numbered ones if there are any."""
    plans: list[list[Line]] = [[]]
    ended = False
    for line in answer_lines:
        if not line.listed:
            if _END.match(line.text):
                ended = True
            elif _PLAN.match(line.text) or (line.heading and _AGAIN.search(line.text)):
                ended = False
                if plans[-1] and _AGAIN.search(line.text):
                    plans.append([])
        elif not ended:
            plans[-1].append(line)
    chosen = next((plan for plan in reversed(plans) if plan), [])
    if any(line.number is not None for line in chosen):
        chosen = [line for line in chosen if line.number is not None]
    if not chosen:
        return []
    outermost = min(line.indent for line in chosen)
    # A space more or less is carelessness, not nesting.
    steps = [step for line in chosen if line.indent <= outermost + 1 and (step := _step(line.text))]
    if len(steps) == 1 and len(chosen) > 2:
        return [step for line in chosen if (step := _step(line.text))]
    return steps


def _from_plain_lines(answer_lines: Sequence[Line]) -> list[str]:
    """Return the lines that are orders, without any list markers."""
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
    """Return a step without its colon and explanation; empty when the text is no step."""
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
