"""Which problem a plan is for, and which domain a problem has, by names and places.

Nothing is guessed: where two problems suit a plan equally well, the plan is left over, and the
reason names both.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath

from hvr.validation.suites import Job, Left, Suite
from hvr.validation.suites.kinds import Seen
from hvr.values import Value, cached_property

_WORD = re.compile(r"[a-z0-9]+")
_NUMBERED = re.compile(r"([a-z]*?)0*([0-9]+)")
_PLAN_TAIL = re.compile(
    r"(?:[._-]|^)(?:sas_plan|plan|soln?|solution|pddlplan|pddl|hddl|out|txt|log|json)(?:[._-]?\d+)?$"
)
_WORDS_OF_PROBLEMS = frozenset(
    ("", "domain", "p", "pb", "pfile", "plan", "prob", "problem", "instance", "task", "soln", "sol")
)


class _Place(Value):
    """A file with the parts of its path, in lower case."""

    seen: Seen
    folders: tuple[str, ...]
    file: str

    @classmethod
    def of(cls, seen: Seen) -> _Place:
        path = PurePath(os.path.abspath(seen.file))  # noqa: PTH100 - no links are followed
        parts = [part.lower() for part in path.parts]
        return cls(seen, tuple(parts[:-1]), parts[-1])

    @cached_property
    def stem(self) -> str:
        """The name of a model without its ending."""
        return self.file.removesuffix(".pddl").removesuffix(".hddl")

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the path, its folders whole as well."""
        return frozenset((*_WORD.findall("/".join((*self.folders, self.file))), *self.folders))

    def near(self, other: _Place) -> int:
        """Return how many folders the two have in common, from the root on."""
        shared = 0
        for one, two in zip(self.folders, other.folders, strict=False):
            if one != two:
                break
            shared += 1
        return shared


def pair(domains: Iterable[Seen], problems: Iterable[Seen], plans: Sequence[Seen]) -> Suite:
    """Give each plan its problem and each problem its domain."""
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


def with_domains(
    domains: Iterable[Seen], problems: Iterable[Seen]
) -> tuple[list[tuple[str, str]], list[Left]]:
    """Give each problem its domain.

    Returns:
        Pairs of the names of a domain and a problem, and the problems without a domain.
    """
    known = [_Place.of(seen) for seen in domains]
    pairs: list[tuple[str, str]] = []
    left: list[Left] = []
    for place in map(_Place.of, problems):
        domain = domain_of(place, known)
        if isinstance(domain, str):
            left.append(Left(place.seen.file, f"it {domain}"))
        else:
            pairs.append((domain.seen.file, place.seen.file))
    return pairs, left


def domain_of(problem: _Place, domains: Sequence[_Place]) -> _Place | str:
    """Return the domain of a problem, or why it is not known."""
    named = [d for d in domains if d.seen.name == problem.seen.domain]
    for suitable in (named, domains):
        best = suitable
        for merit in (
            lambda d: _mentions(d.stem, problem.stem),
            lambda d: _same_number(d, problem),
            problem.near,
            # Of those that are as near, the one that is not further below.
            lambda d: -len(d.folders),
        ):
            best = _best(best, merit)
        if len(best) == 1:
            return best[0]
        if best:
            return f"could belong to {_either(best)}"
    return "has no domain here"


def problem_of(plan: _Place, problems: Sequence[_Place]) -> _Place | str:
    """Return the problem of a plan, or why it is not known.

    The folders around the plan are searched from the nearest to the widest.
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
        return "there is no problem here"
    return "no problem is called like it, and there is not just one beside it"


def namesake(file: str, problems: Iterable[Seen]) -> str | None:
    """Return the problem that a file is named after; None if there is none.

    A problem's name without a digit, such as `problem`, is also a common word, so that the file
    has to be called just so.
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
    """Return the problems that suit a plan best, in the first way in which any does."""
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
    """Say whether a text has a name in it, as a word or words of its own."""
    return re.search(rf"(?<![a-z0-9]){re.escape(stem)}(?![a-z0-9])", text) is not None


def _numbers(place: _Place) -> list[tuple[str, int]]:
    """Return the numbered words of a name, without what counts the plans of a problem."""
    stem = place.stem
    while shorter := _PLAN_TAIL.sub("", stem):
        if shorter == stem:
            break
        stem = shorter
    words = [_NUMBERED.fullmatch(word) for word in _WORD.findall(stem)]
    return [(match[1], int(match[2][:18])) for match in words if match is not None]


def _same_number(one: _Place, problem: _Place) -> bool:
    """Say whether two names have one number each, the same, and no other words than usual ones."""
    mine, its = _numbers(one), _numbers(problem)
    return (
        len(mine) == len(its) == 1
        and mine[0][1] == its[0][1]
        and (mine[0][0] in _WORDS_OF_PROBLEMS or mine[0][0] == its[0][0])
    )


def _contradicts(plan: _Place, problem: _Place) -> bool:
    """Say whether a plan is called like another problem: `p02.plan` is none for `p01.pddl`."""
    its = dict(_numbers(problem))
    return any(word in its and its[word] != number for word, number in _numbers(plan))


def _either(places: Sequence[_Place]) -> str:
    names = [place.seen.file for place in places]
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return f"{names[0]} or {names[1]}{more}"


def give_domains(domains: Iterable[Seen], problems: Iterable[Seen]) -> dict[str, Seen | str]:
    """Return the domain of each problem, or why it is not known, by the problem's file."""
    known = [_Place.of(seen) for seen in domains]
    given: dict[str, Seen | str] = {}
    for problem in problems:
        domain = domain_of(_Place.of(problem), known)
        given[problem.file] = domain if isinstance(domain, str) else domain.seen
    return given
