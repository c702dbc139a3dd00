"""How likely a request needs a tool: by its description, and by requests that it served before."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hvr.extras import load
from hvr.navigation.turns.turn import JudgedTurn, OfferedTool, Turn, sentences

Vectors = NDArray[Any]
Encoder = Callable[[Sequence[str]], Vectors]
"""Texts to vectors of length 1 (texts, dimension)."""

NEAREST = 3
"""Requests that a tool served which are compared with a new one."""

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
        self._served = _Served(turns, encode)
        rows, used = [], []
        random = np.random.default_rng(seed)
        for one in turns:
            tools = (*one.turn.at_hand, *one.turn.outside)
            names = np.array([tool.schema.name in one.used for tool in tools])
            if not names.any():
                continue
            found = self.features(one.turn, tools, one.dialogue)
            false = np.flatnonzero(~names)
            alike = false[np.argsort(-found[false, 1])[: _FALSE // 2]]
            some = random.permutation(false)[: _FALSE // 2]
            chosen = np.unique(np.concatenate([np.flatnonzero(names), alike, some]))
            rows.append(found[chosen])
            used.append(names[chosen])
        ensemble = load("sklearn.ensemble", "scikit-learn", "embeddings")
        self._model = ensemble.HistGradientBoostingClassifier(
            max_iter=120, max_leaf_nodes=15, l2_regularization=1.0, random_state=seed
        ).fit(np.concatenate(rows), np.concatenate(used))

    def chances(self, found: Vectors) -> Vectors:
        """Return the chance that each tool is needed, from its features."""
        if not len(found):
            return np.zeros(0)
        chances: Vectors = self._model.predict_proba(found)[:, 1]
        return chances

    def features(self, turn: Turn, tools: Sequence[OfferedTool], dialogue: str = "") -> Vectors:
        """Return (tools, 8): alikeness to texts and to requests served, common words, uses.

        Args:
            turn: what is asked for.
            tools: to compare with.
            dialogue: whose turns are left out.
        """
        if not tools:
            return np.zeros((0, 8))
        parts = self._encode([turn.request, *sentences(turn.request)])
        texts = self._encode([tool.text for tool in tools])
        whole, inner = texts @ parts[0], (texts @ parts[1:].T).max(axis=1)
        said = _stems(turn.request)
        alike = self._served.alike(parts, dialogue)
        rows = []
        for number, tool in enumerate(tools):
            near = np.sort(alike[self._served.of(tool.schema.name)])[::-1]
            near = near[np.isfinite(near)]
            rows.append([
                whole[number], inner[number], *(near[:1] if len(near) else [0.0]),
                near[:NEAREST].mean() if len(near) else 0.0,
                np.log1p(len(near)), _shared(tool.schema.name, said),
                _shared(tool.text, said), inner[number] - inner.max(),
            ])  # fmt: skip
        return np.array(rows, dtype=np.float64)


class _Served:
    """Requests, whole and by sentences, and the tools that served them."""

    def __init__(self, turns: Sequence[JudgedTurn], encode: Encoder) -> None:
        texts: list[str] = []
        dialogues: list[str] = []
        places: dict[str, list[int]] = {}
        seen: set[tuple[str, str]] = set()
        for one in turns:
            if (one.dialogue, one.turn.request) in seen or not one.used:
                continue
            seen.add((one.dialogue, one.turn.request))
            parts = [one.turn.request, *sentences(one.turn.request)]
            for name in one.used:
                places.setdefault(name, []).extend(range(len(texts), len(texts) + len(parts)))
            texts += parts
            dialogues += [one.dialogue] * len(parts)
        self._vectors = encode(texts)
        self._dialogues = np.array(dialogues)
        self._places = {name: np.array(some) for name, some in places.items()}

    def alike(self, parts: Vectors, dialogue: str) -> Vectors:
        """Return how alike each is to one of the parts of a request; -inf in its own dialogue."""
        alike: Vectors = (self._vectors @ parts.T).max(axis=1)
        return np.where(self._dialogues == dialogue, -np.inf, alike) if dialogue else alike

    def of(self, name: str) -> Vectors:
        """Return the places of what a tool served."""
        return self._places.get(name, np.zeros(0, dtype=np.int64))


def _stems(text: str) -> frozenset[str]:
    words = (word.lower() for word in _WORDS.findall(text))
    return frozenset(word[:5] for word in words if len(word) > 2 and word not in _COMMON)


def _shared(text: str, said: frozenset[str]) -> float:
    words = _stems(text)
    return len(words & said) / len(words) if words else 0.0
