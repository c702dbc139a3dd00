"""The example trains a tiny model with TRL's own trainer, if TRL is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples/rewards/train_grpo.py"


@pytest.mark.slow
def test_the_example_trains() -> None:
    for package in ("trl", "datasets"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    done = subprocess.run(
        [sys.executable, EXAMPLE, "--steps", "2"], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("mean reward") == 2, done.stdout
