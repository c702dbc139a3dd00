"""Turns of dialogues, and features of the requests and tools in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hvr.base.registry import load
from hvr.base.texts import read_json_lines
from hvr.errors import DataFileError
from hvr.tools.catalogue.formats import read_tool
from hvr.tools.catalogue.schema import ToolParameter, ToolSchema, own_descriptions, quoted
from hvr.tools.navigation.chains import NextMove

# Turns --------------------------------------------------------------------------------------------
# Turns of a dialogue, and the decisions made in them.


MOVES = (NextMove.CALL, NextMove.FIND, NextMove.ASK, NextMove.ANSWER)
"""The moves to choose from."""

_ENDS = re.compile(r"(?<=[.!?])\s+|;\s+|,\s+(?:and|then)\s+|\s+and then\s+")


@dataclass(frozen=True)
class OfferedTool:
    """A tool in the form that is compared with requests.

    Args:
        service: Service that offers the tool; empty if unknown.
        about: Part of the description that other tools do not share; empty for the whole
            description.
    """

    schema: ToolSchema
    service: str = ""
    about: str = ""

    @property
    def text(self) -> str:
        return f"{self.schema.name.replace('_', ' ')}. {self.about or self.schema.description}"


def offered(schemas: Sequence[ToolSchema], services: Sequence[str] = ()) -> list[OfferedTool]:
    """Return the tools, each described without the sentences that many descriptions share.

    `services` gives the service of each tool; by default, no service is known.
    """
    about = own_descriptions([schema.description for schema in schemas])
    return [
        OfferedTool(schema, service, own)
        for schema, service, own in zip(
            schemas, services or [""] * len(schemas), about, strict=True
        )
    ]


@dataclass(frozen=True)
class Turn:
    """The input for predicting the next move.

    Args:
        text: User's message; empty if only the tools have changed.
        at_hand: Tools that can be called now.
        outside: Other known tools.
        earlier: User's earlier messages.
        idle: Whether the previous turn ended without a call, waiting for an answer or a tool.
    """

    text: str
    at_hand: tuple[OfferedTool, ...]
    outside: tuple[OfferedTool, ...]
    earlier: tuple[str, ...] = ()
    idle: bool = False

    @property
    def request(self) -> str:
        """The user's message; the last earlier message if only the tools have changed."""
        return self.text or (self.earlier[-1] if self.earlier else "")


@dataclass(frozen=True)
class JudgedTurn:
    """A turn with the correct next move.

    Args:
        used: Names of the tools that were called.
        dialogue: Name of the dialogue, whose turns are never split between training and evaluation.
    """

    turn: Turn
    move: NextMove
    used: frozenset[str] = frozenset()
    dialogue: str = ""


def sentences(text: str) -> list[str]:
    """Split text into sentences, and each sentence at connectives such as "then".

    Parts of at most three characters are dropped; if nothing is left, the text is the only part.
    """
    return [part for part in map(str.strip, _ENDS.split(text)) if len(part) > 3] or [text]


# Dialogues ----------------------------------------------------------------------------------------
# Files of judged dialogues, one JSON object a line:
#
# ```
# {"dialogue": "d-1", "turns": [
#   {"user": "I want to pick up a parcel", "move": "ask"},
#   {"user": "I am bob@example.org", "calls": ["find_customer", "list_parcels"]}]}
# ```
#
# `move` is call, find, ask or answer (no tool helps); a turn with `calls` is a call. `tools` lists
# the tools at hand, for a dialogue or from one turn onwards: names, or schemas of tools outside the
# catalogue. Without it, the whole catalogue is at hand. Other tools are known but not at hand.

Dialogue = Mapping[str, Any]


def read_dialogues(path: Path) -> list[Dialogue]:
    found: list[Dialogue] = []
    for number, record in read_json_lines(path, strict=False):
        if not isinstance(record, dict):
            raise DataFileError(f"{path}: line {number}: expected an object with 'turns'")
        found.append({"dialogue": f"line {number}", **record})
    if not found:
        raise DataFileError(f"{path} has no dialogues")
    return found


