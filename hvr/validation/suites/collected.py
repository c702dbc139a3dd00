"""Suites of folders, patterns and files: everything in them is looked at."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from hvr.errors import DataFileError, UsageError
from hvr.validation.judged import STDIN
from hvr.validation.suites import Job, Left, Suite
from hvr.validation.suites.kinds import Kind, Seen, definition, is_skipped

_REASONS = {
    Kind.DOUBTFUL: (
        "it has steps and other text besides",
        "to have the plan in it validated, use --extract",
    ),
    Kind.PACKED: ("it is compressed", "to have it validated, unpack it"),
    Kind.BROKEN: (
        "it is called like a model, and defines neither a domain nor a problem",
        "begin it with (define (domain …) or (define (problem …)",
    ),
}
_UNREAD = "to have the plan in it validated, use --extract, or call it like a plan: p01.plan"
_OTHER = "to have it validated as a plan, name it on the command line, or call it like a plan"


def collect(names: Sequence[str], skip: Sequence[str] = (), *, doubtful: bool = False) -> Suite:
    """Look at files and folders, and give each plan its problem and each problem its domain.

    Args:
        names: files, patterns and folders. A file that is named is a plan unless it defines a
            domain or a problem; in a folder it has to look like one.
        skip: patterns of files that are left out.
        doubtful: whether files that have steps and other text besides are plans.

    Raises:
        UsageError: a pattern without a file, or nothing that is a problem or a plan.
        DataFileError: a folder that cannot be listed.
    """
    from hvr.validation.suites.pairing import pair

    listed = Listed(names, skip, doubtful=doubtful)
    domains, problems = listed.of(Kind.DOMAIN), listed.of(Kind.PROBLEM)
    listed.look_for_namesakes(problems)
    suite = pair(domains, problems, listed.of(Kind.PLAN))
    if not problems:
        raise UsageError(f"there is no problem in {_shown(names)}")
    if not suite.jobs and not suite.left:
        raise UsageError(f"there is no plan in {_shown(names)}")
    return suite.replace(
        left=(*suite.left, *listed.doubtful),
        skipped=tuple(listed.skipped),
        others=listed.others(),
        hidden=tuple(listed.hidden),
    )


def plans_of(
    domain: str,
    problem: str,
    names: Sequence[str],
    skip: Sequence[str] = (),
    *,
    doubtful: bool = False,
) -> Suite:
    """Return the suite of one problem: all plans are for it, wherever they are.

    Args:
        domain: the domain file.
        problem: the problem file.
        names: files, patterns, folders, and `-` for standard input.
        skip: patterns of files that are left out.
        doubtful: whether files that have steps and other text besides are plans.

    Raises:
        UsageError: a pattern or a folder without a plan.
        DataFileError: a folder that cannot be listed.
    """
    listed = Listed(names, skip, models=False, doubtful=doubtful)
    listed.look_for_namesakes([Seen(problem, Kind.PROBLEM)])
    plans = tuple([seen.file for seen in listed.of(Kind.PLAN)])
    if not plans and not listed.doubtful:
        raise UsageError(f"there is no plan in {_shown(names)}")
    models = {os.path.normpath(domain), os.path.normpath(problem)}
    more = [Left(seen.file, f"it is a {kind}", "to have its plans validated, name it as well")
            for kind in (Kind.DOMAIN, Kind.PROBLEM)
            for seen in listed.of(kind) if os.path.normpath(seen.file) not in models]  # fmt: skip
    jobs = (Job(domain, problem, plans),) if plans else ()
    return Suite(
        jobs,
        tuple(listed.doubtful),
        tuple(listed.skipped),
        (*more, *listed.others()),
        hidden=tuple(listed.hidden),
    )


class Listed:
    """The files that names stand for, each once, in the order of the names, and what they are.

    Args:
        names: files, patterns, folders, and `-` for standard input.
        skip: patterns of files that are left out.
        models: whether a file that is named may be a domain or a problem; else it is a plan.
        doubtful: whether files that have steps and other text besides are plans.
    """

    def __init__(
        self,
        names: Sequence[str],
        skip: Sequence[str] = (),
        *,
        models: bool = True,
        doubtful: bool = False,
    ) -> None:
        self.skipped: list[str] = []
        self.hidden: list[str] = []
        self.doubtful: list[Left] = []
        self._skip = tuple(skip)
        self._models = models
        self._doubtful = doubtful
        self._seen: dict[str, Seen] = {}
        for name in names:
            self._take(name)

    def of(self, kind: Kind) -> list[Seen]:
        """Return the files of a kind."""
        return [seen for seen in self._seen.values() if seen.kind is kind]

    def others(self) -> tuple[Left, ...]:
        """Return the files that are neither models nor plans, with the reason."""
        return tuple([Left(seen.file, seen.why, _OTHER) for seen in self.of(Kind.OTHER)])

    def look_for_namesakes(self, problems: Sequence[Seen]) -> None:
        """Let no text that is named after a problem pass for something else than a plan."""
        from hvr.validation.suites.looks import may_hold_a_plan
        from hvr.validation.suites.pairing import namesake

        for seen in self.of(Kind.OTHER):
            problem = namesake(seen.file, problems) if may_hold_a_plan(seen.file) else None
            if problem is None:
                continue
            packed = seen.why.startswith("it is compressed")
            if self._doubtful and not packed:
                self._seen[os.path.normpath(seen.file)] = Seen(seen.file, Kind.PLAN)
                continue
            self._seen[os.path.normpath(seen.file)] = Seen(seen.file, Kind.DOUBTFUL)
            reason = f"it is named after {problem}, and is not a plan file"
            remedy = _REASONS[Kind.PACKED][1] if packed else _UNREAD
            self.doubtful.append(Left(seen.file, reason, remedy))

    def _take(self, name: str) -> None:
        if name == STDIN:
            self._seen.setdefault(STDIN, Seen(STDIN, Kind.PLAN))
            return
        if is_folder(name):
            self._take_all(files_below(name, self.hidden))
        elif is_pattern(name):
            from glob import glob

            # Path.glob knows no absolute patterns.
            matches = sorted(glob(name, recursive=True))  # noqa: PTH207
            if not matches:
                raise UsageError(f"no file matches {name!r}")
            for match in matches:
                self._take_all(
                    files_below(match, self.hidden) if is_folder(match) else [match], named=name
                )
        else:
            # A missing file is a result of its own, so that the others are judged all the same.
            self._add(name, named=True)

    def _take_all(self, files: Iterable[str], named: str = "") -> None:
        # A pattern that says how the files end names them; `**` and `*` do not.
        is_named = bool(named) and not named.endswith("*")
        for file in files:
            self._add(file, named=is_named)

    def _add(self, file: str, *, named: bool) -> None:
        key = os.path.normpath(file)
        if key in self._seen:
            return
        if is_skipped(file, self._skip):
            self.skipped.append(file)
            return
        if named:
            seen = (definition(file) if self._models else None) or Seen(file, Kind.PLAN)
        else:
            from hvr.validation.suites.looks import look

            seen = look(file)
        if self._doubtful and seen.kind in (Kind.DOUBTFUL, Kind.OTHER):
            from hvr.validation.suites.looks import has_a_plan

            if seen.kind is Kind.DOUBTFUL or has_a_plan(file):
                seen = Seen(file, Kind.PLAN)
        if seen.kind in _REASONS:
            self.doubtful.append(Left(file, *_REASONS[seen.kind]))
        self._seen[key] = seen


def is_folder(name: str) -> bool:
    """Say whether a name is that of a folder."""
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):
        return False


def is_pattern(name: str) -> bool:
    """Say whether a name is a pattern, and not that of a file that has such characters in it."""
    try:
        return any(character in name for character in "*?[") and not Path(name).exists()
    except (OSError, ValueError):
        return False


def files_below(folder: str, hidden: list[str]) -> list[str]:
    """Return the files in a folder and the folders in it, without hidden ones, in order.

    Args:
        folder: The folder.
        hidden: Gets the names of the hidden files and folders.

    Raises:
        DataFileError: a folder cannot be listed.
    """

    def refuse(error: OSError) -> None:
        raise DataFileError(f"cannot list {error.filename}: {error.strerror}") from error

    found: list[str] = []
    for place, folders, files in os.walk(folder, onerror=refuse):
        hidden += [str(Path(place, name)) for name in sorted((*folders, *files)) if name[0] == "."]
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [str(Path(place, file)) for file in sorted(files) if not file.startswith(".")]
    return found


def _shown(names: Sequence[str]) -> str:
    return " ".join(names)
