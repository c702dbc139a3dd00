"""A simulated reader who runs a page from top to bottom and compares the output.

Each page runs in its own folder with hvr, Python and the folders of a checkout, without network
access; a local server stands in for the servers of models.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Self

from tests.documentation.model import Answering
from tests.documentation.pages import ROOT, Block, Command, Page, can
from tests.models.servers import GeminiServer, OpenAIServer
from tests.warm import server_address

LIMIT = 300.0
"""Seconds after which a command or a block counts as hanging."""

_SCRIPTS = ("benchmarks", "studies", "tests", "tools")
_SHIM = Path(__file__).with_name("shim.py")
_PROGRAMS = {"python": "", "python3": "", "pip": "-P -m pip"}
_WARM = {"hvr": "-m hvr", "session": "-m tests.documentation.session"}
_LOCAL = re.compile(r"http://localhost:(?:8000|11434)/v1")
_GEMINI = re.compile(r"(?<=--llm )gemini:MODEL")
_CHECKOUT = re.compile(r"(?<=pip install '|pip install \")\.(?=\[)")
"""The checkout as an install target; here hvr is already installed."""

# Output that differs from run to run and needs no "…".
_SECONDS = re.compile(r"\d+(?:\\\.\d+)?(?=\\ s\b)")
_MOMENT = re.compile(r"\d{8}\\-\d{6}")


@dataclass(frozen=True)
class Printed:
    """Output of a command or block (both streams combined), and whether it ended as expected."""

    code: int
    text: str


def missing(page: Page) -> str:
    """Return the first required package of a page that is not installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = ["pip"] if any(c.text.startswith("pip ") for c in page.commands) else []
    for extra in page.extras:
        needed += [
            re.split(r"[^\w.-]", line)[0] for line in project["optional-dependencies"][extra]
        ]
    for package in needed:
        try:
            distribution(package)
        except PackageNotFoundError:
            return package
    return ""


def matches(shown: str, printed: str, *, whole: bool) -> bool:
    """Return whether a program printed the output shown on a page.

    Args:
        shown: Output on the page; "…" matches anything, and times may differ.
        printed: Output of the program.
        whole: Whether the program must print nothing else.
    """
    pattern = re.escape("\n".join(line.rstrip() for line in shown.strip("\n").splitlines()))
    pattern = pattern.replace("…", ".*?")
    pattern = _MOMENT.sub(r"\\d{8}-\\d{6}", _SECONDS.sub(r"[\\d.]+", pattern))
    text = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())
    search = re.compile(pattern, re.DOTALL)
    return (search.fullmatch(text) if whole else search.search(text)) is not None


