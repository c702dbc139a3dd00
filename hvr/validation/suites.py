"""Suites: the assignment of plans to problems and domains, and the files without an assignment.

`suite_collection` builds a suite from folders and files, from patterns with `{domain}` and
`{problem}`, or from a manifest. `suite_collection` judges it. Every examined file is accounted for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from importlib import import_module
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Protocol, cast

from hvr.errors import HvrError
from hvr.validation.report import OnFailure, ValidationReport
from hvr.values import Value, cached_property

if TYPE_CHECKING:
    from hvr.pddl import Diagnostic
    from hvr.validation.batch import BatchOptions
    from hvr.validation.findings import LintFinding


FIELDS = ("domain", "problem")

MANIFEST_ENDING = ".jsonl"


class Job(Value):
    """A problem with its plans."""

    domain: str
    problem: str
    plans: tuple[str, ...]


class Left(Value):
    """A file that is not validated; the reason and the remedy (or "") are lower-case phrases."""

    file: str
    reason: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.file}: {self.reason}" + (f"; {self.remedy}" if self.remedy else "")


class Suite(Value):
    """The plans to validate, and all other files that were examined.

    Attributes:
        left: Files that look like plans but belong to no job; they make the suite fail.
        skipped: Files that match --skip.
        others: Other files that were examined, and why each is no plan to validate.
        without_plan, without_problem: Problems without a plan, and domains without a problem.
        hidden: Hidden files and folders.
        missing: What the two list, moved to this tuple with reasons, if a problem must have a plan.
    """

    jobs: tuple[Job, ...]
    left: tuple[Left, ...] = ()
    skipped: tuple[str, ...] = ()
    others: tuple[Left, ...] = ()
    without_plan: tuple[str, ...] = ()
    without_problem: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    missing: tuple[Left, ...] = ()

    def requiring_plans(self) -> Suite:
        """Return the suite with each missing plan and each missing problem listed in `missing`."""
        missing = (
            *(Left(file, "the problem has no plan", _ADD) for file in self.without_plan),
            *(Left(file, "the domain has no problem") for file in self.without_problem),
        )
        return self.replace(missing=missing, without_plan=(), without_problem=())

    @property
    def files(self) -> list[str]:
        """The names of all files on which a result depends."""
        names = [name for job in self.jobs for name in (job.domain, job.problem, *job.plans)]
        return list(dict.fromkeys(names))

    def remarks(self) -> list[str]:
        parts = (
            ("skipped on request", self.skipped),
            ("problems without a plan", self.without_plan),
            ("domains without a problem", self.without_problem),
            ("not plans", tuple([left.file for left in self.others])),
        )
        return [f"{what}: {', '.join(files)}" for what, files in parts if files]

    def explained(self) -> list[str]:
        """Return a line with reason and remedy for each file not validated, or a single line."""
        everything = (
            *self.left,
            *(Left(file, "it matches --skip", _KEEP) for file in self.skipped),
            *(Left(file, "it is a problem without a plan", _ADD) for file in self.without_plan),
            *(Left(file, "it is a domain without a problem") for file in self.without_problem),
            *self.others,
            *(Left(file, "it is hidden", "name it on the command line") for file in self.hidden),
        )
        lines = [f"not validated: {left}" for left in everything]
        return lines or ["no file was left out: every file is part of a result"]


_KEEP = "to include it, drop the pattern that matches it"
_ADD = "to validate a plan, name it after the problem, as in p01.pddl and p01.plan"


# Files --------------------------------------------------------------------------------------------
# Classification of files, their languages, and the pairing of domains, problems and plans.

# Kinds --------------------------------------------------------------------------------------------

SNIFFED = 65536
_DEFINITION = re.compile(
    r"(?:\s|;[^\r\n]*+)*+\(\s*define\s*\(\s*(domain|problem)\s+([^\s()]*)", re.IGNORECASE
)


class FileKind(StrEnum):
    DOMAIN = "domain"
    PROBLEM = "problem"
    PLAN = "plan"
    MIXED = "mixed"
    """The file contains steps and other text."""
    PACKED = "packed"
    """The file is named like a plan, but compressed."""
    BROKEN = "broken"
    """The file is named like a model, but defines neither a domain nor a problem."""
    OTHER = "other"


class ClassifiedFile(Value):
    """A file with its kind.

    Attributes:
        name: The name that a domain or problem defines, in lower case.
        domain: The domain that a problem names, in lower case.
        why: The reason for the kind `OTHER`.
    """

    file: str
    kind: FileKind
    name: str = ""
    domain: str = ""
    why: str = ""


def is_skipped(file: str, patterns: Sequence[str]) -> bool:
    """Return whether a pattern matches a file's path or name."""
    if not patterns:
        return False
    from fnmatch import fnmatchcase

    path = Path(file)
    texts = (path.as_posix(), path.name, os.path.normpath(file).replace(os.sep, "/"))
    return any(fnmatchcase(text, pattern) for pattern in patterns for text in texts)


