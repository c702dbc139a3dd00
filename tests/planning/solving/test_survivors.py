"""However `hvr solve` ends, it leaves no process and no folder behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import environment

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "survivors.py"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and orphans are adopted")
def test_every_end_leaves_nothing_behind() -> None:
    """One solve for each way to end; HVR_SURVIVORS sets the number."""
    solves = os.environ.get("HVR_SURVIVORS", "7")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--solves", solves, "--jobs", "2"],
        env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{solves} solves; 0 with leftovers" in done.stdout
