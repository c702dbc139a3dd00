"""Predicted links of a catalogue as a value and a file, and how good they are on runs held out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hvr.errors import DataFileError, UsageError
from hvr.files import write_whole
from hvr.texts import read_json

FORM = "hvr-tool-links-1"
"""Name and version of the format."""

LEAST = 1e-3
"""Chances below are not kept, and are taken for this."""


@dataclass(frozen=True)
class PredictedLinks:
    """The chances that one tool is called after another.

    Args:
        method: that predicted them.
        chances: by source and target; what is not there is below `LEAST`.
        threshold: links at or above it are called likely.
        figures: how good the method was on runs held out, by name of the measure; empty if the log
            was too short to hold any out.
    """

    method: str
    chances: Mapping[str, Mapping[str, float]] = field(repr=False)
    threshold: float = 0.5
    figures: Mapping[str, float] = field(default_factory=dict)

    def chance(self, source: str, target: str) -> float:
        """Return the chance that the second tool is called after the first."""
        return self.chances.get(source, {}).get(target, LEAST)

    def likely(self) -> list[tuple[str, str, float]]:
        """Return source, target and chance of the likely links, the likeliest first."""
        links = [(s, t, c) for s, targets in self.chances.items() for t, c in targets.items()
                 if c >= self.threshold]  # fmt: skip
        return sorted(links, key=lambda link: (-link[2], link[0], link[1]))


def write_links(path: Path, links: PredictedLinks) -> None:
    """Write predicted links.

    Raises:
        DataFileError: the file cannot be written.
    """
    document = {
        "form": FORM,
        "method": links.method,
        "threshold": links.threshold,
        "figures": dict(links.figures),
        "chances": {
            source: {target: round(chance, 4) for target, chance in sorted(targets.items())}
            for source, targets in sorted(links.chances.items())
        },
    }
    write_whole(path, json.dumps(document, ensure_ascii=True, indent=1) + "\n")


def read_links(path: Path) -> PredictedLinks:
    """Read predicted links.

    Raises:
        DataFileError: the file cannot be read, or is none that `write_links` wrote.
    """
    document: Any = read_json(path)
    if not isinstance(document, dict) or document.get("form") != FORM:
        raise DataFileError(f"{path}: holds no predicted links (form {FORM}): `hvr tools learn`")
    try:
        return PredictedLinks(
            str(document["method"]),
            {str(s): {str(t): float(c) for t, c in targets.items()}
             for s, targets in document["chances"].items()},
            float(document["threshold"]),
            {str(k): float(v) for k, v in document["figures"].items()},
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataFileError(f"{path}: is damaged: {type(error).__name__} {error}") from None


def known_method(name: str, methods: Sequence[str]) -> str:
    """Return the name of a method.

    Raises:
        UsageError: there is none of this name.
    """
    if name not in methods:
        raise UsageError(f"unknown method {name!r}: there are {', '.join(methods)}")
    return name
