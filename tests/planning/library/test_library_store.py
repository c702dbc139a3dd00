"""Libraries as sets and as files: merging is a union, files are complete or unchanged."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import RDF, Graph, URIRef

from hvr.base.declared import decode
from hvr.errors import DataFileError, UsageError
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.terms import KITCHEN, RDF_TYPE
from hvr.planning.library import (
    Entry,
    Library,
    Use,
    default_path,
    read_library,
    update_library,
    write_library,
)
from hvr.planning.library.entry import EntryRecord, make
from hvr.planning.library.library import from_turtle, to_turtle
from tests import warm
from tests.planning.library.library_strategies import entries, libraries
from tests.planning.library.library_worlds import learnt

FORMS = ["library.ttl", "library.json"]

# --- laws ---


@pytest.mark.slow
@settings(max_examples=25)
@given(libraries, libraries, libraries)
def test_merging_is_commutative_associative_and_idempotent(
    a: Library, b: Library, c: Library
) -> None:
    assert a.merge(b) == b.merge(a)
    assert a.merge(b).merge(c) == a.merge(b.merge(c))
    assert a.merge(a) == a
    assert a.merge(Library()) == a


@pytest.mark.slow
@settings(max_examples=25)
@given(libraries, libraries)
def test_merging_loses_nothing(a: Library, b: Library) -> None:
    both = a.merge(b)
    for entry in (*a, *b):
        found = both.find(entry.id)
        assert set(entry.names) <= set(found.names)
        assert set(entry.origins) <= set(found.origins)
        assert found.used >= entry.used
        assert found.steps == entry.steps


@pytest.mark.slow
@settings(max_examples=25)
@given(libraries)
def test_turtle_is_read_as_it_was_written(library: Library) -> None:
    data = to_turtle(library)
    assert from_turtle(data, "x") == library
    assert to_turtle(from_turtle(data, "x")) == data


@pytest.mark.slow
@settings(max_examples=25)
@given(entries())
def test_json_is_read_as_it_was_written(entry: Entry) -> None:
    assert decode(EntryRecord, json.loads(json.dumps(entry.to_json()))).entry() == entry


@pytest.mark.slow
@settings(max_examples=30)
@given(libraries, libraries, st.sampled_from(FORMS))
def test_a_file_is_updated_by_merging(a: Library, b: Library, form: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "new" / form
        assert update_library(path, a) == a
        assert update_library(path, b) == a.merge(b)
        assert read_library(path) == a.merge(b)


def test_uses_of_one_run_are_counted_once() -> None:
    entry = replace(learnt("T1").entries[0], uses=())
    monday = make(entry).with_use("monday").with_use("monday", validated=False)
    other = make(entry).with_use("tuesday")
    merged = monday.merge(other).merge(monday)
    assert (merged.used, merged.validated) == (3, 2)
    assert merged.uses == (Use("monday", 2, 1), Use("tuesday", 1, 1))


def test_different_macro_actions_are_not_merged_into_one() -> None:
    one, other = learnt("T1").entries[:2]
    with pytest.raises(ValueError, match="different macro actions"):
        one.merge(other)


# --- as part of the ontology ---


def test_the_file_is_rdf_in_the_vocabulary_of_the_ontology() -> None:
    graph = Graph().parse(data=to_turtle(learnt("T2")), format="turtle")
    kind = URIRef(KITCHEN + "MacroAction")
    assert len(list(graph.subjects(RDF.type, kind))) == len(learnt("T2"))
    ontology = load_ontology()
    declared = {getattr(s, "value", "") for s, p, _ in ontology.axioms if p == RDF_TYPE}
    used = {str(p) for p in graph.predicates() if str(p).startswith(KITCHEN)}
    assert used <= declared
    assert {str(o) for o in graph.objects(None, RDF.type)} <= declared


# --- files ---


@pytest.mark.parametrize("form", FORMS)
def test_what_the_tasks_teach_survives_a_file(form: str, tmp_path: Path) -> None:
    path = tmp_path / form
    write_library(learnt(), path)
    assert read_library(path) == learnt()
    before = path.read_bytes()
    write_library(read_library(path), path)
    assert path.read_bytes() == before


def test_one_agent_can_be_written_alone(tmp_path: Path) -> None:
    mixed = learnt("T1").add(make(replace(e, agent="pusher")) for e in learnt("T2"))
    write_library(mixed.of_agent("pusher"), tmp_path / "p.ttl")
    assert {e.agent for e in read_library(tmp_path / "p.ttl")} == {"pusher"}


WRITER = """
import sys
from pathlib import Path
from hvr.planning.library import Library, read_library, update_library
entries = read_library(Path(sys.argv[2])).entries
number, count = int(sys.argv[3]), int(sys.argv[4])
for entry in entries[number::count]:
    update_library(Path(sys.argv[1]), Library([entry.with_use(f"run-{number}")]))
