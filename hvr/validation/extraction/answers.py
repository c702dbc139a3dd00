"""Read plans written by models and people: in lines, lists, fences, tables, JSON and prose.

A line that consists of steps is part of a plan. A step mentioned in a sentence is not, unless the
whole plan is written in sentences. A line that looks like a step but cannot be parsed is reported,
because a plan in the same text may lack this step.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice, pairwise
from typing import Literal, TypeAlias

from hvr.validation.extraction import Candidate
from hvr.validation.extraction.lines import (
    BULLET,
    CALL,
    FENCE,
    HEADLINE,
    LINE_MOST,
    NAME,
    NUMBER,
    STEP,
    WAITING,
    KnownSymbols,
    has_content,
    is_fence,
    listed,
    may_wait,
    step_of,
    step_reader,
    steps_in,
)
from hvr.values import Value

_Numbered: TypeAlias = tuple[int, str]
"""A line, or the steps in it, with its 1-based number in the text."""

_BARE = re.compile(rf"\s*+({NAME})(?:[ \t]++[^\s();:,?]++)*+\s*+")
_NUMBERED = re.compile(rf"\s*(?:step\s*)?{NUMBER}\s*[.:)]\s*\S", re.IGNORECASE)
# Malformed steps: missing or surplus parentheses, words between them.
_BROKEN = re.compile(
    rf"\s*(?:[-*•+]\s+)?(?:{NUMBER}\s*[:.)]\s*)?(?P<name>{NAME})?\((?P<list>[\w\s,()\[\].'@+-]*)"
)
_WORD = re.compile(r"[^\s(),]+")
_TOKEN = re.compile(r"[()]|[^\s();:,\[\]{}`\"]++")
_BETWEEN = re.compile("|".join(p.pattern for p in (HEADLINE, FENCE, WAITING)), re.IGNORECASE)

_MARKUP = re.compile(r"</?[A-Za-z][^<>]*+>|\*\*|`|[\"'](?=\()|(?<=\))[\"']|^\s*+>+(?=\s)")
_CODE = re.compile(r"`([^`()\n]++)`")
_ROW = re.compile(r"\s*\|(.*)\|\s*")
_RULE_OF_TABLE = re.compile(r"[\s|:=-]*")
_MENTION = re.compile(
    rf"(?<![^\s();:,\[\]{{}}`\"'=>|/*])(?:{NUMBER}\s*:\s*)?(?:\(\s*+(?P<list>[^()\s][^()]*)\)|{CALL})"
    r"(?:\s*\[\s*[0-9.]++\s*\])?"
    # Skip a name without a parenthesis as a whole; otherwise each "/" in it would start a new
    # match.
    rf"|[^\W\d](?:[^\s();:,\[\]{{}}`\"'=>|/*]|['=>|/*](?!{NUMBER}\s*+:))*+"
)
_GAP = re.compile(
    r"[\s,;]*+(?:(?:->|=>|→|⇒|>|and|then)[\s,;]*+)*+(?:\d{1,6}[.):]\s++)?", re.IGNORECASE
)
_LABEL = re.compile(r"[^.!?()\[\]{}]{0,80}[:=>→|–—-]\s*+")
_REMARK = re.compile(r"\s*+(?:$|[,.;:#/←<=>…|–—-])|\s++(?:\(|\[\s*+(?!D:)[^\W\d])")
_SIGNS = re.compile(r"(?:[^\w()]|\d)*")
_PART_OF_NUMBER = re.compile(r"[0-9][^\s()]?|[-+.]")
_NAMED = re.compile(r"[^\W\d_][^\w()=]*$")
_ORDINAL = re.compile(r"[^\d()]{0,40}?(?<!\w)(?P<number>\d{1,6}(?:\.\d{1,6})?)[^\w()]{0,20}")
_THOUGHT = re.compile(r"</(?:think|thinking|thought|thoughts|reasoning|scratchpad)>", re.IGNORECASE)
_JSON_BEGIN = re.compile(r"^[^\n\r\[{(]{0,80}(?=\[\s*+[\[{\"]|\{\s*+\")", re.MULTILINE)
_JSON_MOST = 200


class NumberedLines:
    """The lines of a text; `content_lines` has the lines with content by 1-based number."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.content_lines = {n: line for n, line in enumerate(lines, 1) if has_content(line)}
        self.fences = [number for number, line in self.content_lines.items() if is_fence(line)]
        content = self.content_lines.keys() - self.fences
        if may_wait(lines):
            content = {number for number in content if not WAITING.fullmatch(lines[number - 1])}
        self._content = content

    def candidate(
        self,
        reader: str,
        steps: Sequence[_Numbered],
        first: int,
        *,
        marked: bool = False,
        stray: bool = False,
        mentions: Sequence[int] = (),
    ) -> Candidate:
        """Return a candidate, counting the lines with content that are not among its steps."""
        ignored = len(self._content) - len(self._content & {number for number, _ in steps})
        until = self._waits_until(steps[-1][0] if steps else first)
        return Candidate(
            reader,
            tuple(steps),
            first,
            ignored,
            marked,
            until,
            stray=stray,
            mentions=tuple(mentions),
        )

    def _waits_until(self, place: int) -> Fraction | None:
        until: Fraction | None = None
        while place < len(self.lines) and (waits := WAITING.fullmatch(self.lines[place])):
            if waits["until"] or waits["end"]:
                until = Fraction(waits["until"] or waits["end"])
            place += 1
        return until


