"""Resuming a recording: nothing is requested or paid for twice, and nothing is lost."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.errors import DataFileError, LLMError
from hvr.models import recording as transcript
from hvr.models.choice import ModelChoice
from hvr.models.errors import ModelError
from hvr.models.layers import Meter
from hvr.models.model import Answer, Request
from hvr.models.recording import RecordingModel, Replay, aside_of, count_exchanges, set_aside
from tests.models.llm_fakes import Fake, Outcome, ask, said

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
HEADER = {"commit": "abc"}


_SECONDS = itertools.count()


def recording(model: Fake | Replay, path: Path) -> RecordingModel:
    """Return a recording with its own clock, so that all times differ."""
    return RecordingModel(
        model, path, HEADER, clock=lambda: 0.0,
        now=lambda: NOW + timedelta(seconds=next(_SECONDS)),
    )  # fmt: skip


def timeless(path: Path) -> list[str]:
    """Return the lines of a transcript without their dates."""
    lines = map(json.loads, path.read_text(encoding="utf-8").split("\n")[:-1])
    return [json.dumps({**line, "date": ""}) for line in lines]


def asked_in(path: Path) -> list[str]:
    return [e.request.messages[0].text for e in transcript.read(path)[1]]


class Asking:
    """A client that asks the same questions in each attempt.

    Args:
        questions: Questions with their outcomes, unless an attempt is interrupted there.
    """

    def __init__(self, questions: Sequence[tuple[str, Outcome]]) -> None:
        self.questions = questions
        self.paid: Counter[int] = Counter()

    def go(self, path: Path, until: int, end: Outcome | None = None) -> None:
        """Ask the questions up to `until`, where the model answers with `end`."""
        number = 0

        def answer(request: Request) -> Outcome:
            assert request.messages[0].text == self.questions[number][0]
            self.paid[number] += 1
            own = self.questions[number][1]
            return end if end is not None and number == until else own

        layer = recording(Fake(answer), path)
        for number, (text, _) in enumerate(self.questions[: until + 1]):
            try:
                layer.answer(ask(text))
            except LLMError as error:
                if error is end:
                    return
                assert isinstance(self.questions[number][1], LLMError)


questions = st.lists(
    st.tuples(
        # Few texts, so that some are asked several times.
        st.sampled_from(["a", "b", "c \u2028 ü"]),
        st.builds(said, st.text(max_size=5)) | st.just(ModelError("no JSON", kind="schema")),
    ),
    min_size=1,
    max_size=6,
)
breaks = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from(["error", "clean kill", "torn line"])), max_size=4
)


@pytest.mark.slow
@settings(max_examples=80)
@given(questions, breaks, st.data())
def test_tries_that_break_off_make_the_transcript_of_one_that_does_not(
    questions: list[tuple[str, Outcome]], breaks: list[tuple[int, str]], data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder:
        whole, path = Path(folder, "whole.jsonl"), Path(folder, "llm.jsonl")
        last = len(questions) - 1
        Asking(questions).go(whole, last)
        asking, torn, ended = Asking(questions), Counter[int](), Counter[int]()
        for turn, (number, how) in enumerate(breaks):
            until = min(number, last)
            # A unique message, which distinguishes two attempts.
            end = ModelError(f"broke off {turn}", kind="rate") if how == "error" else None
            asking.go(path, until, end)
            ended[until] += end is not None
            if how == "torn line":
                *lines, line = path.read_bytes().splitlines(keepends=True)
                if line.endswith(b"\n"):  # it is not torn already
                    cut = data.draw(st.integers(2, len(line)))
                    path.write_bytes(b"".join(lines) + line[:-cut])
                    torn[len(lines) - 1] += bool(lines)
        asking.go(path, last)
        assert timeless(path) == timeless(whole)
        aside = set_aside(path)
        assert all(e.failed for e in aside) and count_exchanges(path) == len(questions) + len(aside)
        assert asking.paid.total() == count_exchanges(path) + torn.total()
        for place, (_, outcome) in enumerate(questions):
            if isinstance(outcome, Answer):
                assert asking.paid[place] <= 1 + torn[place] + ended[place]


def going(path: Path, outcomes: Callable[[Request], Outcome], texts: Sequence[str]) -> Meter:
    """Ask some texts, like a run, until the model fails."""
    layer = recording(Fake(outcomes), path)
    meter = Meter(layer, layer.aside)
    for text in texts:
        meter.answer(ask(text))
    return meter


def echo(request: Request) -> Answer:
    return said(request.messages[0].text)


def never(_: Request) -> Answer:
    raise AssertionError("this was asked and paid for before")


def test_all_tries_together_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "llm.jsonl"

    def fails(request: Request) -> Outcome:
        # The server received the prompt; the outcome is unknown.
        return echo(request) if request.messages[0].text != "c" else ModelError("", kind="timeout")

    with pytest.raises(ModelError):
        going(path, fails, ["a", "b", "c"])
    spent = going(path, echo, ["a", "b", "c"]).spent()
    assert (spent.calls, spent.input) == (4, None)
    again = going(path, never, ["a", "b", "c"]).spent()
    assert again == spent
    # The file beside it is also a transcript.
    header, (failed,) = transcript.read(aside_of(path))
    assert header == transcript.read(path)[0] and failed.failed


def test_answers_from_the_cache_stay_free_of_charge(tmp_path: Path) -> None:
    path = tmp_path / "llm.jsonl"
    going(path, lambda r: said(r.messages[0].text, source="cache"), ["a"])
    spent = going(path, never, ["a"]).spent()
    assert (spent.calls, spent.cached_calls) == (0, 1)


def test_what_turns_out_otherwise_is_asked_and_the_rest_kept(tmp_path: Path) -> None:
    path = tmp_path / "llm.jsonl"
    going(path, echo, ["a", "b", "c", "b"])
    model = Fake(echo)
    layer = recording(model, path)
    meter = Meter(layer, layer.aside)
    for text in ("a", "other", "c", "b"):
        assert meter.answer(ask(text)).text == text
    # Only new questions are sent, and the transcript follows the order of this attempt.
    assert [r.messages[0].text for r in model.asked] == ["other"]
    assert asked_in(path) == ["a", "other", "c", "b"]
    assert [e.line["number"] for e in transcript.read(path)[1]] == [1, 2, 3, 4]
    assert [e.line["answer"]["text"] for e in set_aside(path)] == ["b"]
    assert meter.spent().calls == 5
    # The next attempt and a replay use the whole transcript.
    assert going(path, never, ["a", "other", "c", "b"]).spent().calls == 5
    again = recording(Replay(path), tmp_path / "again.jsonl")
    for text in ("a", "other", "c", "b"):
        again.answer(ask(text))
    assert (tmp_path / "again.jsonl").read_bytes() == path.read_bytes()


def test_what_was_set_aside_is_used_by_a_later_try(tmp_path: Path) -> None:
    path = tmp_path / "llm.jsonl"
    going(path, echo, ["a", "b"])
    going(path, echo, ["other"])
    assert asked_in(path) == ["other"] and len(set_aside(path)) == 2
    going(path, never, ["other", "b", "a"])
    assert asked_in(path) == ["other", "b", "a"] and set_aside(path) == ()


def test_a_kill_between_the_two_files_counts_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "llm.jsonl"
    going(path, echo, ["a", "b", "b"])

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("hvr.models.recording.write_whole", killed)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                going(path, never, ["other"])
    assert count_exchanges(path) == 3
    going(path, echo, ["other"])
    assert asked_in(path) == ["other"] and count_exchanges(path) == 4


def test_the_transcript_of_another_model_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "llm.jsonl"
    going(path, echo, ["a"])
    before = path.read_bytes()
    with pytest.raises(DataFileError, match="a transcript of fake:one, not of fake:two"):
        RecordingModel(Fake(echo, "fake:two"), path)
    assert path.read_bytes() == before


def test_a_replay_begins_anew(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    going(one, echo, ["a", "a", "b"])
    recording(Replay(one), two).answer(ask("a"))
    again = recording(Replay(one), two)
    for text in ("a", "a", "b"):
        again.answer(ask(text))
    assert two.read_bytes() == one.read_bytes()
    going(tmp_path / "other.jsonl", echo, ["a"])
    for source, path in (
        (one, tmp_path / "other.jsonl"),
        (one, one),
        (tmp_path / "other.jsonl", one),
    ):
        before = path.read_bytes()
        with pytest.raises(DataFileError, match="a different transcript"):
            recording(Replay(source), path)
        assert path.read_bytes() == before


def test_a_damaged_transcript_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "llm.jsonl"
    going(path, echo, ["a", "b"])
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[0], "{", lines[2], ""]), encoding="utf-8")
    before = path.read_bytes()
    with pytest.raises(DataFileError, match=r"llm\.jsonl:2"):
        going(path, echo, ["a"])
    assert path.read_bytes() == before


def test_an_address_that_a_folder_names_gets_no_providers_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from hvr.models.connect import reach

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HVR_LLM_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef0123")

    def key(recorded: bool) -> str | None:
        choice = ModelChoice(spec="openai:m", base_url="http://x/v1", recorded_url=recorded)
        return reach(choice).options.api_key

    assert key(False) == "sk-0123456789abcdef0123" and key(True) is None
    monkeypatch.setenv("HVR_LLM_API_KEY", "for-any-address")
    assert key(True) == "for-any-address"


def test_the_form_of_what_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "cell.0.1-x.jsonl"
    with pytest.raises(ModelError):
        going(path, lambda _: ModelError("no", kind="rate"), ["a"])
    going(path, echo, ["a"])
    assert [p.name for p in sorted(tmp_path.iterdir())] == [
        "cell.0.1-x-aside.jsonl", "cell.0.1-x.jsonl",
    ]  # fmt: skip
    _, line = map(json.loads, aside_of(path).read_text(encoding="utf-8").splitlines())
    assert line["error"]["kind"] == "rate"