def judged_turns(
    record: Dialogue, tools: Mapping[str, OfferedTool], place: str
) -> list[JudgedTurn]:
    """Return the judged turns of a dialogue.

    Args:
        tools: Tools of the catalogue, by name.
        place: Source of the dialogue, for error messages.

    Raises:
        DataFileError: The dialogue is invalid, or names an unknown tool.
    """
    turns = record.get("turns")
    if not isinstance(turns, list) or not turns:
        raise DataFileError(f"{place}: 'turns' must be a non-empty list")
    known = dict(tools)
    here = _at_hand(record.get("tools"), known, place) or tuple(known)
    found: list[JudgedTurn] = []
    earlier: list[str] = []
    idle = False
    for number, said in enumerate(turns, 1):
        where = f"{place}: turn {number}"
        if not isinstance(said, dict):
            raise DataFileError(f"{where}: expected an object with 'user'")
        here = _at_hand(said.get("tools"), known, where) or here
        text, used, move = _parsed_turn(said, where)
        for name in used:
            if name not in known:
                raise DataFileError(f"{where}: no tool named {quoted(name)}")
        at_hand = tuple(known[name] for name in here)
        outside = tuple(tool for name, tool in known.items() if name not in set(here))
        turn = Turn(text, at_hand, outside, tuple(earlier), idle)
        found.append(JudgedTurn(turn, move, frozenset(used), str(record.get("dialogue", place))))
        earlier += [text] if text else []
        idle = not used
    return found


def _parsed_turn(turn: Mapping[str, Any], place: str) -> tuple[str, list[str], NextMove]:
    user, calls = turn.get("user", ""), turn.get("calls", [])
    texts = user if isinstance(user, list) else [user]
    if not all(isinstance(text, str) for text in texts):
        raise DataFileError(f"{place}: 'user' must be a string or a list of strings")
    if not isinstance(calls, list) or not all(isinstance(name, str) for name in calls):
        raise DataFileError(f"{place}: 'calls' must be a list of tool names")
    move = turn.get("move", "call" if calls else None)
    if move not in {one.value for one in MOVES} or (move != "call" and calls):
        moves = ", ".join(one.value for one in MOVES)
        raise DataFileError(
            f"{place}: 'move' must be one of {moves}, and must be 'call' if there are 'calls'"
        )
    return " ".join(texts), calls, NextMove(move)


def _at_hand(listed: Any, known: dict[str, OfferedTool], place: str) -> tuple[str, ...]:
    if listed is None:
        return ()
    if not isinstance(listed, list):
        raise DataFileError(f"{place}: 'tools' must be a list of names or schemas")
    names = []
    for entry in listed:
        if isinstance(entry, dict):
            schema = read_tool(entry, place)
            known[schema.name] = OfferedTool(schema)
            names.append(schema.name)
        elif entry in known:
            names.append(entry)
        else:
            raise DataFileError(f"{place}: no tool named {quoted(entry)}")
    return tuple(dict.fromkeys(names))


# Tool needs ---------------------------------------------------------------------------------------
# The probability that a request needs a tool, from the tool's description and the requests it
# served.

Vectors = NDArray[Any]
Encoder = Callable[[Sequence[str]], Vectors]
"""Encodes texts as unit vectors of shape (texts, dimension)."""

Chances = Callable[[Vectors], Vectors]
"""Maps the features of tools to the probabilities that they are needed."""

FEATURES = 12
NEAREST = 3
"""Number of served requests compared with a new one."""

VOTERS = 8
"""Number of nearest requests or sentences whose tools vote."""

_SHARPNESS = 10.0
"""Sharpness of votes: a vote has the weight exp(sharpness x cosine)."""

_FALSE = 25
"""Number of unused tools sampled per turn; half of them are the most similar ones."""

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_COMMON = frozenset("the and for with this that from your you could please tool user".split())


