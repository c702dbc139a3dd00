"""How the graph changes with time: tools that fail are removed, some are tried again, weights age.

NaviAgent, eq. 13 and 14 with appendix F.2. The threshold and the share that is tried again are the
paper's, the balance of eq. 13 is not in its text.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from immutables import Map

from hvr.tools.navigation.graph import Absence, GraphTool, NavigationGraph


@dataclass(frozen=True)
class Pruning:
    """The settings of eq. 13.

    Args:
        balance: b: how much failures count beside seldom use. hvr's own: above the threshold, so
            that even the tool that is called most goes if it always fails.
        threshold: tools that score more are removed.
        again: share of the removed that is given another chance at a time.
    """

    balance: float = 0.8
    threshold: float = 0.7
    again: float = 0.1


PRUNING = Pruning()


def prune_score(tool: GraphTool, most: int, pruning: Pruning = PRUNING) -> float:
    """Return eq. 13: b (failure rate) + (1 - b) (1 - calls / calls of the tool called most).

    The failure rate is what is missing to 1 of the tool's weight, which is smoothed and ages.

    Args:
        tool: the tool.
        most: the number of calls of the tool that was called most.
        pruning: the settings.
    """
    seldom = 1 - tool.evidence.count / most if most else 1.0
    return pruning.balance * (1 - tool.evidence.weight) + (1 - pruning.balance) * seldom


def evolved(graph: NavigationGraph, time: float, pruning: Pruning = PRUNING) -> NavigationGraph:
    """Return the graph after a look at it, which is to be taken once in a while, say once a week.

    In this order: tools that score above the threshold are removed, except those whose last call
    worked; a share of all that are removed, at least one, those that have waited longest, is given
    another chance until the next look; weights are written down, so that what comes now counts
    for 1 - e of them. Costs O(nodes + links).

    Args:
        graph: before.
        time: in seconds since 1970, UTC; never before that of an earlier look.
        pruning: the settings.
    """
    most = max((tool.evidence.count for tool in graph.tools.values()), default=0)
    # A chance that was not taken, or not well, is over.
    absent = Map({name: replace(a, trial=False) for name, a in graph.absent.items()})
    for name, tool in graph.tools.items():
        bad = tool.evidence.failures and not tool.evidence.worked_last
        if bad and name not in absent and prune_score(tool, most, pruning) > pruning.threshold:
            absent = absent.set(name, Absence(time, time))
    absent = _with_trials(absent, time, pruning)
    tools = graph.tools
    for name, tool in graph.tools.items():
        if (evidence := tool.evidence.older()) is not tool.evidence:
            tools = tools.set(name, replace(tool, evidence=evidence))
    inputs, outputs, calls, passes = (
        links.changed(lambda evidence: evidence.older())
        for links in (graph.inputs, graph.outputs, graph.calls, graph.passes)
    )
    return NavigationGraph(tools, inputs, outputs, calls, passes, absent)


def _with_trials(absent: Map[str, Absence], time: float, pruning: Pruning) -> Map[str, Absence]:
    """Return the removed tools of which some are given a chance."""
    waiting = sorted((a.tried, name) for name, a in absent.items() if not a.gone)
    # What has just been removed is not tried at once.
    ready = [name for tried, name in waiting if tried < time]
    for name in ready[: math.ceil(pruning.again * len(waiting))]:
        absent = absent.set(name, replace(absent[name], tried=time, trial=True))
    return absent
