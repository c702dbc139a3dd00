"""Real SPARQL servers on the loopback address, if installed: Oxigraph, Virtuoso."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_PATIENCE_S = 60


def program() -> str:
    """Return the program of the server, or skip the test."""
    beside = Path(sys.executable).with_name("oxigraph")
    found = str(beside) if beside.is_file() else shutil.which("oxigraph")
    if found is None:
        pytest.skip("Oxigraph's server is not installed: pip install oxigraph")
    return found


def free_port() -> int:
    """Return an unused port of the loopback address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def oxigraph(
    port: int | None = None, location: Path | None = None
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a server, in memory or in a folder; yield its address and its process."""
    port = port or free_port()
    words = [program(), "serve", "--bind", f"127.0.0.1:{port}"]
    if location is not None:
        words += ["--location", str(location)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await(port, process)
        yield f"http://127.0.0.1:{port}", process
    finally:
        process.kill()
        process.wait()


def _await(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise AssertionError("the server did not come up")


VIRTUOSO_LOGIN = {"HVR_STORE_USER": "dba", "HVR_STORE_PASSWORD": "dba"}
"""Users with write access to a new Virtuoso store."""

_VIRTUOSO = """[Database]
DatabaseFile = {place}/virtuoso.db
ErrorLogFile = {place}/virtuoso.log
LockFile = {place}/virtuoso.lck
TransactionFile = {place}/virtuoso.trx
xa_persistent_file = {place}/virtuoso.pxa
[TempDatabase]
DatabaseFile = {place}/temp.db
TransactionFile = {place}/temp.trx
[Parameters]
ServerPort = 127.0.0.1:{sql}
NumberOfBuffers = 10000
[HTTPServer]
ServerPort = 127.0.0.1:{http}
ServerRoot = {place}
ServerThreads = 5
"""


@contextmanager
def virtuoso() -> Iterator[str]:
    """Run Virtuoso with a new store (Debian: virtuoso-opensource-7-bin); yield its address."""
    found = shutil.which("virtuoso-t")
    if found is None:
        pytest.skip("Virtuoso is not installed: apt-get install virtuoso-opensource-7-bin")
    with tempfile.TemporaryDirectory() as place:
        http = free_port()
        file = Path(place) / "virtuoso.ini"
        file.write_text(_VIRTUOSO.format(place=place, sql=free_port(), http=http), "utf-8")
        process = subprocess.Popen(
            [found, "+foreground", "+configfile", str(file)], cwd=place,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            _await(http, process)
            yield f"virtuoso+http://127.0.0.1:{http}"
        finally:
            process.kill()
            process.wait()
