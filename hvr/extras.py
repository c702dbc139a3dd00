"""Packages that only some users install: the extras of pyproject.toml."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from hvr.errors import MissingExtraError

_GNN = ("torch", "torch_geometric", "numpy", "safetensors", "threadpoolctl", "yaml")


def need_gnn() -> None:
    """Call this before a module is imported that needs the extra `gnn`.

    Raises:
        MissingExtraError: one of its packages is not installed.
    """
    for package in _GNN:
        if find_spec(package) is None:
            raise MissingExtraError(package, "gnn")


def load(module: str, package: str, extra: str) -> Any:
    """Import a module of an optional package when it is needed.

    Args:
        module: name to import, such as `google.genai`.
        package: name of the package that has it, such as `google-genai`.
        extra: the extra of hvr that installs it.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(package, extra) from None
