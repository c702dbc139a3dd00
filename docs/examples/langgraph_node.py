"""A node of a LangGraph graph that carries out what the state asks of a world of tools.

The state has `world`, `goals`, `values` and, from the node on, `reached`, `answers`, `ask` and
`confirm`: what is to be asked or confirmed is for another node, or an interrupt.
"""

from __future__ import annotations

from typing import Any, TypedDict

import hvr.tools


class ToolState(TypedDict, total=False):
    world: str
    goals: list[str]
    values: dict[str, Any]
    confirmed: list[dict[str, Any]]
    reached: bool
    answers: dict[str, Any]
    ask: list[str]
    confirm: list[dict[str, Any]]


async def carry_out(state: ToolState) -> ToolState:
    """Carry out what is asked; calls that may write are made once they are in `confirmed`."""
    confirmed = [(one["tool"], one["arguments"]) for one in state.get("confirmed", [])]
    with hvr.tools.open(state["world"]) as world:
        run = await world.arun(
            *state["goals"], **state.get("values", {}),
            approve=lambda call: (call.call.tool, dict(call.call.arguments)) in confirmed or None,
        )  # fmt: skip
    return {"reached": run.reached, "answers": dict(run.answers), "ask": list(run.ask),
            "confirm": [call.to_json() for call in run.waiting]}  # fmt: skip
