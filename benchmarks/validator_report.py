"""Reproduce the figures of docs/results/validator.md: python benchmarks/validator_report.py DATA

DATA is a folder with the corpora `pddl` and `hddl`, each with a `manifest.jsonl` (see agreement.py
and agreement_hddl.py). VAL runs if the environment variable VAL names its binary.

Each part is a script of this folder. Its output goes to a Markdown page (--output, or standard
output), below a line that lists the available peers and the omitted parts. A part that takes longer
than --limit seconds is stopped. The exit code is 1 if a part fails, is stopped, or finds a
disagreement without an explanation.

    python benchmarks/validator_report.py DATA --quick             # minutes: samples of everything
    python benchmarks/validator_report.py DATA --only agreement    # one part
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

from conditions import conditions
from inputs import measured

from hvr.errors import DataFileError

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Part:
    """A script of the report, with its arguments for a full and a quick run.

    In the arguments, PDDL and HDDL stand for the corpora.
    """

    name: str
    words: str
    quick: str
    needs_val: bool = False

    def arguments(self, data: Path, quick: bool) -> list[str]:
        places = {"PDDL": str(data / "pddl" / "manifest.jsonl"), "HDDL": str(data / "hddl")}
        words = (self.quick if quick else self.words).split()
        return [places.get(word, word) for word in words]


PARTS = (
    Part("agreement", "agreement.py PDDL", "agreement.py PDDL --set hand"),
    Part("agreement as VAL", "agreement.py PDDL --as-val", "agreement.py PDDL --set hand --as-val"),
    Part("hierarchical plans", "agreement_hddl.py HDDL", "agreement_hddl.py HDDL"),
    Part("unified-planning", "unified_agreement.py", "unified_agreement.py"),
    Part(
        "random sequences",
        "random_plans.py --kind sequence --count 10000",
        "random_plans.py --kind sequence --count 500",
        needs_val=True,
    ),
    Part(
        "random timed plans",
        "random_plans.py --kind timed --count 10000",
        "random_plans.py --kind timed --count 500",
        needs_val=True,
    ),
    Part(
        "exponential change",
        "agreement_continuous.py --count 500 --seed 1000",
        "agreement_continuous.py --count 50 --seed 1000",
        needs_val=True,
    ),
    Part(
        "certificates", "certificates.py --random 1000 --data DATA", "certificates.py --random 50"
    ),
    Part("speed by class", "validate_classes.py PDDL", "validate_classes.py PDDL --every 40"),
    Part(
        "speed against peers",
        "validate_speed.py --manifest PDDL --limit 30",
        "validate_speed.py --runs 1 --limit 20",
    ),
    Part("memory", "validate_memory.py", "validate_memory.py --cases objects facts"),
    Part("advice", "repair.py PDDL", "repair.py PDDL --sample 20"),
    Part("advice in time", "repair.py PDDL --timed", "repair.py PDDL --timed --sample 6"),
    Part(
        "damaged PDDL", "fuzz_pddl.py --count 20000 --seed 1", "fuzz_pddl.py --count 100 --seed 1"
    ),
    Part("damaged HDDL", "fuzz_hddl.py --count 5000", "fuzz_hddl.py --count 100"),
    Part("damaged plans", "fuzz_plan_texts.py --count 20000", "fuzz_plan_texts.py --count 200"),
)


@dataclass(frozen=True)
class Done:
    part: Part
    command: list[str]
    output: str
    code: int
    seconds: float


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--quick", action="store_true", help="samples of everything")
    parser.add_argument(
        "--only", action="append", metavar="PART", help="only this part; may be repeated"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the page to this file")
    parser.add_argument(
        "--limit", type=float, default=4 * 3600, metavar="SECONDS", help="stop a part after this"
    )
    args = parser.parse_args()
    if not (args.data / "pddl" / "manifest.jsonl").is_file():
        raise DataFileError(f"{args.data} has no pddl/manifest.jsonl")
    names = [part.name for part in PARTS]
    for name in args.only or ():
        if name not in names:
            parser.error(f"no part named {name!r}; there are {', '.join(names)}")
    chosen = [part for part in PARTS if part.name in (args.only or names)]
    done = list(run(chosen, args.data, args.quick, args.limit))
    absent = [part.name for part in PARTS if part not in [one.part for one in done]]
    page = "\n".join(lines(done, absent, args.quick))
    if args.output is None:
        print(page)
    else:
        args.output.write_text(page + "\n", encoding="utf-8")
    failed = [one.part.name for one in done if one.code]
    if failed:
        print(f"failed, or with unexplained disagreements: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def run(parts: list[Part], data: Path, quick: bool, limit: float) -> Iterator[Done]:
    """Run parts one after the other, and print a line on standard error for each."""
    for part in parts:
        if part.needs_val and not os.environ.get("VAL"):
            print(f"{part.name}: skipped, because VAL is not available", file=sys.stderr)
            continue
        command = [str(data) if w == "DATA" else w for w in part.arguments(data, quick)]
        print(f"{part.name} …", file=sys.stderr, flush=True)
        started = time.perf_counter()
        output, code = output_of([sys.executable, str(HERE / command[0]), *command[1:]], limit)
        output = output.replace(str(data), "DATA")
        yield Done(part, command, output, code, time.perf_counter() - started)


def output_of(command: list[str], limit: float) -> tuple[str, int]:
    """Return a command's output and exit code, which is 124 if it was stopped at the limit."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            printed, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            # The scripts start their own processes.
            os.killpg(process.pid, signal.SIGKILL)
            printed, _ = process.communicate()
            return f"{printed}stopped after {limit:g} seconds", 124
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return (printed + errors if process.returncode else printed), process.returncode


def lines(done: list[Done], absent: list[str], quick: bool) -> Iterator[str]:
    yield "# The validator's figures, reproduced"
    yield ""
    yield f"{datetime.now(UTC):%d %B %Y}. {conditions()}. Load {os.getloadavg()[0]:.1f}."
    yield f"{'Samples' if quick else 'In full'}. Peers: {peers()}."
    yield f"Not run: {', '.join(absent) or 'none'}."
    for one in done:
        yield ""
        yield f"## {one.part.name.capitalize()}"
        yield ""
        state = "" if not one.code else f", exit code {one.code}"
        words = " ".join(Path(word).name if "/" in word else word for word in one.command)
        yield f"`python benchmarks/{words}` ({one.seconds:.0f} s{state})"
        yield ""
        yield "```text"
        yield one.output.strip()
        yield "```"


def peers() -> str:
    val = os.environ.get("VAL")
    known = {
        "VAL": bool(val and Path(val).is_file()),
        "unified-planning": find_spec("unified_planning") is not None,
        "PyVAL": find_spec("pyval") is not None,
    }
    return ", ".join(f"{name} {'present' if here else 'absent'}" for name, here in known.items())


if __name__ == "__main__":
    sys.exit(measured(main))
