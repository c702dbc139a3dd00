"""Fork server for `hvr` and Python sessions with preloaded imports.

Most commands spend most of their time on imports. The server imports the modules that earlier
processes imported, and forks for each new process, which has its own folder, environment, arguments
and streams. Shells call `shim.py`.

    python -m tests.documentation.launcher FOLDER     serves at FOLDER/socket
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.documentation.pages import ROOT

SHIM = Path(__file__).with_name("shim.py")
_PATIENCE = 120.0


@contextlib.contextmanager
def launcher(folder: Path) -> Iterator[Path]:
    """Run the server for the duration of a context.

    Args:
        folder: An empty folder; its path must be short, as for any socket.

    Yields:
        The socket for `shim.py`.
    """
    own = {"PYTHONPATH": str(ROOT), "HOME": str(folder), "PYTHONUTF8": "1"}
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.documentation.launcher", str(folder)],
        env=os.environ | own,
        start_new_session=True,
    )
    try:
        address = folder / "socket"
        deadline = time.monotonic() + _PATIENCE
        while not address.exists():
            assert server.poll() is None and time.monotonic() < deadline, "the launcher has ended"
            time.sleep(0.01)
        yield address
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def teach(folder: Path, modules: Iterable[str]) -> None:
    """Tell the server of a folder to import modules before it starts the next process."""
    draft = folder / f"{os.getpid()}-{time.monotonic_ns()}.part"
    draft.write_text(json.dumps([*modules]), encoding="utf-8")
    draft.rename(draft.with_suffix(".json"))


def serve(folder: Path) -> None:
    """Serve until the process that started the server has ended, in whatever way."""
    from hvr import Options, plan

    # Fill the caches for all later processes.
    plan("make coffee", options=Options(save=folder / "first"))
    gc.collect()
    gc.freeze()  # no process looks again at what the server has made
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(folder / "new"))
    listening.listen()
    listening.settimeout(1.0)
    owner = os.getppid()
    (folder / "new").rename(folder / "socket")
    while os.getppid() == owner:
        try:
            caller, _ = listening.accept()
        except TimeoutError:
            continue
        _bury()
        _learn(folder)
        with caller:
            text, streams, _, _ = socket.recv_fds(caller, 1 << 20, 3)
            if os.fork() == 0:
                listening.close()
                _be(caller, json.loads(text), streams, folder)
            for stream in streams:
                os.close(stream)


def _bury() -> None:
    """Reap the processes that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass


def _learn(folder: Path) -> None:
    """Import the modules that finished processes imported."""
    for file in folder.glob("*.json"):
        for name in json.loads(file.read_text(encoding="utf-8")):
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        file.unlink()
        gc.freeze()


def _be(caller: socket.socket, asked: Mapping[str, Any], streams: list[int], folder: Path) -> None:
    """Become the requested process, run it, and exit."""
    code = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environ"])
        sys.path[:0] = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        sys.argv = asked["words"]
        before = set(sys.modules)
        code = _session() if asked["words"][0] == "session" else _hvr()
        new = [name for name in sys.modules if name not in before and "__main__" not in name]
        teach(folder, new)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
            caller.sendall(b"%d" % code)
        os._exit(code)


def _hvr() -> int:
    from hvr.doors.cli.main import run

    try:
        run()
    except SystemExit as ending:
        return int(ending.code or 0)
    return 0


def _session() -> int:
    """Execute Python blocks in one namespace: one JSON line in, one line out."""
    sys.path.insert(0, "")
    names: dict[str, Any] = {"__name__": "__main__"}
    for line in sys.stdin:
        place, code = json.loads(line)
        good = True
        try:
            exec(compile(code, place, "exec"), names)
        except BaseException:
            good = False
            traceback.print_exc(file=sys.stdout)
        print(f"\n{place} {int(good)}", flush=True)
    return 0


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
