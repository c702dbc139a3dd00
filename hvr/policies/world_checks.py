"""Checks that a world's domain, words, tasks and environment match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TypeVar

from hvr.base.printable import nearest
from hvr.errors import HvrError
from hvr.execution.facts.sentences import problem_for
from hvr.knowledge.world_file import line_of
from hvr.pddl import Atom, Domain, Problem, Task, parse_problem
from hvr.policies.llm.prompts import load_prompts
from hvr.worlds.facts.drawing import DRAWING_FILE, read_drawing
from hvr.worlds.facts.environment import Observation, close_environment, read_observation
from hvr.worlds.facts.folder import WorldFolder
from hvr.worlds.facts.lexicon import WorldLexicon, lexicon_for
from hvr.worlds.facts.timed_environment import check_actable
from hvr.worlds.scenes import parse_scene

_Result = TypeVar("_Result")
_MOST_SHOWN = 3
_NAME_LINKS = re.compile(r"\bk:(pddlPredicate|pddlType|pddlAction)\s+\"([^\"]*)\"")
_CLAUSES = re.compile(r"\bk:(saidTrue|saidFalse|imperative)\s+\"([^\"]*)\"")


def check_world(
    world: WorldFolder, *, run: bool = False, timeout: float | None = None
) -> tuple[str, ...]:
    """Return the findings about a world, one sentence each, with file and line.

    Args:
        run: Whether to open, reset and observe the world's environment, without executing an
            action; otherwise, only its source is read.
        timeout: Time limit of each environment call, in seconds; None for the limit set by the
            world.
    """
    return tuple(_Check(world, run, timeout).run())


class _Check:
    def __init__(self, world: WorldFolder, run: bool, timeout: float | None) -> None:
        self.world = world
        self.timeout = timeout
        self.runs = run
        self.findings: list[str] = []

    def run(self) -> list[str]:
        world = self.world
        domain = self._try(lambda: world.domain, world.domain_file, "domain")
        for file in world.ontology_files:
            if self._there(file, "ontology") and domain is not None:
                self.findings += _ontology_findings(file, domain)
        for key, pattern in world.unmatched_patterns():
            self._add(world.file, f"{key}: no file matches {pattern!r}", pattern)
        for task_file in world.task_files:
            self._there(task_file, "task_files")
        if world.prompts is not None:
            if world.prompts.is_dir():
                self._read(partial(load_prompts, world=world.prompts), world.file)
            else:
                self._add(world.file, f"prompts: no folder named {world.prompts}", "prompts")
        if domain is None:
            return self.findings
        if not domain.actions:
            what = "only durative actions, but worlds execute actions step by step, without time"
            text = what if domain.durative_actions else "no action: nothing can be done in it"
            self._add(world.domain_file, text, "(domain")
        drawing = world.domain_file.parent / DRAWING_FILE
        if drawing.is_file():
            found = self._read(partial(read_drawing, drawing, domain), drawing)
            self.findings += found[1] if found else ()
        words: WorldLexicon | None = None
        if all(file.is_file() for file in world.ontology_files):
            words = self._try(lambda: world.words, world.file, "ontology")
        problems: dict[Path, Problem] = {}
        tasked = [task.problem for task in world.tasks.values()]
        for file in dict.fromkeys((*world.problem_files, *tasked)):
            problem = self._try(partial(parse_problem, file, domain), file, "problems")
            if problem is not None:
                problems[file] = problem
                self._types(file, problem)
                if problem.domain_name != domain.name:
                    text = f"the problem is for the domain {problem.domain_name}, not {domain.name}"
                    self._add(file, text, ":domain")
        for task in world.tasks.values():
            if task.problem in problems and task.goal:
                self._goal(task.name, task.goal, problems[task.problem], words)
        if world.environment and not self.runs:
            self.findings += world.source_findings()
        for file, problem in problems.items():
            self._environment(file, problem)
        for agent in world.agents.values():
            if agent.path != world.domain_file:
                self._try(agent.domain, agent.path, agent.name)
        for name, file in world.scenes.items():
            self._scene(name, file)
        if not (problems or world.problem_files or world.tasks or world.scenes):
            self._add(world.file, "the world names no problems, tasks or scenes", "domain")
        return self.findings

    def _types(self, file: Path, problem: Problem) -> None:
        domain = self.world.domain
        for thing in problem.objects:
            others = [t for t in thing.types[1:] if not domain.is_subtype(t, thing.types[0])]
            if any(not domain.is_subtype(thing.types[0], t) for t in others):
                text = f"the object {thing.name!r} has two types, {' and '.join(thing.types)}"
                self._add(file, f"{text}: declare it once", f" {thing.name} ")

    def _scene(self, name: str, file: Path) -> None:
        scene = self._try(lambda: parse_scene(file.read_bytes(), str(file)), file, "scenes")
        if scene is None or self.world.ontology is None:
            return
        unknown = {o.object_type for o in scene.objects} - set(self.world.ontology.object_types)
        if unknown:
            listed = ", ".join(sorted(unknown))
            self._add(self.world.file, f"scene {name} has {listed}: no class has this k:thorType")

    def _goal(self, name: str, goal: str, problem: Problem, words: WorldLexicon | None) -> None:
        try:
            domain = self.world.domain
            problem_for(goal, domain, problem, words or lexicon_for(domain), self.world.ontology)
        except HvrError as error:
            self._add(self.world.file, f"the goal of the task {name!r}: {error}", goal)

    def _environment(self, file: Path, problem: Problem) -> None:
        try:
            check_actable(self.world.domain, problem)
        except HvrError as error:
            self._add(file, str(error))
            return
        if self.world.environment and not self.runs:
            return
        word = self.world.environment or "environment"
        try:
            env = self.world.open(problem, timeout=self.timeout)
        except HvrError as error:
            self.findings.append(str(error))
            return
        trouble = ""
        try:
            env.reset()
            for text in _observation_findings(Task(self.world.domain, problem), env.observe()):
                finding = f"at reset, for {file.name}, the environment {text}"
                self._add(self.world.file, finding, word)
        except HvrError as error:
            trouble = f"{error}, for {file.name}"
        finally:
            # After another failure, an error from close() adds nothing.
            trouble = trouble or close_environment(env)
        if trouble:
            self._add(self.world.file, trouble, word)

    # Findings -----------------------------------------------------------------------------------

    def _try(self, make: Callable[[], _Result], file: Path, word: str) -> _Result | None:
        return self._read(make, file) if self._there(file, word) else None

    def _read(self, make: Callable[[], _Result], file: Path) -> _Result | None:
        try:
            return make()
        except HvrError as error:
            text = str(error).splitlines()[0]
            # Errors of PDDL and Turtle already begin with file and line.
            self.findings.append(text if text.startswith(str(file)) else f"{file}:1: {text}")
            return None

    def _there(self, file: Path, word: str) -> bool:
        if file.is_file():
            return True
        self._add(self.world.file, f"no file named {file}", file.name or word)
        return False

    def _add(self, file: Path, text: str, word: str = "") -> None:
        line = line_of(file, word) if word else 1
        self.findings.append(f"{file}:{line}: {text}")


def _ontology_findings(file: Path, domain: Domain) -> Iterator[str]:
    known = {
        "pddlPredicate": (domain.predicates, "predicate"),
        "pddlType": ({"object": None, **domain.types}, "type"),
        "pddlAction": (domain.actions, "action"),
    }
    text = file.read_text(encoding="utf-8", errors="replace")
    # Clauses belong to the predicate or action named before them.
    arity: int | None = None
    name = ""
    for number, whole in enumerate(text.splitlines(), 1):
        line = re.sub(r"(^|\s)#.*", "", whole)
        for annotation, value in _NAME_LINKS.findall(line):
            names, kind = known[annotation]
            arity, name = None, value
            if value not in names:
                near = nearest(value, names)
                hint = f"; did you mean {near!r}?" if near else ""
                yield f"{file}:{number}: the domain has no {kind} {value!r}{hint}"
            elif annotation == "pddlPredicate":
                arity = len(domain.predicates[value].parameters)
            elif annotation == "pddlAction":
                arity = len(domain.actions[value].parameters)
        for said, clause in _CLAUSES.findall(line):
            places = [int(place) for place in re.findall(r"\{(\d+)\}", clause)]
            if arity is not None and max(places, default=-1) >= arity:
                yield (
                    f"{file}:{number}: k:{said} has the placeholder {{{max(places)}}}, but the "
                    f"arity of {name} is {arity}"
                )
            elif said != "imperative" and arity is not None and len(set(places)) < arity:
                yield f"{file}:{number}: k:{said} does not use all {arity} arguments of {name}"


def _observation_findings(task: Task, seen: Observation) -> Iterator[str]:
    atoms, numbers = read_observation(task, seen)
    changing = task.fluent_predicates - task.derived_predicates
    initial = {a for a in task.initial.atoms() if a.predicate in changing - set(seen.hidden)}
    for text, facts in (("does not show", initial - atoms), ("shows", atoms - initial)):
        if facts:
            yield f"{text} {_listed(facts)}, unlike the problem"
    static = {
        Atom(predicate, tuple(args)) for predicate, *args in seen.facts if task.is_static(predicate)
    }
    wrong = {a for a in static if a not in task.problem.init}
    if wrong:
        yield f"shows {_listed(wrong)}, which the problem lacks and no action changes"
    wanted = task.initial.numbers()
    for term, value in sorted(wanted.items(), key=str):
        if term.function not in seen.hidden and term.function != "total-cost":
            shown = numbers.get(term)
            if shown != Fraction(value):
                said = "nothing" if shown is None else f"{shown}"
                yield f"shows {said} as {term}, but the problem says {value}"


def _listed(atoms: set[Atom]) -> str:
    texts = sorted(map(str, atoms))
    more = len(texts) - _MOST_SHOWN
    return ", ".join(texts[:_MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")
