"""What is known of the tools before any plan: vectors, similar tools, which fit which."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hvr.errors import UsageError
from hvr.tools.step_text import without_tool
from hvr.tools.tool_graph import ToolGraph
from hvr.verifier.config import VerifierConfig
from hvr.verifier.graph import PlanGraph, PlanNode

Floats = NDArray[np.float32]
_WORD = re.compile(r"[A-Za-z0-9_.\-]+")


class Encoder(Protocol):
    """Turns texts into vectors of length 1."""

    def encode(self, texts: Sequence[str], role: Literal["", "query", "passage"] = "") -> Floats:
        """float32 (number of texts, dimension)."""


class TextTable:
    """The vectors of texts, each in one row.

    Args:
        encoder: makes them.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._rows: dict[tuple[str, str], int] = {}
        self._parts: list[Floats] = []

    def rows(
        self, texts: Sequence[str], role: Literal["", "query", "passage"] = "query"
    ) -> NDArray[np.int64]:
        """Return the rows of texts; new ones are encoded, all at once."""
        new = list(dict.fromkeys(t for t in texts if (role, t) not in self._rows))
        if new:
            self._parts.append(np.asarray(self._encoder.encode(new, role), dtype=np.float32))
            size = len(self._rows)
            self._rows.update({(role, t): size + i for i, t in enumerate(new)})
        return np.fromiter((self._rows[role, t] for t in texts), np.int64, len(texts))

    @property
    def matrix(self) -> Floats:
        """All vectors (number of rows, dimension)."""
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0] if self._parts else np.zeros((0, 0), np.float32)


class ToolSpace:
    """Tools with their vectors.

    Args:
        tools: the tools and their links.
        encoder: of texts.
        config: its `tool_text`, `step_names`, `compatibility` and `neighbours` count here.

    Raises:
        UsageError: there are no tools, or types are asked for and the tools have none.
    """

    def __init__(self, tools: ToolGraph, encoder: Encoder, config: VerifierConfig) -> None:
        if not len(tools):
            raise UsageError("there are no tools: a verifier needs at least one")
        by_types = config.compatibility == "types" or (
            config.compatibility == "auto" and tools.typed
        )
        if by_types and not tools.typed:
            raise UsageError(
                "compatibility by types is asked for, but no tool says what it takes or gives: "
                "choose compatibility: links"
            )
        self.tools = tools
        self.compatibility: Literal["types", "links"] = "types" if by_types else "links"
        self.texts = TextTable(encoder)
        self._config = config
        self._ids = frozenset(t.id for t in tools.tools)
        self._clean: dict[str, str] = {}
        self.rows = self.texts.rows([self.tool_text(t.id) for t in tools.tools], "passage")
        self.vectors: Floats = self.texts.matrix[self.rows]
        self.types = sorted({x for t in tools.tools for x in (*t.inputs, *t.outputs)})

    def tool_text(self, tool_id: str) -> str:
        """Return what is encoded for a tool; an unknown tool is its id."""
        if tool_id not in self.tools:
            return tool_id.replace("_", " ")
        description = self.tools.tool(tool_id).description or tool_id.replace("_", " ")
        if self._config.tool_text == "name_and_description":
            return f"{tool_id} # {description}"
        return description

    def step_text(self, text: str) -> str:
        """Return what is encoded for a step."""
        if self._config.step_names == "keep":
            return text
        if text not in self._clean:
            named = self._ids.intersection(_WORD.findall(text))
            self._clean[text] = without_tool(text, sorted(named, key=lambda t: (-len(t), t)))
        return self._clean[text]

    def known(self, tool_id: str) -> bool:
        """Return the tool is one of these."""
        return tool_id in self.tools

    @cached_property
    def similarity(self) -> Floats:
        """Cosines between tools (n, n)."""
        return np.asarray(self.vectors @ self.vectors.T, dtype=np.float32)

    @cached_property
    def neighbours(self) -> NDArray[np.int64]:
        """N_K: numbers of the K most similar other tools, nearest first (n, K)."""
        similarity = self.similarity.copy()
        np.fill_diagonal(similarity, -np.inf)
        k = min(self._config.neighbours, len(self.tools) - 1)
        # Rounded and stable, so that equal tools keep their order on every machine.
        return np.argsort(-np.round(similarity, 5), axis=1, kind="stable")[:, :k].astype(np.int64)

    def near(self, tool_id: str) -> tuple[str, ...]:
        """Return ids of the similar tools, nearest first; none of an unknown tool."""
        if not self.known(tool_id):
            return ()
        return tuple(
            self.tools.tools[i].id for i in self.neighbours[self.tools.index(tool_id)].tolist()
        )

    @cached_property
    def fits(self) -> NDArray[np.bool_]:
        """Which tool can come straight before which (n, n), as `compatibility` says."""
        n = len(self.tools)
        fits = np.zeros((n, n), dtype=np.bool_)
        if self.compatibility == "links":
            for a, b in self.tools.links:
                fits[self.tools.index(a), self.tools.index(b)] = True
            return fits
        place = {x: i for i, x in enumerate(self.types)}
        gives = np.zeros((n, len(place)), np.float32)
        takes = np.zeros((n, len(place)), np.float32)
        for i, tool in enumerate(self.tools.tools):
            gives[i, [place[x] for x in tool.outputs]] = 1
            takes[i, [place[x] for x in tool.inputs]] = 1
        return np.asarray(gives @ takes.T > 0)

    def connects(self, source: str, target: str) -> bool:
        """Return a tool can come straight before another; False if one is unknown."""
        if not (self.known(source) and self.known(target)):
            return False
        return bool(self.fits[self.tools.index(source), self.tools.index(target)])

    def between(self, before: Iterable[str], after: Iterable[str]) -> NDArray[np.int64]:
        """Return numbers of the tools that fit after all of the first and before all of the second.

        An unknown tool on either side fits none.
        """
        fitting = np.ones(len(self.tools), dtype=np.bool_)
        for tool in before:
            fitting &= self.fits[self.tools.index(tool)] if self.known(tool) else False
        for tool in after:
            fitting &= self.fits[:, self.tools.index(tool)] if self.known(tool) else False
        return np.flatnonzero(fitting).astype(np.int64)

    def compat(self, source: PlanNode, target: PlanNode) -> float:
        """Compatibility of an edge: equation 4, or 1 where the tool graph has the link."""
        if self.compatibility == "links":
            return float(self.tools.linked(source.tool, target.tool))
        wanted = set(target.inputs)
        return len(wanted.intersection(source.outputs)) / max(len(wanted), 1)

    def relevance(self, request: str) -> Floats:
        """s(r, t): cosines of a request and each tool (n,)."""
        row = self.texts.rows([request])[0]
        return np.asarray(self.vectors @ self.texts.matrix[row], dtype=np.float32)

    def prepare(self, graphs: Iterable[PlanGraph], more: Iterable[str] = ()) -> None:
        """Encode all texts of some plans at once, which is faster than one by one."""
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