def definition(file: str) -> ClassifiedFile | None:
    """Return the definition in a file, or None if it has none or cannot be read."""
    text = beginning(file)
    return None if text is None else definition_in(file, text)


def beginning(file: str) -> str | None:
    """Return the beginning of a file, or None if the file cannot be read or is a pipe."""
    path = Path(file)
    try:
        if not path.is_file():
            return None
        with path.open("rb") as opened:
            return _text(opened.read(SNIFFED))
    except (OSError, ValueError):
        return None


def definition_in(file: str, text: str) -> ClassifiedFile | None:
    match = _DEFINITION.match(text)
    if match is None:
        return None
    name = match[2].lower()
    if match[1].lower() == "domain":
        return ClassifiedFile(file, FileKind.DOMAIN, name)
    of = re.search(r"^[^;\n]*?\(\s*:domain\s+([^\s()]+)", text, re.IGNORECASE | re.MULTILINE)
    return ClassifiedFile(file, FileKind.PROBLEM, name, of[1].lower() if of else "")


def ending(file: str) -> str:
    with Path(file).open("rb") as opened:
        opened.seek(0, os.SEEK_END)
        opened.seek(max(0, opened.tell() - SNIFFED))
        return _text(opened.read())


def _text(data: bytes) -> str:
    for bom, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(bom):
            return data.decode(encoding, "replace")
    return data.decode("utf-8-sig", "replace")


# File detection -----------------------------------------------------------------------------------

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
"""Output of planners around a plan; see `hvr.validation.extraction.readers`."""
_PACKED = re.compile(r"(.+)\.(?:gz|bz2|xz|zst|lzma|z)")
_JSON_STEPS = re.compile(
    r"""\s*(?:\{\s*"(?:plan|steps|actions)"\s*:\s*)?+\[\s*
    (?:"\([^()"\r\n]*\)"|\{\s*"(?:name|action)"\s*:\s*"[^"\r\n]*"\s*,\s*"(?:args|arguments|parameters)"\s*:\s*\[)""",
    re.VERBOSE,
)
"""The beginning of a plan in JSON, with the keys in their usual order."""
_NEVER_PLANS = frozenset(
    (
        "bib c cfg cpp css csv gif h hddl html ini jpg js lisp lock md pdf png py rst sarif sh "
        "svg tex toml ts tsv xml yaml yml zip"
    ).split()
)
"""Endings that determine the kind of a file, even if it contains a plan."""
_TEXT_ENDINGS = frozenset(
    (
        "",
        "answer",
        "json",
        "jsonl",
        "log",
        "markdown",
        "md",
        "out",
        "output",
        "response",
        "rst",
        "stdout",
        "text",
        "txt",
    )
)
"""Endings of texts in which people, planners and language models leave plans."""
_ABOUT = frozenset(
    (
        "authors changelog changes citation code_of_conduct contributing copying history "
        "licence license notice readme security"
    ).split()
)
"""Names of files that describe a repository."""


def classify(file: str, text: str | None = None) -> ClassifiedFile:
    """Return the kind of a file, judged by its name and its beginning (or `text`)."""
    name = Path(file).name.lower()
    packed = _PACKED.fullmatch(name)
    if packed is not None:
        if _named_like_a_plan(packed[1]):
            return ClassifiedFile(file, FileKind.PACKED)
        return ClassifiedFile(
            file, FileKind.OTHER, why="it is compressed and not named like a plan"
        )
    given = text is not None
    text = beginning(file) if text is None else text
    if text is None:
        kind = FileKind.PLAN if _named_like_a_plan(name) else FileKind.OTHER
        return ClassifiedFile(file, kind, why="it cannot be read")
    model = definition_in(file, text)
    if model is not None:
        return model
    whole = given or len(text) < SNIFFED // 2
    kind = _plan_kind(name, text, whole=whole)
    if kind in (FileKind.MIXED, FileKind.OTHER) and _ending(name) not in _NEVER_PLANS:
        log = text if whole else text + ending(file)
        kind = FileKind.PLAN if _PLANNER.search(log) else kind
    if kind is FileKind.OTHER and _ending(name) in ("pddl", "hddl"):
        kind = FileKind.BROKEN
    return ClassifiedFile(file, kind, why=_why_other(name, text) if kind is FileKind.OTHER else "")


