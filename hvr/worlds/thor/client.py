"""AI2-THOR's own client, extended to notice that the simulator process has ended.

If the process has ended, client 5.0.0 waits forever during a start, and until the time limit during
an action. The limit applies to each single read, so it does not stop fragmented or endless replies,
or a process that no longer reads. This module changes only how pipes are opened, read, written and
closed.

This module needs the package ai2thor, so import it only where it is used.
"""

from __future__ import annotations

import contextlib
import errno
import os
import queue
import select
import subprocess
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

from hvr.base.processes import end, supervised
from hvr.errors import MissingExtraError

_TICK = 0.2  # polling interval for the process, in seconds
_PAUSE = 0.01  # polling interval while the other end of the pipe is closed
_MOST_BYTES = 2**30  # maximum length of a reply


def _load(name: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its source contains invalid escape sequences
            return import_module(name)
    except ImportError:
        raise MissingExtraError("ai2thor", "thor") from None


_controller = _load("ai2thor.controller")
_fifo = _load("ai2thor.fifo_server")
_wsgi = _load("ai2thor.wsgi_server")
_platform = _load("ai2thor.platform")

_FifoServer: Any = _fifo.FifoServer
_Controller: Any = _controller.Controller
_UnityCrashError: Any = _load("ai2thor.exceptions").UnityCrashException

SERVER_CLASSES: dict[str, Any] = {"fifo": _FifoServer, "http": _wsgi.WsgiServer}
PLATFORM_CLASSES: dict[str, Any] = _platform.STR_PLATFORM_MAP


class ProcessEndedError(Exception):
    """The simulator process has ended with this exit code; 128 + N means that signal N ended it."""

    def __init__(self, returncode: int) -> None:
        self.returncode = returncode
        super().__init__(f"the process ended with exit code {returncode}")


class _Pipes(_FifoServer):  # type: ignore[misc]
    """The client's FIFO server; while it waits, it checks whether the process is running."""

    server_pipe: Any
    client_pipe: Any
    _expired: Callable[[], bool]
    _received: int

    def _check_alive(self) -> None:
        if self.unity_proc is not None and self.unity_proc.poll() is not None:
            raise ProcessEndedError(self.unity_proc.returncode)

    def _recv_message(self, timeout: float | None) -> Any:
        if self.server_pipe is None:
            # Without O_NONBLOCK, open() waits until the process opens its end.
            pipe = os.open(self.server_pipe_path, os.O_RDONLY | os.O_NONBLOCK)
            os.set_blocking(pipe, True)
            self.server_pipe = os.fdopen(pipe, "rb", buffering=0)
        self._expired = _clock(self.timeout if timeout is None else timeout)
        self._received = 0
        return super()._recv_message(timeout)

    def _read_with_timeout(self, server_pipe: Any, message_size: int, timeout: float | None) -> Any:
        del timeout  # `_expired` limits the whole reply instead
        self._received += message_size
        if self._received > _MOST_BYTES:
            raise ValueError(f"a reply has more than {_MOST_BYTES:,} bytes")
        parts = []
        while message_size > 0:
            if self._expired():
                raise TimeoutError
            readable, _, _ = select.select([server_pipe], [], [], _TICK)
            part = os.read(server_pipe.fileno(), message_size) if readable else b""
            if part:
                parts.append(part)
                message_size -= len(part)
                continue
            self._check_alive()
            if readable:  # the other end is closed
                time.sleep(_PAUSE)
        return b"".join(parts)

    def _send_message(self, message_type: Any, body: bytes) -> None:
        expired = _clock(self.timeout)
        while self.client_pipe is None:
            try:
                pipe = os.open(self.client_pipe_path, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as error:
                if error.errno != errno.ENXIO:  # ENXIO: there is no reader yet
                    raise
                self._check_alive()
                if expired():
                    raise TimeoutError from None
                time.sleep(_PAUSE)
                continue
            self.client_pipe = os.fdopen(pipe, "wb", buffering=0)
        self._last_action_message = body
        left = memoryview(self._create_header(message_type, body) + body + self.eom_header)
        try:
            while left:
                _, writable, _ = select.select([], [self.client_pipe], [], _TICK)
                if writable:
                    left = left[self.client_pipe.write(left) or 0 :]
                    continue
                self._check_alive()
                if expired():
                    raise TimeoutError
        except BrokenPipeError:
            if self.unity_proc is not None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.unity_proc.wait(_TICK)
            self._check_alive()
            raise

    def stop(self) -> None:
        if self.unity_proc is not None:
            end(self.unity_proc)
        for pipe in (self.client_pipe, self.server_pipe):
            if pipe is not None:
                with contextlib.suppress(OSError):  # the buffer may hold unsent data
                    pipe.close()
        self.tmp_dir.cleanup()


class Client(_Controller):  # type: ignore[misc]
    """AI2-THOR's controller, which ends its processes even if the start fails."""

    server: Any
    _process: Any = None

    def __init__(self, **arguments: Any) -> None:
        try:
            super().__init__(**arguments)
        except _UnityCrashError as crash:  # the HTTP server's error for an ended process
            code = self.server.unity_proc.poll()
            self._end_server()
            raise ProcessEndedError(code) from crash
        except BaseException:
            self._end_server()
            raise

    def _build_server(self, host: str, port: int, width: int, height: int) -> None:
        if self.server is None and self.server_class is _FifoServer:
            self.server = _Pipes(width=width, height=height, timeout=self.server_timeout)
        if self._build.platform is not PLATFORM_CLASSES["CloudRendering"]:
            # Only CloudRendering can select a GPU, and that needs vulkaninfo, but the client
            # selects one whenever CUDA_VISIBLE_DEVICES is set.
            self.gpu_device = None
        super()._build_server(host, port, width, height)

    def unity_command(self, *args: Any, **kwargs: Any) -> list[str]:
        return supervised(super().unity_command(*args, **kwargs))

    def start(self, *args: Any, **kwargs: Any) -> Any:
        if self._process is not None:
            # The client would restart a crashed simulator, which would lose the state of the scene.
            raise ProcessEndedError(self._process.returncode)
        event = super().start(*args, **kwargs)
        self._process = self.server.unity_proc
        return event

    def stop(self) -> None:
        """End the simulator process and close all connections to it."""
        self._end_server()
        self._build.unlock()

    def _end_server(self) -> None:
        server = self.server
        if server is None:
            return
        # The HTTP server raises an error if it is stopped during a reply.
        with contextlib.suppress(AssertionError, queue.Full):
            server.stop()
        if server.unity_proc is not None:
            end(server.unity_proc)
        if isinstance(server, _wsgi.WsgiServer):
            # The client's stop() sets a misspelt field, so its thread would keep running.
            server.wsgi_server._BaseServer__shutdown_request = True
            if server.started:
                server.server_thread.join(5.0)
            server.wsgi_server.server_close()


def _clock(timeout: float | None) -> Callable[[], bool]:
    if timeout is None:
        return lambda: False
    end = time.monotonic() + timeout
    return lambda: time.monotonic() >= end
