"""Homes, paths, limits, clocks, proxies, and ways to start Python."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from functools import partial

from studies.chaos.checks import Group
from studies.chaos.conditions.small import plan_words, unprivileged
from studies.chaos.invariants import FAILED, GOOD, UNANSWERED, UNUSABLE, Run, examine, require
from studies.chaos.kills.moments import calls_in, slowly
from studies.chaos.lab import ROOT, Lab
from studies.chaos.wire import ChaosServer

surroundings = Group("surroundings")

_Env = Mapping[str, str | None]


def _environment(env: _Env, codes: set[int], lab: Lab) -> None:
    filled = {k: v and v.replace("WORK", str(lab.work)) for k, v in env.items()}
    (lab.work / "a-file").write_text("here", encoding="utf-8")
    run, words = plan_words(lab)
    examine(lab, lab.hvr(*words, how=lab.surroundings(env=filled)), codes, run=run)


_GOOD = {GOOD}
for _name, _env, _codes in (
    ("home-unset", {"HOME": None}, _GOOD),
    ("home-missing", {"HOME": "/no/such/home"}, _GOOD),
    ("home-relative", {"HOME": "somewhere"}, _GOOD),
    ("home-is-a-file", {"HOME": "WORK/a-file"}, _GOOD),
    ("xdg-files", {"XDG_DATA_HOME": "WORK/a-file", "XDG_CACHE_HOME": "WORK/a-file"}, _GOOD),
    ("xdg-odd", {"XDG_DATA_HOME": "", "XDG_CACHE_HOME": "a\nb", "XDG_CONFIG_HOME": "~"}, _GOOD),
    ("tmpdir-missing", {"TMPDIR": "/no/such/tmp"}, _GOOD),
    ("tmpdir-is-a-file", {"TMPDIR": "WORK/a-file"}, _GOOD),
    ("path-empty", {"PATH": ""}, _GOOD),
    ("no-environment", {"PATH": None, "HOME": None, "LANG": None}, _GOOD),
    ("time-zone-garbage", {"TZ": "Mars/Olympus:::"}, _GOOD),
    ("time-zone-far", {"TZ": "XXX-167:59:59"}, _GOOD),
    ("switch-garbage", {"HVR_VERIFY": "perhaps"}, {UNUSABLE}),
    ("optimised", {"PYTHONOPTIMIZE": "2"}, _GOOD),
    ("warnings-are-errors", {"PYTHONWARNINGS": "error"}, _GOOD),
    ("development-mode", {"PYTHONDEVMODE": "1"}, _GOOD),
    ("faulthandler-and-malloc", {"PYTHONFAULTHANDLER": "1", "PYTHONMALLOC": "debug"}, _GOOD),
    ("hash-seed", {"PYTHONHASHSEED": "4242"}, _GOOD),
    ("no-bytecode", {"PYTHONDONTWRITEBYTECODE": "1"}, _GOOD),
    ("few-digits", {"PYTHONINTMAXSTRDIGITS": "640"}, _GOOD),
    ("thousands-of-variables", {f"CHAOS_{n}": "x" * 50 for n in range(5000)}, _GOOD),
):
    surroundings.add(_name, partial(_environment, _env, _codes),
                     quick=_name == "optimised")  # fmt: skip


def _model(env: _Env, codes: set[int], lab: Lab) -> None:
    run = Run(lab.work / "run")
    with ChaosServer() as server:
        ended = lab.hvr("plan", "make coffee", "--scene", "FloorPlan1", "--llm", server.spec,
                        "--base-url", server.url, "--save", run.folder,
                        how=lab.surroundings(env=env))  # fmt: skip
    examine(lab, ended, codes, run=run)


_NOBODY = "http://127.0.0.1:9"
_EITHER = {UNUSABLE, UNANSWERED}
for _name, _env, _codes in (
    ("model-home-unset", {"HOME": None}, _GOOD),
    ("model-optimised", {"PYTHONOPTIMIZE": "2"}, _GOOD),
    ("model-warnings-are-errors", {"PYTHONWARNINGS": "error"}, _GOOD),
    ("proxy-that-is-gone", {"HTTP_PROXY": _NOBODY, "http_proxy": _NOBODY}, _EITHER),
    ("proxy-that-is-garbage", {"HTTP_PROXY": "::no proxy::", "ALL_PROXY": "what://"}, _EITHER),
    ("proxy-exceptions", {"http_proxy": _NOBODY, "NO_PROXY": "127.0.0.1,localhost"}, _GOOD),
    ("certificates-missing", {"SSL_CERT_FILE": "/no/such/file"}, _EITHER | _GOOD),
    ("certificates-garbage", {"SSL_CERT_FILE": "/etc/passwd"}, _EITHER | _GOOD),
    ("key-with-a-line-break", {"HVR_LLM_API_KEY": "chaos\nkey-of-two-lines"}, {UNUSABLE}),
    ("key-with-letters", {"HVR_LLM_API_KEY": "schlüssel-☕"}, {UNUSABLE}),
    ("key-empty", {"HVR_LLM_API_KEY": ""}, _GOOD),
    ("key-of-a-megabyte", {"HVR_LLM_API_KEY": "k" * 100_000}, _EITHER | _GOOD),
    ("variables-of-the-client", {"OPENAI_LOG": "debug", "OPENAI_ORG_ID": "\x7f"}, _EITHER | _GOOD),
):
    surroundings.add(_name, partial(_model, _env, _codes))


_ABORTED = 128 + signal.SIGABRT


def _limited(limits: tuple[str, ...], codes: set[int], lab: Lab) -> None:
    lab.need("prlimit")
    run, words = plan_words(lab)
    how = lab.surroundings(prefix=("prlimit", *limits))
    ended = lab.hvr(*words, how=how)
    lab.killed = ended.code == _ABORTED
    examine(lab, ended, codes, run=run)


for _name, _limits, _codes in (
    ("few-open-files", ("--nofile=24",), {GOOD, UNUSABLE, UNANSWERED}),
    ("very-few-open-files", ("--nofile=8",), {GOOD, FAILED, UNUSABLE, UNANSWERED}),
    # Native libraries abort without memory, which hvr cannot prevent.
    ("little-address-space", ("--as=600000000",), {GOOD, FAILED, UNANSWERED, _ABORTED}),
    ("very-little-address-space", ("--as=200000000",), {GOOD, FAILED, UNANSWERED, _ABORTED}),
    ("small-stack", ("--stack=262144",), {GOOD, UNANSWERED}),
    ("no-core", ("--core=0",), {GOOD}),
):
    surroundings.add(_name, partial(_limited, _limits, _codes))


@surroundings.check()
def home_that_may_not_be_written(lab: Lab) -> None:
    lab.home.chmod(0o500)
    run, words = plan_words(lab)
    examine(lab, lab.hvr(*words, how=lab.surroundings(prefix=unprivileged(lab))), {GOOD}, run=run)


@surroundings.check()
def working_folder_removed(lab: Lab) -> None:
    gone = lab.work / "gone"
    run, words = plan_words(lab)
    ended = lab.shell(f'mkdir "{gone}" && cd "{gone}" && rmdir "{gone}" && hvr "$@"', *words)
    examine(lab, ended, {GOOD, UNUSABLE}, run=run)
    script = f'mkdir "{gone}" && cd "{gone}" && rmdir "{gone}" && hvr plan "make coffee"'
    examine(lab, lab.shell(script), {UNUSABLE})


_NOT_TEXT = os.fsdecode(b"r\xffn")
_NAMES = {
    "spaces": "a run  of mine ",
    "a-line-break": "a\nrun",
    "letters": "café-☕-日本-\u202egnp",
    "quotes": 'it\'s "mine" `id` $HOME',
    "markup": "[red]run[/] [link]",
    "formats": "%s {0} \\n %(x)d",
    "a-dash": "-run",
    "bytes": _NOT_TEXT,
    "an-escape": "run\x1b]0;owned\x07",
    "200-letters": "r" * 200,
}


def _path(name: str, lab: Lab) -> None:
    run = Run(lab.work / name)
    words = ("plan", "make coffee", "--scene", "FloorPlan1", f"--save={name}")
    ended = lab.hvr(*words)
    if name == _NOT_TEXT and ended.code == UNUSABLE:
        # The graph store cannot represent this name; an error message suffices.
        examine(lab, ended, {UNUSABLE}, says="utf-8")
        return
    examine(lab, ended, {GOOD}, run=run)
    page = lab.work / "page.html"
    examine(lab, lab.hvr("show", run.folder, "--html", page), {GOOD})
    require(page.stat().st_size > 1000, "the page is empty")


for _name, _folder in _NAMES.items():
    surroundings.add(f"path-with-{_name}", partial(_path, _folder), quick=_name == "a-line-break")


def _no_path(name: str, lab: Lab) -> None:
    words = ("plan", "make coffee", "--scene", "FloorPlan1", f"--save={name}")
    # A message may repeat a name exactly as the user gave it.
    examine(lab, lab.hvr(*words), {UNUSABLE}, longest=2_000 + len(name))


for _name, _folder in {"300-letters": "r" * 300, "5000-letters": "a/" * 2500,
                       "nothing": "", "a-device": "/dev/null"}.items():  # fmt: skip
    surroundings.add(f"path-of-{_name}", partial(_no_path, _folder))


@surroundings.check()
def links(lab: Lab) -> None:
    (lab.work / "real").mkdir()
    (lab.work / "link").symlink_to("real")
    (lab.work / "dangling").symlink_to("nowhere")
    (lab.work / "loop").symlink_to("loop")
    words = ("plan", "make coffee", "--scene", "FloorPlan1", "--save")
    run = Run(lab.work / "link" / "run")
    examine(lab, lab.hvr(*words, run.folder), {GOOD}, run=run)
    for name in ("dangling", "loop"):
        examine(lab, lab.hvr(*words, lab.work / name), {GOOD, UNUSABLE})


@surroundings.check()
def stopped_and_continued(lab: Lab) -> None:
    """Suspend a run that waits for its model, and resume it after the model's timeout."""
    run = Run(lab.work / "run")
    with ChaosServer(slowly) as server:
        process = lab.start("plan", "make coffee", "--scene", "FloorPlan1", "--llm", server.spec,
                            "--base-url", server.url, "--save", run.folder)  # fmt: skip
        calls_in(server, 3, 0.02)(process)
        process.send(signal.SIGSTOP)
        time.sleep(4)
        process.send(signal.SIGCONT)
        examine(lab, process.wait(), {GOOD}, run=run)


