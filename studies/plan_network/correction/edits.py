"""A language model's edits of a plan graph (GNNVerifier, appendix B.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hvr.judging.verifier.graph import Edge, PlanGraph, PlanGraphDraft, PlanNode
from hvr.tools.tool_plans import ToolGraph
from studies.plan_network.correction.candidates import CANDIDATES, Editable

MAX_EDITS = 3
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "edits": {
            "type": "array",
            "maxItems": MAX_EDITS,
            "items": {
                "type": "object",
                "properties": {
                    "op": {"enum": ["replace_on_node", "insert_on_edge", "no_change"]},
                    "node_id": {"type": "integer"},
                    "edge_id": {"type": "integer"},
                    "candidate_id": {"type": "integer", "minimum": 0, "maximum": CANDIDATES - 1},
                    "step": {"type": "string"},
                },
                "required": ["op"],
            },
        }
    },
    "required": ["edits"],
}


@dataclass(frozen=True)
class Edit:
    """A replacement of the tool of step `where`, or an insertion of a step into link `where`."""

    kind: Literal["replace", "insert"]
    where: int | Edge
    tool: str
    step: str

    def __str__(self) -> str:
        if isinstance(self.where, int):
            return f"step {self.where + 1}: {self.tool} in its place"
        return f"{self.tool} put in before step {self.where[1] + 1}"


def read_edits(answer: Mapping[str, Any], allowed: Editable) -> tuple[Edit, ...]:
    """Return the edits in an answer that satisfies `SCHEMA`.

    Raises:
        ValueError: An edit is not allowed; the message explains why, so that the model can try
            again.
    """
    edges = list(allowed.insert)
    given: Sequence[Mapping[str, Any]] = answer["edits"]
    if len(given) > MAX_EDITS:
        raise ValueError(f"there are {len(given)} edits, and at most {MAX_EDITS} are allowed")
    edits: list[Edit] = []
    for number, edit in enumerate(given):
        name = f"edit {number}"
        if edit["op"] == "no_change":
            continue
        kind: Literal["replace", "insert"] = (
            "replace" if edit["op"] == "replace_on_node" else "insert"
        )
        key = "node_id" if kind == "replace" else "edge_id"
        place = edit.get(key)
        where: int | Edge
        if kind == "replace":
            if place not in allowed.replace:
                raise ValueError(f"{name}: {key} {place} is not one of {list(allowed.replace)}")
            where, choice = int(place), allowed.replace[place]
        else:
            if not isinstance(place, int) or not 0 <= place < len(edges):
                raise ValueError(f"{name}: {key} {place} is not one of {list(range(len(edges)))}")
            where, choice = edges[place], allowed.insert[edges[place]]
        candidate = edit.get("candidate_id")
        if not isinstance(candidate, int) or not 0 <= candidate < len(choice):
            raise ValueError(f"{name}: candidate_id {candidate} is not in its list of candidates")
        step = str(edit.get("step") or "").strip()
        if not step:
            raise ValueError(f"{name}: the text of its step is missing")
        if any(e.tool == choice[candidate] for e in edits):
            raise ValueError(f"{name}: {choice[candidate]} is used in another edit already")
        if any(e.where == where for e in edits):
            raise ValueError(f"{name}: its place is edited already")
        edits.append(Edit(kind, where, choice[candidate], step))
    return tuple(edits)


def apply_edits(graph: PlanGraph, edits: Sequence[Edit], tools: ToolGraph) -> PlanGraph:
    """Return the edited plan; an inserted step lies between the ends of its link."""
    draft = PlanGraphDraft(graph)
    for edit in edits:
        tool = tools.tool(edit.tool)
        node = PlanNode(tool.id, edit.step, tool.inputs, tool.outputs)
        if isinstance(edit.where, int):
            draft.retool(edit.where, node)
        else:
            draft.insert(edit.where[0], edit.where[1], node)
    return draft.finish()[0]
