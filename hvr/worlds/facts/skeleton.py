"""A new world for a domain: `world.toml`, a copy of the domain, and its words to be edited."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from hvr.base.files import write_whole, writing
from hvr.base.texts import read_bytes
from hvr.errors import UsageError
from hvr.knowledge.terms import KITCHEN
from hvr.knowledge.world_file import FILE
from hvr.pddl import Domain, parse_domain, parse_problem
from hvr.worlds.facts.words import imperative_of, said_apart, words_of

_PREFIXES = f"""\
@prefix k:    <{KITCHEN}> .
@prefix owl:  <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
"""


def make_world(folder: Path, domain_file: Path, problem_files: Sequence[Path] = ()) -> None:
    """Write a new world.

    Args:
        folder: new or empty.
        domain_file: is copied to `domain.pddl`.
        problem_files: are copied to `problems/`.

    Raises:
        UsageError: there is something in the folder, or the domain has no actions.
        DataFileError, PddlError: a file cannot be read or written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already and not an empty folder", field="folder")
    domain = parse_domain(domain_file)
    if not domain.actions:
        why = "only durative actions: a world is acted in step by step, without time"
        what = why if domain.durative_actions else "no actions to act with"
        raise UsageError(f"{domain_file} has {what}", field="domain")
    for file in problem_files:
        parse_problem(file, domain)
    names = [file.name for file in problem_files]
    if len(set(names)) < len(names):
        raise UsageError("two problems have the same file name", field="problem")
    with writing(folder):
        (folder / "problems").mkdir(parents=True, exist_ok=True)
    write_whole(folder / "domain.pddl", read_bytes(domain_file))
    write_whole(folder / "words.ttl", words_text(domain))
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

# Without an environment the domain itself is run.
# environment = "environment:open_environment"

# [tasks.first]
# problem = "problems/first.pddl"
# goal = "a sentence in the world's words, or PDDL"
"""


def words_text(domain: Domain) -> str:
    """Return the words of a domain as Turtle, derived from its names."""
    return "\n".join(_statements(domain))


def _statements(domain: Domain) -> Iterator[str]:
    yield _PREFIXES
    yield "# What things are called; skos:altLabel adds other words."
    for name in domain.types:
        cls = f"k:Type_{_local(name)}"
        yield f'{cls} a owl:Class ; rdfs:label {_text(words_of(name))} ; k:pddlType "{name}" .'
    yield "\n# How facts are said; {0} is the first object."
    for name, (true, false) in said_apart(domain).items():
        yield (
            f'k:fact_{_local(name)} k:pddlPredicate "{name}" ;\n'
            f"    k:saidTrue {_text(true)} ; k:saidFalse {_text(false)} ."
        )
    yield "\n# How actions are said."
    for name, action in domain.actions.items():
        yield (
            f'k:action_{_local(name)} k:pddlAction "{name}" ;\n'
            f"    k:imperative {_text(imperative_of(action))} ."
        )
    yield ""


def _local(name: str) -> str:
    """Return a name that Turtle allows, different for different names."""
    plain = name.replace("_", "__").replace("-", "_")
    return re.sub(r"[^a-z0-9_]", lambda match: f"_{ord(match.group()):x}_", plain)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
