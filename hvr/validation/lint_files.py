"""`lint` for files: pairs problems with domains, and selects the findings to report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import hvr.validation.findings as rules
from hvr.base.printable import short_names
from hvr.errors import HvrError, UsageError
from hvr.pddl import Diagnostic, Location, parse_domain, parse_problem
from hvr.validation.findings import RULES, Finding, Related, warning_finding
from hvr.validation.lint import lint
from hvr.validation.suite_collection import ListedFiles, is_folder, is_pattern
from hvr.validation.suites import FileKind, Language, definition, give_domains, language_of
from hvr.values import Value

# Selection ----------------------------------------------------------------------------------------
# Rules that are selected or ignored, and comments in the files.
#
# `; hvr: ignore HVR301` at the end of a line applies to that line; on a line of its own, to the
# next line. `; hvr: ignore-file HVR301` applies to the file. Rules are separated by commas; without
# a rule, the comment applies to all rules. Unusable files are always reported.

_ALWAYS = "HVR0"
_LINE_END = re.compile(r"\r\n|\r|\n")
_COMMENT = re.compile(r";[^\r\n]*?hvr:\s*(ignore-file|ignore)\b[ \t]*([\w, \t]*)", re.IGNORECASE)
_RULE = re.compile(r"HVR\d+", re.IGNORECASE)


class RuleSelection(Value):
    """The rules to report, as ids or prefixes of ids. Unusable files are always reported.

    Attributes:
        select: The rules to report, by default all.
        ignore: The rules to leave out even if selected.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def wants(self, finding: Finding) -> bool:
        rule = finding.rule.id
        if rule.startswith(_ALWAYS):
            return True
        return rule.startswith(self.select or _ALWAYS[:-1]) and not rule.startswith(self.ignore)


def read_rules(texts: Iterable[str]) -> tuple[str, ...]:
    """Parse comma-separated rule ids and prefixes; an unknown one raises a UsageError."""
    rules = [word.strip().upper() for text in texts for word in text.split(",") if word.strip()]
    for rule in rules:
        if not any(known.startswith(rule) for known in RULES):
            from hvr.base.printable import nearest

            near = nearest(rule, RULES)
            hint = f"; did you mean {near!r}?" if near else ""
            raise UsageError(f"no rule named {rule!r}{hint}")
    return tuple(rules)


_NONE: Mapping[str, str] = {}


def without_ignored(findings: Sequence[Finding], texts: Mapping[str, str] = _NONE) -> list[Finding]:
    """Return the findings that no comment suppresses, and all findings about unusable files.

    `texts` contains the contents of files that are not read, by file name.
    """
    comments: dict[str, _Comments] = {}
    kept: list[Finding] = []
    for finding in findings:
        file = finding.file
        if not finding.rule.id.startswith(_ALWAYS) and file:
            if file not in comments:
                comments[file] = _Comments(file, texts.get(file))
            if comments[file].ignore(finding):
                continue
        kept.append(finding)
    return kept


class _Comments:
    def __init__(self, file: str, text: str | None) -> None:
        self._everywhere: list[frozenset[str]] = []
        # The text of the suppressed line and the rules of its comment, by line number.
        self._lines: dict[int, tuple[str, frozenset[str]]] = {}
        # Share the sets, since most comments of a file are the same.
        same: dict[str, frozenset[str]] = {}
        lines = [*_lines(file, text), ""]
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
        """Return whether a comment for a finding's file, line or subject suppresses the finding."""
        rules = list(self._everywhere)
        if finding.location is not None:
            rules += [r for n, (_, r) in self._lines.items() if n == finding.location.line]
        elif finding.subject and self._lines:
            name = re.compile(rf"(?<![\w-]){re.escape(finding.subject)}(?![\w-])", re.IGNORECASE)
            rules += [r for text, r in self._lines.values() if name.search(text)]
        return any(not some or finding.rule.id in some for some in rules)


