"""The tools of a large catalogue that a request may be about."""

from __future__ import annotations

import math
from collections import Counter

from hvr.tools.catalogue.schema import Catalogue, ToolSchema
from hvr.tools.navigation.words.stems import stems_of
from hvr.tools.navigation.words.verbs import alike, verbs_of


def likely_tools(text: str, catalogue: Catalogue, most: int) -> tuple[ToolSchema, ...]:
    """Return the tools that share most words with a request, in the order of the catalogue.

    A word counts the more the fewer tools have it, and one in a tool's name counts twice. A verb
    that asks for the same kind of action counts as a word of the name.

    Args:
        text: The request.
        catalogue: The tools.
        most: The number of tools to return at most.
    """
    tools = catalogue.tools
    if len(tools) <= most:
        return tools
    words = stems_of(text)
    names = [stems_of(tool.name) for tool in tools]
    texts = [stems_of(f"{tool.name} {tool.description}") for tool in tools]
    counts = Counter(word for own in texts for word in own)
    weights = {word: math.log(1 + len(tools) / counts[word]) for word in words if counts[word]}

    def score(index: int) -> float:
        shared = sum(weights[word] for word in words & texts[index])
        named = sum(weights[word] for word in words & names[index])
        verb = verbs_of(tools[index])[:1]
        acts = any(alike(word, own) for word in words for own in verb)
        return shared + named + acts

    best = sorted(range(len(tools)), key=lambda index: -score(index))[:most]
    return tuple(tools[index] for index in sorted(best))
