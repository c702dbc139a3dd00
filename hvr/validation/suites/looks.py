"""What a file is, by its name and its beginning."""

from __future__ import annotations

import re
from pathlib import Path

from hvr.errors import HvrError
from hvr.validation.suites.kinds import SNIFFED, Kind, Seen, beginning, definition_in, ending

_COMMENT = re.compile(r";[^\r\n]*")
_STEP = r"(?:\([^()\r\n]*\)|[^\W\d][\w@.+-]*\([^()\r\n]*\))"
_STAMP = r"[-+]?\d[\d./]*?\s*+[:.)]\s*+"
_COST = r"(?:\[\s*[\d./]+\s*\]\)?)"
_STEPS = re.compile(rf"(?:(?:{_STAMP})?{_STEP}\s*+{_COST}?\s*+)++")

_PLAN_ENDING = re.compile(r".*\.(?:plan|soln?|pddlplan)(?:[._-]?\d+)?")
_PLAN_WORD = re.compile(r"(?:.*[^a-z])?(?:plan|soln?|solution)(?:\d*|[^a-z].*)")
_PLANNER = re.compile(
    r"^(?:\[t=[^\]\n]*\] )?Plan length: \d+ step|^ff: found legal plan|^\s*Found Plan:\s*$"
    r"|^\s*Time: \(ACTION\)|^;+ *(?:Solution Found|Plan found with metric)|^\s*==>\s*$"
    r"|^\*+ SOLUTION FOUND \*+\s*$|^(?:plan: )?(?:Sequential|TimeTriggered)Plan:\s*$"
    r"|(?<![\w.])(?:Sequential|TimeTriggered)Plan\(\[",
    re.MULTILINE,
)
"""What planners print beside a plan; see `hvr.validation.extraction.readers`."""
_PACKED = re.compile(r"(.+)\.(?:gz|bz2|xz|zst|lzma|z)")
_JSON_STEPS = re.compile(
    r"""\s*(?:\{\s*"(?:plan|steps|actions)"\s*:\s*)?+\[\s*
    (?:"\([^()"\r\n]*\)"|\{\s*"(?:name|action)"\s*:\s*"[^"\r\n]*"\s*,\s*"(?:args|arguments|parameters)"\s*:\s*\[)""",
    re.VERBOSE,
)
"""How a plan in JSON begins, with the keys in their usual order."""
_NEVER_PLANS = frozenset((
    "bib", "c", "cfg", "cpp", "css", "csv", "gif", "h", "hddl", "html", "ini", "jpg", "js", "lisp",
    "lock", "md", "pdf", "png", "py", "rst", "sarif", "sh", "svg", "tex", "toml", "ts", "tsv",
    "xml", "yaml", "yml", "zip",
))  # fmt: skip
"""Endings of files that are nothing but what their ending says, even with a plan inside."""
_TEXT_ENDINGS = frozenset((
    "", "answer", "json", "jsonl", "log", "markdown", "md", "out", "output", "response", "rst",
    "stdout", "text", "txt",
))  # fmt: skip
"""Endings of texts in which people, planners and language models leave plans."""
_ABOUT = frozenset((
    "authors", "changelog", "changes", "citation", "code_of_conduct", "contributing", "copying",
    "history", "licence", "license", "notice", "readme", "security",
))  # fmt: skip
"""Names of files about a repository."""


def look(file: str) -> Seen:
    """Say what a file is; one that cannot be read is what its name says."""
    name = Path(file).name.lower()
    packed = _PACKED.fullmatch(name)
    if packed is not None:
        if _named_like_a_plan(packed[1]):
            return Seen(file, Kind.PACKED)
        return Seen(file, Kind.OTHER, why="it is compressed, and not called like a plan")
    text = beginning(file)
    if text is None:
        kind = Kind.PLAN if _named_like_a_plan(name) else Kind.OTHER
        return Seen(file, kind, why="it cannot be read")
    model = definition_in(file, text)
    if model is not None:
        return model
    whole = len(text) < SNIFFED // 2
    kind = _plan_kind(name, text, whole=whole)
    if kind in (Kind.DOUBTFUL, Kind.OTHER) and _ending(name) not in _NEVER_PLANS:
        log = text if whole else text + ending(file)
        kind = Kind.PLAN if _PLANNER.search(log) else kind
    if kind is Kind.OTHER and _ending(name) in ("pddl", "hddl"):
        kind = Kind.BROKEN
    return Seen(file, kind, why=_why_other(name, text) if kind is Kind.OTHER else "")


