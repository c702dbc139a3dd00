"""How likely a request needs a tool: by its description, and by requests that it served before."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hvr.base.extras import load
from hvr.tools.navigation.turns.turn import JudgedTurn, OfferedTool, Turn, sentences

Vectors = NDArray[Any]
Encoder = Callable[[Sequence[str]], Vectors]
"""Texts to vectors of length 1 (texts, dimension)."""

Chances = Callable[[Vectors], Vectors]
"""Features of tools to the chance that each is needed."""

FEATURES = 12
NEAREST = 3
"""Requests that a tool served which are compared with a new one."""

VOTERS = 8
"""Requests, or sentences, nearest to a new one, whose tools count for it."""

_SHARPNESS = 10.0
"""The weight of a voter is exp(sharpness x cosine)."""

_FALSE = 25
"""Tools that were not used which are learnt from, for each turn; the more alike half of them."""

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_COMMON = frozenset({"the", "and", "for", "with", "this", "that", "from", "your", "you", "could",
                     "please", "tool", "user"})  # fmt: skip


class ToolNeeds:
    """A model of which tools a request needs.

    Args:
        turns: with the tools that were used in them; what a tool served is looked up in those
            of other dialogues.
        encode: texts to vectors.
        seed: of the choice of tools that were not used.
    """

    def __init__(self, turns: Sequence[JudgedTurn], encode: Encoder, seed: int = 0) -> None:
        self._encode = encode
        self._seed = seed
        self._served = _Served(turns, encode)
        random = np.random.default_rng(seed)
        self._examples = [self._example(one, random) for one in turns]
        self.chances = self._fitted(self._examples)

    def held_out(self, parts: Sequence[int]) -> Mapping[int, Chances]:
        """Return for each part of the turns what is learnt from the others.

        What a model says of turns that it has learnt from is surer than what it says of new ones.

        Args:
            parts: the part of each turn that was given, in order.
        """
        return {
            part: self._fitted([e for e, p in zip(self._examples, parts, strict=True) if p != part])
            for part in sorted(set(parts))
        }

    def features(self, turn: Turn, tools: Sequence[OfferedTool], dialogue: str = "") -> Vectors:
        """Return (tools, 12): alikeness to texts and to requests served, votes, common words.

        Args:
            turn: what is asked for.
            tools: to compare with.
            dialogue: whose turns are left out.
        """
        if not tools:
            return np.zeros((0, FEATURES))
        parts = self._encode([turn.request, *sentences(turn.request)])
        texts = self._encode([tool.text for tool in tools])
        whole, inner = texts @ parts[0], (texts @ parts[1:].T).max(axis=1)
        said = _stems(turn.request)
        columns = [
            whole, inner, inner - inner.max(),
            np.array([_shared(tool.schema.name, said) for tool in tools]),
            np.array([_shared(tool.text, said) for tool in tools]),
            *self._served.evidence(parts, [tool.schema.name for tool in tools], dialogue),
        ]  # fmt: skip
        return np.stack(columns, axis=1).astype(np.float64)

    def _example(self, one: JudgedTurn, random: np.random.Generator) -> tuple[Vectors, Vectors]:
        """Return features of some tools, all that were used and some others, and which were."""
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
    """Requests, whole and by sentences, and the tools that served them."""

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
        """Return seven columns for some tools.

        The likest request served and the mean of the three likest, by whole requests and by
        sentences; how many were served; the share of the nearest requests, and for the best
        sentence of the nearest sentences, that the tool served.

        Args:
            parts: vectors of a request and of its sentences.
            names: of the tools.
            dialogue: whose requests are left out.
        """
        allowed = self._dialogues != dialogue
        whole = np.where(allowed, self._whole @ parts[0], -np.inf)
        each = np.where(allowed[self._owner], parts[1:] @ self._inner.T, -np.inf)
        inner = np.maximum.reduceat(each.max(axis=0), self._first)
        columns = [self._column.get(name, len(self._column)) for name in names]
        served = self._used & allowed[:, None]
        by_sentence = np.max([self._votes(one, self._owner) for one in each], axis=0)
        found = (
            *_likest(whole, served), *_likest(inner, served), np.log1p(served.sum(axis=0)),
            self._votes(whole, np.arange(len(whole))), by_sentence,
        )  # fmt: skip
        return tuple(column[columns] for column in found)

    def _votes(self, alike: Vectors, owner: Vectors) -> Vectors:
        nearest = np.argsort(-alike)[:VOTERS]
        weights = np.exp(_SHARPNESS * alike[nearest])
        return np.asarray(weights @ self._used[owner[nearest]] / max(float(weights.sum()), 1e-12))


def _likest(alike: Vectors, served: Vectors) -> tuple[Vectors, Vectors]:
    """Return for each tool the likest of what it served, and the mean of the likest; 0 if none."""
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
