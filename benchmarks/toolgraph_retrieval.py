"""Compare methods that find tools for given steps, on UltraTool and TMDB.

    python benchmarks/toolgraph_retrieval.py [--data DIR] [--encoder NAME] [--layers none,sage]
        [--part ultratool|planners|tmdb|hallucination] [--graph whole|seen] [--seeds N]
        [--threads N] [--device cuda]

The data are GNN4TaskPlan's, in one folder per set of tools (default: ../shared/data/toolgraphs
beside the repository). Networks, SGC's alpha and Viterbi's weights are trained or chosen on
UltraTool's training split. Validation requests are only scored.

names in / out    the original steps, which name their tools / without "Call NAME to"
once              repeats of a tool removed, whatever the rule
whole links       611; some come from test plans and from validation plans
seen links        the 542 links that occur in training plans
paper             GNN4Plan's settings with hvr's encoder; trained on steps with names for
                  "names in", on steps without for "names out"
own               hvr's settings; one model for both

n-F1, l-F1: node and link F1. acc n: node F1 >= 0.99 (GNN4Plan); acc n+l: node and link F1 > 0.99
(GNNVerifier). train s: seconds of training and selection; ms/req: milliseconds per request with
decoding; both without the encoding of texts, whose vectors are on disk after the first run. A
request without a prediction counts 0. Trained rows are means over `--seeds` trainings (seeds 0, 1,
…); ± is the range of their accuracies of nodes and links.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import measured

from hvr.base.registry import need_gnn
from hvr.errors import HvrError
from hvr.tools.datasets import (
    ToolData,
    load_data,
    only_seen,
    read_plans,
    read_records,
    to_plan,
    tool_text,
)
from hvr.tools.retrieval.retriever import LAYERS, Layer, Retriever, RetrieverConfig, own, paper
from hvr.tools.tool_plans import ToolGraph, ToolPlan, agreement, cleaned, hallucination
from studies.text_retrieval import relinked, renamed

T = TypeVar("T")

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "toolgraphs"
GRAPHS = ("whole", "seen")
PARTS = ("ultratool", "planners", "tmdb", "hallucination")
_HEAD = f"{'':44} {'n-F1':>6} {'l-F1':>6} {'acc n':>6} {'acc n+l':>7} {'train s':>8} {'ms/req':>7}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--tools", default="ultratool", metavar="NAME", help=(
        "folder of the tools with training plans (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--other", default="tmdb", metavar="NAME", help=(
        "folder of the tools for transfer (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--plans", default="val", metavar="SPLIT", help=(
        "true plans for evaluation (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--layers", default=",".join(LAYERS))
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--graph", choices=GRAPHS, action="append")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--threads", type=int, default=1, help="threads of torch; 1 is best on a shared machine"
    )
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        print(f"{options.data} does not exist; give the folder of tool graphs with --data")
        return 2
    try:
        need_gnn()
        run(options, options.part or PARTS)
    except HvrError as error:
        print(error)
        return 2
    return 0


def run(options: argparse.Namespace, parts: Sequence[str]) -> None:
    import torch

    torch.set_num_threads(options.threads)
    bench = Bench(options)
    print(conditions())
    print(f"torch {torch.__version__} on {options.device}, {options.threads} threads · "
          f"encoder {options.encoder} · {options.seeds} seeds")  # fmt: skip
    bench.encode()
    for part in parts:
        getattr(bench, part)()


class Bench:
    """The data, encoder and models of one run."""

    def __init__(self, options: argparse.Namespace) -> None:
        from hvr.knowledge.retrieval.embedders import TextVectors

        self.options = options
        self.layers: list[Layer] = [layer for layer in LAYERS if layer in options.layers]
        self.encoder = TextVectors(options.encoder)
        self.ultra = load_data(options.data / options.tools)
        self.fitted: dict[Any, tuple[Any, float]] = {}
        self.train, self.val = self.ultra.split("train"), self.ultra.split(options.plans)

    def once(self, key: Any, make: Callable[[], T]) -> tuple[T, float]:
        """Return the cached value of a key, and the seconds that computing it took."""
        if key not in self.fitted:
            began = time.perf_counter()
            made = make()
            self.fitted[key] = (made, time.perf_counter() - began)
        return self.fitted[key]

    def fit(self, config: RetrieverConfig, seen: bool) -> tuple[Retriever, float]:
        """Return a retriever trained on UltraTool, and the seconds that training took."""
        from hvr.tools.retrieval.retriever import fit_retriever

        config = replace(config, encoder=self.options.encoder)
        return self.once(
            (config, seen),
            lambda: fit_retriever(
                config,
                self.ultra.graph,
                self.train,
                self.encoder,
                seen_links=seen,
                device=self.options.device,
            ),
        )

    def encode(self) -> None:
        """Compute the vectors of all texts, and print the time."""
        began = time.perf_counter()
        ids = [t.id for t in self.ultra.graph.tools]
        texts = [tool_text(t) for t in self.ultra.graph.tools]
        for plan in (*self.train, *self.val):
            texts.append(plan.request)
            for names in (True, False):
                texts += cleaned(plan.steps, ids, names=names)
        self.encoder.encode(texts)
        print(f"{len(set(texts))} texts encoded or read from disk in "
              f"{time.perf_counter() - began:.1f} s")  # fmt: skip

    def ultratool(self) -> None:
        whole = self.ultra.graph
        graphs = {"whole": whole, "seen": only_seen(whole, self.train)}
        for name in self.options.graph or GRAPHS:
            graph = graphs[name]
            for names in (True, False):
                print(f"\nUltraTool, {len(self.val)} validation requests, true steps, names "
                      f"{'in' if names else 'out'}, {len(graph.links)} {name} links")  # fmt: skip
                print(_HEAD)
                self._text_rows(graph, self.val, names)
                for layer in self.layers:
                    self._trained_rows(graph, self.val, names, layer)

    def planners(self) -> None:
        graph = only_seen(self.ultra.graph, self.train)
        for path in sorted((self.options.data / self.options.tools).glob("predictions_*.jsonl")):
            name = path.stem.removeprefix("predictions_")
            records = [r for r in read_records(path) if r.get("split", "val") == "val"]
            plans = [replace(p, request=self.ultra.requests.get(p.id, ""))
                     for p in map(to_plan, records)]  # fmt: skip
            asked = {p.id for p in plans}
            truth = [p for p in self.val if p.id in asked]
            print(f"\nUltraTool, {len(truth)} validation requests, steps of predictions_{name}, "
                  "seen links")  # fmt: skip
            print(_HEAD)
            if any(p.tools for p in plans):
                self._direct_rows(plans, truth, graph)
            self._text_rows(graph, plans, True, truth)
            self._trained_rows(graph, plans, True, "sage", truth)

    def tmdb(self) -> None:
        """Measure TMDB with settings and networks from UltraTool; it is too small to train on."""
        data = load_data(self.options.data / self.options.other)
        plans = data.split("dev")
        predicted = read_plans(
            self.options.data / self.options.other / "predictions_direct_dev.jsonl"
        )
        predicted = tuple(replace(p, request=data.requests.get(p.id, "")) for p in predicted)
        for what, given in (("true steps", plans), ("steps of predictions_direct_dev", predicted)):
            for names in (True, False):
                print(f"\nTMDB, {len(plans)} requests, {what}, names {'in' if names else 'out'}")
                print(_HEAD)
                if given is predicted and names:
                    self._direct_rows(predicted, plans, data.graph)
                self._text_rows(data.graph, given, names, plans, counts=False)
                self._transferred_row(data, given, names, plans)

    def hallucination(self) -> None:
        """Measure what shares of the tools and links in TaskBench's plans do not exist."""
        from hvr.tools.retrieval.decoding import Decoder, Transitions
        from hvr.tools.retrieval.retriever import TextScores

        print("\nTaskBench, predicted plans; share of tools and links that do not exist, mean "
              "over plans / share of plans with any")  # fmt: skip
        for name in ("huggingface", "multimedia"):
            graph = load_data(self.options.data / name).graph
            for path in sorted((self.options.data / name).glob("predictions_*.jsonl")):
                plans = read_plans(path)
                retriever = Retriever(
                    TextScores(graph, self.encoder), Decoder(Transitions(graph), rule="greedy")
                )
                rows = {
                    "direct": plans,
                    "direct + rename + relink": [relinked(renamed(p, graph)) for p in plans],
                    "nearest text, greedy": retriever.retrieve(plans),
                }
                for row, found in rows.items():
                    h = hallucination(found, graph)
                    title = f"{name} {path.stem.removeprefix('predictions_')}: {row}"
                    print(f"{title:58} tools {h.node_micro:.4f} / {h.node_macro:.4f}   "
                          f"links {h.link_micro:.4f} / {h.link_macro:.4f}   "
                          f"({h.requests} plans)")  # fmt: skip

    def _direct_rows(
        self, plans: Sequence[ToolPlan], truth: Sequence[ToolPlan], graph: ToolGraph
    ) -> None:
        row("direct", [plans], truth)
        row("direct + rename + relink", [[relinked(renamed(p, graph)) for p in plans]], truth)

    def _text_rows(
        self,
        graph: ToolGraph,
        plans: Sequence[ToolPlan],
        names: bool,
        truth: Sequence[ToolPlan] | None = None,
        *,
        counts: bool = True,
    ) -> None:
        from hvr.tools.retrieval.decoding import Decoder, Transitions
        from hvr.tools.retrieval.retriever import TextScores, untrained_retriever
        from studies.text_retrieval import SmoothedScores, choose_alpha, fit_text_decoder

        truth = truth or plans
        texts, bare = TextScores(graph, self.encoder), Transitions(graph)
        ask = Timed(plans, truth, names)
        for rule, on in (("nearest", ""), ("greedy", ", greedy on links")):
            for once in (False, True):
                decoder = Decoder(bare, rule=rule, once=once)
                ask.row(f"nearest text{on}{', once' if once else ''}", Retriever(texts, decoder))
        ask.row(
            "nothing trained (hvr tools retrieve FILE)", untrained_retriever(graph, self.encoder)
        )
        own_graph = graph if graph.tools == self.ultra.graph.tools else self.ultra.graph
        alpha, seconds = self.once(
            ("alpha", own_graph.links, names),
            lambda: choose_alpha(own_graph, self.encoder, self.train, names=names),
        )
        smoothed = SmoothedScores(graph, self.encoder, alpha)
        greedy = Retriever(smoothed, Decoder(bare, rule="greedy"))
        ask.row(f"SGC, alpha {alpha:.2f}, greedy", greedy, seconds)
        for title, counted in (("links", False), ("links and counts", True)):
            if counted and not counts:
                continue
            tuned, seconds = self.once(
                ("viterbi", own_graph.links, names, counted),
                partial(fit_text_decoder, TextScores(self.ultra.graph, self.encoder), self.train,
                        counts=counted, names=names,
                        seen_links=len(own_graph.links) < len(self.ultra.graph.links)),
            )  # fmt: skip
            transitions = tuned.transitions if own_graph is graph else bare
            for once in (False, True):
                decoder = replace(tuned, transitions=transitions, once=once)
                name = f"nearest text, Viterbi on {title}{', once' if once else ''}"
                ask.row(name, Retriever(texts, decoder), seconds)

    def _trained_rows(
        self,
        graph: ToolGraph,
        plans: Sequence[ToolPlan],
        names: bool,
        layer: Layer,
        truth: Sequence[ToolPlan] | None = None,
    ) -> None:
        ask = Timed(plans, truth or plans, names)
        seen = len(graph.links) < len(self.ultra.graph.links)
        settings: dict[str, Callable[[int], RetrieverConfig]] = {
            "paper": lambda k: replace(paper(layer, k), unnamed=0.0 if names else 1.0),
            "own": lambda k: own(layer, k),
        }
        if layer == "none":
            del settings["paper"]  # nothing to train
        for title, setting in settings.items():
            fitted = [self.fit(setting(k), seen) for k in range(self.options.seeds)]
            seconds = mean(s for _, s in fitted)
            whole = [r for r, _ in fitted]
            for rule in ("greedy", "viterbi"):
                for once in (False, True):
                    made = [replace(r.decoder, rule=rule, once=once) for r in whole]
                    found = [Retriever(r.source, d) for r, d in zip(whole, made, strict=True)]
                    name = f"{layer}, {title}, {rule}{', once' if once else ''}"
                    ask.rows(name, found, seconds)
            chosen = sum(r.decoder.once for r in whole)
            print(
                f"  repeats removed by choice on held-out training plans: {chosen} of {len(whole)}"
            )

    def _transferred_row(
        self, data: ToolData, plans: Sequence[ToolPlan], names: bool, truth: Sequence[ToolPlan]
    ) -> None:
        from hvr.tools.retrieval.decoding import Decoder, Rule, Transitions
        from hvr.tools.retrieval.scorer import TrainedScores

        fitted = [
            self.fit(replace(paper("sage", k), unnamed=0.5), seen=False)
            for k in range(self.options.seeds)
        ]
        seconds = mean(s for _, s in fitted)
        scores = [
            TrainedScores(data.graph, r.source.config, r.source.scorer, self.encoder)
            for r, _ in fitted
            if isinstance(r.source, TrainedScores)
        ]
        rules: tuple[Rule, ...] = ("nearest", "greedy")
        for rule in rules:
            decoder = Decoder(Transitions(data.graph), rule=rule)
            found = [Retriever(source, decoder) for source in scores]
            ask = Timed(plans, truth, names)
            ask.rows(f"sage, paper, trained on UltraTool, {rule}", found, seconds)


