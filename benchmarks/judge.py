"""Measure the judge's precision and recall of redundant and missing steps.

    python benchmarks/judge.py --data FILE [--limit N] [--judge NAME] [--jobs N] [--show N]
    python benchmarks/judge.py --data FILE --goal sentence [--marks FILE] [--limit N]
    python benchmarks/judge.py --data FILE --model [--limit N] [--figure FILE.svg]
    python benchmarks/judge.py --planbench FOLDER [--limit N] [--jobs N] [--no-repair]
    python benchmarks/judge.py --families [FOLDER] [--seed N] [--limit N] [--jobs N]
    python benchmarks/judge.py --growth

--data takes plans in the format of benchmarks/make_judged_plans.py (docs/how-to/judging.md). With
`--goal sentence` the judge reads the goal from people's descriptions of the task; the labels still
follow the true goal. --marks takes annotations of the sentences, such as benchmarks/said_goals.tsv.
The script then judges one plan of each marked demonstration, and also prints the figures by mark.

Counts are micro-averaged over steps, with 95 % bootstrap intervals over plans. The exit code is 0
if F1 is at least 99 (94 from sentences), and 2 when the data cannot be used.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import side_by_side
from conditions import conditions
from inputs import measured
from side_by_side import add_options, chosen

from hvr.base.texts import read_text
from hvr.errors import DataFileError, HvrError
from hvr.judging.symbolic import judge
from hvr.pddl import Domain, Task
from hvr.validation import Validator
from studies.judging import baseline
from studies.judging.corpus import Case, load, read_cases
from studies.judging.score import Counts, Scored, interval, score, total

ALFRED = Path(os.environ["HVR_ALFRED"]) if "HVR_ALFRED" in os.environ else None
"""Path of ALFRED's demonstrations, unless they are beside the checkout."""


@dataclass(frozen=True)
class Result:
    """The outcome of one case.

    Args:
        outcome: Outcome of the verdict.
        ms: CPU time of the judge in milliseconds.
        unknown: Reason for an undecided verdict.
        said: Findings to print.
        proven: Whether the repair is proven minimal.
        dearer: Whether the repair inserts more steps than the label.
    """

    case: Case
    scored: Scored
    outcome: str
    ms: float
    unknown: str
    said: tuple[str, ...]
    proven: bool = False
    dearer: bool = False


@lru_cache(maxsize=1)
def _domains() -> dict[str, Domain]:
    return {}


def run_case(job: tuple[Case, Path, str, str]) -> Result:
    case, beside, goal, judged_by = job
    domain, problem = load(case, beside, _domains())
    task = Task(domain, problem)
    plan = case.actions()
    if judged_by == "rules":
        started = time.process_time()
        verdict = baseline.judge(plan, problem)
    elif goal == "sentence":
        from alfred_judge import DATA

        from studies.judging.sentences import judge_by_sentence, records_of

        records = records_of(ALFRED or DATA)
        started = time.process_time()
        verdict = judge_by_sentence(case, plan, records)
    else:
        task.ground(plan[0]) if plan else None
        started = time.process_time()
        verdict = judge(Validator(Task(domain, problem)), plan)
    ms = 1000 * (time.process_time() - started)
    scored = score(case, verdict, task)
    said = tuple(f"{c.kind} {c.index} {' '.join(map(str, c.actions))}" for c in verdict.critiques)
    dearer = sum(len(c.actions) or 1 for c in verdict.missing) > case.inserted
    return Result(case, scored, verdict.outcome, ms, verdict.unknown, said, verdict.proven, dearer)


def report(results: Sequence[Result]) -> float:
    rng = Random(0)
    rows = {
        "REMOVE and MISSING": [r.scored.both for r in results],
        "REMOVE": [r.scored.remove for r in results],
        "MISSING": [r.scored.missing for r in results],
    }
    print(f"{'':24}{'precision':>22}{'recall':>22}{'F1':>22}")
    for name, counts in rows.items():
        cells = []
        for of in (_precision, _recall, _f1):
            low, high = interval(counts, of, rng)
            cells.append(f"{100 * of(total(counts)):.2f} ({100 * low:.1f}-{100 * high:.1f})")
        print(f"{name:24}" + "".join(f"{cell:>22}" for cell in cells), total(counts))
    macro = sum(c.f1 for c in rows["REMOVE and MISSING"]) / len(results)
    print(f"macro F1 over plans {100 * macro:.2f}; exact plans "
          f"{sum(r.scored.exact for r in results)} of {len(results)}")  # fmt: skip
    _by(results, "errors", lambda r: str(min(len(r.case.kinds), 4)) if _damaged(r) else "0")
    _by(results, "source", lambda r: r.case.source.split()[0])
    kinds: dict[str, list[Counts]] = defaultdict(list)
    for result in results:
        for kind, counts in result.scored.kinds:
            kinds[kind].append(counts)
    recalls = [f"{k} {100 * total(v).recall:.1f} ({len(v)})" for k, v in sorted(kinds.items())]
    print("recall by kind:", ", ".join(recalls))
    clean = [r for r in results if not any(r.case.remove) and not r.case.missing]
    hard = [r for r in clean if "H" in r.case.kinds]
    alarms = sum(r.outcome == "criticised" for r in clean)
    print(f"clean plans: {alarms} false alarms in {len(clean)}, of them {len(hard)} hard negatives")
    fixed = [r for r in results if r.scored.fixed is not None]
    good = [r for r in fixed if r.scored.fixed]
    short = sum(r.scored.longer <= 0 for r in good)
    print(f"after the fix: {len(good)} of {len(fixed)} valid and goal reached; "
          f"{short} no longer than before the damage; {sum(r.scored.better for r in results)} "
          "cheaper than the label")  # fmt: skip
    print(f"proven minimal: {sum(r.proven for r in results)} of {len(results)}; more insertions "
          f"than the label: {sum(r.dearer for r in results)}")  # fmt: skip
    print("outcomes:", dict(Counter(r.outcome for r in results)))
    times = sorted(r.ms for r in results)
    print(f"ms per plan: median {median(times):.1f}, 95 % {times[int(0.95 * len(times))]:.0f}, "
          f"maximum {times[-1]:.0f}")  # fmt: skip
    return _f1(total(rows["REMOVE and MISSING"]))


