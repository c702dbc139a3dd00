"""Fuzz the PDDL readers and the validator: python benchmarks/fuzz_pddl.py [FOLDER]

Damages domains, problems and plans in realistic and unrealistic ways. It flips bytes, deletes,
doubles and swaps tokens, splices files, changes encodings, and inserts thousands of parentheses,
numbers of 100,000 digits, NUL bytes and tokens of 300 kB. The seeds are the files below a folder
(domain*, problem* and plan files), or small built-in ones that cover the language.

Each input goes through `parse_domain`, `parse_problem` and `Validator.check_file`, strictly and
leniently, and one in 50 through the command line. A finding is an exception other than an HvrError,
more than 2 seconds or 2 GB, or memory above 20 times the input plus 8 MB. Memory is measured on one
input in 20 and on all inputs above 300 kB. Findings are printed with their number and saved. The
same --seed gives the same inputs for any --jobs. The exit code is 1 if there are findings.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from types import FrameType

from conditions import conditions
from inputs import measured
from side_by_side import add_options, chosen, importable

from hvr.base.engines.registry import EngineChoice
from hvr.errors import HvrError
from hvr.pddl import Domain, parse_domain, parse_problem
from hvr.validation import Validator

LIMIT_SECONDS = 2.0
LIMIT_BYTES = 2_000_000_000
BASE_BYTES, LIMIT_TIMES = 8_000_000, 20
# Always measure the memory of larger inputs: small ones hardly reach the base.
LARGE = 300_000
HUGE = 10_000_000
CHUNK = 250

CLASSICAL = (
    b"""(define (domain lab) (:requirements :adl :action-costs)
  (:types robot thing - object mug jar - thing room)
  (:constants hall - room)
  (:predicates (in ?x - (either robot thing) ?r - room) (has ?b - robot ?t - thing)
    (free ?b - robot) (door ?a ?b - room) (near ?a ?b - room) (clean ?m - mug))
  (:functions (total-cost) - number (far ?a ?b - room) - number (energy ?b - robot))
  (:constraints (and (always (forall (?b - robot) (>= (energy ?b) 0)))
    (preference tidy (sometime-after (clean m1) (in m1 hall)))))
  (:derived (near ?a ?b) (or (door ?a ?b) (exists (?c - room) (and (door ?a ?c) (near ?c ?b)))))
  (:action go :parameters (?b - robot ?f ?t - room)
    :precondition (and (in ?b ?f) (near ?f ?t) (not (= ?f ?t)) (> (energy ?b) 0)
      (preference rested (>= (energy ?b) 5)))
    :effect (and (not (in ?b ?f)) (in ?b ?t) (decrease (energy ?b) (/ (far ?f ?t) 2))
      (forall (?x - thing) (when (has ?b ?x) (and (not (in ?x ?f)) (in ?x ?t))))
      (increase (total-cost) (+ 1 (far ?f ?t)))))
  (:action take :parameters (?b - robot ?t - thing ?r - room)
    :precondition (and (in ?b ?r) (in ?t ?r) (free ?b)) ; one at a time
    :effect (and (has ?b ?t) (not (free ?b))))
  (:action wash :parameters (?b - robot ?m - mug) :precondition (imply (has ?b ?m) (in ?b hall))
    :effect (and (clean ?m) (assign (energy ?b) 9))))
""".replace(b"(clean m1) (in m1 hall)", b"(door hall hall) (door hall hall)"),
    b"""(define (problem wash-up) (:domain lab)
  (:objects r2 - robot m1 - mug j1 - jar lab yard - room)
  (:init (in r2 hall) (free r2) (in m1 lab) (in j1 yard) (door hall lab) (door lab hall)
    (door lab yard) (door yard lab) (= (far hall lab) 2) (= (far lab hall) 2.5)
    (= (far hall yard) 3) (= (far yard hall) 3) (= (energy r2) 10) (= (total-cost) 0))
  (:goal (and (clean m1) (in m1 hall) (preference jar (exists (?r - room) (in j1 ?r)))))
  (:constraints (and (at-most-once (in r2 lab)) (preference soon (within 9 (clean m1)))))
  (:metric minimize (+ (total-cost) (* 5 (is-violated soon)))))
