"""A toolset of pydantic-ai with the tools of a world, each call behind hvr's guard."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from pydantic_ai import ModelRetry, Tool
from pydantic_ai.toolsets import FunctionToolset

from hvr.calling.agent_guard import AgentGuard, Question
from hvr.calling.environment import ToolEnvironment
from hvr.calling.guard import CallPolicy
from hvr.calling.guard_server import listed
from hvr.calling.ledger import CallLedger
from hvr.calling.values import ToolCall


def guarded(tools: ToolEnvironment, said: list[Any], ledger: CallLedger) -> FunctionToolset[Any]:
    """Return the tools of an environment; `said` has the user's texts and values."""
    shown = listed(tools.catalogue)
    schemas = {one["name"]: one["inputSchema"] for one in shown}
    guard = AgentGuard(tools, "agent", schemas, CallPolicy(), ledger)

    def one(tool: dict[str, Any]) -> Tool[Any]:
        async def call(**arguments: Any) -> str:
            guard.say(said)
            outcome = await asyncio.to_thread(guard.call, ToolCall(tool["name"], arguments))
            if isinstance(outcome, Question):
                raise ModelRetry(outcome.reason("the user has to confirm it"))
            if not outcome.ok:
                raise ModelRetry(f"{outcome.failure}: {outcome.error}")
            return json.dumps(outcome.result)

        return Tool.from_schema(call, tool["name"], tool["description"], tool["inputSchema"])

    return FunctionToolset([one(tool) for tool in shown])
