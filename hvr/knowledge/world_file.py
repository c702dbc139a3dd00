"""What a `world.toml` says: the files of a world, its robots, its scenes and tasks."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from glob import glob
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hvr.base.files import data_path
from hvr.base.texts import read_toml
from hvr.errors import DataFileError, UsageError
from hvr.knowledge.ontology import Ontology, ontology_of
from hvr.pddl import Domain, parse_domain
from hvr.pddl.diagnostics import nearest
from hvr.values import Value, cached_property

FILE = "world.toml"
DEFAULT_WORLD = "kitchen"
"""The world of what names none: every command has a world to be tried in."""

_SCENE_ENDING = ".json.gz"
_KEYS: Mapping[str, tuple[Any, str]] = {
    "name": (str, "a text"),
    "domain": (str, "the name of a file"),
    "ontology": (list, "a list of files"),
    "problems": (list, "a list of files, which may have *"),
    "prompts": (str, "the name of a folder"),
    "environment": (str, "module:function"),
    "env_timeout": ((int, float), "a number of seconds"),
    "environments": (list, "a list of names of environments that play scenes"),
    "scenes": (list, "a list of files, which may have *"),
    "first_scene": (str, "the name of a scene"),
    "task_files": (list, "a list of files, which may have *"),
    "tasks": (dict, "a table [tasks.NAME] for each task"),
    "agents": (dict, "a table [agents.NAME] for each robot"),
    "tools": (dict, "a table [tools] that says where the tools are"),
}


class Agent(Value):
    """A kind of robot: it has a domain of its own over the same objects, types and facts.

    Args:
        name: the name that users give.
        path: the file of its domain.
        description: what it can do, in a sentence.
    """

    name: str
    path: Path
    description: str

    def domain(self) -> Domain:
        """Return its domain, which is read only once.

        Raises:
            DataFileError, PddlError: the file is missing or damaged.
        """
        return _domain(self.path)


class WorldTask(Value):
    """A task of a world.

    Args:
        name: its name.
        problem: the file of its problem.
        goal: what to reach instead of the goal of the problem, as a sentence or as PDDL; empty
            for the problem's own.
    """

    name: str
    problem: Path
    goal: str = ""


@dataclass(frozen=True)
class ToolTask:
    """A task of a world of tools.

    Args:
        name: its name.
        request: what is wanted, in words.
        done: tools that are to have been called.
        known: meanings of which a value is to be known.
        values: what the request says, by parameter or meaning.
    """

    name: str
    request: str = ""
    done: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)


class WorldFile:
    """What the `world.toml` of a folder says.

    Args:
        folder: it has a `world.toml`.
        trusted: Whether code and programs that the folder names may be run.

    Attributes:
        name: of the world.
        domain_file, ontology_files, problem_files, task_files: paths.
        scenes: files of recorded scenes by the name of the scene.
        first_scene: the scene that is taken where none is named; empty in a world of problems.
        tasks: by name.
        agents: by name; the first is taken where none is named.
        prompts: folder of templates for language models; None for those that suit any world.
        environment: `module:function` of an environment of facts; empty for the PDDL environment.
        env_timeout: Seconds that each call of the environment may take; 0 if it does not say.
        environments: names of environments that play the scenes; the first is the usual one.
        tools: where the tools are (`hvr.tools.calling.worlds`); empty in a world of a domain.
        tool_tasks: by name; of a world of tools only.

    Raises:
        DataFileError: `world.toml` is missing, not TOML, or has not what it needs.
    """

    def __init__(self, folder: Path, *, trusted: bool = True) -> None:
        self.folder = folder
        self.trusted = trusted
        self.file = folder / FILE
        if not self.file.is_file():
            raise DataFileError(f"{folder} is no world: it has no {FILE} (hvr world new makes one)")
        content = read_toml(self.file)
        self._check_kinds(content)
        self._content = content
        self.tools: Mapping[str, Any] = MappingProxyType(content.get("tools", {}))
        if self.tools:
            self._check_tools(content)
        elif "domain" not in content:
            raise self._wrong(
                'it names no domain; write domain = "domain.pddl", or [tools] for a world of tools'
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
            raise self._wrong('it has scenes and names no environments = ["…"]', "scenes")
        if self.first_scene and self.first_scene not in self.scenes:
            raise self._wrong(f"it has no scene {self.first_scene!r}", "first_scene")
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
    def agent(self) -> Agent:
        """The robot that is taken where none is named."""
        return next(iter(self.agents.values()))

    @cached_property
    def domain(self) -> Domain:
        """The domain.

        Raises:
            UsageError: it is a world of tools.
            DataFileError, PddlError: it cannot be read.
        """
        if self.tools:
            raise UsageError(
                f"{self.name} is a world of tools, whose actions are calls: "
                f"hvr tools run {self.name}",
                field="world",
            )
        return parse_domain(self.domain_file)

    @cached_property
    def ontology(self) -> Ontology | None:
        """The ontology; None without one.

        Raises:
            DataFileError: a file cannot be read or is not Turtle.
        """
        return ontology_of(self.ontology_files) if self.ontology_files else None

    @property
    def scene_ontology(self) -> Ontology:
        """The ontology of a world with scenes, which needs one.

        Raises:
            DataFileError: it names none, or a file cannot be read or is not Turtle.
        """
        if self.ontology is None:
            raise self._wrong('it has scenes and no ontology = ["…"] that says what is in them')
        return self.ontology

    def check_trusted(self, code: str, word: str) -> None:
        """Refuse to run code of a world that was named like one of hvr's own, not by its path.

        Args:
            code: The code, as `world.toml` names it.
            word: The entry that names it.

        Raises:
            UsageError: The world is not trusted.
        """
        if not self.trusted:
            raise UsageError(
                f"{self.file}:{line_of(self.file, word)}: {self.name} would run {code}, and hvr "
                f"runs code of a folder only if the path says so: write "
                f"{os.curdir}{os.sep}{self.folder}",
                field="world",
            )

    def matching_nothing(self) -> tuple[tuple[str, str], ...]:
        """Return the entries with patterns that no file matches, and the patterns."""
        keys = ("ontology", "problems", "task_files", "scenes")
        return tuple(
            (key, name)
            for key in keys
            for name in self._content.get(key, ())
            if not self._files({key: [name]}, key)
        )

    # reading world.toml

    def _check_kinds(self, content: Mapping[str, Any]) -> None:
        for key, value in content.items():
            if key not in _KEYS:
                near = nearest(key, _KEYS)
                hint = f"did you mean {near!r}?" if near else f"there are {', '.join(_KEYS)}"
                raise self._wrong(f"it has no entry {key!r}; {hint}", key)
            kind, words = _KEYS[key]
            texts = not isinstance(value, list) or all(isinstance(one, str) for one in value)
            bad = isinstance(value, bool) or (isinstance(value, int | float) and not value > 0)
            if not isinstance(value, kind) or not value or not texts or bad:
                raise self._wrong(f"{key} must be {words}", key)

    def _files(self, content: Mapping[str, Any], key: str) -> tuple[Path, ...]:
        files: list[Path] = []
        for name in content.get(key, ()):
            pattern = any(sign in name for sign in "*?[")
            found = [name]
            if pattern:  # not with Path.glob, which refuses absolute patterns
                found = sorted(glob(name, root_dir=self.folder, recursive=True))  # noqa: PTH207
            files += [self.folder / one for one in found]
        return tuple(dict.fromkeys(files))

    def _task(self, name: str, value: Any) -> WorldTask:
        known = {"problem", "goal"}
        good = isinstance(value, dict) and set(value) <= known and "problem" in value
        if not good or not all(isinstance(one, str) for one in value.values()):
            raise self._wrong(
                f'the task {name!r} needs problem = "FILE", and may have goal = "…"', name
            )
        return WorldTask(name, self.folder / value["problem"], value.get("goal", ""))

    def _check_tools(self, content: Mapping[str, Any]) -> None:
        for key in content:
            if key not in ("name", "tools", "tasks"):
                raise self._wrong(
                    f"it is a world of tools, and has {key!r}, which is of other worlds", key
                )

    def _tool_task(self, name: str, value: Any) -> ToolTask:
        kinds = {"request": str, "done": list, "known": list, "values": dict}
        good = isinstance(value, dict) and set(value) <= set(kinds)
        good = good and all(isinstance(value[key], kinds[key]) for key in value)
        lists = [*value.get("done", ()), *value.get("known", ())] if good else []
        if not good or not lists or not all(isinstance(one, str) for one in lists):
            raise self._wrong(
                f'the task {name!r} needs done = ["TOOL"] or known = ["MEANING"], and may have '
                'request = "…" and values = { NAME = … }',
                name,
            )
        done, known = tuple(value.get("done", ())), tuple(value.get("known", ()))
        return ToolTask(name, value.get("request", ""), done, known, value.get("values", {}))

    def _agent(self, name: str, value: Any) -> Agent:
        known = {"domain", "description"}
        good = isinstance(value, dict) and set(value) <= known and "domain" in value
        if not good or not all(isinstance(one, str) for one in value.values()):
            raise self._wrong(
                f'the robot {name!r} needs domain = "FILE", and may have description = "…"', name
            )
        return Agent(name, self.folder / value["domain"], value.get("description", ""))

    def _wrong(self, text: str, word: str = "") -> DataFileError:
        line = line_of(self.file, word) if word else 1
        return DataFileError(f"{self.file}:{line}: {text}")


def line_of(file: Path, word: str) -> int:
    """Return the first line of a file that has a word and is no comment, 1 if none has."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return 1
    numbered = enumerate(lines, 1)
    return next((n for n, line in numbered if word in line and not line.startswith("#")), 1)


