"""Which tools could mend a risky place (GNNVerifier, appendix B.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hvr.verifier.graph import START, Edge
from hvr.verifier.verdict import Verdict
from hvr.verifier.verifier import Verifier

PLACES = 3
CANDIDATES = 3


@dataclass(frozen=True)
class Editable:
    """The places that may be edited and what may be put there.

    Args:
        replace: for a step, ids of tools that may take its tool's place, the best first.
        insert: for a link, ids of tools that may be put on it, the best first.
    """

    replace: dict[int, tuple[str, ...]]
    insert: dict[Edge, tuple[str, ...]]

    def __bool__(self) -> bool:
        return any(self.replace.values()) or any(self.insert.values())


def editable(verifier: Verifier, verdict: Verdict) -> Editable:
    """Equations 10 and 25 to 28: the three riskiest steps and links, three tools for each."""
    edges = verdict.graph.all_edges
    return Editable(
        {i: replacements(verifier, verdict, i) for i in verdict.risky_nodes[:PLACES]},
        {edges[i]: insertions(verifier, verdict, edges[i]) for i in verdict.risky_edges[:PLACES]},
    )


def replacements(verifier: Verifier, verdict: Verdict, node: int) -> tuple[str, ...]:
    """Similar tools that fit before and after (equation 25), by g(s, t) + s(r, t) (26)."""
    graph, space = verdict.graph, verifier.space
    here = graph.nodes[node]
    if not space.known(here.tool):
        return ()
    fitting = set(
        space.between(
            [graph.nodes[i].tool for i in graph.before(node)],
            [graph.nodes[i].tool for i in graph.after(node)],
        ).tolist()
    )
    number = space.tools.index(here.tool)
    choice = [i for i in space.neighbours[number].tolist() if i in fitting]
    if not choice:
        return ()
    row = space.texts.rows([space.step_text(here.text)])
    g = verifier.alignment.table(space.texts.matrix[row], space.vectors[choice])[0]
    score = g + space.relevance(graph.request)[choice]
    best = np.argsort(-score, kind="stable")[:CANDIDATES].tolist()
    return tuple(space.tools.tools[choice[i]].id for i in best)


def insertions(verifier: Verifier, verdict: Verdict, edge: Edge) -> tuple[str, ...]:
    """Return tools that fit between (equation 27), by relevance and how usual they are
    there (28).
    """
    graph, space, counts = verdict.graph, verifier.space, verifier.counts
    source = None if edge[0] == START else graph.nodes[edge[0]].tool
    target = graph.nodes[edge[1]].tool
    choice = space.between([source] if source else [], [target]).tolist()
    ends = {source, target}
    choice = [i for i in choice if space.tools.tools[i].id not in ends]
    relevance = space.relevance(graph.request)

    def score(i: int) -> float:
        tool = space.tools.tools[i].id
        usual = counts.pairwise(tool, target) + (counts.pairwise(source, tool) if source else 0.0)
        return 0.8 * float(relevance[i]) + 0.2 * usual

    best = sorted(choice, key=lambda i: (-score(i), i))[:CANDIDATES]
    return tuple(space.tools.tools[i].id for i in best)
