"""Jobs: requests that the server accepts, stores in files, and answers later.

A job is a folder with `request.json` and `events.jsonl`. When the job ends, `answer.json`,
`error.json` or `cancelled.json` is added. An accepted job survives a crash: the next server that
uses the folder restarts it.

A server that accepts or restarts jobs locks the folder against other servers.
"""

from __future__ import annotations

import asyncio
import json
import logging
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

from hvr.base.files import Lock, is_locked, try_lock, unwritable, write_whole
from hvr.doors.operations import error_answer
from hvr.doors.schema import ErrorAnswer, UnansweredError
from hvr.doors.service import Service
from hvr.errors import HvrError

FOLDER = "jobs"
_REQUEST = "request.json"
_EVENTS = "events.jsonl"
_LOCK = ".lock"
_ID = re.compile(r"[A-Za-z0-9_-]{8,40}")
_KEEP_SECONDS = 24 * 3600.0
_MOST_KEPT = 1_000
_MOST_STARTS = 3
_POLL_SECONDS = 0.1
_ENDS = {"answer": "done", "error": "failed", "cancelled": "cancelled"}
_DAMAGED = ErrorAnswer("DataFileError", f"the job's {_REQUEST} is damaged; send the request again")
_OTHER = ErrorAnswer(
    "OtherServer", "another server works on the jobs of this folder: send the request to it"
)
_LOG = logging.getLogger(__name__)


class BusyError(Exception):
    """The queue is full."""


class NoJobError(Exception):
    """No job has this id."""


