"""A small tool world with learnable plans."""

from __future__ import annotations

import random
from itertools import pairwise

from hvr.tools.tool_plans import Tool, ToolGraph, ToolPlan

TOOLS = (
    Tool("train_search", "Search trains between two towns"),
    Tool("train_book", "Book a seat on a train"),
    Tool("hotel_search", "Find hotels in a town"),
    Tool("hotel_book", "Book a room in a hotel"),
    Tool("send_mail", "Send an electronic letter"),
)
GRAPH = ToolGraph(
    TOOLS,
    (
        ("train_search", "train_book"),
        ("hotel_search", "hotel_book"),
        ("train_book", "hotel_search"),
        ("train_book", "send_mail"),
        ("hotel_book", "send_mail"),
    ),
)
_CHAINS = (
    ("train_search", "train_book"),
    ("hotel_search", "hotel_book"),
    ("train_search", "train_book", "send_mail"),
    ("hotel_search", "hotel_book", "send_mail"),
    ("train_search", "train_book", "hotel_search", "hotel_book"),
)
_WORDS = {
    "train_search": "look which railway connections go to {}",
    "train_book": "reserve a place on the railway to {}",
    "hotel_search": "look where one can sleep in {}",
    "hotel_book": "reserve a bed for the night in {}",
    "send_mail": "tell the family about {}",
}


def travel_plans(count: int, seed: int = 0) -> tuple[ToolPlan, ...]:
    """Return plans whose steps name their tools and describe them in varying words."""
    rng = random.Random(seed)
    plans = []
    for i in range(count):
        chain, town = rng.choice(_CHAINS), rng.choice(("Rome", "Paris", "Oslo", "Bern"))
        steps = tuple(
            f"Step {k} Call {tool} to {_WORDS[tool].format(town)}"
            for k, tool in enumerate(chain, 1)
        )
        links = tuple(pairwise(chain))
        plans.append(ToolPlan(str(i), f"A journey to {town}", steps, chain, links))
    return tuple(plans)
