"""Graphs in a folder: written data survives any end of the writer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, Store

from hvr.errors import StoreError
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.journal import NAME, Journal, read_journal
from hvr.knowledge.scene_graph import SceneGraph
from hvr.knowledge.terms import k, obj
from hvr.knowledge.triples import ActionEvent
from hvr.pddl.formulas import Atom
from tests import warm
from tests.knowledge.knowledge_kitchen import PIECES

ROOT = Path(__file__).parents[2]
WASHED = Atom("washed", ("mug-1",))

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits and forks")


def test_reopen(tmp_path: Path, scene: SceneGraph) -> None:
    folder = tmp_path / "run" / "graph"
    with KnowledgeGraph.create(folder) as graph:
        graph.add_scene(scene, PIECES)
        graph.set_marks([("mug-1", "washed")])
        graph.record(ActionEvent(1, "pick_up", ("mug-1",)))
        facts, quads = graph.facts(), set(graph.store)
    with pytest.raises(StoreError, match="closed"):
        graph.facts()
    with KnowledgeGraph.open(folder) as again:
        assert again.facts() == facts and set(again.store) == quads
        assert again.record(ActionEvent(2, "drop_obj", ("mug-1",))) == "e:2"
    with KnowledgeGraph.open(folder, read_only=True) as looking:
        assert looking.facts() == facts
        with pytest.raises(StoreError, match="read-only"):
            looking.set_marks([("mug-1", "chilled")])
        assert looking.facts() == facts


def test_a_folder_in_use_can_be_read_only(tmp_path: Path, scene: SceneGraph) -> None:
    folder = tmp_path / "graph"
    with KnowledgeGraph.create(folder) as graph:
        graph.add_scene(scene)
        with pytest.raises(StoreError, match="in use"):
            KnowledgeGraph.open(folder)
        with KnowledgeGraph.open(folder, read_only=True) as looking:
            assert looking.objects("Mug") == ("mug-1",)
    KnowledgeGraph.open(folder).close()


def test_folders_that_are_no_graph(tmp_path: Path) -> None:
    for read_only in (False, True):
        with pytest.raises(StoreError, match="no graph"):
            KnowledgeGraph.open(tmp_path / "nowhere", read_only=read_only)
    (tmp_path / "x").write_text("x", encoding="utf-8")
    with pytest.raises(StoreError, match="empty folder"):
        KnowledgeGraph.create(tmp_path)
    with pytest.raises(StoreError, match="cannot create"):
        KnowledgeGraph.create(tmp_path / "x")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "CURRENT").write_text("MANIFEST-000005\n", encoding="utf-8")
    with pytest.raises(StoreError, match="earlier version of hvr"):
        KnowledgeGraph.open(tmp_path / "old")


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (lambda _: b"garbage", "line 1 "),
        (lambda data: data.replace(b"TX .\n", b"TX .\nQ x .\n", 1), "line 3 "),
        (lambda data: data.replace(b"A <", b"A <<<", 1), "corrupt"),
        (lambda data: data[:12] + b"TX .\nA <a:a> <a:b> <a:c> .\nTC .\n", "no ontology"),
        (lambda data: data[: len(data) // 2], "the graph is empty"),
        (lambda _: b"", "the graph is empty"),
    ],
)
def test_what_is_damaged_is_said(tmp_path: Path, damage: object, fault: str) -> None:
    KnowledgeGraph.create(tmp_path).close()
    path = tmp_path / NAME
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    for read_only in (False, True):
        with pytest.raises(StoreError, match=fault):
            KnowledgeGraph.open(tmp_path, read_only=read_only)


# --- the law of the journal ---

_terms = st.sampled_from("abcdef").map(lambda name: NamedNode(f"x:{name}"))
_texts = st.text(max_size=8).map(Literal)
_quads = st.sets(
    st.builds(Quad, _terms, _terms, st.one_of(_terms, _texts), st.one_of(_terms)), max_size=4
)
_steps = st.lists(st.tuples(_quads, _quads).filter(any), min_size=1, max_size=6)


def state(quads: bytes) -> set[Quad]:
    from pyoxigraph import RdfFormat

    store = Store()
    store.load(quads, format=RdfFormat.N_QUADS)
    return set(store)


@pytest.mark.slow
@given(steps=_steps, data=st.data())
def test_a_reader_sees_whole_transactions_wherever_the_file_ends(
    steps: list[tuple[set[Quad], set[Quad]]],
    data: st.DataObject,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("journal")
    path = folder / NAME
    journal = Journal.create(folder)
    states, ends, now = [], [], set[Quad]()
    for added, removed in steps:
        journal.append(added, removed)
        now = (now - removed) | added
        states.append(now)
        ends.append(path.stat().st_size)
    journal.close()
    assert state(read_journal(folder)) == states[-1]
    cut = data.draw(st.integers(0, ends[-1]))
    path.write_bytes(path.read_bytes()[:cut])
    whole = [s for s, end in zip(states, ends, strict=True) if end <= cut]
    if not whole:
        with pytest.raises(StoreError, match="the graph is empty"):
            read_journal(folder)
        return
    assert state(read_journal(folder)) == whole[-1]
    journal, quads = Journal.resume(folder)
    assert state(quads) == whole[-1]
    more = Quad(NamedNode("x:more"), NamedNode("x:p"), Literal("\r\n\u2028\x85 ' \" \\"))
    journal.append({more})
    journal.close()
    assert state(read_journal(folder)) == whole[-1] | {more}


# --- writers that end in the middle ---

_WRITER = """
import os, sys
from pathlib import Path
from tests.knowledge.knowledge_kitchen import THINGS, scene_of
from hvr.knowledge.graph import KnowledgeGraph
graph = KnowledgeGraph.create(Path(sys.argv[1]))
graph.add_scene(scene_of(*THINGS))
for n in range(10**9):
    # Each is one transaction; one of the two marks is there after each.
    graph.set_marks({("mug-1", "washed")}, {("mug-1", "chilled")})
    graph.set_marks({("mug-1", "chilled")}, {("mug-1", "washed")})
    if n == 0:
        print("begun", flush=True)
