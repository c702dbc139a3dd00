"""The conditions of a measurement: machine, versions, seed."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("hvr", "pyoxigraph", "unified-planning", "up-fast-downward", "rdflib", "owlready2")


def conditions(seed: int | None = None) -> str:
    """Return the machine, versions and seed as one line for the head of a table."""
    parts = [f"{_processor()}, {os.cpu_count()} CPUs", platform.platform(terse=True),
             f"Python {platform.python_version()}"]  # fmt: skip
    for name in _PACKAGES:
        try:
            parts.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    if seed is not None:
        parts.append(f"seed {seed}")
    return " · ".join(parts)


def _processor() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
