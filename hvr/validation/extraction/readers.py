"""How planners and models write plans, one reader for each way."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NoReturn, TypeAlias

from hvr.pddl import Diagnostic, Location
from hvr.pddl.diagnostics import PddlTextSyntaxError
from hvr.validation.extraction import Candidate

_NAME = r"[^\W\d][^\s();:,\[\]{}`\"]*+"
_NUMBER = r"[0-9]+(?:\.[0-9]*)?"
_LIST = r"\(\s*+(?P<list>[^()\s][^()]*)\)"
_CALL = rf"(?P<name>{_NAME})\((?P<args>[^()]*)\)"
# LPG-td prints a surplus `)` behind the durations in its plan files.
_COST = (
    r"(?:\[\s*(?:D:\s*)?(?P<cost>[0-9.]++)(?:\s*[;,]\s*[A-Za-z]+\s*:\s*[0-9.]++)*+\s*\]"
    r"(?P<surplus>\))?)?"
)
_STEP = re.compile(rf"\s*(?:(?P<stamp>{_NUMBER})\s*:\s*)?(?:{_LIST}|{_CALL})\s*{_COST}\s*,?")
_BULLET = re.compile(r"\s*(?:[-*•+]|(?:step\s*)?\d{1,6}[.):]|step\s*\d{1,6})\s+", re.IGNORECASE)
_NUMBERED = re.compile(rf"\s*(?:step\s*)?{_NUMBER}\s*[.:)]\s*\S", re.IGNORECASE)
_HEADLINE = re.compile(r"\s*(?:step\s*)?\d{1,6}\s*[.:)]?\s*", re.IGNORECASE)
_WORDS = re.compile(
    rf"\s*(?:step\s+)?(\d+)\s*:\s*({_NAME}(?:[ \t]+[^\s();:,]+)*)\s*", re.IGNORECASE
)
_BARE = re.compile(rf"\s*({_NAME})(?:[ \t]+[^\s();:,?]+)*\s*")
# What is written like a step and is none: parentheses too many or too few, words between them.
_BROKEN = re.compile(
    rf"\s*(?:[-*•+]\s+)?(?:{_NUMBER}\s*[:.)]\s*)?(?P<name>{_NAME})?\((?P<list>[\w\s,()\[\].'@+-]*)"
)
_FIRST_NAME = re.compile(r"[\s(]*([^\s(),]*)")
_MENTIONED = re.compile(r"[()]|[^\s();:,\[\]{}`\"]++")
_FENCE = re.compile(r"\s*(?:```|~~~)\s*\w*\s*")
# ENHSP's plans say between steps how long nothing is done: "0: -----waiting---- [5.0]", and its
# plan files when they end: "12.0: @PlanEND".
_WAITING = re.compile(
    rf"\s*(?:{_NUMBER}\s*:\s*)?\(?-*\s*waiting\b[\s-]*\)?\s*(?:\[\s*(?P<until>{_NUMBER})\s*\]\s*)?"
    rf"|\s*(?P<end>{_NUMBER})\s*:\s*@PlanEND\s*",
    re.IGNORECASE,
)
# Lines that may stand between the steps of a plan that nothing marks as such.
_BETWEEN = (_HEADLINE, _FENCE, _WAITING)

_FD_STEP = re.compile(r"([^\s();:,\[\]{}`\"]+(?: [^\s()]+)*) \(\d+\)\s*")
_FD_END = re.compile(r"(?:\[t=[^\]]*\] )?Plan length: (\d+) step\(s\)\.?\s*")
_FF_BEGIN = re.compile(r"ff: found legal plan as follows|step\s+0: ", re.IGNORECASE)
_FF_EMPTY = re.compile(r"ff: goal can be simplified to TRUE\b.*", re.IGNORECASE)
_LPG_BEGIN = re.compile(r"\s*Time: \(ACTION\) \[action Duration; action Cost\]\s*")
_ENHSP_BEGIN = re.compile(r"\s*Found Plan:\s*")
# It often stands behind the last step of the search: "b (2.000 | 9.002);;;; Solution Found".
_POPF_BEGIN = re.compile(
    r"[^;]*+;++\s*+(?:Solution Found|Plan found with metric .*)\s*", re.IGNORECASE
)
_ARIES_BEGIN = re.compile(r"\*+ SOLUTION FOUND \*+\s*")
_UNIFIED_BEGIN = re.compile(r"\s*(?:plan: )?(?:Sequential|TimeTriggered)Plan:\s*")
# What Python shows of unified-planning's plans, by themselves or in results.
_SHOWN_STEPS = re.compile(rf"{_CALL}(?:, |(?=\]))")
_SHOWN_NUMBER = r"Fraction\((\d+), (\d+)\)"
_SHOWN_TIMED = re.compile(rf"\({_SHOWN_NUMBER}, {_CALL}, (?:None|{_SHOWN_NUMBER})\)(?:, |(?=\]))")
_SHOWN = re.compile(r"(?<![\w.])(?P<kind>Sequential|TimeTriggered)Plan\(\[")
_PARTIAL = re.compile(r"^\s*PartialOrderPlan[:(]|(?<=plan=)PartialOrderPlan\(", re.MULTILINE)
_COSTS = re.compile(
    r"(?:\bPlan cost: |^METRIC_VALUE = |^Metric \(Search\): ?)([0-9]+(?:\.[0-9]+)?)\s*$"
)
_LINE_END = re.compile(r"\r\n|\r|\n")
_TEXT_MOST = 20_000_000
_LINE_MOST = 200_000
"""A longer line is not looked at for steps, except in what unified-planning shows."""

_Steps: TypeAlias = list[tuple[int, str]]


def candidates(
    text: str,
    actions: Collection[str],
    predicates: Collection[str] = (),
    *,
    asked: bool = False,
) -> list[Candidate]:
    """Return the plans in a text; where it marks some as plans, those and steps beside them.

    Args:
        text: the text.
        actions: the names of actions.
        predicates: Names of predicates, whose facts are no steps.
        asked: whether lines are steps that nothing but an action's name makes such.

    Raises:
        PddlSyntaxError: The text has a partially ordered plan.
    """
    if len(text) > _TEXT_MOST:
        return []
    lines = _LINE_END.split(text)
    if _PARTIAL.search(text):
        _refuse_partial(text)
    readers = (_fast_downward, _ff, _lpg, _enhsp, _popf, _aries, _unified, _shown)
    found = sorted((one for reader in readers for one in reader(lines)), key=lambda one: one[2])
    known = _Known(actions, predicates)
    if found:
        plans = [_candidate(name, steps, lines, first) for name, steps, first in found]
        plans = _with_costs(plans, lines)
        return [*plans, *_beside(plans, lines, known.is_action)]
    structured = _structured(text)
    if structured:
        return structured
    fenced = list(_fenced(lines, actions if asked else ()))
    if fenced:
        plans = [_candidate("a fenced plan", s, lines, f, marked=False) for s, f in fenced]
        return [*plans, *_beside(plans, lines, known.may_be_action)]
    numbered = _numbered_words(lines)
    if numbered is not None:
        return [_candidate("numbered steps without parentheses", numbered, lines, 1)]
    bare = _bare(enumerate(lines, 1), actions) if asked else None
    if bare:
        return [_candidate("steps without parentheses", bare, lines, bare[0][0], marked=False)]
    return _loose(lines, known)


class _Known:
    """What is known of the names that a line may begin with."""

    def __init__(self, actions: Collection[str], predicates: Collection[str]) -> None:
        self.actions = frozenset(map(str.lower, actions))
        self._facts = frozenset(map(str.lower, predicates)) - self.actions

    def is_action(self, name: str) -> bool:
        """Return whether a name is an action, as far as the actions are known."""
        return not self.actions or name.lower() in self.actions

    def may_be_action(self, name: str) -> bool:
        """Return whether a name may be meant as an action."""
        return name[:1] not in ("", ":", "?") and name.lower() not in self._facts


def _refuse_partial(text: str) -> NoReturn:
    match = _PARTIAL.search(text)
    assert match is not None
    place = Location("<plan>", len(_LINE_END.findall(text, 0, match.start())) + 1, 1)
    message = "a partially ordered plan: hvr judges sequences and plans with times"
    expected = "a sequence, such as plan.convert_to(PlanKind.SEQUENTIAL_PLAN, problem) gives"
    raise PddlTextSyntaxError(Diagnostic(place, message, expected=expected))


def _with_costs(plans: Sequence[Candidate], lines: Sequence[str]) -> list[Candidate]:
    """Add the cost that the text has between a plan and the next one."""
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
    """Return the steps that stand beside the plans, in lines of their own."""
    taken = {number for plan in plans for number, _ in plan.steps}
    read = _reader_of_steps(lines)
    runs: list[_Steps] = []
    before = 0
    for number, line in enumerate(lines, 1):
        if number in taken or not _says_something(line):
            continue
        step = read(line)
        name = _FIRST_NAME.match(step.partition(": ")[2] or step) if step else None
        if step is None and _is_broken(line, is_step):
            step, name = "()", None
        elif name is None or not is_step(name[1]):
            continue
        if before and not any(map(_says_something, lines[before : number - 1])):
            runs[-1].append((number, step or "()"))
        else:
            runs.append([(number, step or "()")])
        before = number
    return [
        Candidate("steps beside it", tuple(run), run[0][0], 0, plans[0].marked, stray=True)
        for run in runs
    ]


def _is_broken(line: str, is_step: Callable[[str], bool]) -> bool:
    """Return whether a line that is not a step is written like one."""
    if len(line) > _LINE_MOST:
        return "(" in line
    match = _BROKEN.fullmatch(line.replace("`", "").replace("**", ""))
    if match is None:
        return False
    name = match["name"]
    if name is None:
        first = _FIRST_NAME.match(match["list"])
        name = first[1] if first else ""
    return is_step(name)


def _candidate(
    name: str, steps: _Steps, lines: Sequence[str], first: int, *, marked: bool = True
) -> Candidate:
    taken = {number for number, _ in steps}
    ignored = sum(
        1
        for number, line in enumerate(lines, 1)
        if number not in taken
        and _says_something(line)
        and not _FENCE.fullmatch(line)
        and not _WAITING.fullmatch(line)
    )
    last = steps[-1][0] if steps else first
    return Candidate(name, tuple(steps), first, ignored, marked, _waits_until(lines[last:]))


def _waits_until(lines: Sequence[str]) -> Fraction | None:
    """Return the time at which the last of the waiting ends that lines begin with."""
    until: Fraction | None = None
    for line in lines:
        waiting = _WAITING.fullmatch(line)
        if waiting is None:
            break
        if waiting["until"] or waiting["end"]:
            until = Fraction(waiting["until"] or waiting["end"])
    return until


def _says_something(line: str) -> bool:
    stripped = line.strip()
    return bool(stripped) and not stripped.startswith(";")


# Planners -------------------------------------------------------------------------------------

_Found: TypeAlias = Iterator[tuple[str, _Steps, int]]


def _fast_downward(lines: Sequence[str]) -> _Found:
    """Read what stands before each "Plan length: 4 step(s)."."""
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
            yield "Fast Downward prints them", steps[::-1], end + 1


def _ff(lines: Sequence[str]) -> _Found:
    """Read "step    0: MOVE A B" and the numbered lines below it."""
    index = 0
    while index < len(lines):
        begins = _FF_BEGIN.match(lines[index].lstrip())
        index += 1
        if begins is None:
            if _FF_EMPTY.fullmatch(lines[index - 1].strip()):
                yield "FF prints them", [], index
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
                steps.append((index, f"({match[2]})"))
        if steps:
            yield "FF prints them", steps, first
        else:
            index += 1


def _after(begin: re.Pattern[str], name: str) -> Callable[[Sequence[str]], _Found]:
    """Return a reader of the steps that follow a line, up to the first line that is none."""

    def read(lines: Sequence[str]) -> _Found:
        index = 0
        while index < len(lines):
            begins = begin.fullmatch(lines[index])
            index += 1
            if begins is None:
                continue
            first, steps = index, _Steps()
            while index < len(lines) and not begin.fullmatch(lines[index]):
                step = _step(lines[index])
                if step is not None:
                    steps.append((index + 1, step))
                elif _ends(lines[index], begun=bool(steps)):
                    break
                index += 1
            yield name, steps, first

    return read


def _ends(line: str, *, begun: bool) -> bool:
    """Say whether a line that is no step ends a plan."""
    if _WAITING.fullmatch(line):
        return False
    return begun if not line.strip() else _says_something(line)


_lpg = _after(_LPG_BEGIN, "LPG prints them")
_enhsp = _after(_ENHSP_BEGIN, "ENHSP prints them")
_aries = _after(_ARIES_BEGIN, "Aries prints them")
_unified = _after(_UNIFIED_BEGIN, "unified-planning prints them")
_popf = _after(_POPF_BEGIN, "OPTIC and POPF print them")


def _shown(lines: Sequence[str]) -> _Found:
    """Read "SequentialPlan([move(a, b)])" and "TimeTriggeredPlan([(Fraction(0, 1), …)])"."""
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
            if not line.startswith("])", place):
                steps.append("()")
            yield "Python shows unified-planning's plans", [(number, "  ".join(steps))], number


# Models and people ----------------------------------------------------------------------------


def _step(line: str) -> str | None:
    """Return the steps of a line as a plan file has them; None if it is anything else."""
    place = 0
    steps: list[str] = []
    if len(line) > _LINE_MOST:
        return None
    while place < len(line):
        match = _STEP.match(line, place)
        if match is None:
            return None if line[place:].strip() else "  ".join(steps) or None
        if match["surplus"] and not match["stamp"]:
            return None
        place = match.end()
        inside = match["list"]
        if inside is None:
            inside = f"{match['name']} {match['args'].replace(',', ' ')}"
        stamp = f"{match['stamp']}: " if match["stamp"] else ""
        cost = f" [{match['cost']}]" if match["cost"] else ""
        steps.append(f"{stamp}({inside.replace(',', ' ').strip()}){cost}")
    return "  ".join(steps) or None


def _listed(line: str) -> str | None:
    """Return the steps of a line, which may begin as lines of lists do."""
    plain = line.replace("`", "").replace("**", "")
    bullet = _BULLET.match(plain)
    return (_step(plain[bullet.end() :]) if bullet else None) or _step(plain)


def _reader_of_steps(lines: Sequence[str]) -> Callable[[str], str | None]:
    """Return what reads the steps of a text: "0: (a)" has a time where the plan waits."""
    if any(map(_WAITING.fullmatch, lines)):
        return lambda line: _step(line) or _listed(line)
    return _listed


def _fenced(lines: Sequence[str], actions: Collection[str]) -> Iterator[tuple[_Steps, int]]:
    """Read the steps of each code fence that has nothing else in it."""
    opened: int | None = None
    for number, line in enumerate(lines, 1):
        if not _FENCE.fullmatch(line):
            continue
        if opened is None:
            opened = number
            continue
        inside = [(n, lines[n - 1]) for n in range(opened + 1, number)]
        begin, opened = opened, None
        structured = _json("\n".join(text for _, text in inside))
        if structured:
            yield [(begin + 1, structured)], begin + 1
        told = [(n, t) for n, t in inside if _says_something(t) and not _WAITING.fullmatch(t)]
        read = _reader_of_steps([text for _, text in inside])
        said = [(n, read(text)) for n, text in told]
        if said and all(step is not None for _, step in said):
            yield [(n, step) for n, step in said if step is not None], said[0][0]
        elif bare := _bare(inside, actions):
            yield bare, bare[0][0]


def _bare(lines: Iterable[tuple[int, str]], actions: Collection[str]) -> _Steps | None:
    """Read a text of nothing but "move a b" and "- move a b", where `move` is an action."""
    known = {name.lower() for name in actions}
    steps = _Steps()
    for number, line in lines:
        if not _says_something(line) or _WAITING.fullmatch(line):
            continue
        step = _bare_step(line, known)
        if step is None:
            return None
        steps.append((number, step))
    return steps or None


def _bare_step(line: str, actions: Collection[str]) -> str | None:
    plain = line.replace("`", "").replace("**", "")
    bullet = _BULLET.match(plain)
    match = _BARE.fullmatch(plain[bullet.end() :] if bullet else plain)
    return f"({match[0].strip()})" if match and match[1].lower() in actions else None


def _numbered_words(lines: Sequence[str]) -> _Steps | None:
    """Read a text of nothing but "0: MOVE A B"."""
    steps = _Steps()
    for number, line in enumerate(lines, 1):
        if not _says_something(line):
            continue
        match = _WORDS.fullmatch(line)
        if match is None:
            return None
        steps.append((number, f"({match[2]})"))
    return steps or None


def _loose(lines: Sequence[str], known: _Known) -> list[Candidate]:
    """Read runs of lines that are steps; what speaks of a step elsewhere makes them doubtful."""
    runs: list[_Steps] = []
    going = False
    read = _reader_of_steps(lines)
    for number, line in enumerate(lines, 1):
        step = read(line)
        if step is not None:
            if not going:
                runs.append([])
            runs[-1].append((number, step))
            going = True
        elif _says_something(line) and not any(p.fullmatch(line) for p in _BETWEEN):
            going = False
    if not runs:
        return []
    taken = {number for run in runs for number, _ in run}
    told = [(number, line) for number, line in enumerate(lines, 1) if _says_something(line)]
    for place, (number, line) in enumerate(told):
        if number in taken:
            continue
        beside = (told[i] for i in (place - 1, place + 1) if 0 <= i < len(told))
        if (
            _speaks_of(line, known.actions)
            or _is_broken(line, known.may_be_action)
            or _bare_step(line, known.actions) is not None
            or _continues(line, (text for n, text in beside if n in taken))
            or line.strip() in ("(", ")")
        ):
            # A plan of which a line may be missing is none: this makes it one of two.
            runs.append([(number, "()")])
            break
    return [_candidate("steps", run, lines, run[0][0], marked=False) for run in runs]


def _continues(line: str, steps: Iterable[str]) -> bool:
    """Return whether a line is numbered as one of some steps is."""
    if not _NUMBERED.match(line) or any(p.fullmatch(line) for p in _BETWEEN):
        return False
    return any(map(_NUMBERED.match, steps))


def _speaks_of(line: str, actions: Collection[str]) -> bool:
    if not actions or not _says_something(line):
        return False
    words = _MENTIONED.findall(line.lower())
    return any(
        (one == "(" and two in actions) or (two in ("(", ")") and one in actions)
        for one, two in pairwise(words)
    )


def _structured(text: str) -> list[Candidate]:
    """Read JSON, and the list that Python prints of unified-planning's actions."""
    stripped = text.strip()
    if stripped[:1] not in ("[", "{"):
        return []
    offset = text.index(stripped[0])
    line = text.count("\n", 0, offset) + 1
    step = _json(stripped)
    if step:
        return [Candidate("JSON", ((line, step),), line, 0)]
    if stripped.startswith("[") and stripped.endswith("]") and '"' not in stripped:
        step = _step(" ".join(stripped[1:-1].split()))
        if step:
            return [Candidate("a list of actions", ((line, step),), line, 0)]
    return []


def _json(text: str) -> str | None:
    """Return the steps of a plan in JSON."""
    if text.strip()[:1] not in ("[", "{"):
        return None
    from hvr.errors import PddlSyntaxError
    from hvr.pddl.plan_json import steps_from_json
    from hvr.texts import parse_json

    try:
        return "  ".join(map(str, steps_from_json(parse_json(text)))) or None
    except (ValueError, PddlSyntaxError):
        return None
