"""Start hvr's processes without the cost of starting Python: `Popen` and `run`, as in `subprocess`.

A short process spends most of its time on imports. A server for each pytest process has already
done them. Each new process is forked from it, gets its own arguments, folder, environment and
streams, and becomes a child of the caller. Exit codes, signals and `wait` work as for any child
process.

`subprocess` starts all other commands than `python -m MODULE`, `python -c CODE` and `python FILE`,
and commands with settings that only a new interpreter reads, such as its encoding.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import gc
import importlib
import io
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[1]
_SUBREAPER = 36
_HEEDED = ("PYTHON", "LC_", "OPENAI_LOG")
_HEEDED_LATER = ("PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE")


class Popen(subprocess.Popen[Any]):
    """A process forked from the server, unless it needs a new interpreter."""

    def _execute_child(self, args: Any, executable: Any, preexec: Any, *more: Any) -> None:
        close_fds, pass_fds, cwd, env, _, _, shell, *pipes = more
        streams, rest = pipes[:6], pipes[6:]
        new_session = rest[5]
        environ = dict(os.environ if env is None else env)
        words = args if isinstance(args, str) else [*map(os.fspath, args)]
        del close_fds
        if sys.platform != "linux" or shell or pass_fds or preexec or not _suits(words, environ):
            super()._execute_child(  # type: ignore[misc]
                args, executable, preexec, *more
            )
            return
        asked = {
            "words": words[1:],
            "folder": os.fspath(cwd or Path.cwd()),
            "environ": environ,
            "session": new_session,
        }
        given = [
            stream if stream != -1 else number
            for number, stream in enumerate((streams[0], streams[3], streams[5]))
        ]
        self.pid = _server().start(asked, given)
        self._child_created = True
        self._close_pipe_fds(*streams)  # type: ignore[attr-defined]


def run(
    args: Sequence[Any],
    *,
    input: Any = None,
    capture_output: bool = False,
    timeout: float | None = None,
    check: bool = False,
    **more: Any,
) -> subprocess.CompletedProcess[Any]:
    """Run a process to its end, like `subprocess.run`."""
    if input is not None:
        more["stdin"] = subprocess.PIPE
    if capture_output:
        more |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Popen(args, **more) as process:
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


def _suits(words: Sequence[str], environ: Mapping[str, str]) -> bool:
    return (
        _heeded_at_start(environ) == _heeded_at_start(os.environ)
        and not isinstance(words, str)
        and words[0] == sys.executable
        and (words[1] in ("-m", "-c") or not words[1].startswith("-"))
    )


def _heeded_at_start(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the part of an environment that takes effect only when an interpreter starts."""
    named = {name: text for name, text in environ.items() if name.startswith(_HEEDED)}
    return {"PYTHONUTF8": "1", **named, **dict.fromkeys(_HEEDED_LATER, "")}


class _Server:
    def __init__(self) -> None:
        self._socket, other = socket.socketpair()
        self._lock = threading.Lock()
        self._home = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.warm", str(other.fileno())],
            cwd=_ROOT,
            env={**os.environ, "HOME": self._home.name, "PYTHONUTF8": "1"},
            pass_fds=[other.fileno()],
        )
        other.close()

    def start(self, asked: Mapping[str, Any], streams: Sequence[int]) -> int:
        text = json.dumps(asked).encode()
        with self._lock:
            # The process loses its parent immediately, and this process adopts it.
            ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
            socket.send_fds(self._socket, [len(text).to_bytes(8, "big")], streams)
            self._socket.sendall(text)
            answer = self._socket.recv(8, socket.MSG_WAITALL)
            ctypes.CDLL(None).prctl(_SUBREAPER, 0, 0, 0, 0)
        assert len(answer) == 8, "the server of warm processes has ended"
        return int.from_bytes(answer, "big")

    def close(self) -> None:
        self._socket.close()
        self._process.wait()
        self._home.cleanup()


@functools.cache
def _server() -> _Server:
    server = _Server()
    owner = os.getpid()
    atexit.register(lambda: server.close() if os.getpid() == owner else None)
    return server


# The server ---------------------------------------------------------------------------------------


def _serve(number: int) -> None:
    """Fork until the caller ends; return only in a forked process, which runs the program."""
    caller = socket.socket(fileno=number)
    _prepare()
    while True:
        head, streams, _, _ = socket.recv_fds(caller, 8, 3)
        if len(head) < 8:
            os._exit(0)
        asked = json.loads(caller.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL))
        reader, writer = os.pipe()
        between = os.fork()
        if between == 0:
            between = os.getpid()
            if os.fork() == 0:
                if asked["session"]:
                    os.setsid()
                os.write(writer, os.getpid().to_bytes(8, "big"))
                for each in (reader, writer):
                    os.close(each)
                caller.close()
                while os.getppid() == between:
                    time.sleep(0.001)
                _become(asked, streams)
                return
            os._exit(0)
        answer = os.read(reader, 8)
        os.waitpid(between, 0)
        for each in (reader, writer, *streams):
            os.close(each)
        caller.sendall(answer)


def _prepare() -> None:
    """Import the modules that commands import, and fill their caches."""
    from hvr import Options, plan  # type: ignore[attr-defined]

    plan("make coffee", options=Options(save=Path.home() / "first"))
    for name in ("openai", "hvr.doors.cli.main", "hvr.bench.runner", "hvr.models.connect"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()


def _become(asked: Mapping[str, Any], streams: Sequence[int]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    tempfile.tempdir = None  # tempfile caches the folder
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environ"])
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        raw = open(number, "rb" if number == 0 else "wb", buffering=0, closefd=False)  # noqa: SIM115
        buffered = io.BufferedReader if number == 0 else io.BufferedWriter
        new = io.TextIOWrapper(
            raw if unbuffered and number else buffered(raw),
            encoding=old.encoding,
            errors=old.errors,
            line_buffering=number == 2 or raw.isatty(),
            write_through=unbuffered,
        )
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)
    paths = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[1:1] = [path for path in paths if path not in sys.path]
    code = 0
    try:
        _execute(asked["words"], asked["folder"])
    except SystemExit as ending:
        if ending.code is not None and not isinstance(ending.code, int):
            raise
        code = ending.code or 0
    # Exit without freeing everything that the server imported.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for written in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            written.flush()
    os._exit(code & 0xFF)


def _execute(words: Sequence[str], folder: str) -> None:
    first, *words = words
    if first == "-m":
        sys.path[0] = folder
        sys.argv = words
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    elif first == "-c":
        sys.path[0] = ""
        sys.argv = ["-c", *words[1:]]
        sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(words[0], "<string>", "exec"), vars(sys.modules["__main__"]))
    else:
        sys.path[0] = str(Path(first).resolve().parent)
        sys.argv = [first, *words]
        runpy.run_path(first, run_name="__main__")


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
