"""Which findings are wanted: rules that are selected or ignored, and comments in the files.

`; hvr: ignore HVR301` at the end of a line is about that line; on a line of its own, about the
next. `; hvr: ignore-file HVR301` is about the file. Several rules are separated by commas, and
without a rule all are meant. That a file cannot be used is always reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from hvr.errors import HvrError, UsageError
from hvr.validation.findings import RULES, Finding
from hvr.values import Value

_ALWAYS = "HVR0"
_LINE_END = re.compile(r"\r\n|\r|\n")
_COMMENT = re.compile(r";[^\r\n]*?hvr:\s*(ignore-file|ignore)\b[ \t]*([\w, \t]*)", re.IGNORECASE)
_RULE = re.compile(r"HVR\d+", re.IGNORECASE)


class RuleSelection(Value):
    """The rules that are wanted, by their ids or how these begin.

    Attributes:
        select: only these; all if empty.
        ignore: not these.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def wants(self, finding: Finding) -> bool:
        """Say whether a finding is wanted."""
        rule = finding.rule.id
        if rule.startswith(_ALWAYS):
            return True
        return rule.startswith(self.select or _ALWAYS[:-1]) and not rule.startswith(self.ignore)


def read_rules(texts: Iterable[str]) -> tuple[str, ...]:
    """Read ids of rules, or how ids begin, separated by commas.

    Raises:
        UsageError: no rule begins like this.
    """
    rules = [word.strip().upper() for text in texts for word in text.split(",") if word.strip()]
    for rule in rules:
        if not any(known.startswith(rule) for known in RULES):
            from hvr.pddl.diagnostics import nearest

            near = nearest(rule, RULES)
            hint = f"; did you mean {near!r}?" if near else ""
            raise UsageError(f"there is no rule {rule!r}{hint}")
    return tuple(rules)


def without_ignored(findings: Sequence[Finding]) -> list[Finding]:
    """Leave out the findings that a comment in their file asks to ignore."""
    comments: dict[str, _Comments] = {}
    wanted: list[Finding] = []
    for finding in findings:
        file = finding.file
        if not finding.rule.id.startswith(_ALWAYS) and file:
            if file not in comments:
                comments[file] = _Comments(file)
            if comments[file].ignore(finding):
                continue
        wanted.append(finding)
    return wanted


class _Comments:
    """The comments of a file that are meant for hvr."""

    def __init__(self, file: str) -> None:
        self._everywhere: list[frozenset[str]] = []
        # The line that each comment is about, and its rules.
        self._lines: dict[int, tuple[str, frozenset[str]]] = {}
        # Most comments of a file say the same.
        same: dict[str, frozenset[str]] = {}
        lines = [*_lines(file), ""]
        for number, line in enumerate(lines[:-1], 1):
            match = _COMMENT.search(line)
            if match is None:
                continue
            rules = same.get(match[2])
            if rules is None:
                rules = frozenset(rule.upper() for rule in _RULE.findall(match[2]))
                same[match[2]] = rules
            if match[1].lower() == "ignore-file":
                self._everywhere.append(rules)
            else:
                code = line[: match.start()]
                alone = not code.strip()
                self._lines[number + alone] = (lines[number] if alone else code, rules)

    def ignore(self, finding: Finding) -> bool:
        """Say whether a finding is to be ignored.

        One without a place is where its subject is named.
        """
        rules = list(self._everywhere)
        if finding.location is not None:
            rules += [r for n, (_, r) in self._lines.items() if n == finding.location.line]
        elif finding.subject and self._lines:
            name = re.compile(rf"(?<![\w-]){re.escape(finding.subject)}(?![\w-])", re.IGNORECASE)
            rules += [r for text, r in self._lines.values() if name.search(text)]
        return any(not some or finding.rule.id in some for some in rules)


def _lines(file: str) -> list[str]:
    from hvr.pddl.reader import SourceText

    path = Path(file)
    try:
        if not path.is_file():
            return []
        text = SourceText.read(path, lenient=True).text
    except (HvrError, OSError, ValueError):
        return []
    return _LINE_END.split(text) if "hvr:" in text.lower() else []