"""


def writer(folder: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    return warm.Popen(
        [sys.executable, "-c", _WRITER, str(folder)],
        env=environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.slow
def test_a_run_can_be_read_while_it_writes_and_after_it_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "graph"
    with writer(folder) as process:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        try:
            for _ in range(8):
                assert marks(folder) in ({"washed"}, {"chilled"})
        finally:
            process.kill()
    assert marks(folder) in ({"washed"}, {"chilled"})
    with KnowledgeGraph.open(folder) as graph:
        graph.set_marks({("mug-1", "washed")}, {("mug-1", "chilled")})
    assert marks(folder) == {"washed"}


def marks(folder: Path) -> set[str]:
    with KnowledgeGraph.open(folder, read_only=True) as graph:
        return {a.predicate for a in graph.facts() if a.predicate in ("washed", "chilled")}


@contextmanager
def disk_with_room_for(size: int) -> Iterator[None]:
    """Limit the file size of this process."""
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@posix
@pytest.mark.parametrize("room", [0, 1, 40, 300])
def test_what_cannot_be_written_is_not_known_either(
    tmp_path: Path, scene: SceneGraph, room: int
) -> None:
    with KnowledgeGraph.create(tmp_path) as graph:
        graph.add_scene(scene)
        before = graph.facts()
        with disk_with_room_for((tmp_path / NAME).stat().st_size + room):
            with pytest.raises(StoreError, match="cannot be written: File too large"):
                for name in graph.objects():
                    before = graph.facts()
                    graph.set_marks([(name, "chilled")])
            assert graph.facts() == before
        with KnowledgeGraph.open(tmp_path, read_only=True) as looking:
            assert looking.facts() == before
        graph.set_marks([("mug-1", "washed")])
        assert graph.facts() == before | {WASHED}
    with KnowledgeGraph.open(tmp_path) as again:
        assert again.facts() == before | {WASHED}


@posix
def test_a_graph_that_cannot_be_begun_lets_go_of_the_folder(tmp_path: Path) -> None:
    for room in (0, 5, 1000):
        with disk_with_room_for(room), pytest.raises(StoreError, match="cannot be written"):
            KnowledgeGraph.create(tmp_path / str(room))
        with pytest.raises(StoreError, match="the graph is empty"):
            KnowledgeGraph.open(tmp_path / str(room))


@posix
def test_a_fork_leaves_the_file_to_its_parent(tmp_path: Path, scene: SceneGraph) -> None:
    with KnowledgeGraph.create(tmp_path) as graph:
        graph.add_scene(scene)
        child = os.fork()
        if child == 0:
            try:
                graph.set_marks([("mug-1", "chilled")])
            except StoreError as error:
                graph.close()
                os._exit(0 if "parent process" in str(error) else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        with pytest.raises(StoreError, match="in use"):  # the child holds the lock
            KnowledgeGraph.open(tmp_path)
        graph.set_marks([("mug-1", "washed")])
    with KnowledgeGraph.open(tmp_path) as again:
        assert WASHED in again.facts()
        assert (obj("mug-1"), k("chilled")) not in {(q.subject, q.predicate) for q in again.store}
