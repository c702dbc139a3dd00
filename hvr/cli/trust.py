"""`--trust-project` and `--run`: let hvr run code that the current folder or project names."""

from __future__ import annotations

import argparse


def add_trust(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup, what: str = "worlds and "
) -> None:
    """Add the option.

    Args:
        parser: takes the option.
        what: What may name code, beside pyproject.toml.
    """
    parser.add_argument("--trust-project", action="store_true", default=False, help=(
        f"run code and use engines that {what}the nearest pyproject.toml name "
        "(SECURITY.md)"))  # fmt: skip


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add `--run` to a command that only looks at a world otherwise."""
    parser.add_argument("--run", action="store_true", help=(
        "run the world's own code: open its environment or tools, start its server"))  # fmt: skip
