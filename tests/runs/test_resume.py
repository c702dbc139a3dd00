"""A run reports its progress, and resumes where it stopped, whatever stopped it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import hvr.runs.spine
from hvr.errors import DataFileError, UsageError
from hvr.models import recording
from hvr.models.choice import ModelChoice
from hvr.models.limits import Limits
from hvr.runs.folder import LOCK_FILE, RunState, read_status
from hvr.runs.report.run_page import read_story
from hvr.runs.request import Options
from tests import warm
from tests.command_line import Hvr
from tests.extras import needs
from tests.model_server import Behaviour, make_coffee
from tests.models.servers import OpenAIServer, Reply
from tests.runs.test_plan_llm import ASKED, going_on

needs("openai")

KEY = "sk-verysecret0123456789abcdefghij"
SAME = ("plan.json", "plan.pddl", "planning.json", "problem.pddl", "subgraph.json", "trace.jsonl")
"""Files that an interrupted and an uninterrupted run share."""

_KILLED = """
import os, signal, sys
from pathlib import Path
from hvr.models.choice import ModelChoice
from hvr.runs.request import Options
from hvr.runs.spine import plan
save, spec, faults, text, number = sys.argv[1:]
left = int(number)
def listen(event):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
options = Options(
    save=Path(save), model=ModelChoice(spec=spec or None), seed=3,
    faults=Path(faults) if faults else None,
)
task = text if text == "T2" else None
print(plan(None if task else text, task=task, options=options, listen=listen).reached)
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("HVR_LLM") or name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HVR_LLM_API_KEY", KEY)