def _damaged(result: Result) -> bool:
    return any(result.case.remove) or bool(result.case.missing)


def _by(results: Sequence[Result], name: str, key: Callable[[Result], str]) -> None:
    groups: dict[str, list[Counts]] = defaultdict(list)
    for result in results:
        groups[key(result)].append(result.scored.both)
    for group, counts in sorted(groups.items()):
        sums = total(counts)
        print(f"  {name} {group}: {len(counts)} plans, precision {100 * sums.precision:.2f}, "
              f"recall {100 * sums.recall:.2f}, F1 {100 * sums.f1:.2f}")  # fmt: skip


def _precision(counts: Counts) -> float:
    return counts.precision


def _recall(counts: Counts) -> float:
    return counts.recall


def _f1(counts: Counts) -> float:
    return counts.f1


def _show(results: Iterable[Result], most: int) -> None:
    for result in [r for r in results if not r.scored.exact][:most]:
        case = result.case
        print(f"\n{case.id} {case.kinds} base {case.base}, label {case.inserted}+{case.length}, "
              f"longer {result.scored.longer}, {result.outcome} {result.unknown}")  # fmt: skip
        for number, step in enumerate(case.plan, 1):
            print(f"   {number:3} {step} {case.added.get(str(number), '')}")
        print("   label:", [list(r) for r in case.remove[:4]],
              [(m.step, m.action) for m in case.missing])  # fmt: skip
        print("   found: ", *result.said, sep="\n      ")


def read_marks(path: Path) -> dict[str, str]:
    """Return the mark of each demonstration, which tells whether its sentence states the goal.

    Raises:
        DataFileError: The file cannot be read, or a line has no mark.
    """
    marks = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            fields = line.split("\t")
            if len(fields) < 2 or not fields[1]:
                raise DataFileError(
                    f"{path}:{number}: expected a demonstration and a mark, separated by a tab"
                )
            marks[fields[0]] = fields[1]
    return marks


def _first_of_each(cases: Iterable[Case], marks: Mapping[str, str]) -> list[Case]:
    first: dict[str, Case] = {}
    for case in cases:
        if case.record in marks:
            first.setdefault(case.record, case)
    return list(first.values())


def main() -> int:
    """Run the benchmark; the exit code is 2 if the data cannot be used."""
    try:
        return _main()
    except HvrError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="judged plans")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--goal", choices=("symbolic", "sentence"), default="symbolic")
    parser.add_argument(
        "--marks", type=Path, help="with --goal sentence: file of the marked sentences"
    )
    parser.add_argument("--judge", choices=("symbolic", "rules"), default="symbolic")
    add_options(parser)
    parser.add_argument(
        "--show", type=int, default=0, help="number of inexactly judged plans to print"
    )
    parser.add_argument("--planbench", type=Path, nargs="?", const=Path(), help="natural errors")
    parser.add_argument("--families", type=Path, nargs="?", const=Path(), help=(
        "damaged competition plans with conditional effects, rules or numbers"))  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="with --families: seed of the damage")
    parser.add_argument("--no-repair", action="store_true", help="with --planbench: verdicts only")
    parser.add_argument("--growth", action="store_true", help="judging time by plan length")
    parser.add_argument("--model", action="store_true", help="simulated models, alone and combined")
    parser.add_argument("--figure", type=Path, help="with --model: write the rounds as SVG")
    args = parser.parse_args()
    asked = (args.data, args.planbench, args.families)
    if all(source is None for source in asked) and not args.growth:
        parser.error("give --data FILE, --planbench, --families or --growth")
    print(conditions())
    if args.planbench is not None or args.growth or args.model:
        from judge_models import models
        from judge_more import growth, planbench

        if args.growth:
            return growth()
        if args.model:
            return models(args.data, args.limit, args.figure)
        return planbench(args.planbench, args.limit, chosen(args), repair=not args.no_repair)
    if args.families is not None:
        from judge_more import PDDL

        from studies.judging.families import cases as damaged_cases

        beside = args.families if args.families != Path() else PDDL
        cases = list(damaged_cases(beside, args.seed))
    else:
        beside = args.data.parent
        cases = list(read_cases(args.data))
    if args.goal == "sentence":
        cases = [case for case in cases if case.sentences and "H" not in case.kinds]
    marks = read_marks(args.marks) if args.marks is not None else {}
    if marks:
        cases = _first_of_each(cases, marks)
    if not cases:
        raise DataFileError(f"{beside}: no plan to judge")
    if args.limit is not None and args.limit < len(cases):
        cases = [cases[i * len(cases) // args.limit] for i in range(args.limit)]
    jobs = [(case, beside, args.goal, args.judge) for case in cases]
    results = list(side_by_side.results(run_case, jobs, chosen(args), chunk=8))
    f1 = report(results)
    if marks:
        _by(results, "the sentence's mark", lambda r: marks[r.case.record])
        said = [r for r in results if marks[r.case.record] in ("same", "wider")]
        _by(said, "the sentence says", lambda _: "the goal")
        print("undecided of them:", sum(r.outcome == "undecided" for r in said))
    _show(results, args.show)
    return 0 if f1 >= (0.94 if args.goal == "sentence" else 0.99) else 1


if __name__ == "__main__":
    sys.exit(measured(main))
