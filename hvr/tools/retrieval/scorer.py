"""The scoring network: tool encoder (a GNN over the tool graph), step encoder, scores."""

from __future__ import annotations

import math

import torch
import torch_geometric.nn as geometric
from torch import Tensor, nn

from hvr.tools.retrieval.config import Layer, RetrieverConfig

_CONTEXT_TEXTS = 4
"""Texts that `context` reads: the step, the request, the previous and the next step."""


class ToolEncoder(nn.Module):
    """Tool vectors H (tools, d) from the vectors of their texts X (tools, d).

    - `none`:  H = X
    - `sage`:  H = (X + SAGE(X)) / 2  (GNN4Plan, section 4.3), one GraphSAGE convolution over the
      incoming links: messages pass from a tool to its successors.

    Args:
        layer: which of these.
        width: d, of the texts' vectors.
    """

    def __init__(self, layer: Layer, width: int) -> None:
        super().__init__()
        self.convolution = geometric.SAGEConv(width, width) if layer == "sage" else None

    def forward(self, vectors: Tensor, links: Tensor) -> Tensor:
        """Return H (tools, d).

        Args:
            vectors: X, of the tools' texts (tools, d).
            links: sources above targets, int64 (2, links).
        """
        if self.convolution is None:
            return vectors
        mixed: Tensor = (vectors + self.convolution(vectors, links)) / 2
        return mixed


class Scorer(nn.Module):
    """Scores S (steps, tools) of all tools for steps.

    - without `context`:  S[i, t] = scale <h_t, x_i>  (GNN4Plan, section 4.3; there scale = 1)
    - with `context`:     S[i, t] = scale cos(h_t, x_i + MLP([x_i; r; x_(i-1); x_(i+1)]))
      (hvr's own), scale learnt, initially `config.scale`

    x_i (d,) is the vector of step i, r (d,) of the request, h_t (d,) of tool t: the output of
    `ToolEncoder`, plus a learnt vector of its own with `config.free`.

    Args:
        config: which of these, widths, dropout.
        width: d, of the texts' vectors.
        tools: number of tools.
    """

    def __init__(self, config: RetrieverConfig, width: int, tools: int) -> None:
        super().__init__()
        self.width = width
        self.encoder = ToolEncoder(config.layer, width)
        self.own = nn.Parameter(torch.zeros(tools, width)) if config.free else None
        self.context: nn.Module | None = None
        if config.context:
            self.context = nn.Sequential(
                nn.Dropout(config.dropout),
                nn.Linear(_CONTEXT_TEXTS * width, config.hidden),
                nn.GELU(),
                nn.Dropout(config.dropout),
                nn.Linear(config.hidden, width),
            )
        scale = torch.tensor(math.log(config.scale))
        if config.context:
            self.scale = nn.Parameter(scale)
        else:
            self.register_buffer("scale", scale)

    def tools(self, vectors: Tensor, links: Tensor) -> Tensor:
        """Return h of all tools (tools, d); arguments as of `ToolEncoder.forward`."""
        encoded: Tensor = self.encoder(vectors, links)
        return encoded if self.own is None else encoded + self.own

    def forward(self, tools: Tensor, read: Tensor) -> Tensor:
        """Return S (steps, tools).

        Args:
            tools: h of `tools` (tools, d).
            read: vectors of the step, the request, the previous and the next step, zeros for
                those that do not exist (steps, 4, d).
        """
        step = read[:, 0]
        if self.context is None:
            return self.scale.exp() * (step @ tools.T)
        mixed = nn.functional.normalize(step + self.context(read.flatten(1)), dim=-1)
        return self.scale.exp() * (mixed @ nn.functional.normalize(tools, dim=-1).T)