def write_file(path: Path, code: str) -> None:
    """Write a file shown on a page; a pyproject.toml also installs its package."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(code, encoding="utf-8")
    if path.name == "pyproject.toml":
        project = tomllib.loads(code).get("project")
        if project is not None:
            _install(path.parent, project)


class Reader:
    """Reads one page; a context manager.

    Args:
        page: The page.
        folder: An empty folder to work in.
    """

    def __init__(self, page: Page, folder: Path) -> None:
        self.page = page
        self.folder = folder / "page"
        self._printed = folder / "printed"
        self._openai = OpenAIServer(Answering())
        self._gemini = GeminiServer(Answering())
        self._closing = contextlib.ExitStack()
        _prepare(folder, server_address(learning="gnn" in page.extras))
        self._environ = _environ(folder) | {"OPENAI_BASE_URL": self._openai.url}

    def __enter__(self) -> Self:
        self._closing.enter_context(self._openai)
        self._closing.enter_context(self._gemini)
        self._shell = self._start("bash", "--noprofile", "--norc")
        self._python: subprocess.Popen[str] | None = None
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def read(self) -> None:
        """Run the page and check its output.

        Raises:
            AssertionError: An exit code or an output differs from the page.
        """
        printed = ""
        for block in self.page.blocks:
            if block.file:
                write_file(self._where() / block.file, self._here(block.code))
            elif block.commands:
                printed = "".join(
                    self._checked(command) for command in block.commands if can(command.needs)
                )
            elif block.kind == "python" and not block.needs:
                done = self.python(block)
                assert done.code, f"{block.place}:\n{block.code}\n{done.text}"
                printed = done.text
            elif block.kind == "text" and not block.needs:
                assert matches(block.code, printed, whole=False), (
                    f"{block.place} shows:\n{block.code}\nprinted was:\n{printed}"
                )

    def command(self, command: Command) -> Printed:
        """Run a command."""
        text = self._here(command.text)
        self._shell.stdin.write(f"{{ {text}\n}} </dev/null >'{self._printed}' 2>&1\necho $?\n")
        self._shell.stdin.flush()
        with _deadline(self._shell):
            code = self._shell.stdout.readline()
        assert code.strip().isdecimal(), (
            f"{command.place}: {command.text}\n{code or 'took too long, or ended the shell'}"
        )
        return Printed(int(code), self._printed.read_text(encoding="utf-8", errors="replace"))

    def python(self, block: Block) -> Printed:
        """Run a block of Python with the names of the earlier blocks."""
        if self._python is None:
            session = str(self.folder.parent / "bin" / "session")
            self._python = self._start(session, folder=self._where())
        self._python.stdin.write(json.dumps((block.place, self._here(block.code))) + "\n")
        self._python.stdin.flush()
        lines = []
        with _deadline(self._python):
            for line in self._python.stdout:
                if line.startswith(f"{block.place} "):
                    return Printed(int(line.rsplit(maxsplit=1)[1]), "".join(lines))
                lines.append(line)
        raise AssertionError(f"{block.place}: took too long, or ended Python\n{''.join(lines)}")

    def _checked(self, command: Command) -> str:
        done = self.command(command)
        told = f"{command.place}: {command.text}\nended with {done.code} and printed:\n{done.text}"
        assert done.code == command.code, f"{told}\nbut should end with {command.code}"
        assert "Traceback" not in done.text, told
        if command.shown is not None:
            assert matches(command.shown, done.text, whole=True), (
                f"{told}\nbut should print:\n{command.shown}"
            )
        return done.text

    def _here(self, text: str) -> str:
        """Insert the addresses of the local servers into a text."""
        text = _CHECKOUT.sub("hvr", _LOCAL.sub(self._openai.url, text))
        return _GEMINI.sub(f"gemini:MODEL --base-url {self._gemini.url}", text)

    def _where(self) -> Path:
        """Return the current folder of the shell."""
        self._shell.stdin.write("pwd\n")
        self._shell.stdin.flush()
        with _deadline(self._shell):
            return Path(self._shell.stdout.readline().rstrip("\n"))

    def _start(self, *words: str, folder: Path | None = None) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            words, cwd=folder or self.folder, env=self._environ, text=True, encoding="utf-8",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        self._closing.callback(process.__exit__, None, None, None)
        self._closing.callback(process.stdin.close)
        return process


def _prepare(folder: Path, server: Path) -> None:
    """Create the working folder and the programs."""
    for name in ("page", "home", "bin"):
        (folder / name).mkdir()
    for name in _SCRIPTS:
        (folder / "page" / name).symlink_to(ROOT / name)
    # Copies, because a line of a page may write into these folders.
    shutil.copytree(ROOT / "examples", folder / "page" / "examples")
    warm = {name: f"-I -S '{_SHIM}' '{server}' {words}" for name, words in _WARM.items()}
    for name, words in {**_PROGRAMS, **warm}.items():
        program = folder / "bin" / name
        program.write_text(f"#!/bin/sh\nexec '{sys.executable}' {words} \"$@\"\n", encoding="utf-8")
        program.chmod(0o755)


def _environ(folder: Path) -> Mapping[str, str]:
    """Return an environment without the user's settings, keys and files, and no network for pip."""
    own = {name: value for name, value in os.environ.items()
           if not re.match(r"HVR_|OPENAI_|GEMINI_|GOOGLE_|PIP_", name)}  # fmt: skip
    return own | {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}{os.pathsep}{folder / 'page'}",
        "HOME": str(folder / "home"),
        "COLUMNS": "200",
        "PYTHONUTF8": "1",
        "HVR_VERIFY": "0",
        "GEMINI_API_KEY": "KEY",
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_DRY_RUN": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


def _install(folder: Path, project: Mapping[str, object]) -> None:
    """Write the metadata of an installed package whose modules are in a folder."""
    lines = []
    points = project["entry-points"]
    assert isinstance(points, dict)
    for group, named in points.items():
        lines += [f"[{group}]", *(f"{name} = {where}" for name, where in named.items())]
    name, version = str(project["name"]), str(project["version"])
    installed = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    installed.mkdir()
    (installed / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    (installed / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n", encoding="utf-8")


@contextlib.contextmanager
def _deadline(process: subprocess.Popen[str]) -> Iterator[None]:
    """Kill a process and its children when it hangs."""
    timer = threading.Timer(LIMIT, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
