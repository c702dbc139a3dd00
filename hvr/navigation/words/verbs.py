"""The verbs that tools are called by."""

from __future__ import annotations

from functools import lru_cache

from hvr.navigation.words.english import ACTIONS
from hvr.navigation.words.stems import stem, words_in
from hvr.tools.catalogue.schema import Catalogue, ToolSchema

_GROUPS = tuple(frozenset(stem(verb) for verb in group) for group in ACTIONS)

SAME = 1.0
"""A verb and a tool have the same verb."""
ALIKE = 0.7
"""The verbs ask for the same kind of action."""


@lru_cache(maxsize=10_000)
def verbs_of(tool: ToolSchema) -> tuple[str, ...]:
    """Return the stems of the verbs of a tool: in its name, and the first of its description."""
    name = [stem(word) for word in words_in(tool.name)]
    known = frozenset().union(*_GROUPS)
    in_name = [word for word in name if word in known] or name[:1]
    said = [stem(word) for word in words_in(tool.description)[:1]]
    return tuple(dict.fromkeys([*in_name[:1], *said, *in_name[1:]]))


def verbs_of_tools(catalogue: Catalogue) -> frozenset[str]:
    """Return the stems of the verbs with which the names and descriptions of tools begin."""
    return frozenset(verb for tool in catalogue.tools for verb in verbs_of(tool)[:2])


def action_match(tool: ToolSchema, verb: str) -> float:
    """Return how well a verb asks for what a tool does: SAME, ALIKE, or 0.

    Args:
        tool: The tool.
        verb: The stem of the verb.
    """
    own = verbs_of(tool)
    if verb in own:
        return SAME
    alike = any(verb in group and own[0] in group for group in _GROUPS if own)
    return ALIKE if alike else 0.0
