"""Test link prediction between tools: which tool follows which, with links hidden by request.

    python benchmarks/toolworld_links.py [--data FOLDER] [--sets apibank,bfcl]
        [--apis FILE --calls FILE] [--seeds N] [--methods NAME,NAME] [--encoder minilm]

A link is an ordered pair of tools that a request calls one right after the other. Each seed splits
the requests (not the links) into 60 % training, 20 % validation and 20 % test. Predictors see only
the calls of training requests. The test is to find links that occur only in test requests; the
threshold of F1 is the best on links that occur in validation but not in training. Three variants of
a BFCL dialogue are one request, as are recorded runs of one tau task.

Data: API-Bank and UltraTool (toolgraphs/api_calls.jsonl), BFCL's multi-turn dialogues, tau2-bench's
retail, airline and telecom (toolworlds), in one graph of several catalogues. `--apis` and `--calls`
take another catalogue and its calls in the format of apibank_apis.json and api_calls.jsonl.

There are as many negative pairs as links; none occurs in any request of any part, and both ends
belong to one catalogue:
random   any two tools
hard     the link's own source, and another tool that is called somewhere

AUC: probability that a hidden link scores higher than a negative pair. F1: at the threshold from
validation. Hits@10: share of hidden links whose target is among the top ten tools of the catalogue
without a known link from the same source; a tie counts half. Always "link" has F1 .667.

counted        share of the second tool among the successors, smoothed by its overall share
adamic-adar    common neighbours, 1 / ln(degree) each
cosine         similarity of the two tools' text vectors, without training
sgc            vectors averaged along links, logistic regression on products and differences
logistic       logistic regression on 19 features of pairs (studies/link_prediction/features.py)
pairs          an average of five small networks on the same features
hgt            the paper's graph transformer: attention with weights added, head of eq. 21
hgt-multiplied the same with weights multiplied
hgt-product    with weights multiplied, and the product of both ends in the head (hvr's)
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, pstdev

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import measured
from toolworld_data import SHARED, Understood, call_set, parted, tool_sets, understood

from hvr.base.registry import need_gnn
from hvr.errors import DataFileError, UsageError
from hvr.knowledge.retrieval.embedders import TextVectors
from hvr.tools.catalogue.schema import Catalogue
from hvr.tools.navigation.graph import ObservedCall
from hvr.tools.navigation.graph_log import MeaningNames
from studies.link_prediction.measures import area_under_curve, best_cut, f1, hits_at
from studies.link_prediction.predictor import LinkPredictor, alike, common_neighbours, counted
from studies.link_prediction.sequences import (
    Pairs,
    SequenceCounts,
    hard_negatives,
    random_negatives,
    sequence_counts,
)
from studies.link_prediction.vectors import Matrix, NodeVectors, node_vectors

SHARES = {"train": 0.6, "validation": 0.2, "test": 0.2}
LEAST = 10
"""Minimum number of requests, so that each part has some."""
KINDS = ("random", "hard")


def predictors() -> dict[str, LinkPredictor]:
    """Return the link predictors, one per row of the table."""
    need_gnn()
    from studies.link_prediction.pair_network import PairNetwork, Propagation
    from studies.link_prediction.transformer import GraphTransformer

    return {
        "counted": counted,
        "adamic-adar": common_neighbours,
        "cosine": alike,
        "sgc": Propagation(),
        "logistic": PairNetwork(hidden=0),
        "pairs": PairNetwork(),
        "hgt": GraphTransformer(),
        "hgt-multiplied": GraphTransformer(weights="multiplied"),
        "hgt-product": GraphTransformer(weights="multiplied", head="product"),
    }


@dataclass(frozen=True, eq=False)
class World:
    """All tool sets as one graph of several catalogues."""

    vectors: NodeVectors
    sets: tuple[str, ...]
    requests: tuple[str, ...]
    runs: tuple[tuple[ObservedCall, ...], ...]


def world_of(sets: Sequence[Understood], encoder: TextVectors) -> World:
    """Join tool sets; each name gets the name of its set as a prefix."""
    tools, found, groups, requests, runs = [], [], {}, [], []
    for number, one in enumerate(sets):
        front = one.tools.name
        tools += [replace(t, name=f"{front}/{t.name}") for t in one.tools.catalogue.tools]
        found += [
            replace(m, name=f"{front}/{m.name}",
                    slots=tuple(replace(s, tool=f"{front}/{s.tool}") for s in m.slots))
            for m in one.found
        ]  # fmt: skip
        groups |= {f"{front}/{t.name}": number for t in one.tools.catalogue.tools}
        for run, seen in zip(one.tools.runs, one.seen, strict=True):
            requests.append(f"{front}/{run.request}")
            runs.append(tuple(_in_front(front, s) for s in seen))
    catalogue = Catalogue(tuple(tools))
    names = MeaningNames(catalogue, found)
    vectors = node_vectors(catalogue, names, encoder, groups)
    return World(vectors, tuple(s.tools.name for s in sets), tuple(requests), tuple(runs))


def _in_front(front: str, seen: ObservedCall) -> ObservedCall:
    def named(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(f"{front}/{name}" for name in names)

    return replace(
        seen, tool=f"{front}/{seen.tool}", before=seen.before and f"{front}/{seen.before}",
        given=named(seen.given), returned=named(seen.returned), missing=named(seen.missing),
        passed=tuple((f"{front}/{a}", f"{front}/{b}") for a, b in seen.passed),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Task:
    """The hidden links and negative pairs of one seed."""

    train: tuple[tuple[ObservedCall, ...], ...]
    whole: SequenceCounts
    hidden: dict[str, Pairs]
    others: dict[tuple[str, str], Pairs]


def task_of(world: World, seed: int) -> Task:
    """Split the requests of each set, and draw negative pairs."""
    part: dict[str, str] = {}
    for name in world.sets:
        part |= parted([r for r in world.requests if r.startswith(f"{name}/")], seed, SHARES)
    runs = {
        p: [run for run, r in zip(world.runs, world.requests, strict=True) if part[r] == p]
        for p in SHARES
    }
    links = {p: sequence_counts(world.vectors, some).links for p, some in runs.items()}
    whole = sequence_counts(world.vectors, world.runs)
    hidden = {
        "validation": np.argwhere(links["validation"] & ~links["train"]),
        "test": np.argwhere(links["test"] & ~links["train"] & ~links["validation"]),
    }
    random = np.random.default_rng(1000 + seed)
    others: dict[tuple[str, str], Pairs] = {}
    for which, pairs in hidden.items():
        free = world.vectors.together & ~whole.links
        groups = world.vectors.groups
        others[which, "random"] = np.concatenate([
            random_negatives(free & (groups == group)[:, None], int(count), random)
            for group, count in enumerate(np.bincount(groups[pairs[:, 0]]))
        ])  # fmt: skip
        others[which, "hard"] = hard_negatives(
            world.vectors, whole.links, pairs, whole.calls > 0, random
        )
    return Task(tuple(runs["train"]), whole, hidden, others)


Figures = dict[str, float]


def figures(world: World, task: Task, scores: Matrix, sets: Sequence[str]) -> Figures:
    """Measure how well scores predict the hidden links of some sets."""
    numbers = [world.sets.index(name) for name in sets]
    inside = np.isin(world.vectors.groups, numbers)
    made: Figures = {}
    for kind in KINDS:
        values = {}
        for which in ("validation", "test"):
            pairs = task.hidden[which], task.others[which, kind]
            if which == "test":
                pairs = tuple(p[inside[p[:, 0]]] for p in pairs)  # type: ignore[assignment]
            values[which] = tuple(scores[p[:, 0], p[:, 1]] for p in pairs)
        made[f"AUC {kind}"] = area_under_curve(*values["test"])
        made[f"F1 {kind}"] = f1(*values["test"], best_cut(*values["validation"]))
    pairs = task.hidden["test"]
    made["Hits@10"] = hits_at(_ranks(world, task, scores, pairs[inside[pairs[:, 0]]]))
    made["links"] = float(inside[pairs[:, 0]].sum())
    return made


def _ranks(world: World, task: Task, scores: Matrix, pairs: Pairs) -> np.ndarray:
    ranks = []
    for source, target in pairs:
        rivals = world.vectors.together[source] & ~task.whole.links[source]
        better = (scores[source] > scores[source, target]) & rivals
        equal = (scores[source] == scores[source, target]) & rivals
        ranks.append(1 + int(better.sum()) + math.ceil(equal.sum() / 2))
    return np.array(ranks, dtype=np.int64)


def table(rows: dict[str, list[Figures]], title: str) -> str:
    """Return means over seeds, with the spread of AUC and F1 at random pairs."""
    columns = ("AUC random", "F1 random", "AUC hard", "F1 hard", "Hits@10")
    links = [round(f["links"]) for f in next(iter(rows.values()))]
    lines = [
        f"{title}: {links} hidden links in test (each seed)",
        "| method | " + " | ".join(columns) + " |",
        "|" + " --- |" * (len(columns) + 1),
    ]
    for name, some in rows.items():
        cells = []
        for column in columns:
            values = [f[column] for f in some if not math.isnan(f[column])]
            spread = f" ± {pstdev(values):.3f}" if column in columns[:2] and values else ""
            cells.append(f"{mean(values):.3f}{spread}" if values else "-")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--sets", default="", help="comma-separated names (default: all)")
    parser.add_argument("--apis", type=Path, help="an API list instead of the shared data")
    parser.add_argument("--calls", type=Path, help="calls of the API list")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--methods", default="", help="comma-separated names (default: all)")
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument(
        "--threads", type=int, default=1, help="threads of torch; 1 is best on a shared machine"
    )
    options = parser.parse_args(arguments)
    if (options.apis is None) != (options.calls is None):
        raise UsageError("--apis and --calls must be given together")
    methods = predictors()
    if unknown := set(filter(None, options.methods.split(","))) - set(methods):
        raise UsageError(f"unknown method {sorted(unknown)[0]!r}; there are {', '.join(methods)}")
    import torch

    torch.set_num_threads(options.threads)
    encoder = TextVectors(options.encoder)
    sets = (
        tool_sets(options.data, list(filter(None, options.sets.split(","))))
        if options.apis is None
        else [call_set(options.apis.stem, options.apis, options.calls)]
    )
    world = world_of([understood(one, encoder) for one in sets], encoder)
    if len(set(world.requests)) < LEAST or not any(world.runs):
        raise DataFileError(f"splitting needs calls of at least {LEAST} requests")
    tasks = [task_of(world, seed) for seed in range(options.seeds)]
    print(conditions(), f"· encoder {options.encoder} · seeds 0 to {options.seeds - 1}")
    requests, runs = len(set(world.requests)), len(world.runs)
    tools, names = len(world.vectors.tools), ", ".join(world.sets)
    print(f"{tools} tools, {runs} runs of {requests} requests in {names}\n", flush=True)
    chosen = {n: m for n, m in methods.items() if n in options.methods.split(",")} or methods
    report(world, tasks, chosen)
    return 0


def report(world: World, tasks: Sequence[Task], methods: dict[str, LinkPredictor]) -> None:
    """Print the tables: all sets, API-Bank with UltraTool, and each set alone."""
    parts: dict[str, list[str]] = {"all": list(world.sets)}
    if {"apibank", "ultratool"} < set(world.sets):
        parts["API-Bank and UltraTool"] = ["apibank", "ultratool"]
    if len(world.sets) > 1:
        parts |= {name: [name] for name in world.sets}
    rows: dict[str, dict[str, list[Figures]]] = {part: {} for part in parts}
    for name, method in methods.items():
        began = time.process_time()
        scores = [method(world.vectors, t.train, seed, None) for seed, t in enumerate(tasks)]
        seconds = (time.process_time() - began) / len(tasks)
        print(f"{name}: {seconds:.1f} s of CPU a training", flush=True)
        for part, sets in parts.items():
            rows[part][name] = [
                figures(world, t, s, sets) for t, s in zip(tasks, scores, strict=True)
            ]
    print()
    for part, some in rows.items():
        print(table(some, part))


if __name__ == "__main__":
    sys.exit(measured(main))