def unparsed_line(
    number: int, line: str, *, marked: bool = False, stray: bool = False
) -> Candidate:
    return Candidate("unparsed", (), number, 1, marked, stray=stray, unparsed=line.strip() or line)


def read_answer(
    text: str, lines: Sequence[str], known: KnownSymbols, *, unmarked: bool = True
) -> list[Candidate]:
    """Return the plans (only marked ones unless `unmarked`) and the unparsed lines of an answer."""
    structured = _structured(text, known)
    if structured:
        return structured
    lowered = text.lower() if known.actions else ""
    if "(" not in text and not any(name in lowered for name in known.actions):
        return []
    thought = max((n for n, line in enumerate(lines, 1) if _ends_thoughts(line)), default=0)
    if thought:
        tail = ["" for _ in lines[: thought - 1]]
        tail += [_THOUGHT.split(lines[thought - 1])[-1], *lines[thought:]]
        plans = _read(tail, known, unmarked=unmarked)
        if plans:
            return plans
    return _read(lines, known, unmarked=unmarked)


def _ends_thoughts(line: str) -> bool:
    return "</" in line and _THOUGHT.search(line) is not None


def _read(lines: Sequence[str], known: KnownSymbols, *, unmarked: bool) -> list[Candidate]:
    counted = NumberedLines(lines)
    left = dict(counted.content_lines)
    blocks: list[Candidate] = []
    for fence in _fences(counted.fences):
        inside = [(number, left[number]) for number in fence if number in left]
        steps = _steps_of_fence(inside, known, unmarked=unmarked)
        if steps is None:
            continue
        if steps:
            blocks.append(counted.candidate("a fenced plan", steps, steps[0][0]))
        for number in (fence.start - 1, *fence, fence.stop):
            left.pop(number, None)
    blocks += _json_in(left, counted, known)
    if not blocks and unmarked:
        bare = _bare(left.items(), known)
        if bare and not _restarts(left.values()):
            return [counted.candidate("steps without parentheses", bare, bare[0][0])]
    runs, mentions, unparsed = _Loose(left.items(), known, unmarked=unmarked).read()
    if not blocks and not runs and unmarked and known.actions:
        runs, mentions = _plan_in_prose(mentions)
    if not runs and not blocks:
        return []
    if known.objects is None and not blocks:
        # Without known objects, sentences cannot be distinguished from malformed steps.
        unparsed = sorted([*unparsed, *((number, lines[number - 1]) for number, _ in mentions)])
    stray, ignored = bool(blocks), [number for number, _ in mentions]
    plans = [
        counted.candidate("separate steps", run, run[0][0], stray=stray, mentions=ignored)
        for run in runs
    ]
    unparsed_plans = [unparsed_line(number, line, stray=stray) for number, line in unparsed[:1]]
    return [*sorted([*blocks, *plans], key=lambda plan: plan.first), *unparsed_plans]


def _plan_in_prose(
    mentions: Sequence[tuple[int, _Kinded]],
) -> tuple[list[list[_Numbered]], list[tuple[int, _Kinded]]]:
    most = max((len(line.steps) for _, line in mentions), default=0)
    told = [item for item in mentions if len(item[1].steps) > 1 or most == 1]
    labels = _Labels()
    if any(labels.goes_back(line.label) for _, line in told):
        return [], list(mentions)
    plan = [(n, "  ".join(x.steps)) for n, x in told]
    return [plan] if plan else [], [item for item in mentions if len(item[1].steps) == 1 < most]


