"""The packages of the extra `gnn`: whether they are there."""

from __future__ import annotations

from importlib.util import find_spec

from hvr.errors import MissingExtraError

_PACKAGES = ("torch", "torch_geometric", "numpy", "safetensors", "threadpoolctl", "yaml")


def need_gnn() -> None:
    """Call this before a module is imported that needs the extra `gnn`.

    Raises:
        MissingExtraError: one of its packages is not installed.
    """
    for package in _PACKAGES:
        if find_spec(package) is None:
            raise MissingExtraError(package, "gnn")
