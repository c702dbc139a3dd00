"""hvr's own files: where its data is, and which code this is."""

from __future__ import annotations

from pathlib import Path

from hvr.errors import DataFileError, UsageError

_PACKAGE = Path(__file__).resolve().parent
_LONGEST_NAME = 256


def data_path(name: str) -> Path:
    """Return path of a data folder: `ontology`, `domains` or `tasks`.

    An installed hvr has it inside the package; in a checkout it is at the top.

    Raises:
        DataFileError: there is no such folder.
    """
    for candidate in (_PACKAGE / "data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise DataFileError(
        f"hvr's data folder {name!r} is missing from {_PACKAGE / 'data'}: install hvr again"
    )


def text_or_path(source: str | Path) -> str | Path:
    """Return PDDL text as a string and the name of a file as a path.

    Text has a parenthesis or more than one line, or is empty; any other string names a file.

    Raises:
        UsageError: a string could be either.
    """
    if isinstance(source, Path) or not source.strip():
        return source
    is_text = "(" in source or "\n" in source
    if is_text and "\n" not in source and len(source) < _LONGEST_NAME and Path(source).is_file():
        raise UsageError(
            f"{source!r} names a file and could be PDDL text: give a pathlib.Path for the file"
        )
    return source if is_text else Path(source)


def commit() -> str:
    """Return the commit of hvr's checkout, `+` behind it if files differ; `unknown` without git."""

    import subprocess

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=_PACKAGE, check=True, timeout=20,
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
