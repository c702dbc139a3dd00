"""Kill `hvr verify train` while it replaces a verifier: the old or the new one remains intact."""

from __future__ import annotations

import itertools
import json
import random
import signal
from functools import partial
from pathlib import Path
from typing import Any

from studies.chaos.checks import CannotError, Group
from studies.chaos.invariants import GOOD, examine, require
from studies.chaos.kills.moments import any_signal, changes_of, kill, seconds_in, when
from studies.chaos.lab import Lab

_ABOUT = {
    "find_train": "search for trains between two cities",
    "book_seat": "book a seat in a train",
    "pay": "pay a bill with a card",
    "find_hotel": "search for hotels in a city",
    "book_room": "book a room in a hotel",
    "weather": "tell the weather in a city",
}
_WAYS = (
    ("go to {} by train", ("find_train", "book_seat", "pay")),
    ("a night in {}", ("find_hotel", "book_room", "pay")),
    ("is it sunny in {} and is there a train", ("weather", "find_train")),
    ("a dry night in {}", ("weather", "find_hotel", "book_room")),
)
_MORE_LINKS = (
    ("pay", "weather"), ("find_train", "book_room"), ("find_hotel", "book_seat"),
    ("weather", "book_seat"), ("weather", "pay"), ("find_hotel", "pay"),
)  # fmt: skip
_PROBE = """
import json, sys
from pathlib import Path
from hvr.errors import HvrError
from hvr.tools.datasets import read_plans
from hvr.judging.verifier.judgement.judge import load_judge
plans = read_plans(Path(sys.argv[1]))[:4]
for name in sys.argv[2:]:
    try:
        judge = load_judge(Path(name))
    except HvrError as error:
        print(json.dumps({"error": str(error)}))
        continue
    judged = [round(v.score, 4) for v in judge.judge(plans)]
    print(json.dumps({"judge": judged}))
"""
_SAVE_FOR_EVER = """
import itertools, sys
from pathlib import Path
from hvr.judging.verifier.judgement.judge import load_judge, save_judge
judges = [load_judge(Path(name)) for name in sys.argv[2:]]
for judge in itertools.cycle(judges):
    save_judge(judge, Path(sys.argv[1]))
"""


def write_data(folder: Path) -> None:
    """Write plans over six tools, the tools, their links, and settings for fast training."""
    folder.mkdir(parents=True, exist_ok=True)
    source = random.Random(0)
    records = []
    for number in range(40):
        asked, tools = _WAYS[number % len(_WAYS)]
        records.append({
            "id": f"p{number}",
            "user_request": asked.format(source.choice(("Rome", "Oslo", "Bonn", "Lyon"))),
            "task_steps": [f"Call {tool} to {_ABOUT[tool]}" for tool in tools],
            "task_nodes": [{"task": tool} for tool in tools],
            "task_links": [{"source": a, "target": b} for a, b in itertools.pairwise(tools)],
        })  # fmt: skip
    lines = "".join(f"{json.dumps(record)}\n" for record in records)
    links = {pair for _, tools in _WAYS for pair in itertools.pairwise(tools)}
    graph = {"links": [{"source": a, "target": b} for a, b in sorted(links | set(_MORE_LINKS))]}
    described = [{"id": name, "desc": text} for name, text in _ABOUT.items()]
    for name, text in (
        ("train.jsonl", lines), ("tools.json", json.dumps(described)),
        ("graph.json", json.dumps(graph)),
    ):  # fmt: skip
        (folder / name).write_text(text, encoding="utf-8")


def train_words(data: Path, out: Path, seed: int, log: Path) -> tuple[object, ...]:
    return ("verify", "train", data / "train.jsonl", "--tools", data / "tools.json", "--graph",
            data / "graph.json", "--encoder", "lexical-hash", "--out", out, "--seed", seed,
            "--log", log, "--json")  # fmt: skip


def trained(lab: Lab) -> tuple[dict[str, bytes], dict[str, bytes], list[Any], float]:
    """Return an old and a new verifier, their probe results, and the training time."""

    def train() -> tuple[dict[str, bytes], dict[str, bytes], list[Any], float]:
        place = lab.folder / "trained"
        write_data(place)
        for name, seed in (("old", 1), ("new", 2)):
            words = train_words(place, place / name, seed, place / f"{name}.csv")
            ended = lab.hvr(*words, how=lab.surroundings(bound=300))
            if b"MissingExtra" in ended.err or b"pip install" in ended.err:
                raise CannotError("the extra gnn is not installed")
            examine(lab, ended, {GOOD})
        probes = probed(lab, place, place / "old", place / "new")
        return _files(place / "old"), _files(place / "new"), probes, ended.seconds

    trained: tuple[dict[str, bytes], dict[str, bytes], list[Any], float] = lab.shared.once(
        "trained", train
    )
    return trained


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _put(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def probed(lab: Lab, data: Path, *folders: Path) -> list[Any]:
    ended = lab.python(_PROBE, data / "train.jsonl", *folders)
    examine(lab, ended, {GOOD})
    return [json.loads(line) for line in ended.out.splitlines()]


def require_whole(found: Any, known: list[Any]) -> None:
    """Require that a verifier and its judge are both old or both new."""
    require("error" not in found, f"the verifier cannot be loaded: {found.get('error')}")
    require(found in known, "the verifier and its judge are from different trainings")


def _train(near_saving: bool, lab: Lab) -> None:
    old, _, known, seconds = trained(lab)
    data, out, log = lab.work / "data", lab.work / "verifier", lab.work / "log.csv"
    write_data(data)
    _put(out, old)
    if near_saving:
        wait = when(changes_of(out), lab.random.choice((0.0, 0.003, 0.01, 0.1, 1.0)))
        number = signal.SIGKILL
    elif (number := any_signal(lab.random)) is signal.SIGKILL:
        wait = seconds_in(seconds * lab.random.uniform(0.1, 0.95))
    else:
        wait = when(log.exists, lab.random.uniform(0, seconds / 3))
    process = lab.start(*train_words(data, out, 2, log), how=lab.surroundings(bound=300))
    killed = kill(lab, process, wait, number)
    examine(lab, killed.ended, killed.codes)
    require_whole(probed(lab, data, out)[0], known)


def _saving(kills: int, lab: Lab) -> None:
    old, new, known, _ = trained(lab)
    data = lab.work / "data"
    write_data(data)
    first, second = _put(lab.work / "old", old), _put(lab.work / "new", new)
    left = []
    for number in range(kills):
        out = _put(lab.work / f"verifier-{number}", old)
        process = lab.start(out, first, second, python=("-c", _SAVE_FOR_EVER))
        # The first change shows that saving has begun.
        kill(lab, process, when(changes_of(out), lab.random.uniform(0, 0.3)), signal.SIGKILL)
        left.append(out)
    for found in probed(lab, data, *left):
        require_whole(found, known)
    words = train_words(data, left[0], 1, lab.work / "again.csv")
    examine(lab, lab.hvr(*words, how=lab.surroundings(bound=300)), {GOOD})


def add_to(group: Group) -> None:
    for number in range(4):
        group.add(f"train-{number}", partial(_train, False))
    for number in range(4):
        group.add(f"train-near-saving-{number}", partial(_train, True))
    group.add("train-saving", partial(_saving, 10))