def may_hold_a_plan(file: str) -> bool:
    """Return whether a file may contain a plan, judged by the ending of its name."""
    name = Path(file).name.lower()
    packed = _PACKED.fullmatch(name)
    return _ending(packed[1] if packed is not None else name) in _TEXT_ENDINGS


def has_a_plan(file: str) -> bool:
    name = Path(file).name.lower()
    if _ending(name) not in _TEXT_ENDINGS or name.partition(".")[0] in _ABOUT:
        return False
    from hvr.pddl.reader import SourceText
    from hvr.validation.extraction.lines import KnownSymbols
    from hvr.validation.extraction.readers import candidates

    try:
        text = SourceText.read(Path(file), lenient=True).text
        return bool(candidates(text, KnownSymbols(), unmarked=True))
    except HvrError:
        return False


def _why_other(name: str, text: str) -> str:
    if not text.strip():
        return "it is empty"
    if "\0" in text:
        return "it is not text"
    if _ending(name) in _NEVER_PLANS:
        return f"a .{_ending(name)} file is not considered a plan"
    return "it contains no step and is not named like a plan"


def is_steps(text: str) -> bool:
    lines = _lines(text)
    return bool(lines) and all(map(_STEPS.fullmatch, lines))


def _plan_kind(name: str, text: str, *, whole: bool) -> FileKind:
    if _PLAN_ENDING.fullmatch(name) or name == "sas_plan":
        return FileKind.PLAN
    if _ending(name) in _NEVER_PLANS or "\0" in text:
        return FileKind.OTHER
    if not whole:
        text = text[: text.rfind("\n") + 1] or text
    if is_steps(text):
        return FileKind.PLAN
    if text.lstrip()[:1] in ("[", "{"):
        return FileKind.PLAN if _is_json_plan(name, text, whole=whole) else FileKind.OTHER
    lines = _lines(text)
    if not lines:
        return FileKind.PLAN if _named_like_a_plan(name) else FileKind.OTHER
    if _named_like_a_plan(name):
        return FileKind.PLAN
    if lines[0].startswith("(") or any(map(_STEPS.fullmatch, lines)):
        return FileKind.MIXED
    return FileKind.OTHER


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
    # A JSON list of words could be anything: require arguments or the usual keys.
    return any(action_of(step).args for step in steps) or _JSON_STEPS.match(text) is not None


def _lines(text: str) -> list[str]:
    lines = (line.strip() for line in _COMMENT.sub("", text).splitlines())
    return [line for line in lines if line]


# Pairing ------------------------------------------------------------------------------------------
# Matching of plans with problems, and problems with domains, by names and places. Nothing is
# guessed: if two problems match a plan equally well, the plan is left over, and the reason names
# both.

_WORD = re.compile(r"[a-z0-9]+")
_NUMBERED = re.compile(r"([a-z]*?)0*([0-9]+)")
_PLAN_TAIL = re.compile(
    r"(?:[._-]|^)(?:sas_plan|plan|soln?|solution|pddlplan|pddl|hddl|out|txt|log|json)(?:[._-]?\d+)?$"
)
_WORDS_OF_PROBLEMS = frozenset(
    ("", "domain", "p", "pb", "pfile", "plan", "prob", "problem", "instance", "task", "soln", "sol")
)


class _Place(Value):
    seen: ClassifiedFile
    folders: tuple[str, ...]
    file: str

    @classmethod
    def of(cls, seen: ClassifiedFile) -> _Place:
        path = PurePath(os.path.abspath(seen.file))  # noqa: PTH100 - no links are followed
        parts = [part.lower() for part in path.parts]
        return cls(seen, tuple(parts[:-1]), parts[-1])

    @cached_property
    def stem(self) -> str:
        return self.file.removesuffix(".pddl").removesuffix(".hddl")

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset((*_WORD.findall("/".join((*self.folders, self.file))), *self.folders))

    def near(self, other: _Place) -> int:
        shared = 0
        for one, two in zip(self.folders, other.folders, strict=False):
            if one != two:
                break
            shared += 1
        return shared


