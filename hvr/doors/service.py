"""Requests from other programs, answered in worker processes: the part that all servers share.

Servers neither decode requests nor open files. They pass a request's JSON to `Service.call`, and
get the answer's JSON, or an `UnansweredError` whose `answer` explains the error.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import stat
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from hvr.base.declared import decode as decode_declared
from hvr.base.files import temporary_folder
from hvr.base.printable import nearest, one_line, printable, short
from hvr.base.processes import OUT_OF_MEMORY, supervised
from hvr.doors import schema
from hvr.doors.operations import SOURCES, SessionState, check_sources, error_answer
from hvr.doors.schema import ErrorAnswer, UnansweredError
from hvr.doors.worker import LENGTH
from hvr.errors import DataFileError, HvrError, UsageError
from hvr.pddl.reader import decode
from hvr.values import answer_json

# Files --------------------------------------------------------------------------------------------
# Access to the files below one folder for requests of other programs, safe against links.

_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = _FLAGS | getattr(os, "O_DIRECTORY", 0)
_FILE = _FLAGS | getattr(os, "O_NONBLOCK", 0)


class ServedFolder:
    """A folder whose files a server may read.

    Args:
        most: Maximum size of a file in bytes.
    """

    def __init__(self, path: Path, most: int) -> None:
        if not path.is_dir():
            raise DataFileError(f"{path} is not a folder")
        self.path = path.resolve()
        self._most = most

    def read(self, name: str) -> str:
        """Return the text of a file.

        Links are followed as long as they stay inside the folder. The resolved path is then opened
        one part at a time without following links, so that a link created in the meantime has no
        effect.

        Raises:
            DataFileError: The file is outside the folder, missing, too large or not a file.
            PddlSyntaxError: The file cannot be decoded.
        """
        return decode(self.read_bytes(name), name)

    def read_bytes(self, name: str) -> bytes:
        """Return the content of a file; see `read`."""
        shown = short(one_line(name), 200)
        inside = self.resolved(name)
        try:
            file = self._opened(inside.parts)
            try:
                about = os.fstat(file)
                if not stat.S_ISREG(about.st_mode):
                    raise DataFileError(f"cannot read {shown}: it is not a file")
                if about.st_size > self._most:
                    raise DataFileError(f"cannot read {shown}: it has more than {self._most} bytes")
                with os.fdopen(os.dup(file), "rb") as stream:
                    return stream.read(self._most)
            finally:
                os.close(file)
        except OSError as error:
            hint = self._hint(inside)
            raise DataFileError(f"cannot read {shown}: {error.strerror}{hint}") from error

    def resolved(self, name: str) -> Path:
        """Return the path, relative to the folder, to which a name refers.

        Raises:
            DataFileError: The path is outside the folder.
        """
        try:
            return (self.path / name).resolve().relative_to(self.path)
        except (ValueError, OSError, RuntimeError):  # a path outside, a NUL, or a loop of links
            shown = short(one_line(name), 200)
            raise DataFileError(f"{shown} is outside the served folder") from None

    def _opened(self, parts: Iterable[str]) -> int:
        *folders, name = tuple(parts) or (".",)
        here = os.open(self.path, _FOLDER)
        try:
            for folder in folders:
                inner = os.open(folder, _FOLDER, dir_fd=here)
                os.close(here)
                here = inner
            return os.open(name, _FILE, dir_fd=here)
        finally:
            os.close(here)

    def _hint(self, inside: Path) -> str:
        folder = self.path / inside.parent
        try:
            with os.scandir(folder) as entries:
                near = nearest(inside.name, [entry.name for entry in entries])
        except OSError:
            return ""
        return f"; did you mean {str(inside.parent / near)!r}?" if near else ""


# Workers ------------------------------------------------------------------------------------------
# Worker processes of a door: bounded in number, time and memory, and ended at once on request.

MEMORY = 2 * 1024**3
"""Maximum memory of a worker together with its planners, in bytes."""
_MOST_ANSWERS = 200
"""Number of answers after which a worker is replaced, so that its memory does not grow."""
_END_SECONDS = 5.0


class Workers:
    """Worker processes, each of which answers one request at a time; they start when needed.

    Args:
        most: Maximum number of processes; further requests wait.
        memory: Maximum memory in bytes of each process together with all processes that it starts.
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

        If the asyncio task is cancelled, the worker is ended.

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
        for worker in list(self._all):
            self._end(worker)
        self._idle.clear()
        while self._ending:
            await asyncio.wait(self._ending)

    def _end(self, worker: _Worker) -> None:
        self._all.discard(worker)
        worker.end()
        # Not awaited here, since the caller may be cancelled.
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
                # The folder may contain modules, which must not replace hvr's.
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
        message = f"the worker process ended with code {code}"
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
        with self._temporary:
            try:
                async with asyncio.timeout(_END_SECONDS):
                    return await self._process.wait()
            except TimeoutError:
                with suppress(ProcessLookupError):
                    self._process.kill()
                return await self._process.wait()


# --------------------------------------------------------------------------------------------------

MOST_SESSIONS = 32
IDLE_SECONDS = 15 * 60.0
_SESSION_SECONDS = 30.0


