"""Worker processes of a door: bounded in number, time and memory, and ended at once on request."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from hvr.base.files import temporary_folder
from hvr.base.processes import OUT_OF_MEMORY, supervised
from hvr.doors.schema import ErrorAnswer, UnansweredError
from hvr.doors.worker import LENGTH

MEMORY = 2 * 1024**3
"""Bytes that a worker and its planners may use together."""
_MOST_ANSWERS = 200
"""A worker is replaced after this many answers, so that its memory stays small."""
_END_SECONDS = 5.0


class Workers:
    """Processes that answer one request each at a time. They start when they are needed.

    Args:
        folder: Working folder of the processes.
        most: Maximum number of processes; further requests wait.
        memory: Bytes that each process may use, with all processes that it starts.
    """

    def __init__(self, folder: Path, most: int | None = None, memory: int = MEMORY) -> None:
        self._folder, self._memory = folder, memory
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._ending: set[asyncio.Task[int]] = set()
        self._slots = asyncio.Semaphore(most or max(2, os.cpu_count() or 1))

    async def __aenter__(self) -> Workers:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.shield(self.close())

    async def run(self, name: str, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Return the answer to a request as JSON.

        If the task is cancelled, the process that works for it is ended.

        Raises:
            UnansweredError: The request cannot be answered, or not within its limits.
        """
        asked = json.dumps({"name": name, "request": request}).encode()
        async with self._slots:
            worker = self._idle.pop() if self._idle else await self._started()
            try:
                async with asyncio.timeout(seconds):
                    reply = await worker.ask(asked)
            except TimeoutError:
                message = f"no answer within {seconds:g} s; a larger time limit may help"
                raise UnansweredError(ErrorAnswer("TimeLimit", message, again=True)) from None
            except (asyncio.IncompleteReadError, OSError):
                raise UnansweredError(await self._why(worker)) from None
            finally:
                if worker.usable:
                    self._idle.append(worker)
                else:
                    self._end(worker)
        if "error" in reply:
            raise UnansweredError(ErrorAnswer(**{k: v for k, v in reply["error"].items() if v}))
        answer: dict[str, Any] = reply["answer"]
        return answer

    async def close(self) -> None:
        """End all processes."""
        for worker in list(self._all):
            self._end(worker)
        self._idle.clear()
        while self._ending:
            await asyncio.wait(self._ending)

    def _end(self, worker: _Worker) -> None:
        self._all.discard(worker)
        worker.end()
        # Not awaited here: the caller may be cancelled.
        task = asyncio.create_task(worker.ended())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _started(self) -> _Worker:
        command = supervised([sys.executable, "-m", "hvr.doors.worker"], memory=self._memory)
        with ExitStack() as stack:
            # A process that is ended leaves its temporary files.
            temporary = stack.enter_context(temporary_folder("hvr-worker-"))
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=self._folder,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,
                # The folder may contain modules that must not replace hvr's.
                env={**os.environ, "PYTHONSAFEPATH": "1", "TMPDIR": temporary},
            )
            worker = _Worker(process, stack.pop_all())
        self._all.add(worker)
        return worker

    async def _why(self, worker: _Worker) -> ErrorAnswer:
        code = await worker.ended()
        if code == OUT_OF_MEMORY:
            limit = f"{self._memory / 1024**3:g} GiB"
            return ErrorAnswer("MemoryLimit", f"the request needs more than {limit} of memory")
        message = f"the process that worked on it ended with code {code}"
        return ErrorAnswer("WorkerLost", message, again=True)


class _Worker:
    def __init__(self, process: asyncio.subprocess.Process, temporary: ExitStack) -> None:
        self._process, self._temporary = process, temporary
        self._answers = 0
        self.usable = False
        """Whether the process has answered all its requests and may answer another."""

    async def ask(self, asked: bytes) -> dict[str, Any]:
        self.usable = False
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(len(asked).to_bytes(LENGTH, "big") + asked)
        await self._process.stdin.drain()
        head = await self._process.stdout.readexactly(LENGTH)
        data = await self._process.stdout.readexactly(int.from_bytes(head, "big"))
        self._answers += 1
        self.usable = self._answers < _MOST_ANSWERS
        reply: dict[str, Any] = json.loads(data)
        return reply

    def end(self) -> None:
        """End the process and its descendants, without waiting."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        with suppress(ProcessLookupError):
            self._process.terminate()

    async def ended(self) -> int:
        """Wait for the process to end, remove its temporary files, and return its exit code."""
        with self._temporary:
            try:
                async with asyncio.timeout(_END_SECONDS):
                    return await self._process.wait()
            except TimeoutError:
                with suppress(ProcessLookupError):
                    self._process.kill()
                return await self._process.wait()
