"""What a request in words asks of tools, without a language model: which tools, which values.

A tool is wanted by a sentence that is more like its description, or like a request that it served
before, than like those of the others; where two are nearly as likely, nothing is guessed. A value
is what has the form of values seen before under a meaning: the choices of a schema, examples in
its descriptions, values of other requests. Where several have it, none is taken.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hvr.calling.values import Json
from hvr.navigation.asked import ToolErrand
from hvr.navigation.naming import words_of
from hvr.navigation.turns.turn import sentences
from hvr.tools.catalogue.merging import ParameterMeaning
from hvr.tools.catalogue.schema import Catalogue, ToolParameter, ToolSchema, quoted

CLEAR = 1.25
"""How many times likelier than the next the tool of a sentence has to be."""

LEAST = 0.12
"""What a sentence has to have in common with a tool for it to be wanted."""

Encoder = Callable[[Sequence[str]], Any]
"""Texts to vectors of length 1 (texts, dimension)."""


@dataclass(frozen=True)
class ServedRequest:
    """A request of which it is known what it wants.

    Args:
        text: in words.
        done: tools that it wants called.
        known: meanings that it wants known.
        values: what it says, by parameter or meaning.
    """

    text: str
    done: tuple[str, ...]
    known: tuple[str, ...]
    values: Mapping[str, Json]


@dataclass(frozen=True)
class WordReading:
    """What was read.

    Args:
        errand: what is wanted; None if that is not clear.
        why: a sentence for people: what was read, or between what the user is to choose.
        tools: those that came into question, the likeliest first.
    """

    errand: ToolErrand | None
    why: str
    tools: tuple[str, ...] = ()


def read_request(
    text: str,
    catalogue: Catalogue,
    meanings: Sequence[ParameterMeaning],
    served: Sequence[ServedRequest],
    encode: Encoder,
) -> WordReading:
    """Return what a request wants and says.

    Args:
        text: the request.
        catalogue: the tools.
        meanings: of their parameters.
        served: other requests of this world.
        encode: texts to vectors.
    """
    likely = _Likely(catalogue, served, encode)
    done: list[str] = []
    known: list[str] = []
    for sentence in sentences(text):
        ranked = likely.ranked(sentence)
        if not ranked or ranked[0][0] < LEAST:
            continue
        near = [name for score, name in ranked if score * CLEAR > ranked[0][0]]
        if len(near) > 1:
            if done or len(sentences(text)) > 1:
                continue  # another sentence may say it
            return _unclear(near)
        done.append(near[0])
        known += likely.known.get(near[0], ())
    if not done:
        ranked = likely.ranked(text)
        near = [name for score, name in ranked if score * CLEAR > ranked[0][0]]
        if not ranked or len(near) > 1 or ranked[0][0] < LEAST:
            return _unclear([name for _, name in ranked[:3]])
        done, known = [near[0]], list(likely.known.get(near[0], ()))
    values = said_values(text, catalogue, meanings, served)
    wanted = tuple(dict.fromkeys(done))
    said = ", ".join(f"{name} = {json.dumps(v, ensure_ascii=False)}" for name, v in values.items())
    why = f"The request is read as: {', '.join(map(quoted, wanted))}" + (f" with {said}" if said
          else "")  # fmt: skip
    return WordReading(ToolErrand(wanted, tuple(dict.fromkeys(known)), values, text), f"{why}.",
                       wanted)  # fmt: skip


def said_values(
    text: str,
    catalogue: Catalogue,
    meanings: Sequence[ParameterMeaning],
    served: Iterable[ServedRequest] = (),
) -> dict[str, Json]:
    """Return the values that a text says, by meaning; none where several could be meant."""
    schemas = {tool.name: tool for tool in catalogue.tools}
    seen: dict[str, list[Json]] = {}
    for one in served:
        for name, value in one.values.items():
            seen.setdefault(name, []).append(value)
    found: dict[str, Json] = {}
    for meaning in meanings:
        taken = [slot for slot in meaning.slots if not slot.gives]
        parameters = [p for s in taken for p in schemas[s.tool].takes if p.name == s.name]
        if not parameters:
            continue
        names = {meaning.name, *(parameter.name for parameter in parameters)}
        before = [value for name in names for value in seen.get(name, ())]
        said = {json.dumps(v): v for v in _said(text, parameters, before)}
        if len(said) == 1:
            found[meaning.name] = next(iter(said.values()))
    return found


def _said(text: str, parameters: Sequence[ToolParameter], before: Sequence[Json]) -> Iterator[Json]:
    """Give what of a text can be a value of some parameters of one meaning."""
    for choice in {choice for parameter in parameters for choice in parameter.choices}:
        value = json.loads(choice)
        if isinstance(value, str) and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.I):
            yield value
    if any(parameter.choices for parameter in parameters):
        return
    examples = [value for value in before if isinstance(value, str)]
    for value in examples:
        if re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.I):
            yield value
    for parameter in parameters:
        examples += _QUOTED.findall(parameter.description)
        if "email" in words_of(parameter.name) or {"e", "mail"} <= words_of(parameter.name):
            examples.append("a@b.org")
    for form in {_form(example) for example in examples if _telling(example)}:
        yield from (match.group().rstrip(".,;:!?") for match in re.finditer(form, text))


_QUOTED = re.compile(r"'([^']{2,60})'")
_PARTS = re.compile(r"[A-Za-z]+|\d+|.", re.DOTALL)


def _telling(example: str) -> bool:
    """Say whether the form of an example tells it from words: it has a digit, or a sign in it."""
    return " " not in example.strip() and bool(re.search(r"\d|\w[@#/_-]\w|^#", example))


def _form(example: str) -> str:
    """Return a pattern of texts written like an example: digits as digits, letters as letters."""
    parts = []
    mail = "@" in example
    for part in [] if mail else _PARTS.findall(example):
        if part.isdigit():
            parts.append(rf"\d{{{len(part)}}}" if len(part) > 1 else r"\d+")
        elif part.isalpha():
            parts.append(r"[A-Z]+" if part.isupper() else r"[A-Za-z]+")
        else:
            parts.append(re.escape(part))
    body = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+" if mail else "".join(parts)
    return rf"(?<![\w#@-]){body}(?![\w@-])"


class _Likely:
    """How likely a sentence wants each tool: common words by their weight, and vectors."""

    def __init__(
        self, catalogue: Catalogue, served: Sequence[ServedRequest], encode: Encoder
    ) -> None:
        self._tools = catalogue.tools
        self.known: dict[str, tuple[str, ...]] = {}
        texts: dict[str, list[str]] = {tool.name: [_text(tool)] for tool in self._tools}
        for one in served:
            for name in one.done:
                texts.get(name, []).append(one.text)
                if len(one.done) == 1 and one.known:
                    self.known[name] = one.known
        self._rows = [(name, text) for name, some in texts.items() for text in some]
        self._stems = [_stems(text) for _, text in self._rows]
        counts = Counter(stem for stems in self._stems for stem in stems)
        self._weight = {s: math.log(1 + len(self._rows) / n) for s, n in counts.items()}
        self._encode = encode
        self._vectors = encode([text for _, text in self._rows]) if self._rows else None

    def ranked(self, sentence: str) -> list[tuple[float, str]]:
        """Return the tools with their scores, the likeliest first."""
        if self._vectors is None:
            return []
        said = _stems(sentence)
        alike = self._vectors @ self._encode([sentence])[0]
        whole = sum(self._weight.get(stem, 1.0) for stem in said) or 1.0
        best: dict[str, float] = {}
        for (name, _), stems, cosine in zip(self._rows, self._stems, alike, strict=True):
            common = sum(self._weight[stem] for stem in said & stems) / whole
            best[name] = max(best.get(name, 0.0), 0.5 * common + 0.5 * max(0.0, float(cosine)))
        return sorted(((score, name) for name, score in best.items()), reverse=True)


def _text(tool: ToolSchema) -> str:
    return f"{tool.name.replace('_', ' ')}. {tool.description}"


_WORDS = """the and for with this that from your you could please can want would like have has are
was what which where when who how its his her their our not any more does did will been into out
off than then them they there here just also very"""
_COMMON = frozenset(_WORDS.split())


def _stems(text: str) -> frozenset[str]:
    words = re.findall(r"[A-Za-z]+", text.lower())
    return frozenset(word[:5] for word in words if len(word) > 2 and word not in _COMMON)


def _unclear(names: Sequence[str]) -> WordReading:
    listed = ", ".join(map(quoted, names))
    why = f"What the request wants is not clear (nearest: {listed}): say it with --goal."
    return WordReading(None, why, tuple(names))
