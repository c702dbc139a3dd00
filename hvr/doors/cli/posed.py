"""What `hvr solve` is asked: two files, or a problem of a world, perhaps with another goal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.errors import LanguageError, UsageError

if TYPE_CHECKING:
    from hvr.pddl import Domain, Problem
    from hvr.worlds.facts.folder import WorldFolder
    from hvr.worlds.facts.words import WorldWords


@dataclass(frozen=True)
class Posed:
    """A problem to be solved.

    Args:
        domain, problem: as parsed, with the goal that was given.
        words: of the world, or derived from the domain.
        world: None for two files.
        request: what was asked for, as it was said; empty where nothing was.
        known: the goal is the problem's own, or was read; not, where a model has to read it.
    """

    domain: Domain
    problem: Problem
    words: WorldWords
    world: WorldFolder | None
    request: str = ""
    known: bool = True


@contextmanager
def posed_files(args: argparse.Namespace) -> Iterator[tuple[Path, Path]]:
    """Yield the files of the domain and the problem.

    Raises:
        HvrError: the arguments, or files, cannot be used.
    """
    if args.world is None and args.goal is None:
        yield _two_files(args)
        return
    with written_files(posed(args)) as files:
        yield files


@contextmanager
def written_files(asked: Posed) -> Iterator[tuple[Path, Path]]:
    """Yield files of a domain and a problem that are there for as long."""
    from hvr.base.files import temporary_folder, write_whole
    from hvr.pddl import print_domain, print_problem

    with temporary_folder("hvr-world-") as folder:
        domain, problem = Path(folder) / "domain.pddl", Path(folder) / "problem.pddl"
        write_whole(domain, print_domain(asked.domain))
        write_whole(problem, print_problem(asked.problem))
        yield domain, problem


def posed(args: argparse.Namespace, *, by_model: bool = False) -> Posed:
    """Return the problem, and say a goal in other words back, unless a model is to read it.

    Raises:
        HvrError: the arguments, or files, cannot be used.
    """
    from hvr.execution.facts.requests import pose
    from hvr.knowledge.world_file import find_world, is_trusted
    from hvr.pddl import parse_domain, parse_problem
    from hvr.worlds.facts.folder import WorldFolder
    from hvr.worlds.facts.words import words_for

    goal = args.goal
    world: WorldFolder | None = None
    if args.world is not None:
        trusted = args.trust_project or is_trusted(args.world)
        world = WorldFolder(find_world(args.world), trusted=trusted)
        domain, words = world.domain, world.words
        problem, of_task = world.problem(_task_of(args))
        goal = goal or of_task
    else:
        domain_file, problem_file = _two_files(args)
        domain = parse_domain(domain_file)
        problem, words = parse_problem(problem_file, domain), words_for(domain)
    known = True
    if goal:
        try:
            read = pose(goal, domain, problem, words, world.ontology if world else None)
        except LanguageError:
            if not by_model:
                raise
            known = False
        else:
            if world is not None and world.environment and read.domain is not domain:
                raise UsageError(
                    f"{world.environment} does not remember what was reached before: ask for one "
                    "thing after the other",
                    field="goal",
                )
            domain, problem = read.domain, read.problem
            if not args.quiet and not by_model:
                told = "; ".join((read.said, *read.notes))
                print(f"goal: {told}", file=sys.stderr if args.json else sys.stdout)
    return Posed(domain, problem, words, world, goal or "", known)


def _task_of(args: argparse.Namespace) -> str | None:
    """Return the task or problem of a world that is named, as an option or by itself."""
    named = [str(one) for one in (args.problem, args.domain, args.file) if one is not None]
    if len(named) > 1:
        raise UsageError(
            f"with a world one task or problem is named, and not {' and '.join(named)}",
            field="world",
        )
    return named[0] if named else None


def _two_files(args: argparse.Namespace) -> tuple[Path, Path]:
    if args.domain is None or args.file is None:
        raise UsageError("name a DOMAIN and a PROBLEM, or a --world")
    if args.problem is not None:
        raise UsageError("this is for --world, which is not given", field="problem")
    return args.domain, args.file
