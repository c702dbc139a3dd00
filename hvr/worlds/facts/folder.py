"""World folders: `world.toml` names the domain, lexicon, problems, tasks and environment."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from hvr.base.files import write_whole, writing
from hvr.base.printable import nearest
from hvr.base.texts import read_bytes, read_text
from hvr.errors import DataFileError, HvrError, SimulatorError, UsageError
from hvr.knowledge.terms import KITCHEN
from hvr.knowledge.world_file import FILE, WorldFile, line_of
from hvr.pddl import Domain, Problem, parse_domain, parse_problem
from hvr.values import cached_property
from hvr.worlds.facts.environment import FactEnvironment, error_location
from hvr.worlds.facts.lexicon import (
    WorldLexicon,
    distinct_clauses,
    imperative_of,
    lexicon_for,
    words_of,
)
from hvr.worlds.facts.timed_environment import domain_environment

# World folder -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WorldSetup:
    """The arguments for opening a world's environment."""

    domain: Domain
    problem: Problem
    folder: Path
    seed: int = 0
    scene: str = ""


class WorldFolder(WorldFile):
    """A world described by a folder; see `WorldFile` for its settings."""

    @cached_property
    def words(self) -> WorldLexicon:
        domain, ontology = self.domain, self.ontology
        try:
            return lexicon_for(domain, ontology)
        except DataFileError as error:
            raise self._wrong(str(error), "ontology") from error

    def problem(self, name: str | None = None) -> tuple[Problem, str]:
        """Return a problem, and the named task's goal, which replaces the problem's own goal.

        The goal is empty for a problem file.

        Args:
            name: Name of a task or problem file, the latter with or without suffix. None means the
                only task, or else the only problem file.

        Raises:
            UsageError: The name does not exist, or None is ambiguous.
            DataFileError: The file cannot be read.
            PddlError: The PDDL is invalid.
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
            if not known:
                raise UsageError(f"{self.name} has no problem files; give a domain and a problem")
            raise UsageError(
                f"name a task or problem of {self.name}: {', '.join(known)}", field="problem"
            )
        path = files.get(name.removesuffix(".pddl"), self.folder / name)
        if not path.is_file():
            near = nearest(name, known)
            hint = (
                f"did you mean {near!r}?"
                if near
                else f"choose from {', '.join(known)}"
                if known
                else "it has none"
            )
            raise UsageError(
                f"{self.name} has no task or problem {name!r}; {hint}", field="problem"
            )
        return parse_problem(path, self.domain), ""

    def open(
        self, problem: Problem, seed: int = 0, timeout: float | None = None, scene: str = ""
    ) -> FactEnvironment:
        """Open the environment; a custom one runs in its own process.

        Args:
            seed: Random seed for a custom environment.
            timeout: Time limit for each call in seconds; None means the limit in `world.toml`, or
                60.
            scene: Scene for a custom environment that has several; empty for its default.

        Raises:
            UsageError: The world is not trusted, or its timing cannot be executed.
            SimulatorError: The environment cannot be opened, or not in time.
        """
        if not self.environment:
            return domain_environment(self.domain, problem)
        from hvr.worlds.facts.isolated import TIMEOUT_S, IsolatedEnvironment

        self.check_trusted(self.environment, "environment")
        patience = timeout or self.env_timeout or TIMEOUT_S
        try:
            return IsolatedEnvironment(self.folder, problem, seed, patience, scene)
        except SimulatorError as error:
            if str(error).startswith(str(self.file)):
                raise
            raise SimulatorError(f"{self._place}: {error}", exit_code=error.exit_code) from error

    def posed_problem(self, scene: str) -> Problem:
        """Return a problem without objects or a goal, for an environment that reveals its objects.

        The problem minimises `total-cost` if the domain has it.
        """
        costs = "total-cost" in self.domain.functions
        metric = "(:metric minimize (total-cost))" if costs else ""
        name = re.sub(r"[^a-z0-9_-]", "-", scene.lower())
        about = f"(define (problem p-{name}) (:domain {self.domain.name})"
        text = f"{about} (:init) (:goal (and)) {metric})"
        return parse_problem(text, self.domain)

    def open_here(self, problem: Problem, seed: int = 0, scene: str = "") -> FactEnvironment:
        """Open the world's custom environment in this process.

        Raises:
            SimulatorError: The environment raises an error.
            UsageError: The environment lacks `reset`, `step` or `observe`.
        """
        entry = self._entry()
        try:
            opened: Any = entry(WorldSetup(self.domain, problem, self.folder, seed, scene))
        except HvrError:
            raise
        except (Exception, SystemExit) as error:
            raise SimulatorError(
                f"{self._place}: the environment {self.environment} cannot be opened: "
                f"{type(error).__name__}: {error}{error_location(error)}",
                exit_code=2,
            ) from error
        lacking = [name for name in ("reset", "step", "observe") if not hasattr(opened, name)]
        if lacking:
            raise UsageError(
                f"{self._place}: {self.environment} returns {type(opened).__name__}, which has no "
                f"{', '.join(lacking)}"
            )
        environment: FactEnvironment = opened
        return environment

    def source_findings(self) -> tuple[str, ...]:
        """Check the environment's source without running it; return one message per fault.

        Modules outside the folder are not checked, because finding them could run code.
        """
        module_name, colon, attribute = self.environment.partition(":")
        if not colon or not attribute.isidentifier():
            return (str(self._no_function()),)
        path = self.folder / f"{module_name}.py"
        if not path.is_file():
            return ()
        try:
            bound = bound_names(read_text(path))
        except (SyntaxError, ValueError, RecursionError) as error:
            line = getattr(error, "lineno", None) or 1
            return (f"{path}:{line}: not valid Python ({error.args[0]})",)
        except DataFileError as error:
            return (f"{path}:1: {error}",)
        if bound is None or attribute in bound:
            return ()
        return (f"{self._place}: {module_name} has no function {attribute!r}",)

    @property
    def _place(self) -> str:
        return f"{self.file}:{line_of(self.file, 'environment')}"

    def _entry(self) -> Callable[[WorldSetup], Any]:
        module_name, colon, attribute = self.environment.partition(":")
        if not colon or not attribute.isidentifier():
            raise self._no_function()
        try:
            module = self._module(module_name)
        except (Exception, SystemExit) as error:
            raise UsageError(
                f"{self._place}: the environment {self.environment} cannot be imported: "
                f"{type(error).__name__}: {error}{error_location(error)}"
            ) from error
        entry = getattr(module, attribute, None)
        if not callable(entry):
            raise UsageError(f"{self._place}: {module_name} has no function {attribute!r}")
        called: Callable[[WorldSetup], Any] = entry
        return called

    def _no_function(self) -> DataFileError:
        return self._wrong(
            f"environment is {self.environment!r}; write module:function", "environment"
        )

    def _module(self, name: str) -> ModuleType:
        path = self.folder / f"{name}.py"
        if not path.is_file():
            return importlib.import_module(name)
        # The name is unique because two worlds may each have an `environment.py`.
        unique = f"hvr_world_{abs(hash(path.resolve()))}_{name}"
        spec = importlib.util.spec_from_file_location(unique, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[unique] = module
        spec.loader.exec_module(module)
        return module


def bound_names(source: str) -> frozenset[str] | None:
    """Return the names that a module's source binds at the top level, or None if it may be any.

    A star import, `globals()`, `exec` and `setattr` may bind any name. A source that is not Python
    raises a SyntaxError, ValueError or RecursionError.
    """
    names: set[str] = set()
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    nodes: list[ast.AST] = list(ast.parse(source).body)
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            if any(alias.name == "*" for alias in node.names):
                return None
            names |= {(a.asname or a.name).partition(".")[0] for a in node.names}
        elif isinstance(node, ast.Name):
            if node.id in ("globals", "exec", "setattr"):
                return None
            if isinstance(node.ctx, ast.Store):
                names.add(node.id)
        elif isinstance(node, inner):
            names.add(getattr(node, "name", ""))
            continue  # names bound inside are local
        nodes += ast.iter_child_nodes(node)
    return frozenset(names)


# Skeleton -----------------------------------------------------------------------------------------
# The files of a new world: `world.toml`, a copy of the domain, and its wording to be edited.

_PREFIXES = f"""\
@prefix k:    <{KITCHEN}> .
@prefix owl:  <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
"""


def create_world(folder: Path, domain_file: Path, problem_files: Sequence[Path] = ()) -> None:
    """Write the folder of a new world.

    Raises:
        UsageError: The folder is not empty, the domain has no instantaneous actions, or two problem
            files have the same name.
        PddlError: The domain or a problem is invalid.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} already exists: name a new or empty one", field="folder")
    domain = parse_domain(domain_file)
    if not domain.actions:
        why = "only durative actions, but worlds execute actions step by step"
        what = why if domain.durative_actions else "no actions, but a world needs at least one"
        raise UsageError(f"{domain_file} has {what}", field="domain")
    for file in problem_files:
        parse_problem(file, domain)
    names = [file.name for file in problem_files]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(
            f"several problems have the file name {twice[0]!r}: rename all but one", field="problem"
        )
    with writing(folder):
        (folder / "problems").mkdir(parents=True, exist_ok=True)
    write_whole(folder / "domain.pddl", read_bytes(domain_file))
    write_whole(folder / "words.ttl", lexicon_turtle(domain))
    for file in problem_files:
        write_whole(folder / "problems" / file.name, read_bytes(file))
    write_whole(folder / FILE, _toml(folder.resolve().name, bool(problem_files)))


