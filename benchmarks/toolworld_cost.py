"""Measure the cost of the navigation graph: calls, new tools, memory, search.

    python benchmarks/toolworld_cost.py [--part updates|search|log] [--sizes 1000,10000]
        [--tools 100000 --links 1000000]

Graphs are GENERATED with seed 0. Tool i takes one to three parameters near i and returns one to
three slightly beyond; one tool in fifty returns a parameter that a thousand others take. Calls lead
from tools to nearby tools and pass values, so chains have the same lengths in graphs of any size.

updates   CPU microseconds to record a call and to add a tool with known meanings, seconds to
          maintain the whole graph (pruning, trials, ageing), and memory growth of the process, for
          a graph whose links between tools and between values all come from calls
log       seconds to rebuild the largest of --sizes from its log, and bytes of log per event
search    CPU seconds per chain as the graph grows, child processes included, at most 120 s each
"""

from __future__ import annotations

import argparse
import gc
import resource
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

from hvr.errors import PlannerError
from hvr.tools.navigation.chains import CallFacts, NavigationTool, cheapest_chain
from hvr.tools.navigation.experience import learnt_counts
from hvr.tools.navigation.graph import GraphTool, NavigationGraph, ObservedCall, evolved
from hvr.tools.navigation.graph_log import ToolAdded, graph_text, read_events, rebuilt, write_event

PARTS = ("updates", "log", "search")
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


def learnt_tools(graph: NavigationGraph) -> Iterator[NavigationTool]:
    """Yield the usable tools, which also give what their results were passed on as."""
    for tool in graph.usable_tools():
        links = (link for given in tool.gives for link in graph.passes.targets(given).items())
        passed = {target for target, evidence in links if evidence.successes}
        yield NavigationTool(tool.name, tool.needs, tool.gives | passed)


def cpu() -> float:
    """Return the CPU seconds of this process and its finished children."""
    own, children = (resource.getrusage(who) for who in
                     (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))  # fmt: skip
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def search(sizes: Sequence[int], goals: int) -> None:
    print("| tools | found | calls | CPU s: mean | most |\n|" + " --- |" * 5, flush=True)
    for size in sizes:
        graph = generated_graph(size, 6 * size, Random(0))
        calls, seconds, random = [], [], Random(1)
        for _ in range(goals):
            start = random.randrange(size)
            facts = CallFacts(frozenset(f"p{(start + i) % size}" for i in range(NEAR)))
            goal = CallFacts(frozenset({f"p{(start + 3 * NEAR) % size}"}))
            began = cpu()
            try:
                chain = cheapest_chain(
                    facts, goal, learnt_tools(graph), learnt_counts(graph), seconds=120
                )
            except PlannerError:
                chain = None
            seconds.append(cpu() - began)
            if chain is not None:
                calls.append(len(chain.calls))
        length = f"{mean(calls):.1f}" if calls else "-"
        print(f"| {size:,} | {len(calls)} of {goals} | {length} | "
              f"{mean(seconds):.3f} | {max(seconds):.3f} |", flush=True)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--sizes", default="1000,10000", help="comma-separated numbers of tools")
    parser.add_argument("--tools", type=int, default=100_000, help="tools of the largest graph")
    parser.add_argument("--links", type=int, default=1_000_000, help="links of the largest graph")
    parser.add_argument("--goals", type=int, default=10, help="number of goals at each size")
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
    return 0


if __name__ == "__main__":
    sys.exit(measured(main))
