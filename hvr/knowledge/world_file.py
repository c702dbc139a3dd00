"""The content of a `world.toml`: the files, robots, scenes and tasks of a world."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from glob import glob
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from hvr.base.files import data_path
from hvr.base.printable import nearest
from hvr.base.texts import read_toml
from hvr.errors import DataFileError, UsageError
from hvr.knowledge.ontology import Ontology, ontology_of
from hvr.pddl import Domain, parse_domain
from hvr.values import Value, cached_property

FILE = "world.toml"
DEFAULT_WORLD = "kitchen"

_SCENE_ENDING = ".json.gz"
_KEYS: Mapping[str, tuple[Any, str]] = {
    "name": (str, "a string"),
    "domain": (str, "the name of a file"),
    "ontology": (list, "a list of files"),
    "problems": (list, "a list of file names, in which * is a wildcard"),
    "prompts": (str, "the name of a folder"),
    "environment": (str, "module:function"),
    "env_timeout": ((int, float), "a positive number of seconds"),
    "environments": (list, "a list of names of environments for the scenes"),
    "scenes": (list, "a list of file names, in which * is a wildcard"),
    "first_scene": (str, "the name of a scene"),
    "task_files": (list, "a list of file names, in which * is a wildcard"),
    "tasks": (dict, "a table [tasks.NAME] for each task"),
    "agents": (dict, "a table [agents.NAME] for each robot"),
    "tools": (dict, "a table [tools] that names the sources of the tools"),
}


class Agent(Value):
    """A kind of robot, with its own domain over the world's objects, types and facts."""

    name: str
    path: Path
    description: str = ""

    json_shape = "name domain=path description"

    def domain(self) -> Domain:
        """Return the domain, which is read once.

        Raises:
            DataFileError, PddlError: The file is missing or damaged.
        """
        return _domain(self.path)


class WorldTask(Value):
    """A task of a world; `goal` (a sentence or PDDL) replaces the goal of the problem."""

    name: str
    problem: Path
    goal: str = ""


@dataclass(frozen=True)
class ToolTask:
    """A task in a tool world.

    Args:
        done: Tools that must have been called.
        known: Meanings of parameters for which a value must be found.
        values: Values given by the request, by parameter or meaning.
    """

    name: str
    request: str = ""
    done: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)


_Table = TypeVar("_Table")


