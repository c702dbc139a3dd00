"""Measure the package: its size, functions, names, and the import order of its rooms.

    python tools/measure_house.py [--repo DIR] [--json] [--no-runs]

All measures come from parsing the sources with `ast`, except the files entered at run time: `hvr
plan` and `hvr validate` run once each under a profiler (`--no-runs` skips this). `--repo` names
another checkout, to compare two revisions. If its docs/explanation/architecture.md lacks a table
with one room per row, the import order is not measured, and the folders of hvr/ count as rooms.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import tokenize
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
FRONT_DOOR = ("hvr/__init__.py", "hvr/__main__.py")
MANY_PARAMETERS = 8
LONG_MODULE = 400


@dataclass(frozen=True)
class Module:
    """A Python file of the package; `path` is relative to the repository."""

    path: str
    source: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source, self.path)

    @property
    def name(self) -> str:
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def lines(self) -> int:
        return len(self.source.splitlines())


@dataclass(frozen=True)
class Lines:
    code: int = 0
    docstring: int = 0
    comment: int = 0
    blank: int = 0

    def __add__(self, other: Lines) -> Lines:
        return Lines(
            self.code + other.code,
            self.docstring + other.docstring,
            self.comment + other.comment,
            self.blank + other.blank,
        )

    @property
    def total(self) -> int:
        return self.code + self.docstring + self.comment + self.blank


@dataclass(frozen=True)
class Function:
    path: str
    line: int
    name: str
    lines: int
    parameters: int


@dataclass(frozen=True)
class Import:
    """An import of one module of the package by another, at any place in the file."""

    path: str
    line: int
    target: str
    names: tuple[str, ...] = ()


# Modules and rooms -------------------------------------------------------------------------------


def modules_of(repo: Path, folder: str = "hvr") -> tuple[Module, ...]:
    """Return the Python files under a folder of a checkout, sorted by path."""
    files = sorted(p for p in (repo / folder).rglob("*.py") if "__pycache__" not in p.parts)
    return tuple(Module(p.relative_to(repo).as_posix(), p.read_text("utf-8")) for p in files)


def children(modules: Sequence[Module]) -> tuple[str, ...]:
    """Return the direct children of hvr/, where folders end in a slash, as in the table."""
    found = {
        "/".join(parts[:2]) + ("/" if len(parts) > 2 else "")
        for parts in (m.path.split("/") for m in modules)
    }
    return tuple(sorted(found - set(FRONT_DOOR)))


def rooms_of(repo: Path) -> tuple[str, ...] | None:
    """Read the ordered rooms from the table in docs/explanation/architecture.md.

    Returns:
        The rooms; None if there is no table in which each row names one package.
    """
    text = (repo / "docs" / "explanation" / "architecture.md").read_text("utf-8")
    table = re.search(r"^\| package \|.*\n\|[ -|]*\n((?:\|.*\n)+)", text, re.MULTILINE)
    if table is None:
        return None
    cells = [row.split("|")[1].strip() for row in table[1].splitlines()]
    rooms = [re.fullmatch(r"`(hvr/[\w/]+(?:/|\.py))`", cell) for cell in cells]
    return tuple(r[1] for r in rooms if r) if all(rooms) else None


def room_of(path: str, rooms: Sequence[str]) -> str | None:
    return next((r for r in rooms if path == r or (r.endswith("/") and path.startswith(r))), None)


# Imports -----------------------------------------------------------------------------------------


def imports_of(module: Module) -> Iterator[Import]:
    """Yield the imports of a module: at the top, in functions, and for type checkers only."""
    for node in _statements(module.tree.body):
        if isinstance(node, ast.Import):
            for alias in node.names:
                # For `import hvr`, count the attributes of hvr that the module uses.
                names = _attributes(module, "hvr") if alias.name == "hvr" else ()
                yield Import(module.path, node.lineno, alias.name, names)
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            yield Import(module.path, node.lineno, _source(node, module), names)


def _statements(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    # Imports are statements; skipping expressions is several times faster.
    for node in nodes:
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from _statements(getattr(node, part, ()))


def _attributes(module: Module, name: str) -> tuple[str, ...]:
    used = (n for n in ast.walk(module.tree) if isinstance(n, ast.Attribute))
    return tuple(sorted({n.attr for n in used if getattr(n.value, "id", None) == name}))


def _source(node: ast.ImportFrom, module: Module) -> str:
    if not node.level:
        return node.module or ""
    package = module.name.split(".")
    # A package is named after its __init__, so the first dot removes nothing there.
    drop = node.level - module.path.endswith("/__init__.py")
    return ".".join([*package[: len(package) - drop], *filter(None, [node.module])])


def targets(found: Import, paths: dict[str, str]) -> Iterator[str]:
    """Yield the files of the package, given by dotted name in `paths`, that an import refers to."""
    for name in found.names:
        if f"{found.target}.{name}" in paths:
            yield paths[f"{found.target}.{name}"]
        elif found.target in paths and (found.target, name) != ("hvr", "__version__"):
            yield paths[found.target]
    if not found.names and found.target in paths:
        yield paths[found.target]


def upward_imports(modules: Sequence[Module], rooms: Sequence[str]) -> list[str]:
    """List the imports from a room to a later room in the table.

    The public API (`hvr/__init__.py`) may import every room; rooms may import only its version.
    """
    paths = {m.name: m.path for m in modules}
    order = {room: place for place, room in enumerate(rooms)}
    wrong = []
    for module in modules:
        own = room_of(module.path, rooms)
        if own is None:
            continue
        for found in imports_of(module):
            for path in sorted(set(targets(found, paths))):
                other = room_of(path, rooms) or path
                if order.get(other, len(order)) > order[own]:
                    wrong.append(f"{module.path}:{found.line} imports {path}")
    return wrong


def foreign_imports(modules: Sequence[Module], folders: Sequence[str]) -> list[str]:
    """List the imports of repository folders that are not part of the package."""
    return [
        f"{module.path}:{found.line} imports {found.target}"
        for module in modules
        for found in imports_of(module)
        if found.target.split(".")[0] in folders
    ]


# Lines, functions, names -------------------------------------------------------------------------


def lines_of(module: Module) -> Lines:
    """Count the lines of each kind; a blank line in a docstring counts as docstring."""
    documented = {line for node in _docstrings(module.tree) for line in node}
    coded: set[int] = set()
    commented: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(module.source).readline):
        span = range(token.start[0], token.end[0] + 1)
        if token.type == tokenize.COMMENT:
            commented.update(span)
        elif token.string.strip():
            coded.update(span)
    coded -= documented
    commented -= coded | documented
    counted = len(coded) + len(documented) + len(commented)
    return Lines(len(coded), len(documented), len(commented), module.lines - counted)


def _docstrings(tree: ast.Module) -> Iterator[range]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            match node.body[:1]:
                case [ast.Expr(value=ast.Constant(value=str())) as text]:
                    yield range(text.lineno, (text.end_lineno or text.lineno) + 1)


def functions_of(module: Module) -> Iterator[Function]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            yield Function(module.path, node.lineno, node.name, length, _parameters(node.args))


def _parameters(args: ast.arguments) -> int:
    named = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    starred = sum(a is not None for a in (args.vararg, args.kwarg))
    return len(named) + starred - (named[:1] in (["self"], ["cls"]))


def homonyms_of(modules: Sequence[Module]) -> dict[str, list[str]]:
    """Return the names of public classes that several modules define, with these modules."""
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for module in modules:
        for name in {n.name for n in module.tree.body if isinstance(n, ast.ClassDef)}:
            if not name.startswith("_"):
                homes[name].append(module.path)
    return {name: paths for name, paths in sorted(homes.items()) if len(paths) > 1}


def share(ordered: Sequence[int], part: float) -> int:
    """Return the value at the fraction `part` of the ordered values."""
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)]


# The wheel, and what is entered at run time ------------------------------------------------------


def wheel_lines(repo: Path) -> int:
    """Count the lines of Python in the packages that pyproject.toml includes in the wheel."""
    configuration = tomllib.loads((repo / "pyproject.toml").read_text("utf-8"))
    wheel = configuration["tool"]["hatch"]["build"]["targets"]["wheel"]
    left_out = [p.strip("/") for p in wheel.get("exclude", [])]
    return sum(
        module.lines
        for package in wheel["packages"]
        for module in modules_of(repo, package)
        if not any(fnmatch(module.path, p) or fnmatch(module.path, f"{p}/*") for p in left_out)
    )


# Run with hvr's arguments. Module and class bodies are not function calls: their code objects
# lack the flag CO_OPTIMIZED.
_TRACER = """
import inspect, json, os, sys, threading

