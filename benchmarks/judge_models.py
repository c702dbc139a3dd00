"""Measure simulated models for benchmarks/judge.py: alone, checked, and in the repair loop.

The figure shows the share of plans on which the loop has converged after each round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from hvr.judging.model_judge import MAX_ROUNDS, Opinion, check, read_opinion, run_loop
from hvr.judging.symbolic import judge
from hvr.judging.verdict import Critique, CritiqueKind, PlanVerdict
from hvr.pddl import GroundAction, Task
from hvr.runs.report.charts import SVG, element, escaped
from hvr.validation import Validator
from studies.judging.corpus import Case, load, read_cases
from studies.judging.score import Counts, score, total

PAPER_CONVERGED = (0.62, 0.89, 0.965)
"""Share after each round of the paper's loop, over all of its pairs of models (section 4.2)."""


@dataclass(frozen=True)
class Rates:
    """The error rates of a simulated model.

    Args:
        recall: Share of the wrong steps that it names.
        precision: Share of the named steps that are wrong.
    """

    name: str
    recall: float
    precision: float


PAPER = (
    Rates("as GPT o4-mini", recall=0.80, precision=0.93),
    Rates("as DeepSeek-R1", recall=0.68, precision=1.00),
    Rates("as Gemini 2.5", recall=0.74, precision=0.90),
    Rates("as Llama 4 Scout", recall=0.74, precision=0.85),
    Rates("as the paper's rules", recall=0.22, precision=0.71),
)
"""One pass of the paper's judges over its own data (table 1), whose labels are not public."""


class SimulatedJudge:
    """A model judge with known error rates that answers in the format of real models.

    It takes the errors of a plan from the symbolic judge, overlooks some of them, and marks some
    correct steps for removal.
    """

    def __init__(
        self, knows: Callable[[tuple[GroundAction, ...]], PlanVerdict], rates: Rates, rng: Random
    ) -> None:
        self._knows = knows
        self._rates = rates
        self._rng = rng

    def opinion(self, plan: Sequence[GroundAction]) -> Opinion:
        return read_opinion(self.answer(plan), plan)

    def answer(self, plan: Sequence[GroundAction]) -> str:
        rng, rates = self._rng, self._rates
        verdict = self._knows(tuple(plan))
        wrong = verdict.removed
        missing = [(c.index, a) for c in verdict.missing for a in c.actions]
        seen = [m for m in missing if rng.random() < rates.recall]
        named = {number for number in sorted(wrong) if rng.random() < rates.recall}
        good = [number for number in range(1, len(plan) + 1) if number not in wrong]
        # Add enough false findings to match the precision on average, one in seven a missing step.
        false = (len(named) + len(seen)) * (1 - rates.precision) / rates.precision
        if not wrong and not missing:
            false = (1 - rates.precision) / 2
        for _ in range(int(false) + (rng.random() < false % 1)):
            if rng.random() < 1 / 7 and plan:
                seen.append((rng.randint(1, len(plan) + 1), rng.choice(list(plan))))
            elif good:
                named.add(good.pop(rng.randrange(len(good))))
        lines = []
        for number, action in enumerate(plan, 1):
            lines.append(f"ACTION: {number}. {action}")
            mark = " #REMOVE: it is not needed" if number in named else ""
            lines.append(f"ANNOTATION: what the step does.{mark}")
        lines += [f"#MISSING: {action} before step {index}" for index, action in seen]
        return "\n".join(lines)


@dataclass(frozen=True)
class Measured:
    """Results for one set of error rates.

    Args:
        alone: Score of the model's own findings.
        proven: Score of the findings that pass the check.
        looped: Score of the loop's result without the symbolic judge.
        worse: Number of valid plans that the loop made invalid or longer.
        converged: Share of converged plans after each round.
    """

    alone: Counts
    proven: Counts
    looped: Counts
    worse: int
    converged: tuple[float, ...]


