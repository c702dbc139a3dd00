"""Full or read-only disks, and files with unexpected content."""

from __future__ import annotations

import shutil
import sqlite3
import stat
from dataclasses import replace
from functools import partial
from pathlib import Path

from studies.chaos.checks import CannotError, Group
from studies.chaos.conditions.small import plan_words, unprivileged, write_task
from studies.chaos.invariants import GOOD, NO, UNANSWERED, UNUSABLE, Run, examine, require
from studies.chaos.kills.moments import calls_in, slowly, when
from studies.chaos.lab import Lab
from studies.chaos.wire import ChaosServer

disk = Group("disk")

# Mount the disk in a private namespace; its remaining content is copied out afterwards.
_SMALL = """\
set -e
mount -t tmpfs -o size=$1 none "$2"
at="$2"; to="$3"; shift 3
set +e
"$@"
code=$?
cp -a "$at/." "$to/"
exit $code
"""
_PLAN = ("plan", "make coffee", "--scene", "FloorPlan1")
_FULL = "No space|space left|full"


def _on_a_small_disk(lab: Lab, size: str) -> tuple[Path, Path, tuple[str, ...]]:
    """Return the mount point, the folder to which its content is copied, and the command prefix."""
    lab.need("unshare", "mount")
    place, copy = lab.folder / "small", lab.work / "copy"
    place.mkdir()
    copy.mkdir()
    prefix = ("unshare", "--map-root-user", "--mount", "sh", "-c", _SMALL, "sh", size,
              str(place), str(copy))  # fmt: skip
    probe = lab.python("pass", how=lab.surroundings(prefix=prefix))
    if probe.code != GOOD:
        raise CannotError(f"mounting is not possible here: {probe.last}")
    return place, copy, prefix


def _room(lab: Lab, *more: object) -> int:
    def measure() -> int:
        run = Run(lab.folder / "measured")
        examine(lab, lab.hvr(*_PLAN, *more, "--save", run.folder), {GOOD})
        blocks = sum(path.stat().st_blocks for path in run.folder.rglob("*"))
        return blocks // 2  # a `stat` block is half a kilobyte

    return int(lab.shared.once(f"room {len(more)}", measure))


def _plan(share: float, lab: Lab) -> None:
    size = max(4, int(_room(lab) * share))
    place, copy, prefix = _on_a_small_disk(lab, f"{size}k")
    how = lab.surroundings(prefix=prefix)
    ended = lab.hvr(*_PLAN, "--save", place / "run", how=how)
    examine(lab, ended, {UNANSWERED}, run=Run(copy / "run"), says=_FULL)


def _paid(share: float, lab: Lab) -> None:
    """Plan with a paid model onto a disk that fills up during the run."""
    with ChaosServer() as server:
        words = ("--llm", server.spec, "--base-url", server.url)
        size = int(_room(lab, *words) * share)
        place, copy, prefix = _on_a_small_disk(lab, f"{size}k")
        calls = server.calls
        ended = lab.hvr(*_PLAN, *words, "--save", place / "run",
                        how=lab.surroundings(prefix=prefix))  # fmt: skip
        calls = server.calls - calls
    examine(lab, ended, {UNANSWERED}, run=Run(copy / "run"), says=_FULL)
    kept = Run(copy / "run").answers
    # An answer that cannot be saved must not be followed by another request.
    require(calls <= kept + 1, f"{calls} requests were sent, but only {kept} answers kept")


for _share in (0.0, 0.2, 0.5, 0.7, 0.9):
    _name = f"plan-on-{_share:.0%}-of-the-room".replace("%", "-per-cent")
    disk.add(_name, partial(_plan, _share), quick=_share == 0.5)
for _share in (0.6, 0.75, 0.9):
    _name = f"paid-plan-on-{_share:.0%}-of-the-room".replace("%", "-per-cent")
    disk.add(_name, partial(_paid, _share))


@disk.check()
def bench_on_a_small_disk(lab: Lab) -> None:
    """Run a bench on a disk that fills up: finished cells survive."""
    place, copy, prefix = _on_a_small_disk(lab, "72k")
    ended = lab.hvr("bench", "--tasks", "T1,T2,T3", "--settings", "HVR,LLM", "--no-execute",
                    "--save", place / "bench",
                    how=lab.surroundings(prefix=prefix, bound=150))  # fmt: skip
    examine(lab, ended, {UNANSWERED}, says=_FULL)
    examine(lab, lab.hvr("bench", "show", copy / "bench"), {GOOD, NO, UNANSWERED})


@disk.check()
def temporary_files_on_a_small_disk(lab: Lab) -> None:
    place, _, prefix = _on_a_small_disk(lab, "4k")
    run, words = plan_words(lab)
    how = lab.surroundings(env={"TMPDIR": str(place)}, prefix=prefix)
    examine(lab, lab.hvr(*words, how=how), {GOOD, UNANSWERED}, run=run)


@disk.check()
def files_may_not_grow(lab: Lab) -> None:
    lab.need("prlimit")
    run, words = plan_words(lab)
    how = lab.surroundings(prefix=("prlimit", "--fsize=16384"))
    examine(lab, lab.hvr(*words, how=how), {UNUSABLE, UNANSWERED}, run=run)


def _output(target: str, codes: set[int], words: tuple[str, ...], lab: Lab) -> None:
    if words[: len(_PLAN)] == _PLAN:
        words = (*words, "--save", str(lab.work / "run"))
    elif words[0] == "validate":
        words = (*words, *map(str, write_task(lab.work)))
    with Path("/dev/full").open("wb") as full:
        device = full.fileno()
        usual = lab.surroundings()
        how = replace(usual, stdout=device) if target == "stdout" else replace(usual, stderr=device)
        ended = lab.hvr(*words, how=how)
    examine(lab, ended, codes)
    if words[: len(_PLAN)] == _PLAN:
        require(Run(lab.work / "run").complete, "the run is incomplete")


