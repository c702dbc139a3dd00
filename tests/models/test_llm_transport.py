"""The real SDKs against servers with endless, oversized or redirected replies."""

from __future__ import annotations

import gzip
import itertools
import json
import socket
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hvr.errors import LLMError, UsageError
from hvr.knowledge.retrieval.embedders import make_embedder
from hvr.models.config import ModelOptions
from hvr.models.connect import make_model, stack
from hvr.models.errors import ModelError
from tests.extras import needs
from tests.models.llm_fakes import ask
from tests.models.servers import GeminiServer, OpenAIServer, RawServer, Reply
from tests.survivors import wait_for

needs("openai", "google.genai")

KEY = "sk-proj-abcdefghijklmnop1234567890"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
ZEROS = b"0" * 20_000_000
Act = Callable[[socket.socket], object]
SPECS = ("openai:m", "gemini:m")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def options(url: str, **more: Any) -> ModelOptions:
    return ModelOptions(base_url=url, api_key=KEY, **{"timeout": 30.0, **more})


def failure(spec: str, opts: ModelOptions) -> ModelError:
    with pytest.raises(ModelError) as caught:
        make_model(spec, opts).answer(ask())
    assert KEY not in str(caught.value)
    return caught.value


def drip(pieces: Iterator[bytes], head: bytes = b"") -> Act:
    """Send data slowly, without an end."""

    def act(connection: socket.socket) -> None:
        connection.sendall(head)
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(0.05)

    return act


def flood(head: bytes, piece: bytes) -> Act:
    """Send the same piece as fast as possible, without an end."""

    def act(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(piece)

    return act


def whole(data: bytes, *headers: str, status: str = "200 OK") -> Act:
    """Send a complete reply."""
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(data)}", "", ""]
    return lambda connection: connection.sendall("\r\n".join(lines).encode() + data)


def packed(data: bytes, coding: str) -> Act:
    return whole(data, f"Content-Encoding: {coding}")


def no_threads() -> bool:
    return not any(t.name == "hvr-request" for t in threading.enumerate())


SLOW = {
    "the status line": (b"HTTP/1.1 200 OK", b" "),
    "a header": (HEAD + b"X-Slow: ", b"a"),
    "headers": (HEAD, b"X-Slow: a\r\n"),
    "replies that announce another": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "the body": (HEAD + b"Content-Length: 100000\r\n\r\n", b"{"),
    "chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n{\r\n"),
    "a body of no stated length": (HEAD + b"\r\n", b" "),
    "nothing": (b"", b""),
}


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("part", SLOW)
def test_a_server_that_trickles_is_left_when_the_time_is_up(spec: str, part: str) -> None:
    head, piece = SLOW[part]
    with RawServer(drip(itertools.repeat(piece), head)) as server:
        error = failure(spec, options(server.url, timeout=0.6))
        assert error.kind == "timeout" and "no answer within 0.6 s" in str(error)
        # Reading stops once the caller has given up.
        wait_for(no_threads)


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_replies_that_announce_another_without_end_are_left(spec: str) -> None:
    with RawServer(flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100)) as server:
        assert failure(spec, options(server.url, timeout=0.6)).kind == "timeout"
        wait_for(no_threads)


def empty_blocks() -> Act:
    """Send an endless gzip body that unpacks to nothing."""
    pack = zlib.compressobj(wbits=31)
    head = pack.compress(b"") + pack.flush(zlib.Z_SYNC_FLUSH)
    return flood(HEAD + b"Content-Encoding: gzip\r\n\r\n" + head, b"\0\0\0\xff\xff" * 1000)