""",
    b"(go r2 hall lab)\n(take r2 m1 lab) ; the mug\n(go r2 lab hall)\n(wash r2 m1)\n",
)
TEMPORAL = (
    b"""(define (domain kiln) (:requirements :durative-actions :timed-initial-literals :fluents)
  (:types kiln pot) (:predicates (hot ?k - kiln) (baked ?p - pot) (light) (seen ?p - pot))
  (:functions (heat ?k - kiln) (need ?p - pot))
  (:derived (seen ?p - pot) (and (light) (baked ?p)))
  (:durative-action fire :parameters (?k - kiln)
    :duration (and (>= ?duration 2) (<= ?duration 9))
    :condition (and (at start (light)) (over all (preference day (light))))
    :effect (and (at start (hot ?k)) (at end (not (hot ?k))) (at end (increase (heat ?k) ?duration))
      (when (at start (>= (heat ?k) 2)) (at end (assign (heat ?k) 0)))))
  (:durative-action bake :parameters (?k - kiln ?p - pot) :duration (= ?duration (need ?p))
    :condition (over all (hot ?k)) :effect (at end (baked ?p)))
  (:action open :parameters () :effect (light)))
""",
    b"""(define (problem pots) (:domain kiln) (:objects k - kiln p1 p2 - pot)
  (:init (light) (= (heat k) 0) (= (need p1) 1.5) (= (need p2) 2) (at 3 (not (light)))
    (at 7.5 (light)) (at 8 (= (heat k) 1)))
  (:goal (and (seen p1) (baked p2)))
  (:constraints (and (hold-during 0 2 (light)) (always-within 5 (hot k) (baked p1))))
  (:metric minimize (+ (* 2 total-time) (heat k))))
