"""Prompts with which a language model plans, scores tools, chooses paths and fills arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import pairwise
from string import Template
from typing import Any

from hvr.models.model import Message, Model, Request
from hvr.tools.datasets import to_plan
from hvr.tools.tool_plans import ToolGraph, ToolPlan

_NAME = {"type": "string"}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_PLAN = _object(
    task_steps=_list(_NAME),
    task_nodes=_list(_object(task=_NAME)),
    task_links=_list(_object(source=_NAME, target=_NAME)),
)
_SCORES = _object(scores=_list(_object(tool=_NAME, score={"type": "number"})))
_CHOICE = _object(number={"type": "integer"})
_CALLS = _object(calls=_list(_object(arguments=_list(_NAME))))


class ToolModel:
    """A language model that plans with tools, and that serves `graph_search` as `StepJudge`.

    Args:
        graph: Tools; the model does not see their links.
        temperature: Sampling temperature; GNN4Plan uses 0.2.
    """

    def __init__(
        self, model: Model, graph: ToolGraph, *, temperature: float = 0.2, max_tokens: int = 2000
    ) -> None:
        self._model, self._graph = model, graph
        self._temperature, self._max_tokens = temperature, max_tokens

    def direct(self, id: str, request: str, example: ToolPlan | None = None) -> ToolPlan:
        """Plan in a single answer: the baseline Direct.

        `example` is a true plan to show, which is not in the test set. The result is the plan as
        the model wrote it, including unknown tool names.
        """
        shown = ""
        if example is not None:
            given = json.dumps(_as_record(example), ensure_ascii=False)
            shown = f"\nAn example. The user asks:\n{example.request}\nThe answer is:\n{given}\n"
        data = self._ask("direct", _PLAN, tools=self._tools(), example=shown, request=request)
        return to_plan({**data, "id": id, "user_request": request})

    def scores(self, step: str, candidates: Sequence[str]) -> Mapping[str, float]:
        """Return scores as in `StepJudge`, without tools that are not candidates."""
        data = self._ask("score", _SCORES, tools=self._tools(candidates), step=step)
        known = set(candidates)
        return {
            s["tool"]: min(5.0, max(1.0, float(s["score"])))
            for s in data["scores"]
            if s["tool"] in known
        }

    def choose(self, request: str, steps: Sequence[str], paths: Sequence[tuple[str, ...]]) -> int:
        """Choose a path as in `StepJudge`; after an invalid number, the first path."""
        data = self._ask(
            "choose",
            _CHOICE,
            request=request,
            steps="\n".join(f"{i}. {s}" for i, s in enumerate(steps, 1)),
            solutions="\n".join(f"{i}. {', '.join(p)}" for i, p in enumerate(paths, 1)),
        )
        number = int(data["number"])
        return number - 1 if 1 <= number <= len(paths) else 0

    def arguments(self, plan: ToolPlan) -> tuple[tuple[str, ...], ...]:
        """Return the arguments of each call of a plan (GNN4Plan, appendix G.1).

        Returns:
            Values for each tool of the plan, where `<node-j>` is the output of call j; empty for
            calls that the model omitted.
        """
        calls = "\n".join(f"{i}. {t}" for i, t in enumerate(plan.tools))
        used = [t for t in dict.fromkeys(plan.tools) if t in self._graph]
        data = self._ask(
            "arguments", _CALLS, tools=self._tools(used), request=plan.request, calls=calls
        )
        values = [tuple(str(v) for v in call["arguments"]) for call in data["calls"]]
        return tuple((values + [()] * len(plan.tools))[: len(plan.tools)])

    def _ask(self, prompt: str, schema: Mapping[str, Any], **values: str) -> dict[str, Any]:
        text = (files("studies.tool_planning") / "prompts" / f"{prompt}.txt").read_text(
            encoding="utf-8"
        )
        request = Request(
            messages=(Message("user", Template(text).substitute(values).strip()),),
            purpose=f"tools-{prompt}",
            schema=schema,
            temperature=self._temperature,
            max_tokens=self._max_tokens,
        )
        data: dict[str, Any] = self._model.answer(request).data
        return data

    def _tools(self, ids: Sequence[str] | None = None) -> str:
        tools = self._graph.tools if ids is None else [self._graph.tool(i) for i in ids]
        lines = []
        for tool in tools:
            record: dict[str, Any] = {"name": tool.id, "description": tool.description}
            if tool.inputs or tool.outputs:
                record |= {"takes": tool.inputs, "gives": tool.outputs}
            lines.append(json.dumps(record, ensure_ascii=False))
        return "\n".join(lines)


def _as_record(plan: ToolPlan) -> dict[str, Any]:
    links = plan.links or tuple(pairwise(plan.tools))
    return {
        "task_steps": list(plan.steps),
        "task_nodes": [{"task": t} for t in plan.tools],
        "task_links": [{"source": s, "target": t} for s, t in links],
    }
