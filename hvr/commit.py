"""Which code this is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import hvr


def commit() -> str:
    """The commit of hvr's checkout, `+` behind it if files differ; `unknown` without git."""

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=Path(hvr.__file__).parent, check=True, timeout=20,
            capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout.strip()

    try:
        # An installed hvr may lie in a checkout of something else.
        if not git("ls-files", "__init__.py"):
            return "unknown"
        return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", ".") else "")
    except (OSError, subprocess.SubprocessError):
        return "unknown"
