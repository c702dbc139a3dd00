"""A LangGraph graph that carries out goals in a tool world and asks the user where it has to.

`carry_out` never makes a call that may write before the user has confirmed exactly that call. What
only the user can say comes back to the caller as an interrupt, and is resumed with, for example,
`Command(resume={"values": {"reader": "Ann"}})` or `Command(resume={"confirmed": True})`.
"""

from __future__ import annotations

from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

import hvr


class ToolState(TypedDict, total=False):
    world: str
    goals: list[str]
    values: dict[str, Any]
    confirmed: list[dict[str, Any]]
    answers: dict[str, Any]
    ask: list[str]
    confirm: list[dict[str, Any]]
    why: str


async def carry_out(state: ToolState) -> Command[Any]:
    """Carry out the next goal."""
    goal, *later = state["goals"]
    confirmed = state.get("confirmed", [])
    with hvr.open_tools(state["world"]) as world:
        run = await world.arun(
            goal,
            **state.get("values", {}),
            approve=lambda call: call.to_json() in confirmed or None,
        )
    if run.reached:
        answers = {**state.get("answers", {}), **run.answers}
        return Command(
            update={"goals": later, "answers": answers}, goto="carry_out" if later else END
        )
    confirm = [call.to_json() for call in run.waiting]
    found = {"ask": list(run.ask), "confirm": confirm, "why": run.why}
    return Command(update=found, goto="ask_user" if run.ask or confirm else END)


def ask_user(state: ToolState) -> Command[Any]:
    """Put the open questions to the user."""
    reply = interrupt({key: state[key] for key in ("ask", "confirm", "why")})
    if not (reply.get("values") or reply.get("confirmed")):
        return Command(goto=END)  # the user does not want it
    confirmed = state["confirm"] if reply.get("confirmed") else []
    values = {**state.get("values", {}), **reply.get("values", {})}
    return Command(update={"values": values, "confirmed": confirmed}, goto="carry_out")


graph = StateGraph(ToolState)
graph.add_node("carry_out", carry_out, destinations=("carry_out", "ask_user", END))
graph.add_node("ask_user", ask_user, destinations=("carry_out", END))
graph.add_edge(START, "carry_out")
