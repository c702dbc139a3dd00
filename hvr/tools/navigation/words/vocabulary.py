"""The words of each tool, and what the words of a request are worth among them."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from hvr.tools.catalogue.schema import Catalogue, ToolSchema
from hvr.tools.navigation.words.english import (
    ADVERBS,
    AUXILIARIES,
    COURTESY,
    DETERMINERS,
    NAMED,
    PREPOSITIONS,
    PRONOUNS,
    QUESTION_WORDS,
    RESTRICTIONS,
    SENSES,
    SUBJECTS,
)
from hvr.tools.navigation.words.stems import stem, words_in
from hvr.tools.navigation.words.tokens import Token

_JOINERS = frozenset(["and", "or", "then", "than", "etc", "so", "if", "as", "while", "please"])
FUNCTION_WORDS = (
    ADVERBS
    | AUXILIARIES
    | COURTESY
    | DETERMINERS
    | PREPOSITIONS
    | PRONOUNS
    | SUBJECTS
    | _JOINERS
    | frozenset(NAMED)
) - RESTRICTIONS
"""Words that say nothing of what is done, and to what."""

_QUESTIONS = QUESTION_WORDS - {"where", "when", "who"}


def is_content(token: Token) -> bool:
    """Return whether a token is a word with a meaning of its own."""
    word = token.lower.removesuffix("'s")
    return token.is_word and word not in FUNCTION_WORDS and word not in _QUESTIONS


_IDS = ("id", "number", "key", "code")
_SENSES = {stem(word): tuple(map(stem, senses)) for word, senses in SENSES.items()}


@dataclass(frozen=True)
class ToolVocabulary:
    """The stems of the words of a tool.

    Args:
        name: Those of its name.
        described: Those of its description.
        taken: Those of the names, descriptions and choices of its parameters.
        given: Those of the names of its results.
        around: Those of all tools of its catalogue.
        things: The first words of the names of ids in its catalogue.
    """

    name: frozenset[str]
    described: frozenset[str]
    taken: frozenset[str]
    given: frozenset[str]
    around: frozenset[str] = frozenset()
    things: frozenset[str] = frozenset()

    @property
    def all(self) -> frozenset[str]:
        """All of them."""
        return self.name | self.described | self.taken | self.given

    def weight(self, word: str) -> float:
        """Return how much a stem, or one that it stands for, tells that this tool is meant."""
        return max(map(self._weight, (word, *_SENSES.get(word, ()))))

    def _weight(self, word: str) -> float:
        if word in self.name:
            return 1.0
        return 0.7 if word in self.described else 0.5 if word in self.taken | self.given else 0.0

    def has(self, word: str) -> bool:
        """Return whether the tool has a stem, or one that it stands for."""
        return self.weight(word) > 0


class CatalogueVocabulary:
    """The words of a catalogue.

    Args:
        catalogue: The tools.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        own = {tool.name: _words(tool) for tool in catalogue.tools}
        around = frozenset(word for words in own.values() for word in words.all)
        names = (words_in(p.name) for tool in catalogue.tools for p in tool.takes)
        things = frozenset(name[0] for name in names if name[1:] and name[-1] in _IDS)
        self.of: Mapping[str, ToolVocabulary] = {
            name: replace(words, around=around, things=things) for name, words in own.items()
        }
        counts = Counter(word for words in self.of.values() for word in words.all)
        self._rarity = {w: math.log(1 + len(self.of) / n) for w, n in counts.items()}
        self._unknown = math.log(1 + len(self.of))
        self.all = around

    def rarity(self, word: str) -> float:
        """Return how rare a stem is among the tools; a stem that no tool has is rarest."""
        return self._rarity.get(word, self._unknown)

    def precision(self, tool: str, words: Iterable[str]) -> float:
        """Return the share of some stems that a tool has, the rare ones counting more."""
        own, words = self.of[tool], frozenset(words)
        whole = sum(map(self.rarity, words))
        return sum(own.weight(w) * self.rarity(w) for w in words) / whole if whole else 0.0

    def recall(self, tool: str, words: Iterable[str], apart: Iterable[str] = ()) -> float:
        """Return the share of a tool's name that some stems have, the rare ones counting more.

        Args:
            tool: The name of the tool.
            words: The stems.
            apart: Stems of the name that do not count, since others say the same.
        """
        words = frozenset(words)
        name = self.of[tool].name - frozenset(apart)
        whole = sum(map(self.rarity, name))
        return sum(self.rarity(w) for w in name & words) / whole if whole else 1.0


def _words(tool: ToolSchema) -> ToolVocabulary:
    taken = [
        f"{p.name} {p.description} {' '.join(str(json.loads(c)) for c in p.choices)}"
        for p in tool.takes
    ]
    given = " ".join(one.leaf for one in tool.gives)
    return ToolVocabulary(
        _content(tool.name),
        _content(tool.description),
        _content(" ".join(taken)),
        _content(given),
    )


def _content(text: str) -> frozenset[str]:
    plain = FUNCTION_WORDS - ADVERBS - COURTESY
    return frozenset(stem(word) for word in words_in(text) if word not in plain)
