"""Domains, problems and plans that belong together, and the names in them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from hvr.doors.lsp.symbols import Declaration, Kind, Names, Occurrence, PlanSymbols, Symbols, Tree
from hvr.validation.suites import ClassifiedFile, FileKind, classify, give_domains, pair

_MOST_FILES = 2_000
"""Maximum number of files in a folder; in larger folders, only files next to an open one are
used.
"""


class ModelFiles(NamedTuple):
    """The path of a domain, and the paths of its problems, each with its plans."""

    domain: str
    problems: Mapping[str, Sequence[str]]


class NamePlace(NamedTuple):
    """An occurrence of a name in a file."""

    file: str
    found: Occurrence


class Models:
    """The files of a workspace; files open in the editor have the editor's text."""

    def __init__(self, roots: Sequence[str] = ()) -> None:
        self.roots = list(roots)
        self.texts: dict[str, str] = {}

    # Texts and names

    def text(self, file: str) -> str:
        """Return the text of a file, or "" if it cannot be read."""
        return self.texts[file] if file in self.texts else _on_disk(file, *_stamp(file))

    def names(self, file: str) -> Names:
        return _names(self.text(file), self.kind(file) is not FileKind.PLAN)

    def kind(self, file: str) -> FileKind:
        """Return the kind of a file; an open text that is neither domain nor problem is a plan."""
        return self._classified(file).kind

    def _classified(self, file: str) -> ClassifiedFile:
        text = self.texts.get(file)
        if text is None:
            return _classified(file, *_stamp(file))
        found = classify(file, text)
        # An open text has the kind that its editor states; a new plan is still empty.
        unclear = found.kind in (FileKind.OTHER, FileKind.MIXED)
        return ClassifiedFile(file, FileKind.PLAN) if unclear else found

    # Models

    def all(self, file: str) -> list[ModelFiles]:
        seen = [self._classified(name) for name in self._files(file)]
        domains = [one for one in seen if one.kind is FileKind.DOMAIN]
        problems = [one for one in seen if one.kind is FileKind.PROBLEM]
        plans = [one for one in seen if one.kind is FileKind.PLAN]
        found: dict[str, dict[str, Sequence[str]]] = {one.file: {} for one in domains}
        suite = pair(domains, problems, plans)
        for job in suite.jobs:
            found[job.domain][job.problem] = job.plans
        # problems without a plan have no job
        for problem, domain in give_domains(domains, problems).items():
            if isinstance(domain, ClassifiedFile):
                found[domain.file].setdefault(problem, ())
        return [ModelFiles(domain, problems) for domain, problems in found.items()]

    def of(self, file: str) -> ModelFiles | None:
        for model in self.all(file):
            plans = (plan for plans in model.problems.values() for plan in plans)
            if file == model.domain or file in model.problems or file in plans:
                return model
        return None

    def problem_of(self, plan: str) -> tuple[str, str] | None:
        model = self.of(plan)
        for problem, plans in (model.problems if model else {}).items():
            if plan in plans and model is not None:
                return model.domain, problem
        return None

    def _files(self, file: str) -> list[str]:
        folder = str(Path(file).parent)
        inside = [root for root in self.roots if Path(file).is_relative_to(root)]
        files = _below(inside[0]) if inside else None
        if files is None:
            files = [*_beside(folder), *_beside(str(Path(folder).parent))]
        return list(dict.fromkeys([*files, *self.texts, file]))

    # Names across files

    def scope(self, file: str, found: Occurrence) -> list[str]:
        """Return the files in which an occurrence's name has the same meaning."""
        if found.scope or found.kind is Kind.LABEL:
            return [file]
        model = self.of(file)
        if model is None:
            return [file]
        problems = model.problems
        if found.kind is Kind.OBJECT and not self._declares(model.domain, found):
            for problem, plans in problems.items():
                if file == problem or file in plans:
                    return [problem, *plans]
            return [file]
        return [model.domain, *problems, *(plan for plans in problems.values() for plan in plans)]

    def _declares(self, file: str, found: Occurrence) -> bool:
        return found.identity in self.names(file).declarations

    def declaration(self, file: str, found: Occurrence) -> tuple[str, Declaration] | None:
        """Return the file that declares a name, and the declaration; None if it is not declared."""
        for other in self.scope(file, found):
            declared = self.names(other).declarations.get(found.identity)
            if declared is not None:
                return other, declared
        return None

    def places(self, file: str, found: Occurrence) -> Iterator[NamePlace]:
        """Yield all occurrences of the name in the files where it has the same meaning."""
        for other in self.scope(file, found):
            for one in self.names(other).occurrences:
                if one.identity == found.identity:
                    yield NamePlace(other, one)

    def declared(self, file: str, kind: Kind) -> list[tuple[str, Declaration]]:
        """Return all names of a kind that a file can use, each with the file that declares it."""
        model = self.of(file)
        files = [file] if model is None else [model.domain]
        if model is not None:
            files += [p for p, plans in model.problems.items() if file == p or file in plans]
        found: list[tuple[str, Declaration]] = []
        for other in dict.fromkeys(files):
            names = self.names(other)
            if isinstance(names, Symbols):
                found += [(other, one) for one in names.declared(kind)]
        return found

    def supertypes(self, file: str) -> dict[str, set[str]]:
        """Return the supertypes of each type, including the type itself and `object`."""
        parents = {d.occurrence.name: d.types for _, d in self.declared(file, Kind.TYPE)}
        result: dict[str, set[str]] = {}
        for name in parents:
            known, todo = {name, "object"}, [name]
            while todo:
                for parent in parents.get(todo.pop(), ()):
                    if parent not in known:
                        known.add(parent)
                        todo.append(parent)
            result[name] = known
        return result


@lru_cache(maxsize=64)
def _names(text: str, is_model: bool) -> Names:
    tree = Tree(text)
    return Symbols(tree) if is_model else PlanSymbols(tree)


def _stamp(file: str) -> tuple[int, int]:
    try:
        found = os.stat(file)  # noqa: PTH116 - called for each file of a folder
    except (OSError, ValueError):
        return 0, -1
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=256)
def _on_disk(file: str, _: int, size: int) -> str:
    from hvr.base.texts import read_bytes
    from hvr.errors import HvrError
    from hvr.pddl.reader import decode

    try:
        return decode(read_bytes(Path(file)), file) if size >= 0 else ""
    except (HvrError, OSError, ValueError):
        return ""


@lru_cache(maxsize=2 * _MOST_FILES)
def _classified(file: str, _: int, size: int) -> ClassifiedFile:
    return classify(file) if size >= 0 else ClassifiedFile(file, FileKind.OTHER)


def _beside(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(e.path for e in entries if e.is_file() and e.name[0] != ".")[:_MOST_FILES]
    except OSError:
        return []


def _below(root: str) -> list[str] | None:
    files: list[str] = []
    for place, folders, names in os.walk(root):
        folders[:] = sorted(n for n in folders if n[0] != "." and n != "node_modules")
        files += [str(Path(place, name)) for name in sorted(names) if name[0] != "."]
        if len(files) > _MOST_FILES:
            return None
    return files