class WorldFile:
    """The content of a folder's `world.toml`.

    Args:
        trusted: Whether code and programs that `world.toml` names may run.

    Attributes:
        scenes: Files of recorded scenes by scene name.
        first_scene: The default scene, also for an `environment` that generates its own problems;
            empty in a world of problems.
        agents: Robots by name; the first is the default.
        prompts: Folder of prompt templates for language models; None for the general templates.
        environment: `module:function` of a fact environment; empty for the PDDL environment.
        env_timeout: Time limit in seconds for each call of the environment; 0 if not given.
        environments: Names of environments that play the scenes; the first is the default.
        tools: Sources of the tools (`hvr.tools.calling.worlds`); empty in a world with a domain.
        tool_tasks: Tasks by name; only in a tool world.

    Raises:
        DataFileError: `world.toml` is missing, not TOML, or incomplete.
    """

    def __init__(self, folder: Path, *, trusted: bool = True) -> None:
        self.folder = folder
        self.trusted = trusted
        self.file = folder / FILE
        if not self.file.is_file():
            raise DataFileError(
                f"{folder} is not a world folder: {FILE} is missing (`hvr world new` creates one)"
            )
        content = read_toml(self.file)
        self._check_kinds(content)
        self._content = content
        self.tools: Mapping[str, Any] = MappingProxyType(content.get("tools", {}))
        if self.tools:
            self._check_tools(content)
        elif "domain" not in content:
            raise self._wrong(
                'domain is missing: write domain = "domain.pddl", or [tools] for a tool world'
            )
        self.name: str = content.get("name", folder.resolve().name)
        self.domain_file = folder / content.get("domain", "domain.pddl")
        self.ontology_files = self._files(content, "ontology")
        self.problem_files = self._files(content, "problems")
        self.task_files = self._files(content, "task_files")
        self.prompts = folder / content["prompts"] if "prompts" in content else None
        self.environment: str = content.get("environment", "")
        self.env_timeout: float = content.get("env_timeout", 0)
        self.environments: Sequence[str] = tuple(content.get("environments", ()))
        self.scenes: Mapping[str, Path] = MappingProxyType(
            {path.name.partition(".")[0]: path for path in self._files(content, "scenes")}
        )
        self.first_scene: str = content.get("first_scene", next(iter(self.scenes), ""))
        if self.scenes and not self.environments:
            raise self._wrong('a world with scenes needs environments = ["…"]', "scenes")
        # The environment of a PDDL world knows its own scenes.
        if self.first_scene and not self.environment and self.first_scene not in self.scenes:
            raise self._wrong(f"no scene named {self.first_scene!r}", "first_scene")
        self.tasks: Mapping[str, WorldTask] = MappingProxyType(
            {name: self._task(name, value) for name, value in content.get("tasks", {}).items()}
            if not self.tools
            else {}
        )
        self.tool_tasks: Mapping[str, ToolTask] = MappingProxyType(
            {name: self._tool_task(name, v) for name, v in content.get("tasks", {}).items()}
            if self.tools
            else {}
        )
        agents = {name: self._agent(name, v) for name, v in content.get("agents", {}).items()}
        every = Agent("agent", self.domain_file, "can do everything")
        self.agents: Mapping[str, Agent] = MappingProxyType(agents or {every.name: every})

    @property
    def poses_problems(self) -> bool:
        """Whether the environment generates its own requests, so no problem is to be solved."""
        return bool(self.environment) and not (self.problem_files or self.scenes or self.tasks)

    @property
    def agent(self) -> Agent:
        """The default robot."""
        return next(iter(self.agents.values()))

    @cached_property
    def domain(self) -> Domain:
        """The domain.

        Raises:
            UsageError: The world is a tool world, which has no domain.
            DataFileError, PddlError: The domain cannot be read.
        """
        if self.tools:
            raise UsageError(
                f"the world {self.name} has tools instead of a domain: "
                f"use hvr tools run {self.name}",
                field="world",
            )
        return parse_domain(self.domain_file)

    @cached_property
    def ontology(self) -> Ontology | None:
        """The ontology, if any.

        Raises:
            DataFileError: A file cannot be read or is not Turtle.
        """
        return ontology_of(self.ontology_files) if self.ontology_files else None

    @property
    def scene_ontology(self) -> Ontology:
        """The ontology, which a world with scenes must have.

        Raises:
            DataFileError: The ontology is missing, cannot be read or is not Turtle.
        """
        if self.ontology is None:
            raise self._wrong('a world with scenes needs ontology = ["…"]')
        return self.ontology

    def check_trusted(self, code: str, word: str) -> None:
        """Raise an error if an untrusted world uses `code`, which the line with `word` names.

        Raises:
            UsageError: The world is not trusted; see `is_trusted`.
        """
        if not self.trusted:
            raise UsageError(
                f"{self.file}:{line_of(self.file, word)}: {self.name} would run {code}. hvr "
                f"runs code of a folder only if its path is explicit: write "
                f"{os.curdir}{os.sep}{self.folder}",
                field="world",
            )

    def unmatched_patterns(self) -> tuple[tuple[str, str], ...]:
        """Return (entry, pattern) for each file pattern that matches no file."""
        keys = ("ontology", "problems", "task_files", "scenes")
        return tuple(
            (key, name)
            for key in keys
            for name in self._content.get(key, ())
            if not self._files({key: [name]}, key)
        )

    # --- parsing ---

    def _check_kinds(self, content: Mapping[str, Any]) -> None:
        for key, value in content.items():
            if key not in _KEYS:
                near = nearest(key, _KEYS)
                hint = f"did you mean {near!r}?" if near else f"expected one of {', '.join(_KEYS)}"
                raise self._wrong(f"unknown entry {key!r}; {hint}", key)
            kind, words = _KEYS[key]
            texts = not isinstance(value, list) or all(isinstance(one, str) for one in value)
            bad = isinstance(value, bool) or (isinstance(value, int | float) and not value > 0)
            if not isinstance(value, kind) or not value or not texts or bad:
                empty = value in ("", [], {})
                raise self._wrong(f"{key} must {'not be empty' if empty else f'be {words}'}", key)

    def _files(self, content: Mapping[str, Any], key: str) -> tuple[Path, ...]:
        files: list[Path] = []
        for name in content.get(key, ()):
            pattern = any(sign in name for sign in "*?[")
            found = [name]
            if pattern:  # Path.glob rejects absolute patterns
                found = sorted(glob(name, root_dir=self.folder, recursive=True))  # noqa: PTH207
            files += [self.folder / one for one in found]
        return tuple(dict.fromkeys(files))

    def _task(self, name: str, value: Any) -> WorldTask:
        task = self._table(WorldTask, "task", name, value)
        return task.replace(problem=self.folder / task.problem)

    def _check_tools(self, content: Mapping[str, Any]) -> None:
        for key in content:
            if key not in ("name", "tools", "tasks"):
                raise self._wrong(f"a tool world cannot have {key!r}", key)

    def _tool_task(self, name: str, value: Any) -> ToolTask:
        task = self._table(ToolTask, "task", name, value)
        if not task.done and not task.known:
            needed = 'must have done = ["TOOL"] or known = ["MEANING"]'
            raise self._wrong(f"the task {name!r} {needed}", name)
        return task

    def _agent(self, name: str, value: Any) -> Agent:
        agent = self._table(Agent, "robot", name, value)
        return agent.replace(path=self.folder / agent.path)

    def _table(self, kind: type[_Table], what: str, name: str, value: Any) -> _Table:
        from hvr.base.declared import decode

        named = {"name": name, **value} if isinstance(value, dict) else value
        try:
            return decode(kind, named, f"the {what} {name!r}")
        except UsageError as error:
            raise self._wrong(str(error), name) from None

    def _wrong(self, text: str, word: str = "") -> DataFileError:
        line = line_of(self.file, word) if word else 1
        return DataFileError(f"{self.file}:{line}: {text}")


