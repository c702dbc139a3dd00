"""The environment of a check: a folder, environment variables, and hvr as a subprocess."""

from __future__ import annotations

import os
import random
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from studies.chaos.checks import CannotError
from studies.chaos.process import Ended, Process, Surroundings
from studies.chaos.secret import Secrets

ROOT = Path(__file__).resolve().parents[2]

SETTINGS = """\
[tool.hvr.llm]
timeout = 2
attempts = 3
seconds = 8
"""
"""Transport limits under which every fault ends soon."""


class Shared:
    """Measurements that checks share, such as an undisturbed run; each is made once."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return the value named `name`, which `make` computes on first use."""
        with self._lock:
            lock = self._locks.setdefault(name, threading.Lock())
        with lock:
            if name not in self._values:
                self._values[name] = make()
            return self._values[name]


@dataclass
class Lab:
    """The workplace of a check; `folder` is private and initially empty."""

    folder: Path
    random: random.Random
    shared: Shared = field(default_factory=Shared)
    counts: Counter[str] = field(default_factory=Counter)
    killed: bool = False
    """Whether a process was killed here without a chance to clean up."""

    def __post_init__(self) -> None:
        self.secrets = Secrets.draw(self.random)
        self.home = self.folder / "home"
        self.work = self.folder / "work"
        self._output = self.folder / "output"
        self._lock = threading.Lock()
        for folder in (self.home, self.work, self._output):
            folder.mkdir(parents=True)
        (self.work / "pyproject.toml").write_text(SETTINGS, encoding="utf-8")

    @property
    def environ(self) -> dict[str, str]:
        """The default environment: an API key, and none of the user's variables."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
            "HF_HUB_OFFLINE": "1",
            "HVR_VERIFY": "0",
            "HVR_LLM_API_KEY": self.secrets.key,
            "OMP_NUM_THREADS": "1",
        }

    def surroundings(
        self, env: Mapping[str, str | None] | None = None, **changes: Any
    ) -> Surroundings:
        """Return the default surroundings with changes.

        Args:
            env: Variables to set; a variable with the value None is unset.
            changes: Fields of `Surroundings`.
        """
        values = {**self.environ, **(env or {})}
        kept = {name: value for name, value in values.items() if value is not None}
        return replace(Surroundings(cwd=self.work, env=kept), **changes)

    def start(
        self,
        *words: object,
        how: Surroundings | None = None,
        python: tuple[str, ...] = ("-m", "hvr"),
    ) -> Process:
        with self._lock:
            self.counts["runs"] += 1
            place = self._output / f"{self.counts['runs']}"
        command = [sys.executable, *python, *map(str, words)]
        return Process.start(command, how or self.surroundings(), place)

    def hvr(
        self,
        *words: object,
        how: Surroundings | None = None,
        python: tuple[str, ...] = ("-m", "hvr"),
    ) -> Ended:
        return self.start(*words, how=how, python=python).wait()

    def python(self, code: str, *words: object, how: Surroundings | None = None) -> Ended:
        return self.hvr(*words, how=how, python=("-c", code))

    def shell(self, script: str, *words: object, how: Surroundings | None = None) -> Ended:
        """Run a bash script with arguments, in which the command `hvr` runs this checkout."""
        text = f'hvr() {{ "{sys.executable}" -m hvr "$@"; }}\n{script}'
        with self._lock:
            self.counts["runs"] += 1
            place = self._output / f"{self.counts['runs']}"
        command = ["bash", "-c", text, "bash", *map(str, words)]
        return Process.start(command, how or self.surroundings(), place).wait()

    def need(self, *programs: str) -> None:
        import shutil

        for program in programs:
            if shutil.which(program) is None:
                raise CannotError(f"{program} is not installed")
