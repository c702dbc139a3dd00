"""Estimates of a bench's cost, from the tokens of earlier plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hvr.bench.cells import NO_MODEL, Cell, CellOptions
from hvr.models.config import read_config
from hvr.models.connect import is_simulation
from hvr.policies.llm.settings import decided, is_agent, is_goal, settings_named

# Tokens of a plan, in and out: means over T1 to T9 with the simulated model at an error rate of 0.1
# (docs/results/live.md). A weaker model needs more corrections, a reasoning model more tokens. The
# agent and constrained plans were not measured with a capable model: ten turns and twenty steps are
# assumed.
_TOKENS: Mapping[str, tuple[int, int]] = {
    "batching": (7_700, 3_400),
    "hierarchical": (9_800, 2_900),
    "whole": (3_500, 400),
    "goal": (2_300, 300),
    "agent": (40_000, 1_500),
    "constrained": (20_000, 1_800),
    "whole, constrained": (60_000, 400),
}
_SPREAD = 3
"""Factor between the mean and an expensive plan."""


def price_lines(cells: Sequence[Cell], options: CellOptions) -> Iterator[str]:
    """Yield one line per model: the expected tokens and US dollars of a bench."""
    counts = Counter((cell.model, cell.setting) for cell in cells if cell.model != NO_MODEL)
    for model in dict.fromkeys(model for model, _ in counts):
        plans = {setting: n for (name, setting), n in counts.items() if name == model}
        tokens = [sum(_tokens(s)[side] * n for s, n in plans.items()) for side in (0, 1)]
        chosen = read_config(replace(options.model, spec=model))
        price = chosen.options.price(model.partition(":")[2])
        if is_simulation(model):
            cost = "free: it is simulated"
        elif price is None:
            cost = "price unknown: set it in [tool.hvr.llm.prices] of pyproject.toml"
        else:
            dollars = price.at_most(*tokens)
            cost = f"about ${dollars:.2f}, at most ${_SPREAD * dollars:.2f} is usual"
        yield (
            f"{model}: {sum(plans.values())} plans, about {tokens[0]:,} tokens in and "
            f"{tokens[1]:,} out; {cost}"
        )


def _tokens(setting: str) -> tuple[int, int]:
    if is_agent(setting):
        return _TOKENS["agent"]
    if is_goal(setting):
        return _TOKENS["goal"]
    settings = settings_named(decided(setting, True))
    if settings.constrained:
        return _TOKENS["constrained" if settings.hierarchical else "whole, constrained"]
    if not settings.hierarchical:
        return _TOKENS["whole"]
    return _TOKENS["batching" if settings.batching else "hierarchical"]
