"""Scores of a judge's findings, compared with the labels by their effect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random

from hvr.judging.verdict import PlanVerdict
from hvr.pddl import Task
from hvr.validation import Validator
from studies.judging.corpus import Case


@dataclass(frozen=True)
class Counts:
    """Numbers of correct, false and missed findings."""

    hit: int = 0
    false: int = 0
    missed: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.hit + other.hit, self.false + other.false, self.missed + other.missed)

    @property
    def precision(self) -> float:
        """Share of the findings that are correct; 1 without findings."""
        return self.hit / (self.hit + self.false) if self.hit + self.false else 1.0

    @property
    def recall(self) -> float:
        """Share of the errors that were found; 1 without errors."""
        return self.hit / (self.hit + self.missed) if self.hit + self.missed else 1.0

    @property
    def f1(self) -> float:
        both = 2 * self.hit + self.false + self.missed
        return 2 * self.hit / both if both else 1.0


@dataclass(frozen=True)
class Scored:
    """The score of one plan.

    Args:
        fixed: Whether the repaired plan is executable and reaches the goal; None without errors.
        longer: Number of steps by which the repaired plan exceeds the undamaged one.
        better: Whether the repair is cheaper than the labelled one.
        kinds: Kind of error of each injected redundant step, and whether it was found.
    """

    remove: Counts
    missing: Counts
    fixed: bool | None = None
    longer: int = 0
    better: bool = False
    kinds: tuple[tuple[str, Counts], ...] = ()

    @property
    def both(self) -> Counts:
        return self.remove + self.missing

    @property
    def exact(self) -> bool:
        """Whether there are no false and no missed findings."""
        return not (self.both.false or self.both.missed)


def score(case: Case, verdict: PlanVerdict, task: Task) -> Scored:
    """Compare a verdict with the labels of a case.

    Any repair that is executable, reaches the goal and costs no more than the labelled one is
    correct, whichever steps it names. Costs compare the number of inserted steps first, then the
    plan's length.
    """
    removed = set(verdict.removed)
    missing = [(c.index, str(a)) for c in verdict.missing for a in c.actions]
    missing += [(c.index, "") for c in verdict.missing if not c.actions]
    repaired = verdict.repaired
    fixed = repaired is not None and Validator(task).check(repaired).valid
    cost = (len(missing), len(repaired or ()))
    label = (case.inserted, case.length)
    # A repair as cheap as the label is correct, so all its findings count as hits.
    if fixed and cost <= label:
        nearest = removed
        counts = Counts(len(removed)), Counts(len(missing))
    else:
        nearest = min(map(set, case.remove), key=lambda r: (len(r ^ removed), sorted(r)))
        counts = _compared(removed, nearest), _matched(missing, case)
    errors = any(case.remove) or bool(case.missing)
    kinds = []
    for number, kind in case.added.items():
        if int(number) in nearest:
            found = int(number) in removed
            kinds.append((kind, Counts(found, 0, not found)))
    if not (fixed and cost <= label):
        places = {index for index, _ in missing}
        kinds += [(m.kind, Counts(m.step in places, 0, m.step not in places)) for m in case.missing]
    else:
        kinds += [(m.kind, Counts(1)) for m in case.missing]
    return Scored(
        *counts,
        fixed if errors else None,
        len(repaired) - case.base if fixed and repaired is not None else 0,
        fixed and cost < label,
        tuple(kinds),
    )


def _compared(named: set[int], right: set[int]) -> Counts:
    return Counts(len(named & right), len(named - right), len(right - named))


def _matched(named: Sequence[tuple[int, str]], case: Case) -> Counts:
    """Match missing steps by action; by position if the judge names no action."""
    waiting = list(case.missing)
    hit = 0
    for index, action in named:
        for label in waiting:
            if label.action == action or (label.step == index and not action):
                waiting.remove(label)
                hit += 1
                break
    return Counts(hit, len(named) - hit, len(waiting))


def interval(
    scored: Sequence[Counts], of: Callable[[Counts], float], rng: Random, rounds: int = 400
) -> tuple[float, float]:
    """Return a 95 % bootstrap interval of a measure, resampling plans with replacement."""
    values = sorted(of(total(rng.choices(scored, k=len(scored)))) for _ in range(rounds))
    return values[int(0.025 * rounds)], values[int(0.975 * rounds)]


def total(counts: Iterable[Counts]) -> Counts:
    hit = false = missed = 0
    for count in counts:
        hit, false, missed = hit + count.hit, false + count.false, missed + count.missed
    return Counts(hit, false, missed)
