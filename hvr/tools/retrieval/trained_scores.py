"""Scores of a trained network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from hvr.knowledge.retrieval.text_vectors import TextVectors
from hvr.tools.retrieval.config import RetrieverConfig
from hvr.tools.retrieval.decoding import Scores
from hvr.tools.retrieval.samples import Encodable
from hvr.tools.retrieval.scorer import Scorer
from hvr.tools.retrieval.texts import looked_up, vectors_of
from hvr.tools.retrieval.training import links_of
from hvr.tools.tool_graph import ToolGraph
from hvr.tools.tool_plan import ToolPlan

_CHUNK = 2048


class TrainedScores:
    """A source of scores, see `hvr.tools.retrieval.retriever.ScoreSource`.

    Args:
        graph: tools and links; others than in training only if `config.free` is false.
        config: the settings that the network was trained with.
        scorer: the network.
        encoder: of texts.
    """

    def __init__(
        self,
        graph: ToolGraph,
        config: RetrieverConfig,
        scorer: Scorer,
        encoder: TextVectors,
    ) -> None:
        self.graph, self.config, self.scorer = graph, config, scorer.eval()
        self.encoder = encoder
        self._links = links_of(graph)
        self._tools: torch.Tensor | None = None

    @torch.no_grad()
    def scores(self, plans: Sequence[ToolPlan], *, names: bool = True) -> list[Scores]:
        """Return the scores of each plan (steps, tools); see `ScoreSource`."""
        encodable = Encodable(self.graph)
        numbers = torch.tensor(encodable.tools())
        samples = [encodable.samples(p, names=names) for p in plans]
        read = torch.tensor([s.read for some in samples for s in some], dtype=torch.int64)
        read = read.reshape(-1, 4)
        if not self.config.context:
            read = read[:, :1]
        vectors = vectors_of(self.encoder, encodable.list.texts)
        if self._tools is None:
            self._tools = self.scorer.tools(looked_up(vectors, numbers), self._links)
        parts = [
            self.scorer(self._tools, looked_up(vectors, part)) for part in torch.split(read, _CHUNK)
        ]
        rows = torch.cat(parts).numpy() if parts else np.zeros((0, len(self.graph)))
        ends = np.cumsum([len(some) for some in samples])
        return list(np.split(rows, ends[:-1])) if plans else []
