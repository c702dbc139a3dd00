"""Verifiers are saved whole or not at all, their correctors with them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hvr.errors import DataFileError
from hvr.verifier.correction.corrector import Corrector
from hvr.verifier.correction.corrector_file import load_corrector, save_corrector
from hvr.verifier.correction.corrector_fit import examples_from
from hvr.verifier.correction.prior_models import PriorConfig
from hvr.verifier.correction.reranker import FEATURES
from hvr.verifier.correction.sequence_prior import train_prior
from hvr.verifier.network.fit import train
from hvr.verifier.network.inference import TrainedNetwork
from hvr.verifier.verifier import Verifier
from tests.killing import failures, kills
from tests.verifier.small_world import (
    HashEncoder,
    small_plans,
    small_tools,
    tiny_config,
)

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
PLANS = small_plans()[:3]


@pytest.fixture(scope="module")
def old() -> Corrector:
    """A verifier with its corrector."""
    config = replace(tiny_config(), epochs_graph=1, epochs_local=1, align_epochs=1)
    verifier = train(config, small_plans(), small_tools(), encoder=HashEncoder())
    examples = examples_from(verifier.embeddings, small_plans())
    prior = train_prior(
        verifier.embeddings, examples, PriorConfig(hidden=8, epochs=1, epochs_steps=1)
    )
    return Corrector(verifier, prior, np.ones(len(FEATURES), np.float32))


@pytest.fixture(scope="module")
def new(old: Corrector) -> Corrector:
    """Another one, for the same tools: nothing but its numbers tells whose a file is."""
    tensors = {name: 2 * values for name, values in old.verifier.network.tensors.items()}
    network = TrainedNetwork(old.verifier.config, tensors)
    verifier = replace(old.verifier, network=network)
    return Corrector(verifier, old.prior, np.asarray(2 * old.weights))


def both(folder: Path) -> tuple[list[float], list[float]]:
    """What tells the old pair from the new one."""
    verifier = Verifier.load(folder, HashEncoder())
    corrector = load_corrector(folder, verifier)
    return said(corrector)


def said(corrector: Corrector) -> tuple[list[float], list[float]]:
    return [v.score for v in corrector.verifier.score(PLANS)], corrector.weights.tolist()


@pytest.mark.slow
@posix
def test_a_kill_at_any_moment_leaves_one_pair(
    old: Corrector, new: Corrector, tmp_path: Path
) -> None:
    folder = tmp_path / "verifier"
    save_corrector(old, folder)
    seen = []
    for number in kills(folder, lambda: save_corrector(new, folder)):
        seen.append(both(folder))
        assert seen[-1] in (said(old), said(new)), number
        save_corrector(old, folder)
    assert seen[0] == said(old) and seen[-1] == said(new)
    assert len([p for p in folder.iterdir() if p.suffix != ".lock"]) == 4


@pytest.mark.slow
@posix
def test_a_disk_that_fails_at_any_moment_leaves_the_old_pair(
    old: Corrector, new: Corrector, tmp_path: Path
) -> None:
    folder = tmp_path / "verifier"
    save_corrector(old, folder)
    before = sorted(folder.iterdir())
    for error in failures(folder, lambda: save_corrector(new, folder)):
        if error is None:
            break
        assert isinstance(error, DataFileError) and error.exit_code == 4
        assert both(folder) == said(old) and sorted(folder.iterdir()) == before
    assert both(folder) == said(new)


def test_a_verifier_alone_has_no_corrector_of_another(
    old: Corrector, new: Corrector, tmp_path: Path
) -> None:
    save_corrector(old, tmp_path)
    new.verifier.save(tmp_path)
    verifier = Verifier.load(tmp_path, HashEncoder())
    assert [v.score for v in verifier.score(PLANS)] == said(new)[0]
    with pytest.raises(DataFileError, match="there is no corrector"):
        load_corrector(tmp_path, verifier)


def test_a_half_copied_folder_is_told(old: Corrector, tmp_path: Path) -> None:
    save_corrector(old, tmp_path / "whole")
    files = [p for p in (tmp_path / "whole").iterdir() if p.suffix != ".lock"]
    assert len(files) == 4
    for missing in files:
        folder = tmp_path / f"without-{missing.name}"
        folder.mkdir()
        for path in files:
            if path != missing:
                (folder / path.name).write_bytes(path.read_bytes())
        with pytest.raises(DataFileError, match=r"no (such )?(verifier|corrector|file)"):
            both(folder)


def test_folders_of_earlier_versions_load(old: Corrector, tmp_path: Path) -> None:
    save_corrector(old, tmp_path)
    (head,) = tmp_path.glob("verifier.json")
    head.write_text(head.read_text().replace(', "corrector": "', ', "once": "'))
    for stem in ("verifier", "corrector"):
        for path in tmp_path.glob(f"{stem}-*"):
            path.rename(tmp_path / f"{stem}{path.suffix}")
    assert both(tmp_path) == said(old)