class Timed:
    """Retrieves tools for the same requests with several retrievers, and prints a row for each."""

    def __init__(self, plans: Sequence[ToolPlan], truth: Sequence[ToolPlan], names: bool) -> None:
        self.plans, self.truth, self.names = plans, truth, names

    def row(self, title: str, retriever: Retriever, seconds: float | None = None) -> None:
        self.rows(title, [retriever], seconds)

    def rows(
        self, title: str, retrievers: Sequence[Retriever], seconds: float | None = None
    ) -> None:
        """Print a row of means over several retrievers."""
        found, spent = [], []
        for retriever in retrievers:
            retriever.retrieve(self.plans[:1], names=self.names)
            began = time.perf_counter()
            found.append(retriever.retrieve(self.plans, names=self.names))
            spent.append(1000 * (time.perf_counter() - began) / max(1, len(self.plans)))
        row(title, found, self.truth, seconds, mean(spent))


def row(
    title: str,
    found: Sequence[Iterable[ToolPlan]],
    truth: Sequence[ToolPlan],
    seconds: float | None = None,
    each_ms: float | None = None,
) -> None:
    """Print a table row of means over the predictions of several models."""
    all_ = [agreement({p.id: p for p in plans}, truth) for plans in found]
    cells = "".join(
        f"{mean(getattr(a, name) for a in all_):{width}.3f}"
        for name, width in (("node_f1", 7), ("link_f1", 7), ("node_accuracy", 7),
                            ("plan_accuracy", 8))
    )  # fmt: skip
    trained = "" if seconds is None else f"{seconds:.1f}"
    asked = "" if each_ms is None else f"{each_ms:.2f}"
    accuracies = [a.plan_accuracy for a in all_]
    spread = f"  ± {max(accuracies) - min(accuracies):.3f}" if len(all_) > 1 else ""
    missing = f"  ({all_[0].missing} missing)" if all_[0].missing else ""
    print(f"{title:44}{cells} {trained:>8} {asked:>7}{spread}{missing}", flush=True)


if __name__ == "__main__":
    sys.exit(measured(main))
