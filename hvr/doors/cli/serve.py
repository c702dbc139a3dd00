"""`hvr validate --serve`: requests from standard input, an answer to each on standard output."""

from __future__ import annotations

import json
import sys

from hvr.base.texts import unreadable
from hvr.doors.cli.streams import reader_gone
from hvr.errors import DataFileError
from hvr.validation.batch import BatchOptions
from hvr.validation.resident import Resident


def serve(options: BatchOptions, *, texts_only: bool = False) -> int:
    """Answer requests until standard input ends, or nobody reads the answers any more.

    Args:
        options: The checks to make for each plan.
        texts_only: Whether to open no file that a request names.

    Returns:
        the exit code, 0: what is wrong with a request or a plan is said in the answer to it.

    Raises:
        DataFileError: standard input is closed or cannot be read.
    """
    if sys.stdin is None or sys.stdin.closed:
        raise DataFileError("cannot read standard input: it is closed")
    resident = Resident(options, texts_only=texts_only)
    try:
        for line in sys.stdin.buffer:
            if not line.strip():
                continue
            # In ASCII, so that no character of a text can look like the end of the answer.
            sys.stdout.write(json.dumps(resident.answer(line)) + "\n")
            sys.stdout.flush()
            if reader_gone():
                break
    except OSError as error:
        raise unreadable("standard input", error) from error
    return 0
