"""Candidate tools for risky places (GNNVerifier, appendix B.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hvr.judging.verifier.graph import START, Edge
from hvr.judging.verifier.verdict import Verdict
from hvr.judging.verifier.verifier import Verifier

PLACES = 3
"""Maximum number of risky steps, and of risky links, to edit."""
CANDIDATES = 3
"""Number of candidate tools per place."""
RELEVANCE_WEIGHT, USUAL_WEIGHT = 0.8, 0.2
"""Weights of equation 28."""


@dataclass(frozen=True)
class Editable:
    """The steps and links that may be edited, with their candidate tools.

    Args:
        replace: Ids of replacement tools for each step, best first.
        insert: Ids of tools to insert on each link, best first.
    """

    replace: dict[int, tuple[str, ...]]
    insert: dict[Edge, tuple[str, ...]]

    def __bool__(self) -> bool:
        return any(self.replace.values()) or any(self.insert.values())


def editable(verifier: Verifier, verdict: Verdict) -> Editable:
    """Return the riskiest steps and links with their candidates (equations 10 and 25 to 28)."""
    edges = verdict.graph.all_edges
    return Editable(
        {i: replacements(verifier, verdict, i) for i in verdict.risky_nodes[:PLACES]},
        {edges[i]: insertions(verifier, verdict, edges[i]) for i in verdict.risky_edges[:PLACES]},
    )


def replacements(verifier: Verifier, verdict: Verdict, node: int) -> tuple[str, ...]:
    """Return the best replacements for a step's tool.

    C(v_i) = N_K(t_i) ∩ N_out(t_(i-1)) ∩ N_in(t_(i+1))   (equation 25)
    score(t) = g(s_i, t) + s(r, t)                        (equation 26)

    N_K are the similar tools, N_out and N_in the tools that fit after and before another tool, g is
    the alignment scorer, and s the cosine of request and tool.
    """
    graph, embeddings = verdict.graph, verifier.embeddings
    here = graph.nodes[node]
    if not embeddings.known(here.tool):
        return ()
    fitting = set(
        embeddings.between(
            [graph.nodes[i].tool for i in graph.before(node)],
            [graph.nodes[i].tool for i in graph.after(node)],
        ).tolist()
    )
    number = embeddings.tools.index(here.tool)
    choice = [i for i in embeddings.neighbours[number].tolist() if i in fitting]
    if not choice:
        return ()
    row = embeddings.texts.rows([embeddings.step_text(here.text)])
    g = verifier.alignment.table(embeddings.texts.matrix[row], embeddings.vectors[choice])[0]
    score = g + embeddings.relevance(graph.request)[choice]
    best = np.argsort(-score, kind="stable")[:CANDIDATES].tolist()
    return tuple(embeddings.tools.tools[choice[i]].id for i in best)


def insertions(verifier: Verifier, verdict: Verdict, edge: Edge) -> tuple[str, ...]:
    """Return the best tools to insert on a link.

    C(u, v) = N_out(t_u) ∩ N_in(t_v), without the condition on u if it is Start   (equation 27)
    score(t) = 0.8 s(r, t) + 0.2 (log(1 + f_2(t_u, t)) + log(1 + f_2(t, t_v)))     (equation 28)
    """
    graph, embeddings, counts = verdict.graph, verifier.embeddings, verifier.counts
    source = None if edge[0] == START else graph.nodes[edge[0]].tool
    target = graph.nodes[edge[1]].tool
    choice = embeddings.between([source] if source else [], [target]).tolist()
    ends = {source, target}
    choice = [i for i in choice if embeddings.tools.tools[i].id not in ends]
    relevance = embeddings.relevance(graph.request)

    def score(i: int) -> float:
        tool = embeddings.tools.tools[i].id
        usual = counts.pairwise(tool, target) + (counts.pairwise(source, tool) if source else 0.0)
        return RELEVANCE_WEIGHT * float(relevance[i]) + USUAL_WEIGHT * usual

    best = sorted(choice, key=lambda i: (-score(i), i))[:CANDIDATES]
    return tuple(embeddings.tools.tools[i].id for i in best)
