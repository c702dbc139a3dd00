"""A pydantic-ai toolset with the tools of a tool world, each call behind hvr's guard.

The agent's `deps` are the texts that the user has written. A call that may write, and a value that
no one has said, come back to the caller as `DeferredToolRequests`, with the question for the user
in its metadata; the call is made once the caller approves it with `DeferredToolResults`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from pydantic_ai import ApprovalRequired, FunctionToolset, ModelRetry, RunContext, Tool

from hvr import Question, ToolCall, Tools


def guarded(world: Tools) -> FunctionToolset[list[str]]:
    """Return the tools of a world, guarded."""
    guard = world.guard()
    asked: dict[str | None, Question] = {}

    def tool(listed: Mapping[str, Any]) -> Tool[list[str]]:
        async def call(ctx: RunContext[list[str]], **arguments: Any) -> Any:
            guard.say(ctx.deps)
            confirmed = asked.get(ctx.tool_call_id) if ctx.tool_call_approved else None
            made = ToolCall(listed["name"], arguments)
            outcome = await asyncio.to_thread(guard.call, made, confirmed)
            if isinstance(outcome, Question):
                asked[ctx.tool_call_id] = outcome
                raise ApprovalRequired({"question": outcome.text()})
            if not outcome.ok:
                raise ModelRetry(f"{outcome.failure}: {outcome.error}")
            return outcome.result

        return Tool.from_schema(
            call, listed["name"], listed["description"], listed["inputSchema"], takes_ctx=True
        )

    return FunctionToolset([tool(listed) for listed in world.listed], sequential=True)
