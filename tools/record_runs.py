"""Record the runs of `tests/runs/test_recorded_runs.py` again after a prompt has changed.

    python -m tools.record_runs

Each run is repeated with the same request, scene, settings, seed and library. The only models are a
script behind a local server and the simulated model.
"""

from __future__ import annotations

import json
import os
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import hvr.runs.spine
from hvr.models.choice import ModelChoice
from hvr.runs.request import Options
from tests.model_server import Behaviour, make_coffee
from tests.models.servers import OpenAIServer

RECORDED = Path(__file__).resolve().parent.parent / "tests" / "runs" / "recorded"
FILES = (
    "domain.pddl", "library.ttl", "llm.jsonl", "plan.json", "plan.pddl", "planner.jsonl",
    "planning.json", "problem.pddl", "subgraph.json", "task.json", "trace.jsonl",
)  # fmt: skip
"""Archived files of a run; large files such as graphs and pictures are regenerated."""


def record(archive: Path, folder: Path) -> None:
    name = archive.name.removesuffix(".tar.xz")
    with tarfile.open(archive) as old:
        old.extractall(folder, filter="data")
    before = folder / name
    first = (before / "llm.jsonl").read_text(encoding="utf-8").splitlines()[0]
    began: dict[str, Any] = json.loads(first)
    run, library = began["run"], before / "library.ttl"
    again = folder / f"{name}-again"
    with OpenAIServer(Behaviour(make_coffee)) as server:
        spec = str(began["model"]).replace("(", ":").replace(" ", "").rstrip(")")
        choice = ModelChoice(
            spec=spec,
            base_url=server.url if spec.startswith("openai:") else None,
            setting=run["setting"],
            library=library if library.exists() else None,
        )
        options = Options(
            scene=run["scene"], seed=run["seed"], policy="llm", model=choice, save=again
        )
        text = None if run["task"] else run["request"]
        result = hvr.runs.spine.plan(text, task=run["task"], options=options)
    assert result.reached, f"{name}: {result.verdict}"
    with tarfile.open(archive, "w:xz") as new:
        for file in FILES:
            if (again / file).exists():
                new.add(again / file, f"{name}/{file}")
    print(f"{name}: {result.spent.calls if result.spent else 0} calls")


def main() -> None:
    os.environ.setdefault("HVR_LLM_API_KEY", "none")
    for archive in sorted(RECORDED.glob("*.tar.xz")):
        with tempfile.TemporaryDirectory() as folder:
            record(archive, Path(folder))


if __name__ == "__main__":
    main()