# Blocks ---------------------------------------------------------------------------------------


def _fences(marks: Sequence[int]) -> Iterator[range]:
    for opened, closed in zip(marks[::2], marks[1::2], strict=False):
        yield range(opened + 1, closed)


def _steps_of_fence(
    inside: Sequence[_Numbered], known: KnownSymbols, *, unmarked: bool
) -> Sequence[_Numbered] | None:
    """Return the steps in a code fence, or None if it does not contain exactly one plan.

    The result is () for a PDDL file and, unless `unmarked`, None if there is text beside the plan.
    """
    content = [(n, t) for n, t in inside if has_content(t) and not WAITING.fullmatch(t)]
    if not content:
        return None
    if content[0][1].lstrip()[:7].lower() == "(define":
        return ()
    structured = _json("\n".join(text for _, text in inside), known)
    if structured:
        return [(inside[0][0], structured)]
    read = step_reader([text for _, text in inside])
    parsed, texts = [(n, read(text)) for n, text in content], [text for _, text in content]
    if all(step is not None for _, step in parsed) and not (read is listed and _restarts(texts)):
        return [(n, step) for n, step in parsed if step is not None]
    if not unmarked:
        return None
    bare = _bare(inside, known)
    if bare and not _restarts(texts):
        return bare
    runs, _, unparsed = _Loose(inside, known, unmarked=True).read()
    return runs[0] if len(runs) == 1 and not unparsed else None


def _bare(lines: Iterable[_Numbered], known: KnownSymbols) -> list[_Numbered] | None:
    """Return the steps of a text that has only lines like "move a b" or "- move a b", or None."""
    steps: list[_Numbered] = []
    for number, line in lines:
        if not has_content(line) or WAITING.fullmatch(line):
            continue
        step = _bare_step(line, known)
        if step is None:
            return None
        steps.append((number, step))
    return steps or None


def _restarts(lines: Iterable[str]) -> bool:
    """Return whether the numbers of an ordered list decrease, as in two consecutive lists."""
    bullets = (BULLET.match(line.replace("`", "").replace("**", "")) for line in lines)
    numbers = [int(bullet["number"]) for bullet in bullets if bullet and bullet["number"]]
    return any(one > two for one, two in pairwise(numbers))


def _bare_step(line: str, known: KnownSymbols) -> str | None:
    plain = line.replace("`", "").replace("**", "")
    bullet = BULLET.match(plain)
    match = _BARE.fullmatch(plain[bullet.end() :] if bullet else plain)
    if match is None or match[1].lower() not in known.actions:
        return None
    words = match[0].split()
    return f"({' '.join(words)})" if known.objects is None or known.is_bare_step(words) else None


def _structured(text: str, known: KnownSymbols) -> list[Candidate]:
    stripped = text.strip()
    if stripped[:1] not in ("[", "{"):
        return []
    offset = text.index(stripped[0])
    line = text.count("\n", 0, offset) + 1
    step = _json(stripped, known)
    if step:
        return [Candidate("JSON", ((line, step),), line, 0)]
    if stripped.startswith("[") and stripped.endswith("]") and '"' not in stripped:
        step = steps_in(" ".join(stripped[1:-1].split()))
        if step:
            return [Candidate("a list of actions", ((line, step),), line, 0)]
    return []


def _json(text: str, known: KnownSymbols) -> str | None:
    if text.strip()[:1] not in ("[", "{"):
        return None
    from hvr.base.texts import parse_json
    from hvr.errors import PddlSyntaxError
    from hvr.pddl.plan import TimedAction
    from hvr.pddl.plan_json import steps_from_json

    try:
        steps = steps_from_json(parse_json(text))
    except (ValueError, PddlSyntaxError):
        return None
    actions = [step.action if isinstance(step, TimedAction) else step for step in steps]
    if known.actions and not any(action.name in known.actions for action in actions):
        names = known.objects or ()
        for action in actions:
            meant = action.args and action.name not in names
            if not meant or not known.may_be_step((action.name, *action.args)):
                return None
    return "  ".join(map(str, steps)) or None


