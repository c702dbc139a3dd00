"""The choice of the tool that a clause asks for, by verb, nouns, values and similarity of texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hvr.tools.catalogue.schema import Catalogue, Effect, ToolSchema, own_descriptions
from hvr.tools.navigation.words.arguments import ReadCall, RequestContext, read_call, switches
from hvr.tools.navigation.words.clauses import Mood, RequestClause
from hvr.tools.navigation.words.english import PHRASAL, PRONOUNS, RESTRICTIONS, stem, words_in
from hvr.tools.navigation.words.lexer import Token, ValueForm, written
from hvr.tools.navigation.words.vocabulary import (
    SIMILAR_VERB,
    CatalogueVocabulary,
    action_match,
    are_similar_verbs,
    is_content,
    is_known,
    only_reads,
    verbs_of,
)

Encoder = Callable[[Sequence[str]], Any]
"""Encodes texts as unit vectors of shape (texts, dimension)."""

MIN_COSINE = 0.3
"""Minimum cosine at which a clause and a description count as related."""


@dataclass(frozen=True)
class ToolEvidence:
    """Evidence that a clause asks for a tool; scores are from 0 to 1, but `fit` is up to 2.5.

    Args:
        call: Call that the clause states.
        verb: Match between the clause's verb and the tool's action.
        nouns: Share of the clause's words that are among the tool's words.
        name: Share of the tool's name that the clause covers.
        meaning: Similarity between the clause and the tool's description.
        fit: Twice the share of the clause's values that the tool takes, plus half the share of the
            tool's required parameters that have a value.
    """

    call: ReadCall
    verb: float
    nouns: float
    name: float
    meaning: float
    fit: float

    @property
    def tool(self) -> ToolSchema:
        return self.call.tool

    @property
    def score(self) -> float:
        return self.verb + self.nouns + self.name + self.meaning + self.fit


QUESTION_SCORE = 0.4
"""Minimum verb score at which a question may use a read-only tool."""

_DESCRIBED = 0.7
"""Weight of a word in a tool's description."""

_SHOW = stem("get")
_SWITCHING = frozenset(map(stem, ("enable", "disable", "turn", "switch")))
_GENERAL = frozenset(
    map(stem, ("get", "show", "tell", "give", "see", "display", "view", "provide"))
)


@dataclass(frozen=True)
class ClauseVerb:
    """The verb of a clause.

    Args:
        stem: Stem of the verb; empty if no verb asks for an action.
        places: Positions of the words that make up the verb.
        nouns: Nouns derived from a phrasal verb, such as "pickup" from "pick up".
    """

    stem: str
    places: frozenset[int]
    nouns: frozenset[str] = frozenset()


def verb_of(clause: RequestClause) -> ClauseVerb:
    tokens = clause.tokens
    if clause.mood not in (Mood.ORDER, Mood.CONDITIONAL):
        return ClauseVerb("", frozenset())
    words = [token.lower for token in tokens]
    if "be" in words[1:-1] and words[0] not in PHRASAL:
        at = words.index("be") + 1
        return ClauseVerb(stem(words[at]), frozenset([tokens[at].start]))
    if not tokens[0].is_word:
        return ClauseVerb("", frozenset())
    if words[0] == "tell" and len(tokens) > 1 and tokens[1].span is not None:
        # "Tell Ann that …" sends a message; "tell me" only asks.
        return ClauseVerb(stem("notify"), frozenset([tokens[0].start]))
    two = PHRASAL.get(" ".join(words[:2]), "") if len(words) > 1 else ""
    if two:
        nouns = frozenset(map(stem, [*words[:2], "".join(words[:2])])) - {"up", "to"}
        return ClauseVerb(stem(two), frozenset(token.start for token in tokens[:2]), nouns)
    # "Turn the lights off": the particle follows the object.
    particles = [t for t in tokens[2:] if t.lower in ("off", "on", "out", "up", "down", "back")]
    for token in particles[-1:]:
        if apart := PHRASAL.get(f"{words[0]} {token.lower}", ""):
            return ClauseVerb(stem(apart), frozenset([tokens[0].start, token.start]))
    return ClauseVerb(stem(words[0]), frozenset([tokens[0].start]))


