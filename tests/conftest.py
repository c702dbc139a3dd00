"""Makes the reference interpreter importable from every folder of tests; the command line."""

from __future__ import annotations

import os
import sys

import pytest
from command_line import Ended, Hvr

from hvr.cli.main import run

# What hvr plan prints in other tests does not depend on the extra gnn; tests of scores ask for it.
os.environ.setdefault("HVR_VERIFY", "0")


@pytest.fixture
def hvr_(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Hvr:
    """Runs the command line in this process."""

    def command(*args: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["hvr", *map(str, args)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ending:
            run()
        said = capsys.readouterr()
        return Ended(int(ending.value.code or 0), said.out, said.err)

    return command