def _json_in(left: dict[int, str], counted: NumberedLines, known: KnownSymbols) -> list[Candidate]:
    text = "\n".join(left.values())
    begins = islice(_JSON_BEGIN.finditer(text), _JSON_MOST)
    import json

    numbers = list(left)
    ends: list[int] = []
    found: list[Candidate] = []
    decoder, done = json.JSONDecoder(), 0
    for begin in begins:
        if begin.end() < done:
            continue
        try:
            _, done = decoder.raw_decode(text, begin.end())
        except json.JSONDecodeError as error:
            # Skip text that the decoder has read, so hostile input takes linear time.
            done = error.pos
            continue
        except (ValueError, RecursionError):
            return found
        steps = _json(text[begin.end() : done], known)
        if steps is None:
            continue
        ends = ends or [match.start() for match in re.finditer("\n", text)]
        lines = numbers[bisect_left(ends, begin.end()) : bisect_left(ends, done) + 1]
        found.append(counted.candidate("JSON", [(lines[0], steps)], lines[0]))
        for number in lines:
            del left[number]
    return found


# Loose lines ----------------------------------------------------------------------------------

_Kind: TypeAlias = Literal["step", "weak", "mention", "between", "prose", "unparsed"]


class _Kinded(Value):
    """A classified line.

    Attributes:
        kind: `step`: only steps; `weak`: a step with words around it; `mention`: steps in a
            sentence; `between`: a line allowed between steps; `prose`: a sentence; `unparsed`: a
            line that may be a step but cannot be parsed.
        number: The number of the line in an ordered list.
        label: A number in the words before the steps, such as "#2" or "at 2".
    """

    kind: _Kind
    steps: tuple[str, ...] = ()
    number: int | None = None
    bullet: bool = False
    label: Fraction | None = None


_PROSE, _BESIDE, _UNPARSED = _Kinded("prose"), _Kinded("between"), _Kinded("unparsed")


class _Labels:
    """Labels of consecutive steps; one that occurs again, such as "robot 1", numbers no step."""

    def __init__(self) -> None:
        self._seen: set[Fraction] = set()
        self._last: Fraction | None = None

    def goes_back(self, label: Fraction | None) -> bool:
        if label is None:
            return False
        back = self._last is not None and label < self._last and label not in self._seen
        self._seen.add(label)
        self._last = label
        return back


