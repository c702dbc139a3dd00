"""Runs `analysis.py` in a process that ends with the server."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from hvr.base.processes import supervised

_MEMORY = 2 << 30
_ANSWER_LIMIT = 1 << 26


class NoAnalysisError(Exception):
    """The analysis took too long, or its process ended."""


class Analyst:
    """The process that answers requests, one at a time.

    Args:
        seconds: Time limit of a request.
    """

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
                *supervised([sys.executable, "-m", "hvr.doors.lsp.analysis"], memory=_MEMORY),
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
