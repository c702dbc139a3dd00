"""Catalogues from files of any supported format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hvr.base.texts import read_json, read_json_lines, read_text, read_yaml
from hvr.errors import DataFileError
from hvr.knowledge.retrieval.embedders import TextVectors
from hvr.tools.catalogue.formats import is_schema, read_tool, tool_list
from hvr.tools.catalogue.openapi import is_openapi, read_openapi
from hvr.tools.catalogue.python_functions import read_functions
from hvr.tools.catalogue.schema import Catalogue, ToolSchema, quoted
from hvr.tools.catalogue.schema_matching import meanings, tool_graph
from hvr.tools.tool_plans import Link, Tool, ToolGraph

KNOWN = (
    "a list of function schemas (OpenAI, Anthropic), MCP's tools/list, OpenAPI 3 (JSON or YAML), "
    "Python functions with type hints (.py), or a list of tools with an id"
)


def read_catalogue(paths: Sequence[Path]) -> Catalogue:
    """Return the tools of several files, in the order of the files.

    Raises:
        DataFileError: A file cannot be read, or has no valid tool.
        UsageError: Two tools have the same name.
    """
    files = [read_file(path) for path in paths]
    return Catalogue(
        tuple(tool for file in files for tool in file.tools),
        tuple(text for file in files for text in file.left_out),
    )


def read_tools(path: Path) -> tuple[ToolSchema, ...]:
    return read_file(path).tools


def read_file(path: Path) -> Catalogue:
    """Return the tools of a file, without those whose description is invalid.

    Raises:
        DataFileError: The file cannot be read, or has no valid tool.
        UsageError: Two tools have the same name.
    """
    if path.suffix == ".py":
        return Catalogue(read_functions(read_text(path), str(path)))
    document = read_document(path)
    if is_openapi(document):
        described = read_openapi(document, str(path))
        return Catalogue(tuple(one.tool for one in described.operations), described.left_out)
    tools, left_out = [], []
    for number, entry in enumerate(_entries(document, path), 1):
        try:
            tools.append(read_tool(entry, f"{path}: tool {number}"))
        except DataFileError as wrong:
            left_out.append(str(wrong))
    if not tools:
        raise DataFileError(left_out[0])
    return Catalogue(tuple(tools), tuple(left_out))


def read_tool_graph(path: Path) -> ToolGraph:
    """Return the tools of a file with the links between them.

    A file of schemas has no links. They are derived: each tool is linked to every other tool that
    takes one of its results. Descriptions and names decide which results fit.

    Raises:
        DataFileError: The file cannot be read, or has no valid tool.
        UsageError: A tool is duplicated, or a link names an unknown tool.
    """
    if path.suffix != ".py":
        document = read_document(path)
        if not is_openapi(document) and not any(map(is_schema, _entries(document, path))):
            tools = []
            for tool in read_tools(path):
                takes, gives = (tuple(p.name for p in some) for some in (tool.takes, tool.gives))
                tools.append(Tool(tool.name, tool.description, takes, gives))
            links = document.get("links", []) if isinstance(document, dict) else []
            return ToolGraph(tuple(tools), read_links(links, path))
    catalogue = read_catalogue([path])
    return tool_graph(catalogue, meanings(catalogue, TextVectors("lexical-hash")))


def read_links(links: Any, path: Path) -> tuple[Link, ...]:
    if not isinstance(links, list):
        raise DataFileError(f"{path}: expected a list of links, found {quoted(links)}")
    for link in links:
        if not (isinstance(link, dict) and link.get("source") and link.get("target")):
            raise DataFileError(f"{path}: a link lacks its source or target: {quoted(link)}")
    return tuple((str(link["source"]), str(link["target"])) for link in links)


def _entries(document: Any, path: Path) -> list[Any]:
    entries = tool_list(document)
    if entries is None:
        raise DataFileError(f"{path}: no list of tools found; supported formats: {KNOWN}")
    if not entries:
        raise DataFileError(f"{path}: its list of tools is empty")
    return entries


def read_document(path: Path) -> Any:
    if path.suffix in (".yaml", ".yml"):
        return read_yaml(path)
    if path.suffix == ".jsonl":
        return [value for _, value in read_json_lines(path, strict=False)]
    return read_json(path, strict=False)