class _Loose:
    """Reads plans from lines whose format follows no standard.

    If `unmarked`, a step may omit its parentheses, and may have a label before and a remark after
    it.
    """

    def __init__(self, lines: Iterable[_Numbered], known: KnownSymbols, *, unmarked: bool) -> None:
        self._lines = list(lines)
        self._known = known
        self._unmarked = unmarked
        self._plain_reader = step_reader([line for _, line in self._lines])
        self._cache: dict[str, _Kinded] = {}

    def read(self) -> tuple[list[list[_Numbered]], list[tuple[int, _Kinded]], list[_Numbered]]:
        runs: list[list[tuple[int, _Kinded]]] = []
        mentions: list[tuple[int, _Kinded]] = []
        unparsed: list[_Numbered] = []
        in_run, labels = False, _Labels()
        classified: list[tuple[int, str, _Kinded]] = []
        for number, text in self._lines:
            line = self._cache.get(text)
            if line is None:
                line = self._cache[text] = self._line(text)
            classified.append((number, text, line))
            if line.kind in ("step", "weak"):
                last = runs[-1][-1][1].number if runs else None
                joined = in_run or (
                    last is not None and line.number is not None and line.number == last + 1
                )
                restarts = last is not None and line.number is not None and line.number < last
                back = labels.goes_back(line.label)
                if not joined or restarts or back:
                    runs.append([])
                    labels = _Labels()
                    labels.goes_back(line.label)
                runs[-1].append((number, line))
                in_run = True
            elif line.kind == "mention":
                mentions.append((number, line))
                in_run = False
            elif line.kind == "unparsed":
                unparsed.append((number, text))
                in_run = False
            elif line.kind == "prose":
                in_run = False
        unparsed += self._continuing(classified)
        plain = [run for run in runs if any(line.kind == "step" for _, line in run)]
        if plain:
            mentions += [item for run in runs for item in run if len(plain) < len(runs)]
            runs = [_without_remarks(run) for run in plain]
        plans = [[(n, "  ".join(line.steps)) for n, line in run] for run in runs]
        taken = {number for plan in plans for number, _ in plan}
        ignored = sorted(
            [item for item in mentions if item[0] not in taken], key=lambda item: item[0]
        )
        return plans, ignored, sorted(unparsed)

    def _line(self, text: str) -> _Kinded:
        known = self._known
        if len(text) > LINE_MOST:
            return _UNPARSED if "(" in text else _PROSE
        plain = _plain(text, known)
        bullet = BULLET.match(plain)
        number = int(bullet["number"]) if bullet and bullet["number"] else None
        inside = plain[bullet.end() :] if bullet else plain
        if "(" in plain:
            steps = self._steps(inside) or (self._steps(plain) if bullet else None)
            if self._plain_reader is not listed:
                timed = steps_in(text) or steps_in(plain)
                steps = (timed,) if timed else steps
            if steps:
                return _Kinded("step", steps, number, bullet is not None)
        if self._unmarked and (bare := _without_label(inside, known)):
            label = _label(inside.rpartition(":")[0])
            return _Kinded("step", (bare,), number, bullet is not None, label)
        if _BETWEEN.fullmatch(text) or _RULE_OF_TABLE.fullmatch(plain):
            return _BESIDE
        found = list(_MENTION.finditer(inside)) if "(" in inside else []
        found = [match for match in found if "(" in match[0] and _is_mention(match, known)]
        parts = _outside(inside, found)
        if _speaks_of(" ".join(parts), known) or (not found and self._may_be_step(text)):
            return _UNPARSED
        if not found:
            return _PROSE
        if _has_surplus(parts) or _cuts_number(parts, found):
            return _UNPARSED
        if any(known.is_bare_step(part.split(), sure=False) for part in parts):
            return _UNPARSED
        mentioned = tuple(map(_step_after, parts, found))
        label = None if mentioned[0][0] != "(" else _label(inside[: _opening(found[0])])
        if self._unmarked and all(_GAP.fullmatch(x) or _SIGNS.fullmatch(x) for x in parts):
            return _Kinded("step", mentioned, number, bullet is not None, label)
        if not self._unmarked:
            return _UNPARSED
        if known.objects is not None and _is_annotated(inside, found, numbered=number is not None):
            return _Kinded("weak", mentioned, number, bullet is not None, label)
        return _Kinded("mention", mentioned, label=label)

    def _steps(self, text: str) -> tuple[str, ...] | None:
        steps: list[str] = []
        text = text.strip()
        if (text[:1], text[-1:]) == ("[", "]") or (text[:2], text[-2:]) == ("((", "))"):
            text = text[1:-1]
        place = 0
        while place < len(text):
            match = STEP.match(text, place)
            if match is None:
                break
            if match["surplus"] and not match["stamp"]:
                return None
            step = step_of(match)
            words = _words_of(match)
            if self._known.actions and not self._known.may_be_step(words):
                return None
            if not self._known.may_be_action(words[0]):
                return None
            steps.append(step)
            gap = _GAP.match(text, match.end())
            place = gap.end() if gap else match.end()
        return tuple(steps) if steps and not text[place:].strip(" \t.\\") else None

    def _may_be_step(self, text: str) -> bool:
        known = self._known
        if text.strip() in ("(", ")"):
            return True
        if known.objects is None:
            return is_broken(text, known.may_be_action) or _bare_step(text, known) is not None
        if "(" not in text and ")" not in text:
            return False
        return is_broken(
            text,
            lambda name: _is_step_of(
                [name], _WORD.findall(text.replace("`", "").replace("**", "")), known
            ),
        )

    def _continuing(self, classified: Sequence[tuple[int, str, _Kinded]]) -> list[_Numbered]:
        beside = {
            place + way
            for place, (_, text, line) in enumerate(classified)
            if line.kind in ("step", "weak") and _NUMBERED.match(text)
            for way in (-1, 1)
        }
        result: list[_Numbered] = []
        for place in sorted(beside & set(range(len(classified)))):
            number, text, line = classified[place]
            words = text.split()[1:]
            if (
                line.kind in ("prose", "mention")
                and _NUMBERED.match(text)
                and (self._known.objects is None or _is_step_of(words[:1], words, self._known))
            ):
                result.append((number, text))
        return result


def _step_after(head: str, match: re.Match[str]) -> str:
    step = step_of_mention(match)
    stamp, colon, rest = step.partition(": ")
    named = colon and stamp.isdecimal() and not rest.endswith("]") and _NAMED.search(head)
    return rest if named else step


def _opening(match: re.Match[str]) -> int:
    return match.start("list") - 1 if match["list"] is not None else match.start("name")


def _label(head: str) -> Fraction | None:
    match = _ORDINAL.fullmatch(head)
    return Fraction(match["number"]) if match else None