LARGE: dict[str, Callable[[], Act]] = {
    "a body without an end": lambda: flood(HEAD + b"\r\n", b"a" * 10_000),
    "chunks without an end": lambda: flood(
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1000\r\n" + b"a" * 0x1000 + b"\r\n"
    ),
    "an error without an end": lambda: flood(b"HTTP/1.1 500 Oops\r\n\r\n", b"a" * 10_000),
    "a gzip bomb": lambda: packed(gzip.compress(ZEROS), "gzip"),
    "a deflate bomb": lambda: packed(zlib.compress(ZEROS), "deflate"),
    "a gzip bomb in gzip in gzip": lambda: packed(
        gzip.compress(gzip.compress(gzip.compress(ZEROS))), "gzip, gzip, gzip"
    ),
    "gzip that unpacks to nothing": empty_blocks,
}


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("what", LARGE)
def test_a_reply_that_does_not_fit_is_given_up(spec: str, what: str) -> None:
    model_options = options("http://127.0.0.1:9", reply_bytes=1_000_000)
    with RawServer(LARGE[what]()) as server:
        model = make_model(spec, options(server.url, reply_bytes=1_000_000))
        with pytest.raises(ModelError):
            model.answer(ask())  # exclude the SDK's imports for its first reply
        tracemalloc.start()
        try:
            with pytest.raises(ModelError) as caught:
                model.answer(ask())
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert caught.value.kind == "garbled" and "larger than 1 MB" in str(caught.value)
    assert most < 8 * model_options.reply_bytes


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_headers_without_an_end_are_given_up(spec: str) -> None:
    with RawServer(flood(HEAD, b"X-More: " + b"a" * 1000 + b"\r\n")) as server:
        assert failure(spec, options(server.url)).kind == "garbled"


@pytest.mark.slow
@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_packed_reply_is_read_although_none_was_asked_for(coding: str) -> None:
    pack = {"gzip": gzip.compress, "deflate": zlib.compress}[coding]
    answer = {"choices": [{"message": {"role": "assistant", "content": "ready"}}], "model": "m"}
    with RawServer(packed(pack(json.dumps(answer).encode()), coding)) as server:
        assert make_model("openai:m", options(server.url)).answer(ask()).text == "ready"


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize(
    "data", [b"not packed", gzip.compress(b"0" * 5000, mtime=0)[:-30]], ids=["none", "cut off"]
)
def test_a_reply_that_is_packed_wrongly_is_an_error(spec: str, data: bytes) -> None:
    with RawServer(packed(data, "gzip")) as server:
        assert failure(spec, options(server.url)).kind == "garbled"


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_key_does_not_follow_a_redirect(spec: str, status: int) -> None:
    with OpenAIServer() as other:
        sent_on = whole(b"", f"Location: {other.url}/chat/completions", status=f"{status} On")
        with RawServer(sent_on) as server:
            error = failure(spec, options(server.url))
        assert server.asked == 1 and not other.received
    assert error.kind == "request" and other.url in str(error)


@pytest.mark.parametrize("spec", SPECS)
def test_a_redirect_to_itself_is_asked_once(spec: str) -> None:
    with RawServer(whole(b"", "Location: /again", status="307 Again")) as server:
        layers = stack(make_model(spec, options(server.url)), options(server.url))
        with pytest.raises(ModelError, match="/again"):
            layers.answer(ask())
        assert server.asked == 1


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_the_seconds_for_all_attempts_end_a_request_that_is_under_way(spec: str) -> None:
    with RawServer(drip(itertools.repeat(b" "), HEAD + b"\r\n")) as server:
        reach = options(server.url, timeout=600.0, seconds=1.0, attempts=3)
        with pytest.raises(ModelError, match=r"no answer within (1|0\.\d) s") as caught:
            stack(make_model(spec, reach), reach).answer(ask())
    assert caught.value.kind == "timeout"


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_embedders_have_the_same_limits(spec: str) -> None:
    with RawServer(drip(itertools.repeat(b" "), HEAD + b"\r\n")) as server:
        slow = make_embedder(spec, options(server.url, timeout=0.6, attempts=2))
        with pytest.raises(LLMError, match=r"no answer within 0\.6 s .*tried 2 times"):
            slow.similarities("mug", ["cup"])
        assert server.asked == 2
    with RawServer(flood(HEAD + b"\r\n", b"a" * 100_000)) as server:
        large = make_embedder(spec, options(server.url, attempts=1))
        with pytest.raises(LLMError, match="larger than 16 MB"):
            large.similarities("mug", ["cup"])


