"""Judges and networks are saved completely or not at all."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from hvr.errors import DataFileError
from hvr.judging.verifier.features import ToolEmbeddings
from hvr.judging.verifier.judgement.fit import fit_judge
from hvr.judging.verifier.judgement.judge import Judge, load_judge, save_judge
from hvr.judging.verifier.verifier import TrainedNetwork, Verifier
from studies.plan_network.fit import train
from tests.judging.verifier.small_world import HashEncoder, small_plans, small_tools, tiny_config
from tests.killing import failures, kills

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
PLANS = small_plans()[:3]


@dataclass(frozen=True)
class Saved:
    """A model that is stored in a folder.

    Args:
        put: Function that saves the model.
        said: Figures that tell models apart.
        load: Function that reads a folder and returns its figures.
    """

    put: Callable[[Path], None]
    said: list[float]
    load: Callable[[Path], list[float]]


def kept_judge(judge: Judge) -> Saved:
    return Saved(lambda folder: save_judge(judge, folder), judge.weights.tolist(),
                 lambda folder: load_judge(folder, HashEncoder()).weights.tolist())  # fmt: skip


def kept_network(verifier: Verifier) -> Saved:
    def load(folder: Path) -> list[float]:
        return [v.score for v in Verifier.load(folder, HashEncoder()).score(PLANS)]

    return Saved(verifier.save, [v.score for v in verifier.score(PLANS)], load)


@pytest.fixture(scope="module")
def network() -> Verifier:
    config = replace(tiny_config(), epochs_graph=1, epochs_local=1, align_epochs=1)
    return train(config, small_plans(), small_tools(), encoder=HashEncoder())


@pytest.fixture(scope="module")
def judge() -> Judge:
    return fit_judge(ToolEmbeddings(small_tools(), HashEncoder(), tiny_config()), small_plans())


@pytest.fixture(scope="module", params=["judge", "network"])
def pair(request: pytest.FixtureRequest, judge: Judge, network: Verifier) -> tuple[Saved, Saved]:
    """An old and a new model; only the numbers reveal the owner of a file."""
    if request.param == "judge":
        return kept_judge(judge), kept_judge(replace(judge, weights=2 * judge.weights))
    tensors = {name: 2 * values for name, values in network.network.tensors.items()}
    other = replace(network, network=TrainedNetwork(network.config, tensors))
    return kept_network(network), kept_network(other)


@pytest.mark.slow
@posix
def test_a_kill_at_any_moment_leaves_one(pair: tuple[Saved, Saved], tmp_path: Path) -> None:
    old, new = pair
    folder = tmp_path / "verifier"
    old.put(folder)
    files = len(contents(folder))
    seen = []
    for number in kills(folder, lambda: new.put(folder)):
        seen.append(old.load(folder))
        assert seen[-1] in (old.said, new.said), number
        old.put(folder)
    assert seen[0] == old.said and seen[-1] == new.said
    assert len(contents(folder)) == files


@pytest.mark.slow
@posix
def test_a_disk_that_fails_at_any_moment_leaves_the_old_one(
    pair: tuple[Saved, Saved], tmp_path: Path
) -> None:
    old, new = pair
    folder = tmp_path / "verifier"
    old.put(folder)
    before = sorted(folder.iterdir())
    for error in failures(folder, lambda: new.put(folder)):
        if error is None:
            break
        assert isinstance(error, DataFileError) and error.exit_code == 4
        assert old.load(folder) == old.said and sorted(folder.iterdir()) == before
    assert old.load(folder) == new.said


def test_one_takes_the_place_of_the_other(judge: Judge, network: Verifier, tmp_path: Path) -> None:
    save_judge(judge, tmp_path)
    network.save(tmp_path)
    assert kept_network(network).load(tmp_path) == kept_network(network).said
    with pytest.raises(DataFileError, match="has no judge"):
        load_judge(tmp_path, HashEncoder())
    save_judge(judge, tmp_path)
    assert kept_judge(judge).load(tmp_path) == kept_judge(judge).said
    with pytest.raises(DataFileError, match="has no network"):
        Verifier.load(tmp_path, HashEncoder())


def test_a_half_copied_folder_is_told(pair: tuple[Saved, Saved], tmp_path: Path) -> None:
    old, _ = pair
    old.put(tmp_path / "whole")
    files = contents(tmp_path / "whole")
    for missing in files:
        folder = tmp_path / f"without-{missing.name}"
        folder.mkdir()
        for path in files:
            if path != missing:
                (folder / path.name).write_bytes(path.read_bytes())
        with pytest.raises(DataFileError, match=r"no such file|not a (verifier|judge) folder"):
            old.load(folder)


def test_a_judge_beside_a_network_is_read(judge: Judge, network: Verifier, tmp_path: Path) -> None:
    """Earlier versions wrote a judge and a network into one folder."""
    network.save(tmp_path / "both")
    save_judge(judge, tmp_path / "judge")
    head = json.loads((tmp_path / "both/verifier.json").read_text())
    for path in (tmp_path / "judge").glob("judge-*"):
        (tmp_path / "both" / path.name).write_bytes(path.read_bytes())
        if path.suffix == ".json":
            head["judge"] = path.name
    (tmp_path / "both/verifier.json").write_text(json.dumps(head))
    assert kept_judge(judge).load(tmp_path / "both") == kept_judge(judge).said
    assert kept_network(network).load(tmp_path / "both") == kept_network(network).said


def contents(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.suffix != ".lock"]
