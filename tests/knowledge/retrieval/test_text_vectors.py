"""Text vectors: norm, location on disk, two processes, bad files."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")

from hvr.errors import DataFileError, UsageError  # noqa: E402
from hvr.knowledge.retrieval import embedders  # noqa: E402
from hvr.knowledge.retrieval.embedders import TextVectors, default_folder, hashed_vectors  # noqa: E402


class _Counting:
    """Model stand-in that counts the encoded texts."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, texts: Sequence[str]) -> embedders.Vectors:
        self.seen += texts
        return hashed_vectors(texts)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> _Counting:
    made = _Counting()
    monkeypatch.setattr(embedders, "_sentence_encoder", lambda _name: made)
    return made


def test_hashed_vectors_have_length_one_and_tell_texts_apart() -> None:
    found = TextVectors("lexical-hash").encode(["book a train", "train booking", "send an email"])
    assert found.shape == (3, 256)
    assert found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    assert found[0] @ found[1] > found[0] @ found[2]


def test_hashed_vectors_do_not_depend_on_the_process() -> None:
    # Python's own hash differs between processes.
    assert hashed_vectors(["book a train"])[0].argmax() == 249


def test_nothing_and_wordless_texts() -> None:
    encoder = TextVectors("lexical-hash")
    assert encoder.encode([]).shape == (0, 0)
    assert not encoder.encode(["", "!?"]).any()


def test_each_text_is_encoded_once_and_kept(model: _Counting, tmp_path: Path) -> None:
    first = TextVectors("st:some-model", tmp_path).encode(["a b", "c d", "a b"])
    again = TextVectors("st:some-model", tmp_path).encode(["c d", "a b", "e f"])
    assert model.seen == ["a b", "c d", "e f"]
    assert np.array_equal(first[0], first[2])
    assert np.array_equal(first[[1, 0]], again[:2])


def test_encoders_do_not_share_vectors(model: _Counting, tmp_path: Path) -> None:
    for name in ("st:one", "st:two"):
        TextVectors(name, tmp_path).encode(["a b"])
    assert model.seen == ["a b", "a b"]
    assert len(list(tmp_path.glob("*.sqlite"))) == 2


def test_only_e5_reads_the_role(model: _Counting, tmp_path: Path) -> None:
    TextVectors("st:intfloat/e5-large", tmp_path).encode(["a"], "query")
    TextVectors("st:intfloat/e5-large", tmp_path).encode(["a"], "passage")
    TextVectors("st:intfloat/e5-large", tmp_path).encode(["a"])
    TextVectors("st:other", tmp_path).encode(["a"], "query")
    assert model.seen == ["query: a", "passage: a", "a", "a"]


@pytest.mark.slow
@pytest.mark.usefixtures("model")
def test_several_writers_at_once(tmp_path: Path) -> None:
    texts = [f"text {i}" for i in range(700)]

    def encode(shift: int) -> embedders.Vectors:
        rolled = texts[shift:] + texts[:shift]
        return np.roll(TextVectors("st:shared", tmp_path).encode(rolled), shift, axis=0)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(encode, (0, 100, 200, 300)))
    assert all(np.allclose(f, found[0]) for f in found)


@pytest.mark.usefixtures("model")
def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    encoder = TextVectors("st:some-model", tmp_path)
    encoder.encode(["a"])
    (file,) = tmp_path.glob("*.sqlite")
    file.write_bytes(b"no database" * 100)
    with pytest.raises(DataFileError, match=r"cannot be used as a file of text vectors"):
        TextVectors("st:some-model", tmp_path).encode(["a"])


def test_unknown_encoders(tmp_path: Path) -> None:
    for name in ("word2vec", "st:", ""):
        with pytest.raises(UsageError, match="unknown encoder"):
            TextVectors(name, tmp_path)


def test_the_folder_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HVR_CACHE", str(tmp_path))
    assert default_folder() == tmp_path
    monkeypatch.delenv("HVR_CACHE")
    assert default_folder().name == "hvr"