import hvr.doors.cli.main

ROOT = os.path.dirname(hvr.__file__) + os.sep
entered = set()

def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_flags & inspect.CO_OPTIMIZED:
        if code.co_filename.startswith(ROOT):
            entered.add(code.co_filename[len(ROOT):])

file = sys.argv.pop(1)
threading.setprofile(note)
sys.setprofile(note)
try:
    hvr.doors.cli.main.run()
except SystemExit as end:
    code = end.code
finally:
    sys.setprofile(None)
with open(file, "w") as out:
    json.dump([code, sorted(entered)], out)
"""

_DOMAIN = """
(define (domain blocks) (:requirements :strips :typing) (:types block)
  (:predicates (on ?x ?y - block) (table ?x - block) (clear ?x - block) (empty)
               (held ?x - block))
  (:action pick :parameters (?x - block) :precondition (and (clear ?x) (table ?x) (empty))
    :effect (and (not (table ?x)) (not (clear ?x)) (not (empty)) (held ?x)))
  (:action stack :parameters (?x ?y - block) :precondition (and (held ?x) (clear ?y))
    :effect (and (not (held ?x)) (not (clear ?y)) (clear ?x) (empty) (on ?x ?y))))
"""
_PROBLEM = """
(define (problem two) (:domain blocks) (:objects a b - block)
  (:init (table a) (table b) (clear a) (clear b) (empty)) (:goal (on a b)))
