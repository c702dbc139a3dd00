"""Generate plans with known errors for benchmarks/judge.py.

    python benchmarks/make_judged_plans.py --out FILE [--alfred FILE] [--pddl FOLDER] [--limit N]
                                           [--part test|fit] [--seeds N]
                                           [--jobs N] [--engine NAME] [--address A]

The sources are ALFRED's demonstrations, as plans of hvr's skills, and valid plans of the PDDL
corpus. Each plan is first reduced until no step can be left out. Then 0 to 4 errors of the kinds in
docs/how-to/judging.md are added (a quarter of the plans get none). Finally an exhaustive search
derives the labels, so errors that cancel or repair each other are labelled by their effect. The
same seeds give the same file. `--part test` takes every third plan, `fit` the others.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from alfred_goals import goal_of, kitchen_ontology
from alfred_judge import DATA, Wanted, read
from conditions import conditions
from inputs import measured, records
from side_by_side import add_options, chosen, results

from hvr.errors import HvrError
from hvr.pddl import Task, parse_domain, parse_plan, parse_problem
from hvr.validation import Validator
from studies.judging.corpus import FULL_HANDS, Case, write_cases
from studies.judging.damage import ANY_DOMAIN, KITCHEN
from studies.judging.demonstrations import domain as kitchen_domain
from studies.judging.demonstrations import read_demonstration
from studies.judging.making import cases_of, hard_negative

PDDL = DATA.parent.parent / "pddl"
_LONGEST = 40
_SEEDS = 17


def from_alfred(record: Mapping[str, Any], seeds: int) -> list[Case]:
    wanted = Wanted.of(record)
    shown = (
        read_demonstration(record, goal_of(wanted, kitchen_ontology()))
        if wanted is not None
        else None
    )
    if shown is None:
        return []
    case = Case(
        shown.id, f"alfred {shown.task_type}", FULL_HANDS, "", (), record=shown.id,
        sentences=shown.sentences,
    )  # fmt: skip
    domain = kitchen_domain()
    cases = list(
        cases_of(domain, shown.problem, shown.plan, case, KITCHEN, range(_SEEDS, _SEEDS + seeds))
    )
    harder = hard_negative(domain, shown.problem, shown.plan, case)
    return cases if harder is None else [*cases, harder]


def from_pddl(folder: Path, row: Mapping[str, Any], seeds: int) -> list[Case]:
    """Return the cases of a valid plan of the PDDL corpus."""
    try:
        text = (folder / row["domain"]).read_text(encoding="utf-8")
        domain = parse_domain(text)
        problem = parse_problem(folder / row["problem"], domain)
        plan = parse_plan(folder / row["plan"])
        task = Task(domain, problem)
        plain = not (domain.durative_actions or task.preference_names or problem.timed_init)
        if not plain or len(plan) > _LONGEST or len(task.objects) > 60:
            return []
        if not Validator(task).check(plan).valid:
            return []
        case = Case(str(row["id"]), f"pddl {domain.name}", text, "", ())
        return list(
            cases_of(domain, problem, plan, case, ANY_DOMAIN, range(_SEEDS, _SEEDS + seeds))
        )
    except HvrError:
        return []


def _made(job: tuple[str, Any, int]) -> list[Case]:
    kind, source, seeds = job
    if kind == "alfred":
        return from_alfred(source, seeds)
    return from_pddl(*source, seeds)


def _jobs(args: argparse.Namespace) -> Iterator[tuple[str, Any, int]]:
    if args.alfred.exists():
        shown = list(read(args.alfred))
        part = [r for i, r in enumerate(shown) if (i % 3 == 1) == (args.part == "test")]
        if args.limit is not None and args.limit < len(part):
            part = [part[i * len(part) // args.limit] for i in range(args.limit)]
        yield from (("alfred", record, args.seeds) for record in part)
    manifest = args.pddl / "manifest.jsonl"
    if manifest.exists():
        rows = records(manifest, "set", "domain", "problem", "plan", "val", "mutation")
        rows = [
            r for r in rows
            if r["set"] == "ipc" and r["val"] == "valid" and r["mutation"] is None
        ]  # fmt: skip
        rows = [row for i, row in enumerate(rows) if (i % 3 == 1) == (args.part == "test")]
        for row in rows[: args.limit]:
            yield "pddl", (args.pddl, row), args.seeds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="JSON Lines file, gzipped if .gz")
    parser.add_argument("--alfred", type=Path, default=DATA, help="ALFRED's demonstrations")
    parser.add_argument("--pddl", type=Path, default=PDDL, help="the PDDL corpus")
    parser.add_argument("--part", choices=("test", "fit"), default="test")
    parser.add_argument("--limit", type=int, help="demonstrations, and plans of the PDDL corpus")
    parser.add_argument("--seeds", type=int, default=3, help="plans made from each (default: 3)")
    add_options(parser, jobs=2)
    args = parser.parse_args()
    print(conditions())
    if not any(path.exists() for path in (args.alfred, args.pddl)):
        parser.error(f"there is nothing at {args.alfred}, nor at {args.pddl}")
    started = time.perf_counter()
    found = results(_made, list(_jobs(args)), chosen(args), chunk=2)
    made = [case for cases in found for case in cases]
    write_cases(args.out, made)
    steps = sum(len(case.plan) for case in made)
    relabelled = sum(
        len(case.added) != len(case.remove[0])
        or (any(k[0] == "M" for k in case.kinds) and not case.missing)
        for case in made
    )
    print(f"{len(made)} plans, {steps} steps, in {time.perf_counter() - started:.0f} s")
    print("inserted errors:", dict(sorted(Counter(k for c in made for k in c.kinds).items())))
    print("labels by:", dict(Counter(case.oracle for case in made)))
    print(f"labelled differently from the inserted errors: {relabelled} plans")
    return 0


if __name__ == "__main__":
    sys.exit(measured(main))
