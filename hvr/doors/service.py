"""Requests of other programs, answered in worker processes: the common part of the doors.

Doors neither decode requests nor open files: they pass a request's JSON to `Service.call` and get
the answer's JSON, or an `UnansweredError` whose `answer` explains the error.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hvr.base.declared import decode
from hvr.base.printable import nearest, printable, short
from hvr.doors import schema
from hvr.doors.files import ServedFolder
from hvr.doors.operations import SOURCES, SessionState, check_sources, error_answer
from hvr.doors.schema import UnansweredError
from hvr.doors.workers import MEMORY, Workers
from hvr.errors import DataFileError, HvrError, UsageError
from hvr.values import answer_json

MOST_SESSIONS = 32
IDLE_SECONDS = 15 * 60.0
_SESSION_SECONDS = 30.0


class Service:
    """The operations of `hvr.doors.schema` for the files of one folder.

    Args:
        root: Folder with saved runs and the files that requests may name.
        most: Maximum number of requests at a time.
        clock: Returns seconds; for tests.
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
        """Check a request without answering it.

        Raises:
            UnansweredError: The request is unusable.
        """
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
            UnansweredError: The request is unusable, or exceeds a limit.
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
        request: Any = decode(operation.request, data)
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
                f"the texts of a request have at most {schema.MAX_TEXT} characters, got {size}"
            )
        return values

    def check_no_link(self, name: str) -> None:
        """Check that a folder in which the service writes is not a link.

        Raises:
            DataFileError: The folder is a link.
        """
        if self.folder.resolved(name) != Path(name):
            raise DataFileError(f"{name} is a link; replace it with a folder")

    # Sessions -----------------------------------------------------------------------------------

    async def _session(self, name: str, request: Any) -> dict[str, Any]:
        for known, (_, used) in list(self._sessions.items()):
            if self._clock() - used > IDLE_SECONDS:
                del self._sessions[known]
        if name == "open_session":
            values = self._with_texts(request)
            state = decode(SessionState, values | {"session": self._new_id()})
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
                raise UsageError("another request changed the session meanwhile; try again")
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
                f"no session {short(session, 60)!r} is open; one that is not used for {minutes} "
                "minutes is closed"
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