@pytest.mark.parametrize(
    ("spec", "server_of"), [("openai:m", OpenAIServer), ("gemini:m", GeminiServer)]
)
def test_a_proxy_of_the_environment_is_used(
    spec: str, server_of: type[OpenAIServer] | type[GeminiServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    with server_of([Reply("through")]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
        monkeypatch.setenv("no_proxy", "")
        answer = make_model(spec, options("http://models.invalid/v1")).answer(ask())
    assert answer.text == "through"
    assert proxy.received[0].path.startswith("http://models.invalid/v1")


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize(
    "url", ["http://[::1", "http://127.0.0.1:abc/v1", "http://x/\0", f"http://x/{'a' * 70_000}"]
)
def test_an_address_that_is_none_is_refused_before_anything_is_asked(spec: str, url: str) -> None:
    with pytest.raises(UsageError, match="base_url is not a valid URL") as caught:
        make_model(spec, options(url))
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HTTPS_PROXY", "nonsense://user:word@x"),
        ("HTTP_PROXY", "::::"),
        ("SSL_CERT_FILE", "/no/such/file"),
        ("SSL_CERT_FILE", __file__),
    ],
)
def test_surroundings_that_cannot_be_used_are_named(
    spec: str, name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=f"cannot set up the HTTP client.*{name}") as caught:
        make_model(spec, options("http://127.0.0.1:9/v1"))
    assert "word" not in str(caught.value)


@pytest.mark.slow
def test_threads_may_share_a_model() -> None:
    with OpenAIServer(lambda asked: Reply(asked.text)) as server:
        model = make_model("openai:m", options(server.url))
        said: dict[int, str] = {}

        def talk(number: int) -> None:
            said[number] = model.answer(ask(f"number {number}")).text

        threads = [threading.Thread(target=talk, args=(n,)) for n in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert said == {n: f"number {n}" for n in range(20)}


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "ALL_PROXY", "http_proxy"])
def test_a_server_of_this_machine_is_asked_past_a_proxy(
    spec: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = OpenAIServer if spec.startswith("openai") else GeminiServer
    with kind([Reply("hello")]) as server, kind([Reply("from the proxy")]) as proxy:
        monkeypatch.setenv(variable, proxy.url)
        assert make_model(spec, options(server.url)).answer(ask()).text == "hello"
        assert not proxy.received


@pytest.mark.parametrize("spec", SPECS)
def test_a_dead_proxy_is_named(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        dead = f"http://user:secret@127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv("HTTP_PROXY", dead)
    failed = failure(spec, options("http://model.invalid/v1"))
    assert f"the proxy http://{dead.partition('@')[2]} of HTTP_PROXY" in str(failed)
    assert "secret" not in str(failed)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (407, b"<html>Squid</html>", "requires a login: put the user and password into HTTP_PROXY"),
        (407, b"", "requires a login"),
        (502, b"<html>Bad Gateway</html>", "cannot reach the server"),
        (503, b"", "cannot reach the server"),
        (504, b"timeout", "cannot reach the server"),
    ],
)
def test_an_answer_of_the_proxy_is_told_as_such(
    spec: str, status: int, body: bytes, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RawServer(whole(body, status=f"{status} No")) as server:
        url = server.url.partition("/v1")[0]
        monkeypatch.setenv("HTTP_PROXY", url.replace("http://", "http://user:secret@"))
        failed = failure(spec, options("http://model.invalid/v1"))
    assert f"the proxy {url} of HTTP_PROXY {said}" in str(failed)
    assert failed.status == status and "secret" not in str(failed)


@pytest.mark.parametrize("spec", SPECS)
def test_a_server_that_fails_behind_a_proxy_is_told_as_such(
    spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = b'{"error": {"message": "too busy", "code": "overloaded"}}'
    with RawServer(whole(body, status="503 No")) as server:
        monkeypatch.setenv("HTTP_PROXY", server.url)
        failed = failure(spec, options("http://model.invalid/v1"))
    assert "too busy" in str(failed) and "proxy" not in str(failed)


def test_a_key_in_clear_text_through_a_proxy_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    make_model("openai:m", options("http://127.0.0.1:2/v1"))
    assert not caplog.records
    make_model("openai:m", options("http://model.invalid/v1"))
    assert "in clear text" in caplog.text and KEY not in caplog.text


PAGE = b"<!DOCTYPE html><html><head><title>Open WebUI</title></head></html>"
STREAM = b'data: {"choices": [{"delta": {"content": "x"}}]}\n\ndata: [DONE]\n\n'


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize(
    ("act", "kind", "said"),
    [
        (whole(PAGE), "garbled", "a web page titled 'Open WebUI'"),
        (whole(STREAM), "garbled", "an event stream"),
        (whole(b": ping\n\n"), "garbled", "an event stream"),
        (whole(b""), "garbled", "it is empty"),
        (whole(b"Ollama is running"), "garbled", "begins with 'Ollama is running'"),
        (whole(b'{"choices": [{'), "garbled", "not complete JSON"),
        (whole(b"{}", f"X-Big: {'a' * 200_000}"), "garbled", "headers are too long"),
        (whole(b"{}", *(f"X-{n}: {'a' * 900}" for n in range(220))), "garbled", "too long"),
        (whole(b"{}", "no colon"), "garbled", "violates HTTP"),
        (lambda _: None, "connection", "closed the connection"),
        (
            lambda c: c.sendall(HEAD + b"Content-Length: 100\r\n\r\n{"),
            "connection",
            "closed the connection",
        ),
    ],
)
def test_what_came_in_place_of_json_is_named(spec: str, act: Act, kind: str, said: str) -> None:
    with RawServer(act) as server:
        failed = failure(spec, options(server.url))
    assert failed.kind == kind and said in str(failed)
    assert "Expecting value" not in str(failed) and "is the server running" not in str(failed)


def openai_reply(message: dict[str, Any], finish: str = "stop") -> bytes:
    usage = {"prompt_tokens": 5, "completion_tokens": 90,
             "completion_tokens_details": {"reasoning_tokens": 90}}  # fmt: skip
    body: dict[str, Any] = {"choices": [{"message": message, "finish_reason": finish}]}
    return json.dumps(body | ({} if "tool_calls" in message else {"usage": usage})).encode()


CALL = {"tool_calls": [{"function": {"name": "stack", "arguments": "{}"}}]}


@pytest.mark.parametrize(
    ("spec", "body", "said"),
    [
        ("openai:m", openai_reply({"content": None, **CALL}), "tool calls (stack)"),
        ("openai:m", openai_reply({"content": ""}, "length"), "reasoned (90 tokens)"),
        ("openai:m", openai_reply({"content": "", "reasoning_content": "Hm"}), "wrote no answer"),
        (
            "gemini:m",
            b'{"candidates": [{"content": {"parts": [{"functionCall": {"name": "stack"}}]}}]}',
            "tool calls (stack)",
        ),
        (
            "gemini:m",
            b'{"candidates": [{"content": {"parts": [{"text": "Hm", "thought": true}]}, '
            b'"finishReason": "MAX_TOKENS"}], "usageMetadata": {"thoughtsTokenCount": 90}}',
            "reasoned (90 tokens) and wrote no answer: raise max_tokens",
        ),
    ],
)
def test_an_answer_without_text_says_what_is_there_instead(
    spec: str, body: bytes, said: str
) -> None:
    with RawServer(whole(body)) as server:
        failed = failure(spec, options(server.url))
    assert failed.kind == "empty" and said in str(failed)
