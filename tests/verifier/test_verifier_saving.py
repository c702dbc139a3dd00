"""Verifiers are saved whole or not at all, their judges with them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from hvr.errors import DataFileError
from hvr.verifier.judgement.fit import fit_judge
from hvr.verifier.judgement.judge import Judge
from hvr.verifier.judgement.judge_file import load_judge, save_judge
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


Pair = tuple[Verifier, Judge]


@pytest.fixture(scope="module")
def old() -> Pair:
    """A verifier with its judge."""
    config = replace(tiny_config(), epochs_graph=1, epochs_local=1, align_epochs=1)
    verifier = train(config, small_plans(), small_tools(), encoder=HashEncoder())
    return verifier, fit_judge(verifier.embeddings, small_plans())


@pytest.fixture(scope="module")
def new(old: Pair) -> Pair:
    """Another one, for the same tools: nothing but its numbers tells whose a file is."""
    verifier, judge = old
    tensors = {name: 2 * values for name, values in verifier.network.tensors.items()}
    network = TrainedNetwork(verifier.config, tensors)
    return replace(verifier, network=network), replace(judge, weights=2 * judge.weights)


def put(pair: Pair, folder: Path) -> None:
    verifier, judge = pair
    save_judge(judge, verifier, folder)


def both(folder: Path) -> tuple[list[float], list[float]]:
    """What tells the old pair from the new one."""
    verifier = Verifier.load(folder, HashEncoder())
    return said((verifier, load_judge(folder, verifier)))


def said(pair: Pair) -> tuple[list[float], list[float]]:
    verifier, judge = pair
    return [v.score for v in verifier.score(PLANS)], judge.weights.tolist()


@pytest.mark.slow
@posix
def test_a_kill_at_any_moment_leaves_one_pair(old: Pair, new: Pair, tmp_path: Path) -> None:
    folder = tmp_path / "verifier"
    put(old, folder)
    seen = []
    for number in kills(folder, lambda: put(new, folder)):
        seen.append(both(folder))
        assert seen[-1] in (said(old), said(new)), number
        put(old, folder)
    assert seen[0] == said(old) and seen[-1] == said(new)
    assert len([p for p in folder.iterdir() if p.suffix != ".lock"]) == 4


@pytest.mark.slow
@posix
def test_a_disk_that_fails_at_any_moment_leaves_the_old_pair(
    old: Pair, new: Pair, tmp_path: Path
) -> None:
    folder = tmp_path / "verifier"
    put(old, folder)
    before = sorted(folder.iterdir())
    for error in failures(folder, lambda: put(new, folder)):
        if error is None:
            break
        assert isinstance(error, DataFileError) and error.exit_code == 4
        assert both(folder) == said(old) and sorted(folder.iterdir()) == before
    assert both(folder) == said(new)


def test_a_verifier_alone_has_no_judge_of_another(old: Pair, new: Pair, tmp_path: Path) -> None:
    put(old, tmp_path)
    new[0].save(tmp_path)
    verifier = Verifier.load(tmp_path, HashEncoder())
    assert [v.score for v in verifier.score(PLANS)] == said(new)[0]
    with pytest.raises(DataFileError, match="there is no judge"):
        load_judge(tmp_path, verifier)


def test_a_half_copied_folder_is_told(old: Pair, tmp_path: Path) -> None:
    put(old, tmp_path / "whole")
    files = [p for p in (tmp_path / "whole").iterdir() if p.suffix != ".lock"]
    assert len(files) == 4
    for missing in files:
        folder = tmp_path / f"without-{missing.name}"
        folder.mkdir()
        for path in files:
            if path != missing:
                (folder / path.name).write_bytes(path.read_bytes())
        with pytest.raises(DataFileError, match=r"no (such )?(verifier|judge|file)"):
            both(folder)


def test_a_verifier_without_a_judge_can_be_read(old: Pair, tmp_path: Path) -> None:
    put(old, tmp_path)
    (head,) = tmp_path.glob("verifier.json")
    head.write_text(head.read_text().replace(', "judge": "', ', "another": "'))
    verifier = Verifier.load(tmp_path, HashEncoder())
    assert [v.score for v in verifier.score(PLANS)] == said(old)[0]
    with pytest.raises(DataFileError, match="train again to have one"):
        load_judge(tmp_path, verifier)