def _lines(file: str, text: str | None) -> list[str]:
    from hvr.pddl.reader import SourceText

    path = Path(file)
    try:
        if text is None:
            text = SourceText.read(path, lenient=True).text if path.is_file() else ""
    except (HvrError, OSError, ValueError):
        return []
    return _LINE_END.split(text) if "hvr:" in text.lower() else []


_NAMED = 4
"""Maximum number of problems to list in a merged finding, before only first and last are shown."""


class LintTargets(Value):
    """The models to lint.

    Attributes:
        pairs: Pairs of a domain and a problem, or None to lint the domain alone.
        left: Findings about files that cannot be linted.
        others: Other files, which are not linted.
    """

    pairs: tuple[tuple[str, str | None], ...]
    left: tuple[Finding, ...] = ()
    others: tuple[str, ...] = ()


def find_models(names: Sequence[str], skip: Sequence[str] = ()) -> LintTargets:
    """Return the domains and problems that files, folders and patterns refer to.

    Args:
        names: A domain, a domain and a problem, or any files, patterns and folders. Problems are
            matched with domains by content and location.
        skip: Patterns of files to leave out.

    Raises:
        UsageError: A pattern matches no file, or there is nothing to lint.
    """
    plain = not any(is_folder(name) or is_pattern(name) for name in names)
    if plain and len(names) == 1:
        return LintTargets(((names[0], None),))
    if plain and len(names) == 2:
        second = definition(names[1])
        if second is None or second.kind is FileKind.PROBLEM:
            return LintTargets(((names[0], names[1]),))
    listed = ListedFiles(names, skip)
    domains, problems = listed.of(FileKind.DOMAIN), listed.of(FileKind.PROBLEM)
    given = give_domains(domains, problems)
    pairs: list[tuple[str, str | None]] = []
    left: list[Finding] = []
    for seen in domains:
        own = [problem for problem, domain in given.items() if domain == seen]
        pairs += [(seen.file, problem) for problem in own] or [(seen.file, None)]
    for problem, domain in given.items():
        if isinstance(domain, str):
            rule, message = rules.UNDECIDED, f"not linted: it {domain}"
            left.append(Finding(rule, rule.level, message, plan=problem, subject=message))
    mixed = [seen for seen in listed.of(FileKind.MIXED) if seen.file.lower().endswith(".pddl")]
    for seen in (*listed.of(FileKind.BROKEN), *mixed):
        rule, message = rules.SYNTAX, "not linted: it defines neither a domain nor a problem"
        left.append(Finding(rule, rule.level, message, plan=seen.file, subject=message))
    # Linting a named file of another kind as a domain reports that it is not one.
    named = [name for name in names if any(seen.file == name for seen in listed.of(FileKind.PLAN))]
    pairs += [(name, None) for name in named]
    if not pairs and not left:
        raise UsageError(f"found neither a domain nor a problem in {' '.join(names)}")
    return LintTargets(
        tuple(pairs), tuple(left), tuple([seen.file for seen in listed.of(FileKind.OTHER)])
    )


def lint_files(
    models: LintTargets, *, lenient: bool = False, texts: Mapping[str, str] = _NONE
) -> list[Finding]:
    """Return the findings for models, without duplicates, each with the problems that it concerns.

    Args:
        lenient: Whether to report tolerated errors of syntax instead of rejecting the file.
        texts: The contents of files that are not read, such as those open in an editor.
    """
    reader = _Reader(lenient, texts)
    findings: dict[tuple[object, ...], Finding] = {}
    problems: dict[tuple[object, ...], dict[str, None]] = {}
    for finding in (*models.left, *(f for pair in models.pairs for f in reader.lint(*pair))):
        key = _key(finding)
        findings.setdefault(key, finding)
        problems.setdefault(key, {}).update(dict.fromkeys(finding.problems))
    return [finding.replace(problems=tuple(problems[key])) for key, finding in findings.items()]