""",
    b"0: (fire k) [4.0]\n0.5: (bake k p1) [1.5]\n0.75: (bake k p2) [2]\n9: (open)\n",
)
JSON = (
    *CLASSICAL[:2],
    b'[{"action": "go", "args": ["r2", "hall", "lab"]}, {"action": "wash", "args": ["r2", "m1"]}]',
)
CALLS = (*CLASSICAL[:2], b"1. go(r2, hall, lab)\n2. take(r2, m1, lab)\n3. go(r2, lab, hall)\n")
BUILT_IN = (CLASSICAL, TEMPORAL, JSON, CALLS)

Texts = tuple[bytes, bytes, bytes]
"""A domain, a problem and a plan."""


@dataclass(frozen=True)
class Finding:
    number: int
    what: str
    details: str
    texts: Texts


class TooSlowError(BaseException):
    """An input exceeded its time limit."""


# --- damage -------------------------------------------------------------------------------------


def _place(random_: random.Random, data: bytes) -> int:
    return random_.randrange(len(data) + 1)


def _tokens(data: bytes) -> list[bytes]:
    for sign in b"()":
        data = data.replace(bytes([sign]), b" " + bytes([sign]) + b" ")
    return data.split(b" ")


def _flip(random_: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(random_.choice((1, 1, 2, 8)) if data else 0):
        changed[random_.randrange(len(data))] = random_.randrange(256)
    return bytes(changed)


def _cut(random_: random.Random, data: bytes) -> bytes:
    start = _place(random_, data)
    return data[:start] + data[start + random_.choice((1, 5, 50, len(data))) :]


def _drop(random_: random.Random, data: bytes) -> bytes:
    tokens = _tokens(data)
    del tokens[random_.randrange(len(tokens))]
    return b" ".join(tokens)


def _double(random_: random.Random, data: bytes) -> bytes:
    tokens = _tokens(data)
    start = random_.randrange(len(tokens))
    some = tokens[start : start + random_.choice((1, 3, 20))]
    return b" ".join([*tokens[:start], *some, *tokens[start:]])


def _exchange(random_: random.Random, data: bytes) -> bytes:
    tokens = _tokens(data)
    i, j = random_.randrange(len(tokens)), random_.randrange(len(tokens))
    tokens[i], tokens[j] = tokens[j], tokens[i]
    return b" ".join(tokens)


def _replace(random_: random.Random, data: bytes) -> bytes:
    tokens = _tokens(data)
    tokens[random_.randrange(len(tokens))] = random_.choice(SCRAPS)
    return b" ".join(tokens)


def _insert(random_: random.Random, data: bytes) -> bytes:
    at = _place(random_, data)
    return data[:at] + random_.choice(SCRAPS) + data[at:]


def _encode(random_: random.Random, data: bytes) -> bytes:
    text = data.decode("latin-1")
    way = random_.randrange(7)
    if way == 0:
        return text.encode("utf-16")
    if way == 1:
        return b"\xff\xfe" + data
    if way == 2:
        return b"\xef\xbb\xbf" + data
    if way == 3:
        return data.replace(b"\n", b"\r\n")
    if way == 4:
        return data.replace(b" ", "\u00a0\u2003".encode())
    if way == 5:
        return text.upper().replace("E", "\u0130").encode()
    return text.encode("utf-16")[:-1]


def _nest(random_: random.Random, data: bytes) -> bytes:
    """Insert deep nesting, closed or unclosed."""
    depth = random_.choice((10, 149, 151, 1000, 50_000))
    head = random_.choice(HEADS)
    close = {b"[": b"]", b"{": b"}"}.get(head[:1], b")")
    middle = random_.choice((b"", b"(p)", b"1"))
    at = _place(random_, data)
    return data[:at] + head * depth + middle + close * random_.choice((depth, 0)) + data[at:]


def _number(random_: random.Random, data: bytes) -> bytes:
    """Replace a number with a huge or odd one, or insert one anywhere."""
    number = random_.choice(NUMBERS)
    digits = [i for i, sign in enumerate(data) if 48 <= sign <= 57]
    at = random_.choice(digits) if digits and random_.random() < 0.8 else _place(random_, data)
    return data[:at] + number + data[at + 1 :]


SCRAPS = (
    b"", b"(", b")", b"()", b"((", b"))", b"?", b"?x", b"-", b" - ", b":", b"not", b"either", b"[",
    b"]", b"[1]", b"0", b"-1", b"\0", b"\0\0", b";", b"=", b"+", b"/", b"*", b"\xe9", b"\xc4\xb0",
    b"\xff", b"(and)", b"(or)", b"(not)", b"forall", b"exists", b"when", b"at", b"over", b"all",
    b"start", b"end", b"object", b"number", b"total-cost", b"total-time", b"(total-cost)", b"#t",
    b"(* #t 2)", b"?duration", b"is-violated", b"preference", b"always", b"hold-during",
    b":action", b":durative-action", b":derived", b":process", b":goal", b":init", b":metric",
    b"increase", b"scale-down", b"(scale-down (heat k) 0)", b"(/ 1 0)", b"(= 1 1)", b"1/0", b"```",
    b"r2", b"hall", b"lab", b"k", b"p1", b"(light)", b"0.0001:", b"1/3:", b"1.", b"{", b"}", b'"',
    b"null", b"NaN", b"Infinity", b"\\u0000", b"\r", b"\x0b", b"\xc2\x85", b"\xe2\x80\xa8",
)  # fmt: skip
NUMBERS = (
    b"1e999", b"-0", b"9" * 4299, b"9" * 4301, b"9" * 100_000, b"0." + b"1" * 5000,
    b"0." + b"0" * 100_000 + b"1", b"1/" + b"3" * 5000, b"1/0", b"-" + b"9" * 900, b"9" * 999,
    b"." + b"3" * 900, b"1" * 400 + b".5", b"+5", b"00000001", b"1.", b".5", b"\xd9\xa3",
)  # fmt: skip
HEADS = (
    b"(", b"(not ", b"(and ", b"(or ", b"(forall (?x) ", b"(+ 1 ", b"(- ", b"(when () ",
    b"(preference ", b"(at start ", b"[", b'{"a":',
)  # fmt: skip
MONSTERS = (
    b"(", b")", b"()", b"( ", b"(a ", b"a", b"\0", b";", b"[", b"0:", b"(a)", b"0: (a) [1]\n",
    b"a(b)\n", b"(:a", b"(define (domain d)", b"- ",
)  # fmt: skip
WAYS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _flip, _flip, _cut, _drop, _drop, _double, _exchange, _exchange, _replace, _replace, _insert,
    _insert, _encode, _nest, _number, _number,
)  # fmt: skip


def _monster(random_: random.Random) -> bytes:
    """Return a large file that is as malformed as possible."""
    signs = random_.choice(MONSTERS)
    size = random_.choice((300_000, 300_000, 2_000_000, HUGE))
    # A legal plan of a million steps may take longer than the limit.
    legal = signs in (b"(a)", b"0: (a) [1]\n", b"a(b)\n")
    return signs * ((300_000 if legal else size) // len(signs))


def damaged(number: int, seed: int, seeds: tuple[Texts, ...]) -> Texts:
    random_ = random.Random(f"{seed}/{number}")
    texts = list(random_.choice(seeds))
    # The domain is damaged least often: nothing else can be read without it.
    which = random_.choice((0, 1, 1, 2, 2))
    kind = random_.random()
    if number % 500 == 0:
        texts[which] = _monster(random_)
    elif kind < 0.01:
        at = _place(random_, texts[which])
        token = random_.choice((b"a", b"?", b"9", b"-", b"(", b"\xc3\xa9")) * 300_000
        texts[which] = texts[which][:at] + token + texts[which][at:]
    elif kind < 0.1:
        other = random_.choice(random_.choice(seeds))
        cut = _place(random_, texts[which])
        texts[which] = texts[which][:cut] + other[_place(random_, other) :]
    else:
        for _ in range(random_.choice((1, 1, 1, 2, 3, 6))):
            if len(texts[which]) < 1_000_000:
                texts[which] = random_.choice(WAYS)(random_, texts[which])
    return texts[0], texts[1], texts[2]


# --- attempts -----------------------------------------------------------------------------------


@lru_cache(maxsize=1000)
def _whole(text: bytes, lenient: bool) -> Domain:
    return parse_domain(text.decode("latin-1"), lenient=lenient)


def _judge(folder: Path, lenient: bool, whole: bytes | None) -> str:
    """Read the three files and judge the plan; return the stage reached."""
    stage = "domain"
    try:
        if whole is not None:
            domain = _whole(whole, lenient)
        else:
            domain = parse_domain(folder / "domain.pddl", lenient=lenient)
        stage = "problem"
        problem = parse_problem(folder / "problem.pddl", domain, lenient=lenient)
        stage = "task"
        validator = Validator(domain, problem)
        stage = "plan"
        report = validator.check_file(folder / "a.plan", lenient=lenient)
    except HvrError as error:
        str(error)
        return f"error in the {stage}"
    report.explain()
    report.to_json()
    return str(report.outcome)


def _command(folder: Path, random_: random.Random) -> None:
    from hvr.doors.cli.main import main

    options = random_.choice(
        ([], ["--json"], ["--lenient"], ["--format", "sarif"], ["--format", "junit"],
         ["--all-failures"], ["--happenings"], ["--state-at", "2"], ["--format", "github"])
    )  # fmt: skip
    files = [str(folder / name) for name in ("domain.pddl", "problem.pddl", "a.plan")]
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        contextlib.suppress(HvrError),
    ):
        code = main(["validate", *options, *files])
        assert code in (0, 1, 2), f"exit code {code}"


def _alarm(_signal: int, _frame: FrameType | None) -> None:
    raise TooSlowError


def try_chunk(
    numbers: range, seed: int, seeds: tuple[Texts, ...], command_every: int
) -> tuple[Counter[str], list[Finding]]:
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    signal.signal(signal.SIGPROF, _alarm)
    counts: Counter[str] = Counter()
    findings: list[Finding] = []
    # Undamaged domains are read once.
    whole = {texts[0] for texts in seeds}
    with tempfile.TemporaryDirectory(prefix="hvr-fuzz-") as name:
        folder = Path(name)
        for number in numbers:
            texts = damaged(number, seed, seeds)
            for file, data in zip(("domain.pddl", "problem.pddl", "a.plan"), texts, strict=True):
                (folder / file).write_bytes(data)
            known = texts[0] if texts[0] in whole else None
            runs: list[tuple[str, Callable[[], object]]] = [
                ("strict", partial(_judge, folder, False, known)),
                ("lenient", partial(_judge, folder, True, known)),
            ]
            if number % command_every == 0:
                runs.append(("command", partial(_command, folder, random.Random(number))))
            size = sum(map(len, texts))
            if number % 20 == 0 or size > LARGE:
                # A separate run, because tracing memory takes time.
                findings += _memory(number, texts, runs[0][1], counts)
            for label, run in runs:
                begin = time.process_time()
                # Only the CPU time of the process counts; other work may slow it down.
                signal.setitimer(signal.ITIMER_PROF, 5 * LIMIT_SECONDS)
                try:
                    result = run()
                    counts[f"{label}: {result or 'done'}"] += 1
                except TooSlowError:
                    findings.append(_finding(number, f"{label}: a hang", texts))
                except MemoryError:
                    findings.append(_finding(number, f"{label}: out of memory", texts))
                except Exception as error:  # any other exception is a finding
                    what = f"{label}: {type(error).__name__}"
                    findings.append(_finding(number, what, texts))
                finally:
                    signal.setitimer(signal.ITIMER_PROF, 0)
                spent = time.process_time() - begin
                if spent > LIMIT_SECONDS:
                    findings.append(_finding(number, f"{label}: {spent:.1f} s", texts))
    return counts, findings


def _memory(
    number: int, texts: Texts, run: Callable[[], object], counts: Counter[str]
) -> list[Finding]:
    """Try an input in strict mode; return a finding if it took too much memory."""
    size = sum(map(len, texts))
    tracemalloc.start()
    with contextlib.suppress(Exception):  # the timed run reports it
        run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    counts["memory looked at"] += 1
    if peak <= BASE_BYTES:
        return []
    counts[f"memory: {'at most' if peak <= 10 * size else 'more than'} 10 times the input"] += 1
    if peak <= LIMIT_TIMES * size:
        return []
    return [Finding(number, "memory", f"{peak:,} bytes for {size:,}", texts)]


def _finding(number: int, what: str, texts: Texts) -> Finding:
    return Finding(number, what, traceback.format_exc(limit=-6), texts)


# --- driver -------------------------------------------------------------------------------------


def read_seeds(folder: Path) -> tuple[Texts, ...]:
    """Combine the domains, problems and plans of a folder at random.

    Each problem is combined with the domain that it names.
    """
    random_ = random.Random(0)
    kinds: dict[str, list[Path]] = {"domains": [], "problems": [], "plans": []}
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.stat().st_size < 8_000):
        kind = path.parent.name
        if kind not in kinds:
            kind = next((k for k in kinds if path.name.startswith(k[:-1])), "plans")
        kinds[kind].append(path)
    if not all(kinds.values()):
        raise SystemExit(f"{folder} has no domains, problems or plans")
    found: list[Texts] = []
    for plan in random_.sample(kinds["plans"], min(200, len(kinds["plans"]))):
        stem = plan.stem.rsplit("-", 1)[0]
        problem = next((p for p in kinds["problems"] if p.stem.startswith(stem)), None)
        problem = problem or random_.choice(kinds["problems"])
        text = problem.read_bytes()
        name = text.lower().partition(b"(:domain")[2].strip().split(b")")[0].strip()
        fitting = [d for d in kinds["domains"] if name in d.read_bytes().lower()]
        domain = random_.choice(fitting or kinds["domains"])
        found.append((domain.read_bytes(), text, plan.read_bytes()))
    return tuple(found)


def run_all(
    numbers: range, seed: int, seeds: tuple[Texts, ...], engine: EngineChoice, every: int
) -> Iterator[tuple[int, Counter[str], list[Finding]]]:
    """Try all inputs, and yield the number done so far, their outcomes and the findings."""
    done = 0
    chunks = [numbers[i : i + CHUNK] for i in range(0, len(numbers), CHUNK)]
    try_one = importable(partial(try_chunk, seed=seed, seeds=seeds, command_every=every))
    with contextlib.closing(engine.open(len(chunks))) as opened:
        for finished in opened.run(try_one, chunks):
            chunk = chunks[finished.number]
            if finished.value is not None:
                counts, findings = finished.value
            else:
                counts = Counter()
                where = f"some input from {chunk.start} to {chunk.stop} killed the process"
                findings = [Finding(chunk.start, where, "", (b"", b"", b""))]
            done += len(chunk)
            yield done, counts, findings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="files to damage")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--begin", type=int, default=0, help="number of the first input")
    parser.add_argument("--seed", type=int, default=1)
    add_options(parser, jobs=2)
    parser.add_argument("--only", type=int, help="try one input, by its number")
    parser.add_argument("--command-every", type=int, default=50)
    parser.add_argument("--save", type=Path, default=Path("fuzz-findings"))
    given = parser.parse_args()
    print(conditions(given.seed))
    seeds = read_seeds(given.folder) if given.folder else BUILT_IN
    total: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    begin = time.perf_counter()
    if given.only is not None:
        one = range(given.only, given.only + 1)
        results = iter([(1, *try_chunk(one, given.seed, seeds, 1))])
    else:
        numbers = range(given.begin, given.begin + given.count)
        results = run_all(numbers, given.seed, seeds, chosen(given), given.command_every)
    for done, counts, findings in results:
        total += counts
        for finding in findings:
            kinds[finding.what] += 1
            if kinds[finding.what] <= 5:
                print(f"\ninput {finding.number}: {finding.what}\n{finding.details}", flush=True)
                folder = given.save / f"{given.seed}-{finding.number}"
                folder.mkdir(parents=True, exist_ok=True)
                for name, data in zip(
                    ("domain.pddl", "problem.pddl", "a.plan"), finding.texts, strict=True
                ):
                    (folder / name).write_bytes(data)
        if done % (CHUNK * 20) == 0:
            spent = time.perf_counter() - begin
            print(f"{done} inputs, {spent:.0f} s, {sum(kinds.values())} findings", flush=True)
    print()
    for label, number in sorted(total.items()):
        print(f"{number:>8}  {label}")
    spent = time.perf_counter() - begin
    print(f"{done} inputs from {len(seeds)} seeds in {spent:.0f} s; findings: "
          f"{dict(kinds) or 'none'}")  # fmt: skip
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(measured(main))
