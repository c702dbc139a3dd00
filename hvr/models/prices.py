"""Prices of tokens: a small table with its date and source, and the user's own prices."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from hvr.errors import UsageError
from hvr.models.model import Usage

_MILLION = 1_000_000

_DATED = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{3})$")


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens.

    Args:
        input: of the prompt.
        output: of the answer and of reasoning.
        cached: of the prompt, in the provider's cache; None counts them at `input`.
    """

    input: float
    output: float
    cached: float | None = None

    def cost(self, usage: Usage) -> float | None:
        """Return the cost of a usage in US dollars; None when the tokens are not known.

        A provider that does not speak of cached or reasoning tokens has none apart.
        """
        if usage.input is None or usage.output is None:
            return None
        cached = min(usage.cached or 0, usage.input)
        dollars = (
            (usage.input - cached) * self.input
            + cached * (self.input if self.cached is None else self.cached)
            + (usage.output + (usage.reasoning or 0)) * self.output
        )
        return dollars / _MILLION

    def at_most(self, prompt: int, answer: int) -> float:
        """Return the most that a prompt and an answer can cost, in US dollars.

        Args:
            prompt: tokens of the prompt.
            answer: tokens of the answer and of reasoning.
        """
        # A user may have written a price for cached tokens above the one for others.
        dearest = max(self.input, self.cached or 0.0)
        return (prompt * dearest + answer * self.output) / _MILLION


def priced(usage: Usage, price: Price | None) -> Usage:
    """Return a usage with its cost, if the price is known."""
    return usage if price is None else replace(usage, cost=price.cost(usage))


def price_of(model: str, own: Mapping[str, Price] | None = None) -> Price | None:
    """Return the price of a model by the provider's name of it, such as `gpt-4o-mini`.

    Args:
        model: name; a date at its end is left out when the dated name is not in the table.
        own: the user's prices; they come first.

    Returns:
        None when the price is not known.
    """
    table = {**_table(), **(own or {})}
    return table.get(model) or table.get(_DATED.sub("", model))


def read_price(name: str, value: object, where: str) -> Price:
    """Return a price from configuration: a table with `input`, `output` and maybe `cached`.

    Raises:
        UsageError: it is something else.
    """
    if isinstance(value, Mapping) and {"input", "output"} <= set(value) <= {
        "input",
        "output",
        "cached",
    }:
        numbers = {str(k): v for k, v in value.items()}
        if all(_is_price(v) for v in numbers.values()):
            return Price(**{k: float(v) for k, v in numbers.items()})
    raise UsageError(
        f"{where}: the price of {name!r} must be a table such as {{input = 0.15, output = 0.6}} "
        "(US dollars for a million tokens; cached = … may be added)"
    )


def _is_price(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e6


@cache
def _table() -> Mapping[str, Price]:
    text = files("hvr.models").joinpath("prices.toml").read_text(encoding="utf-8")
    models = tomllib.loads(text)["models"]
    return {name: read_price(name, value, "prices.toml") for name, value in models.items()}
