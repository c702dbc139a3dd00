"""Correction of risky places of a plan with a language model (GNNVerifier, 3.6 and appendix B)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from string import Template

from hvr.judging.verifier.graph import START
from hvr.judging.verifier.verdict import Verdict
from hvr.judging.verifier.verifier import Plan, Verifier
from hvr.models.errors import ModelError
from hvr.models.model import Message, Model, Request
from hvr.models.replies import find_json
from studies.plan_network.correction.candidates import Editable, editable
from studies.plan_network.correction.edits import SCHEMA, Edit, apply_edits, read_edits

_PROMPTS = Path(__file__).parent / "prompts"
_TOKENS = 1024


@dataclass(frozen=True)
class ModelCorrection:
    """The correction of a plan.

    Args:
        after: Verdict on the corrected plan; equals `before` if nothing was changed.
        outcome: `accepted` (the plan needs no changes), `no candidates`, `unchanged` (the model
            proposed no change), `unusable` (no valid answer), `no gain` (the score did not rise) or
            `corrected`.
    """

    before: Verdict
    after: Verdict
    edits: tuple[Edit, ...]
    outcome: str


def repair(verifier: Verifier, plan: Plan, model: Model) -> ModelCorrection:
    """Let a model edit the risky places of a plan that scores below the threshold.

    After an unusable answer, the model is asked once more. The edited plan is adopted only if it
    scores higher (B.4).

    Raises:
        UsageError: The plan is empty or cyclic.
        LLMError: The model gives no answer.
    """
    before = verifier.score([plan])[0]
    if before.accepted:
        return ModelCorrection(before, before, (), "accepted")
    allowed = editable(verifier, before)
    if not allowed:
        return ModelCorrection(before, before, (), "no candidates")
    edits = _ask(verifier, before, allowed, model)
    if edits is None:
        return ModelCorrection(before, before, (), "unusable")
    if not edits:
        return ModelCorrection(before, before, (), "unchanged")
    after = verifier.score([apply_edits(before.graph, edits, verifier.tools)])[0]
    if after.score > before.score:
        return ModelCorrection(before, after, edits, "corrected")
    return ModelCorrection(before, before, (), "no gain")


def _ask(
    verifier: Verifier, verdict: Verdict, allowed: Editable, model: Model
) -> tuple[Edit, ...] | None:
    values = _values(verifier, verdict, allowed)
    problem = ""
    for prompt in ("repair", "repair_again"):
        text = Template((_PROMPTS / f"{prompt}.txt").read_text(encoding="utf-8")).substitute(
            values, problem=problem
        )
        request = Request(
            messages=(Message("user", text),), purpose="repair_tools", max_tokens=_TOKENS
        )
        try:
            answer = model.answer(request)
            return read_edits(find_json(answer.text, SCHEMA), allowed)
        except ValueError as error:
            problem = str(error)
        except ModelError as error:
            # Only an unusable answer justifies a second request.
            if error.kind not in ("empty", "schema"):
                raise
            problem = str(error)
    return None


def _values(verifier: Verifier, verdict: Verdict, allowed: Editable) -> dict[str, str]:
    graph = verdict.graph
    risks = dict(zip(graph.all_edges, verdict.edge_risks, strict=True))

    def choice(tools: tuple[str, ...]) -> str:
        return "; ".join(
            f"{i}: {t} ({verifier.tools.tool(t).description})" for i, t in enumerate(tools)
        )

    def name(node: int) -> str:
        return "Start" if node == START else f"step {node} {graph.nodes[node].tool}"

    plan = [f"{i}. {graph.nodes[i].tool}: {graph.nodes[i].text}" for i in graph.order]
    plan += [f"{name(a)} -> {name(b)}" for a, b in graph.edges]
    nodes = [
        f"node_id {i} ({graph.nodes[i].tool}), risk {verdict.node_risks[i]:.2f}: {choice(tools)}"
        for i, tools in allowed.replace.items()
    ]
    edges = [
        f"edge_id {k} ({name(a)} -> {name(b)}), risk {risks[a, b]:.2f}: {choice(tools)}"
        for k, ((a, b), tools) in enumerate(allowed.insert.items())
    ]
    return {
        "request": graph.request,
        "plan": "\n".join(plan),
        "score": f"{verdict.score:.2f}",
        "nodes": "\n".join(nodes) or "none",
        "edges": "\n".join(edges) or "none",
    }
