"""Group "parallel": simultaneous runs under one name and under automatic names."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from studies.chaos.checks import BrokeError, Group
from studies.chaos.invariants import GOOD, UNUSABLE, Run, damaged, examine, require
from studies.chaos.lab import Lab

parallel = Group("parallel")

# The processes import everything, wait for each other, and start simultaneously.
_AT_ONCE = """
import gc, json, os, sys, traceback
count, folder, words = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
import hvr.runs.spine, hvr.doors.cli.plan, hvr.planning.search.fast_downward
from hvr.doors.cli.main import main
gc.freeze()
ready, go = os.pipe(), os.pipe()
children = []
for number in range(count):
    pid = os.fork()
    if not pid:
        os.close(go[1])
        out = open(f"{folder}/{number}.out", "w")
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
        os.write(ready[1], b"r")
        os.read(go[0], 1)
        code = 99
        try:
            code = main([word.replace("NUMBER", str(number)) for word in words])
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    children.append(pid)
waited = 0
while waited < count:
    waited += len(os.read(ready[0], count))
os.close(go[1])
codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
print(json.dumps(codes))
"""
_WORDS = ("plan", "make coffee", "--scene", "FloorPlan1", "-q", "--seed", "NUMBER")
_BOUND = 580.0


def _at_once(lab: Lab, count: int, *words: object) -> tuple[list[int], list[str]]:
    output = lab.folder / "children"
    output.mkdir()
    ended = lab.python(_AT_ONCE, count, output, *words, how=lab.surroundings(bound=_BOUND))
    examine(lab, ended, {GOOD})
    lab.counts["runs"] += count - 1
    texts = [(output / f"{n}.out").read_text(encoding="utf-8", errors="replace")
             for n in range(count)]  # fmt: skip
    traces = [text.strip().splitlines()[-1] for text in texts if "Traceback" in text]
    require(not traces, f"{len(traces)} of {count} showed a traceback ({traces[:1]})")
    return json.loads(ended.out), texts


def _alone(lab: Lab) -> Any:
    """Return the events of an undisturbed run, without times and names."""

    def run() -> Any:
        run = Run(lab.work.parent / "alone")
        words = [w for w in _WORDS if w != "NUMBER"]
        examine(lab, lab.hvr(*words, "0", "--save", run.folder), {GOOD})
        return _events(run.folder)

    return lab.shared.once("alone", run)


def _events(folder: Path) -> list[Any]:
    lines = (folder / "trace.jsonl").read_text(encoding="utf-8").splitlines()
    return [(event.get("event"), event.get("action")) for event in map(json.loads, lines)]


def _one_name(count: int, lab: Lab) -> None:
    """Plan into one folder simultaneously: one run succeeds, and the others report the conflict."""
    alone = _alone(lab)
    run = Run(lab.work / "same")
    codes, output = _at_once(lab, count, *_WORDS, "--save", run.folder)
    winners = [number for number, code in enumerate(codes) if code == GOOD]
    others = set(codes) - {GOOD}
    require(others <= {UNUSABLE}, f"expected exit code 2, found {sorted(others)}")
    require(len(winners) == 1, f"{len(winners)} of {count} runs completed in one folder")
    require(run.complete, "the folder of the completed run is incomplete")
    require(run.about.get("seed") == winners[0], "the folder belongs to another run")
    require(_events(run.folder) == alone, "the trace differs from a single run's events")
    unnamed = [n for n in range(count) if n != winners[0] and "same" not in output[n]]
    require(not unnamed, f"{len(unnamed)} messages do not name the folder")
    _require_whole(lab)


def _automatic_names(count: int, lab: Lab) -> None:
    """Plan simultaneously under automatic names: no run is lost or mixed with another."""
    alone = _alone(lab)
    codes, output = _at_once(lab, count, *_WORDS)
    bad = [(code, output[n].strip()[-120:]) for n, code in enumerate(codes) if code != GOOD]
    require(not bad, f"{len(bad)} of {count} runs failed: {bad[:1]}")
    folders = list((lab.work / "runs").iterdir())
    require(len(folders) == count, f"expected {count} folders, found {len(folders)}")
    runs: dict[Any, Run] = {run.about.get("seed"): run for run in map(Run, folders)}
    require(sorted(runs) == list(range(count)), f"{count - len(runs)} runs are lost")
    for number, run in runs.items():
        require(run.folder.name in output[number], f"run {number} names another folder")
        require(
            _events(run.folder) == alone, f"the events of run {number} differ from a single run's"
        )
    _require_whole(lab)


def _require_whole(lab: Lab) -> None:
    if wrong := next(damaged(lab.work), ""):
        raise BrokeError(wrong)


def _shells(count: int, name: str, lab: Lab) -> None:
    words = ("plan", "make coffee", "--scene", "FloorPlan1", "-q")
    named = ("--save", name) if name else ()
    how = lab.surroundings(bound=_BOUND)
    processes = [lab.start(*words, "--seed", n, *named, how=how) for n in range(count)]
    ended = [process.wait() for process in processes]
    for one in ended:
        examine(lab, one, {GOOD, UNUSABLE} if name else {GOOD})
    good = sum(one.code == GOOD for one in ended)
    require(good == (1 if name else count), f"{good} of {count} runs completed")
    folders = [lab.work / name] if name else list((lab.work / "runs").iterdir())
    require(len(folders) == good, f"expected {good} folders, found {len(folders)}")
    require(all(Run(folder).complete for folder in folders), "a folder is incomplete")


parallel.add("100-with-one-name", partial(_one_name, 100), alone=True)
parallel.add("100-with-automatic-names", partial(_automatic_names, 100), alone=True)
parallel.add("8-with-one-name", partial(_one_name, 8), quick=True)
parallel.add("4-with-automatic-names", partial(_automatic_names, 4))
for _turn in range(3):
    parallel.add(f"3-shells-with-one-name-{_turn}", partial(_shells, 3, "same"))
parallel.add("18-shells-with-automatic-names", partial(_shells, 18, ""), alone=True)


@parallel.check()
def a_loser_leaves_what_is_there(lab: Lab) -> None:
    """Plan into a folder that another program has filled: its content is unchanged."""
    folder = lab.work / "mine"
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work", encoding="utf-8")
    for words in (("plan", "make coffee"), ("plan", "no such request at all")):
        ended = lab.hvr(*words, "--save", folder)
        examine(lab, ended, {UNUSABLE}, says="mine|word|understand")
    (kept,) = folder.iterdir()
    require(kept.read_text(encoding="utf-8") == "years of work", "a file was changed")


@parallel.check()
def a_failed_run_leaves_an_empty_folder(lab: Lab) -> None:
    """Plan an impossible request into an empty folder: the folder stays."""
    folder = lab.work / "mine"
    folder.mkdir()
    ended = lab.hvr("plan", "make coffee", "--scene", "FloorPlan99", "--save", folder)
    examine(lab, ended, {UNUSABLE})
    require(folder.is_dir(), "the existing folder was removed")