@cache
def shipped_worlds() -> Mapping[str, Path]:
    """Return the folders of the worlds that hvr brings, by their names."""
    folders = sorted(data_path("worlds").iterdir())
    return MappingProxyType({one.name: one for one in folders if one.is_dir()})


def is_explicit(name: str) -> bool:
    """Return whether a name can only be a path: it is absolute, or begins with `./` or `../`."""
    first = name.replace(os.altsep or os.sep, os.sep).partition(os.sep)[0]
    return first in (os.curdir, os.pardir) or Path(name).is_absolute()


def find_world(name: str) -> Path:
    """Return the folder of a world: the name of one that hvr brings, or a path.

    A folder of the same name never stands in for a world that hvr brings; `./NAME` is the folder.

    Raises:
        UsageError: there is no such folder.
    """
    shipped = shipped_worlds()
    if name in shipped:
        return shipped[name]
    path = Path(name)
    if path.is_dir():
        return path
    raise UsageError(
        f"no folder {name!r}, and no world of this name among those that hvr brings: "
        f"{', '.join(shipped)}",
        field="world",
    )


def is_trusted(name: str) -> bool:
    """Return whether a name is enough to run code of the world: hvr's own, or an explicit path."""
    return name in shipped_worlds() or is_explicit(name)


def load_world(name: str = DEFAULT_WORLD, *, trust: bool = False) -> WorldFile:
    """Return what is known of a world; those that hvr brings are read only once.

    Args:
        name: the name of a world that hvr brings, or a folder.
        trust: Whether its code may be run although its name alone would not allow it
            (`is_trusted`).

    Raises:
        UsageError: there is no such world.
        DataFileError: its `world.toml` is missing or wrong.
    """
    if name in shipped_worlds():
        return _shipped(name)
    return WorldFile(find_world(name), trusted=trust or is_trusted(name))