def pair(
    domains: Iterable[ClassifiedFile],
    problems: Iterable[ClassifiedFile],
    plans: Sequence[ClassifiedFile],
) -> Suite:
    """Assign plans to problems and problems to domains; `left` lists the unmatched plans."""
    known_domains = [_Place.of(seen) for seen in domains]
    known = [_Place.of(seen) for seen in problems]
    taken: dict[str, list[str]] = {place.seen.file: [] for place in known}
    left: list[Left] = []
    for plan in plans:
        problem = problem_of(_Place.of(plan), known)
        if isinstance(problem, str):
            left.append(Left(plan.file, problem))
        else:
            taken[problem.seen.file].append(plan.file)
    jobs: list[Job] = []
    for place in known:
        names = taken[place.seen.file]
        if not names:
            continue
        domain = domain_of(place, known_domains)
        if isinstance(domain, str):
            left += [Left(name, f"its problem {place.seen.file} {domain}") for name in names]
        else:
            jobs.append(Job(domain.seen.file, place.seen.file, tuple(names)))
    without = tuple([file for file, names in taken.items() if not names])
    chosen = [domain_of(place, known_domains) for place in known]
    used = {domain.seen.file for domain in chosen if isinstance(domain, _Place)}
    alone = tuple([d.seen.file for d in known_domains if d.seen.file not in used])
    return Suite(tuple(jobs), tuple(left), without_plan=without, without_problem=alone)


def domain_of(problem: _Place, domains: Sequence[_Place]) -> _Place | str:
    """Return the domain of a problem, or the reason why it is unknown."""
    named = [d for d in domains if d.seen.name == problem.seen.domain]
    for suitable in (named, domains):
        best = suitable
        for merit in (
            lambda d: _mentions(d.stem, problem.stem),
            lambda d: _same_number(d, problem),
            problem.near,
            # Among equally near domains, prefer the one in the shallower folder.
            lambda d: -len(d.folders),
        ):
            best = _best(best, merit)
        if len(best) == 1:
            return best[0]
        if best:
            return f"could belong to {_either(best)}"
    return "has no domain here"


def problem_of(plan: _Place, problems: Sequence[_Place]) -> _Place | str:
    """Return the problem of a plan, or the reason why it is unknown.

    The folders that contain the plan are searched from the innermost to the outermost.
    """
    for depth in range(len(plan.folders), 0, -1):
        folder = plan.folders[:depth]
        inside = [problem for problem in problems if problem.folders[:depth] == folder]
        if not inside:
            continue
        best = _suitable(plan, inside, depth)
        if len(best) == 1:
            return best[0]
        if best:
            return f"it could be a plan for {_either(best)}"
    if not problems:
        return "no problem was found"
    return (
        "no problem has a matching name, and the plan's folder does not contain exactly one problem"
    )


def problem_named_like(file: str, problems: Iterable[ClassifiedFile]) -> str | None:
    """Return the problem after which a file is named, if any.

    A problem's name without a digit, such as `problem`, is also a common word, so the file's stem
    must equal it.
    """
    name = PurePath(file).name.lower()
    for problem in map(_Place.of, problems):
        if any(character.isdigit() for character in problem.stem):
            if _mentions(name, problem.stem):
                return problem.seen.file
        elif name.partition(".")[0] == problem.stem:
            return problem.seen.file
    return None


def _suitable(plan: _Place, problems: Sequence[_Place], depth: int) -> list[_Place]:
    named = [problem for problem in problems if _mentions(plan.file, problem.stem)]
    if named:
        return _narrowed(plan, _best(named, lambda problem: len(problem.stem)))
    below = plan.folders[depth:]
    by_folder = [problem for problem in problems if problem.stem in below]
    if by_folder:
        return _narrowed(plan, by_folder)
    by_number = [problem for problem in problems if _same_number(plan, problem)]
    if by_number:
        return _narrowed(plan, by_number)
    agreeing = [problem for problem in problems if not _contradicts(plan, problem)]
    if len(problems) == 1:
        return agreeing
    # `p01/problem.pddl` and `plans/p01.plan`: the folder is the name.
    by_words = [p for p in agreeing if p.folders[-1] in plan.words and len(p.folders) > depth]
    return _narrowed(plan, by_words)


