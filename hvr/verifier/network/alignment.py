"""How well a tool fits what a step says: the scorer g (GNNVerifier, section 3.3.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hvr.verifier.tool_embeddings import Floats, ToolSpace

_CHUNK = 8192


class Margins(Protocol):
    """What tells how much better a tool fits a step than the tools like it."""

    def margins(
        self, space: ToolSpace, steps: NDArray[np.int64], tools: NDArray[np.int64]
    ) -> Floats:
        """As `Alignment.margins`."""


class Alignment:
    """g(s, t) = MLP([e(s); e(t)]), equation 2, with one hidden layer.

    The first layer is computed for steps and tools apart and added, which is the same as for
    the joined vectors and much cheaper for many tools.

    Args:
        tensors: `step.weight` (hidden, dim), `step.bias` (hidden,), `tool.weight` (hidden, dim),
            `out.weight` (1, hidden), `out.bias` (1,).

    Raises:
        KeyError: one is missing.
    """

    def __init__(self, tensors: Mapping[str, Floats]) -> None:
        self.tensors = dict(tensors)
        self._step, self._bias = tensors["step.weight"], tensors["step.bias"]
        self._tool = tensors["tool.weight"]
        self._out, self._shift = tensors["out.weight"][0], float(tensors["out.bias"][0])

    @staticmethod
    def shapes(dim: int, hidden: int) -> dict[str, tuple[int, ...]]:
        """Return which tensors there are.

        Args:
            dim: of the vectors of texts.
            hidden: width of the hidden layer.
        """
        return {
            "step.weight": (hidden, dim), "step.bias": (hidden,), "tool.weight": (hidden, dim),
            "out.weight": (1, hidden), "out.bias": (1,),
        }  # fmt: skip

    def sides(self, tools: Floats) -> Floats:
        """Return what the first layer makes of tools (tools, hidden), to be kept for `row`."""
        return np.asarray(tools @ self._tool.T, dtype=np.float32)

    def row(self, step: Floats, sides: Floats) -> Floats:
        """Return logits of one step (dim,) with tools of which the `sides` are given (tools,)."""
        return self._last(self._step @ step + self._bias + sides)

    def table(self, steps: Floats, tools: Floats) -> Floats:
        """Return logits of each step with each tool (steps, tools)."""
        right = self.sides(tools)
        size = max(1, _CHUNK * 64 // max(len(tools), 1))
        logits = np.zeros((len(steps), len(tools)), dtype=np.float32)
        for i in range(0, len(steps), size):
            left = steps[i : i + size] @ self._step.T + self._bias
            logits[i : i + size] = self._last(left[:, None] + right)
        return logits

    def margins(
        self, space: ToolSpace, steps: NDArray[np.int64], tools: NDArray[np.int64]
    ) -> Floats:
        """Return the margin of equation 3: g of the tool, less the best g of the tools like it.

        Args:
            space: of the tools.
            steps: rows of `space.texts` (m,).
            tools: numbers of tools (m,); -1 is an unknown one, whose margin is 0.

        Returns:
            (m,).
        """
        if space.neighbours.shape[1] == 0 or not len(steps):
            return np.zeros(len(steps), dtype=np.float32)
        pairs, back = np.unique(np.stack([steps, tools], 1), axis=0, return_inverse=True)
        matrix = space.texts.matrix
        right = self.sides(space.vectors)
        margins = np.zeros(len(pairs), dtype=np.float32)
        for i in range(0, len(pairs), _CHUNK):
            part = pairs[i : i + _CHUNK]
            choice = np.concatenate([part[:, 1:], space.neighbours[part[:, 1]]], axis=1)
            left = matrix[part[:, 0]] @ self._step.T + self._bias
            g = self._last(left[:, None] + right[choice])
            margins[i : i + _CHUNK] = g[:, 0] - g[:, 1:].max(1)
        margins[pairs[:, 1] < 0] = 0.0
        return np.asarray(margins[back.reshape(-1)], dtype=np.float32)

    def _last(self, hidden: Floats) -> Floats:
        return np.asarray(np.maximum(hidden, 0) @ self._out + self._shift, dtype=np.float32)


class FoldedAlignment:
    """Margins of plans that were learned from, each by a scorer that has not seen the plan.

    A scorer is surer of the steps that it learned from than of new ones; a network that learns
    from such margins trusts them too much.

    Args:
        models: one for each fold.
        fold: which model is asked about each of the steps to come (m,).
    """

    def __init__(self, models: Sequence[Alignment], fold: NDArray[np.int64]) -> None:
        self._models = models
        self._fold = fold

    def margins(
        self, space: ToolSpace, steps: NDArray[np.int64], tools: NDArray[np.int64]
    ) -> Floats:
        """As `Alignment.margins`, of just the steps that the folds were given for."""
        margins = np.zeros(len(steps), dtype=np.float32)
        for k, model in enumerate(self._models):
            mine = self._fold == k
            margins[mine] = model.margins(space, steps[mine], tools[mine])
        return margins
