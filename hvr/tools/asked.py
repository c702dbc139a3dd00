"""Which tools a request speaks of, by the words of their names and descriptions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_WORD = re.compile(r"[a-z]+")
_ENDINGS = ("ations", "ation", "ings", "ing", "ions", "ion", "ies", "ers", "er", "es", "ed", "s",
            "e", "y")  # fmt: skip
_SHORTEST = 3
_EMPTY = frozenset(
    """
    a an the of to in on at by for from with and or not is are be been was were it its this that
    these those as if then than into out up down over per via any all each every some no only also
    can could will would should may must do does did done has have had i me my you your he she his
    her they them their we our us who whom whose which what when where why how there here get gets
    set use used using user users tool tools function call calls return returns returned given based
    provide provided provides following such new one two other system description
    """.split()  # noqa: SIM905
)
"""Words that say nothing of what a tool is for."""


def stems(text: str) -> frozenset[str]:
    """Return the stems of the telling words of a text; identifiers are taken apart."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return frozenset(
        _stem(word) for word in _WORD.findall(apart.lower()) if word not in _EMPTY and len(word) > 1
    )


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word.removesuffix(ending)
    return word


class ToolWords:
    """The words that tell the tools of a catalogue apart.

    Args:
        tools: Names and descriptions.
    """

    def __init__(self, tools: Iterable[tuple[str, str]]) -> None:
        listed = list(tools)
        self._names = {name: stems(name) for name, _ in listed}
        texts = {name: stems(f"{name} {text}") for name, text in listed}
        counts = Counter(stem for some in texts.values() for stem in some)
        most = max(1, len(listed) // 10)
        self._telling = {
            name: frozenset(stem for stem in some if counts[stem] <= most)
            for name, some in texts.items()
        }

    def speaks_of(self, request: frozenset[str], tool: str) -> bool:
        """Return whether a request has half the words of a tool's name, or a telling one.

        Args:
            request: Stems of the request.
            tool: Name of the tool.
        """
        name = self._names.get(tool, stems(tool))
        if name and 2 * len(name & request) >= len(name):
            return True
        return bool(self._telling.get(tool, frozenset()) & request)
