"""A verifier's verdicts on plans."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hvr.judging.verifier.graph import START, Edge, PlanGraph

_FEW = 3


@dataclass(frozen=True)
class Thresholds:
    """Thresholds of the score and the risks (equation 10 of the GNNVerifier paper).

    Args:
        graph: τ_G; a plan with a lower score is rejected.
        node: τ_V; a step with at least this risk is risky.
        edge: τ_E; a link with at least this risk is risky.
    """

    graph: float = 0.5
    node: float = 0.5
    edge: float = 0.5


@dataclass(frozen=True)
class RiskFinding:
    """A risky step (one index) or link (two indexes, where -1 is Start)."""

    where: int | Edge
    risk: float
    reason: str

    @property
    def place(self) -> str:
        if isinstance(self.where, int):
            return f"step {self.where + 1}"
        source, target = self.where
        first = "the start" if source == START else f"step {source + 1}"
        return f"between {first} and step {target + 1}"


@dataclass(frozen=True)
class Verdict:
    """The plausibility of a plan, with its risks.

    Args:
        score: S of equation 8 of the GNNVerifier paper, from 0 (implausible) to 1 (plausible).
        findings: Risky steps and links with reasons, riskiest first.
        unknown: Reason why the verifier cannot judge the plan; empty if it can.
        read: Summary of the record's format, calls and skipped parts; empty if the plan is not from
            a file.
        claim: What the verifier claims about an accepted plan.
    """

    graph: PlanGraph
    score: float
    node_risks: tuple[float, ...]
    edge_risks: tuple[float, ...]
    thresholds: Thresholds
    findings: tuple[RiskFinding, ...] = ()
    unknown: str = ""
    read: str = ""
    claim: str = "plausibly what was asked"

    @property
    def accepted(self) -> bool:
        """Whether the verifier can judge the plan, and its score reaches the threshold."""
        return self.score >= self.thresholds.graph and not self.unknown

    @property
    def risky_nodes(self) -> tuple[int, ...]:
        """Indexes of the steps whose risk reaches the threshold (V_edit), riskiest first."""
        risky = [i for i, r in enumerate(self.node_risks) if r >= self.thresholds.node]
        return tuple(sorted(risky, key=lambda i: (-self.node_risks[i], i)))

    @property
    def risky_edges(self) -> tuple[int, ...]:
        """Indexes in `graph.all_edges` of the risky links (the paper's E_edit), riskiest first."""
        risky = [i for i, r in enumerate(self.edge_risks) if r >= self.thresholds.edge]
        return tuple(sorted(risky, key=lambda i: (-self.edge_risks[i], i)))

    def lines(self) -> list[str]:
        """Return the verdict as lines of text, with every step and finding."""
        graph, at = self.graph, self.thresholds
        outcome = "accepted" if self.accepted else "below the threshold: review the plan"
        score, least = _distinct(self.score, at.graph)
        outcome = f"score {score}, threshold {least}, {outcome}"
        lines = [
            (f"{graph.id}: " if graph.id else "")
            + (f"no verdict: {self.unknown}" if self.unknown else outcome)
        ]
        if graph.request:
            lines.append(f"  asked: {graph.request}")
        if self.read:
            lines.append(f"  {self.read}")
        for number, (node, risk) in enumerate(zip(graph.nodes, self.node_risks, strict=True), 1):
            # Without a verdict, the risks are meaningless.
            mark = "!!" if risk >= at.node and not self.unknown else "  "
            risk_text = "" if self.unknown else f" risk {risk:.2f}"
            text = "" if node.text == node.tool else f"  {node.text}"
            lines.append(f"  {mark} {number:>3} {node.tool:24}{risk_text}{text}")
        if not self.unknown:
            lines += [f"  {f.place}: {f.reason} (risk {f.risk:.2f})" for f in self.findings]
        return lines

    def brief(self) -> list[str]:
        """Return the verdict on one line and, if the plan is rejected, its riskiest findings."""
        if self.unknown:
            return [f"verifier: no verdict: {self.unknown}"]
        score, least = _distinct(self.score, self.thresholds.graph)
        if self.accepted:
            return [f"verifier: score {score}, at least {least}: {self.claim}"]
        reasons = [f"  {f.reason}" for f in self.findings[:_FEW]]
        return [f"verifier: score {score}, below {least}: plausibly not what was asked", *reasons]

    def summary(self) -> dict[str, Any]:
        return {
            "score": round(self.score, 4),
            "threshold": self.thresholds.graph,
            "accepted": self.accepted,
            "unknown": self.unknown,
            "reasons": [f.reason for f in self.findings],
        }

    def to_dict(self) -> dict[str, Any]:
        names = [n.tool for n in self.graph.nodes]
        return {
            "id": self.graph.id,
            "request": self.graph.request,
            "score": round(self.score, 4),
            "accepted": self.accepted,
            "unknown": self.unknown,
            "read": self.read or None,
            "thresholds": asdict(self.thresholds),
            "nodes": [
                {"tool": n.tool, "step": n.text, "risk": round(r, 4)}
                for n, r in zip(self.graph.nodes, self.node_risks, strict=True)
            ],
            "edges": [
                {
                    "source": names[a] if a >= 0 else "Start",
                    "target": names[b],
                    "from": a,
                    "to": b,
                    "risk": round(r, 4),
                }
                for (a, b), r in zip(self.graph.all_edges, self.edge_risks, strict=True)
            ],
            "findings": [
                {"where": f.where, "risk": round(f.risk, 4), "reason": f.reason}
                for f in self.findings
            ],
        }


@dataclass(frozen=True)
class NoVerdict:
    """A record that contains no plan to judge; `read` summarises what was read."""

    id: str
    request: str
    unknown: str
    read: str = ""

    accepted = False

    def lines(self) -> list[str]:
        request_lines = [f"  asked: {self.request}"] if self.request else []
        read = [f"  {self.read}"] if self.read and self.unknown not in self.read else []
        return [f"{self.id}: no verdict: {self.unknown}", *request_lines, *read]

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "request": self.request,
            "score": None,
            "accepted": False,
            "unknown": self.unknown,
            "read": self.read or None,
        }


def _distinct(one: float, other: float) -> tuple[str, str]:
    for digits in range(2, 18):
        texts = f"{one:.{digits}f}", f"{other:.{digits}f}"
        if texts[0] != texts[1]:
            return texts
    return f"{one:.2f}", f"{other:.2f}"