@cache
def _shipped(name: str) -> WorldFile:
    return WorldFile(find_world(name))


@cache
def scene_files() -> Mapping[str, Path]:
    """Return the files of all scenes that hvr brings, by name, those of the usual world first."""
    shipped = shipped_worlds()
    folders = sorted(shipped.values(), key=lambda folder: folder.name != DEFAULT_WORLD)
    found: dict[str, Path] = {}
    for folder in folders:
        files = (folder / "scenes").glob(f"*{_SCENE_ENDING}")
        for path in sorted(files, key=lambda path: (len(path.name), path.name)):
            found.setdefault(path.name.removesuffix(_SCENE_ENDING), path)
    return MappingProxyType(found)


def world_of_scene(scene: str) -> WorldFile:
    """Return the world that a scene belongs to; the usual one for a scene that none has."""
    path = scene_files().get(scene)
    return _shipped(DEFAULT_WORLD if path is None else path.parent.parent.name)


def world_of_types(types: Iterable[str]) -> WorldFile:
    """Return the world with scenes that knows most of some AI2-THOR types.

    Of several that know as many it is the usual one, or the first by name.
    """
    wanted = set(types)
    names = {path.parent.parent.name: None for path in scene_files().values()}
    worlds = [_shipped(name) for name in names]
    return max(worlds, key=lambda world: len(wanted & set(world.scene_ontology.object_types)))


def load_agent(name: str, world: str = DEFAULT_WORLD) -> Agent:
    """Return an agent by name.

    Raises:
        UsageError: there is no such agent; the message lists them all.
    """
    agents = load_world(world).agents
    agent = agents.get(name.strip().lower())
    if agent is None:
        near = difflib.get_close_matches(name.lower(), agents, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(f"unknown agent {name!r}{hint} (agents: {', '.join(agents)})")
    return agent


@cache
def _domain(path: Path) -> Domain:
    return parse_domain(path)
