"""Read the output of planners."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NoReturn, TypeAlias

from hvr.errors import PddlSyntaxError
from hvr.pddl import Diagnostic, Location
from hvr.pddl.plan import Step, read_plan
from hvr.pddl.reader import PddlTextSyntaxError
from hvr.validation.extraction import Candidate, extract
from hvr.validation.extraction.answers import NumberedLines, is_broken, read_answer, unparsed_line
from hvr.validation.extraction.lines import (
    CALL,
    NAME,
    WAITING,
    KnownSymbols,
    has_content,
    step_reader,
    steps_in,
)

_WORDS = re.compile(rf"\s*(?:step\s+)?(\d+)\s*:\s*({NAME}(?:[ \t]+[^\s();:,]+)*)\s*", re.IGNORECASE)
_FIRST_NAME = re.compile(r"[\s(]*([^\s(),]*)")

_FD_STEP = re.compile(r"([^\s();:,\[\]{}`\"]+(?: [^\s()]+)*) \(\d+\)\s*")
_FD_END = re.compile(r"(?:\[t=[^\]]*\] )?Plan length: (\d+) step\(s\)\.?\s*")
_FF_BEGIN = re.compile(r"ff: found legal plan as follows|step\s+0: ", re.IGNORECASE)
_FF_EMPTY = re.compile(r"ff: goal can be simplified to TRUE\b.*", re.IGNORECASE)
_LPG_BEGIN = re.compile(r"\s*Time: \(ACTION\) \[action Duration; action Cost\]\s*")
_ENHSP_BEGIN = re.compile(r"\s*Found Plan:\s*")
# It often follows the last step of the search: "b (2.000 | 9.002);;;; Solution Found".
_POPF_BEGIN = re.compile(
    r"[^;]*+;++\s*+(?:Solution Found|Plan found with metric .*)\s*", re.IGNORECASE
)
_ARIES_BEGIN = re.compile(r"\*+ SOLUTION FOUND \*+\s*")
_UNIFIED_BEGIN = re.compile(r"\s*(?:plan: )?(?:Sequential|TimeTriggered)Plan:\s*")
# Python's representation of unified-planning's plans, alone or inside results.
_SHOWN_STEPS = re.compile(rf"{CALL}(?:, |(?=\]))")
_SHOWN_NUMBER = r"Fraction\((\d+), (\d+)\)"
_SHOWN_TIMED = re.compile(rf"\({_SHOWN_NUMBER}, {CALL}, (?:None|{_SHOWN_NUMBER})\)(?:, |(?=\]))")
_SHOWN = re.compile(r"(?<![\w.])(?P<kind>Sequential|TimeTriggered)Plan\(\[")
_PARTIAL = re.compile(
    r"^[^\S\r\n]*+PartialOrderPlan[:(]|(?<=plan=)PartialOrderPlan\(", re.MULTILINE
)
_COSTS = re.compile(
    r"(?:\bPlan cost: |^METRIC_VALUE = |^Metric \(Search\): ?)([0-9]+(?:\.[0-9]+)?)\s*$"
)
_LINE_END = re.compile(r"\r\n|\r|\n")
_TEXT_MOST = 20_000_000

_Steps: TypeAlias = list[tuple[int, str]]
_UNREAD = (0, "")
"""Marks a plan whose steps cannot be read completely."""


def candidates(text: str, known: KnownSymbols, *, unmarked: bool = False) -> list[Candidate]:
    """Return the plans in the text. Other steps beside a marked plan become `stray` candidates.

    Text of more than _TEXT_MOST characters gives no plan.

    Args:
        unmarked: Whether to accept plans that are not marked as plans, as in a model's answer.

    Raises:
        PddlSyntaxError: The text contains a partially ordered plan.
    """
    if len(text) > _TEXT_MOST:
        return []
    lines = _LINE_END.split(text)
    if "PartialOrderPlan" in text and _PARTIAL.search(text):
        _refuse_partial(text)
    readers = (read for sign, read in _READERS if sign.search(text))
    found = sorted((one for read in readers for one in read(lines)), key=lambda one: one[2])
    if found:
        counted = NumberedLines(lines)
        plans = [
            unparsed_line(at, lines[at - 1], marked=True)
            if steps == [_UNREAD]
            else counted.candidate(name, steps, at, marked=True)
            for name, steps, at in found
        ]
        plans = _with_costs(plans, lines)
        return [*plans, *_beside(plans, lines, known.is_action)]
    numbered = _numbered_words(lines)
    if numbered:
        reader, counted = "numbered steps without parentheses", NumberedLines(lines)
        return [counted.candidate(reader, run, run[0][0], marked=True) for run in numbered]
    return read_answer(text, lines, known, unmarked=unmarked)


def _refuse_partial(text: str) -> NoReturn:
    match = _PARTIAL.search(text)
    assert match is not None
    place = Location("<plan>", len(_LINE_END.findall(text, 0, match.start())) + 1, 1)
    message = "partially ordered plans are not supported: hvr judges sequences and timed plans"
    expected = "a sequence, as from plan.convert_to(PlanKind.SEQUENTIAL_PLAN, problem)"
    raise PddlTextSyntaxError(Diagnostic(place, message, expected=expected))


def _with_costs(plans: Sequence[Candidate], lines: Sequence[str]) -> list[Candidate]:
    result: list[Candidate] = []
    begins = [plan.steps[0][0] if plan.steps else plan.first for plan in plans]
    for plan, begin, end in zip(plans, begins, [*begins[1:], len(lines) + 1], strict=True):
        after = (_COSTS.search(line) for line in lines[begin - 1 : end - 1])
        match = next(filter(None, after), None)
        result.append(plan if match is None else plan.replace(cost=Fraction(match[1])))
    return result


def _beside(
    plans: Sequence[Candidate], lines: Sequence[str], is_step: Callable[[str], bool]
) -> list[Candidate]:
    taken = {number for plan in plans for number, _ in plan.steps}
    read = step_reader(lines)
    runs: list[_Steps] = []
    unparsed: list[Candidate] = []
    in_run = False
    for number, line in enumerate(lines, 1):
        if not has_content(line):
            continue
        step = None if number in taken else read(line)
        name = _FIRST_NAME.match(step.partition(": ")[2] or step) if step else None
        if step and name and is_step(name[1]):
            if not in_run:
                runs.append([])
            runs[-1].append((number, step))
            in_run = True
            continue
        in_run = False
        if step is None and number not in taken and is_broken(line, is_step):
            unparsed.append(unparsed_line(number, line, marked=True, stray=True))
    strays = [
        Candidate("steps outside the plan", tuple(run), run[0][0], 0, plans[0].marked, stray=True)
        for run in runs
    ]
    return [*strays, *unparsed]


# Planners -------------------------------------------------------------------------------------

_Found: TypeAlias = Iterator[tuple[str, _Steps, int]]


def _fast_downward(lines: Sequence[str]) -> _Found:
    for end, line in enumerate(lines):
        match = _FD_END.fullmatch(line)
        if match is None:
            continue
        steps: _Steps = []
        for index in range(end - 1, end - 1 - int(match[1][:9]), -1):
            step = _FD_STEP.fullmatch(lines[index]) if index >= 0 else None
            if step is None:
                break
            steps.append((index + 1, f"({step[1]})"))
        if len(steps) == int(match[1][:9]):
            yield "output of Fast Downward", steps[::-1], end + 1


def _ff(lines: Sequence[str]) -> _Found:
    """Read the steps from "step    0: MOVE A B" up to the first line without a number."""
    index = 0
    while index < len(lines):
        begins = _FF_BEGIN.match(lines[index].lstrip())
        index += 1
        if begins is None:
            if _FF_EMPTY.fullmatch(lines[index - 1].strip()):
                yield "output of FF", [], index
            continue
        if "found" not in begins.group().lower():
            index -= 1
        first, steps = index + 1, _Steps()
        while index < len(lines):
            match = _WORDS.fullmatch(lines[index])
            if match is None and (lines[index].strip() or steps):
                break
            index += 1
            if match is not None:
                whole = int(match[1][:9]) == len(steps)
                steps.append((index, f"({match[2]})") if whole else _UNREAD)
        if _UNREAD in steps:
            steps = [_UNREAD]
        if steps:
            yield "output of FF", steps, first
        else:
            index += 1


def _after(begin: re.Pattern[str], name: str) -> Callable[[Sequence[str]], _Found]:
    """Return a reader, called `name`, of the steps after each line that matches `begin`."""

    def read(lines: Sequence[str]) -> _Found:
        index = 0
        while index < len(lines):
            begins = begin.fullmatch(lines[index])
            index += 1
            if begins is None:
                continue
            first, steps = index, _Steps()
            while index < len(lines) and not begin.fullmatch(lines[index]):
                step = steps_in(lines[index])
                if step is not None:
                    steps.append((index + 1, step))
                elif _ends(lines[index], begun=bool(steps)):
                    break
                index += 1
            yield name, steps, first

    return read


def _ends(line: str, *, begun: bool) -> bool:
    if WAITING.fullmatch(line):
        return False
    return begun if not line.strip() else has_content(line)


_lpg = _after(_LPG_BEGIN, "output of LPG")
_enhsp = _after(_ENHSP_BEGIN, "output of ENHSP")
_aries = _after(_ARIES_BEGIN, "output of Aries")
_unified = _after(_UNIFIED_BEGIN, "output of unified-planning")
_popf = _after(_POPF_BEGIN, "output of OPTIC or POPF")


def _shown(lines: Sequence[str]) -> _Found:
    """Read "SequentialPlan([…])" and "TimeTriggeredPlan([…])", as unified-planning prints them."""
    for number, line in enumerate(lines, 1):
        for begin in _SHOWN.finditer(line):
            timed = begin["kind"] == "TimeTriggered"
            pattern = _SHOWN_TIMED if timed else _SHOWN_STEPS
            steps: list[str] = []
            place = begin.end()
            while (match := pattern.match(line, place)) is not None:
                step = f"({match['name']} {match['args'].replace(',', ' ')})"
                if timed:
                    above, below, above_length, below_length = match.group(1, 2, 5, 6)
                    length = f" [{above_length}/{below_length}]" if above_length else ""
                    step = f"{above}/{below}: {step}{length}"
                steps.append(step)
                place = match.end()
            whole = line.startswith("])", place)
            read = (number, "  ".join(steps)) if whole else _UNREAD
            yield "unified-planning's plans in Python", [read], number
            if not whole:
                break


def _numbered_words(lines: Sequence[str]) -> list[_Steps]:
    """Parse a text of only lines like "0: MOVE A B"; a plan begins where the numbers decrease."""
    runs: list[_Steps] = []
    last = 0
    for number, line in enumerate(lines, 1):
        if not has_content(line):
            continue
        match = _WORDS.fullmatch(line)
        if match is None:
            return []
        if not runs or int(match[1][:9]) < last:
            runs.append([])
        last = int(match[1][:9])
        runs[-1].append((number, f"({match[2]})"))
    return runs


_READERS: tuple[tuple[re.Pattern[str], Callable[[Sequence[str]], _Found]], ...] = (
    (re.compile("Plan length: "), _fast_downward),
    (re.compile("ff: |step", re.IGNORECASE), _ff),
    (re.compile(r"Time: \(ACTION\)"), _lpg),
    (re.compile("Found Plan:"), _enhsp),
    (re.compile(";"), _popf),
    (re.compile("SOLUTION FOUND"), _aries),
    (re.compile("Plan:"), _unified),
    (re.compile(r"Plan\(\["), _shown),
)
"""The readers, each with a pattern that all its planner's outputs contain."""


# Steps --------------------------------------------------------------------------------------------


def read_steps(
    path: Path, known: KnownSymbols, *, lenient: bool = False
) -> tuple[tuple[Step, ...], str]:
    """Return the steps in a file, with a note on how it was read (empty for a plain plan file).

    Raises:
        DataFileError: The file cannot be read.
        PddlSyntaxError: The file contains no plan or several different plans, or a line that may be
            a step cannot be parsed.
    """
    from hvr.pddl.reader import SourceText

    try:
        return read_plan(path, lenient=lenient).steps, ""
    except PddlSyntaxError:
        text = SourceText.read(path, lenient=True).text
        if _is_json(text):
            raise
        plan = extract(text, str(path), known, unmarked=True)
        if plan is None:
            raise
        return read_plan(plan.text, file=str(path)).steps, plan.note


def _is_json(text: str) -> bool:
    from hvr.base.texts import parse_json

    try:
        parse_json(text)
    except ValueError:
        return False
    return True
