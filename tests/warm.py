"""Start processes without the cost of starting Python: `Popen` and `run`, as in `subprocess`.

A short process spends most of its time on imports. pytest starts a server that does them once, for
all its workers. The server forks for each new process, which gets its own arguments, folder,
environment and streams, and reports its exit status, so that `wait` works as for a child process.
A second server, for the pages that need it, has also imported PyTorch.

`subprocess` starts all other commands than `python -m MODULE`, `python -c CODE` and `python FILE`,
and commands with settings that only a new interpreter reads, such as its encoding. Shells call
`tests/documentation/shim.py` instead of hvr.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[1]
_FOLDER = "WARM_SERVERS"
_PLAIN = (
    "google.genai",
    "openai",
    "hvr.bench.runner",
    "hvr.doors.cli.display",
    "hvr.doors.cli.main",
    "hvr.doors.cli.plan",
    "hvr.doors.mcp.server",
    "hvr.models.connect",
    "hvr.planning.solving.solve",
    "hvr.validation.batch",
)
_SERVERS = {"plain": _PLAIN, "learning": (*_PLAIN, "torch_geometric")}
"""Names of the servers, with the modules that each imports. PyTorch triples the cost of a fork."""

_HEEDED = ("PYTHON", "LC_", "OPENAI_LOG")
_HEEDED_LATER = ("PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE")


# The callers --------------------------------------------------------------------------------------


def start_servers() -> Callable[[], None]:
    """Start the servers for this process and its children; return a function that ends them."""
    if sys.platform != "linux":
        return lambda: None
    home = tempfile.TemporaryDirectory(prefix="hvr-")
    os.environ[_FOLDER] = home.name
    servers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.warm", str(Path(home.name, name)), *modules],
            cwd=_ROOT,
            env={**os.environ, "HOME": home.name, "PYTHONUTF8": "1"},
            start_new_session=True,
        )
        for name, modules in _SERVERS.items()
    ]

    def end() -> None:
        for server in servers:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
        home.cleanup()

    return end


def server_address(*, learning: bool = False) -> Path:
    """Wait until a server listens, and return the path of its socket."""
    address = Path(os.environ[_FOLDER], "learning" if learning else "plain")
    deadline = time.monotonic() + 120
    while not address.exists():
        if time.monotonic() > deadline:
            raise RuntimeError(f"the process server {address.name!r} did not start within 120 s")
        time.sleep(0.01)
    return address


class Popen(subprocess.Popen[Any]):
    """A process forked from the server, unless it needs a new interpreter."""

    _end: socket.socket | None = None

    def _execute_child(self, args: Any, executable: Any, preexec: Any, *more: Any) -> None:
        _, pass_fds, cwd, env, _, _, shell, *pipes = more
        streams, new_session = pipes[:6], pipes[11]
        environ = dict(os.environ if env is None else env)
        words = args if isinstance(args, str) else [*map(os.fspath, args)]
        if sys.platform != "linux" or shell or pass_fds or preexec or not _suits(words, environ):
            super()._execute_child(args, executable, preexec, *more)  # type: ignore[misc]
            return
        asked = {
            "words": words[1:],
            "folder": os.fspath(cwd or Path.cwd()),
            "environ": environ,
            "session": new_session,
        }
        text = json.dumps(asked).encode()
        given = [
            stream if stream != -1 else number
            for number, stream in enumerate((streams[0], streams[3], streams[5]))
        ]
        self._end = socket.socket(socket.AF_UNIX)
        self._end.connect(str(server_address()))
        socket.send_fds(self._end, [len(text).to_bytes(8, "big")], given)
        self._end.sendall(text)
        self.pid = self._number()
        self._child_created = True
        self._close_pipe_fds(*streams)  # type: ignore[attr-defined]

    def _number(self) -> int:
        assert self._end is not None
        answer = self._end.recv(8, socket.MSG_WAITALL)
        assert len(answer) == 8, "the server of warm processes has ended"
        return int.from_bytes(answer, "big")

    def _try_wait(self, flags: int) -> tuple[int, int]:
        """Return the process's number and status like `os.waitpid`, or zeros while it runs."""
        if self._end is None:
            return super()._try_wait(flags)  # type: ignore[misc, no-any-return]
        if flags and not select.select([self._end], [], [], 0)[0]:
            return 0, 0
        status = self._number()
        self._end.close()
        return self.pid, status

    def _internal_poll(self, *given: Any, **named: Any) -> int | None:
        if self._end is None:
            return super()._internal_poll(*given, **named)  # type: ignore[misc, no-any-return]
        with self._waitpid_lock:  # type: ignore[attr-defined]
            if self.returncode is None:
                number, status = self._try_wait(os.WNOHANG)
                if number:
                    self._handle_exitstatus(status)  # type: ignore[attr-defined]
        return self.returncode


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


# The server ---------------------------------------------------------------------------------------


def _serve(address: Path, modules: Sequence[str]) -> None:
    """Fork until the process that started the server ends; return only in forked processes."""
    owner = os.getppid()
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(address))
    listening.listen(100)
    woken, waking = socket.socketpair()
    waking.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    callers: dict[int, socket.socket] = {}
    while os.getppid() == owner:
        ready, _, _ = select.select([listening, woken], [], [], 1.0)
        if woken in ready:
            woken.recv(1000)
            _report(callers)
        if listening not in ready:
            continue
        caller, _ = listening.accept()
        head, streams, _, _ = socket.recv_fds(caller, 8, 3)
        asked = json.loads(caller.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL))
        if "hvr" not in sys.modules:
            _prepare(address.with_suffix(".run"), modules)
        process = os.fork()
        if process == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for each in (listening, woken, waking, caller, *callers.values()):
                each.close()
            _become(asked, streams)
            return
        for stream in streams:
            os.close(stream)
        callers[process] = caller
        _tell(caller, process)
    os.killpg(0, signal.SIGKILL)


def _report(callers: dict[int, socket.socket]) -> None:
    """Report the processes that have ended."""
    while callers:
        process, status = os.waitpid(-1, os.WNOHANG)
        if process == 0:
            return
        with callers.pop(process) as caller:
            _tell(caller, status)


def _tell(caller: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # a killed caller
        caller.sendall(number.to_bytes(8, "big"))


def _prepare(folder: Path, modules: Sequence[str]) -> None:
    """Import what commands import, and fill hvr's caches."""
    from hvr import Options, plan  # type: ignore[attr-defined]
    from hvr.models.choice import ModelChoice

    plan("make coffee", options=Options(save=folder / "coffee"))
    simulated = ModelChoice(spec="scripted")
    plan(task="T2", options=Options(save=folder / "T2", model=simulated, execute=False))
    for name in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()


def _become(asked: Mapping[str, Any], streams: Sequence[int]) -> None:
    """Run a program with its own streams, folder and environment, and exit."""
    if asked["session"]:
        os.setsid()
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
    _serve(Path(sys.argv[1]), sys.argv[2:])
