"""The example robot controlled over HTTP: success, refusal, silence and disconnection."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Hvr
from tests.survivors import wait_for

EXAMPLE = Path(__file__).parents[3] / "examples" / "http_robot"


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "http_robot"))


@pytest.fixture
def robot(world: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[bytes]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("ROBOT_URL", f"http://127.0.0.1:{port}")

    def listens() -> bool:
        with socket.socket() as trial:
            return trial.connect_ex(("127.0.0.1", port)) == 0

    with subprocess.Popen([sys.executable, world / "simulated.py", str(port)]) as process:
        wait_for(listens)
        yield process
        process.kill()


@pytest.mark.slow
@pytest.mark.usefixtures("robot")
def test_a_plan_is_carried_out_over_http(hvr_: Hvr, world: Path) -> None:
    assert hvr_("world", "check", world, "--run").code == 0
    ended = hvr_("solve", "--world", world, "--execute", "--json")
    assert ended.code == 0, ended.err
    steps = [e for e in json.loads(ended.out)["events"] if e["event"] == "step"]
    refused = [step["error"] for step in steps if not step["success"]]
    assert refused == ["the hand slipped"] and len(steps) == 5


@pytest.mark.slow
def test_a_robot_that_is_gone_is_one_line(
    hvr_: Hvr, world: Path, robot: subprocess.Popen[bytes]
) -> None:
    robot.kill()
    robot.wait()
    ended = hvr_("solve", "--world", world, "--execute", "--quiet")
    assert ended.code == 2 and len(ended.err.strip().splitlines()) == 1
    assert "robot:open_robot: the environment failed at reset: URLError" in ended.err
