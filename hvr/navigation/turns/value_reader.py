"""Whether a text states a value for a parameter, by frozen MiniLM and a small network on it.

The network compares each token of the text with what is asked for, the texts of the tool and of
the parameter. Its weights are made by tools/train_value_reader.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hvr.extras import load
from hvr.navigation.turns.turn import OfferedTool
from hvr.retrieval.text_vectors import TextVectors
from hvr.retrieval.vectors import MINILM, load_sentence_model
from hvr.tools.catalogue.schema import ToolParameter

SHIPPED = Path(__file__).resolve().parent / "value_reader.npz"

LAYERS = (4, 6)
"""MiniLM's layers whose states of a token are joined; the last alone says little of places."""

_TOKENS = 200
"""Tokens of a text that are read."""

_BATCH = 32
_TOOL, _PARAMETER = 300, 200
"""Characters of what a tool and a parameter are said to be that are read."""

_ROUNDS, _RATE = 3, 2e-3
"""How a reader learns further."""

if TYPE_CHECKING:
    from hvr.navigation.turns.value_network import ValueExample

Vectors = NDArray[Any]


def parameter_text(name: str, description: str) -> str:
    """Return what a parameter is called and said to be, in words."""
    return f"{name.replace('_', ' ')}: {description}"


class TokenStates:
    """States of tokens of texts, and vectors of tools with parameters; each text is read once."""

    def __init__(self) -> None:
        self._model: Any = None
        self._encode = TextVectors(MINILM).encode
        self._known: dict[str, tuple[Vectors, Vectors]] = {}

    def read(self, texts: Collection[str]) -> None:
        """Read several texts; less work than one by one."""
        new = sorted({text for text in texts if text not in self._known}, key=len)
        if not new:
            return
        torch: Any = load("torch", "torch", "embeddings")
        if self._model is None:
            self._model = load_sentence_model(MINILM)
        network = self._model[0]
        for first in range(0, len(new), _BATCH):
            some = new[first : first + _BATCH]
            tokens = network.tokenizer(
                some, padding=True, truncation=True, max_length=_TOKENS, return_tensors="pt",
                return_offsets_mapping=True,
            )  # fmt: skip
            offsets = tokens.pop("offset_mapping").numpy()
            with torch.inference_mode():
                layers = network.auto_model(**tokens, output_hidden_states=True).hidden_states
            joined = torch.cat([layers[layer] for layer in LAYERS], -1).numpy()
            lengths = tokens["attention_mask"].sum(1).tolist()
            for place, (text, length) in enumerate(zip(some, lengths, strict=True)):
                inside = slice(1, int(length) - 1)  # without the marks of beginning and end
                states = joined[place, inside].astype(np.float16)
                self._known[text] = (states, offsets[place, inside])

    def of(self, text: str) -> tuple[Vectors, Vectors]:
        """Return (tokens, dimension) and the first and end of each token in the text."""
        self.read([text])
        return self._known[text]

    def queries(self, asked: Sequence[tuple[str, str]]) -> Vectors:
        """Return (pairs, dimension) of the texts of tools with those of parameters."""
        return np.hstack([
            self._encode([tool[:_TOOL] for tool, _ in asked]),
            self._encode([text[:_PARAMETER] for _, text in asked]),
        ])  # fmt: skip


class ValueReader:
    """Tells how surely texts state values.

    Args:
        weights: of the network, by name; those that hvr brings if None.
        states: of tokens, to share; made anew if None.

    Raises:
        MissingExtraError: MiniLM is not installed.
    """

    def __init__(
        self, weights: Mapping[str, Vectors] | None = None, states: TokenStates | None = None
    ) -> None:
        if weights is None:
            with np.load(SHIPPED) as stored:
                weights = {name: stored[name].astype(np.float32) for name in stored.files}
        self._weights = dict(weights)
        self._states = states or TokenStates()
        self._told: dict[tuple[str, str, str], float] = {}

    def further(self, examples: Sequence[ValueExample], seed: int) -> ValueReader:
        """Return a reader that has learnt from examples, too."""
        from hvr.navigation.turns.value_network import network_of, train, weights_of

        if not examples:
            return self
        network = network_of(self._weights)
        train(network, examples, self._states, _ROUNDS, _RATE, seed)
        return ValueReader(weights_of(network), self._states)

    def stated(
        self, texts: Collection[str], asked: Sequence[tuple[OfferedTool, ToolParameter]]
    ) -> Vectors:
        """Return (texts, parameters): the log odds that each text states each value."""
        keys = [(t.text, parameter_text(p.name, p.description)) for t, p in asked]
        self._states.read(texts)
        for text in texts:
            new = list(dict.fromkeys(key for key in keys if (text, *key) not in self._told))
            if new:
                found = self._score(text, self._states.queries(new))
                self._told |= {(text, *k): float(v) for k, v in zip(new, found, strict=True)}
        told = [[self._told[text, *key] for key in keys] for text in texts]
        return np.array(told, dtype=np.float64).reshape(len(texts), len(keys))

    def _score(self, text: str, queries: Vectors) -> Vectors:
        def layer(name: str, rows: Vectors) -> Vectors:
            weights = self._weights
            return np.asarray(rows @ weights[f"{name}_weight"].T + weights[f"{name}_bias"])

        states, _ = self._states.of(text)
        if not len(states):
            return np.full(len(queries), -10.0)
        tokens = np.maximum(layer("token", states.astype(np.float32)), 0)
        asked = np.tanh(layer("query", queries))[:, None]
        joined = np.maximum(layer("inner_token", tokens) + layer("inner_query", asked), 0)
        each = layer("out", np.concatenate([tokens * asked, joined], -1))[..., 0]
        whole = np.logaddexp.reduce(each, axis=1)[:, None]
        return layer("whole", whole)[:, 0]
