"""What `hvr tools plan` and `run` are asked: a world of tools, a goal, and what is known."""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.doors.cli.arguments import add_json
from hvr.doors.cli.trust import add_trust
from hvr.errors import UsageError
from hvr.pddl.diagnostics import nearest
from hvr.tools.catalogue.naming_values import meaning_of
from hvr.tools.catalogue.schema import Catalogue, quoted

if TYPE_CHECKING:
    from hvr.knowledge.retrieval.text_vectors import TextVectors
    from hvr.knowledge.world_file import ToolTask, WorldFile
    from hvr.tools.calling.environment import ToolEnvironment
    from hvr.tools.catalogue.merging import ParameterMeaning
    from hvr.tools.navigation.errands import Learnt
    from hvr.tools.navigation.request import ToolRequest
    from hvr.tools.navigation.suiting import Suiting


@dataclass(frozen=True)
class AskedTools:
    """A request to a world of tools.

    Args:
        world: its file.
        tools: opened; the caller closes them.
        meanings: of their parameters.
        wanted: The goal calls and said values; None if options and tasks do not tell them.
        request: in words.
        encoder: of texts.
    """

    world: WorldFile
    tools: ToolEnvironment
    meanings: tuple[ParameterMeaning, ...]
    wanted: ToolRequest | None
    request: str
    encoder: TextVectors

    @property
    def suits(self) -> Suiting:
        """The meanings of parameters, without what calls taught."""
        from hvr.tools.navigation.suiting import Suiting

        return Suiting(None, self.meanings)


def add_errand(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say where and what."""
    parser.add_argument("world", metavar="WORLD", help=(
        "a folder whose world.toml has [tools], written as ./FOLDER since it is run, or one that "
        "hvr brings"))  # fmt: skip
    add_trust(parser)
    parser.add_argument("request", metavar="REQUEST", nargs="?", help=(
        "the name of a task of the world; or a request in words, whose goal is said with --goal "
        "or read by --llm; not needed where the world has one task"))  # fmt: skip
    parser.add_argument("--goal", metavar="WHAT", action="append", default=[], help=(
        "a tool that is to have been called, or a parameter of which a value is to be known; may "
        "be repeated"))  # fmt: skip
    parser.add_argument("--given", metavar="NAME=VALUE", action="append", default=[], help=(
        "a value that is known: JSON, or a text; may be repeated"))  # fmt: skip
    parser.add_argument("--encoder", default="lexical-hash", help=(
        "what tells which parameters mean the same: lexical-hash, minilm or st:NAME "
        "(default: %(default)s)"))  # fmt: skip
    parser.add_argument("--graph", metavar="FILE", type=Path, help=(
        "log of the graph learnt from calls (hvr tools graph --log): costs and links come from it, "
        "and `run` adds what its calls show; begun anew if it is not there"))  # fmt: skip
    parser.add_argument("--decisions", metavar="FILE", type=Path, help=(
        "what `hvr tools learn --turns` learnt of the next move: it says of a request in words "
        "whether any tool is of use, and which (default: what the world names)"))  # fmt: skip
    add_json(parser, "print one JSON document")


def asked_tools(args: argparse.Namespace) -> AskedTools:
    """Open the world and read what is wanted of it.

    Raises:
        HvrError: the world cannot be opened, or speaks of what is not there.
    """
    from hvr.knowledge.retrieval.text_vectors import TextVectors
    from hvr.knowledge.world_file import load_world
    from hvr.tools.calling.worlds import meanings_file, open_tools
    from hvr.tools.catalogue.merging import NONE, meanings, read_overrides
    from hvr.tools.navigation.asked import ToolErrand, errand_of

    world = load_world(args.world, trust=args.trust_project)
    task = _task(world, args)
    tools = open_tools(world)
    try:
        file = meanings_file(world)
        overrides = NONE if file is None else read_overrides(file)
        encoder = TextVectors(args.encoder)
        found = meanings(tools.catalogue, encoder, overrides=overrides)
        done, known = _goal(args.goal, tools.catalogue, found)
        said = dict(task.values) if task is not None else {}
        values = {meaning_of(name, found, args.goal): value for name, value in said.items()}
        values |= given(args.given, found, args.goal)
        if task is not None and not args.goal:
            done, known = _goal([*task.done, *task.known], tools.catalogue, found)
    except BaseException:
        tools.close()
        raise
    request = task.request if task is not None else args.request or ", ".join(args.goal)
    asked = AskedTools(world, tools, found, None, request, encoder)
    if not done and not known:
        return asked
    errand = ToolErrand(tuple(done), tuple(known), values, request)
    return replace(asked, wanted=errand_of(errand, tools.catalogue, asked.suits))


def learnt_before(asked: AskedTools, graph: Path | None, *, write: bool = False) -> Learnt:
    """Return the experience and the conditions of earlier runs.

    Args:
        asked: The world.
        graph: The log of a graph; None for none.
        write: Whether this run is added to the log.

    Raises:
        DataFileError: The log cannot be read.
    """
    from hvr.tools.navigation.conditions_file import conditions_path, read_conditions
    from hvr.tools.navigation.errands import Learnt
    from hvr.tools.navigation.graph_experience import opened_experience

    experience = opened_experience(graph, asked.tools.catalogue, write=write)
    learnt = Learnt(experience, meanings=asked.meanings)
    if graph is not None:
        learnt = replace(learnt, conditions=read_conditions(conditions_path(graph)))
    return learnt


def given(
    texts: Sequence[str], found: Sequence[ParameterMeaning], goals: Collection[str] = ()
) -> dict[str, Any]:
    """Return the values that options give, by meaning.

    Raises:
        UsageError: one is not NAME=VALUE, or nothing is called so.
    """
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"{quoted(text)} is not NAME=VALUE", field="given")
        values[meaning_of(name, found, goals)] = _value(value)
    return values


def explained(values: Mapping[str, Any]) -> str:
    """Return values in one line, without what looks like a key."""
    from hvr.tools.calling.log import redacted

    plain: Any = redacted(dict(values))
    return ", ".join(f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in plain.items())


def _task(world: WorldFile, args: argparse.Namespace) -> ToolTask | None:
    tasks = world.tool_tasks
    if args.request in tasks:
        return tasks[args.request]
    if args.request is None and not args.goal:
        if len(tasks) == 1:
            return next(iter(tasks.values()))
        listed = f": {', '.join(tasks)}" if tasks else ""
        raise UsageError(f"name a task{listed}, or say with --goal what is wanted", field="request")
    return None


def _goal(
    texts: Sequence[str], catalogue: Catalogue, found: Sequence[ParameterMeaning]
) -> tuple[list[str], list[str]]:
    tools = {tool.name for tool in catalogue.tools}
    done = [text for text in texts if text in tools]
    known = []
    for text in texts:
        if text not in tools:
            if near := nearest(text, tools):
                raise UsageError(
                    f"no tool is called {quoted(text)}; did you mean {near!r}?", field="goal"
                )
            known.append(meaning_of(text, found))
    return done, known


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
