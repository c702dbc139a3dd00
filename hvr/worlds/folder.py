"""A world as a folder: `world.toml` names its domain, words, problems, tasks and environment."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from hvr.errors import DataFileError, UsageError
from hvr.files import data_path
from hvr.knowledge.ontology import Ontology, ontology_of
from hvr.pddl import Domain, Problem, parse_domain, parse_problem
from hvr.pddl.diagnostics import nearest
from hvr.texts import read_toml
from hvr.values import cached_property
from hvr.worlds.environment import FactEnvironment, PddlEnvironment
from hvr.worlds.words import WorldWords, words_for

FILE = "world.toml"
_KEYS = {
    "name": (str, "a text"),
    "domain": (str, "the name of a file"),
    "ontology": (list, "a list of files"),
    "problems": (list, "a list of files, which may have *"),
    "environment": (str, "module:function"),
    "tasks": (dict, "a table [tasks.NAME] for each task"),
}


@dataclass(frozen=True)
class WorldTask:
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
class WorldSetup:
    """What an environment is opened with.

    Args:
        domain: the actions.
        problem: the objects and how it begins.
        folder: of the world.
        seed: of what is drawn by chance.
    """

    domain: Domain
    problem: Problem
    folder: Path
    seed: int = 0


class WorldFolder:
    """A world that a folder describes.

    Args:
        folder: it has a `world.toml`.

    Attributes:
        name: of the world.
        domain_file, ontology_files, problem_files: paths.
        tasks: by name.
        environment: `module:function`; empty for the PDDL environment.

    Raises:
        DataFileError: `world.toml` is missing, not TOML, or has not what it needs.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / FILE
        if not self.file.is_file():
            raise DataFileError(f"{folder} is no world: it has no {FILE} (hvr world new makes one)")
        content = read_toml(self.file)
        self._check_kinds(content)
        if "domain" not in content:
            raise self._wrong('it names no domain; write domain = "domain.pddl"')
        self.name: str = content.get("name", folder.resolve().name)
        self.domain_file = folder / content["domain"]
        self.ontology_files = self._files(content, "ontology")
        self.problem_files = self._files(content, "problems")
        self.environment: str = content.get("environment", "")
        tasks = content.get("tasks", {})
        self.tasks: Mapping[str, WorldTask] = MappingProxyType(
            {name: self._task(name, value) for name, value in tasks.items()}
        )

    @cached_property
    def domain(self) -> Domain:
        """The domain.

        Raises:
            DataFileError, PddlError: it cannot be read.
        """
        return parse_domain(self.domain_file)

    @cached_property
    def ontology(self) -> Ontology | None:
        """The ontology; None without one.

        Raises:
            DataFileError: a file cannot be read or is not Turtle.
        """
        return ontology_of(self.ontology_files) if self.ontology_files else None

    @cached_property
    def words(self) -> WorldWords:
        """The words."""
        return words_for(self.domain, self.ontology)

    def problem(self, name: str | None = None) -> tuple[Problem, str]:
        """Return a problem, and the goal that a task gives it instead of its own.

        Args:
            name: a task, a file of the world, or such a file's name without its ending; None for
                the only task or problem.

        Raises:
            UsageError: there is none of this name, or more than one to choose from.
            DataFileError, PddlError: it cannot be read.
        """
        task = self.tasks.get(name) if name is not None else None
        if name is None and len(self.tasks) == 1:
            task = next(iter(self.tasks.values()))
        if task is not None:
            return parse_problem(task.problem, self.domain), task.goal
        files = {path.stem: path for path in self.problem_files}
        if name is None and len(files) == 1:
            return parse_problem(next(iter(files.values())), self.domain), ""
        known = [*self.tasks, *files]
        if name is None:
            listed = ", ".join(known) or "none"
            raise UsageError(f"name a task or problem of {self.name}: {listed}", field="problem")
        path = files.get(name.removesuffix(".pddl"), self.folder / name)
        if not path.is_file():
            near = nearest(name, known)
            hint = f"did you mean {near!r}?" if near else f"there are {', '.join(known) or 'none'}"
            raise UsageError(f"{self.name} has no task or problem {name!r}; {hint}",
                             field="problem")  # fmt: skip
        return parse_problem(path, self.domain), ""

    def open(self, problem: Problem, seed: int = 0) -> FactEnvironment:
        """Open the environment.

        Raises:
            UsageError: the world names one that cannot be imported, or that lacks a method.
        """
        if not self.environment:
            return PddlEnvironment(self.domain, problem)
        opened: Any = self._entry()(WorldSetup(self.domain, problem, self.folder, seed))
        lacking = [name for name in ("reset", "step", "observe") if not hasattr(opened, name)]
        if lacking:
            raise UsageError(
                f"{self.file}: {self.environment} returns {type(opened).__name__}, which has no "
                f"{', '.join(lacking)}"
            )
        environment: FactEnvironment = opened
        return environment

    def _entry(self) -> Callable[[WorldSetup], Any]:
        module_name, colon, attribute = self.environment.partition(":")
        if not colon or not attribute.isidentifier():
            raise self._wrong(
                f"environment is {self.environment!r}; write module:function", "environment"
            )
        try:
            module = self._module(module_name)
        except Exception as error:
            raise UsageError(
                f"{self.file}: the environment {self.environment} cannot be imported: "
                f"{type(error).__name__}: {error}"
            ) from error
        entry = getattr(module, attribute, None)
        if not callable(entry):
            raise UsageError(f"{self.file}: {module_name} has no function {attribute!r}")
        called: Callable[[WorldSetup], Any] = entry
        return called

    def _module(self, name: str) -> ModuleType:
        """Import a module: that of the folder where it has one of this name."""
        path = self.folder / f"{name}.py"
        if not path.is_file():
            return importlib.import_module(name)
        # Two worlds may each have an `environment.py`.
        unique = f"hvr_world_{abs(hash(path.resolve()))}_{name}"
        spec = importlib.util.spec_from_file_location(unique, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[unique] = module
        spec.loader.exec_module(module)
        return module

    # reading world.toml

    def _check_kinds(self, content: Mapping[str, Any]) -> None:
        for key, value in content.items():
            if key not in _KEYS:
                near = nearest(key, _KEYS)
                hint = f"did you mean {near!r}?" if near else f"there are {', '.join(_KEYS)}"
                raise self._wrong(f"it has no entry {key!r}; {hint}", key)
            kind, words = _KEYS[key]
            texts = not isinstance(value, list) or all(isinstance(one, str) for one in value)
            if not isinstance(value, kind) or not value or not texts:
                raise self._wrong(f"{key} must be {words}", key)

    def _files(self, content: Mapping[str, Any], key: str) -> tuple[Path, ...]:
        files: list[Path] = []
        for name in content.get(key, ()):
            pattern = any(sign in name for sign in "*?[")
            files += sorted(self.folder.glob(name)) if pattern else [self.folder / name]
        return tuple(dict.fromkeys(files))

    def _task(self, name: str, value: Any) -> WorldTask:
        known = {"problem", "goal"}
        good = isinstance(value, dict) and set(value) <= known and "problem" in value
        if not good or not all(isinstance(one, str) for one in value.values()):
            raise self._wrong(
                f'the task {name!r} needs problem = "FILE", and may have goal = "…"', name
            )
        return WorldTask(name, self.folder / value["problem"], value.get("goal", ""))

    def _wrong(self, text: str, word: str = "") -> DataFileError:
        line = line_of(self.file, word) if word else 1
        return DataFileError(f"{self.file}:{line}: {text}")


def line_of(file: Path, word: str) -> int:
    """Return the first line of a file that has a word, 1 if none has."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return 1
    return next((number for number, line in enumerate(lines, 1) if word in line), 1)


def find_world(name: str) -> Path:
    """Return the folder of a world: a path, or the name of one that hvr brings.

    Raises:
        UsageError: there is no such folder.
    """
    path = Path(name)
    if path.is_dir():
        return path
    shipped = {one.name: one for one in sorted(data_path("worlds").iterdir()) if one.is_dir()}
    if name in shipped:
        return shipped[name]
    raise UsageError(
        f"no folder {name!r}, and no world of this name among those that hvr brings: "
        f"{', '.join(shipped)}", field="world",
    )  # fmt: skip
