"""Tool embeddings: text vectors, similar tools and compatibility."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hvr.errors import UsageError
from hvr.judging.verifier.config import VerifierConfig
from hvr.judging.verifier.graph import PlanGraph, PlanNode
from hvr.tools.tool_plans import ToolGraph, without_tool
from hvr.values import cached_property

Floats = NDArray[np.float32]
_WORD = re.compile(r"[A-Za-z0-9_.\-]+")


class Encoder(Protocol):
    """A text encoder with vectors of length 1."""

    def encode(self, texts: Sequence[str], role: Literal["", "query", "passage"] = "") -> Floats:
        """Return the vectors of texts, float32 (texts, dimension)."""


class TextTable:
    """A growing table with one row for each distinct text."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._rows: dict[tuple[str, str], int] = {}
        self._parts: list[Floats] = []

    def rows(
        self, texts: Sequence[str], role: Literal["", "query", "passage"] = "query"
    ) -> NDArray[np.int64]:
        """Return the rows of texts; new texts are encoded in one call."""
        new = list(dict.fromkeys(t for t in texts if (role, t) not in self._rows))
        if new:
            self._parts.append(np.asarray(self._encoder.encode(new, role), dtype=np.float32))
            size = len(self._rows)
            self._rows.update({(role, t): size + i for i, t in enumerate(new)})
        return np.fromiter((self._rows[role, t] for t in texts), np.int64, len(texts))

    def know(self, texts: Sequence[str], vectors: Floats) -> None:
        """Add known vectors (texts, dimension) of texts."""
        if len(vectors) != len(texts):
            raise ValueError("texts and vectors do not match")
        places = {t: i for i, t in enumerate(texts) if ("query", t) not in self._rows}
        if places:
            self._parts.append(np.asarray(vectors[list(places.values())], dtype=np.float32))
            size = len(self._rows)
            self._rows.update({("query", t): size + i for i, t in enumerate(places)})

    @property
    def matrix(self) -> Floats:
        """All vectors (rows, dimension)."""
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0] if self._parts else np.zeros((0, 0), np.float32)