def plan_coffee(server: OpenAIServer, folder: Path, **more: Any) -> hvr.runs.result.Run:
    choice = ModelChoice(spec="openai:m", base_url=server.url, **more)
    options = Options(scene="FloorPlan1", model=choice, save=folder)
    return hvr.runs.spine.plan("make coffee", options=options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an uninterrupted run that made coffee."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    with OpenAIServer(Behaviour(make_coffee)) as server:
        assert plan_coffee(server, folder).reached
    return folder


def account(folder: Path) -> dict[str, Any]:
    said: dict[str, Any] = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    return said


def digests(folder: Path) -> list[tuple[int, str]]:
    return [(e.line["number"], e.line["digest"]) for e in recording.read(folder)[1]]


def assert_same(folder: Path, whole: Path) -> None:
    """Assert that a resumed run equals an uninterrupted one."""
    differing = [n for n in SAME if (folder / n).read_bytes() != (whole / n).read_bytes()]
    assert differing == []
    assert digests(folder) == digests(whole)
    left = {p.name for p in folder.iterdir()} - {p.name for p in whole.iterdir()}
    assert {name for name in left if not name.startswith("broken-")} <= {"llm-aside.jsonl"}


def assert_replays(folder: Path) -> None:
    """Assert that a replay of a run makes the same files."""
    again = folder.with_name(f"{folder.name}-again")
    choice = ModelChoice(spec=f"replay:{folder}")
    hvr.runs.spine.plan(options=Options(policy="llm", model=choice, save=again))
    differing = [
        n for n in (*SAME, "llm.jsonl") if (folder / n).read_bytes() != (again / n).read_bytes()
    ]
    assert differing == []


# Errors of the model ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("broken", [1, len(ASKED)])
def test_a_run_goes_on_where_the_model_failed(
    broken: int, whole: Path, hvr_: Hvr, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    behaviour = Behaviour(make_coffee, {broken: Reply(status=401, message="expired")})
    with OpenAIServer(behaviour) as server:
        ended = hvr_(
            "plan", "make coffee", "--scene", "FloorPlan1", "--llm", "openai:m",
            "--base-url", server.url, "--save", folder,
        )  # fmt: skip
        assert ended.code != 0 and ended.err.endswith(going_on(folder) + "\n")
        story = read_story(folder)
        assert story.state is RunState.BROKEN_OFF and "expired" in story.outcome
        assert f"before there was a plan: {account(folder)['message']}" in story.outcome
        assert hvr_("show", folder).code == 0
        again = hvr_("plan", "--resume", folder)
    assert (again.code, again.err) == (0, "") and "goal reached in 9 steps" in again.out
    assert behaviour.purposes == [*ASKED[:broken], *ASKED[broken - 1 :]]
    assert_same(folder, whole)
    said = account(folder)
    assert said["state"] == "finished" and said["reached"] is True
    assert [(e["error"], "expired" in e["message"]) for e in said["earlier"]] == [
        ("ModelError", True)
    ]
    assert said["spent"]["calls"] == len(ASKED) + 1
    assert "openai:m: 6 calls, tokens 55 in, 35 out" in again.out
    usage = json.loads(hvr_("llm", "usage", folder, "--json").out)
    assert (usage["total"]["calls"], usage["total"]["failed"]) == (6, 1)
    assert KEY not in (folder / "task.json").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_run_that_breaks_off_again_and_again_pays_for_nothing_twice(
    whole: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    faults = {number: Reply(status=401, message=f"no {number}") for number in range(2, 10, 2)}
    behaviour = Behaviour(make_coffee, faults)
    with OpenAIServer(behaviour) as server:
        with pytest.raises(hvr.HvrError, match="no 2"):
            plan_coffee(server, folder)
        for number in range(4, 10, 2):
            with pytest.raises(hvr.HvrError, match=f"no {number}") as broken:
                hvr.runs.spine.resume(folder)
            assert broken.value.folder == folder
        result = hvr.runs.spine.resume(folder)
    assert result.reached and result.folder == folder
    assert len(behaviour.purposes) == len(ASKED) + 4
    assert result.spent is not None and result.spent.calls == len(ASKED) + 4
    assert len(account(folder)["earlier"]) == 4
    assert_same(folder, whole)
    assert_replays(folder)


@pytest.mark.slow
def test_limits_hold_for_all_tries_together(whole: Path, hvr_: Hvr, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    behaviour = Behaviour(make_coffee)
    with OpenAIServer(behaviour) as server:
        ended = hvr_(
            "plan", "make coffee", "--scene", "FloorPlan1", "--llm", "openai:m",
            "--base-url", server.url, "--max-calls", "2", "--save", folder,
        )  # fmt: skip
        assert "the budget of 2 calls" in ended.err
        ended = hvr_("plan", "--resume", folder)
        assert "the budget of 2 calls" in ended.err and len(behaviour.purposes) == 2
        ended = hvr_("plan", "--resume", folder, "--max-calls", "4")
        assert "the budget of 4 calls" in ended.err and len(behaviour.purposes) == 4
        ended = hvr_("plan", "--resume", folder, "--max-calls", "8", "--max-tokens", "100000")
    assert (ended.code, ended.err) == (0, "") and behaviour.purposes == ASKED
    assert account(folder)["llm"]["limits"]["tokens"] == 100_000
    assert_same(folder, whole)


@pytest.mark.slow
def test_what_a_run_began_with_stays(hvr_: Hvr, tmp_path: Path) -> None:
    """Prompts and library stay as they were at the start, whatever happens to the originals."""
    own, library = tmp_path / "own", tmp_path / "library.ttl"
    own.mkdir()
    source = Path(hvr.__file__).parent / "policies/llm/prompts/macro_plan.txt"
    text = source.read_text(encoding="utf-8").replace("one short sentence", "a short sentence")
    (own / "macro_plan.txt").write_text(text, encoding="utf-8")
    asked: list[str] = []

    def model(question: Any) -> str:
        asked.append(question.text)
        return make_coffee(question)

    def fails(received: Any) -> Reply:
        if "a short sentence" in received.text and len(asked) == 1:
            asked.append("")
            return Reply(status=401)
        kind = "macro_plan" if "a short sentence" in received.text else None
        if kind:
            return Reply("\n".join(f"{i}. {m}" for i, m in enumerate(MACROS, 1)))
        return Behaviour(model)(received)

    folder = tmp_path / "run"
    with OpenAIServer(fails) as server:
        ended = hvr_(
            "plan", "make coffee", "--scene", "FloorPlan1", "--llm", "openai:m",
            "--base-url", server.url, "--prompts", own, "--library", library, "--save", folder,
        )  # fmt: skip
        assert ended.code != 0
        shutil.rmtree(own)
        Path("elsewhere").mkdir()
        os.chdir("elsewhere")
        again = hvr_("plan", "--resume", folder)
    assert (again.code, again.err) == (0, "")
    assert (folder / "prompts" / "macro_plan.txt").read_text(encoding="utf-8") == text
    # Learnt macros go to the named library, not to the run's copy.
    assert library.read_bytes() != (folder / "library.ttl").read_bytes()


MACROS = ("Brew coffee in the mug with the coffee machine", "Put the mug on the counter top")


# Kills --------------------------------------------------------------------------------------------


def killed_at(number: int, folder: Path, spec: str = "", text: str = "make coffee") -> bool:
    """Return whether a run was killed at an event rather than finishing first."""
    process = warm.run(
        [sys.executable, "-c", _KILLED, str(folder), spec, "", text, str(number)],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert process.returncode in (0, -signal.SIGKILL), process.stderr
    return process.returncode != 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "text", "numbers"),
    [("", "make coffee", (0, 1, 6)), ("scripted:error=0.3", "T2", (0, 3, 9))],
    ids=["symbolic", "simulated"],
)
def test_a_killed_run_says_so_and_goes_on(
    spec: str, text: str, numbers: Sequence[int], hvr_: Hvr, tmp_path: Path
) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "run"
    assert not killed_at(10_000, whole, spec, text)
    assert killed_at(numbers[0], folder, spec, text)
    for number in numbers[1:]:
        story = read_story(folder)
        assert story.state is RunState.KILLED and story.reached is None
        assert "it was killed" in story.outcome
        assert story.simulated == bool(spec)
        shown = hvr_("show", folder)
        assert shown.code == 0 and "The run broke off" in shown.out
        resumed_and_killed(folder, number)
    if not spec:
        assert "after 5 steps, without a recorded reason" in read_story(folder).outcome
        assert hvr_("kg", "show", "mug-1", "--run", folder).code == 0
    again = hvr_("plan", "--resume", folder, "--quiet")
    assert (again.code, again.err) == (0 if account(whole)["reached"] else 1, "")
    assert account(folder)["seed"] == 3
    if spec:
        assert_same(folder, whole)
        assert_replays(folder)
        assert not (folder / "llm-aside.jsonl").exists()
    else:
        left = {p.name for p in folder.iterdir() if not p.name.startswith("broken-")}
        assert left == {p.name for p in whole.iterdir()}
        names = ("plan.pddl", "trace.jsonl")
        assert all((folder / n).read_bytes() == (whole / n).read_bytes() for n in names)


def resumed_and_killed(folder: Path, number: int) -> None:
    script = _KILLED.split("options =")[0].replace(
        "save, spec, faults, text, number = sys.argv[1:]", "save, number = sys.argv[1:]"
    )
    script += "\nfrom hvr.runs.spine import resume\nresume(save, listen=listen)\n"
    process = warm.run(
        [sys.executable, "-c", script, str(folder), str(number)],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert process.returncode == -signal.SIGKILL, process.stderr


@contextmanager
def running(folder: Path, url: str, seen: Callable[[], bool]) -> Iterator[subprocess.Popen[str]]:
    """Start a run in another process, and yield it once a condition holds."""
    process = warm.Popen(
        [sys.executable, "-m", "hvr", "plan", "make coffee", "--scene", "FloorPlan1",
         "--llm", "openai:m", "--base-url", url, "--save", str(folder)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        given_up = time.monotonic() + 600
        while not seen():
            assert process.poll() is None, process.stderr and process.stderr.read()
            assert time.monotonic() < given_up
            time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "code", "words"),
    [(signal.SIGKILL, -9, ""), (signal.SIGINT, 130, "interrupted")],
    ids=["kill -9", "SIGINT"],
)
def test_a_signal_ends_a_run_and_the_run_goes_on(
    how: signal.Signals, code: int, words: str, whole: Path, hvr_: Hvr, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    behaviour = Behaviour(make_coffee, {4: Reply(hang=600)})
    with OpenAIServer(behaviour) as server:
        with running(folder, server.url, lambda: len(behaviour.purposes) == 4) as process:
            story = read_story(folder)
            assert story.state is RunState.RUNNING
            assert story.outcome == "The run is in progress: there is no plan yet."
            assert account(folder)["state"] == "started"
            refused = hvr_("plan", "--resume", folder)
            assert refused.code == 2 and "still active" in refused.err
            refused = hvr_("plan", "make coffee", "--save", folder)
            assert refused.code == 2 and "another run is using this folder" in refused.err
            process.send_signal(how)
            _, err = process.communicate(timeout=600)
        assert process.returncode == code and "Traceback" not in err
        assert err == (f"{words}{going_on(folder)}\n" if words else "")
        assert (folder / LOCK_FILE).exists() == (not words)
        assert read_status(folder)[1] is (RunState.BROKEN_OFF if words else RunState.KILLED)
        assert account(folder).get("message", "") == words
        again = hvr_("plan", "--resume", folder)
    assert (again.code, again.err) == (0, "")
    # Only the interrupted request is repeated.
    assert behaviour.purposes == [*ASKED[:4], *ASKED[3:]]
    assert_same(folder, whole)
    if how is signal.SIGKILL:
        assert_replays(folder)


@pytest.mark.slow
def test_of_those_who_go_on_with_a_run_one_does(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert killed_at(3, folder, "scripted:error=0.3", "T2")
    script = (
        "import sys\nfrom hvr.runs.spine import resume\nfrom hvr.errors import HvrError\n"
        "sys.stdin.readline()\n"
        "try:\n    print(resume('run').reached)\n"
        "except HvrError as error:\n    print('refused:', error)\n"
    )
    processes = [
        warm.Popen(
            [sys.executable, "-c", script], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for _ in range(5)
    ]  # fmt: skip
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=600) for process in processes]
    assert [err for _, err in said if err] == []
    out = sorted(out.strip() for out, _ in said)
    assert out[0] in ("True", "False") and all(
        words in ("refused: run: this run is still active", "refused: run: this run is finished")
        for words in out[1:]
    )
    assert account(folder)["state"] == "finished"


# Runs that cannot be resumed ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run whose first request was refused."""
    folder = tmp_path_factory.mktemp("broken") / "run"
    with (
        OpenAIServer([Reply(status=401, message="expired")]) as server,
        pytest.raises(hvr.HvrError, match="expired"),
    ):
        plan_coffee(server, folder, library=folder.parent / "library.ttl")
    return folder


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["make tea"], "TEXT is 'make tea' but was 'make coffee'"),
        (["--task", "T2"], "'T2'"),
        (["--scene", "FloorPlan2"], "--scene is 'FloorPlan2' but was 'FloorPlan1'"),
        (["--seed", "1"], "--seed is 1 but was 0"),
        (["--dry-run"], "--dry-run is True but was False"),
        (["--llm", "openai:other"], "--llm is 'openai:other' but was 'openai:m'"),
        (["--setting", "LLM"], "--setting is 'LLM' but was 'HVR+'"),
        (["--temperature", "0.5"], "--temperature is 0.5 but was 0.0"),
        (["--cache", "c.sqlite"], "--cache"),
        (["--save", "elsewhere"], "--save is 'elsewhere'"),
        (["--env-option", "port=1"], "--env-option is 'port=1' but was None"),
        (["--policy", "symbolic"], "policy"),
    ],
)
def test_other_options_than_the_run_began_with_are_refused(
    options: list[str], words: str, broken: Path, hvr_: Hvr
) -> None:
    before = {p: p.read_bytes() for p in broken.rglob("*") if p.is_file()}
    ended = hvr_("plan", *options, "--resume", broken)
    assert ended.code == 2 and words in ended.err and ended.err.count("\n") == 1
    assert {p: p.read_bytes() for p in broken.rglob("*") if p.is_file()} == before


@pytest.mark.slow
def test_the_same_options_are_no_contradiction(
    broken: Path, hvr_: Hvr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(broken, folder)
    monkeypatch.setenv("HVR_LIBRARY", str(tmp_path / "another.ttl"))
    with OpenAIServer(Behaviour(make_coffee)) as server:
        ended = hvr_(
            "plan", "make coffee", "--scene", "FloorPlan1", "--llm", "openai:m", "--no-dry-run",
            "--setting", "HVR+", "--save", folder, "--resume", folder, "--base-url", server.url,
            "--timeout", "30", "--max-calls", "50",
        )  # fmt: skip
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.slow
def test_a_run_that_is_finished_or_none_is_refused(whole: Path, hvr_: Hvr, tmp_path: Path) -> None:
    for folder, words in (
        (whole, ": this run is finished"),
        (tmp_path, " is not a run folder"),
        (tmp_path / "none", " is not a run folder"),
    ):
        ended = hvr_("plan", "--resume", folder)
        assert ended.code == 2 and f"{folder}{words}" in ended.err
    (tmp_path / "task.json").write_text('{"request": "make coffee"}')
    with pytest.raises(UsageError, match="an earlier version"):
        hvr.runs.spine.resume(tmp_path)
    (tmp_path / "task.json").write_text('{"state": "started", "llm": null}')
    with pytest.raises(DataFileError, match="damaged"):
        hvr.runs.spine.resume(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["task.json"]


@pytest.mark.slow
def test_nobody_gets_a_key_or_starts_a_program_by_a_folder(
    broken: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(broken, folder)
    monkeypatch.delenv("HVR_LLM_API_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with OpenAIServer([Reply(status=401)]) as server:
        said = account(folder)
        said["llm"]["base_url"] = server.url
        (folder / "task.json").write_text(json.dumps(said))
        for url in (None, server.url):
            with pytest.raises(hvr.HvrError):
                hvr.runs.spine.resume(folder, model=ModelChoice(base_url=url))
        assert [KEY in r.headers["authorization"] for r in server.received] == [False, True]


def test_an_account_has_neither_passwords_nor_programs(tmp_path: Path) -> None:
    from hvr.runs.request import read_request

    options = Options(
        model=ModelChoice(spec="openai:m", base_url="http://me:pass@word@host:1/v1?a=b@c"),
        env_options=("executable=rm -rf .", "port=1"),
    )
    said = read_request("make coffee", None, options).to_json()
    assert said["llm"]["base_url"] == "http://host:1/v1?a=b@c"
    assert said["env_options"] == ["port=1"] and "pass" not in json.dumps(said)
    with pytest.raises(UsageError, match="port=1"):
        begun = {"state": "broken off", **said}
        (tmp_path / "task.json").write_text(json.dumps(begun))
        hvr.runs.spine.resume(tmp_path, env_options=["port=1"])


# States -------------------------------------------------------------------------------------------


def test_bad_options_leave_no_folder_and_the_first_failure_leaves_one(
    hvr_: Hvr, tmp_path: Path
) -> None:
    ended = hvr_("plan", "make coffee", "--llm", "openai:m", "--save", tmp_path / "a",
                 "--embedder", "magic")  # fmt: skip
    assert ended.code == 2 and "plan --resume" not in ended.err and not (tmp_path / "a").exists()


@pytest.mark.slow
def test_an_error_that_nobody_foresaw_leaves_an_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError(f"by {KEY}")

    with monkeypatch.context() as patched:
        patched.setattr("hvr.runs.spine._understand", fails)
        with pytest.raises(ZeroDivisionError):
            hvr.runs.spine.plan("make coffee", options=Options(save=tmp_path / "run"))
    said = account(tmp_path / "run")
    assert (said["error"], said["message"]) == ("ZeroDivisionError", "by [key]")
    assert hvr.runs.spine.resume(tmp_path / "run", model=ModelChoice(limits=Limits())).reached


@pytest.mark.slow
def test_a_full_disk_is_the_error_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This holds even without space for the run status."""
    from hvr.runs.folder import RunFolder

    write = RunFolder.write

    def full(self: RunFolder, name: str, text: str) -> None:
        if name == "task.json" and '"started"' in text:
            write(self, name, text)
        elif name in ("task.json", "scene-after.json"):
            raise DataFileError(f"{name}: no space")
        else:
            write(self, name, text)

    with monkeypatch.context() as patched:
        patched.setattr(RunFolder, "write", full)
        with pytest.raises(DataFileError, match=r"scene-after\.json: no space"):
            hvr.runs.spine.plan("make coffee", options=Options(save=tmp_path / "run"))
    assert read_story(tmp_path / "run").state is RunState.KILLED
    assert hvr.runs.spine.resume(tmp_path / "run").reached
