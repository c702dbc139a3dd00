"""Commands of the editor that take time: validate, plan, show states. Each runs `hvr` once."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from hvr.base.files import temporary_folder
from hvr.base.processes import supervised
from hvr.doors.lsp.models import Models

VALIDATE = "hvr.validate"
PLAN = "hvr.plan"
SHOW_STATES = "hvr.showStates"
COMMANDS = (VALIDATE, PLAN, SHOW_STATES)

_SECONDS = 300.0
_MEMORY = 4 << 30


class Done(NamedTuple):
    """The result of a command.

    Attributes:
        code: The exit code of hvr.
        text: All that hvr printed.
        plan: The plan that was found, as a plan file.
    """

    code: int
    text: str
    plan: str = ""


async def run(models: Models, command: str, file: str) -> Done:
    """Run a command on a problem or a plan, as it is in the editor.

    Args:
        file: A problem for `VALIDATE`, which validates its plans, and for `PLAN`; a plan for
            `VALIDATE` and `SHOW_STATES`.
    """
    model = models.of(file)
    plan = models.problem_of(file)
    if model is None or (file == model.domain):
        return Done(2, f"{Path(file).name} has no domain, or several could be its domain")
    problem = file if plan is None else plan[1]
    plans = list(model.problems.get(problem, ())) if plan is None else [file]
    if command != PLAN and not plans:
        return Done(2, f"no plan for {Path(problem).name} was found beside it")
    with temporary_folder("hvr-edit-") as folder:
        names = _copies(models, [model.domain, problem, *plans], Path(folder))
        if command == PLAN:
            arguments = ["solve", *names[:2], "--save", "solved"]
        elif command == SHOW_STATES:
            arguments = ["validate", *names, "--happenings"]
        else:
            arguments = ["validate", *names, "--advise"]
        done = await run_hvr(arguments, folder)
        found = Path(folder, "solved", "plan.pddl")
        plan_text = found.read_text(encoding="utf-8") if found.is_file() else ""
        return done._replace(plan=plan_text)


def _copies(models: Models, files: Sequence[str], folder: Path) -> list[str]:
    names: list[str] = []
    for number, file in enumerate(files):
        name = Path(file).name
        if name in names:
            name = f"{number}-{name}"
        (folder / name).write_text(models.text(file), encoding="utf-8")
        names.append(name)
    return names


async def run_hvr(arguments: Sequence[str], folder: str, seconds: float = _SECONDS) -> Done:
    """Run an hvr command in a folder; it ends with the server and after the time limit."""
    process = await asyncio.create_subprocess_exec(
        *supervised([sys.executable, "-m", "hvr", *arguments], memory=_MEMORY),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(seconds):
            output, messages = await process.communicate()
    except TimeoutError:
        return Done(4, f"stopped after {seconds:g} s")
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.terminate()
            await process.wait()
    parts = [part.decode(errors="replace").rstrip() for part in (output, messages)]
    return Done(process.returncode or 0, "\n".join(filter(None, parts)))


# Analyst ------------------------------------------------------------------------------------------
# Runs `analysis.py` in a process that ends with the server.

_MEMORY_analyst = 2 << 30
_ANSWER_LIMIT = 1 << 26


class NoAnalysisError(Exception):
    """The analysis took too long, or its process ended."""


class Analyst:
    """The process that answers requests, one at a time, each within a time limit."""

    def __init__(self, seconds: float = 30.0) -> None:
        self._seconds = seconds
        self._process: asyncio.subprocess.Process | None = None
        self._one = asyncio.Lock()

    async def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a request.

        Raises:
            NoAnalysisError: The request took too long, or the process ended.
        """
        async with self._one:
            process = await self._start()
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(json.dumps(request).encode() + b"\n")
                async with asyncio.timeout(self._seconds):
                    await process.stdin.drain()
                    line = await process.stdout.readline()
                answer: dict[str, Any] = json.loads(line)
            except (TimeoutError, ConnectionError, ValueError) as error:
                await self.end()
                took = f"the analysis took more than {self._seconds:g} s"
                late = isinstance(error, TimeoutError)
                raise NoAnalysisError(took if late else "the analysis ended unexpectedly") from None
            except asyncio.CancelledError:
                # Its answer to this request would be taken for that to the next.
                await self.end()
                raise
        if "error" in answer:
            raise NoAnalysisError(answer["error"])
        return answer

    async def _start(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                *supervised(
                    [sys.executable, "-m", "hvr.doors.lsp.analysis"], memory=_MEMORY_analyst
                ),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                limit=_ANSWER_LIMIT,
            )
        return self._process

    async def end(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                process.terminate()
            await process.wait()
