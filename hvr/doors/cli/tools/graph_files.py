"""The arguments that say which tools and which logs a graph is made of."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.doors.cli.arguments import real
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.tools.catalogue.schema import Catalogue
    from hvr.tools.navigation.observations import MeaningNames
    from hvr.tools.navigation.opening import OpenedGraph


def add_graph_arguments(parser: argparse.ArgumentParser) -> None:
    """Add catalogues, logs, and how meanings are found."""
    parser.add_argument("files", metavar="FILE", nargs="*", help=(
        "descriptions of tools, as `hvr tools import` reads them, or a world"))  # fmt: skip
    parser.add_argument("--log", metavar="FILE", type=Path, action="append", default=[], help=(
        "log of calls, or of a graph (--events); may be repeated"))  # fmt: skip
    parser.add_argument("--encoder", default="lexical-hash", help=(
        "what tells likeness: lexical-hash, minilm or st:NAME (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--overrides", metavar="FILE", type=Path, help=(
        "TOML file with parameters that mean the same, or not"))  # fmt: skip
    parser.add_argument("--look", metavar="DAYS", type=real, default=0.0, help=(
        "prune the graph after every DAYS days of a log of calls: failing tools are removed, some "
        "are tried again, and weights age (default: never)"))  # fmt: skip


def names_of(args: argparse.Namespace) -> MeaningNames:
    """Return the names of the catalogue's slots.

    Raises:
        UsageError: there are neither tools nor logs, or two tools have one name.
        DataFileError: a file cannot be read.
        MissingExtraError: a file or the encoder needs a package that is not installed.
    """
    from hvr.tools.catalogue.schema import Catalogue
    from hvr.tools.navigation.observations import MeaningNames

    if not args.files and not args.log:
        raise UsageError("give descriptions of tools, or a log with --log")
    if not args.files:
        return MeaningNames(Catalogue(()))
    from hvr.knowledge.retrieval.text_vectors import TextVectors
    from hvr.tools.catalogue.merging import NONE, meanings, read_overrides

    catalogue, own = described(args.files)
    file = args.overrides or own
    overrides = NONE if file is None else read_overrides(file)
    found = meanings(catalogue, TextVectors(args.encoder), overrides=overrides)
    return MeaningNames(catalogue, found)


def described(names: Sequence[str]) -> tuple[Catalogue, Path | None]:
    """Return the tools of files, or those of one world, with its file of meanings.

    Raises:
        HvrError: a file cannot be read, or the world not be opened.
    """
    from hvr.knowledge.world_file import FILE
    from hvr.tools.catalogue.reading import read_catalogue

    files = [Path(name) for name in names]
    (first, *others) = files
    if others or first.is_file() or (first.exists() and not (first / FILE).is_file()):
        return read_catalogue(files), None
    if not first.exists() and (len(first.parts) > 1 or first.suffix):
        return read_catalogue(files), None
    from hvr.knowledge.world_file import load_world
    from hvr.tools.calling.worlds import listed_tools, meanings_file, open_tools

    world = load_world(names[0])
    catalogue = listed_tools(world) if world.tools else None
    if catalogue is None:
        tools = open_tools(world)
        tools.close()
        catalogue = tools.catalogue
    return catalogue, meanings_file(world)


def opened(args: argparse.Namespace) -> OpenedGraph:
    """Return the graph of the tools after the logs.

    Raises:
        UsageError: there are neither tools nor logs, or two tools have one name.
        DataFileError: a file cannot be read.
        MissingExtraError: a file or the encoder needs a package that is not installed.
    """
    from hvr.tools.navigation.opening import open_graph

    return open_graph(names_of(args), args.log, args.look)
