"""Start of the simulator: the arguments of AI2-THOR's client, and its failures explained."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hvr.errors import MissingExtraError, SimulatorError
from hvr.worlds.thor.checks import judge
from hvr.worlds.thor.machine import ai2thor_home, look
from hvr.worlds.thor.options import ThorOptions

_TELLING = (TimeoutError, BrokenPipeError)
_ADVICE = "`hvr doctor thor` checks the installation"


def require_ready(options: ThorOptions) -> None:
    """Refuse early what cannot work here.

    Raises:
        MissingExtraError: the package ai2thor is not installed.
        SimulatorError: something else is missing; the message lists it with advice.
    """
    missing = [c for c in judge(look(options), options) if c.status == "missing"]
    if any(check.name == "package" for check in missing):
        raise MissingExtraError("ai2thor", "thor")
    if missing:
        lines = [f"  {check.name}: {check.found}\n    {check.advice}" for check in missing]
        title = "AI2-THOR cannot be started here (its options are those of thor):"
        raise SimulatorError("\n".join([title, *lines]), field="thor", exit_code=2)


def client_arguments(options: ThorOptions, platforms: dict[str, Any]) -> dict[str, Any]:
    """Return arguments of the client's `Controller`, without the scene and the server's class.

    Args:
        options: how to start.
        platforms: the client's classes of platforms by name.
    """
    arguments: dict[str, Any] = {
        "width": options.width,
        "height": options.height,
        "quality": options.quality,
        "headless": options.headless,
        "port": options.port,
        "server_timeout": options.timeout,
        "server_start_timeout": options.start_timeout,
        "gridSize": options.grid_size,
        "visibilityDistance": options.visibility_distance,
    }
    if options.platform:
        arguments["platform"] = platforms[options.platform]
    if options.display:
        arguments["x_display"] = options.display
    if options.executable:
        arguments["local_executable_path"] = options.executable
        # Without a display the client fails on this way, although nobody contacts one.
        arguments["x_display"] = options.display or os.environ.get("DISPLAY") or "0"
    return arguments


def log_file() -> Path:
    """Return where the client writes what the simulator process prints."""
    return ai2thor_home() / "log" / "unity.log"


def explain(what: str, error: BaseException, options: ThorOptions, log_start: int) -> str:
    """Return what happened to the simulator, in a sentence or two.

    Args:
        what: the action that was going on, or `the start`.
        error: as the client raised it.
        options: how it was started.
        log_start: size of the log before the start, bytes.
    """
    chain: list[BaseException] = [error]
    while chain[-1].__context__ is not None:
        chain.append(chain[-1].__context__)
    telling = [e for e in chain if hasattr(e, "returncode") or isinstance(e, _TELLING)]
    cause = telling[0] if telling else chain[-1]
    code = getattr(cause, "returncode", None)
    if isinstance(cause, TimeoutError):
        limits = f"timeout {options.timeout:g} s"
        if what == "the start":
            limits = f"start_timeout {options.start_timeout:g} s, {limits}"
        failure = (
            f"AI2-THOR did not answer in time during {what} ({limits}; "
            "if it only needs longer, raise these options of AI2-THOR)"
        )
    elif code is not None or isinstance(cause, BrokenPipeError):
        ending = f" (exit code {code})" if code is not None else ""
        failure = f"the AI2-THOR process ended{ending} during {what}"
    else:
        reason = " ".join(str(cause).split()) or type(cause).__name__
        failure = f"AI2-THOR failed during {what}: {reason}"
    printed = _last_line(log_start)
    printed = f"; it printed: {printed}" if printed else ""
    return f"{failure}{printed}; its output is in {log_file()}; {_ADVICE}"


def _last_line(start: int) -> str:
    """Return what the process printed last, if anything."""
    try:
        with log_file().open("rb") as file:
            file.seek(start)
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")
