"""What a plan of a language model leaves in the library."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hvr
from hvr.planning.library import Library, Origin, learn, update_library
from hvr.planning.plans import Planned
from hvr.policies.llm.writing import Equipment


def keep_learnt(
    path: Path,
    equipment: Equipment,
    planned: Planned,
    *,
    about: Mapping[str, Any],
    run: str,
    used: Collection[str],
) -> None:
    """Add the macro actions of a plan that did what it should to a library.

    Args:
        path: the library's file.
        equipment: with which the plan was written.
        planned: the plan.
        about: the request and the scene.
        run: name of the run.
        used: ids of the entries whose blocks are in the plan.

    Raises:
        DataFileError: the file cannot be read or written.
    """
    origin = Origin(
        request=str(about.get("request", "")),
        scene=str(about.get("scene", "")),
        model=equipment.model.name,
        simulated=equipment.model.simulated,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        version=hvr.__version__,
        run=run,
    )
    entries = learn(
        planned.plan, planned.task, equipment.agent, origin, ontology=equipment.ontology
    )
    known = (equipment.library or Library()).entries
    again = [entry.with_use(run) for entry in known if entry.id in used]
    update_library(path, Library(entries).merge(Library(again)))