def line_of(file: Path, word: str) -> int:
    """Return the number of the first line that contains a word outside comments, else 1."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return 1
    numbered = enumerate(lines, 1)
    return next((n for n, line in numbered if word in line and not line.startswith("#")), 1)


@cache
def shipped_worlds() -> Mapping[str, Path]:
    folders = sorted(data_path("worlds").iterdir())
    return MappingProxyType({one.name: one for one in folders if one.is_dir()})


def is_explicit(name: str) -> bool:
    """Return whether a name is certainly a path: absolute, or starting with `./` or `../`."""
    first = name.replace(os.altsep or os.sep, os.sep).partition(os.sep)[0]
    return first in (os.curdir, os.pardir) or Path(name).is_absolute()


def find_world(name: str) -> Path:
    """Return the folder of a world, given by path or by the name of a world included in hvr.

    A name means an included world even if a folder has the same name; `./NAME` means the folder.

    Raises:
        UsageError: The folder does not exist.
    """
    shipped = shipped_worlds()
    if name in shipped:
        return shipped[name]
    path = Path(name)
    if path.is_dir():
        return path
    near = nearest(name, shipped)
    hint = f"did you mean {near!r}?" if near else f"give a folder, or one of {', '.join(shipped)}"
    raise UsageError(f"world {name!r} does not exist; {hint}", field="world")


def is_trusted(name: str) -> bool:
    """Return whether a world's code may run: it is included in hvr, or given by explicit path."""
    return name in shipped_worlds() or is_explicit(name)


def load_world(name: str | Path = DEFAULT_WORLD, *, trust: bool = False) -> WorldFile:
    """Load a world by name or folder; worlds included in hvr are read once.

    If `trust`, its code may run even if `is_trusted` returns False. A `Path` counts as explicit.

    Raises:
        UsageError: The world does not exist, or the name has the wrong type.
        DataFileError: The `world.toml` is missing or invalid.
    """
    if not isinstance(name, str | Path):
        raise UsageError(f"a world must be a name or a path, found {type(name).__name__}")
    if isinstance(name, Path):
        name = str(name) if name.is_absolute() else f"./{name}"
    if name in shipped_worlds():
        return _shipped(name)
    return WorldFile(find_world(name), trusted=trust or is_trusted(name))


@cache
def _shipped(name: str) -> WorldFile:
    return WorldFile(find_world(name))


@cache
def scene_files() -> Mapping[str, Path]:
    """Return the files of all included scenes by name; the default world comes first."""
    shipped = shipped_worlds()
    folders = sorted(shipped.values(), key=lambda folder: folder.name != DEFAULT_WORLD)
    found: dict[str, Path] = {}
    for folder in folders:
        files = (folder / "scenes").glob(f"*{_SCENE_ENDING}")
        for path in sorted(files, key=lambda path: (len(path.name), path.name)):
            found.setdefault(path.name.removesuffix(_SCENE_ENDING), path)
    return MappingProxyType(found)


def world_of_scene(scene: str) -> WorldFile:
    """Return the world of a scene, or the default world for an unknown scene."""
    path = scene_files().get(scene)
    return _shipped(DEFAULT_WORLD if path is None else path.parent.parent.name)


def world_of_types(types: Iterable[str]) -> WorldFile:
    """Return the world with scenes that covers the largest number of AI2-THOR types."""
    wanted = set(types)
    names = {path.parent.parent.name: None for path in scene_files().values()}
    worlds = [_shipped(name) for name in names]
    return max(worlds, key=lambda world: len(wanted & set(world.scene_ontology.object_types)))


def load_agent(name: str) -> Agent:
    """Return a robot of the default world by name.

    Raises:
        UsageError: The name is unknown; the message lists all robots.
    """
    agents = load_world().agents
    agent = agents.get(name.strip().lower())
    if agent is None:
        near = difflib.get_close_matches(name.lower(), agents, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(f"unknown agent {name!r}{hint} (agents: {', '.join(agents)})")
    return agent


@cache
def _domain(path: Path) -> Domain:
    return parse_domain(path)
