"""Measure the cost of the navigation graph: calls, new tools, memory, search, retraining.

    python benchmarks/toolworld_cost.py [--part updates|search|retrain|log] [--sizes 1000,10000]
        [--tools 100000 --links 1000000] [--train-tools 1000] [--threads 1]

Graphs are GENERATED with seed 0. Tool i takes one to three parameters near i and returns one to
three slightly beyond; one tool in fifty returns a parameter that a thousand others take. Calls lead
from tools to nearby tools and pass values, so chains have the same lengths in graphs of any size.

updates   CPU microseconds to record a call and to add a tool with known meanings, seconds to
          maintain the whole graph (pruning, trials, ageing), and memory growth of the process, for
          a graph whose links between tools and between values all come from calls
log       seconds to rebuild the largest of --sizes from its log, and bytes of log per event
search    CPU seconds per chain as the graph grows; "proven" is hvr's planner with all tools of
          the graph, child processes included, at most 120 s each
retrain   CPU and wall seconds to train link predictors for --train-tools generated tools with
          random vectors and 2,000 runs of calls
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from statistics import mean, median, quantiles
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import measured
from toolworld_search import cpu

from hvr.base.registry import need_gnn
from hvr.errors import PlannerError
from hvr.tools.navigation.chains import CallFacts, cheapest_chain
from hvr.tools.navigation.experience import learnt_counts
from hvr.tools.navigation.graph import GraphTool, NavigationGraph, ObservedCall, evolved
from hvr.tools.navigation.graph_log import ToolAdded, graph_text, read_events, rebuilt, write_event
from studies.chain_search.annealing import annealed_chain
from studies.chain_search.backward import backward_chain, learnt_tools

PARTS = ("updates", "log", "search", "retrain")
NEAR = 20


def generated_tool(number: int, size: int, random: Random) -> GraphTool:
    """Return a tool that leads from parameters near its number to slightly higher ones."""

    def some(first: int) -> frozenset[str]:
        count = random.randint(1, 3)
        return frozenset(f"p{(number + first + random.randrange(NEAR)) % size}"
                         for _ in range(count))  # fmt: skip

    needs, gives = some(-NEAR), some(0)
    if number % 50 == 0:
        gives |= {f"token{number // 5000}"}
    takes = needs | ({f"token{number // 5000}"} if number % 5 == 0 else frozenset())
    return GraphTool(f"tool{number}", needs, takes, gives)


def generated_call(graph: NavigationGraph, size: int, random: Random, time_: float) -> ObservedCall:
    number = random.randrange(size)
    before = f"tool{(number - 1 - random.randrange(NEAR)) % size}"
    tool = graph.tools[f"tool{number}"]
    ok = random.random() < 0.9
    passed = ((random.choice(sorted(graph.tools[before].gives)),
               random.choice(sorted(tool.needs))),)  # fmt: skip
    gives = tuple(sorted(tool.gives))
    return ObservedCall(tool.name, ok, time_, before, tuple(sorted(tool.needs)),
                       gives if ok else (), () if ok else gives, passed)  # fmt: skip


def generated_graph(size: int, links: int, random: Random) -> NavigationGraph:
    """Return a graph of `size` tools whose calls have added at least `links` links."""
    graph = NavigationGraph.of(generated_tool(i, size, random) for i in range(size))
    count = link_count(graph)
    for number in range(100 * links):
        if count >= links:
            break
        seen = generated_call(graph, size, random, float(number + 1))
        count += graph.calls.get(seen.before, seen.tool) is None
        count += sum(graph.passes.get(*pair) is None for pair in seen.passed)
        graph = graph.observe(seen)
    return graph


def link_count(graph: NavigationGraph) -> int:
    return sum(map(len, (graph.inputs, graph.outputs, graph.calls, graph.passes)))


def resident() -> int:
    with Path("/proc/self/statm").open(encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def timed(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def updates(sizes: Sequence[tuple[int, int]]) -> None:
    print("| tools | links | call µs: median | 99 % | most | new tool µs: median | 99 % | most "
          "| look s | MiB |")  # fmt: skip
    print("|" + " --- |" * 10, flush=True)
    for size, links in sizes:
        random = Random(0)
        gc.collect()
        before = resident()
        graph = generated_graph(size, links, random)
        gc.collect()
        memory, count = (resident() - before) / 2**20, link_count(graph)
        calls, tools = [], []
        for number in range(2000):
            seen = generated_call(graph, size, random, 1e9 + number)
            began = time.process_time_ns()
            graph = graph.observe(seen)
            calls.append((time.process_time_ns() - began) / 1000)
        for number in range(size, size + 1000):
            tool = generated_tool(number, size, random)
            began = time.process_time_ns()
            graph = graph.with_tool(tool)
            tools.append((time.process_time_ns() - began) / 1000)
        look = timed(lambda g=graph: evolved(g, 2e9))  # type: ignore[misc]
        cells = [f"{size:,}", f"{count:,}"]
        for values in (calls, tools):
            cells += [f"{median(values):.0f}", f"{quantiles(values, n=100)[-1]:.0f}",
                      f"{max(values):.0f}"]  # fmt: skip
        print("| " + " | ".join([*cells, f"{look:.2f}", f"{memory:.0f}"]) + " |", flush=True)
        del graph


def log(size: int) -> None:
    """Print the time to rebuild a graph, and check that the rebuilt graph is identical."""
    random = Random(0)
    tools = [generated_tool(i, size, random) for i in range(size)]
    graph = NavigationGraph.of(tools)
    with TemporaryDirectory() as folder:
        path = Path(folder, "graph.jsonl")
        for tool in tools:
            write_event(path, ToolAdded(tool))
        for number in range(size):
            seen = generated_call(graph, size, random, float(number + 1))
            write_event(path, seen)
            graph = graph.observe(seen)
        events = list(read_events(path))
        seconds = timed(lambda: rebuilt(events))
        reading = timed(lambda: list(read_events(path)))
        same = graph_text(rebuilt(events)) == graph_text(graph)
        each = path.stat().st_size / len(events)
    print(f"{len(events):,} events: read in {reading:.2f} s of CPU, graph rebuilt in "
          f"{seconds:.2f} s, {'identical' if same else 'DIFFERENT'} byte for byte; "
          f"{each:.0f} bytes per event\n", flush=True)  # fmt: skip


def search(sizes: Sequence[int], goals: int) -> None:
    print("| tools | search | found | calls | CPU s: mean | most |\n|" + " --- |" * 6, flush=True)
    for size in sizes:
        graph = generated_graph(size, 6 * size, Random(0))
        for name, find in _searches().items():
            calls, seconds, random = [], [], Random(1)
            for _ in range(goals):
                start = random.randrange(size)
                facts = CallFacts(frozenset(f"p{(start + i) % size}" for i in range(NEAR)))
                goal = CallFacts(frozenset({f"p{(start + 3 * NEAR) % size}"}))
                began = cpu()
                try:
                    chain = find(graph, facts, goal)
                except PlannerError:
                    chain = None
                seconds.append(cpu() - began)
                if chain is not None:
                    calls.append(len(chain.calls))
            length = f"{mean(calls):.1f}" if calls else "-"
            print(f"| {size:,} | {name} | {len(calls)} of {goals} | {length} | "
                  f"{mean(seconds):.3f} | {max(seconds):.3f} |", flush=True)  # fmt: skip


def _searches() -> dict[str, Callable[..., object]]:
    def proven(graph: NavigationGraph, facts: CallFacts, goal: CallFacts) -> object:
        return cheapest_chain(facts, goal, learnt_tools(graph), learnt_counts(graph), seconds=120)

    return {"backward": backward_chain, "annealed": annealed_chain, "proven": proven}


def retrain(tools: int, threads: int) -> None:
    need_gnn()
    import numpy as np
    import torch

    from studies.link_prediction.pair_network import PairNetwork, Propagation
    from studies.link_prediction.transformer import GraphTransformer
    from studies.link_prediction.vectors import NodeVectors

    torch.set_num_threads(threads)
    random, draw = Random(0), np.random.default_rng(0)
    nodes = [generated_tool(i, tools, random) for i in range(tools)]
    names = sorted(set().union(*(n.takes | n.gives for n in nodes)))
    row = {name: i for i, name in enumerate(names)}

    def vectors(count: int) -> np.ndarray:
        made = draw.normal(size=(count, 384)).astype(np.float32)
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True))

    data = NodeVectors(
        tuple(n.name for n in nodes), tuple(names), vectors(tools), vectors(len(names)),
        tuple(tuple(sorted(row[p] for p in n.takes)) for n in nodes),
        tuple(tuple(sorted(row[p] for p in n.gives)) for n in nodes),
        np.zeros(tools, dtype=np.int64),
    )  # fmt: skip
    runs = list(_runs(NavigationGraph.of(nodes), tools, random))
    print(f"{tools} tools, {len(names)} parameters, {len(runs)} runs, {threads} threads of torch\n")
    print("| predictor | CPU s | wall s |\n| --- | --- | --- |", flush=True)
    for name, predictor in {
        "sgc": Propagation(),
        "pairs": PairNetwork(),
        "hgt-product": GraphTransformer(weights="multiplied", head="product"),
    }.items():
        began, wall = time.process_time(), time.perf_counter()
        predictor(data, runs, 0, None)
        spent, wall = time.process_time() - began, time.perf_counter() - wall
        print(f"| {name} | {spent:.1f} | {wall:.1f} |", flush=True)


def _runs(graph: NavigationGraph, size: int, random: Random) -> Iterator[tuple[ObservedCall, ...]]:
    for _ in range(2000):
        run: list[ObservedCall] = []
        number = random.randrange(size)
        for _ in range(random.randint(2, 6)):
            before = run[-1].tool if run else ""
            tool = graph.tools[f"tool{number}"]
            run.append(ObservedCall(tool.name, True, 1.0, before, tuple(sorted(tool.needs)),
                                   tuple(sorted(tool.gives))))  # fmt: skip
            number = (number + 1 + random.randrange(NEAR)) % size
        yield tuple(run)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--sizes", default="1000,10000", help="comma-separated numbers of tools")
    parser.add_argument("--tools", type=int, default=100_000, help="tools of the largest graph")
    parser.add_argument("--links", type=int, default=1_000_000, help="links of the largest graph")
    parser.add_argument("--goals", type=int, default=10, help="number of goals at each size")
    parser.add_argument("--train-tools", type=int, default=1000)
    parser.add_argument(
        "--threads",
        type=int,
        default=1,
        help="threads of torch; these networks are too small for more",
    )
    options = parser.parse_args(arguments)
    sizes = [int(size) for size in options.sizes.split(",")]
    parts = options.part or PARTS
    print(conditions(0), "\n", flush=True)
    if "updates" in parts:
        updates([*((size, 10 * size) for size in sizes), (options.tools, options.links)])
        print()
    if "log" in parts:
        log(max(sizes))
    if "search" in parts:
        search([*sizes, options.tools], options.goals)
        print()
    if "retrain" in parts:
        retrain(options.train_tools, options.threads)
    return 0


if __name__ == "__main__":
    sys.exit(measured(main))
