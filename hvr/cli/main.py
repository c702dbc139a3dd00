"""`hvr`: the commands, and what errors look like.

Exit codes: 0 good; 1 the answer is no (invalid plan, goal not reached, impossible request);
2 the question was unusable (bad option, unknown name, bad file); 130 interrupted.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Annotated

import typer

import hvr
from hvr.cli import catalogue, kg, plan, validate
from hvr.errors import HvrError

app = typer.Typer(
    name="hvr",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Household robot plans, proven before they run and watched while they run.",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"hvr {hvr.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    del version


app.command("plan")(plan.plan)
app.command("validate")(validate.validate)
app.command("tasks")(catalogue.tasks)
app.command("scenes")(catalogue.scenes)
app.add_typer(kg.app, name="kg")


def run() -> None:
    """Run the command line and exit."""
    try:
        app()
    except HvrError as error:
        if "--json" in sys.argv:
            print(json.dumps({"error": str(error), "exit_code": error.exit_code}))
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # The reader has gone; keep Python from complaining when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