"""


@pytest.mark.slow
def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    source, target = tmp_path / "source.ttl", tmp_path / "target.ttl"
    write_library(Library(learnt().entries[:12]), source)
    running = [
        warm.Popen([sys.executable, "-c", WRITER, target, source, str(n), "2"]) for n in range(2)
    ]
    assert [process.wait(60) for process in running] == [0, 0]
    found = read_library(target)
    assert len(found) == 12
    assert found.merge(read_library(source)) == found
    assert all(entry.used == 1 for entry in found)


@pytest.mark.slow
def test_threads_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "library.ttl"
    parts = [Library([entry]) for entry in learnt().entries[:16]]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda part: update_library(path, part), parts))
    assert read_library(path) == Library().merge(*parts)


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "library.ttl"
    write_library(learnt("T1"), path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(DataFileError, match="cannot be written: No space left"):
        update_library(path, learnt("T2"))
    assert read_library(path) == learnt("T1")
    assert {p.name for p in tmp_path.iterdir()} == {"library.ttl", ".library.ttl.lock"}


@pytest.mark.parametrize(
    ("form", "change", "message"),
    [
        ("library.ttl", lambda t: t[: len(t) // 2], r"library\.ttl:\d+: not valid Turtle"),
        ("library.ttl", lambda t: t.replace("pick_up", "pick_it"), "was it changed by hand"),
        ("library.ttl", lambda t: t.replace("k:block", "k:blok"), "expected one k:block, found 0"),
        ("library.ttl", lambda _: "<a:b> <a:c> <a:d> .", "found no macro action"),
        ("library.json", lambda t: t[:-20], r"library\.json:\d+:\d+: not valid JSON"),
        ("library.json", lambda _: "[]", "must be an object, got an array"),
        ("library.json", lambda t: t.replace("hvr-library-1", "hvr-library-9"), "the format"),
        ("library.json", lambda t: t.replace('"steps"', '"stepz"'), "unknown key 'stepz'"),
        ("library.json", lambda t: t.replace('"agent": "', '"agent": "x'), "changed by hand"),
        ("library.json", lambda _: '{"format": "hvr-library-1", "entries": [3]}', "be an object"),
        ("library.json", lambda _: "\ufffe\x00", "a NUL character"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_an_error_that_says_where(
    form: str, change: object, message: str, tmp_path: Path
) -> None:
    assert callable(change)
    path = tmp_path / form
    write_library(learnt("T1"), path)
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    before = path.read_bytes()
    with pytest.raises(DataFileError, match=message) as caught:
        read_library(path)
    assert form in str(caught.value)
    with pytest.raises(DataFileError):
        update_library(path, learnt("T2"))
    assert path.read_bytes() == before


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"@prefix", b"\x00" * 20])
@pytest.mark.parametrize("form", FORMS)
def test_binary_files_are_errors(form: str, data: bytes, tmp_path: Path) -> None:
    (tmp_path / form).write_bytes(data)
    with pytest.raises(DataFileError):
        read_library(tmp_path / form)


def test_a_missing_file_is_an_error_unless_it_may_be_missing(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="no such file"):
        read_library(tmp_path / "no.ttl")
    assert read_library(tmp_path / "no.ttl", missing_ok=True) == Library()
    with pytest.raises(DataFileError):
        read_library(tmp_path)


def test_an_empty_library_can_be_kept(tmp_path: Path) -> None:
    for form in FORMS:
        write_library(Library(), tmp_path / form)
        assert read_library(tmp_path / form) == Library()


def test_the_environment_says_where_the_library_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HVR_LIBRARY", str(tmp_path / "mine.ttl"))
    assert default_path() == tmp_path / "mine.ttl"
    monkeypatch.delenv("HVR_LIBRARY")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert default_path() == tmp_path / "hvr" / "library.ttl"


# --- finding by id ---


def test_an_entry_is_found_by_how_its_id_begins() -> None:
    library = learnt()
    for entry in library:
        assert library.find(entry.id) is entry
    first = library.entries[0]
    assert library.find(first.id[:8].upper()) is first


@pytest.mark.parametrize("start", ["", "zzz", "  "])
def test_what_begins_no_id_is_an_error(start: str) -> None:
    with pytest.raises(UsageError, match="hvr library list"):
        learnt().find(start)


def test_what_begins_several_ids_is_an_error() -> None:
    starts = [e.id[0] for e in learnt()]
    twice = next(s for s in starts if starts.count(s) > 1)
    with pytest.raises(UsageError, match="is ambiguous"):
        learnt().find(twice)


@pytest.mark.parametrize(
    "changes",
    [
        {"names": ()}, {"names": (" ",)}, {"steps": ()}, {"agent": ""},
        {"precondition": ("on ?a",)}, {"postcondition": ("(on ?nobody ?mug1)",)},
        {"names": ("put ?nobody",)}, {"uses": (Use("r", 1, 2),)}, {"parameters": ()},
    ],
)  # fmt: skip
def test_malformed_entries_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(DataFileError, match="macro action"):
        make(replace(learnt("T1").entries[0], **changes))  # type: ignore[arg-type]


_LASTING_WRITER = """
import itertools, sys
from pathlib import Path
from hvr.planning.library import Library, read_library, update_library
entry = read_library(Path(sys.argv[2])).entries[0]
for number in itertools.count():
    update_library(Path(sys.argv[1]), Library([entry.with_use(f"killed-{number}")]))
    print(number, flush=True)
"""


@pytest.mark.slow
def test_a_killed_writer_leaves_a_whole_library_and_no_lock(tmp_path: Path) -> None:
    source, target = tmp_path / "source.ttl", tmp_path / "target.ttl"
    write_library(Library(learnt().entries[:4]), source)
    lasting = warm.Popen(
        [sys.executable, "-c", _LASTING_WRITER, target, source], stdout=subprocess.PIPE, text=True
    )
    other = warm.Popen([sys.executable, "-c", WRITER, target, source, "0", "1"])
    assert lasting.stdout is not None
    told = [lasting.stdout.readline() for _ in range(5)]
    lasting.kill()
    told += lasting.communicate()[0].splitlines()
    assert other.wait(60) == 0
    found = read_library(target)
    assert len(found) == 4
    used = max(entry.used for entry in found)
    # All reported entries are stored, with one more use if it was killed before its report.
    assert len(told) + 1 <= used <= len(told) + 2
    assert update_library(target, Library(learnt().entries[:5])) == read_library(target)
