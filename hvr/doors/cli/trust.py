"""`--trust-project` and `--run`: let hvr use what the current folder or project names."""

from __future__ import annotations

import argparse


def add_trust(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add the option, unless the parser has it."""
    if parser.get_default("trust_project") is not None:
        return
    parser.add_argument("--trust-project", action="store_true", default=False, help=(
        "use what worlds and the nearest pyproject.toml name: code, engines, a model and its "
        "address (SECURITY.md)"))  # fmt: skip


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add `--run` to a command that only looks at a world otherwise."""
    parser.add_argument("--run", action="store_true", help=(
        "run the world's own code: open its environment or tools, start its server"))  # fmt: skip
