"""The verbs that tools are called by."""

from __future__ import annotations

from functools import lru_cache

from hvr.tools.catalogue.schema import Catalogue, Effect, ToolSchema
from hvr.tools.navigation.words.english import ACTIONS, PHRASAL
from hvr.tools.navigation.words.stems import stem, words_in

_GROUPS = tuple(frozenset(stem(verb) for verb in group) for group in ACTIONS)
_KNOWN = frozenset().union(*_GROUPS)

SAME = 1.0
"""A verb and a tool have the same verb."""
ALIKE = 0.7
"""The verbs ask for the same kind of action."""


def _verb(words: list[str]) -> str:
    """Return the stem of the verb with which words begin, which may be one of two words."""
    return stem(PHRASAL.get(" ".join(words), words[0]))


@lru_cache(maxsize=10_000)
def verbs_of(tool: ToolSchema) -> tuple[str, ...]:
    """Return the stems of the verbs of a tool: the first in its name, and of its description."""
    names, words = words_in(tool.name), words_in(tool.description)
    described = {stem(word) for word in words[:1]}
    # "renew_loan: Renew a loan." renews: a loan is no verb here.
    known = [word for word in names if stem(word) in described] or [
        word for word in names if stem(word) in _KNOWN
    ] or names  # fmt: skip
    at = names.index(known[0]) if known else 0
    in_name = [_verb(names[at : at + 2])] if names else []
    said = [_verb(words[:2])] if words else []
    said += [stem(word) for word in words[2:3] if words[1] in ("or", "and")]
    return tuple(dict.fromkeys([*in_name[:1], *said]))


def verbs_of_tools(catalogue: Catalogue) -> frozenset[str]:
    """Return the stems of the verbs with which the names and descriptions of tools begin."""
    return frozenset(verb for tool in catalogue.tools for verb in verbs_of(tool))


def action_match(tool: ToolSchema, verb: str) -> float:
    """Return how well a verb asks for what a tool does: SAME, ALIKE, or 0.

    Args:
        tool: The tool.
        verb: The stem of the verb.
    """
    own = verbs_of(tool)
    if verb in own[:1]:
        return SAME
    # "git_diff_staged" stages nothing.
    name = [stem(word) for word in words_in(tool.name) if not word.endswith("ed")]
    # A tool that reads may be named after what it finds out: get_sum adds.
    others = (*own, *name) if tool.effect is Effect.READS else own
    return ALIKE if any(alike(verb, one) for one in others) else 0.0


def alike(one: str, other: str) -> bool:
    """Return whether the stems of two verbs ask for the same kind of action."""
    return one == other or any(one in group and other in group for group in _GROUPS)


_READING = frozenset(verb for group in _GROUPS[:9] for verb in group) - frozenset(
    verb for group in _GROUPS[9:] for verb in group if verb not in ("show", "list")
)


def only_reads(verb: str) -> bool:
    """Return whether the stem of a verb asks for nothing but information."""
    return verb in _READING


def is_known(verb: str) -> bool:
    """Return whether the stem of a verb asks for an action that English has other verbs for."""
    return verb in _KNOWN
