"""`hvr doctor`: parts that are installed on this machine, and faults."""

from __future__ import annotations

import json
import re
import socket
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hvr.doors.cli.doctor import EXTRAS
from tests.command_line import Hvr

ROOT = Path(__file__).parents[3]
KEY = "sk-proj-abcdefghijklmnop1234567890"


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("HVR_LLM", "HVR_LLM_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_KEY", "HTTP_PROXY",
                 "http_proxy"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)


def checks(hvr_: Hvr, code: int = 0) -> dict[str, dict[str, Any]]:
    ended = hvr_("doctor", "--json")
    assert ended.code == code and KEY not in ended.out
    told = json.loads(ended.out)
    assert told["ok"] is (code == 0)
    return {check["name"]: check for check in told["checks"]}


def test_the_extras_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {
        extra: {re.split(r"[\[><=~! ]", package)[0] for package in packages} - {"hvr"}
        for extra, packages in project["optional-dependencies"].items()
        if extra in EXTRAS
    }
    assert declared == {extra: set(packages) for extra, packages in EXTRAS.items()}


def test_what_is_there_is_shown_with_what_to_do_about_the_rest(
    hvr_: Hvr, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hvr.doors.cli.doctor.EXTRAS", {**EXTRAS, "mcp": ("no-such-package",)})
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    found = checks(hvr_)
    assert found["extra mcp"]["status"] == "none"
    assert found["extra mcp"]["advice"] == "pip install '.[mcp]' in a checkout of hvr"
    assert (found["java"]["status"], found["gpu"]["status"]) == ("none", "none")
    assert (found["OPENAI_API_KEY"]["status"], found["OPENAI_API_KEY"]["found"]) == ("there", "set")
    assert found["python"]["status"] == "works"


@pytest.mark.slow
def test_a_server_that_does_not_run_is_broken(hvr_: Hvr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HVR_LLM", "openai:m")
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("HVR_LLM_BASE_URL", f"http://127.0.0.1:{server.getsockname()[1]}/v1")
        assert checks(hvr_)["server"]["status"] == "works"
    assert checks(hvr_, 1)["server"]["status"] == "broken"
    ended = hvr_("doctor")
    assert ended.code == 1 and "broken: server" in ended.out


def test_a_server_behind_a_proxy_is_not_tried(hvr_: Hvr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HVR_LLM", "openai:m")
    monkeypatch.setenv("HVR_LLM_BASE_URL", "http://model.invalid/v1")
    monkeypatch.setenv("HTTP_PROXY", "http://user:secret@proxy.invalid:1")
    server = checks(hvr_)["server"]
    assert server["status"] == "there" and "the proxy http://proxy.invalid:1" in server["found"]


def test_a_broken_driver_is_told(
    hvr_: Hvr, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'no communication with the driver' >&2\nexit 9\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    gpu = checks(hvr_, 1)["gpu"]
    assert gpu["status"] == "broken" and "no communication" in gpu["found"]