class ToolChooser:
    """Ranks the tools of a catalogue by how likely a clause asks for them."""

    def __init__(self, catalogue: Catalogue, encode: Encoder) -> None:
        # A prefix that all descriptions share does not distinguish tools.
        own = own_descriptions([tool.description for tool in catalogue.tools])
        described = zip(catalogue.tools, own, strict=True)
        self._tools = tuple(replace(tool, description=said) for tool, said in described)
        self.vocabulary = CatalogueVocabulary(Catalogue(self._tools))
        self._encode = encode
        texts = [_text(tool) for tool in self._tools]
        self._vectors = encode(texts) if texts else None

    def rank(
        self, clause: RequestClause, verb: ClauseVerb, context: RequestContext
    ) -> list[ToolEvidence]:
        if self._vectors is None:
            return []
        asks = clause.mood is Mood.QUESTION
        reads = asks or only_reads(verb.stem)
        about = context.about if any(t.lower in PRONOUNS for t in clause.tokens) else ()
        cosines = self._vectors @ self._encode([_shown((*about, *clause.tokens))])[0]
        found = []
        for tool, cosine in zip(self._tools, cosines, strict=True):
            if tool.effect is not Effect.READS and (
                asks or (reads and action_match(tool, verb.stem) < SIMILAR_VERB)
            ):
                continue
            found.append(self._evidence(tool, clause, verb, float(cosine), context, reads=reads))
        if verb.stem and all(one.verb < SIMILAR_VERB for one in found):
            # "Clean the room" asks for `request_cleaning`, the only tool with this word.
            own = self.vocabulary.of
            weights = [(own[one.tool.name].weight(verb.stem), one) for one in found]
            most = max((weight for weight, _ in weights), default=0.0)
            named = [one for weight, one in weights if weight == most >= _DESCRIBED]
            found = [replace(one, verb=SIMILAR_VERB) if [one] == named else one for one in found]
        return sorted(found, key=lambda one: -one.score)

    def _negated(self, nouns: frozenset[str], clause: RequestClause) -> frozenset[str]:
        """Replace words such as "not staged" by "unstaged" if a tool uses the latter."""
        words = [token.lower for token in clause.tokens]
        for index, word in enumerate(words):
            opposite = stem(f"un{word}") if word else ""
            before = words[max(0, index - 2) : index]
            if opposite in self.vocabulary.all and any(
                one == "not" or one.endswith("n't") for one in before
            ):
                nouns = (nouns - {stem(word)}) | {opposite}
        return nouns

    def _evidence(
        self,
        tool: ToolSchema,
        clause: RequestClause,
        verb: ClauseVerb,
        cosine: float,
        context: RequestContext,
        *,
        reads: bool,
    ) -> ToolEvidence:
        words = self.vocabulary.of[tool.name]
        call = read_call(tool, words, clause, verb.stem, context)
        nouns = content_of(clause.tokens, verb.places) | verb.nouns | _asked_for(clause)
        nouns = self._negated(nouns, clause)
        if any(token.lower in PRONOUNS for token in clause.tokens):
            nouns |= content_of(context.about, ()) & self.vocabulary.all
        nouns -= {stem(t.lower) for t in clause.tokens if t.start in call.used} - words.all
        said = action_match(tool, verb.stem) if verb.stem else 0.0
        if verb.stem in _SWITCHING and switches(call):
            said = max(said, SIMILAR_VERB)
        if verb.nouns & words.name and tool.effect is not Effect.READS:
            said = max(said, SIMILAR_VERB)
        if verb.stem in _GENERAL:
            said = min(said, SIMILAR_VERB)  # any read-only tool can "show" something
        shows = not verb.stem or not is_known(verb.stem) or are_similar_verbs(verb.stem, _SHOW)
        if reads and shows and tool.effect is Effect.READS:
            # A question asks to be shown something, whatever its words.
            said = max(said, min(SIMILAR_VERB, action_match(tool, _SHOW)), QUESTION_SCORE)
        own = frozenset(verbs_of(tool)[:1]) if said >= SIMILAR_VERB else frozenset()
        return ToolEvidence(
            call,
            said,
            self.vocabulary.precision(tool.name, nouns),
            self.vocabulary.recall(tool.name, nouns | {verb.stem}, own),
            max(0.0, cosine),
            _fit(call, clause),
        )


_INSIDE = re.compile(r"what(?:'s| is| are|'re) (?:in|inside|written in) \N{WHITE SQUARE}")


def _asked_for(clause: RequestClause) -> frozenset[str]:
    return frozenset([stem("content")]) if _INSIDE.match(written(clause.tokens)) else frozenset()


def content_of(tokens: Sequence[Token], verb: Collection[int]) -> frozenset[str]:
    return frozenset(
        stem(token.lower)
        for token in tokens
        if is_content(token) and token.start not in verb and token.lower not in RESTRICTIONS
    )


def _fit(call: ReadCall, clause: RequestClause) -> float:
    spans = clause.spans
    taken = sum(call.quality.get(s.start, float(s.start in call.used)) for s in spans)
    taken = taken / len(spans) if spans else 1.0
    needed = [p for p in call.tool.takes if p.required]
    loose = sum(value.form == ValueForm.PHRASE for value in call.values) / 2
    filled = sum(p.name in call.arguments for p in needed) - loose
    filled = filled / len(needed) if needed else 1.0
    return 2 * taken + filled / 2


def _text(tool: ToolSchema) -> str:
    return f"{' '.join(words_in(tool.name))}. {tool.description}"[:400]


_STAND_INS = {
    ValueForm.EMAIL: "an e-mail address",
    ValueForm.URL: "a URL",
    ValueForm.PATH: "a file",
    ValueForm.ID: "a number",
    ValueForm.PHONE: "a phone number",
}


def _shown(tokens: Iterable[Token]) -> str:
    return " ".join(
        _STAND_INS.get(token.span.form, token.text) if token.span is not None else token.text
        for token in tokens
    )
