"""Keys repeated by a server appear in no file and no output of any command.

hvr knows the key in use and another key in the environment, but not keys of other kinds. The tests
search every byte of all files, including databases, and all output.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import hvr
from tests import warm
from tests.base.secrets.keys import KNOWN, LOOKALIKES, spellings, traces
from tests.extras import needs
from tests.model_server import make_coffee
from tests.models.servers import GeminiServer, OpenAIServer, Reply
from tests.runs.echoing import Echoing

needs("openai", "google.genai")
pytestmark = pytest.mark.slow

SOURCES = Path(hvr.__file__).parent.parent
OTHER = "vT8mK2pQ6xW4zR9nL5"
"""An unrelated key in the environment that the server has obtained."""

# Texts that no header can hold, or that would be split, go into the body.
ECHOED = [text for name, text in spellings(KNOWN) if "part" not in name]
ALL = [*ECHOED, OTHER, *LOOKALIKES.values()]
COFFEE = ("make coffee", "--scene", "FloorPlan1")


def run(folder: Path, *words: object, log: bool = False) -> subprocess.CompletedProcess[str]:
    """Run an hvr command in a separate process; `log`: with all that the SDK logs."""
    logged = {"OPENAI_LOG": "debug"} if log else {}
    names = ("PATH", "HOME", "TMPDIR", "SYSTEMROOT", "VIRTUAL_ENV", "LANG")
    return warm.run(
        [sys.executable, "-m", "hvr", *map(str, words)],
        capture_output=True, text=True, encoding="utf-8", timeout=600, check=False, cwd=folder,
        env={
            **{name: os.environ[name] for name in names if name in os.environ},
            "PYTHONPATH": str(SOURCES), "PYTHONUTF8": "1", "COLUMNS": "400", "HVR_VERIFY": "0",
            "HVR_LLM_API_KEY": KNOWN, "SOME_SERVICE_TOKEN": OTHER, **logged,
        },
    )  # fmt: skip


def leaks(folder: Path, *ended: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the places that contain a key or a fragment of one."""
    keys = {*traces(KNOWN), OTHER.lower(), *(key[6:].lower() for key in LOOKALIKES.values())}
    pieces = [key.encode() for key in keys]
    places = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    for one in ended:
        places[f"{one.args[3:]}, output"] = (one.stdout + one.stderr).encode()
    assert len(places) > len(ended)
    places["names"] = str(list(places)).encode()
    found = []
    for place, data in places.items():
        lowered = data.lower()
        found += [f"{place}: {piece.decode()}" for piece in pieces if piece in lowered]
    return found


