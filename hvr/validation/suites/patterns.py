"""Suites that patterns describe: `bench/{domain}/{problem}.pddl` and the plans like it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from hvr.errors import UsageError
from hvr.validation.suites import FIELDS, Job, Left, Suite
from hvr.validation.suites.kinds import Kind, definition, is_skipped

_FIELD = re.compile(r"\{([^{}]*)\}")
_SPECIAL = re.compile(r"(\*\*/|\*\*|\*|\?|\[[^\]]*\]|\{[^{}]*\})")


def expand_patterns(
    domain: str, problem: str, plans: Sequence[str], skip: Sequence[str] = ()
) -> Suite:
    """Return the suite of all values of the fields for which there is a problem.

    Args:
        domain: the domain file, with `{domain}` and `{problem}` for parts of names.
        problem: the problem files; `*` and `**` stand for anything, too.
        plans: the plan files.
        skip: patterns of files that are left out.

    Raises:
        UsageError: an unknown field, a problem pattern without a file, or no plan at all.
    """
    for pattern in (domain, problem, *plans):
        for field in _FIELD.findall(pattern):
            if field not in FIELDS:
                raise UsageError(f"{pattern!r} has the field {{{field}}}; there are {{domain}} "
                                 "and {problem}")  # fmt: skip
    jobs: list[Job] = []
    taken: set[str] = set()
    without: list[str] = []
    # `{domain}/{problem}.pddl` fits the domain, too.
    problems = [one for one in _matches(problem) if not _defines_domain(one[0])]
    if not problems:
        raise UsageError(f"no file matches {problem!r}")

    def kept(file: str) -> bool:
        return not is_skipped(file, skip)

    for file, values in problems:
        its = [plan for pattern in plans for plan, _ in _matches(_filled(pattern, values))]
        its = [plan for plan in dict.fromkeys(its) if plan != file and kept(plan)]
        if its:
            jobs.append(Job(_only(domain, values), file, tuple(its)))
            taken.update(its)
        else:
            without.append(file)
    seen = [file for pattern in plans for file, _ in _matches(pattern)]
    models = {name for job in jobs for name in (job.domain, job.problem)} | set(without)
    rest = [file for file in dict.fromkeys(seen) if file not in taken | models]
    left = [Left(file, "no problem matches its name") for file in rest if kept(file)]
    if not jobs and not left:
        raise UsageError(f"no file matches {' '.join(plans)!r}")
    skipped = [file for file in dict.fromkeys(seen) if not kept(file)]
    return Suite(tuple(jobs), tuple(left), tuple(skipped), without_plan=tuple(without))


def _defines_domain(file: str) -> bool:
    model = definition(file)
    return model is not None and model.kind is Kind.DOMAIN


def _only(pattern: str, values: dict[str, str]) -> str:
    """Return the file that a pattern stands for; a name without one is reported as missing."""
    filled = _filled(pattern, values)
    matches = [file for file, _ in _matches(filled)]
    if len(matches) > 1:
        raise UsageError(f"{filled!r} is to be one domain, and is {matches[0]} and {matches[1]}")
    return matches[0] if matches else filled


def _filled(pattern: str, values: dict[str, str]) -> str:
    from glob import escape

    return _FIELD.sub(
        lambda match: escape(values[match[1]]) if match[1] in values else match[0], pattern
    )


def _matches(pattern: str) -> list[tuple[str, dict[str, str]]]:
    """Return the files that match a pattern, with the values of its fields."""
    regex, named = "", set()
    for part in _SPECIAL.split(pattern):
        if part in ("**/", "**"):
            regex += "(?:.*/)?" if part == "**/" else ".*"
        elif part == "*":
            regex += "[^/]*"
        elif part == "?":
            regex += "[^/]"
        elif part[:1] == "{" and part[1:-1] in FIELDS:
            name = part[1:-1]
            regex += f"(?P={name})" if name in named else f"(?P<{name}>[^/]+)"
            named.add(name)
        elif part[:1] == "[" and part[-1:] == "]":
            regex += part.replace("[!", "[^")
        else:
            regex += re.escape(part)
    whole = re.compile(regex)
    from glob import glob

    found: list[tuple[str, dict[str, str]]] = []
    for file in sorted(glob(_FIELD.sub("*", pattern), recursive=True)):  # noqa: PTH207
        match = whole.fullmatch(file.replace(os.sep, "/"))
        if match is not None and not os.path.isdir(file):  # noqa: PTH112
            found.append((file, match.groupdict()))
    return found