class Service:
    """The operations of `hvr.doors.schema`, for the files of one folder.

    Args:
        root: Folder with saved runs and with the files that requests may name.
        most: Maximum number of concurrent requests.
        clock: Returns the time in seconds; replaced in tests.
    """

    def __init__(
        self,
        root: Path,
        most: int | None = None,
        memory: int = MEMORY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.folder = ServedFolder(root, schema.MAX_TEXT)
        self.workers = Workers(self.folder.path, most, memory)
        self._clock = clock
        self._sessions: dict[str, tuple[SessionState, float]] = {}

    async def __aenter__(self) -> Service:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.workers.__aexit__(*error)

    def check(self, name: str, data: object) -> None:
        """Check a request without answering it; raise an UnansweredError if it is unusable."""
        try:
            self._decoded(name, data)
        except HvrError as error:
            raise UnansweredError(error_answer(error)) from error

    async def call(self, name: str, data: object) -> dict[str, Any]:
        """Answer a request.

        Returns:
            The answer as JSON. Characters that control a terminal or the direction of text are
            escaped, because names and comments come from untrusted files.

        Raises:
            UnansweredError: The request is unusable, fails, or exceeds a limit.
        """
        try:
            answer: dict[str, Any] = _escaped(await self._answer(name, data))
            return answer
        except UnansweredError:
            raise
        except HvrError as error:
            raise UnansweredError(error_answer(error)) from error

    def _decoded(self, name: str, data: object) -> Any:
        operation = schema.OPERATIONS.get(name)
        if operation is None:
            near = nearest(name, schema.OPERATIONS)
            hint = f"; did you mean {near!r}?" if near else ""
            raise UsageError(f"no operation named {short(name, 60)!r}{hint}")
        request: Any = decode_declared(operation.request, data)
        check_sources(request)
        return request

    async def _answer(self, name: str, data: object) -> dict[str, Any]:
        request = self._decoded(name, data)
        if schema.OPERATIONS[name].session:
            return await self._session(name, request)
        if name == "plan_request":
            self.check_no_link("runs")
        return await self.workers.run(name, self._with_texts(request), request.seconds)

    def _with_texts(self, request: Any) -> dict[str, Any]:
        values: dict[str, Any] = request.to_json()
        for part in SOURCES:
            if file := values.get(f"{part}_file"):
                values[part] = self.folder.read(file)
        if (size := sum(len(values.get(part, "")) for part in SOURCES)) > schema.MAX_TEXT:
            raise UsageError(
                f"the texts of a request may have at most {schema.MAX_TEXT} characters, got {size}"
            )
        return values

    def check_no_link(self, name: str) -> None:
        """Raise a DataFileError if a folder to which the service writes is a link."""
        if self.folder.resolved(name) != Path(name):
            raise DataFileError(f"{name} is a link; replace it with a folder")

    # Sessions -----------------------------------------------------------------------------------

    async def _session(self, name: str, request: Any) -> dict[str, Any]:
        for known, (_, used) in list(self._sessions.items()):
            if self._clock() - used > IDLE_SECONDS:
                del self._sessions[known]
        if name == "open_session":
            values = self._with_texts(request)
            state = decode_declared(SessionState, values | {"session": self._new_id()})
            answer = await self._asked(name, state, request.seconds)
            self._keep(state)
            return answer
        state = self._found(request.session)
        if name == "close_session":
            del self._sessions[request.session]
            return answer_json(schema.ClosedAnswer(request.session))
        if name == "fork_session":
            state = state.replace(session=self._new_id())
            answer = await self._asked(name, state)
            self._keep(state)
            return answer
        if name == "applicable_actions":
            state = state.replace(limit=request.limit, mentions=request.mentions)
            return await self._asked(name, state)
        if len(state.steps) >= schema.MAX_STEPS:
            raise UsageError(f"a session can have at most {schema.MAX_STEPS} steps")
        answer = await self._asked(name, state.replace(action=request.action))
        if request.session in self._sessions:
            if self._sessions[request.session][0].steps != state.steps:
                raise UsageError("another request changed the session in the meantime; try again")
            self._keep(state.replace(steps=tuple(answer["steps"])))
        return answer

    async def _asked(
        self, name: str, state: SessionState, seconds: float = _SESSION_SECONDS
    ) -> dict[str, Any]:
        return await self.workers.run(name, state.to_json(), seconds)

    def _new_id(self) -> str:
        if len(self._sessions) >= MOST_SESSIONS:
            raise UsageError(f"{MOST_SESSIONS} sessions are open: close one with close_session")
        return secrets.token_urlsafe(9)

    def _found(self, session: str) -> SessionState:
        if session not in self._sessions:
            minutes = f"{IDLE_SECONDS / 60:g}"
            raise UsageError(
                f"no session {short(session, 60)!r} is open; sessions close after {minutes} minutes"
                " without a request"
            )
        state, _ = self._sessions[session]
        self._sessions[session] = state, self._clock()
        return state

    def _keep(self, state: SessionState) -> None:
        if state.session not in self._sessions:
            self._new_id()
        self._sessions[state.session] = state, self._clock()


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {printable(str(key)): _escaped(item) for key, item in value.items()}
    return [_escaped(item) for item in value] if isinstance(value, list) else value
