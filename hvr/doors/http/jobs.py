"""Jobs: requests that are accepted, kept in files, and answered later.

A job is a folder with `request.json`, `events.jsonl`, and at its end one of `answer.json`,
`error.json` and `cancelled.json`. An accepted job survives the end of the server, however it ends:
the next server of the folder restarts it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import shutil
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from hvr.base.files import write_whole
from hvr.doors.schema import ErrorAnswer, UnansweredError
from hvr.doors.service import Service

FOLDER = "jobs"
_EVENTS = "events.jsonl"
_ID = re.compile(r"[A-Za-z0-9_-]{8,40}")
_KEEP_SECONDS = 24 * 3600.0
_MOST_KEPT = 1_000
_MOST_STARTS = 3
_POLL_SECONDS = 0.1
_ENDS = {"answer": "done", "error": "failed", "cancelled": "cancelled"}


class BusyError(Exception):
    """The queue is full."""


class NoJobError(Exception):
    """No job has this id."""


class Jobs:
    """The jobs of a service.

    Args:
        service: Answers the requests.
        waiting: Maximum number of jobs that wait for a processor.
    """

    def __init__(self, service: Service, waiting: int | None = None) -> None:
        cores = os.cpu_count() or 1
        self._service = service
        self.folder = service.folder.path / FOLDER
        self._waiting = 2 * cores if waiting is None else waiting
        self._slots = asyncio.Semaphore(cores)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._running: set[str] = set()

    async def start(self) -> None:
        """Start the jobs again that an earlier server accepted and did not finish."""
        with suppress(FileNotFoundError):
            for folder in sorted(self.folder.iterdir(), key=lambda path: path.stat().st_mtime):
                if (folder / "request.json").is_file() and _end(folder) is None:
                    self._begin(folder.name)

    async def stop(self) -> None:
        """Stop working; unfinished jobs stay for the next server."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def submit(self, operation: str, request: dict[str, Any]) -> str:
        """Accept a job and return its id.

        Raises:
            BusyError: Too many jobs are waiting.
            UnansweredError: The request is unusable.
        """
        self._service.check(operation, request)
        if len(self._tasks) - len(self._running) >= self._waiting:
            raise BusyError
        self._tidy()
        job = secrets.token_urlsafe(12)
        folder = self.folder / job
        folder.mkdir(parents=True)
        document = {"operation": operation, "request": request, "created": time.time()}
        write_whole(folder / "request.json", json.dumps(document), durable=True)
        self._note(job, "accepted")
        self._begin(job)
        return job

    def state(self, job: str) -> dict[str, Any]:
        """Return a job as JSON.

        Raises:
            NoJobError: No job has this id.
        """
        folder = self._found(job)
        asked = json.loads((folder / "request.json").read_text(encoding="utf-8"))
        answer = {"id": job, "operation": asked["operation"], "created": asked["created"]}
        if (end := _end(folder)) is None:
            return answer | {"state": "running" if job in self._running else "queued"}
        result = json.loads((folder / f"{end}.json").read_text(encoding="utf-8"))
        return answer | {"state": _ENDS[end]} | ({end: result} if end != "cancelled" else {})

    def listed(self) -> list[dict[str, str]]:
        """Return id and state of each job, the newest first."""
        with suppress(FileNotFoundError):
            folders = sorted(self.folder.iterdir(), key=lambda p: p.stat().st_mtime, reverse=True)
            return [
                {"id": folder.name, "state": self._state_of(folder)}
                for folder in folders
                if (folder / "request.json").is_file()
            ]
        return []

    def counts(self) -> Counter[str]:
        """Return the number of jobs by state."""
        return Counter(one["state"] for one in self.listed())

    async def delete(self, job: str) -> None:
        """Cancel a job, or remove a finished one.

        Raises:
            NoJobError: No job has this id.
        """
        folder = self._found(job)
        if _end(folder) is not None:
            shutil.rmtree(folder, ignore_errors=True)
            return
        self._finish(job, "cancelled", {})
        if (task := self._tasks.get(job)) is not None:
            task.cancel()
            await asyncio.wait([task])

    async def events(self, job: str, after: int = 0) -> AsyncIterator[tuple[int, str]]:
        """Yield number and text of each event of a job until it ends.

        A request in words also yields the lines of the run's trace.

        Args:
            after: Number of the last event that the client has seen.

        Raises:
            NoJobError: No job has this id.
        """
        folder = self._found(job)
        seen = after
        while True:
            ended = not folder.is_dir() or _end(folder) is not None
            for line in _whole_lines(folder / _EVENTS)[seen:]:
                seen += 1
                yield seen, line
            if ended and job not in self._tasks:
                return
            await asyncio.sleep(_POLL_SECONDS)

    def _begin(self, job: str) -> None:
        task = asyncio.create_task(self._run(job))
        self._tasks[job] = task
        task.add_done_callback(lambda _: self._tasks.pop(job, None))

    async def _run(self, job: str) -> None:
        folder = self.folder / job
        asked = json.loads((folder / "request.json").read_text(encoding="utf-8"))
        async with self._slots:
            starts = sum('"started"' in line for line in _whole_lines(folder / _EVENTS))
            if starts >= _MOST_STARTS:
                message = f"the server ended {_MOST_STARTS} times while it worked on this job"
                self._finish(job, "error", ErrorAnswer("ServerLost", message).to_json())
                return
            self._running.add(job)
            try:
                self._note(job, "started")
                answer = await self._answered(job, asked["operation"], asked["request"], starts)
                self._finish(job, "answer", answer)
            except UnansweredError as error:
                self._finish(job, "error", error.answer.to_json())
            finally:
                self._running.discard(job)

    async def _answered(
        self, job: str, operation: str, request: dict[str, Any], starts: int
    ) -> dict[str, Any]:
        if operation != "plan_request" or request.get("run"):
            return await self._service.call(operation, request)
        # A run that was broken off keeps its folder.
        name = f"job-{job}-{starts + 1}"
        trace = self._service.folder.path / "runs" / name / "trace.jsonl"
        copied = 0

        def copy() -> None:
            nonlocal copied
            lines = _whole_lines(trace)
            for line in lines[copied:]:
                self._append(job, line)
            copied = len(lines)

        working = asyncio.ensure_future(self._service.call(operation, request | {"run": name}))
        try:
            while not working.done():
                await asyncio.wait([working], timeout=_POLL_SECONDS)
                copy()
        finally:
            working.cancel()
        return await working

    def _finish(self, job: str, end: str, document: dict[str, Any]) -> None:
        folder = self.folder / job
        if not folder.is_dir() or _end(folder) is not None:
            return
        write_whole(folder / f"{end}.json", json.dumps(document), durable=True)
        self._note(job, _ENDS[end])

    def _note(self, job: str, event: str) -> None:
        self._append(job, json.dumps({"event": event, "time": round(time.time(), 3)}))

    def _append(self, job: str, line: str) -> None:
        path = self.folder / job / _EVENTS
        # A deleted job has no folder any more.
        with suppress(FileNotFoundError), path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def _state_of(self, folder: Path) -> str:
        end = _end(folder)
        if end is None:
            return "running" if folder.name in self._running else "queued"
        return _ENDS[end]

    def _found(self, job: str) -> Path:
        folder = self.folder / job
        if not _ID.fullmatch(job) or not (folder / "request.json").is_file():
            raise NoJobError
        return folder

    def _tidy(self) -> None:
        """Remove finished jobs that are old, or too many."""
        with suppress(FileNotFoundError):
            ended = [f for f in self.folder.iterdir() if _end(f) is not None]
            ended.sort(key=lambda path: path.stat().st_mtime)
            now = time.time()
            for number, folder in enumerate(ended):
                old = now - folder.stat().st_mtime > _KEEP_SECONDS
                if old or len(ended) - number > _MOST_KEPT:
                    shutil.rmtree(folder, ignore_errors=True)


def _end(folder: Path) -> str | None:
    """Return how a job has ended; None while it has not."""
    return next((end for end in _ENDS if (folder / f"{end}.json").is_file()), None)


def _whole_lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text[: text.rfind("\n") + 1].splitlines()
