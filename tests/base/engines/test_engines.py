"""Every engine returns the same results for the same cells."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from itertools import count, islice
from pathlib import Path

import pytest

from hvr.base.engines import Engine
from hvr.base.engines.registry import ENGINES, EngineChoice
from hvr.errors import MissingExtraError, UsageError
from tests.base.engines import cell_functions as cells

NAMES = [
    "here",
    pytest.param("processes", marks=pytest.mark.slow),
    pytest.param(
        "ray",
        marks=[
            pytest.mark.slow,
            pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray"),
            pytest.mark.filterwarnings("ignore"),
        ],
    ),
]


@pytest.fixture(scope="module", params=NAMES)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    name = str(request.param)
    with closing(EngineChoice(name, jobs=1 if name == "here" else 2).open()) as engine:
        yield engine


def test_each_cell_is_done_once(engine: Engine) -> None:
    done = list(engine.run(cells.square, range(20)))
    assert sorted((f.number, f.value[0]) for f in done if f.value) == [
        (n, n * n) for n in range(20)
    ]  # fmt: skip
    assert not any(f.lost for f in done)


def test_in_the_order_of_the_cells_where_that_is_wanted(engine: Engine) -> None:
    done = list(engine.run(cells.slow_first, range(12), ordered=True))
    assert [f.number for f in done] == [f.value for f in done] == list(range(12))


def test_there_may_be_any_number_of_cells(engine: Engine) -> None:
    taken = count()
    source = (next(taken) for _ in iter(int, 1))
    done = list(islice(engine.run(cells.square, source, ordered=True), 10))
    assert [f.number for f in done] == list(range(10))
    assert next(taken) <= 10 + 5 * engine.width


def test_what_a_cell_raises_ends_the_work(engine: Engine) -> None:
    with pytest.raises(ArithmeticError, match="3 cannot be done"):
        list(engine.run(cells.failing, range(10)))
    assert len(list(engine.run(cells.square, range(3)))) == 3


def test_nothing_to_do(engine: Engine) -> None:
    assert list(engine.run(cells.square, ())) == []


@pytest.mark.parametrize("name", NAMES[1:])
def test_a_cell_whose_process_dies_is_tried_again_and_then_lost(name: str, tmp_path: Path) -> None:
    with closing(EngineChoice(name, jobs=2).open()) as engine:
        work = [(n, str(tmp_path)) for n in range(8)]
        done = list(engine.run(cells.deadly, work, ordered=True))
    assert [f.value for f in done] == [0, 1, None, 3, 4, 5, 6, 7]
    assert "died" in done[2].lost
    tries = {n: len(list(tmp_path.glob(f"begun-{n}-*"))) for n in (2, 5)}
    # All processes of a pool die with one of them, so a third start of 2 depends on timing.
    assert tries[5] >= 2 and tries[2] >= 2


@pytest.mark.slow
@pytest.mark.parametrize("ordered", [True, False])
def test_where_every_process_dies_at_once_every_cell_is_lost(ordered: bool) -> None:
    choice = EngineChoice("processes", jobs=2, start=cells.die)
    with closing(choice.open()) as engine:
        done = list(engine.run(cells.square, range(5), ordered=ordered))
    assert sorted(f.number for f in done) == list(range(5))
    assert all(f.value is None for f in done)
    assert all("died" in f.lost or "dies" in f.lost for f in done)


@pytest.mark.slow
def test_where_no_process_can_be_started_cells_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with closing(EngineChoice("processes", jobs=2).open()) as engine:
        assert len(list(engine.run(cells.square, range(3)))) == 3
    with closing(EngineChoice("processes", jobs=2).open()) as engine:
        with monkeypatch.context() as patch:
            patch.setattr("multiprocessing.process.BaseProcess.start", refused)
            lost = list(engine.run(cells.square, range(3), ordered=True))
        assert [(f.number, f.value) for f in lost] == [(n, None) for n in range(3)]
        assert all("Resource temporarily unavailable" in f.lost for f in lost)
        assert all(f.value for f in engine.run(cells.square, range(3)))


@pytest.mark.slow
def test_whoever_stops_listening_to_dead_processes_does_not_wait(tmp_path: Path) -> None:
    with closing(EngineChoice("processes", jobs=2).open()) as engine:
        done = engine.run(cells.deadly, [(n, str(tmp_path)) for n in (0, 1, 3, 4, 2, 6)])
        assert len(list(islice(done, 3))) == 3
        engine.close()  # its processes end
        done.close()  # type: ignore[attr-defined]
        assert len(list(engine.run(cells.square, range(3)))) == 3


def test_an_engine_is_chosen_by_name_or_by_the_number_of_jobs() -> None:
    assert type(EngineChoice().open()).__name__ == "InProcessEngine"
    assert type(EngineChoice(jobs=3).open(cells=1)).__name__ == "InProcessEngine"
    with closing(EngineChoice(jobs=3).open()) as engine:
        assert type(engine).__name__ == "ProcessEngine" and engine.width == 3
    assert set(ENGINES.names()) >= {"here", "processes", "ray"}


def test_what_cannot_be_chosen() -> None:
    with pytest.raises(UsageError, match="unknown engine 'rey'; did you mean 'ray'"):
        EngineChoice("rey")
    with pytest.raises(UsageError, match="jobs must be from 0 to 256"):
        EngineChoice(jobs=257)
    with pytest.raises(UsageError, match="an address needs a cluster engine"):
        EngineChoice(address="auto")


@pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray")
@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "127.0.0.1:port"])
def test_where_there_is_no_cluster_nobody_waits(address: str) -> None:
    with pytest.raises(UsageError, match=f"cannot use a Ray cluster at {address}: "):
        EngineChoice("ray", address=address).open()


def test_without_ray_one_line_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"\.\[ray\]"):
        EngineChoice("ray").open()


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray")
@pytest.mark.filterwarnings("ignore")
def test_a_machine_that_is_killed_loses_nothing_and_nothing_comes_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import ray
    from ray.cluster_utils import Cluster

    machines = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    other = machines.add_node(num_cpus=1)
    try:
        with closing(EngineChoice("ray", address=machines.address).open()) as engine:
            numbers = []
            for done in engine.run(cells.lasting, [(n, str(tmp_path)) for n in range(24)]):
                numbers.append(done.number)
                assert done.value == done.number
                if len(numbers) == 6:
                    machines.remove_node(other, allow_graceful=False)
            # Ray shows the log of the dead node, some seconds later.
            said, printed, end = "", "", time.monotonic() + 30
            while "(raylet)" not in said + printed and time.monotonic() < end:
                time.sleep(0.2)
                read = capsys.readouterr()
                said, printed = said + read.err, printed + read.out
            assert "(raylet)" in said and not printed
    finally:
        ray.shutdown()
        machines.shutdown()
    assert sorted(numbers) == list(range(24))
    finished = [len(list(tmp_path.glob(f"finished-{n}-*"))) for n in range(24)]
    # Cells in progress on the dead machine may have finished unnoticed.
    assert min(finished) == 1 and sum(finished) <= 24 + 4
