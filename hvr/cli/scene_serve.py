"""`hvr scene serve`: the process that AI2-THOR's Python client takes for Unity."""

from __future__ import annotations

import typer

CONTEXT_SETTINGS = {
    "ignore_unknown_options": True,
    "allow_extra_args": True,
    "help_option_names": [],
}
"""To register the command with: it reads its own arguments, and Unity's among them."""


def serve(context: typer.Context) -> None:
    """Stand in for Unity: AI2-THOR's Python client meets hvr's kitchen."""
    from hvr.stand_in.process import main

    raise typer.Exit(main(context.args))