def may_hold_a_plan(file: str) -> bool:
    """Say whether a file is of a kind in which there may be a plan, whatever its name says."""
    name = Path(file).name.lower()
    packed = _PACKED.fullmatch(name)
    return _ending(packed[1] if packed is not None else name) in _TEXT_ENDINGS


def has_a_plan(file: str) -> bool:
    """Say whether a plan is found in a text that is about something else, too."""
    name = Path(file).name.lower()
    if _ending(name) not in _TEXT_ENDINGS or name.partition(".")[0] in _ABOUT:
        return False
    from hvr.pddl.lexer import SourceText
    from hvr.validation.extraction.lines import Known
    from hvr.validation.extraction.readers import candidates

    try:
        return bool(candidates(SourceText.read(Path(file), lenient=True).text, Known(), asked=True))
    except HvrError:
        return False


def _why_other(name: str, text: str) -> str:
    if not text.strip():
        return "it is empty"
    if "\0" in text:
        return "it is not a text"
    if _ending(name) in _NEVER_PLANS:
        return f"a .{_ending(name)} file is not taken for a plan"
    return "it has no step in it, and is not called like a plan"


def is_steps(text: str) -> bool:
    """Say whether every line of a text that is no comment consists of steps, and there is one."""
    lines = _lines(text)
    return bool(lines) and all(map(_STEPS.fullmatch, lines))


def _plan_kind(name: str, text: str, *, whole: bool) -> Kind:
    if _PLAN_ENDING.fullmatch(name) or name == "sas_plan":
        return Kind.PLAN
    if _ending(name) in _NEVER_PLANS or "\0" in text:
        return Kind.OTHER
    if not whole:
        text = text[: text.rfind("\n") + 1] or text
    if is_steps(text):
        return Kind.PLAN
    if text.lstrip()[:1] in ("[", "{"):
        return Kind.PLAN if _is_json_plan(name, text, whole=whole) else Kind.OTHER
    lines = _lines(text)
    if not lines:
        return Kind.PLAN if _named_like_a_plan(name) else Kind.OTHER
    if _named_like_a_plan(name):
        return Kind.PLAN
    if lines[0].startswith("(") or any(map(_STEPS.fullmatch, lines)):
        return Kind.DOUBTFUL
    return Kind.OTHER


def _named_like_a_plan(name: str) -> bool:
    if _ending(name) in _NEVER_PLANS:
        return False
    return bool(_PLAN_ENDING.fullmatch(name) or _PLAN_WORD.fullmatch(name))


def _ending(name: str) -> str:
    return name.rpartition(".")[2] if "." in name else ""


def _is_json_plan(name: str, text: str, *, whole: bool) -> bool:
    if _named_like_a_plan(name):
        return True
    if not whole:
        return _JSON_STEPS.match(text) is not None
    from hvr.base.texts import parse_json
    from hvr.pddl.plan_json import steps_from_json
    from hvr.validation.sequences import action_of

    try:
        steps = steps_from_json(parse_json(text))
    except (ValueError, HvrError):
        return False
    # Lists of words are steps without arguments only where somebody calls them a plan.
    return any(action_of(step).args for step in steps) or _JSON_STEPS.match(text) is not None


def _lines(text: str) -> list[str]:
    lines = (line.strip() for line in _COMMENT.sub("", text).splitlines())
    return [line for line in lines if line]
