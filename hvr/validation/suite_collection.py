"""Collect suites from folders and files, from patterns, or from a manifest."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.base.texts import read_json_lines
from hvr.errors import DataFileError, UsageError
from hvr.pddl import Diagnostic, Location
from hvr.validation import findings
from hvr.validation.batch import (
    BatchOptions,
    LoadedModel,
    ModelReader,
    UnusableModelError,
    judge,
    judge_all,
)
from hvr.validation.findings import STDIN, Judged
from hvr.validation.report import Outcome, PlanResult, ValidationReport
from hvr.validation.suites import (
    FIELDS,
    ClassifiedFile,
    FileKind,
    Job,
    Left,
    Suite,
    classify,
    definition,
    has_a_plan,
    is_skipped,
    may_hold_a_plan,
    pair,
    problem_named_like,
)
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.base.engines.registry import EngineChoice
    from hvr.validation.findings import Finding


# Collection ---------------------------------------------------------------------------------------

_REASONS = {
    FileKind.MIXED: (
        "it contains steps and other text",
        "use --extract to validate the plan in it",
    ),
    FileKind.PACKED: ("it is compressed", "unpack it to validate it"),
    FileKind.BROKEN: (
        "it is named like a model but defines neither a domain nor a problem",
        "begin it with (define (domain …) or (define (problem …)",
    ),
}
_UNREAD = "use --extract to validate the plan in it, or name it like a plan: p01.plan"
_OTHER = "to validate it as a plan, name it on the command line, or name it like a plan"


def collect(names: Sequence[str], skip: Sequence[str] = (), *, mixed: bool = False) -> Suite:
    """Collect a suite: assign each plan to its problem and each problem to its domain.

    Args:
        names: Files, patterns and folders. A file given by name counts as a plan unless it defines
            a domain or a problem; a file in a folder must look like a plan.
        skip: Patterns of files to leave out.
        mixed: Whether files that contain steps and other text count as plans.

    Raises:
        UsageError: A pattern matches no file, or no problem or no plan was found.
    """
    listed = ListedFiles(names, skip, mixed=mixed)
    domains, problems = listed.of(FileKind.DOMAIN), listed.of(FileKind.PROBLEM)
    listed.look_for_namesakes(problems)
    suite = pair(domains, problems, listed.of(FileKind.PLAN))
    if not problems:
        raise UsageError(f"no problem found in {_shown(names)}")
    if not suite.jobs and not suite.left:
        raise UsageError(f"no plan found in {_shown(names)}")
    return suite.replace(
        left=(*suite.left, *listed.unclear),
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
    mixed: bool = False,
) -> Suite:
    """Return the suite of a single problem, to which all plans belong.

    Args:
        names: Files, patterns, folders, and `-` for standard input.
        skip, mixed: See `collect`.

    Raises:
        UsageError: A pattern or a folder contains no plan.
    """
    listed = ListedFiles(names, skip, models=False, mixed=mixed)
    listed.look_for_namesakes([ClassifiedFile(problem, FileKind.PROBLEM)])
    plans = tuple([seen.file for seen in listed.of(FileKind.PLAN)])
    if not plans and not listed.unclear:
        raise UsageError(f"no plan found in {_shown(names)}")
    models = {os.path.normpath(domain), os.path.normpath(problem)}
    more = [
        Left(seen.file, f"it is a {kind}", "to validate its plans, name it as well")
        for kind in (FileKind.DOMAIN, FileKind.PROBLEM)
        for seen in listed.of(kind)
        if os.path.normpath(seen.file) not in models
    ]
    jobs = (Job(domain, problem, plans),) if plans else ()
    return Suite(
        jobs,
        tuple(listed.unclear),
        tuple(listed.skipped),
        (*more, *listed.others()),
        hidden=tuple(listed.hidden),
    )


class ListedFiles:
    """The files that names, folders and patterns refer to, with their kinds, without duplicates.

    Args:
        names: Files, patterns, folders, and `-` for standard input.
        models: Whether a file given by name may be a domain or a problem; otherwise it is a plan.
        skip, mixed: See `collect`.
    """

    def __init__(
        self,
        names: Sequence[str],
        skip: Sequence[str] = (),
        *,
        models: bool = True,
        mixed: bool = False,
    ) -> None:
        self.skipped: list[str] = []
        self.hidden: list[str] = []
        self.unclear: list[Left] = []
        self._skip = tuple(skip)
        self._models = models
        self._mixed = mixed
        self._seen: dict[str, ClassifiedFile] = {}
        for name in names:
            self._take(name)

    def of(self, kind: FileKind) -> list[ClassifiedFile]:
        return [seen for seen in self._seen.values() if seen.kind is kind]

    def others(self) -> tuple[Left, ...]:
        return tuple([Left(seen.file, seen.why, _OTHER) for seen in self.of(FileKind.OTHER)])

    def look_for_namesakes(self, problems: Sequence[ClassifiedFile]) -> None:
        """Report texts with a problem's name; if `mixed`, accept uncompressed ones as plans."""
        for seen in self.of(FileKind.OTHER):
            problem = (
                problem_named_like(seen.file, problems) if may_hold_a_plan(seen.file) else None
            )
            if problem is None:
                continue
            packed = seen.why.startswith("it is compressed")
            if self._mixed and not packed:
                self._seen[os.path.normpath(seen.file)] = ClassifiedFile(seen.file, FileKind.PLAN)
                continue
            self._seen[os.path.normpath(seen.file)] = ClassifiedFile(seen.file, FileKind.MIXED)
            reason = f"it is named after {problem} but is not a plan file"
            remedy = _REASONS[FileKind.PACKED][1] if packed else _UNREAD
            self.unclear.append(Left(seen.file, reason, remedy))

    def _take(self, name: str) -> None:
        if name == STDIN:
            self._seen.setdefault(STDIN, ClassifiedFile(STDIN, FileKind.PLAN))
            return
        if is_folder(name):
            self._take_all(files_below(name, self.hidden))
        elif is_pattern(name):
            from glob import glob

            # Path.glob does not support absolute patterns.
            matches = sorted(glob(name, recursive=True))  # noqa: PTH207
            if not matches:
                raise UsageError(f"no file matches {name!r}")
            for match in matches:
                self._take_all(
                    files_below(match, self.hidden) if is_folder(match) else [match], named=name
                )
        else:
            # A missing file gets its own result, so that the others are still judged.
            self._add(name, named=True)

    def _take_all(self, files: Iterable[str], named: str = "") -> None:
        # A pattern with an ending names its files; `**` and `*` do not.
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
            seen = (definition(file) if self._models else None) or ClassifiedFile(
                file, FileKind.PLAN
            )
        else:
            seen = classify(file)
        if self._mixed and (
            seen.kind is FileKind.MIXED or (seen.kind is FileKind.OTHER and has_a_plan(file))
        ):
            seen = ClassifiedFile(file, FileKind.PLAN)
        if seen.kind in _REASONS:
            self.unclear.append(Left(file, *_REASONS[seen.kind]))
        self._seen[key] = seen