def merge_findings(findings: Sequence[Finding], models: LintTargets) -> list[Finding]:
    """Merge findings shared by several problems of a domain, for reports to people.

    The message then lists the problems, and related locations point into the other problems.
    """
    domains = {problem: domain for domain, problem in models.pairs if problem is not None}
    sizes = Counter(domains.values())
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        domain = domains.get(finding.file, "")
        # Findings in the domain file were already merged by place.
        key = (domain, finding.rule.id, finding.level, finding.message) if domain else _key(finding)
        groups.setdefault(key, []).append(finding)
    return [_folded(group, domains, sizes) for group in groups.values()]


def _folded(group: Sequence[Finding], domains: dict[str, str], sizes: Counter[str]) -> Finding:
    first = group[0]
    in_problem = first.file in domains
    names = dict.fromkeys(
        name for finding in group for name in ((finding.file,) if in_problem else finding.problems)
    )
    files = list(names)
    total = sizes[domains[files[0]]] if files and files[0] in domains else 0
    if total < 2 or (in_problem and len(files) < 2):
        return first if len(group) == 1 else first.replace(related=_elsewhere(group))
    shown = ", ".join(files) if len(files) <= _NAMED else f"{files[0]} … {files[-1]}"
    number = f"all {total}" if len(files) == total else f"{len(files)} of {total}"
    message = f"{first.message} (in {number} problems: {shown})"
    return first.replace(message=message, related=(*first.related, *_elsewhere(group)))


def _elsewhere(group: Sequence[Finding]) -> tuple[Related, ...]:
    places = [finding.location or Location(finding.file, 1, 1) for finding in group[1:]]
    return tuple([Related(place, "The same finding at another location.") for place in places])


def _key(finding: Finding) -> tuple[object, ...]:
    place = finding.location
    where = None if place is None else (place.file, place.line, place.column)
    return finding.rule.id, finding.file, where, finding.message


class _Reader:
    def __init__(self, lenient: bool, texts: Mapping[str, str]) -> None:
        self._lenient = lenient
        self._texts = texts
        self._domains: dict[str, tuple[Any, list[Finding]]] = {}
        self._languages: dict[str, Language | None] = {}

    def lint(self, domain: str, problem: str | None) -> list[Finding]:
        if domain not in self._domains:
            self._domains[domain] = self._read(domain)
        lifted, found = self._domains[domain]
        if lifted is None:
            return found
        warnings: list[Diagnostic] = []
        task = None
        language = self._languages[domain]
        if problem is not None:
            read = parse_problem if language is None else language.parse_problem
            try:
                task = read(
                    self._source(problem),
                    lifted,
                    file=problem,
                    lenient=self._lenient,
                    warnings=warnings,
                )
            except (HvrError, RecursionError, MemoryError) as error:
                return [*found, unreadable(problem, error)]
        findings = [*found, *map(warning_finding, warnings)]
        for one in (lint if language is None else language.lint)(lifted, task):
            file = problem if one.in_problem and problem is not None else domain
            findings.append(
                Finding(
                    RULES[one.rule],
                    one.level,
                    short_names(one.message),
                    one.location,
                    plan=file,
                    subject=one.name,
                    problems=(problem,) if one.in_problem and problem is not None else (),
                )
            )
        return findings

    def _source(self, file: str) -> str | Path:
        text = self._texts.get(file)
        return Path(file) if text is None else text

    def _read(self, domain: str) -> tuple[Any, list[Finding]]:
        warnings: list[Diagnostic] = []
        source = self._source(domain)
        language = self._languages[domain] = language_of(source, domain)
        read = parse_domain if language is None else language.parse_domain
        try:
            lifted = read(source, file=domain, lenient=self._lenient, warnings=warnings)
        except (HvrError, RecursionError, MemoryError) as error:
            return None, [unreadable(domain, error)]
        return lifted, [*map(warning_finding, warnings)]


def unreadable(file: str, error: BaseException) -> Finding:
    """Return the finding for an unusable file."""
    rule, message = rules.error_rule(error), rules.error_reason(error)
    diagnostic = getattr(error, "diagnostic", None)
    if diagnostic is None:
        return Finding(rule, rule.level, message, None, (), file, message)
    place, text = diagnostic.location, rules.with_hints(message, diagnostic)
    return Finding(rule, rule.level, text, place, (), place.file, message)
