"""The way to the models of a bench: what cannot work is said before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvr.errors import DataFileError, UsageError
from hvr.evaluation.bench.cells import CellOptions, plan_cells
from hvr.evaluation.cell import check_models, prompt_digests


def test_an_unknown_model_and_a_bad_address_are_refused() -> None:
    with pytest.raises(UsageError, match="oracle"):
        check_models(plan_cells(["T1"], ["HVR"], ["oracle:x"], [0]), CellOptions())
    with pytest.raises(UsageError, match="http"):
        check_models(
            plan_cells(["T1"], ["HVR"], ["openai:x"], [0]), CellOptions(base_url="localhost:80")
        )


def test_a_recording_that_is_not_there(tmp_path: Path) -> None:
    cells = plan_cells(["T1"], ["HVR"], ["openai:x"], [0])
    with pytest.raises(DataFileError, match="transcript"):
        check_models(cells, CellOptions(cassettes=tmp_path))


def test_every_prompt_has_its_digest() -> None:
    digests = prompt_digests()
    assert {"macro_plan", "block", "plan"} <= digests.keys()
    assert all(len(d) == 64 for d in digests.values())