@surroundings.check()
def hung_up(lab: Lab) -> None:
    """Send SIGHUP to a run, as a closed terminal does: the folder records the interruption."""
    run = Run(lab.work / "run")
    with ChaosServer(slowly) as server:
        process = lab.start("plan", "make coffee", "--scene", "FloorPlan1", "--llm", server.spec,
                            "--base-url", server.url, "--save", run.folder)  # fmt: skip
        calls_in(server, 3, 0.02)(process)
        process.send(signal.SIGHUP)
        lab.killed = True
        examine(lab, process.wait(), {128 + signal.SIGHUP}, run=run)


@surroundings.check()
def nice(lab: Lab) -> None:
    run, words = plan_words(lab)
    how = lab.surroundings(prefix=("nice", "-n", "19"), bound=180)
    examine(lab, lab.hvr(*words, how=how), {GOOD}, run=run)


@surroundings.check()
def isolated_python(lab: Lab) -> None:
    run, words = plan_words(lab)
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import hvr.doors.cli.main as m; m.run()"
    examine(lab, lab.hvr(*words, python=("-I", "-c", code)), {GOOD}, run=run)


@surroundings.check()
def same_plan_whatever_the_hashes(lab: Lab) -> None:
    plans = []
    for seed in ("0", "1", "99"):
        run, words = plan_words(lab, name=f"run-{seed}")
        how = lab.surroundings(env={"PYTHONHASHSEED": seed})
        examine(lab, lab.hvr(*words, how=how), {GOOD})
        plans.append(run.plan)
    require(plans[0] == plans[1] == plans[2], "the plan depends on the hash seed")


