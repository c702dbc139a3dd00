"""The training of examples/teach: real trainers, a tiny random model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import Hvr

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_a_tiny_model_goes_through_all_stages(tmp_path: Path, hvr_: Hvr) -> None:
    for package in ("trl", "datasets", "torch", "transformers"):
        pytest.importorskip(package, reason=f"{package} is missing: pip install '.[teach]'")
    data, log = tmp_path / "data.jsonl", tmp_path / "log.jsonl"
    ended = hvr_("export", "sft", "--worlds", "blocksworld", "--count", "5", "--out", str(data))
    assert ended.code == 0, ended.err
    few = "--problems 1 --sft-steps 1 --grpo-steps 1 --generations 2 --prompts 1 --batch-train 2"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", ROOT / "examples" / "teach" / "teach.py", data,
         "--log", log, "--out", tmp_path / "model", "--tokens", "40", "--tokens-train", "8",
         *few.split()],
        capture_output=True, text=True, check=False, timeout=600, cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    stages = [result["stage"] for result in results]
    evaluated = ["before", "tuning", "after tuning", "rewards", "after rewards"]
    assert list(dict.fromkeys(stages)) == ["start", *evaluated]
    constrained = [result for result in results if result.get("constrained")]
    assert all(result["example"].startswith("Actions:\n1. (") for result in constrained)
    assert (tmp_path / "model" / "config.json").is_file()
