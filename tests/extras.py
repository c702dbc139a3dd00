"""Skips what needs packages that are not installed."""

from __future__ import annotations

from importlib.util import find_spec

import pytest


def needs(*packages: str) -> None:
    """Skip the test, or the whole module at its top, unless the packages are installed.

    Unlike `pytest.importorskip`, it imports none: every process of pytest collects all modules, but
    runs few of them, and the imports take most of the time.
    """
    for package in packages:
        if not _installed(package):
            pytest.skip(f"{package} is not installed", allow_module_level=True)


def _installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False
