"""The folder that a run leaves, with everything needed to look at it again.

task.json       the request, the scene, the goal, what was assumed, the result
subgraph.json   the objects chosen for the problem, why, and the facts about them
domain.pddl     the domain
problem.pddl    the problem, derived from the graph (problem-2.pddl after a new plan)
plan.pddl       the plan as an IPC plan file
plan.json       the plan as macro actions with their blocks
llm.jsonl       with a language model: every prompt and answer, as they came
planning.json   with a language model: how each block came about
planner.jsonl   with a language model: what the classical planner found
thor/           with AI2-THOR: every action sent and the pictures (docs/thor.md)
faults.json     with faults: which were played, and what they changed
scene-before.json  the floor plan before the first step (hvr.report.floor_plan)
scene-after.json   the same after the last one
trace.jsonl     one event a line, written as it happens
graph/          the knowledge graph as a persistent store
graph.ttl       the same as Turtle, written at the end
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from hvr.envs.naming import Names
from hvr.errors import DataFileError
from hvr.files import append_json_line, unwritable, write_whole
from hvr.report.floor_plan.plan import floor_plan


class RunFolder:
    """A folder being filled.

    Args:
        path: the folder; it exists and is empty.
        created: parent folders that were made for it, outermost first.
    """

    TRANSCRIPT = "llm.jsonl"
    """File with the dialogue with a language model; `hvr.llm.transcript` writes it."""

    def __init__(self, path: Path, created: tuple[Path, ...] = ()) -> None:
        self.path = path
        self._created = created

    @classmethod
    def create(cls, path: Path | None, text: str, now: datetime) -> RunFolder:
        """Make a folder for a run.

        Args:
            path: the folder; None makes one under `./runs` named by time and request.
            text: the request.
            now: the time for the name.

        Raises:
            DataFileError: the folder cannot be made, or is not empty.
        """
        target = path if path is not None else _free_name(Path("runs"), text, now)
        missing = [p for p in (target, *target.parents) if not p.exists()]
        try:
            target.mkdir(parents=True, exist_ok=True)
            if any(target.iterdir()):
                raise DataFileError(
                    f"{target}: the run folder must be new or empty; choose another", field="save"
                )
            probe = target / "task.json"
            probe.touch()
            probe.unlink()
        except OSError as error:
            refused = unwritable(target, error, "the run cannot be written here")
            refused.field = "save"
            raise refused from error
        return cls(target, tuple(reversed(missing)))

    def write(self, name: str, text: str) -> None:
        """Write a text file whole or not at all.

        Raises:
            DataFileError: it cannot be written.
        """
        write_whole(self.path / name, text)

    def write_json(self, name: str, value: Any) -> None:
        """Write a JSON file whole or not at all."""
        self.write(name, json.dumps(value, indent=2, ensure_ascii=False) + "\n")

    def write_scene(
        self, name: str, metadata: Mapping[str, Any], names: Names | None = None
    ) -> None:
        """Write the scene of an event of the environment as a floor plan.

        Args:
            name: `BEFORE` or `AFTER` of `hvr.report.run_page.scenes`.
            metadata: metadata of the event.
            names: the names of the scene.

        Raises:
            DataFileError: the file cannot be written.
        """
        self.write_json(name, floor_plan(metadata, names).to_json())

    def append(self, name: str, value: Any) -> None:
        """Add a line of JSON to a file.

        Raises:
            DataFileError: it cannot be written.
        """
        append_json_line(self.path / name, value)

    def discard(self) -> None:
        """Remove everything that was made, when the request could not be used."""
        for entry in self.path.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink()
        for folder in reversed(self._created):
            if not any(folder.iterdir()):
                folder.rmdir()


def _free_name(root: Path, text: str, now: datetime) -> Path:
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40].strip("-") or "run"
    base = root / f"{now:%Y%m%d-%H%M%S}-{words}"
    number = 1
    path = base
    while path.exists():
        number += 1
        path = base.with_name(f"{base.name}-{number}")
    return path
