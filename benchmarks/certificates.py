"""Check intact and damaged certificates: benchmarks/certificates.py [--random N] [--data DATA]

The script validates N random sequences, N random timed plans, N random hierarchical plans and every
STEPth case of the corpora below DATA (see agreement.py and agreement_hddl.py). The checker receives
the certificate of each verdict, then a copy with each kind of damage that makes its claim false.

It prints the accepted certificates, the refused damaged certificates by kind, the reasons why other
verdicts have none, and the checker's time. The exit code is 1 if a certificate was refused or a
damaged one accepted.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from conditions import conditions
from inputs import measured, records

sys.path.insert(0, str(Path(__file__).parents[1]))

from hypothesis import HealthCheck, Phase, given, seed, settings

from hvr.errors import HvrError
from hvr.pddl.checker import UnprovenError, check
from hvr.validation.certificate import NoCertificateError
from tests.pddl.pddl_strategies import Parts, planned, scheduled
from tests.validation.certificate_damage import (
    Files,
    certified,
    certified_hierarchy,
    damaged,
    files_of,
)
from tests.validation.hierarchical.hddl_networks import Model


class Table:
    def __init__(self) -> None:
        self.rows: Counter[tuple[str, str]] = Counter()
        self.damage: Counter[tuple[str, str]] = Counter()
        self.wrong: list[str] = []
        self.seconds: list[float] = []

    def add(self, source: str, files: Files, certify: Callable[[Files], Any], name: str) -> None:
        """Write a certificate, and check it both intact and damaged."""
        try:
            certificate, report = certify(files)
        except NoCertificateError as error:
            self.rows[source, str(error).partition(": ")[2][:50]] += 1
            return
        except HvrError:
            self.rows[source, "unreadable, or not supported"] += 1
            return
        begin = time.process_time()
        try:
            proven = check(certificate, files)
        except UnprovenError as error:
            if not str(error).startswith("cannot check"):
                self.wrong.append(f"{source} {name}: refused: {error}")
            self.rows[source, str(error)[:70]] += 1
            return
        self.seconds.append(time.process_time() - begin)
        assert proven.startswith(report.outcome.value)
        kind = certificate["fault"]["kind"] if certificate["fault"] else ""
        self.rows[source, f"accepted: {report.outcome.value} {kind}".strip()] += 1
        for damage, wrong in damaged(certificate, Random(len(self.seconds))):
            try:
                check(wrong, files)
            except UnprovenError:
                self.damage[damage, "refused"] += 1
            else:
                self.damage[damage, "accepted"] += 1
                self.wrong.append(f"{source} {name}: accepted after: {damage}")

    def print(self) -> None:
        for title, rows in (("certificates", self.rows), ("damaged certificates", self.damage)):
            print(f"\n{title}")
            for (one, two), count in sorted(rows.items()):
                print(f"  {one:<34} {two:<52} {count:>6}")
        accepted = len(self.seconds)
        refused = sum(n for (_, what), n in self.damage.items() if what == "refused")
        print(f"\n{accepted} certificates accepted, {refused} damaged ones refused, "
              f"{len(self.wrong)} wrong")  # fmt: skip
        if accepted:
            times = sorted(self.seconds)
            print(f"checking: median {times[accepted // 2]:.4f} s, {times[-1]:.2f} s maximum (CPU)")
        for line in self.wrong[:20]:
            print(line)


def random_plans(count: int, table: Table) -> None:
    settled = settings(
        max_examples=count,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
        database=None,
        deadline=None,
    )
    sequences = planned(Parts(numbers=True, derived=True))
    timed = scheduled(Parts(numbers=True, derived=True, durative=True))

    @seed(0)
    @settled
    @given(sequences)
    def judge_sequence(world: Any) -> None:
        files = files_of(world.domain, world.problem, world.plan)
        table.add("random sequences", files, certified, "")

    @seed(0)
    @settled
    @given(timed)
    def judge_timed(world: Any) -> None:
        files = files_of(world.domain, world.problem, world.timed)
        table.add("random plans in time", files, certified, "")

    judge_sequence()
    judge_timed()
    for number in range(count):
        model = Model(Random(number))
        told = (model.domain, model.problem, model.plan())
        table.add(
            "random hierarchical plans",
            (told[0].encode(), told[1].encode(), told[2].encode()),
            certified_hierarchy,
            str(number),
        )


def corpus(data: Path, step: int) -> Iterator[tuple[str, str, Files, Callable[[Files], Any]]]:
    for name, certify in (("pddl", certified), ("hddl", certified_hierarchy)):
        manifest = data / name / "manifest.jsonl"
        for case in records(manifest, "id", "domain", "problem", "plan")[::step]:
            paths = [manifest.parent / case[key] for key in ("domain", "problem", "plan")]
            if all(path.is_file() for path in paths):
                one, two, three = (path.read_bytes() for path in paths)
                yield f"corpus {name}", case["id"], (one, two, three), certify


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--random", type=int, default=400, help="random plans of each kind")
    parser.add_argument("--data", type=Path, help="folder with the corpora pddl and hddl")
    parser.add_argument("--step", type=int, default=10, help="take every Nth case of the corpora")
    args = parser.parse_args()
    print(conditions())
    table = Table()
    random_plans(args.random, table)
    if args.data is not None:
        for source, name, files, certify in corpus(args.data, args.step):
            begin = time.process_time()
            table.add(source, files, certify, name)
            if time.process_time() - begin > 20:
                print(f"{name}: {time.process_time() - begin:.0f} s")
    table.print()
    return 1 if table.wrong else 0


if __name__ == "__main__":
    sys.exit(measured(main))