def _narrowed(plan: _Place, problems: list[_Place]) -> list[_Place]:
    if len(problems) < 2:
        return problems
    shared = set.intersection(*({*p.folders, p.seen.domain} for p in problems))

    def context(problem: _Place) -> int:
        return len(({*problem.folders, problem.seen.domain} - shared) & plan.words)

    return _best(_best(problems, context), plan.near)


def _best(places: Sequence[_Place], merit: Callable[[_Place], int]) -> list[_Place]:
    if not places:
        return []
    most = max(map(merit, places))
    return [place for place in places if merit(place) == most]


def _mentions(text: str, stem: str) -> bool:
    return re.search(rf"(?<![a-z0-9]){re.escape(stem)}(?![a-z0-9])", text) is not None


def _numbers(place: _Place) -> list[tuple[str, int]]:
    """Return the numbered words of a name, such as ("p", 3), except for the number of a plan."""
    stem = place.stem
    while shorter := _PLAN_TAIL.sub("", stem):
        if shorter == stem:
            break
        stem = shorter
    words = [_NUMBERED.fullmatch(word) for word in _WORD.findall(stem)]
    return [(match[1], int(match[2][:18])) for match in words if match is not None]


def _same_number(one: _Place, problem: _Place) -> bool:
    left, right = _numbers(one), _numbers(problem)
    return (
        len(left) == len(right) == 1
        and left[0][1] == right[0][1]
        and (left[0][0] in _WORDS_OF_PROBLEMS or left[0][0] == right[0][0])
    )


def _contradicts(plan: _Place, problem: _Place) -> bool:
    numbers = dict(_numbers(problem))
    return any(numbers.get(word, number) != number for word, number in _numbers(plan))


def _either(places: Sequence[_Place]) -> str:
    names = [place.seen.file for place in places]
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return f"{names[0]} or {names[1]}{more}"


def give_domains(
    domains: Iterable[ClassifiedFile], problems: Iterable[ClassifiedFile]
) -> dict[str, ClassifiedFile | str]:
    """Map the file of each problem to its domain, or to the reason why its domain is unknown."""
    known = [_Place.of(seen) for seen in domains]
    given: dict[str, ClassifiedFile | str] = {}
    for problem in problems:
        domain = domain_of(_Place.of(problem), known)
        given[problem.file] = domain if isinstance(domain, str) else domain.seen
    return given


# Languages ----------------------------------------------------------------------------------------
# Languages besides PDDL, recognised in the domain and imported on demand.

_HDDL = "hvr.validation.hierarchical.verifier"
_HIERARCHY = re.compile(r":hierarchy\b|\(\s*:(?:task|method)\b", re.IGNORECASE)


class PlanJudge(Protocol):
    """A judge of plans for one problem."""

    def check_file(
        self,
        source: str | Path,
        *,
        file: str | None = None,
        on_failure: OnFailure = OnFailure.STOP,
        lenient: bool = False,
    ) -> ValidationReport: ...


class Language(Protocol):
    """A module that implements a planning language besides PDDL."""

    def parse_domain(
        self, source: str | Path, *, file: str, lenient: bool, warnings: list[Diagnostic]
    ) -> Any: ...

    def parse_problem(
        self,
        source: str | Path,
        domain: Any,
        *,
        file: str,
        lenient: bool,
        warnings: list[Diagnostic],
    ) -> Any: ...

    def judge_of(self, domain: Any, problem: Any, options: BatchOptions) -> PlanJudge: ...

    def lint(self, domain: Any, problem: Any) -> list[LintFinding]: ...


def language_of(domain: str | Path, name: str = "") -> Language | None:
    """Return the language of a domain; None for PDDL and for unreadable files."""
    text = domain if isinstance(domain, str) else _text_of(domain, name)
    # Strip comments only after a match, to save time.
    if _HIERARCHY.search(text) and _HIERARCHY.search(_COMMENT.sub("", text)):
        return cast("Language", import_module(_HDDL))
    return None


def _text_of(path: Path, name: str) -> str:
    from hvr.base.texts import read_bytes
    from hvr.pddl.reader import decode

    try:
        # A pipe can be read only once, and the parser will need it.
        return decode(read_bytes(path), name) if path.is_file() else ""
    except (HvrError, OSError, ValueError):
        return ""
