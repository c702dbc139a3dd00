"""What is known of the tools that a plan calls: links, types, schemas, effects."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hvr.tools.asked import ToolWords, stems
from hvr.tools.catalogue.effects import seems
from hvr.tools.catalogue.reading import read_catalogue
from hvr.tools.catalogue.schema import Effect, ToolSchema
from hvr.tools.datasets import read_graph
from hvr.tools.tool_graph import ToolGraph
from hvr.values import cached_property

_READING = frozenset(
    """
    get find search list show view check read fetch query lookup look retrieve display describe
    count calculate compute compare estimate convert validate verify tell track browse inspect
    ls cat grep wc diff tail head pwd du
    """.split()  # noqa: SIM905
)
"""Verbs with which names of tools begin that change nothing, where no hint says so."""


@dataclass(frozen=True)
class KnownTools:
    """The tools of a file.

    Args:
        graph: The tools with their types and links.
        schemas: Schemas by name; empty for files that only name types.
        linked: Whether the links come from a file, rather than from the schemas.
    """

    graph: ToolGraph
    schemas: Mapping[str, ToolSchema] = field(default_factory=dict)
    linked: bool = False

    @cached_property
    def vocabulary(self) -> ToolWords:
        """The words that tell the tools apart."""
        return ToolWords((tool.id, tool.description) for tool in self.graph.tools)

    def effect(self, tool: str) -> Effect:
        """Return the effect of a tool: its schema's hint, else what the verb of its name says."""
        return effect_of(tool, self.schemas.get(tool))

    def givers(self, parameter: str) -> tuple[str, ...]:
        """Return the tools that give a parameter by their schema or by their name."""
        wanted = stems(parameter)
        if not wanted:
            return ()
        found = []
        for tool in self.graph.tools:
            schema = self.schemas.get(tool.id)
            given = any(wanted == stems(p.leaf) for p in schema.gives) if schema else False
            named = wanted < stems(tool.id) and len(wanted) > 1
            if given or (named and self.effect(tool.id) is Effect.READS):
                found.append(tool.id)
        return tuple(found)


def effect_of(tool: str, schema: ToolSchema | None = None) -> Effect:
    """Return the effect of a tool: its schema's hint, else what the verb of its name says."""
    if schema is not None and schema.effect is not Effect.UNKNOWN:
        return schema.effect
    suggested = seems(tool.rpartition(".")[2], schema.description if schema is not None else "")
    if suggested is not Effect.READS:
        return suggested
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", tool.rpartition(".")[2])
    verbs = [words[0].lower()] if words else []
    if schema is not None:
        # Descriptions say it in the first word of a sentence: "Convert litres to gallons".
        starts = re.findall(r"(?:^|[.:])\s+([A-Z][a-z]+)", f" {schema.description}")
        verbs += [
            form for word in starts for form in (word.lower(), word.lower().removesuffix("s"))
        ]
    return Effect.READS if _READING & set(verbs) else Effect.UNKNOWN


def read_known_tools(tools: Path, graph: Path | None = None) -> KnownTools:
    """Read what two files say of tools.

    Raises:
        DataFileError: A file cannot be read, or is in no known format.
        MissingExtraError: A file is YAML, and PyYAML is not installed.
        UsageError: Two tools have one name, or a link names an unknown tool.
    """
    read = read_graph(tools, graph)
    schemas = {tool.name: tool for tool in read_catalogue([tools]).tools}
    # Lists of ids and types have no schemas: their entries have neither descriptions nor types.
    typed = any(p.type or p.description for tool in schemas.values() for p in tool.takes)
    listed = bool(read.links) and (graph is not None or not typed)
    return KnownTools(read, schemas if typed else {}, listed)