def _project(content: bytes | None, codes: set[int], lab: Lab) -> None:
    file = lab.work / "pyproject.toml"
    file.unlink()
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    with ChaosServer() as server:
        ended = lab.hvr("plan", "make coffee", "--scene", "FloorPlan1", "--llm", server.spec,
                        "--base-url", server.url, "--save", lab.work / "run")  # fmt: skip
    examine(lab, ended, codes)


_SECTION = b"[tool.hvr.llm]\ntimeout = 5\n"
for _name, _content, _codes in (
    ("a-folder", None, _GOOD),
    ("empty", b"", _GOOD),
    ("with-a-bom", b"\xef\xbb\xbf" + _SECTION, {GOOD, UNUSABLE}),
    ("with-line-ends-of-windows", _SECTION.replace(b"\n", b"\r\n"), _GOOD),
    ("not-utf-8", _SECTION + b"# caf\xe9\n", {UNUSABLE}),
    ("deeply-nested", b"a = " + b"[" * 100_000, {UNUSABLE}),
    ("with-no-number", b"[tool.hvr.llm]\ntimeout = nan\n", {UNUSABLE}),
    ("with-a-key", b"[tool.hvr.llm]\napi-key = 'x'\n", {UNUSABLE}),
):
    surroundings.add(f"project-{_name}", partial(_project, _content, _codes))
