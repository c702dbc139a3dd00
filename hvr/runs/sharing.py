"""The graph of a run on a server that holds the graphs of many."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.errors import DataFileError
from hvr.runs.folder import RunFolder
from hvr.runs.request import RunRequest

if TYPE_CHECKING:
    from hvr.knowledge.shared import SharedGraph

SHARED = "shared.json"
"""The file of a run folder that says under which name its graph is on which server."""
ROBOT = "HVR_ROBOT"
"""The variable of the environment with the robot's name; that of the machine without it."""


def shared_graph(request: RunRequest, folder: RunFolder) -> SharedGraph | None:
    """Begin the graph of a run on the server of its options; None if these name none.

    A run that is gone on with keeps its name, and its graph begins anew.

    Raises:
        StoreError: the server refuses or does not answer.
        UsageError: its address cannot be used.
    """
    store = request.options.store
    if store is None:
        return None
    import platform

    from hvr.knowledge.shared import SharedGraph, SharedRun
    from hvr.knowledge.sparql_server import ServerAddress, SparqlServer

    robot = os.environ.get(ROBOT) or platform.node()
    run = SharedRun(
        name=_name(folder, store, robot),
        request=request.text,
        scene=request.scene if request.scene.isalnum() else "",
        world=request.world.name,
        robot=robot,
    )
    server = SparqlServer(ServerAddress.read(store, os.environ))
    return SharedGraph.begin(server, run, request.world.scene_ontology)


def known_as(folder: Path) -> tuple[str, str] | None:
    """Return the name of a run on servers and the robot's; None if the run had no server.

    Raises:
        DataFileError: The file that says so cannot be read.
    """
    path = folder / SHARED
    if not path.is_file():
        return None
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        return str(about["run"]), str(about.get("robot", ""))
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise DataFileError(f"{path} cannot be read: {error}") from error


def _name(folder: RunFolder, store: str, robot: str) -> str:
    known = known_as(folder.path)
    if known is not None:
        return known[0]
    import secrets

    plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in folder.path.name)
    name = f"{plain.strip('-') or 'run'}-{secrets.token_hex(4)}"
    folder.write_json(SHARED, {"store": store, "run": name, "robot": robot})
    return name
