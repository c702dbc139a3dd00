"""The stand-in process alone: start, output and end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import pytest

from hvr.doors.stand_in.process import main
from hvr.doors.stand_in.protocol import Field, ProtocolError, field
from hvr.errors import HvrError, SceneError, UsageError
from tests.command_line import Hvr

msgpack = pytest.importorskip("msgpack", reason="msgpack comes with the extra thor")

UNITYS = ["-screen-fullscreen", "0", "-screen-quality", "7", "-screen-width", "80"]


def _environment(**variables: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("AI2THOR_")}
    return {**kept, **{f"AI2THOR_{k}": v for k, v in variables.items()}}


def _pipes(folder: Path) -> dict[str, str]:
    found = {"SERVER_TYPE": "FIFO", "SERVER_SIDE_SCREENSHOT": "False"}
    for side in ("SERVER", "CLIENT"):
        path = folder / f"{side.lower()}.pipe"
        os.mkfifo(path)
        found[f"FIFO_{side}_PIPE_PATH"] = str(path)
    return found


def _start(variables: dict[str, str], *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "hvr.doors.stand_in", *UNITYS, *more],
        env=_environment(**variables), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def _said(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, text = process.communicate(timeout=600)
    return process.returncode, text


@pytest.mark.slow
def test_started_by_hand_it_says_how_it_is_meant_in_one_line() -> None:
    process = subprocess.run(
        [sys.executable, "-m", "hvr.doors.stand_in"],
        env=_environment(), capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert process.returncode == 2
    assert process.stderr.startswith("error: AI2-THOR's Python client starts this process")
    assert "--port" in process.stderr and process.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("given", "variables", "kind", "said"),
    [
        (["--prot", "1"], {}, UsageError, "--prot"),
        (["--port", "x"], {}, UsageError, "--port"),
        (["--port", "1", "--wait", "0"], {}, UsageError, "no client listens at 127.0.0.1:1"),
        (["--profile", "9"], {}, HvrError, "profile"),
        ([], {"SERVER_TYPE": "UDP"}, ProtocolError, "must be FIFO or WSGI"),
        ([], {"SERVER_TYPE": "FIFO"}, UsageError, "AI2THOR_FIFO_SERVER_PIPE_PATH is not set"),
        ([], {"SERVER_TYPE": "WSGI"}, UsageError, "AI2THOR_HOST is not set"),
        ([], {"SERVER_TYPE": "WSGI", "HOST": "h", "PORT": "p"}, UsageError, "must be a number"),
        (
            [],
            {
                "SERVER_TYPE": "FIFO",
                "FIFO_SERVER_PIPE_PATH": "/nowhere",
                "FIFO_CLIENT_PIPE_PATH": "",
            },
            UsageError,
            "/nowhere",
        ),
    ],
)
def test_what_cannot_be_used(
    given: list[str], variables: dict[str, str], kind: type[HvrError], said: str
) -> None:
    with pytest.raises(kind, match=said) as error:
        main(given, _environment(**variables))
    assert "\n" not in str(error.value)


def test_a_client_is_not_left_waiting_when_the_process_cannot_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AI2-THOR's client gives up after an empty message."""

    def broken(**_given: object) -> None:
        raise SceneError("the scenes are damaged")

    monkeypatch.setattr("hvr.doors.stand_in.process.Kitchen", broken)
    variables = _pipes(tmp_path)
    reader = os.open(variables["FIFO_SERVER_PIPE_PATH"], os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(SceneError):
        main([], _environment(**variables))
    assert os.read(reader, 100) == field(Field.END_OF_MESSAGE)
    os.close(reader)


@pytest.mark.slow
def test_it_ends_when_the_client_goes_before_its_first_action(tmp_path: Path) -> None:
    variables = _pipes(tmp_path)
    process = _start(variables)
    with Path(variables["FIFO_SERVER_PIPE_PATH"]).open("rb") as pipe:
        assert pipe.read(1) == bytes([Field.METADATA])
    assert _said(process) == (0, "")


@pytest.mark.slow
def test_it_ends_in_the_middle_of_a_message(tmp_path: Path) -> None:
    variables = _pipes(tmp_path)
    process = _start(variables)
    with Path(variables["FIFO_SERVER_PIPE_PATH"]).open("rb") as server:
        _message(server)
        with Path(variables["FIFO_CLIENT_PIPE_PATH"]).open("wb") as client:
            client.write(field(Field.ACTION, b'{"action": "Pass"}')[:9])
        assert _said(process) == (0, "")


@pytest.mark.slow
def test_rubbish_ends_it_with_one_line(tmp_path: Path) -> None:
    variables = _pipes(tmp_path)
    process = _start(variables)
    with Path(variables["FIFO_SERVER_PIPE_PATH"]).open("rb") as server:
        _message(server)
        with Path(variables["FIFO_CLIENT_PIPE_PATH"]).open("wb") as client:
            client.write(field(Field.ACTION, b"Pass") + field(Field.END_OF_MESSAGE))
        code, text = _said(process)
    assert code == 2
    assert text.startswith("error: the client sent an action that is not JSON")
    assert text.count("\n") == 1


@pytest.mark.slow
def test_unchanged_objects_are_not_sent_again(tmp_path: Path) -> None:
    """Like AI2-THOR's fast emit: a patch that the client merges into its data."""
    variables = _pipes(tmp_path)
    process = _start(variables)
    with Path(variables["FIFO_SERVER_PIPE_PATH"]).open("rb") as server:
        hello = msgpack.unpackb(_message(server)[Field.METADATA], raw=False)
        assert hello["agents"][0]["screenWidth"] == 80
        with Path(variables["FIFO_CLIENT_PIPE_PATH"]).open("wb") as client:

            def ask(text: str) -> dict[int, bytes]:
                body = text.encode()
                client.write(field(Field.ACTION, body) + field(Field.END_OF_MESSAGE))
                client.flush()
                return _message(server)

            ask('{"action": "Reset", "sceneName": "FloorPlan1", "sequenceId": 0}')
            assert list(ask('{"action": "RotateRight", "sequenceId": 1}')) == [Field.METADATA]
            answer = ask('{"action": "GetReachablePositions", "sequenceId": 2}')
            assert list(answer) == [Field.METADATA_PATCH]
            patch = msgpack.unpackb(answer[Field.METADATA_PATCH], raw=False)
            assert patch["actionReturn"]
            assert patch["agentId"] == 0 and "objects" not in patch
            assert list(ask('{"action": "Pass", "sequenceId": 3}')) == [Field.METADATA]
    assert _said(process) == (0, "")


def test_the_command_hands_on_unitys_options(hvr_: Hvr, monkeypatch: pytest.MonkeyPatch) -> None:
    got: list[list[str]] = []
    shown = hvr_("scene", "serve", "--help")
    assert shown.code == 0 and "local_executable_path" in shown.out

    def main(words: list[str]) -> int:
        got.append(words)
        return 0

    monkeypatch.setattr("hvr.doors.stand_in.process.main", main)
    for options in (UNITYS, ["-batchmode", "-nographics", "--seed", "3"]):
        assert hvr_("scene", "serve", *options).code == 0
    assert got == [UNITYS, ["-batchmode", "-nographics", "--seed", "3"]]


def _message(pipe: BinaryIO) -> dict[int, bytes]:
    """Return the fields of one message from the server."""
    found: dict[int, bytes] = {}
    while True:
        head = pipe.read(5)
        if head[0] == Field.END_OF_MESSAGE:
            return found
        found[head[0]] = pipe.read(int.from_bytes(head[1:], "big"))
