"""Lists as `hvr bench` takes them: names, specs of models, seeds."""

from __future__ import annotations

import re

from hvr.errors import UsageError

_MOST_SEEDS = 1000


def split_list(text: str) -> list[str]:
    """Split at commas; empty parts are left out."""
    return [part.strip() for part in text.split(",") if part.strip()]


def split_models(text: str) -> list[str]:
    """Split specs of models at commas, except before an option as in `scripted:error=0,seed=1`."""
    specs: list[str] = []
    for part in split_list(text):
        if specs and ":" in specs[-1] and re.match(r"[a-z_]+=", part):
            specs[-1] += f",{part}"
        else:
            specs.append(part)
    return specs


def split_seeds(text: str) -> list[int]:
    """Read `5` as 0 to 4, and `0,7` as these.

    Raises:
        UsageError: it is neither.
    """
    parts = split_list(text)
    if not parts or not all(re.fullmatch(r"\d{1,9}", part, re.ASCII) for part in parts):
        raise UsageError(f"--seeds must be a number such as 5, or a list such as 0,7, not {text!r}")
    numbers = list(dict.fromkeys(map(int, parts)))
    if "," in text:
        return numbers
    if not 1 <= numbers[0] <= _MOST_SEEDS:
        raise UsageError(f"--seeds must be 1 to {_MOST_SEEDS}, not {text}")
    return list(range(numbers[0]))
