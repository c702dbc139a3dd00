"""Labels for retrievers: the tool that each step of a true plan calls."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from hvr.tools.tool_plan import ToolPlan


def paired(plan: ToolPlan) -> tuple[str, ...] | None:
    """Return the tool of each step by GNN4Plan's rule; None for a plan that the rule excludes.

    A plan must have as many steps as tools, no tool twice, and links that form a single path
    through all tools; the tools are taken in the order of the path.
    """
    tools = plan.tools
    if not tools or len(plan.steps) != len(tools) or len(set(tools)) != len(tools):
        return None
    after = dict(plan.links)
    heads = [t for t in tools if t not in after.values()]
    if len(plan.links) != len(tools) - 1 or len(after) != len(plan.links) or len(heads) != 1:
        return None
    path = [heads[0]]
    while path[-1] in after and len(path) <= len(tools):
        path.append(after[path[-1]])
    return tuple(path) if sorted(path) == sorted(tools) else None


def aligned(plan: ToolPlan) -> tuple[str | None, ...]:
    """Return the tool of each step, for plans of any shape (hvr's own); None if it is unclear.

    A step that names exactly one of the plan's tools calls it; the other steps are paired by
    their place if there are as many steps as tools.
    """
    same = len(plan.steps) == len(plan.tools)
    labels: list[str | None] = []
    for i, step in enumerate(plan.steps):
        named = [t for t in dict.fromkeys(plan.tools) if _names(step, t)]
        if len(named) == 1:
            labels.append(named[0])
        else:
            labels.append(plan.tools[i] if same else None)
    return tuple(labels)


def hold_out(
    plans: Sequence[ToolPlan], fraction: float, seed: int
) -> tuple[tuple[ToolPlan, ...], tuple[ToolPlan, ...]]:
    """Split plans at random into a part to train on and a part to choose by.

    Args:
        plans: at least one.
        fraction: size of the second part, from 0 to 1; at least one plan stays in the first.
        seed: of the choice.
    """
    order = list(range(len(plans)))
    random.Random(seed).shuffle(order)
    size = min(round(fraction * len(plans)), len(plans) - 1)
    held = set(order[:size])
    inner = tuple(p for i, p in enumerate(plans) if i not in held)
    return inner, tuple(p for i, p in enumerate(plans) if i in held)


def _names(step: str, tool: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(tool)}(?!\w)", step) is not None
