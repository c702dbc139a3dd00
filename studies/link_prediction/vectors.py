"""Vectors of the texts of tools and parameters, for all that predicts links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hvr.knowledge.retrieval.text_vectors import TextVectors
from hvr.tools.catalogue.schema import Catalogue, own_descriptions
from hvr.tools.navigation.graph import GraphTool
from hvr.tools.navigation.graph_log import MeaningNames
from hvr.values import cached_property

Matrix = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class NodeVectors:
    """Tools and parameters as rows.

    Args:
        tools: names, in the order of the rows.
        parameters: meanings, in the order of the rows.
        of_tools: float32 (tools, dimension), rows of length 1.
        of_parameters: float32 (parameters, dimension), rows of length 1.
        takes: of each tool the rows of the parameters that it takes.
        gives: of each tool the rows of the parameters that it gives.
        groups: int64 (tools,): the catalogue of each; tools of two are never linked.
    """

    tools: tuple[str, ...]
    parameters: tuple[str, ...]
    of_tools: Matrix
    of_parameters: Matrix
    takes: tuple[tuple[int, ...], ...]
    gives: tuple[tuple[int, ...], ...]
    groups: NDArray[np.int64]

    @cached_property
    def row(self) -> Mapping[str, int]:
        """The row of each tool."""
        return {name: i for i, name in enumerate(self.tools)}

    @cached_property
    def together(self) -> NDArray[np.bool_]:
        """Which tools are of one catalogue, (tools, tools)."""
        return np.asarray(self.groups[:, None] == self.groups[None, :])


def node_vectors(
    catalogue: Catalogue,
    names: MeaningNames,
    encoder: TextVectors,
    groups: Mapping[str, int] | None = None,
) -> NodeVectors:
    """Return the vectors of a catalogue.

    Args:
        catalogue: the tools.
        names: of the meanings of their parameters.
        encoder: of names with their descriptions.
        groups: a number for the catalogue of each tool; all are of one if None.

    Raises:
        MissingExtraError: the package of the encoder is not installed.
    """
    texts: dict[str, str] = {}
    nodes: list[GraphTool] = []
    for tool in catalogue.tools:
        nodes.append(names.graph_tool(tool))
        for parameter, gives in [(p, False) for p in tool.takes] + [(p, True) for p in tool.gives]:
            meaning = names.name(tool.name, parameter.name, gives=gives)
            text = f"{parameter.leaf}: {parameter.description}".replace("_", " ")
            texts.setdefault(meaning, text)
    rows = {meaning: i for i, meaning in enumerate(texts)}
    said = _texts(catalogue, groups or {})
    vectors = encoder.encode(said)
    of_parameters = encoder.encode(list(texts.values()))
    return NodeVectors(
        tuple(tool.name for tool in catalogue.tools),
        tuple(texts),
        vectors,
        of_parameters if len(of_parameters) else np.zeros((0, vectors.shape[1]), np.float32),
        tuple(tuple(sorted(rows[p] for p in node.takes)) for node in nodes),
        tuple(tuple(sorted(rows[p] for p in node.gives)) for node in nodes),
        np.array([(groups or {}).get(t.name, 0) for t in catalogue.tools], dtype=np.int64),
    )


def _texts(catalogue: Catalogue, groups: Mapping[str, int]) -> list[str]:
    """Return each tool's name with what its description says of it alone."""
    by_group: dict[int, list[str]] = {}
    for tool in catalogue.tools:
        by_group.setdefault(groups.get(tool.name, 0), []).append(tool.description)
    own = {group: iter(own_descriptions(some)) for group, some in by_group.items()}
    return [
        f"{tool.name}: {next(own[groups.get(tool.name, 0)])}".replace("_", " ")
        for tool in catalogue.tools
    ]