def _toml(name: str, problems: bool) -> str:
    listed = 'problems = ["problems/*.pddl"]'
    return f"""\
name = {json.dumps(name)}
domain = "domain.pddl"
ontology = ["words.ttl"]
{listed if problems else "# " + listed}

# Without an environment, hvr executes the domain itself.
# environment = "environment:open_environment"

# [tasks.first]
# problem = "problems/first.pddl"
# goal = "a sentence in the world's words, or PDDL"
"""


def lexicon_turtle(domain: Domain) -> str:
    """Return a lexicon derived from the domain's names, as Turtle."""
    return "\n".join(_statements(domain))


def _statements(domain: Domain) -> Iterator[str]:
    yield _PREFIXES
    yield "# Nouns for types; skos:altLabel adds synonyms."
    for name in domain.types:
        cls = f"k:Type_{_local(name)}"
        yield f'{cls} a owl:Class ; rdfs:label {_text(words_of(name))} ; k:pddlType "{name}" .'
    yield "\n# Clauses for facts; {0} is the first object."
    for name, (true, false) in distinct_clauses(domain).items():
        yield (
            f'k:fact_{_local(name)} k:pddlPredicate "{name}" ;\n'
            f"    k:saidTrue {_text(true)} ; k:saidFalse {_text(false)} ."
        )
    yield "\n# Imperatives for actions."
    for name, action in domain.actions.items():
        yield (
            f'k:action_{_local(name)} k:pddlAction "{name}" ;\n'
            f"    k:imperative {_text(imperative_of(action))} ."
        )
    yield ""


def _local(name: str) -> str:
    plain = name.replace("_", "__").replace("-", "_")
    return re.sub(r"[^a-z0-9_]", lambda match: f"_{ord(match.group()):x}_", plain)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
