"""`hvr doctor thor`: names missing parts and remedies, and downloads nothing."""

from __future__ import annotations

import dataclasses
import json
import socket
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.doors.cli.main import run
from hvr.worlds.thor.installation import (
    PLATFORMS,
    Machine,
    ThorOptions,
    check_requirements,
    inspect_machine,
    is_ready,
)

COMMIT = "f0825767"
GOOD = Machine(
    system="Linux", architecture="x86_64", package="5.0.0", commit=COMMIT, home=Path("/h/.ai2thor"),
    free=50 * 10**9,
    builds=tuple(f"thor-{p}-{COMMIT}" for p in PLATFORMS), display=":0", display_problem="",
    vulkan=True, vulkaninfo=True, gpus=("/dev/nvidia0",), cuda_devices="", executable="/bin/true",
)  # fmt: skip

machines = st.builds(
    Machine,
    system=st.sampled_from(["Linux", "Darwin", "Windows"]),
    architecture=st.sampled_from(["x86_64", "arm64", "aarch64"]),
    package=st.sampled_from(["", "5.0.0"]), commit=st.sampled_from(["", COMMIT]),
    home=st.just(Path("/h/.ai2thor")), free=st.integers(0, 10**11),
    builds=st.lists(st.sampled_from(GOOD.builds), unique=True).map(tuple),
    display=st.sampled_from(["", ":0"]), display_problem=st.sampled_from(["", "no GLX"]),
    vulkan=st.booleans(), vulkaninfo=st.booleans(),
    gpus=st.sampled_from([(), ("/dev/dri/renderD128",)]), cuda_devices=st.sampled_from(["", "0"]),
    executable=st.sampled_from(["", "/bin/true"]),
)  # fmt: skip
some_options = st.builds(
    ThorOptions,
    executable=st.sampled_from(["", "true"]), platform=st.sampled_from(("", *PLATFORMS)),
    headless=st.booleans(),
)  # fmt: skip


def missing(machine: Machine, options: ThorOptions | None = None) -> list[str]:
    checks = check_requirements(machine, options or ThorOptions())
    return [check.name for check in checks if check.status == "missing"]


@pytest.mark.slow
@given(machines, some_options)
def test_advice_comes_with_what_is_missing_and_with_nothing_else(
    machine: Machine, options: ThorOptions
) -> None:
    checks = check_requirements(machine, options)
    assert all(bool(check.advice) == (check.status == "missing") for check in checks)
    assert all(check.found for check in checks)
    assert len({check.name for check in checks}) == len(checks)
    assert is_ready(checks) == (not missing(machine, options))


@pytest.mark.slow
@given(machines)
def test_a_process_of_ones_own_needs_no_display_gpu_build_or_room(machine: Machine) -> None:
    least = dataclasses.replace(GOOD, display="", vulkan=False, gpus=(), builds=(), free=0)
    assert missing(least, ThorOptions(executable="true")) == []
    checks = check_requirements(machine, ThorOptions(executable="true"))
    assert {check.name for check in checks} == {"package", "platform", "executable"}


@pytest.mark.parametrize(
    ("change", "options", "names"),
    [
        ({}, ThorOptions(), []),
        ({"package": "", "commit": ""}, ThorOptions(), ["package", "build"]),
        ({"system": "Windows"}, ThorOptions(), ["platform"]),
        ({"architecture": "aarch64"}, ThorOptions(), ["platform"]),
        ({"system": "Darwin", "architecture": "arm64", "display": ""}, ThorOptions(), []),
        ({"system": "Darwin"}, ThorOptions(platform="CloudRendering"), ["platform"]),
        ({"display": ""}, ThorOptions(), ["display"]),
        ({"display": ""}, ThorOptions(headless=True), []),
        ({"display": "", "gpus": ("/dev/nvidia0",)}, ThorOptions(platform="CloudRendering"), []),
        ({"vulkan": False}, ThorOptions(platform="CloudRendering"), ["vulkan"]),
        ({"vulkan": False, "gpus": ()}, ThorOptions(), []),
        ({"gpus": ()}, ThorOptions(platform="CloudRendering"), ["vulkan"]),
        (
            {"cuda_devices": "0", "vulkaninfo": False},
            ThorOptions(platform="CloudRendering"),
            ["vulkan"],
        ),
        ({"builds": (), "free": 10**9}, ThorOptions(), ["disk", "build"]),
        ({"free": 10**9}, ThorOptions(), []),
        ({"builds": (f"thor-CloudRendering-{COMMIT}",)}, ThorOptions(), ["build"]),
        ({"builds": ("thor-Linux64-older",)}, ThorOptions(), ["build"]),
        ({"executable": ""}, ThorOptions(executable="nowhere"), ["executable"]),
    ],
)
def test_what_is_missing(change: dict[str, object], options: ThorOptions, names: list[str]) -> None:
    assert missing(dataclasses.replace(GOOD, **change), options) == names  # type: ignore[arg-type]


def test_a_build_counts_only_when_it_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    build = tmp_path / ".ai2thor" / "releases" / f"thor-Linux64-{COMMIT}"
    build.mkdir(parents=True)
    assert inspect_machine(ThorOptions(headless=True)).builds == ()
    (build / "metadata.json").write_text("{}")
    assert inspect_machine(ThorOptions(headless=True)).builds == (build.name,)


@pytest.mark.parametrize("as_json", [True, False])
def test_the_command_says_no_and_touches_neither_network_nor_disk(
    as_json: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refuse(self: socket.socket, address: object) -> None:
        assert self.family == socket.AF_UNIX, f"a connection to {address}"
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("HVR_THOR", "HVR_THOR_EXECUTABLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "argv", ["hvr", "doctor", "thor", *(["--json"] if as_json else [])])
    with pytest.raises(SystemExit) as ending:
        run()
    assert ending.value.code == 1
    output = capsys.readouterr().out
    if as_json:
        document = json.loads(output)
        assert document["ready"] is False
        build = next(check for check in document["checks"] if check["name"] == "build")
        assert build["status"] == "missing"
        assert "download_only" in build["advice"]
    else:
        assert "build" in output.splitlines()[-1]
        assert "--thor-executable" in output
    assert not list(tmp_path.iterdir())


def test_the_command_says_yes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ai2thor", reason="ai2thor is not installed")
    monkeypatch.setattr(
        sys, "argv", ["hvr", "doctor", "thor", "--thor-executable", f"{sys.executable} -V"]
    )
    with pytest.raises(SystemExit) as ending:
        run()
    assert ending.value.code == 0
    assert "can be started" in capsys.readouterr().out
