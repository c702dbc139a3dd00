"""Recording and replay: byte for byte identical, and without keys."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.base.secrets import Scrubber
from hvr.errors import BudgetError, CassetteError, DataFileError, LLMError
from hvr.models import recording as transcript
from hvr.models.connect import make_model, stack
from hvr.models.errors import KINDS, ModelError
from hvr.models.model import Answer, Message, Request, Usage
from hvr.models.recording import RecordingModel, Replay
from tests.models.llm_fakes import Fake, Outcome, ask, said

KEY = "my-very-own-key-0123456789"
LOOKS_LIKE_A_KEY = "sk-proj-ABCDEFGHIJKLMNOPQRSTUVWX"

# Any text, including lone surrogates: models have produced stranger output.
texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=30)
counts = st.none() | st.integers(0, 10**6)
usages = st.builds(
    Usage,
    input=counts,
    output=counts,
    cached=counts,
    reasoning=counts,
    cost=st.none() | st.floats(0, 10),
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
answers = st.builds(
    Answer,
    text=texts,
    data=values,
    model=texts,
    usage=usages,
    finish=st.sampled_from(["stop", "length", "filter"]),
    source=st.sampled_from(["model", "cache"]),
)
errors = st.one_of(
    texts.map(LLMError),
    texts.map(BudgetError),
    st.builds(
        ModelError,
        texts,
        kind=st.sampled_from(KINDS),
        status=st.none() | st.integers(400, 599),
        retry_after=st.none() | st.floats(0, 100),
        usage=st.none() | usages,
    ),
)
# Few texts, so that prompts are repeated.
requests = st.builds(
    Request,
    messages=st.lists(
        st.builds(
            Message,
            st.sampled_from(["system", "user", "assistant"]),
            st.sampled_from(["a", "b", "{}"]) | texts,
        ),
        min_size=1,
        max_size=2,
    ).map(tuple),
    purpose=st.sampled_from(["", "block"]),
    schema=st.none() | st.dictionaries(texts, values, max_size=2),
    temperature=st.floats(0, 2),
    max_tokens=st.sampled_from([1, 1024]),
    seed=st.none() | st.integers(0, 5),
    stop=st.lists(texts, max_size=2).map(tuple),
)


def outcome(model: RecordingModel | Replay, request: Request) -> object:
    try:
        answer = model.answer(request)
    except LLMError as error:
        kind = (getattr(error, n, None) for n in ("kind", "status", "retry_after"))
        return type(error), str(error), *kind
    return answer.text, answer.data, answer.finish, answer.model, answer.usage


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(st.tuples(requests, answers | errors), max_size=6))
def test_replaying_is_the_identity_and_records_the_same_bytes(
    exchanges: list[tuple[Request, Outcome]],
) -> None:
    with TemporaryDirectory() as folder:
        one, two = Path(folder, "one.jsonl"), Path(folder, "two.jsonl")
        first = RecordingModel(Fake([o for _, o in exchanges]), one, {"commit": "abc"})
        before = [outcome(first, r) for r, _ in exchanges]
        again = RecordingModel(Replay(one), two, {"commit": "abc"})
        assert [outcome(again, r) for r, _ in exchanges] == before
        assert two.read_bytes() == one.read_bytes()
        assert again.name == "fake:one"


def test_a_line_has_what_was_asked_and_what_came(tmp_path: Path) -> None:
    file = tmp_path / "llm.jsonl"
    model = Fake([said("hi"), ModelError("no", kind="rate", status=429)])
    recording = RecordingModel(model, file, {"commit": "abc", "settings": {"H": True}})
    recording.answer(ask("hello", purpose="block", seed=3))
    with pytest.raises(ModelError):
        recording.answer(ask("again"))
    header, one, two = map(json.loads, file.read_text().splitlines())
    assert header["model"] == "fake:one" and header["commit"] == "abc"
    assert {"format", "version", "hvr", "date", "simulated", "settings"} <= set(header)
    assert (one["number"], one["purpose"]) == (1, "block")
    assert one["messages"] == [{"role": "user", "text": "hello"}]
    assert one["settings"]["seed"] == 3 and one["answer"]["text"] == "hi"
    assert one["usage"]["input"] == 10 and one["error"] is None
    assert two["answer"] is None and two["error"]["status"] == 429


def test_every_exchange_is_on_disk_before_the_next(tmp_path: Path) -> None:
    file = tmp_path / "llm.jsonl"
    sizes: list[int] = []

    def answer(_: Request) -> Answer:
        sizes.append(len(file.read_bytes().splitlines()))
        return said()

    model = Fake(answer)
    recording = RecordingModel(model, file)
    for n in range(4):
        recording.answer(ask(str(n)))
    assert sizes == [1, 2, 3, 4]


def test_repeated_prompts_are_answered_in_order_and_then_no_more(tmp_path: Path) -> None:
    file = tmp_path / "llm.jsonl"
    recording = RecordingModel(Fake([said("one"), said("two")]), file)
    recording.answer(ask("x"))
    recording.answer(ask("x"))
    replay = Replay(file)
    assert [replay.answer(ask("x")).text for _ in range(2)] == ["one", "two"]
    with pytest.raises(CassetteError, match="asked only 2 times"):
        replay.answer(ask("x"))


def test_a_miss_shows_the_nearest_prompt(tmp_path: Path) -> None:
    file = tmp_path / "llm.jsonl"
    recording = RecordingModel(Fake([said()]), file)
    prompt = "Objects:\nmug-1 is in the sink\nknife-1 is on the counter\nWrite a plan."
    for text in ("something else entirely", prompt, "short"):
        recording.answer(ask(text, purpose="block"))
    with pytest.raises(CassetteError) as caught:
        Replay(file).answer(ask(prompt.replace("sink", "fridge"), purpose="block"))
    message = str(caught.value)
    assert "number 2" in message
    assert "-user: mug-1 is in the sink" in message and "+user: mug-1 is in the fridge" in message
    assert "Write a plan" not in message
    with pytest.raises(CassetteError, match=r"other settings: temperature was 0\.0 and is 0\.7"):
        Replay(file).answer(ask(prompt, purpose="block", temperature=0.7))


def test_a_miss_in_an_empty_transcript(tmp_path: Path) -> None:
    RecordingModel(Fake([said()]), tmp_path / "llm.jsonl")
    with pytest.raises(CassetteError, match="the transcript is empty"):
        Replay(tmp_path).answer(ask())


def test_keys_are_written_nowhere(tmp_path: Path) -> None:
    file = tmp_path / "llm.jsonl"
    google = "AIza" + "x" * 35
    bad = f"{KEY} {LOOKS_LIKE_A_KEY} {google} Bearer abcdefghijklmnopqrstuv"
    outcomes: list[Outcome] = [
        said(bad, data={"k": [bad], bad: 1}),
        ModelError(f"refused: {bad}", kind="auth", status=401),
    ]
    scrubber = Scrubber((KEY,))
    recording = RecordingModel(Fake(outcomes), file, {"argv": [bad]}, scrubber=scrubber)
    request = ask(f"my key is {bad}", stop=(bad,))
    # The value in use is the one a replay will return.
    assert recording.answer(request).text == "[key] [key] [key] Bearer [key]"
    with pytest.raises(ModelError):
        recording.answer(request)
    written = file.read_text()
    for secret in (KEY, LOOKS_LIKE_A_KEY, google, "abcdefghijklmnopqrstuv"):
        assert secret not in written
    assert "my key is [key] [key] [key] Bearer [key]" in written
    # The prompt with the key still finds its answer.
    assert Replay(file, scrubber).answer(request).text == "[key] [key] [key] Bearer [key]"


@pytest.mark.slow
@given(texts, st.lists(st.sampled_from([KEY, LOOKS_LIKE_A_KEY, "Bearer ", "sk-"]), max_size=4))
def test_taking_keys_out_twice_is_taking_them_out_once(text: str, keys: list[str]) -> None:
    scrubber = Scrubber((KEY,))
    once = scrubber.text(text.join(["", *keys, ""]))
    assert scrubber.text(once) == once and KEY not in once


@pytest.mark.parametrize(
    "text", ["task-specific-goal-conditions", "desk-1", "the bearer of news", "risk-averse"]
)
def test_ordinary_words_are_no_keys(text: str) -> None:
    assert Scrubber(("EMPTY", "none")).text(f"{text} EMPTY none") == f"{text} EMPTY none"


@pytest.mark.slow
def test_what_a_crash_cut_off_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "llm.jsonl"
    recording = RecordingModel(Fake([said()]), file)
    for n in range(3):
        recording.answer(ask(str(n)))
    whole = file.read_bytes()
    for cut in range(1, len(whole.splitlines()[-1]) + 1):
        file.write_bytes(whole[:-cut])
        # The last line is complete even without its line break: it is an answer that was paid for.
        assert len(transcript.read(file)[1]) == (3 if cut == 1 else 2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "its first line must be a header"),
        (b"hello\n", ":1:1: not valid JSON"),
        (b"\xff\xfe\n", "found UTF-16"),
        (b"[]\n", ":1: expected a JSON object"),
        (b'{"a": 1}\n', "its first line must be a header"),
        (b'{"format": "hvr-transcript", "version": 9, "model": "m"}\n', "version 9"),
        (
            b'{"format": "hvr-transcript", "version": 1, "model": "m"}\n{}\n',
            ":2: this line is not an exch",
        ),
        (b'{"format": "hvr-transcript", "version": 1, "model": "m"}\nx\n', ":2:1: not valid JSON"),
        (
            b'{"format": "hvr-transcript", "version": 1, "model": "m"}\n' + b"[" * 99999 + b"\n",
            ":2: this JSON cannot be used: it is nested",
        ),
    ],
)
def test_a_corrupt_transcript_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "llm.jsonl"
    file.write_bytes(content)
    with pytest.raises(DataFileError, match=message) as caught:
        make_model(f"replay:{file}")
    assert str(file) in str(caught.value)


def test_an_edited_prompt_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "llm.jsonl"
    RecordingModel(Fake([said()]), file).answer(ask("mug"))
    file.write_text(file.read_text().replace('"text": "mug"', '"text": "cup"'))
    with pytest.raises(DataFileError, match="the line was edited"):
        Replay(file)


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="no transcript found"):
        make_model(f"replay:{tmp_path / 'none.jsonl'}")
    with pytest.raises(DataFileError, match="no transcript found"):
        make_model(f"replay:{tmp_path}")
    with pytest.raises(DataFileError, match="it is a folder"):
        RecordingModel(Fake([said()]), tmp_path)
    with pytest.raises(DataFileError, match="cannot be written"):
        RecordingModel(Fake([said()]), tmp_path / "no" / "llm.jsonl")
    (tmp_path / "llm.jsonl").write_text("this is no transcript\n")
    with pytest.raises(DataFileError, match=r"llm\.jsonl"):
        RecordingModel(Fake([said()]), tmp_path / "llm.jsonl")


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_folder_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(DataFileError, match="Permission denied"):
        RecordingModel(Fake([said()]), tmp_path / "llm.jsonl")


def test_threads_may_share_a_recording(tmp_path: Path) -> None:
    file = tmp_path / "llm.jsonl"
    recording = RecordingModel(Fake(lambda r: said(r.messages[0].text)), file)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: recording.answer(ask(str(n))), range(40)))
    _, exchanges = transcript.read(file)
    assert [e.line["number"] for e in exchanges] == list(range(1, 41))
    assert all(e.line["answer"]["text"] == e.line["messages"][0]["text"] for e in exchanges)


def test_a_replay_in_a_stack_gets_only_the_recording(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    stack(Fake([said()]), record=one).answer(ask())
    again = stack(make_model(f"replay:{one}"), record=two, cache=tmp_path / "cache.sqlite")
    assert again.answer(ask()).source == "replay"
    assert two.read_bytes() == one.read_bytes() and not (tmp_path / "cache.sqlite").exists()


def test_a_stack_takes_out_the_keys_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    file = tmp_path / "llm.jsonl"
    stack(Fake([said(KEY)]), record=file).answer(ask(f"my key: {KEY}"))
    assert KEY not in file.read_text()
    assert make_model(f"replay:{file}").answer(ask(f"my key: {KEY}")).text == "[key]"
