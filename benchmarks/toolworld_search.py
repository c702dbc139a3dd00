"""Compare the paper's two searches and hvr's planner with recorded chains of calls.

    python benchmarks/toolworld_search.py [--data FOLDER] [--sets apibank,bfcl]
        [--apis FILE --calls FILE] [--limit N] [--seed N] [--encoder lexical-hash]

A recorded chain is a call with the calls that supply its arguments, recursively. The data tell the
suppliers (API-Bank, UltraTool), or equal values do (BFCL, tau2-bench: an argument that the request
does not state and an earlier result contains). Values that no call of the chain supplies are known
from the start; the goal is to make the last call. Chains of one call are left out. The graph
consists of the schemas and the calls of other requests (80 %, by request); chains come from the
rest.

backward   pruned backward search: best first, thresholds that decay with depth (the paper's (i))
annealed   population, mutation, annealed acceptance, fitness of eq. 23 (the paper's (ii))
proven     hvr: facts `(known p)`, `(done api)`, Fast Downward, proven by hvr's validator

found        share of chains found, each checked by executing it on names
as recorded  share of chains found with the same tools as in the recording
no longer    share of chains found with at most as many calls as in the recording
calls        mean number of calls of the chains found by all three, and of their recordings
CPU s        mean and maximum, including child processes (the planner)
A recording's last call can be unreachable for all three: no observed call supplies its inputs.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import measured
from toolworld_data import SHARED, RecordedRun, Understood, call_set, parted, tool_sets, understood

from hvr.errors import UsageError
from hvr.knowledge.retrieval.embedders import TextVectors
from hvr.tools.calling.log import ValueSource
from hvr.tools.navigation.chains import CallFacts, NavigationTool, ToolChain, cheapest_chain
from hvr.tools.navigation.experience import learnt_counts
from hvr.tools.navigation.graph import NavigationGraph
from studies.chain_search.annealing import annealed_chain
from studies.chain_search.backward import backward_chain, learnt_tools

Search = Callable[[NavigationGraph, CallFacts, CallFacts], ToolChain | None]


@dataclass(frozen=True)
class GoldChain:
    """A recorded chain of calls.

    Args:
        known: Meanings known at the start.
        calls: Distinct tools in order; the last one is the goal.
    """

    known: frozenset[str]
    calls: tuple[str, ...]


def gold_chains(one: Understood, run: RecordedRun) -> list[GoldChain]:
    """Return the chains in a run: for each last tool, the longest one."""
    best: dict[str, GoldChain] = {}
    for last in range(len(run.outcomes)):
        indices = _closure(run, last)
        calls = tuple(dict.fromkeys(run.outcomes[i].call.tool for i in sorted(indices)))
        if len(calls) < 2 or calls[-1] != run.outcomes[last].call.tool:
            continue
        known = {
            one.names.name(run.outcomes[i].call.tool, name, gives=False)
            for i in indices for name in run.outcomes[i].call.arguments
            if not _fed(run, i, name)
        }  # fmt: skip
        old = best.get(calls[-1])
        if old is None or len(calls) > len(old.calls):
            best[calls[-1]] = GoldChain(frozenset(known), calls)
    return list(best.values())


def _fed(run: RecordedRun, index: int, name: str) -> bool:
    origin = run.origins[index].get(name)
    return origin is not None and origin.source is ValueSource.RESULT


def _closure(run: RecordedRun, last: int) -> set[int]:
    indices = [last]
    for index in indices:
        for origin in run.origins[index].values():
            if origin.call is not None and origin.call not in indices:
                indices.append(origin.call)
    return set(indices)


def proven(graph: NavigationGraph, facts: CallFacts, goal: CallFacts) -> ToolChain | None:
    return cheapest_chain(facts, goal, learnt_tools(graph), learnt_counts(graph), seconds=60)


SEARCHES: dict[str, Search] = {
    "backward": backward_chain,
    "annealed": annealed_chain,
    "proven": proven,
}


def cpu() -> float:
    """Return the CPU seconds of this process and its finished children."""
    own, children = (resource.getrusage(who) for who in
                     (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))  # fmt: skip
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def carried_out(
    tools: Sequence[NavigationTool], chain: ToolChain, facts: CallFacts, goal: CallFacts
) -> bool:
    """Return whether the calls of a chain can be made in order and reach the goal."""
    by_name = {tool.name: tool for tool in tools}
    for name in chain.calls:
        if not by_name[name].needs <= facts.known:
            return False
        facts = facts.after(by_name[name])
    return facts.covers(goal)


@dataclass(frozen=True)
class Row:
    chain: ToolChain | None
    seconds: float


def measure(one: Understood, limit: int, seed: int) -> tuple[list[GoldChain], dict[str, list[Row]]]:
    runs = one.tools.runs
    part = parted([run.request for run in runs], seed, {"seen": 0.8, "asked": 0.2})
    graph = NavigationGraph.of(one.names.graph_tools())
    chains: list[GoldChain] = []
    for run, seen in zip(runs, one.seen, strict=True):
        if part[run.request] == "seen":
            for observation in seen:
                graph = graph.observe(observation)
        else:
            chains += gold_chains(one, run)
    chains = list(dict.fromkeys(chains))[:limit]
    rows: dict[str, list[Row]] = {name: [] for name in SEARCHES}
    tools = list(learnt_tools(graph))
    for gold in chains:
        facts, goal = CallFacts(gold.known), CallFacts(done=frozenset(gold.calls[-1:]))
        for name, search in SEARCHES.items():
            began = cpu()
            chain = search(graph, facts, goal)
            rows[name].append(Row(chain, cpu() - began))
            if chain is not None and not carried_out(tools, chain, facts, goal):
                raise AssertionError(f"{name}: {chain.calls} is not a chain")
    return chains, rows


def table(chains: Sequence[GoldChain], rows: dict[str, list[Row]], title: str) -> str:
    shared = [i for i in range(len(chains)) if all(some[i].chain for some in rows.values())]
    gold = mean(len(chains[i].calls) for i in shared) if shared else float("nan")
    columns = ("found", "as recorded", "no longer", "calls", "CPU s", "most")
    lines = [
        f"{title}: {len(chains)} chains; {gold:.2f} recorded calls in chains found by all",
        "| search | " + " | ".join(columns) + " |",
        "|" + " --- |" * (len(columns) + 1),
    ]
    for name, some in rows.items():
        pairs = [(r.chain.calls, g.calls) for r, g in zip(some, chains, strict=True) if r.chain]
        seconds = [row.seconds for row in some]
        total = max(len(chains), 1)
        calls = [len(row.chain.calls) for i in shared if (row := some[i]).chain is not None]
        cells = (
            f"{len(pairs) / total:.1%}",
            f"{sum(set(a) == set(b) for a, b in pairs) / total:.1%}",
            f"{sum(len(a) <= len(b) for a, b in pairs) / total:.1%}",
            f"{mean(calls):.2f}" if calls else "-",
            f"{mean(seconds):.3f}",
            f"{max(seconds):.3f}",
        )
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
    parser.add_argument("--limit", type=int, default=40, help="maximum number of chains per set")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--encoder", default="minilm", help="text encoder for the meanings of parameters"
    )
    options = parser.parse_args(arguments)
    if (options.apis is None) != (options.calls is None):
        raise UsageError("--apis and --calls must be given together")
    sets = (
        tool_sets(options.data, list(filter(None, options.sets.split(","))))
        if options.apis is None
        else [call_set(options.apis.stem, options.apis, options.calls)]
    )
    print(conditions(options.seed), f"· encoder {options.encoder}\n", flush=True)
    encoder = TextVectors(options.encoder)
    every: list[GoldChain] = []
    all_rows: dict[str, list[Row]] = {name: [] for name in SEARCHES}
    for one in sets:
        chains, rows = measure(understood(one, encoder), options.limit, options.seed)
        if not chains:
            print(f"{one.name}: no chain of more than one call\n", flush=True)
            continue
        print(table(chains, rows, one.name), flush=True)
        every += chains
        for name, some in rows.items():
            all_rows[name] += some
    if len(sets) > 1 and every:
        print(table(every, all_rows, "all"))
    return 0


if __name__ == "__main__":
    sys.exit(measured(main))
