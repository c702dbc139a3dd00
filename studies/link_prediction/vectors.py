"""Text vectors of tools and parameters, which all link predictors use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hvr.knowledge.retrieval.embedders import TextVectors
from hvr.tools.catalogue.schema import Catalogue, own_descriptions
from hvr.tools.navigation.graph import GraphTool
from hvr.tools.navigation.graph_log import MeaningNames
from hvr.values import cached_property

Matrix = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class NodeVectors:
    """Tools and parameters as rows of matrices.

    Args:
        tools: Tool names, in row order.
        parameters: Parameter meanings, in row order.
        of_tools: Unit vectors of the tools, float32, shape (tools, dimension).
        of_parameters: Unit vectors of the parameters, float32, shape (parameters, dimension).
        takes: Rows of each tool's input parameters.
        gives: Rows of each tool's output parameters.
        groups: Catalogue of each tool, int64, shape (tools,); tools of different catalogues are
            never linked.
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
        return {name: i for i, name in enumerate(self.tools)}

    @cached_property
    def together(self) -> NDArray[np.bool_]:
        """Whether two tools belong to the same catalogue, shape (tools, tools)."""
        return np.asarray(self.groups[:, None] == self.groups[None, :])


def node_vectors(
    catalogue: Catalogue,
    names: MeaningNames,
    encoder: TextVectors,
    groups: Mapping[str, int] | None = None,
) -> NodeVectors:
    """Return the vectors of a catalogue.

    Args:
        encoder: Encoder of names with descriptions.
        groups: Catalogue number of each tool; None for a single catalogue.

    Raises:
        MissingExtraError: The encoder's package is not installed.
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
    by_group: dict[int, list[str]] = {}
    for tool in catalogue.tools:
        by_group.setdefault(groups.get(tool.name, 0), []).append(tool.description)
    own = {group: iter(own_descriptions(some)) for group, some in by_group.items()}
    return [
        f"{tool.name}: {next(own[groups.get(tool.name, 0)])}".replace("_", " ")
        for tool in catalogue.tools
    ]