def is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):
        return False


def is_pattern(name: str) -> bool:
    """Return whether a name is a pattern, and not the name of an existing file."""
    try:
        return any(character in name for character in "*?[") and not Path(name).exists()
    except (OSError, ValueError):
        return False


def files_below(folder: str, hidden: list[str]) -> list[str]:
    """Return the files below a folder, sorted, except hidden files and folders.

    The names of hidden files and folders are appended to `hidden`.

    Raises:
        DataFileError: A folder cannot be listed.
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


# Manifest -----------------------------------------------------------------------------------------


def read_manifest(file: str, skip: Sequence[str] = ()) -> Suite:
    """Read a manifest: JSON lines with `domain`, `problem`, and `plan` or `plans`.

    Other keys are ignored. Paths are relative to the folder of the manifest.

    Raises:
        DataFileError: The file cannot be read, or a line is malformed.
        UsageError: The manifest contains no plan, or every plan is skipped.
    """
    folder = Path(file).parent
    plans: dict[tuple[str, str], list[str]] = {}
    skipped: list[str] = []
    for number, line in read_json_lines(Path(file)):
        domain, problem, entry_plans = _entry(line, f"{file}:{number}")
        key = (str(folder / domain), str(folder / problem))
        names = [str(folder / plan) for plan in entry_plans]
        skipped += [name for name in names if is_skipped(name, skip)]
        plans.setdefault(key, []).extend(n for n in names if not is_skipped(n, skip))
    if not plans:
        raise UsageError(f"{file} contains no plan")
    jobs = [
        Job(domain, problem, tuple(dict.fromkeys(names)))
        for (domain, problem), names in plans.items()
        if names
    ]
    if not jobs:
        raise UsageError(f"every plan in {file} is skipped")
    return Suite(tuple(jobs), skipped=tuple(dict.fromkeys(skipped)))


def model_files(line: Any, place: str) -> tuple[str, str]:
    """Return the names of domain and problem in a line of a manifest, or raise a DataFileError."""
    if not isinstance(line, dict):
        raise DataFileError(f'{place}: expected an object with "domain" and "problem"')
    for name in ("domain", "problem"):
        if not isinstance(line.get(name), str) or not line[name]:
            raise DataFileError(f'{place}: "{name}" must be a file name')
    return line["domain"], line["problem"]


def _entry(line: Any, place: str) -> tuple[str, str, list[str]]:
    domain, problem = model_files(line, place)
    if ("plan" in line) is ("plans" in line):
        raise DataFileError(f'{place}: expected either "plan" or "plans"')
    plans = line["plans"] if "plans" in line else [line["plan"]]
    if not isinstance(plans, list) or not all(isinstance(p, str) and p for p in plans):
        raise DataFileError(
            f'{place}: "plan" must be a file name, and "plans" a list of file names'
        )
    return domain, problem, plans


# Patterns -----------------------------------------------------------------------------------------
# Suites described by patterns: `bench/{domain}/{problem}.pddl` and the plans like it.

_FIELD = re.compile(r"\{([^{}]*)\}")
_SPECIAL = re.compile(r"(\*\*/|\*\*|\*|\?|\[[^\]]*\]|\{[^{}]*\})")


def expand_patterns(
    domain: str, problem: str, plans: Sequence[str], skip: Sequence[str] = ()
) -> Suite:
    """Return the suite of all problem files that match, with their domains and plans.

    Args:
        domain: The domain file, with `{domain}` and `{problem}` for parts of its path.
        problem: The problem files, which may also contain `*` and `**`.
        plans: The plan files, in the same form.
        skip: Patterns of plan files to leave out.

    Raises:
        UsageError: A field is unknown, a pattern matches no file, or several domains match one
            problem.
    """
    for pattern in (domain, problem, *plans):
        for field in _FIELD.findall(pattern):
            if field not in FIELDS:
                raise UsageError(
                    f"unknown field {{{field}}} in {pattern!r}; expected {{domain}} or {{problem}}"
                )
    jobs: list[Job] = []
    taken: set[str] = set()
    without: list[str] = []
    # `{domain}/{problem}.pddl` also matches the domain.
    problems = [one for one in _matches(problem) if not _defines_domain(one[0])]
    if not problems:
        raise UsageError(f"no file matches {problem!r}")

    def kept(file: str) -> bool:
        return not is_skipped(file, skip)

    for file, values in problems:
        found = [plan for pattern in plans for plan, _ in _matches(_filled(pattern, values))]
        found = [plan for plan in dict.fromkeys(found) if plan != file and kept(plan)]
        if found:
            jobs.append(Job(_only(domain, values), file, tuple(found)))
            taken.update(found)
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
    return model is not None and model.kind is FileKind.DOMAIN


def _only(pattern: str, values: dict[str, str]) -> str:
    filled = _filled(pattern, values)
    matches = [file for file, _ in _matches(filled)]
    if len(matches) > 1:
        raise UsageError(
            f"{filled!r} must match one domain, but matches {matches[0]} and {matches[1]}"
        )
    return matches[0] if matches else filled


def _filled(pattern: str, values: dict[str, str]) -> str:
    from glob import escape

    return _FIELD.sub(
        lambda match: escape(values[match[1]]) if match[1] in values else match[0], pattern
    )


def _matches(pattern: str) -> list[tuple[str, dict[str, str]]]:
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


# Judging ------------------------------------------------------------------------------------------


def judge_suite(
    suite: Suite, options: BatchOptions, *, engine: EngineChoice | None = None
) -> Iterator[Judged]:
    """Judge the plans of a suite, problem by problem, and report unmatched plans.

    `engine` judges suites with several plans; the default is this process.

    Raises:
        UnusableModelError: The suite has a single problem, and it or its domain is unusable.
        UsageError: An option is not supported for hierarchical plans.
    """
    reader = ModelReader(options)
    first = None
    if len(suite.jobs) == 1:
        first = reader.read(suite.jobs[0].domain, suite.jobs[0].problem)
    if engine is not None and sum(len(job.plans) for job in suite.jobs) > 1:
        return _on_engine(suite, reader, first, engine)
    return _judged(suite, reader, first)


def _judged(suite: Suite, reader: ModelReader, first: LoadedModel | None) -> Iterator[Judged]:
    refused: set[str] = set()
    for job in suite.jobs:
        if job.domain in refused:
            continue
        try:
            model = first or reader.read(job.domain, job.problem)
        except UnusableModelError as error:
            yield _refusal(suite, job, error.result, refused)
            continue
        warnings = model.warnings
        for result in judge_all(model, job.plans):
            yield result.replace(warnings=warnings) if warnings else result
            warnings = ()
    yield from _besides(suite, reader)


def _refusal(suite: Suite, job: Job, error: Judged, refused: set[str]) -> Judged:
    # A domain blocks the plans of all its problems and is reported once.
    at = error.result.diagnostic
    if at is None or at.location.file != job.domain:
        return error.replace(blocked=job.plans)
    refused.add(job.domain)
    blocked = [plan for one in suite.jobs if one.domain == job.domain for plan in one.plans]
    return error.replace(blocked=tuple(dict.fromkeys(blocked)))


def _besides(suite: Suite, reader: ModelReader) -> Iterator[Judged]:
    for left in suite.left:
        yield _named(left)
    for domain in suite.without_problem:
        try:
            reader.read_domain(domain)
        except UnusableModelError as error:
            yield error.result
    yield from map(_missing, suite.missing)


def _missing(left: Left) -> Judged:
    diagnostic = Diagnostic(Location(left.file, 1, 1), left.reason)
    report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason=left.reason)
    return Judged(
        PlanResult("", left.file, left.file, report, diagnostic), findings.WITHOUT_PLAN.id
    )


def _on_engine(
    suite: Suite, reader: ModelReader, first: LoadedModel | None, engine: EngineChoice
) -> Iterator[Judged]:
    problems = [(job.domain, job.problem, job.plans) for job in suite.jobs]
    # Close explicitly: Python ignores Ctrl-C while it finalises a generator.
    with closing(judge_on(engine, reader.options, problems)) as parts:
        yield from _put_together(suite, reader, first, parts)
    yield from _besides(suite, reader)


def _put_together(
    suite: Suite, reader: ModelReader, first: LoadedModel | None, parts: Iterable[JudgedFiles]
) -> Iterator[Judged]:
    judged = ((part, result) for part in parts for result in part.results)
    # Each process reports the warnings about a domain; keep only the first report.
    reported: set[tuple[object, object]] = set()
    if first is not None:
        reported.update((w, w.location) for w in first.warnings)
    domains: set[str] = set()
    for job in suite.jobs:
        warnings = first.warnings if first is not None else ()
        refused = job.domain in domains
        for (part, found), file in zip(islice(judged, len(job.plans)), job.plans, strict=True):
            if part.error is not None:
                if not refused:
                    yield _refusal(suite, job, part.error, domains)
                refused = True
                continue
            # Standard input is read in this process.
            result = found or judge(first or reader.read(job.domain, job.problem), file)
            warnings += tuple([w for w in part.warnings if (w, w.location) not in reported])
            reported.update((w, w.location) for w in part.warnings)
            yield result.replace(warnings=warnings) if warnings else result
            warnings = ()


def _named(left: Left) -> Judged:
    reason = f"not validated: {left.reason}"
    report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason=reason)
    return Judged(PlanResult(left.file, "", "", report), findings.NOT_VALIDATED.id)


# Chunks -------------------------------------------------------------------------------------------
# Plan files judged on an engine: in processes of this machine or of a cluster.

_CHUNKS_AT_A_TIME = 8
"""Chunks per worker, so that all workers finish at about the same time."""
_LARGEST_CHUNK = 64


class PlanFiles(Value):
    """Plan files of one problem, as a unit of work."""

    options: BatchOptions
    domain: str
    problem: str
    files: tuple[str, ...]
    batch: str


class JudgedFiles(Value):
    """The results for plan files of one problem.

    Attributes:
        results: One result per file. None stands for a plan of an unusable model, or for a plan
            that the main process has to read.
        error: The result for an unusable model, else None.
    """

    results: tuple[Judged | None, ...]
    error: Judged | None = None
    warnings: tuple[Finding, ...] = ()


def judge_on(
    choice: EngineChoice, options: BatchOptions, problems: Iterable[tuple[str, str, Sequence[str]]]
) -> Generator[JudgedFiles, None, None]:
    """Judge plan files on an engine; yield the results in the order of the plans, in chunks.

    Each problem is a triple of domain, problem and plans. The files must exist where the engine
    works. The result for standard input is None: the caller must judge it.
    """
    problems = list(problems)
    plans = sum(len(files) for *_, files in problems)
    with closing(choice.open(plans)) as engine:
        size = min(_LARGEST_CHUNK, plans // (engine.width * _CHUNKS_AT_A_TIME))
        waiting = list(_chunks(options, problems, max(1, size)))
        sent = [chunk for chunk in waiting if chunk.files != (STDIN,)]
        with closing(engine.run(judge_files, sent, ordered=True)) as judged:
            # Start the workers before this process waits for standard input.
            finished = chain(list(islice(judged, 1)), judged)
            for chunk in waiting:
                if chunk.files == (STDIN,):
                    yield JudgedFiles(results=(None,))
                    continue
                done = next(finished)
                if done.value is not None:
                    yield done.value
                else:
                    yield from _one_by_one(choice, chunk, done.lost)


def _one_by_one(choice: EngineChoice, chunk: PlanFiles, lost: str) -> Iterator[JudgedFiles]:
    # After the death of a process, only the culprit has no verdict.
    if len(chunk.files) == 1:
        yield _lost(chunk, lost)
        return
    singles = [chunk.replace(files=(file,)) for file in chunk.files]
    with (
        closing(choice.open(len(singles))) as engine,
        closing(engine.run(judge_files, singles, ordered=True)) as finished,
    ):
        for single, done in zip(singles, finished, strict=True):
            yield done.value or _lost(single, done.lost)


def _lost(chunk: PlanFiles, lost: str) -> JudgedFiles:
    report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason=f"not judged: {lost}")
    result = PlanResult(chunk.files[0], chunk.domain, chunk.problem, report)
    return JudgedFiles(results=(Judged(result, findings.UNDECIDED.id),))


def _chunks(
    options: BatchOptions, problems: Iterable[tuple[str, str, Sequence[str]]], size: int
) -> Iterator[PlanFiles]:
    batch = os.urandom(8).hex()
    for domain, problem, files in problems:
        kept: list[str] = []
        for file in files:
            if file == STDIN or len(kept) == size:
                if kept:
                    yield PlanFiles(options, domain, problem, tuple(kept), batch)
                kept = []
            if file == STDIN:
                yield PlanFiles(options, domain, problem, (STDIN,), batch)
            else:
                kept.append(file)
        if kept:
            yield PlanFiles(options, domain, problem, tuple(kept), batch)


def judge_files(chunk: PlanFiles) -> JudgedFiles:
    """Judge plan files of one problem, in a process of any engine."""
    try:
        model = _reader(chunk.options, chunk.batch).model(chunk.domain, chunk.problem)
    except UnusableModelError as error:
        return JudgedFiles(results=(None,) * len(chunk.files), error=error.result)
    return JudgedFiles(
        results=tuple([judge(model, file) for file in chunk.files]), warnings=model.warnings
    )


class _LastModel:
    """Reads models and caches the last one, because consecutive chunks share a problem."""

    def __init__(self, options: BatchOptions) -> None:
        self._reader = ModelReader(options)
        self._last: LoadedModel | None = None

    def model(self, domain: str, problem: str) -> LoadedModel:
        last = self._last
        if last is None or (last.domain, last.problem) != (domain, problem):
            self._last = None
            self._last = last = self._reader.read(domain, problem)
        return last


@lru_cache(maxsize=1)
def _reader(options: BatchOptions, batch: str) -> _LastModel:
    del batch
    return _LastModel(options)
