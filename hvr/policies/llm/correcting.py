"""Prompts to correct conditions, cut down until they fit the smallest context.

Of a long plan fewer of its problems are told first, since the others are reported next time; then
fewer objects; and last only the conditions of the macro actions that a problem is about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from hvr.planning.plans import MacroAction
from hvr.policies.llm.conditions import describe

_BEFORE = 2
"""Macro actions before the one with a problem that are described with it."""

_NUMBER = re.compile(r"macro action (\d+)")
_NAME = re.compile(r"[\w-]+")

Values = dict[str, str]


def correction(
    values: Mapping[str, str],
    macros: Sequence[MacroAction],
    problem: str,
    number: int,
    *,
    objects: Callable[[Iterable[str]], str],
    fits: Callable[[Values], bool],
) -> Values:
    """Return the values of a correction prompt, the fullest that fits; else the shortest.

    Args:
        values: what describes the world, by the names of the template.
        macros: the macro actions with their conditions.
        problem: what is wrong with them, a line for each.
        number: of the correction, so that no two prompts are the same.
        objects: returns the lines of those objects that are among some words.
        fits: says whether a prompt fits.
    """
    shortest: Values = {}
    for told in _shorter(values, macros, problem.splitlines(), objects):
        shortest = {**told, "problem": f"{told['problem']}\n(correction {number})"}
        if fits(shortest):
            break
    return shortest


def _shorter(
    values: Mapping[str, str],
    macros: Sequence[MacroAction],
    problems: Sequence[str],
    objects: Callable[[Iterable[str]], str],
) -> Iterator[Values]:
    full = {**values, "conditions": describe(macros)}
    for count in range(len(problems), 0, -1):
        full["problem"] = "\n".join(problems[:count])
        yield full
    named = _NAME.findall(full["conditions"] + full["problem"])
    yield {**full, "objects": objects(named)}
    numbers = [int(n) for n in _NUMBER.findall(full["problem"])]
    wrong = numbers[0] if numbers else 1
    shown = {*numbers, *range(wrong - _BEFORE, wrong)}
    few = describe(macros, shown)
    yield {**full, "conditions": few, "objects": objects(_NAME.findall(few + full["problem"]))}
