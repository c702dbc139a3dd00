"""The documented tree of errors in `hvr.errors` is the tree of classes."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import hvr
import hvr.errors
from hvr.errors import HvrError, MissingExtraError

ROOT = Path(hvr.__file__).parent
# Ignore warnings of the extras' libraries on import.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

EXTRAS = (
    "PIL", "ai2thor", "google", "jsonschema", "msgpack", "numpy", "openai", "safetensors",
    "sentence_transformers", "threadpoolctl", "torch", "torch_geometric", "transformers", "yaml",
)  # fmt: skip
"""Top-level packages that only extras of hvr install."""

DRAWING, SIGNALS = (hvr.errors.__doc__ or "").split("\nSignals", 1)
_DRAWN = re.compile(r"^((?:│   |    |├── |└── )*)(\w+Error) +(\d)  (.+?)(?:  \[([\w.]+)\])?$", re.M)
_SIGNAL = re.compile(r"^(\w+) +\[([\w.]+)\]", re.M)


def drawn() -> dict[str, tuple[str, int, str]]:
    """Return parent, exit code and module of each documented error, by name."""
    errors: dict[str, tuple[str, int, str]] = {}
    above: list[str] = []
    for indent, name, code, _, module in _DRAWN.findall(DRAWING):
        depth = len(indent) // 4
        above[depth:] = [name]
        parent = above[depth - 1] if depth else "Exception"
        errors[name] = (parent, int(code), module or "hvr.errors")
    return errors


def subclasses(root: type[HvrError]) -> Iterator[type[HvrError]]:
    yield root
    for child in root.__subclasses__():
        yield from subclasses(child)


@pytest.fixture(scope="module")
def absent() -> dict[str, str]:
    """Import every module; return the missing packages of extras, by module."""
    lacking = {}
    for module in pkgutil.walk_packages([str(ROOT)], "hvr."):
        if module.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.name)
        except MissingExtraError as error:
            lacking[module.name] = error.package
        except ImportError as error:
            package = (error.name or "").partition(".")[0]
            if package not in EXTRAS:
                raise
            lacking[module.name] = package
    return lacking


def test_every_module_can_be_imported(absent: dict[str, str]) -> None:
    if absent:
        pytest.skip(f"not imported, for want of {sorted(set(absent.values()))}: {sorted(absent)}")


def test_the_drawing_is_the_tree_of_classes(absent: dict[str, str]) -> None:
    classes = {}
    for error in subclasses(HvrError):
        if error.__module__.partition(".")[0] == "hvr":
            (parent,) = error.__bases__
            assert (error.__doc__ or "").strip(), error
            classes[error.__name__] = (parent.__name__, error.exit_code, error.__module__)
    assert classes == {name: row for name, row in drawn().items() if row[2] not in absent}


def test_the_exit_codes_are_those_of_the_command_line() -> None:
    assert {code for _, code, _ in drawn().values()} == {1, 2, 4}


def defined() -> Iterator[tuple[str, str]]:
    """Yield name and module of each class in hvr's source that looks like an exception."""
    for path in sorted(ROOT.rglob("*.py")):
        module = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and any(
                re.search(r"(Error|Exception|Exit|Interrupt|Warning)$", ast.unparse(base))
                for base in node.bases
            ):
                yield node.name, module.removesuffix(".__init__")


@pytest.mark.slow
def test_every_exception_of_the_source_is_in_the_drawing_or_among_the_signals() -> None:
    tree = {(name, module) for name, (_, _, module) in drawn().items()}
    signals = set(_SIGNAL.findall(SIGNALS))
    assert set(defined()) == tree | signals
    assert not tree & signals
