"""The network: tools through a graph layer, steps beside them, a score for each pair."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import torch
import torch_geometric.nn as geometric
from torch import Tensor, nn

from hvr.tools.retrieval.config import RetrieverConfig

_READ = 4
"""Texts that `context` reads: the step, the request, the step before, the step after."""


class ToolEncoder(nn.Module):
    """Vectors of tools from those of their texts: the mean of these and a graph network's.

    Messages pass along the links, from a tool to those that can follow it. Between two layers
    there are batch normalisation, LeakyReLU and dropout. `sgc` gives alpha * X + (1 - alpha) *
    D^-1/2 A D^-1/2 X as in `hvr.tools.retrieval.propagation`, with alpha learnt, from 1 on.

    Args:
        config: says which layers.
        width: d, of the texts' vectors.
    """

    def __init__(self, config: RetrieverConfig, width: int) -> None:
        super().__init__()
        self.kind = config.layer
        self.dropout = config.dropout
        self.convolutions = nn.ModuleList()
        self.norms = nn.ModuleList()
        if self.kind == "sgc":
            self.alpha = nn.Parameter(torch.ones(()))
        elif self.kind != "none":
            widths = [width, *[config.hidden] * (config.layers - 1), width]
            for before, after in pairwise(widths):
                self.convolutions.append(_convolution(self.kind, before, after))
            self.norms.extend(nn.BatchNorm1d(w) for w in widths[1:-1])

    def forward(self, vectors: Tensor, links: Tensor, smoothing: Tensor) -> Tensor:
        """(tools, d) from the texts' vectors (tools, d).

        Args:
            vectors: of the texts.
            links: int64 (2, links), sources above targets.
            smoothing: (tools, tools), the matrix of SGC.
        """
        if self.kind == "none":
            return vectors
        if self.kind == "sgc":
            return self.alpha * vectors + (1 - self.alpha) * (smoothing @ vectors)
        hidden = vectors
        for i, convolution in enumerate(self.convolutions):
            hidden = convolution(hidden, links)
            if i < len(self.norms):
                hidden = nn.functional.leaky_relu(self.norms[i](hidden))
                hidden = nn.functional.dropout(hidden, self.dropout, self.training)
        return (vectors + hidden) / 2


class Scorer(nn.Module):
    """Scores of all tools for steps.

    Without `context` a score is the inner product of the tool's vector and the step's
    (GNN4Plan), times `config.scale`. With it, the vectors of step, request and neighbouring
    steps go through one hidden layer whose result is added to the step's vector, and the score
    is a cosine times a learnt number, at first `config.scale`.

    Args:
        config: says which.
        width: d, of the texts' vectors.
        tools: how many there are.
    """

    def __init__(self, config: RetrieverConfig, width: int, tools: int) -> None:
        super().__init__()
        self.width = width
        self.encoder = ToolEncoder(config, width)
        self.own = nn.Parameter(torch.zeros(tools, width)) if config.free else None
        self.context: nn.Module | None = None
        if config.context:
            self.context = nn.Sequential(
                nn.Dropout(config.dropout),
                nn.Linear(_READ * width, config.hidden),
                nn.GELU(),
                nn.Dropout(config.dropout),
                nn.Linear(config.hidden, width),
            )
        scale = torch.tensor(math.log(config.scale))
        if config.context:
            self.scale = nn.Parameter(scale)
        else:
            self.register_buffer("scale", scale)

    def tools(self, vectors: Tensor, links: Tensor, smoothing: Tensor) -> Tensor:
        """(tools, d); see `ToolEncoder.forward`."""
        encoded: Tensor = self.encoder(vectors, links, smoothing)
        return encoded if self.own is None else encoded + self.own

    def forward(self, tools: Tensor, read: Tensor) -> Tensor:
        """(steps, tools).

        Args:
            tools: (tools, d), what `tools` gives.
            read: (steps, 4, d): the step, the request, the step before and the step after; zeros
                where there is none.
        """
        step = read[:, 0]
        if self.context is None:
            return self.scale.exp() * (step @ tools.T)
        mixed = nn.functional.normalize(step + self.context(read.flatten(1)), dim=-1)
        return self.scale.exp() * (mixed @ nn.functional.normalize(tools, dim=-1).T)


def _convolution(kind: str, before: int, after: int) -> nn.Module:
    if kind == "gin":
        inner = nn.Sequential(nn.Linear(before, after), nn.ReLU(), nn.Linear(after, after))
        gin: nn.Module = geometric.GINConv(inner)
        return gin
    classes: dict[str, Any] = {
        "gcn": geometric.GCNConv,
        "gat": geometric.GATConv,
        "sage": geometric.SAGEConv,
        "transformer": geometric.TransformerConv,
    }
    layer: nn.Module = classes[kind](before, after)
    return layer
