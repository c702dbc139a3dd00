"""The words and verbs of tools, and the tools that share words with a request."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from hvr.tools.catalogue.schema import Catalogue, Effect, ToolSchema
from hvr.tools.navigation.words.english import (
    ACTIONS,
    ADVERBS,
    AUXILIARIES,
    COURTESY,
    DETERMINERS,
    NAMED,
    PHRASAL,
    PREPOSITIONS,
    PRONOUNS,
    QUESTION_WORDS,
    RESTRICTIONS,
    SENSES,
    SUBJECTS,
    stem,
    stems_of,
    words_in,
)
from hvr.tools.navigation.words.lexer import Token

# Vocabulary ---------------------------------------------------------------------------------------

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
"""Words that carry no information about an action or its object."""

_QUESTIONS = QUESTION_WORDS - {"where", "when", "who"}


def is_content(token: Token) -> bool:
    word = token.lower.removesuffix("'s")
    return token.is_word and word not in FUNCTION_WORDS and word not in _QUESTIONS


_IDS = ("id", "number", "key", "code")
_SENSES = {stem(word): tuple(map(stem, senses)) for word, senses in SENSES.items()}


@dataclass(frozen=True)
class ToolVocabulary:
    """The word stems of a tool.

    Args:
        name: Stems in the tool's name.
        described: Stems in its description.
        taken: Stems in the names, descriptions and choices of the tool's parameters.
        given: Stems in the names of its results.
        around: Stems of all tools in its catalogue.
        things: First words of parameters such as `order_id` in its catalogue.
    """

    name: frozenset[str]
    described: frozenset[str]
    taken: frozenset[str]
    given: frozenset[str]
    around: frozenset[str] = frozenset()
    things: frozenset[str] = frozenset()

    @property
    def all(self) -> frozenset[str]:
        return self.name | self.described | self.taken | self.given

    def weight(self, word: str) -> float:
        """Return how strongly a stem, or a noun that it implies, indicates the tool: 0 to 1."""
        return max(map(self._weight, (word, *_SENSES.get(word, ()))))

    def _weight(self, word: str) -> float:
        if word in self.name:
            return 1.0
        return 0.7 if word in self.described else 0.5 if word in self.taken | self.given else 0.0

    def has(self, word: str) -> bool:
        """Return whether a stem, or a noun that it implies, is among the tool's words."""
        return self.weight(word) > 0


class CatalogueVocabulary:
    """The words of the tools in a catalogue, weighted by rarity."""

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
        """Return the log inverse frequency of a stem among the tools; an unknown stem is rarest."""
        return self._rarity.get(word, self._unknown)

    def precision(self, tool: str, words: Iterable[str]) -> float:
        """Return the share of the given stems that indicate a tool, weighted by rarity."""
        own, words = self.of[tool], frozenset(words)
        whole = sum(map(self.rarity, words))
        return sum(own.weight(w) * self.rarity(w) for w in words) / whole if whole else 0.0

    def recall(self, tool: str, words: Iterable[str], apart: Iterable[str] = ()) -> float:
        """Return the share of a tool's name that the given stems cover, weighted by rarity.

        The stems in `apart` are not expected, since other words of the request express them. A name
        that has no other stems counts as covered.
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
        _content(tool.name), _content(tool.description), _content(" ".join(taken)), _content(given)
    )


def _content(text: str) -> frozenset[str]:
    plain = FUNCTION_WORDS - ADVERBS - COURTESY
    return frozenset(stem(word) for word in words_in(text) if word not in plain)


# Verbs --------------------------------------------------------------------------------------------

_GROUPS = tuple(frozenset(stem(verb) for verb in group) for group in ACTIONS)
_KNOWN = frozenset().union(*_GROUPS)

SAME_VERB = 1.0
"""Score of a verb that is the tool's own verb."""
SIMILAR_VERB = 0.7
"""Score of a verb for a similar action."""


def _verb(words: list[str]) -> str:
    return stem(PHRASAL.get(" ".join(words), words[0]))


@lru_cache(maxsize=10_000)
def verbs_of(tool: ToolSchema) -> tuple[str, ...]:
    names, words = words_in(tool.name), words_in(tool.description)
    described = {stem(word) for word in words[:1]}
    # In "renew_loan: Renew a loan.", "renew" is the verb and "loan" is not.
    known = (
        [word for word in names if stem(word) in described]
        or [word for word in names if stem(word) in _KNOWN]
        or names
    )
    at = names.index(known[0]) if known else 0
    in_name = [_verb(names[at : at + 2])] if names else []
    said = [_verb(words[:2])] if words else []
    said += [stem(word) for word in words[2:3] if words[1] in ("or", "and")]
    return tuple(dict.fromkeys([*in_name[:1], *said]))


_NOUN_OF_VERB = re.compile(r"\b[a-z]+(?:ing|-(?:up|out|in|off))\b")


def verbs_of_tools(catalogue: Catalogue) -> frozenset[str]:
    """Return the stems of the tools' verbs, even in nouns: "clean" in `request_cleaning`."""
    found = {verb for tool in catalogue.tools for verb in verbs_of(tool)}
    for tool in catalogue.tools:
        text = f"{tool.name.replace('_', ' ')} {tool.description.lower()}"
        found |= {stem(one[0].partition("-")[0]) for one in _NOUN_OF_VERB.finditer(text)}
    return frozenset(found)


def action_match(tool: ToolSchema, verb: str) -> float:
    """Return how well a verb describes a tool's action: `SAME_VERB`, `SIMILAR_VERB` or 0."""
    own = verbs_of(tool)
    if verb in own[:1]:
        return SAME_VERB
    # "git_diff_staged" does not stage anything.
    name = [stem(word) for word in words_in(tool.name) if not word.endswith("ed")]
    # A read-only tool may be named after its result: get_sum adds.
    others = (*own, *name) if tool.effect is Effect.READS else own
    return SIMILAR_VERB if any(are_similar_verbs(verb, one) for one in others) else 0.0


def are_similar_verbs(one: str, other: str) -> bool:
    return one == other or any(one in group and other in group for group in _GROUPS)


_READING = frozenset(verb for group in _GROUPS[:9] for verb in group) - frozenset(
    verb for group in _GROUPS[9:] for verb in group if verb not in ("show", "list")
)


def only_reads(verb: str) -> bool:
    return verb in _READING


def is_known(verb: str) -> bool:
    return verb in _KNOWN


# Shortlist ----------------------------------------------------------------------------------------


def likely_tools(text: str, catalogue: Catalogue, most: int) -> tuple[ToolSchema, ...]:
    """Return the `most` tools that best match a request, in the order of the catalogue.

    The fewer tools share a word, the more it counts. A word in a tool's name counts twice, and
    so does a verb for a similar action.
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
        acts = any(are_similar_verbs(word, own) for word in words for own in verb)
        return shared + named + acts

    best = sorted(range(len(tools)), key=lambda index: -score(index))[:most]
    return tuple(tools[index] for index in sorted(best))