def test_the_test_would_see_a_leak(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(f"... {KNOWN} ...")
    ended = subprocess.CompletedProcess([0, 0, 0, "x"], 0, LOOKALIKES["Slack"], "")
    assert len({leak.partition(":")[0] for leak in leaks(tmp_path, ended)}) == 2


def test_a_run_and_all_that_is_made_of_it(tmp_path: Path) -> None:
    run_folder, more = tmp_path / "run", tmp_path / "more"
    more.mkdir()
    with OpenAIServer(Echoing(make_coffee, ALL)) as server:
        text = ("--setting", "HVR+-structured")  # the server answers in text
        asked = ("plan", *COFFEE, *text, "--llm", "openai:m", "--base-url", server.url)
        kept = ("--cache", more / "cache.sqlite", "--library", more / "library.ttl")
        first = run(tmp_path, *asked, "--save", run_folder, "--html", more / "run.html", *kept,
                    log=True)  # fmt: skip
        assert len(server.received) > 8
        cached = run(tmp_path, *asked, "--save", tmp_path / "second", "--cache",
                     more / "cache.sqlite", "--json", "--max-tokens", 10**6)  # fmt: skip
        check = run(tmp_path, "llm", "check", "openai:m", "--base-url", server.url)
        embedded = run(tmp_path, *asked, "--embedder", "openai:e", "--save", tmp_path / "third")
    assert (first.returncode, cached.returncode, embedded.returncode) == (0, 0, 0), first.stderr
    assert "goal reached" in first.stdout and "[key]" in first.stdout
    assert json.loads(cached.stdout)["reached"] is True
    assert "[key]" in (run_folder / "llm.jsonl").read_text(encoding="utf-8")
    ended = [first, cached, check, embedded]
    for words in (
        ("show", run_folder),
        ("show", run_folder, "--html", more / "shown.html"),
        ("plan", "--llm", f"replay:{run_folder}", "--save", tmp_path / "again"),
        ("llm", "usage", run_folder),
        ("llm", "usage", run_folder, "--json"),
        ("library", "list", "--library", more / "library.ttl"),
        ("library", "export", more / "library.json", "--library", more / "library.ttl"),
        ("kg", "export", "--run", run_folder, "--all", "-o", more / "run.trig"),
    ):
        ended.append(run(tmp_path, *words))
        assert ended[-1].returncode == 0, ended[-1].stderr
    assert leaks(tmp_path, *ended) == []


def ends() -> Iterator[tuple[str, str, Reply, int]]:
    """Yield the ways a run can end: name, provider, last reply, exit code."""
    said = "\n".join(ALL)
    yield "wrong key", "openai", Reply(status=401, message=said, param=said), 2
    yield "error", "openai", _json({"error": {"message": said, "code": said, "type": "auth"}}), 4
    yield "nonsense", "openai", _json({"choices": [{"message": {KNOWN: said}}], KNOWN: said}), 4
    yield "no JSON", "openai", Reply(raw=said.encode()), 4
    message = {"content": said, "refusal": said}
    yield "refusal", "openai", _json({"choices": [{"message": message}]}), 4
    yield "redirect", "openai", Reply(status=302, raw=b"", headers={
        "Location": f"http://127.0.0.1:9/{KNOWN}?key={KNOWN}"}), 2  # fmt: skip
    yield "error", "gemini", _json({"error": {"message": said, "status": said}}), 4
    blocked = {"promptFeedback": {"blockReason": said, "blockReasonMessage": said}}
    yield "blocked", "gemini", _json(blocked), 4
    part = {"finishReason": "SAFETY", "finishMessage": said, "content": {"parts": [{"text": said}]}}
    yield "filter", "gemini", _json({"candidates": [part], "modelVersion": said}), 4


def _json(body: object) -> Reply:
    return Reply(raw=json.dumps(body).encode())


ENDS = {f"{provider}: {name}": (provider, reply, code) for name, provider, reply, code in ends()}
LOGGED = ("openai: wrong key", "openai: error")

SERVERS = {"openai": OpenAIServer, "gemini": GeminiServer}


@pytest.mark.parametrize("name", ENDS)
def test_a_run_that_ends_badly(name: str, tmp_path: Path) -> None:
    provider, reply, code = ENDS[name]
    (tmp_path / "pyproject.toml").write_text("[tool.hvr.llm]\nattempts = 2", encoding="utf-8")
    with SERVERS[provider]([reply]) as server:
        model = ("--llm", f"{provider}:m", "--base-url", server.url)
        ended = run(tmp_path, "plan", *COFFEE, *model, "--save", "run", "--json",
                    log=name in LOGGED)  # fmt: skip
    assert ended.returncode == json.loads(ended.stdout)["exit_code"] == code, ended
    assert ended.stderr.splitlines()[-1].startswith("error: ")
    assert "Traceback" not in ended.stderr
    assert leaks(tmp_path, ended) == []


@pytest.mark.parametrize("provider", SERVERS)
def test_other_commands_that_end_badly(provider: str, tmp_path: Path) -> None:
    _, reply, code = ENDS[f"{provider}: error"]
    (tmp_path / "pyproject.toml").write_text("[tool.hvr.llm]\nattempts = 2", encoding="utf-8")
    with SERVERS[provider]([reply]) as server:
        where = ("--base-url", server.url)
        check = ("llm", "check", f"{provider}:m", *where)
        bench = ("bench", "--tasks", "T2", "--settings", "LLM", "--models", f"{provider}:m")
        ended = [
            run(tmp_path, "plan", *COFFEE, "--llm", f"{provider}:m", *where, "--save", "run"),
            run(tmp_path, *check),
            run(tmp_path, *check, "--json"),
            run(tmp_path, *bench, *where, "--save", "b", "--html", "b.html", "--csv", "b.csv"),
        ]
    ended.append(run(tmp_path, "plan", "--llm", "replay:run", "--save", "again"))
    ended.append(run(tmp_path, "bench", "show", "b", "--json"))
    assert [one.returncode for one in ended] == [code, 1, 1, code, code, 0], ended
    assert "Traceback" not in "".join(one.stderr for one in ended)
    assert leaks(tmp_path, *ended) == []


def test_a_bench_and_all_that_is_made_of_it(tmp_path: Path) -> None:
    with OpenAIServer(Echoing(make_coffee, ALL)) as server:
        asked: Sequence[object] = (
            "bench", "--tasks", "T2", "--settings", "LLM-structured", "--seeds", "2",
            "--models", "openai:m",
            "--base-url", server.url, "--save", "b", "--cache", "cache.sqlite", "--jobs", "2",
            "--max-calls", 200,
        )  # fmt: skip
        ended = [run(tmp_path, *asked, "--html", "b.html", "--csv", "b.csv", log=True)]
        assert len(server.received) >= 4
    ended.append(run(tmp_path, "bench", "show", "b"))
    ended.append(run(tmp_path, "bench", "show", "b", "--json", "--html", "shown.html"))
    assert [one.returncode for one in ended] == [0, 0, 0], ended
    assert "2 of 2 cells" in ended[0].stdout
    assert leaks(tmp_path, *ended) == []