for _name, _target, _codes, _words in (
    ("plan", "stdout", {UNANSWERED}, _PLAN),
    ("plan-q", "stdout", {UNANSWERED}, (*_PLAN, "-q")),
    ("plan-json", "stdout", {UNANSWERED}, (*_PLAN, "--json")),
    ("validate", "stdout", {UNANSWERED}, ("validate",)),
    ("validate-json", "stdout", {UNANSWERED}, ("validate", "--format", "json")),
    ("help", "stdout", {UNANSWERED}, ("plan", "--help")),
    ("version", "stdout", {UNANSWERED}, ("--version",)),
    ("tasks", "stdout", {UNANSWERED}, ("tasks",)),
    ("errors", "stderr", {UNUSABLE}, ("plan", "make coffee", "--no-such-option")),
):
    disk.add(f"full-device-{_name}", partial(_output, _target, _codes, _words),
             quick=_name == "validate")  # fmt: skip


@disk.check()
def output_file_on_a_full_device(lab: Lab) -> None:
    ended = lab.hvr("validate", *write_task(lab.work), "--format", "json",
                    "--output-file", "/dev/full")  # fmt: skip
    examine(lab, ended, {UNANSWERED})


@disk.check()
def page_on_a_full_device(lab: Lab) -> None:
    """Write the run page to a full device: the run itself is complete."""
    run, words = plan_words(lab, "--html", "/dev/full")
    examine(lab, lab.hvr(*words), {UNANSWERED})
    require(run.complete, "the run is incomplete")


@disk.check()
def folder_that_may_not_be_written(lab: Lab) -> None:
    place = lab.work / "closed"
    place.mkdir()
    place.chmod(stat.S_IRUSR | stat.S_IXUSR)
    how = lab.surroundings(prefix=unprivileged(lab))
    examine(lab, lab.hvr(*_PLAN, "--save", place / "run", how=how), {UNUSABLE}, says="run")
    inside = lab.surroundings(prefix=unprivileged(lab), cwd=place)
    examine(lab, lab.hvr(*_PLAN, how=inside), {UNUSABLE}, says="permission|write")


@disk.check()
def folder_below_a_file(lab: Lab) -> None:
    (lab.work / "file").write_text("here", encoding="utf-8")
    ended = lab.hvr(*_PLAN, "--save", lab.work / "file" / "run")
    examine(lab, ended, {UNUSABLE}, says="file")


@disk.check()
def folder_removed_midway(lab: Lab) -> None:
    run, words = plan_words(lab)
    process = lab.start(*words)
    when((run.folder / "trace.jsonl").exists, 0.0)(process)
    shutil.rmtree(run.folder, ignore_errors=True)
    examine(lab, process.wait(), {GOOD, UNUSABLE, UNANSWERED})


@disk.check()
def paid_folder_removed_midway(lab: Lab) -> None:
    folder = lab.work / "run"
    with ChaosServer(slowly) as server:
        process = lab.start(*_PLAN, "--llm", server.spec, "--base-url", server.url,
                            "--save", folder)  # fmt: skip
        calls_in(server, 3, 0.0)(process)
        shutil.rmtree(folder, ignore_errors=True)
        examine(lab, process.wait(), {GOOD, UNUSABLE, UNANSWERED})


def _damaged_file(option: str, content: bytes, lab: Lab) -> None:
    """Plan with an invalid file: the error names it, and no request is sent."""
    file = lab.work / "damaged"
    file.write_bytes(content)
    with ChaosServer() as server:
        ended = lab.hvr(*_PLAN, "--llm", server.spec, "--base-url", server.url, option, file,
                        "--save", lab.work / "run")  # fmt: skip
    examine(lab, ended, {UNUSABLE}, says="damaged")
    require(file.read_bytes() == content, "the damaged file was changed")
    require(not server.calls, f"{server.calls} requests were sent before the error")


for _option in ("--cache", "--library"):
    for _name, _content in (("garbage", b"\x00\xff garbage " * 50), ("json", b'{"a": [1]}')):
        disk.add(f"damaged{_option[1:]}-{_name}", partial(_damaged_file, _option, _content))


@disk.check()
def cache_that_is_locked(lab: Lab) -> None:
    file = lab.work / "cache.sqlite"
    run = Run(lab.work / "run")
    with ChaosServer() as server:
        words = (*_PLAN, "--llm", server.spec, "--base-url", server.url, "--cache", file)
        examine(lab, lab.hvr(*words, "--save", lab.work / "first"), {GOOD})
        holder = sqlite3.connect(file, isolation_level=None)
        try:
            holder.execute("BEGIN EXCLUSIVE")
            ended = lab.hvr(*words, "--save", run.folder, how=lab.surroundings(bound=150))
        finally:
            holder.close()
    examine(lab, ended, {GOOD, UNUSABLE, UNANSWERED}, run=run)


@disk.check()
def ledger_that_is_damaged(lab: Lab) -> None:
    folder = lab.work / "bench"
    words = ("bench", "--tasks", "T2", "--settings", "LLM", "--no-execute", "--max-calls", "50",
             "--save", folder)  # fmt: skip
    examine(lab, lab.hvr(*words), {GOOD})
    for path in (folder / "cells").iterdir():
        path.unlink()
    (folder / "ledger.sqlite").write_bytes(b"no ledger" * 500)
    examine(lab, lab.hvr(*words), {NO, UNUSABLE, UNANSWERED}, says="ledger")