class ToolEmbeddings:
    """Embeddings e(t) of tools and e(s) of texts (GNNVerifier, section 3.3.1).

    Args:
        config: Settings, for `tool_text`, `step_names` and `neighbours`.
    """

    def __init__(self, tools: ToolGraph, encoder: Encoder, config: VerifierConfig) -> None:
        if not len(tools):
            raise UsageError("a verifier needs at least one tool")
        self.tools = tools
        self.texts = TextTable(encoder)
        self.config, self._typed = config, tools.typed
        self._ids = frozenset(t.id for t in tools.tools)
        self._clean: dict[str, str] = {}
        self.rows = self.texts.rows([self.tool_text(t.id) for t in tools.tools], "passage")
        self.vectors: Floats = self.texts.matrix[self.rows]
        self.types = sorted({x for t in tools.tools for x in (*t.inputs, *t.outputs)})

    def tool_text(self, tool_id: str) -> str:
        """Return the text to encode for a tool; the id for an unknown one."""
        if tool_id not in self.tools:
            return tool_id.replace("_", " ")
        description = self.tools.tool(tool_id).description or tool_id.replace("_", " ")
        if self.config.tool_text == "name_and_description":
            return f"{tool_id} # {description}"
        return description

    def step_text(self, text: str) -> str:
        """Return the text to encode for a step, with or without tool names as configured."""
        if self.config.step_names == "keep":
            return text
        if text not in self._clean:
            named = self._ids.intersection(_WORD.findall(text))
            self._clean[text] = without_tool(text, sorted(named, key=lambda t: (-len(t), t)))
        return self._clean[text]

    def default_step(self, number: int) -> str:
        """Return the text of a step that calls a tool, from the tool's description."""
        tool = self.tools.tools[number]
        return self.step_text(tool.description or tool.id.replace("_", " "))

    def known(self, tool_id: str) -> bool:
        """Return whether there is such a tool."""
        return tool_id in self.tools

    @cached_property
    def similarity(self) -> Floats:
        """Cosines cos(e(t), e(t')) between tools (n, n)."""
        return np.asarray(self.vectors @ self.vectors.T, dtype=np.float32)

    @cached_property
    def neighbours(self) -> NDArray[np.int64]:
        """N_K(t): numbers of the K most similar other tools, nearest first (n, K)."""
        similarity = self.similarity.copy()
        np.fill_diagonal(similarity, -np.inf)
        k = min(self.config.neighbours, len(self.tools) - 1)
        # Rounding and a stable sort make the order of ties independent of the machine.
        return np.argsort(-np.round(similarity, 5), axis=1, kind="stable")[:, :k].astype(np.int64)

    def near(self, tool_id: str) -> tuple[str, ...]:
        """Return the ids of N_K(t), nearest first; empty for an unknown tool."""
        if not self.known(tool_id):
            return ()
        return tuple(
            self.tools.tools[i].id for i in self.neighbours[self.tools.index(tool_id)].tolist()
        )

    @cached_property
    def fits(self) -> NDArray[np.bool_]:
        """Whether the row's tool can directly precede the column's (n, n).

        They share a type or, if no tool has types, the tool graph has the link.
        """
        n = len(self.tools)
        fits = np.zeros((n, n), dtype=np.bool_)
        if not self._typed:
            for a, b in self.tools.links:
                fits[self.tools.index(a), self.tools.index(b)] = True
            return fits
        place = {x: i for i, x in enumerate(self.types)}
        outputs = np.zeros((n, len(place)), np.float32)
        inputs = np.zeros((n, len(place)), np.float32)
        for i, tool in enumerate(self.tools.tools):
            outputs[i, [place[x] for x in tool.outputs]] = 1
            inputs[i, [place[x] for x in tool.inputs]] = 1
        return np.asarray(outputs @ inputs.T > 0)

    def connects(self, source: str, target: str) -> bool:
        """Return whether a tool can directly precede another; False if one is unknown."""
        if not (self.known(source) and self.known(target)):
            return False
        return bool(self.fits[self.tools.index(source), self.tools.index(target)])

    def between(self, before: Iterable[str], after: Iterable[str]) -> NDArray[np.int64]:
        """Return the tools that fit after all of `before` and before all of `after`.

        No tool fits an unknown one.
        """
        fitting = np.ones(len(self.tools), dtype=np.bool_)
        for tool in before:
            fitting &= self.fits[self.tools.index(tool)] if self.known(tool) else False
        for tool in after:
            fitting &= self.fits[:, self.tools.index(tool)] if self.known(tool) else False
        return np.flatnonzero(fitting).astype(np.int64)

    def compat(self, source: PlanNode, target: PlanNode) -> float:
        """Return the compatibility of an edge, 0 to 1.

        |out(t_u) ∩ in(t_v)| / max(|in(t_v)|, 1), equation 4; if no tool has types, 1 if the tool
        graph has the link.
        """
        if not self._typed:
            return float(self.tools.linked(source.tool, target.tool))
        needed = set(target.inputs)
        return len(needed.intersection(source.outputs)) / max(len(needed), 1)

    def relevance(self, request: str) -> Floats:
        """Return s(r, t) = cos(e(r), e(t)) of a request and each tool (n,)."""
        row = self.texts.rows([request])[0]
        return np.asarray(self.vectors @ self.texts.matrix[row], dtype=np.float32)

    def prepare(self, graphs: Iterable[PlanGraph], more: Iterable[str] = ()) -> None:
        """Encode all texts of plans in one call, which is faster than one by one."""
        texts = dict.fromkeys(more)
        unknown: dict[str, None] = {}
        for graph in graphs:
            texts[graph.request] = None
            for node in graph.nodes:
                texts[self.step_text(node.text)] = None
                if not self.known(node.tool):
                    unknown[self.tool_text(node.tool)] = None
        self.texts.rows(list(texts))
        self.texts.rows(list(unknown), "passage")