"""
_PLAN = "(pick a)\n(stack a b)\n"


def entered(repo: Path, *arguments: str) -> list[str]:
    """Run hvr and return the files of the package in which a function was called.

    Args:
        arguments: Command-line arguments; domain.pddl, problem.pddl and plan.txt are available.

    Raises:
        RuntimeError: hvr did not exit with code 0.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HVR_")}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("domain.pddl", _DOMAIN), ("problem.pddl", _PROBLEM)):
            Path(folder, name).write_text(text, "utf-8")
        Path(folder, "plan.txt").write_text(_PLAN, "utf-8")
        ended = subprocess.run(
            [sys.executable, "-c", _TRACER, "entered.json", *arguments],
            cwd=folder,
            env=environment | {"PYTHONPATH": str(repo.resolve())},
            capture_output=True,
            text=True,
            check=False,
        )
        result = Path(folder, "entered.json")
        code, files = json.loads(result.read_text("utf-8")) if result.exists() else (None, [])
    if code:
        raise RuntimeError(f"hvr {' '.join(arguments)} exited with code {code}: {ended.stderr}")
    if not files:
        raise RuntimeError(f"hvr {' '.join(arguments)} did not run: {ended.stderr}")
    return [str(file) for file in files]


RUNS = (
    ("plan", "make coffee", "--no-verify"),
    ("validate", "domain.pddl", "problem.pddl", "plan.txt"),
)


# All of it ---------------------------------------------------------------------------------------


def measure(repo: Path, *, runs: bool = True) -> dict[str, object]:
    """Measure a checkout; the keys of the result are the headings of the table."""
    modules = modules_of(repo)
    rooms = rooms_of(repo)
    lines = sum((lines_of(m) for m in modules), Lines())
    named = rooms or children(modules)
    homes = Counter(dict.fromkeys(named, 0))
    files = Counter(dict.fromkeys(named, 0))
    for module in modules:
        room = room_of(module.path, named) or module.path
        homes[room] += module.lines
        files[room] += 1
    return {
        "files": len(modules),
        "lines": {"total": lines.total, **asdict(lines)},
        "comment share": round(lines.comment / lines.total, 4),
        **_functions(modules),
        f"modules over {LONG_MODULE} lines": {
            m.path: m.lines
            for m in sorted(modules, key=lambda m: -m.lines)
            if m.lines > LONG_MODULE
        },
        "homonyms": homonyms_of(modules),
        "rooms": {r: {"lines": n, "files": files[r]} for r, n in homes.most_common()},
        "upward imports": "no table" if rooms is None else upward_imports(modules, rooms),
        "files entered": {
            "hvr " + " ".join(arguments): len(entered(repo, *arguments))
            for arguments in (RUNS if runs else ())
        },
        "lines in the wheel": wheel_lines(repo),
    }


def _functions(modules: Sequence[Module]) -> dict[str, object]:
    functions = [f for m in modules for f in functions_of(m)]
    lengths = sorted(f.lines for f in functions)
    longest = sorted(functions, key=lambda f: -f.lines)[:10]
    wide = [
        f
        for f in sorted(functions, key=lambda f: -f.parameters)
        if f.parameters >= MANY_PARAMETERS and not f.path.startswith("hvr/doors/cli/")
    ]
    return {
        "functions": {
            "count": len(functions),
            "p50": share(lengths, 0.5),
            "p90": share(lengths, 0.9),
            "max": lengths[-1],
            "over 60": sum(n > 60 for n in lengths),
        },
        "longest functions": {f"{f.path}:{f.line} {f.name}": f.lines for f in longest},
        f"functions with {MANY_PARAMETERS} or more parameters outside hvr/doors/cli": {
            f"{f.path}:{f.line} {f.name}": f.parameters for f in wide
        },
    }


def table(measured: dict[str, object]) -> Iterator[str]:
    for heading, value in measured.items():
        match value:
            case dict() if heading in ("lines", "functions"):
                yield f"{heading}: " + ", ".join(f"{k} {v:,}" for k, v in value.items())
            case dict():
                yield f"{heading}: {len(value)}"
                yield from (f"  {_cell(v)}  {k}" for k, v in value.items())
            case list():
                yield f"{heading}: {len(value)}"
                yield from (f"  {item}" for item in value)
            case float():
                yield f"{heading}: {value:.1%}"
            case int():
                yield f"{heading}: {value:,}"
            case _:
                yield f"{heading}: {value}"


def _cell(value: object) -> str:
    match value:
        case {"lines": int(lines), "files": int(files)}:
            return f"{lines:>6,} lines {files:>3} files"
        case list():
            return f"{len(value)}× in {', '.join(map(str, value))}:"
    return f"{value:>4}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the package.")
    parser.add_argument(
        "--repo", type=Path, default=HERE, help="checkout to measure (default: this one)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--no-runs", action="store_true", help="do not run hvr")
    asked = parser.parse_args()
    measured = measure(asked.repo, runs=not asked.no_runs)
    print(json.dumps(measured, indent=1) if asked.json else "\n".join(table(measured)))


if __name__ == "__main__":
    main()
