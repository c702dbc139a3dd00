"""The commands, as `hvr --help` lists them."""

from __future__ import annotations

from typing import Annotated

import typer

import hvr
from hvr.cli import bench, catalogue, doctor, kg, library, llm, plan, scene, show, tools, verify

app = typer.Typer(
    name="hvr",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Household robot plans, proven before they run and watched while they run.",
)

# These read their own arguments, `--help` among them: see hvr/cli/main.py.
_OWN_ARGUMENTS = {
    "ignore_unknown_options": True,
    "allow_extra_args": True,
    "help_option_names": [],
}


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


@app.command("validate", context_settings=_OWN_ARGUMENTS)
def _validate(context: typer.Context) -> None:
    """Validate PDDL plans; say at which step and why a plan fails."""
    from hvr.cli import validate

    raise typer.Exit(validate.main(context.args))


@app.command("lint", context_settings=_OWN_ARGUMENTS)
def _lint(context: typer.Context) -> None:
    """Find what is suspicious in a PDDL domain and problem."""
    from hvr.cli import lint

    raise typer.Exit(lint.main(context.args))


app.command("tasks")(catalogue.tasks)
app.command("scenes")(catalogue.scenes)
app.command("show")(show.show)
app.add_typer(kg.app, name="kg")
app.add_typer(llm.app, name="llm")
app.add_typer(library.app, name="library")
app.add_typer(bench.app, name="bench")
app.add_typer(doctor.app, name="doctor")
app.add_typer(scene.app, name="scene")
app.add_typer(verify.app, name="verify")
app.add_typer(tools.app, name="tools")
