"""Answers of a model that reads tool requests."""

from __future__ import annotations

from typing import Any

from hvr.tools.calling.calls import Json


def said(**values: Json) -> list[dict[str, Json]]:
    return [{"name": name, "value": value} for name, value in values.items()]


def goal(tool: str, *queries: dict[str, Any], **values: Json) -> dict[str, Any]:
    return {"tool": tool, "arguments": said(**values), "queries": list(queries)}


def call(*goals: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"move": "call", "why": "It is wanted.", "goals": list(goals), **more}