def models(data: Path, limit: int | None, figure: Path | None) -> int:
    """Print the table of all error rates; the exit code is 0 if no loop made a plan worse."""
    cases = list(read_cases(data))
    if limit is not None and limit < len(cases):
        cases = [cases[i * len(cases) // limit] for i in range(limit)]
    domains: dict[str, Any] = {}
    loaded = []
    for case in cases:
        validator = Validator(Task(*load(case, data.parent, domains)))

        # All rates share the same plans, so compute each plan's labels once.
        @cache
        def knows(plan: tuple[GroundAction, ...], validator: Validator = validator) -> PlanVerdict:
            return judge(validator, plan)

        loaded.append((case, validator, knows))
    print(f"SIMULATED models over {len(cases)} plans")
    print(f"{'rates':24}{'alone P/R':>14}{'proven P/R':>14}{'loop P/R/F1':>18}  "
          f"converged by round 1 to {MAX_ROUNDS}")  # fmt: skip
    results = {}
    for rates in PAPER:
        results[rates.name] = measured = _measured(rates, loaded)
        print(
            f"{rates.name:24}{_shares(measured.alone):>14}{_shares(measured.proven):>14}"
            f"{_shares(measured.looped) + f'/{100 * measured.looped.f1:.1f}':>18}  "
            + " ".join(f"{100 * share:.1f}" for share in measured.converged),
            flush=True,
        )
    worse = sum(measured.worse for measured in results.values())
    print(f"valid plans made invalid or longer: {worse}")
    if figure is not None:
        shares = {name: measured.converged for name, measured in results.items()}
        shown = {"the paper's, live models": PAPER_CONVERGED, **shares}
        figure.write_text(convergence(shown, len(cases)), encoding="utf-8")
    return 0 if worse == 0 else 1


def _shares(counts: Counts) -> str:
    return f"{100 * counts.precision:.1f}/{100 * counts.recall:.1f}"


def _measured(rates: Rates, loaded: Sequence[tuple[Case, Validator, Any]]) -> Measured:
    alone, proven, looped = [], [], []
    rounds: Counter[int] = Counter()
    worse = 0
    for number, (case, validator, knows) in enumerate(loaded):
        task, plan = validator.task, case.actions()
        model = SimulatedJudge(knows, rates, Random(f"{rates.name} {number}"))
        opinion = model.opinion(plan)
        removes = [(n, plan[n - 1]) for n, _ in opinion.remove]
        wishes = [(w.index or 1, a) for w in opinion.missing for a in w.actions]
        alone.append(score(case, _verdict(plan, removes, wishes), task).both)
        checked = check(task.initial, plan, opinion)
        named = [(n, plan[n - 1]) for n in checked.removed]
        found = _verdict(plan, named, list(checked.inserted), checked.plan)
        proven.append(score(case, found, task).both)
        loop = run_loop(validator, plan, opinion=model.opinion, symbolic=False)
        rounds[len(loop.rounds)] += 1
        before, after = validator.check(plan).valid, Validator(task).check(loop.plan).valid
        worse += before and not (after and len(loop.plan) <= len(plan))
        looped.append(_by_end(case, plan, loop.plan, task))
    converged = tuple(
        sum(n for r, n in rounds.items() if r <= k) / len(loaded) for k in range(1, MAX_ROUNDS + 1)
    )
    return Measured(total(alone), total(proven), total(looped), worse, converged)


def _verdict(
    plan: tuple[GroundAction, ...],
    removes: Sequence[tuple[int, GroundAction]],
    wishes: Sequence[tuple[int, GroundAction]],
    repaired: tuple[GroundAction, ...] | None = None,
) -> PlanVerdict:
    critiques = [Critique(CritiqueKind.REMOVE, n, (a,), "") for n, a in removes]
    critiques += [Critique(CritiqueKind.MISSING, n, (a,), "") for n, a in wishes]
    return PlanVerdict(plan, tuple(critiques), repaired)


def _by_end(
    case: Case, plan: tuple[GroundAction, ...], end: tuple[GroundAction, ...], task: Task
) -> Counts:
    """Score the loop's result by its distance from the best repair, in steps."""
    wrong = len(plan) + case.inserted - case.length
    same = Counter(plan) & Counter(end)
    removed, added = len(plan) - same.total(), len(end) - same.total()
    if Validator(task).check(end).valid:
        left = max(0, len(end) - case.length)
        return Counts(max(0, wrong + case.inserted - left), 0, left)
    done = min(removed, wrong) + min(added, case.inserted)
    return Counts(done, removed + added - done, max(0, wrong + case.inserted - done))


# The figure --------------------------------------------------------------------------------------

_COLOURS = ("#444444", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900")
_LEFT, _TOP, _WIDTH, _HEIGHT, _KEY = 52, 34, 400, 220, 190


def convergence(shares: Mapping[str, Sequence[float]], plans: int) -> str:
    lowest = min(share for series in shares.values() for share in series)
    floor = int(10 * lowest) / 10
    step = _WIDTH / (MAX_ROUNDS - 1)

    def height(share: float) -> float:
        return _TOP + _HEIGHT * (1 - (share - floor) / (1 - floor))

    title = f"Plans that have come to rest, per cent, by round ({plans} plans, SIMULATED models)"
    parts = [
        element("rect", width="100%", height="100%", fill="#ffffff"),
        _text(_LEFT, 18, title, "start"),
    ]
    for tenth in range(round(10 * floor), 11):
        y = height(tenth / 10)
        line = {"x1": _LEFT, "x2": _LEFT + _WIDTH, "y1": y, "y2": y}
        parts.append(element("line", stroke="#d5d9df", **line))
        parts.append(_text(_LEFT - 8, y + 4, str(10 * tenth), "end"))
    for number in range(MAX_ROUNDS):
        x = _LEFT + number * step
        parts.append(_text(x, _TOP + _HEIGHT + 18, str(number + 1), "middle"))
    parts.append(_text(_LEFT + _WIDTH / 2, _TOP + _HEIGHT + 36, "round", "middle"))
    for number, (name, series) in enumerate(shares.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        at = [(_LEFT + k * step, height(share)) for k, share in enumerate(series)]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        dashes = None if number else "5 3"
        parts.append(
            element(
                "polyline", points=points, fill="none", stroke=colour, stroke_width=2,
                stroke_dasharray=dashes,
            )
        )  # fmt: skip
        for (x, y), share in zip(at, series, strict=True):
            tip = element("title", escaped(f"{name}: {100 * share:.1f} %"))
            parts.append(element("circle", tip, cx=x, cy=y, r=3.5, fill=colour))
        y = _TOP + 14 + 22 * number
        x = _LEFT + _WIDTH + 20
        parts.append(element("line", x1=x, x2=x + 22, y1=y, y2=y, stroke=colour, stroke_width=2,
                             stroke_dasharray=dashes))  # fmt: skip
        parts.append(_text(x + 28, y + 4, name, "start"))
    wide, tall = _LEFT + _WIDTH + _KEY, _TOP + _HEIGHT + 48
    return element(
        "svg", *parts, xmlns=SVG, width=wide, height=tall, viewBox=f"0 0 {wide} {tall}",
        role="img", aria_label=title, font_family="sans-serif", font_size=12,
    ) + "\n"  # fmt: skip


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return element("text", escaped(text), x=x, y=y, text_anchor=anchor, fill="#1c1e21")
