"""The numbers that the HVR paper reports, as data.

Source: Petruzzellis, Cornelio, Lio, "Hierarchical Planning for Complex Tasks with Knowledge
Graph-RAG and Symbolic Verification", 2025, tables 1, 2 and 4 to 16.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

MODELS = ("Phi3", "Gemini")
"""The paper's models: Phi-3-mini-4k-instruct and gemini-1.5-flash."""

SETTINGS = ("HVR", "HV", "HR", "VR", "R", "LLM")

TABLES: Mapping[str, tuple[str, str]] = {
    "pc": ("5", "11"),
    "es": ("6", "12"),
    "ld": ("7", "13"),
    "epv": ("8", "14"),
    "mpv": ("9", "15"),
    "aabv": ("10", "16"),
}
"""For each measure, the numbers of its table for each of MODELS."""

Values = Mapping[str, Mapping[str, float | None]]


@dataclass(frozen=True)
class PaperTables:
    """The paper's tables; all values are per cent, except the counts of table 1.

    Args:
        tables: by number, as they are in the file.
        inconsistencies: what does not agree within the paper, in sentences.
        source: authors, title and year in one line.
    """

    tables: Mapping[str, Mapping[str, Any]]
    inconsistencies: tuple[str, ...]
    source: str

    def summary(self, model: str) -> Values:
        """Return table 2: for each setting its values by name, such as `mpv_before`."""
        rows: Values = self.tables["2"]["rows"][model]
        return rows

    def per_task(self, measure: str, model: str, stage: str = "") -> Values:
        """Return tables 5 to 16: for each setting a value for each task, and the printed averages.

        Args:
            measure: `pc`, `es`, `ld`, `epv`, `mpv` or `aabv`.
            model: one of MODELS.
            stage: `before` or `after` correction, for `mpv` and `aabv`.
        """
        table = self.tables[self.number(measure, model)]
        rows: Values = table[stage or "rows"]
        return rows

    def number(self, measure: str, model: str) -> str:
        """Return the number of the table."""
        return TABLES[measure][MODELS.index(model)]

    def special(self) -> Mapping[str, Mapping[str, Values]]:
        """Return table 4: for each setting and model, PC, LD and EPV of T5bis and T5."""
        rows: Mapping[str, Mapping[str, Values]] = self.tables["4"]["rows"]
        return rows


@cache
def paper_tables() -> PaperTables:
    """Read the packaged tables."""
    path = Path(__file__).with_name("paper_tables.json")
    values = json.loads(path.read_text(encoding="utf-8"))
    source = values["source"]
    return PaperTables(
        values["tables"],
        tuple(entry["what"] for entry in values["inconsistencies"]),
        f"{source['authors']}: {source['title']} ({source['year']})",
    )
