"""Packages that only some users install."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hvr.errors import MissingExtraError


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