class ToolNeeds:
    """A classifier of which tools a request needs.

    A turn is never compared with other turns of its own dialogue. `seed` determines which unused
    tools are sampled for training.
    """

    def __init__(self, turns: Sequence[JudgedTurn], encode: Encoder, seed: int = 0) -> None:
        self._encode = encode
        self._seed = seed
        self._served = _Served(turns, encode)
        random = np.random.default_rng(seed)
        self._examples = [self._example(one, random) for one in turns]
        self.chances = self._fitted(self._examples)

    def held_out(self, parts: Sequence[int]) -> Mapping[int, Chances]:
        """Return a model for each fold, trained on the others; `parts` is the fold of each example.

        A model would be overconfident about its own training turns.
        """
        return {
            part: self._fitted([e for e, p in zip(self._examples, parts, strict=True) if p != part])
            for part in sorted(set(parts))
        }

    def features(self, turn: Turn, tools: Sequence[OfferedTool], dialogue: str = "") -> Vectors:
        """Return the features of each tool for a turn, shape (len(tools), 12).

        The features are similarities to the tool's texts and to requests that it served, votes of
        similar requests, and the share of the tool's words in the request. Requests of `dialogue`
        are ignored.
        """
        if not tools:
            return np.zeros((0, FEATURES))
        parts = self._encode([turn.request, *sentences(turn.request)])
        texts = self._encode([tool.text for tool in tools])
        whole, inner = texts @ parts[0], (texts @ parts[1:].T).max(axis=1)
        said = _stems(turn.request)
        columns = [
            whole,
            inner,
            inner - inner.max(),
            np.array([_shared(tool.schema.name, said) for tool in tools]),
            np.array([_shared(tool.text, said) for tool in tools]),
            *self._served.evidence(parts, [tool.schema.name for tool in tools], dialogue),
        ]
        return np.stack(columns, axis=1).astype(np.float64)

    def _example(self, one: JudgedTurn, random: np.random.Generator) -> tuple[Vectors, Vectors]:
        tools = (*one.turn.at_hand, *one.turn.outside)
        used = np.array([tool.schema.name in one.used for tool in tools], dtype=bool)
        if not used.any():
            return np.zeros((0, FEATURES)), np.zeros(0, dtype=bool)
        found = self.features(one.turn, tools, one.dialogue)
        false = np.flatnonzero(~used)
        alike = false[np.argsort(-found[false, 1])[: _FALSE // 2]]
        some = random.permutation(false)[: _FALSE // 2]
        chosen = np.unique(np.concatenate([np.flatnonzero(used), alike, some]))
        return found[chosen], used[chosen]

    def _fitted(self, examples: Sequence[tuple[Vectors, Vectors]]) -> Chances:
        ensemble = load("sklearn.ensemble", "scikit-learn", "embeddings")
        model: Any = ensemble.HistGradientBoostingClassifier(
            max_iter=120, max_leaf_nodes=15, l2_regularization=1.0, random_state=self._seed
        ).fit(np.concatenate([f for f, _ in examples]), np.concatenate([u for _, u in examples]))

        def chances(found: Vectors) -> Vectors:
            return np.asarray(model.predict_proba(found)[:, 1]) if len(found) else np.zeros(0)

        return chances


class _Served:
    def __init__(self, turns: Sequence[JudgedTurn], encode: Encoder) -> None:
        used: dict[tuple[str, str], set[str]] = {}
        for one in turns:
            used.setdefault((one.dialogue, one.turn.request), set()).update(one.used)
        parts = [sentences(request) for _, request in used]
        self._whole = encode([request for _, request in used])
        self._inner = encode([sentence for some in parts for sentence in some])
        self._first = np.cumsum([0, *(len(some) for some in parts[:-1])])
        self._owner = np.repeat(np.arange(len(parts)), [len(some) for some in parts])
        self._dialogues = np.array([dialogue for dialogue, _ in used])
        names = sorted(set().union(*used.values()))
        self._column = {name: number for number, name in enumerate(names)}
        self._used = np.zeros((len(used), len(names) + 1), dtype=bool)
        for row, some in enumerate(used.values()):
            self._used[row, [self._column[name] for name in some]] = True

    def evidence(self, parts: Vectors, names: Sequence[str], dialogue: str) -> tuple[Vectors, ...]:
        # The columns are the highest similarity to a served request and the mean of the three
        # highest, by whole request and by sentence; the number of served requests; and the tool's
        # share of the votes of the nearest requests, and of the nearest sentences for its best
        # sentence.
        allowed = self._dialogues != dialogue
        whole = np.where(allowed, self._whole @ parts[0], -np.inf)
        each = np.where(allowed[self._owner], parts[1:] @ self._inner.T, -np.inf)
        inner = np.maximum.reduceat(each.max(axis=0), self._first)
        columns = [self._column.get(name, len(self._column)) for name in names]
        served = self._used & allowed[:, None]
        by_sentence = np.max([self._votes(one, self._owner) for one in each], axis=0)
        found = (
            *_likest(whole, served),
            *_likest(inner, served),
            np.log1p(served.sum(axis=0)),
            self._votes(whole, np.arange(len(whole))),
            by_sentence,
        )
        return tuple(column[columns] for column in found)

    def _votes(self, alike: Vectors, owner: Vectors) -> Vectors:
        nearest = np.argsort(-alike)[:VOTERS]
        weights = np.exp(_SHARPNESS * alike[nearest])
        return np.asarray(weights @ self._used[owner[nearest]] / max(float(weights.sum()), 1e-12))


def _likest(alike: Vectors, served: Vectors) -> tuple[Vectors, Vectors]:
    ranked = -np.sort(-np.where(served, alike[:, None], -np.inf), axis=0)[:NEAREST]
    there = np.arange(len(ranked))[:, None] < served.sum(axis=0)
    first = np.where(there[0], ranked[0], 0.0)
    return first, np.where(there, ranked, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)


def _stems(text: str) -> frozenset[str]:
    words = (word.lower() for word in _WORDS.findall(text))
    return frozenset(word[:5] for word in words if len(word) > 2 and word not in _COMMON)


def _shared(text: str, said: frozenset[str]) -> float:
    words = _stems(text)
    return len(words & said) / len(words) if words else 0.0


# Features of requests -----------------------------------------------------------------------------
# Spans in a request that may state values of parameters, and words that leave values open.

KINDS = ("choice", "number", "switch", "file", "text", "name", "other")
"""Kinds of parameters, distinguished by the text spans that state their values."""

_QUOTED = re.compile(r"'[^']+'|\"[^\"]+\"")
_NUMBER = re.compile(
    r"\b\d[\d.,]*\b|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twenty|fifty|hundred|"
    r"thousand|half|full|double|all)\b"
)
_FILE = re.compile(r"\b\w+\.(?:txt|py|md|docx?|pdf|csv|json|xlsx|jpg|png|log|js|sh)\b")
_TAG = re.compile(r"@\w+|#\w+")
_CODE = re.compile(r"\b[A-Z]{2,}\d*\b|\b\w*\d\w*\b")
_NAME = re.compile(r"(?<=[a-z,'] )[A-Z][a-z]+")
_VAGUE = re.compile(
    r"\b(?:specific|certain|particular|someone|somebody|somewhere|something)\b", re.I
)
_INDEFINITE = re.compile(r"\b(?:a|an|some|any|another|different|friend|cousin|colleague)\b", re.I)
_POINTING = re.compile(r"\b(?:this|that|these|those|it)\b", re.IGNORECASE)
_SPANS = (_QUOTED, _NUMBER, _FILE, _TAG, _CODE, _NAME)

_FILES = ("file", "folder", "dir", "source", "destination", "path")
_TEXTS = (
    "message",
    "content",
    "comment",
    "description",
    "query",
    "title",
    "text",
    "body",
    "resolution",
)
_NAMES = ("id", "user", "receiver", "password", "token", "symbol", "stock", "card")


def kind_of(parameter: ToolParameter) -> str:
    name = parameter.name.lower()
    if parameter.choices:
        return "choice"
    if parameter.type in ("integer", "number"):
        return "number"
    if parameter.type == "boolean":
        return "switch"
    for kind, words in (("file", _FILES), ("text", _TEXTS), ("name", _NAMES)):
        if any(word in name for word in words):
            return kind
    return "other"


def required(tool: ToolSchema) -> list[int]:
    kinds = [kind_of(parameter) for parameter in tool.takes if parameter.required]
    return [kinds.count(kind) for kind in KINDS]


def spans(text: str) -> list[int]:
    """Return the numbers of quoted strings, numbers, files, tags, codes and names in a text."""
    return [len(pattern.findall(text)) for pattern in _SPANS]


def manner(text: str) -> list[int]:
    """Return the numbers of vague, indefinite, deictic and all words, and of question marks."""
    return [
        len(_VAGUE.findall(text)),
        len(_INDEFINITE.findall(text)),
        len(_POINTING.findall(text)),
        len(text.split()),
        text.count("?"),
    ]


def masked(text: str) -> str:
    """Return the text with each value replaced by the name of its kind."""
    for pattern, word in _MASKS:
        text = pattern.sub(f" {word} ", text)
    return text


_MASKS = (
    (_QUOTED, "QUOTED"),
    (_FILE, "FILE"),
    (re.compile(r"\d[\d.,]*"), "NUMBER"),
    (re.compile(r"@\w+"), "AT"),
    (re.compile(r"#\w+"), "TAG"),
    (_NAME, "NAME"),
)

_DETERMINERS = (
    frozenset({"specific", "certain", "particular", "some", "another", "different", "any"}),
    frozenset({"a", "an", "some", "any", "another", "one"}),
    frozenset({"my", "your", "their", "his", "her", "our"}),
    frozenset({"the", "that", "this", "these", "those"}),
)
"""Determiners of open, indefinite, possessed and definite nouns."""

_PEOPLE = frozenset(
    (
        "friend cousin colleague advisor brother sister companion someone teammate boss contact "
        "mother father"
    ).split()
)
_VALUE_MASKS = frozenset({"QUOTED", "FILE", "NUMBER", "AT", "TAG", "NAME", "CODE"})
_ENDING = frozenset(".,;?!") - {","}
_SHORT = re.compile(r"\b(?!(?:QUOTED|FILE|NUMBER|AT|TAG|NAME)\b)[A-Z]{2,5}\b")
_TOKEN = re.compile(r"[\w']+|[.,;?!]")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_UNINFORMATIVE = frozenset(
    (
        "name names with that from this only optional used default note list current will "
        "should string value number"
    ).split()
)

AHEAD, BEHIND = 5, 2
"""Number of words after and before a noun that may hold its value."""


def nouns(tool: ToolSchema) -> frozenset[str]:
    """Return the words, from names and descriptions, that may refer to a tool's parameters."""
    found: set[str] = set()
    for parameter in tool.takes:
        found |= {part.lower() for part in _PART.findall(parameter.name)}
        found |= {word.lower() for word in _PART.findall(parameter.description) if len(word) > 3}
    return frozenset(found - _UNINFORMATIVE)


def left_open(text: str, known: Collection[str]) -> list[int]:
    """Count the `known` nouns in a text that have no value near them.

    Returns:
        Five counts: of the nouns after each kind of determiner (`_DETERMINERS`), and of people
        without a name.
    """
    tokens = _TOKEN.findall(_SHORT.sub("CODE", masked(text)))
    counts = [0] * (len(_DETERMINERS) + 1)
    for place, token in enumerate(tokens):
        kinds = [k for k, words in enumerate(_DETERMINERS) if token.lower() in words]
        noun = _noun_after(tokens, place, known) if kinds else 0
        if noun and not _has_value(tokens, place, noun):
            for kind in kinds:
                counts[kind] += 1
        if token.lower() in _PEOPLE and not _VALUE_MASKS & set(tokens[place + 1 : place + 4]):
            counts[-1] += 1
    return counts


def _noun_after(tokens: list[str], place: int, known: Collection[str]) -> int:
    """Return the index of a known noun or person among the next three words; 0 if none is found."""
    for at in range(place + 1, min(place + 4, len(tokens))):
        word = tokens[at].lower()
        one = word.removesuffix("s")
        if word in known or one in known or one in _PEOPLE:
            return at
        if tokens[at] in _VALUE_MASKS or not word.isalpha():
            return 0
    return 0


def _has_value(tokens: list[str], place: int, noun: int) -> bool:
    after = tokens[noun + 1 : noun + 1 + AHEAD]
    end = next((n for n, token in enumerate(after) if token in _ENDING), len(after))
    return bool(_VALUE_MASKS & set(after[:end] + tokens[max(0, place - BEHIND) : place]))