def _cuts_number(parts: Sequence[str], found: Sequence[re.Match[str]]) -> bool:
    return any(
        match[0][:1] in "0123456789." and _PART_OF_NUMBER.fullmatch(part.split()[-1][-2:])
        for part, match in zip(parts, found, strict=False)
        if part and not part[-1].isspace()
    )


def _is_step_of(name: Sequence[str], words: Sequence[str], known: KnownSymbols) -> bool:
    if not name:
        return False
    if name[0].lower() in known.actions:
        return True
    others = words[words.index(name[0]) + 1 :] if name[0] in words else []
    objects = known.objects or frozenset()
    return (
        bool(others)
        and known.may_be_action(name[0])
        and all(other.lower() in objects for other in others)
    )


def _plain(text: str, known: KnownSymbols) -> str:
    if "`" in text and known.actions:
        text = _CODE.sub(lambda m: _in_parentheses(m[1], known), text)
    text = _MARKUP.sub("", text)
    if "|" in text and (row := _ROW.fullmatch(text)):
        first, *others = row[1].split("|")
        mark = "." if first.strip().isdecimal() else ""
        text = "  ".join([first.rstrip() + mark, *others])
    return text


def _in_parentheses(code: str, known: KnownSymbols) -> str:
    words = code.split()
    is_step = bool(words) and words[0].lower() in known.actions and len(words) > 1
    return f"({code})" if is_step else f"`{code}`"


def _without_label(text: str, known: KnownSymbols) -> str | None:
    words = text.rpartition(":")[2].strip().rstrip(".,;").split()
    return f"({' '.join(words)})" if known.is_bare_step(words) else None


def _words_of(match: re.Match[str]) -> list[str]:
    inside = match["list"]
    if inside is None:
        inside = f"{match['name']} {match['args']}"
    words: list[str] = inside.replace(",", " ").split()
    return words or [""]


def _is_mention(match: re.Match[str], known: KnownSymbols) -> bool:
    return _words_of(match)[0].lower() in known.actions


def step_of_mention(match: re.Match[str]) -> str:
    whole = steps_in(match[0].strip())
    return whole if whole is not None else f"({' '.join(_words_of(match))})"


def _outside(text: str, found: Sequence[re.Match[str]]) -> list[str]:
    borders = [0, *(end for match in found for end in match.span()), len(text)]
    return [text[borders[i] : borders[i + 1]] for i in range(0, len(borders), 2)]


def _has_surplus(outside: Sequence[str]) -> bool:
    borders = [(part.rstrip()[-1:], part) for part in outside[:-1]]
    borders += [(part.lstrip()[:1], part) for part in outside[1:]]
    if any(sign in ("(", ")") and part.count("(") != part.count(")") for sign, part in borders):
        return True
    return outside[-1].lstrip().startswith("[") and not _REMARK.match(outside[-1])


def _is_annotated(text: str, found: Sequence[re.Match[str]], *, numbered: bool) -> bool:
    """Return whether a line is steps between a label and a remark (any words if `numbered`)."""
    head, *between, tail = _outside(text, found)
    if not all(map(_GAP.fullmatch, between)):
        return False
    if numbered:
        return True
    return (not head.strip() or _LABEL.fullmatch(head) is not None) and (
        _REMARK.match(tail) is not None
    )


def _without_remarks(run: list[tuple[int, _Kinded]]) -> list[tuple[int, _Kinded]]:
    while len(run) > 1 and run[-1][1].kind == "weak" and not run[-1][1].bullet:
        before = {step for _, line in run[:-1] for step in line.steps}
        if not before.issuperset(run[-1][1].steps):
            break
        run = run[:-1]
    return run


def is_broken(line: str, is_step: Callable[[str], bool]) -> bool:
    """Return whether a line looks like a step but is malformed.

    `is_step` returns whether a name may be an action. A line longer than LINE_MOST with a
    parenthesis counts as malformed.
    """
    if len(line) > LINE_MOST:
        return "(" in line
    if "(" not in line:
        return False
    match = _BROKEN.fullmatch(line.replace("`", "").replace("**", ""))
    if match is None:
        return False
    name = match["name"]
    if name is None:
        first = _WORD.search(match["list"])
        name = first[0] if first else ""
    return is_step(name)


def _speaks_of(text: str, known: KnownSymbols) -> bool:
    if not known.actions or ("(" not in text and ")" not in text):
        return False
    words = _TOKEN.findall(text.lower())
    return not known.actions.isdisjoint(words) and any(
        (one == "(" and two in known.actions) or (two in ("(", ")") and one in known.actions)
        for one, two in pairwise(words)
    )