class Jobs:
    """The jobs of a service.

    Args:
        waiting: Maximum number of jobs waiting for a processor.
    """

    def __init__(self, service: Service, waiting: int | None = None) -> None:
        cores = os.cpu_count() or 1
        self._service = service
        self.folder = service.folder.path / FOLDER
        self._waiting = 2 * cores if waiting is None else waiting
        self._slots = asyncio.Semaphore(cores)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._running: set[str] = set()
        self._lock: Lock | None = None

    async def start(self) -> None:
        """Restart the jobs that an earlier server left unfinished, unless another server runs."""
        if self._folders():
            with suppress(UnansweredError):
                self._own()

    async def stop(self) -> None:
        """Stop working, and leave unfinished jobs to the next server."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._lock is not None:
            self._lock.release()

    def submit(self, operation: str, request: dict[str, Any]) -> str:
        """Accept a job and return its id.

        Raises:
            BusyError: Too many jobs are waiting.
            UnansweredError: The request is unusable, the job cannot be stored, or the jobs belong
                to another server.
        """
        self._service.check(operation, request)
        if len(self._tasks) - len(self._running) >= self._waiting:
            raise BusyError
        self._own()
        self._tidy()
        job = secrets.token_urlsafe(12)
        folder = self.folder / job
        document = {"operation": operation, "request": request, "created": time.time()}
        try:
            folder.mkdir()
            write_whole(folder / _REQUEST, json.dumps(document), durable=True)
        except OSError as error:
            raise UnansweredError(error_answer(unwritable(f"{FOLDER}/{job}", error))) from error
        except HvrError as error:
            raise UnansweredError(error_answer(error)) from error
        self._note(job, "accepted")
        self._begin(job)
        return job

    def state(self, job: str) -> dict[str, Any]:
        """Return a job's state, and its result if it has ended, as JSON.

        Raises:
            NoJobError: No job has this id.
        """
        folder = self._found(job)
        asked = _asked(folder) or {"operation": "", "created": folder.stat().st_mtime}
        answer = {"id": job, "operation": asked["operation"], "created": asked["created"]}
        if (end := _end(folder)) is None:
            return answer | {"state": "running" if job in self._running else "queued"}
        result = json.loads((folder / f"{end}.json").read_text(encoding="utf-8"))
        return answer | {"state": _ENDS[end]} | ({end: result} if end != "cancelled" else {})

    def listed(self) -> list[dict[str, str]]:
        """Return the id and state of each job, newest first."""
        return [
            {"id": folder.name, "state": self._state_of(folder)}
            for folder in reversed(self._folders())
        ]

    def counts(self) -> Counter[str]:
        """Return the number of jobs by state."""
        return Counter(one["state"] for one in self.listed())

    async def delete(self, job: str) -> None:
        """Cancel a job, or remove a finished one.

        Raises:
            NoJobError: No job has this id.
            UnansweredError: The jobs belong to another server.
        """
        folder = self._found(job)
        self._own()
        if _end(folder) is not None:
            shutil.rmtree(folder, ignore_errors=True)
            return
        self._finish(job, "cancelled", {})
        if (task := self._tasks.get(job)) is not None:
            task.cancel()
            await asyncio.wait([task])

    async def events(self, job: str, after: int = 0) -> AsyncIterator[tuple[int, str]]:
        """Yield the number and text of each event of a job after event `after`, until it ends.

        The events of a request in words include the lines of the run's trace.

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

    def _own(self) -> None:
        if self._lock is not None:
            return
        path = self.folder / _LOCK
        try:
            self._service.check_no_link(FOLDER)
            self.folder.mkdir(exist_ok=True)
            # Asking first avoids the pauses of `try_lock`, which would delay other requests.
            self._lock = None if is_locked(path) else try_lock(path)
        except HvrError as error:
            raise UnansweredError(error_answer(error)) from error
        except OSError as error:
            raise UnansweredError(error_answer(unwritable(f"{FOLDER}/{_LOCK}", error))) from error
        if self._lock is None:
            raise UnansweredError(_OTHER)
        for folder in self._folders():
            if _end(folder) is None:
                self._begin(folder.name)

    def _begin(self, job: str) -> None:
        task = asyncio.create_task(self._run(job))
        self._tasks[job] = task
        task.add_done_callback(lambda _: self._tasks.pop(job, None))

    async def _run(self, job: str) -> None:
        folder = self.folder / job
        if (asked := _asked(folder)) is None:
            self._finish(job, "error", _DAMAGED.to_json())
            return
        async with self._slots:
            starts = sum('"started"' in line for line in _whole_lines(folder / _EVENTS))
            if starts >= _MOST_STARTS:
                message = f"the server ended {_MOST_STARTS} times while working on this job"
                self._finish(job, "error", ErrorAnswer("ServerLost", message).to_json())
                return
            self._running.add(job)
            try:
                self._note(job, "started")
                answer = await self._answered(job, asked["operation"], asked["request"], starts)
                self._finish(job, "answer", answer)
            except UnansweredError as error:
                self._finish(job, "error", error.answer.to_json())
            except Exception:
                _LOG.exception("error while working on job %s", job)
                failed = ErrorAnswer("ServerError", "internal error; see the server's log")
                self._finish(job, "error", failed.to_json())
            finally:
                self._running.discard(job)

    async def _answered(
        self, job: str, operation: str, request: dict[str, Any], starts: int
    ) -> dict[str, Any]:
        if operation != "plan_request" or request.get("run"):
            return await self._service.call(operation, request)
        # An interrupted run keeps its folder.
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
        # A deleted job no longer has a folder.
        with suppress(FileNotFoundError), path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def _state_of(self, folder: Path) -> str:
        end = _end(folder)
        if end is None:
            return "running" if folder.name in self._running else "queued"
        return _ENDS[end]

    def _found(self, job: str) -> Path:
        folder = self.folder / job
        if self.folder.is_symlink() or not _is_job(folder):
            raise NoJobError
        return folder

    def _folders(self) -> list[Path]:
        # Oldest first, ignoring other files and links.
        if self.folder.is_symlink():
            return []
        dated = []
        with suppress(OSError):
            for folder in self.folder.iterdir():
                with suppress(FileNotFoundError):  # deleted in the meantime
                    if _is_job(folder):
                        dated.append((folder.stat().st_mtime, folder))
        return [folder for _, folder in sorted(dated)]

    def _tidy(self) -> None:
        ended = [folder for folder in self._folders() if _end(folder) is not None]
        now = time.time()
        for number, folder in enumerate(ended):
            with suppress(FileNotFoundError):  # deleted in the meantime
                old = now - folder.stat().st_mtime > _KEEP_SECONDS
                if old or len(ended) - number > _MOST_KEPT:
                    shutil.rmtree(folder, ignore_errors=True)


def _is_job(folder: Path) -> bool:
    if not _ID.fullmatch(folder.name) or folder.is_symlink():
        return False
    try:
        linked = any(path.is_symlink() for path in folder.iterdir())
        return not linked and (folder / _REQUEST).is_file()
    except OSError:  # not a folder, or not readable for us
        return False


def _asked(folder: Path) -> dict[str, Any] | None:
    try:
        asked = json.loads((folder / _REQUEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    kinds = {"operation": str, "request": dict, "created": int | float}
    if not isinstance(asked, dict):
        return None
    return asked if all(isinstance(asked.get(k), kind) for k, kind in kinds.items()) else None


def _end(folder: Path) -> str | None:
    return next((end for end in _ENDS if (folder / f"{end}.json").is_file()), None)


def _whole_lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text[: text.rfind("\n") + 1].splitlines()
