"""`hvr doctor`: whether what hvr can use is there, and what to do where it is not."""

from __future__ import annotations

import json
from typing import Annotated

import typer

app = typer.Typer(
    name="doctor",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Check what hvr can use on this machine.",
)


@app.callback()
def _main() -> None:
    # A callback keeps `thor` a command of its own while it is the only one.
    pass


@app.command("thor")
def thor(
    thor_executable: Annotated[
        str | None,
        typer.Option(
            help="Command line of a process that speaks AI2-THOR's protocol.",
            show_default="HVR_THOR_EXECUTABLE",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--thor", metavar="NAME=VALUE", help="An option of AI2-THOR, see docs/thor.md."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Check whether AI2-THOR can run here. Nothing is downloaded or started.

    Exit code 0: it can. 1: something is missing. 2: an option cannot be used.

    Examples:

    - `hvr doctor thor`
    - `hvr doctor thor --thor platform=CloudRendering`
    - `hvr doctor thor --json`
    """
    from hvr.envs.thor.checks import judge, ready
    from hvr.envs.thor.machine import look
    from hvr.envs.thor.options import option_texts, read_options

    options = read_options(option_texts(thor_executable, option))
    checks = judge(look(options), options)
    good = ready(checks)
    if as_json:
        print(json.dumps({"ready": good, "checks": [check.to_json() for check in checks]}))
    else:
        for check in checks:
            print(f"{check.status:8} {check.name:10} {check.found}")
            if check.advice:
                print(f"{'':19} do: {check.advice}")
        missing = ", ".join(check.name for check in checks if check.status == "missing")
        print("AI2-THOR can be started here" if good else f"AI2-THOR cannot be started: {missing}")
    raise typer.Exit(0 if good else 1)
