"""The alignment scorer g of steps and tools (GNNVerifier, section 3.3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hvr.judging.verifier.tool_embeddings import Floats, ToolEmbeddings

_CHUNK = 8192
"""Rows computed at once, a bound on memory."""


class Margins(Protocol):
    """A source of alignment margins Δ (equation 3)."""

    def margins(
        self, embeddings: ToolEmbeddings, steps: NDArray[np.int64], tools: NDArray[np.int64]
    ) -> Floats:
        """Return Δ; see `Alignment.margins`."""


class Alignment:
    """The trained alignment scorer: equation 2 with one hidden layer, in numpy.

        g(s, t) = MLP([e(s); e(t)]) = w · relu(W_s e(s) + b + W_t e(t)) + b_out

    The first layer is applied to steps and tools separately and added: the same result as for
    the concatenated vectors, at a cost of steps + tools instead of steps x tools.

    Args:
        tensors: W_s as `step.weight` (hidden, dim), b as `step.bias` (hidden,), W_t as
            `tool.weight` (hidden, dim), w as `out.weight` (1, hidden), b_out as `out.bias` (1,).

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
        """Return the names and shapes of the tensors.

        Args:
            dim: of the text embeddings.
            hidden: width of the hidden layer.
        """
        return {
            "step.weight": (hidden, dim), "step.bias": (hidden,), "tool.weight": (hidden, dim),
            "out.weight": (1, hidden), "out.bias": (1,),
        }  # fmt: skip

    def project_tools(self, tools: Floats) -> Floats:
        """Return W_t e(t) of tools (tools, hidden), to be kept for `step_logits`."""
        return np.asarray(tools @ self._tool.T, dtype=np.float32)

    def step_logits(self, step: Floats, projected: Floats) -> Floats:
        """Return g of one step (dim,) and tools given by `project_tools`: (tools,)."""
        return self._last(self._step @ step + self._bias + projected)

    def table(self, steps: Floats, tools: Floats) -> Floats:
        """Return g of each step and each tool (steps, tools)."""
        right = self.project_tools(tools)
        size = max(1, _CHUNK * 64 // max(len(tools), 1))
        logits = np.zeros((len(steps), len(tools)), dtype=np.float32)
        for i in range(0, len(steps), size):
            left = steps[i : i + size] @ self._step.T + self._bias
            logits[i : i + size] = self._last(left[:, None] + right)
        return logits

    def margins(
        self, embeddings: ToolEmbeddings, steps: NDArray[np.int64], tools: NDArray[np.int64]
    ) -> Floats:
        """Return the margins of equation 3.

            Δ = g(s, t) - max over t' in N_K(t) of g(s, t')

        Args:
            embeddings: of the tools, with the similar tools N_K.
            steps: s, rows of `embeddings.texts` (m,).
            tools: t, numbers of tools (m,); -1 is an unknown one, whose margin is 0.

        Returns:
            Δ (m,).
        """
        if embeddings.neighbours.shape[1] == 0 or not len(steps):
            return np.zeros(len(steps), dtype=np.float32)
        # The same step and tool occur in many plans of a contrast group: each pair once.
        pairs, back = np.unique(np.stack([steps, tools], 1), axis=0, return_inverse=True)
        matrix = embeddings.texts.matrix
        right = self.project_tools(embeddings.vectors)
        margins = np.zeros(len(pairs), dtype=np.float32)
        for i in range(0, len(pairs), _CHUNK):
            part = pairs[i : i + _CHUNK]
            choice = np.concatenate([part[:, 1:], embeddings.neighbours[part[:, 1]]], axis=1)
            left = matrix[part[:, 0]] @ self._step.T + self._bias
            g = self._last(left[:, None] + right[choice])
            margins[i : i + _CHUNK] = g[:, 0] - g[:, 1:].max(1)
        margins[pairs[:, 1] < 0] = 0.0
        return np.asarray(margins[back.reshape(-1)], dtype=np.float32)

    def _last(self, hidden: Floats) -> Floats:
        return np.asarray(np.maximum(hidden, 0) @ self._out + self._shift, dtype=np.float32)
