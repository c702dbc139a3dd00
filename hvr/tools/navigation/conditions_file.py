"""Learnt conditions as a file beside the log of the graph, for later runs.

The file holds names of tools, parameters and properties, at most three values with which calls went
well and a few more of refused ones for each property, and numbers. Ids that calls took are digests.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hvr.base.files import write_whole
from hvr.base.texts import read_json
from hvr.errors import DataFileError
from hvr.tools.navigation.enabling import Enabler, LearntEnablers
from hvr.tools.navigation.preconditions import LearntConditions, Place, SeenStates, StateCondition

FORM = "hvr-conditions-1"
"""Name and version of the format."""


def conditions_path(graph: Path) -> Path:
    """Return the file of the conditions that belong to the log of a graph."""
    return graph.with_name(f"{graph.stem}.conditions.json")


def read_conditions(path: Path) -> LearntConditions:
    """Return the conditions of a file; none if it is not there yet.

    Raises:
        DataFileError: The file cannot be read, or `write_conditions` did not write it.
    """
    if not path.exists():
        return LearntConditions()
    document: Any = read_json(path)
    try:
        if document["form"] != FORM:
            raise ValueError(f"its form is {document['form']!r}, not {FORM!r}")
        return LearntConditions(
            dict(map(_states, document["states"])),
            dict(map(_condition, document["conditions"])),
            set(map(str, document["things"])),
            LearntEnablers(
                dict(map(_enabler, document["enablers"])), set(map(str, document["enabled"]))
            ),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataFileError(
            f"{path}: not a file of learnt conditions ({type(error).__name__}: {error}); move it "
            "away, or name another graph"
        ) from None


def write_conditions(path: Path, learnt: LearntConditions) -> None:
    """Write conditions to a file.

    Raises:
        DataFileError: The file cannot be written.
    """
    document = {
        "form": FORM,
        "conditions": [
            _at(place) | {"values": one.values, "well": one.well, "refused": one.refused}
            for place, one in sorted(learnt.candidates.items(), key=_order)
        ],
        "states": [
            _at(place) | asdict(states)
            for place, states in sorted(learnt.states.items(), key=_order)
        ],
        "things": sorted(learnt.seen),
        "enablers": [
            asdict(one) | {"shared": sorted(map(list, one.shared))}
            for _, one in sorted(learnt.enabling.known.items())
        ],
        "enabled": sorted(learnt.enabling.seen),
    }
    write_whole(path, json.dumps(document, ensure_ascii=True, indent=1) + "\n")


def _at(place: Place) -> dict[str, Any]:
    return {"tool": place[0], "parameter": place[1], "name": sorted(place[2])}


def _order(entry: tuple[Place, object]) -> tuple[str, str, list[str]]:
    tool, parameter, name = entry[0]
    return tool, parameter, sorted(name)


def _place(row: Mapping[str, Any]) -> Place:
    return str(row["tool"]), str(row["parameter"]), frozenset(map(str, row["name"]))


def _states(row: Mapping[str, Any]) -> tuple[Place, SeenStates]:
    well = row["well"]
    values = None if well is None else tuple((value, int(times)) for value, times in well)
    return _place(row), SeenStates(values, tuple(row["refused"]))


def _condition(row: Mapping[str, Any]) -> tuple[Place, StateCondition]:
    place, counts = _place(row), (int(row["well"]), int(row["refused"]))
    return place, StateCondition(*place, tuple(row["values"]), *counts)


def _enabler(row: Mapping[str, Any]) -> tuple[tuple[str, str], Enabler]:
    shared = frozenset((str(one), str(other)) for one, other in row["shared"])
    both, counts = (str(row["tool"]), str(row["by"])), (int(row["well"]), int(row["refused"]))
    return both, Enabler(*both, shared, *counts)
