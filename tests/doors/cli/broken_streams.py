"""Unwritable standard output for a command in the test's process."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from hvr.doors.cli import process
from hvr.doors.cli.main import run
from tests.command_line import outlet

FULL = "error: standard output cannot be written: No space left on device\n"


def call(words: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["hvr", *words])
    monkeypatch.setattr(sys, "stdin", io.StringIO("open the fridge\n"))
    with pytest.raises(SystemExit) as ending:
        run()
    return int(ending.value.code or 0)


@contextmanager
def into(number: int, encoding: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Redirect standard output to a descriptor."""
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", outlet(number, encoding))
        yield


@contextmanager
def nobody_reads() -> Iterator[int]:
    """Yield a pipe without a reader."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        yield writer
    finally:
        os.close(writer)


@contextmanager
def full() -> Iterator[int]:
    """Yield a file on a full disk."""
    device = os.open("/dev/full", os.O_WRONLY)
    try:
        yield device
    finally:
        os.close(device)


def check_broken_streams(
    words: Sequence[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Check that a command behaves the same when its output cannot be written.

    A missing reader is never reported; a full disk always is.
    """
    check_full(words, monkeypatch, capsys, *check_gone(words, monkeypatch, capsys))


def check_gone(
    words: Sequence[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    """Check a missing reader; return the usual exit code and messages of the command."""
    usual = call(words, monkeypatch)
    said = capsys.readouterr()
    assert said.out
    with nobody_reads() as writer, into(writer, "ascii", monkeypatch):
        assert call(words, monkeypatch) == usual
        assert process.is_reader_gone() and process.write_error() is None
    assert complaints(capsys.readouterr().err) == complaints(said.err)
    return usual, complaints(said.err)


def check_full(
    words: Sequence[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    usual: int = 0, said: str = "",
) -> None:  # fmt: skip
    """Check a full disk."""
    with full() as device, into(device, "latin-1", monkeypatch):
        assert call(words, monkeypatch) == (4 if usual in (0, 1) else usual)
    assert complaints(capsys.readouterr().err) == said + FULL


def complaints(text: str) -> str:
    """Return standard error without progress and times."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if line.startswith("error") or "Error" in line)
