"""References of clauses to entities without an id: all of them, the first, the cheapest."""

from __future__ import annotations

from dataclasses import dataclass

from hvr.tools.catalogue.schema import Catalogue, ToolParameter
from hvr.tools.navigation.known_values import leaf_of
from hvr.tools.navigation.request import EntityQuery, Order, Selection
from hvr.tools.navigation.words.clauses import RequestClause
from hvr.tools.navigation.words.english import (
    DETERMINERS,
    ORDINALS,
    PRONOUNS,
    SUPERLATIVES,
    stem,
    stems_of,
)
from hvr.tools.navigation.words.lexer import Token
from hvr.tools.navigation.words.vocabulary import is_content

_EVERY = frozenset(["all", "every", "each", "both"])
_BARE = frozenset(map(stem, ("id", "number", "key", "code", "name", "reference")))


@dataclass(frozen=True)
class Reference:
    """A reference to an entity.

    Args:
        used: Positions of the words that make up the reference.
        unknown: Superlative that matches no known property; otherwise empty.
    """

    query: EntityQuery
    used: frozenset[int] = frozenset()
    unknown: str = ""


def reference_of(
    clause: RequestClause, parameter: ToolParameter, catalogue: Catalogue
) -> Reference:
    """Return how a clause selects the entity of a parameter, as in "every order", "the last order".

    A clause without such words gives a query without conditions.
    """
    nouns = stems_of(parameter.name) - _BARE
    tokens = clause.tokens
    heads = [i for i, token in enumerate(tokens) if token.is_word and stem(token.lower) in nouns]
    for index, token in enumerate(tokens):
        word = token.lower
        # "The last line of the file" does not mean the last file.
        near = [
            h
            for h in heads
            if 0 < h - index <= 4 and not any(t.lower == "of" for t in tokens[index + 2 : h])
        ]
        if not near:
            continue
        if word in _EVERY:
            return Reference(EntityQuery(every=True), frozenset([token.start]))
        if word in SUPERLATIVES or (word.endswith("est") and word not in ("latest", "request")):
            return _superlative(token, catalogue)
        ordered = index and tokens[index - 1].lower in DETERMINERS
        if word in ORDINALS and ordered:
            selection = Selection(Order.LISTED, position=ORDINALS[word])
            return Reference(EntityQuery(selection=selection), frozenset([token.start]))
    return Reference(EntityQuery())


def _superlative(token: Token, catalogue: Catalogue) -> Reference:
    order, names = SUPERLATIVES.get(token.lower, ("", ()))
    properties = {
        leaf_of(one.name).replace("[]", "") for tool in catalogue.tools for one in tool.gives
    }
    by = [one for name in names for one in sorted(properties) if stem(name) in stems_of(one)]
    used = frozenset([token.start])
    if not by:
        return Reference(EntityQuery(), used, token.text)
    selection = Selection(Order(order), by[0])
    return Reference(EntityQuery(selection=selection), used)


def refers_back(clause: RequestClause, parameter: ToolParameter) -> bool:
    """Return whether a clause refers to an entity mentioned earlier: "it", "the parcel"."""
    nouns = stems_of(parameter.name) - _BARE
    tokens = clause.tokens
    for index, token in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        alone = following is None or not following.is_word or not is_content(following)
        if token.lower in PRONOUNS and alone:
            return True
        definite = token.lower in ("the", "this", "that", "these", "those", "its", "their")
        if definite and following is not None and stem(following.lower) in nouns:
            return True
    return False
