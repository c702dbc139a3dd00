"""Every file read by a command line, by role: a new reader is one more row."""

from __future__ import annotations

import atexit
import io
import json
import shutil
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from hvr.doors.cli.main import main


@dataclass(frozen=True)
class Role:
    """A file that a command reads.

    Args:
        words: Command line; `parts` create its files.
        file: Path of the file.
        parts: Names of the functions of this module that create the files.
        needs: Package required to reach the file.
        own: Whether hvr writes the file itself, so that other line endings cannot occur.
        dear: Whether a valid file triggers expensive work, so that few contents are tried.
    """

    words: str
    file: str
    parts: tuple[str, ...] = ("task",)
    needs: str = ""
    own: bool = False
    dear: bool = False

    @property
    def command(self) -> list[str]:
        return self.words.split()

    def __str__(self) -> str:
        return f"{self.file} of {self.words}"


_VALIDATE = "validate d.pddl p.pddl plan"
_VERIFY = "verify run/plan.pddl --domain run/domain.pddl --problem run/problem.pddl --request x"
_JUDGE = "verify tools/val.jsonl --model verifier"
_TOOLS = "tools evaluate tools --plans predicted.jsonl"
_PUBLISHED = "tools evaluate published --split train --plans predicted.jsonl"
_REPLAY = "plan --llm replay:asked --dry-run --save new -q"
_SCRIPTED = "plan --task T1 --llm scripted:error=0 --dry-run --save new -q"

ROLES = (
    Role(_VALIDATE, "d.pddl"),
    Role(_VALIDATE, "p.pddl"),
    Role(_VALIDATE + " --advise --minimise --happenings", "plan"),
    Role(_VALIDATE + " --format sarif", "plan"),
    Role("validate d.pddl p.pddl plan.json --json", "plan.json"),
    Role(_VALIDATE, "pyproject.toml"),
    Role("lint d.pddl p.pddl", "d.pddl"),
    Role("lint d.pddl p.pddl --format github", "p.pddl"),
    Role("llm usage asked", "pyproject.toml", ("asked",)),
    Role("llm check openai:m --base-url http://127.0.0.1:9", "pyproject.toml", needs="openai"),
    *(
        Role("show run --html page.html", f"run/{name}", ("run",))
        for name in (
            "trace.jsonl", "task.json", "error.json", "scene-before.json", "scene-after.json",
            "domain.pddl", "problem.pddl",
        )
    ),
    Role("show run", "run/trace.jsonl", ("run",)),
    Role("scene show --run run", "run/scene-before.json", ("run",)),
    Role("verify run", "run/task.json", ("run",), "torch_geometric"),
    *(
        Role(_VERIFY, f"run/{name}.pddl", ("run",), "torch_geometric")
        for name in ("domain", "problem", "plan")
    ),
    Role("llm usage asked", "asked/llm.jsonl", ("asked",)),
    Role(_REPLAY, "asked/llm.jsonl", ("asked",), dear=True),
    Role(_REPLAY, "asked/planner.jsonl", ("asked",), dear=True),
    Role(_SCRIPTED + " --prompts prompts", "prompts/select.txt", ("prompts",), dear=True),
    Role(_SCRIPTED + " --library known.ttl", "known.ttl", ("library",), dear=True),
    Role(_SCRIPTED + " --cache cache.sqlite", "cache.sqlite", ("cache",), own=True, dear=True),
    Role("plan coffee! --faults faults.json --dry-run --save new -q", "faults.json", ("faults",),
         dear=True),
    *(
        Role(f"library {words}", f"known.{form}", ("library",))
        for form in ("ttl", "json")
        for words in (f"list --library known.{form}", f"merge known.{form} --library other.ttl")
    ),
    Role("bench show bench --per-task", "bench/manifest.json", ("bench",)),
    Role("bench show bench --html page.html", "bench/cells/cell.json", ("bench",)),
    Role("bench show bench --compare earlier.json", "earlier.json", ("bench",)),
    *(
        Role(f"{_JUDGE} --tools tools/tools.json --graph tools/graph.json", f"tools/{name}",
             ("tools", "verifier"), "torch_geometric")
        for name in ("tools.json", "graph.json", "val.jsonl")
    ),
    Role(_JUDGE, "verifier/verifier.json", ("tools", "verifier"), "torch_geometric"),
    Role(_JUDGE, "verifier/judge.safetensors", ("tools", "verifier"), "torch_geometric",
         own=True),
    *(
        Role(_TOOLS, name, ("tools",))
        for name in (
            "tools/tools.json", "tools/graph.json", "tools/train.jsonl", "tools/val.jsonl",
            "tools/requests.jsonl", "predicted.jsonl",
        )
    ),
    *(
        Role(_PUBLISHED, f"published/{name}.json", ("tools",))
        for name in ("tool_desc", "graph_desc", "data", "user_requests", "split_ids")
    ),
)  # fmt: skip


def fill(folder: Path, role: Role) -> None:
    """Copy the files of a role into a folder."""
    for part in role.parts:
        shutil.copytree(_made(part), folder, dirs_exist_ok=True)


@cache
def _made(part: str) -> Path:
    """Return the cached folder with the files of a part."""
    folder = Path(mkdtemp(prefix="hvr-part-"))
    atexit.register(shutil.rmtree, folder)
    with chdir(folder), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        _PARTS[part]()
    return folder


def _task() -> None:
    Path("d.pddl").write_text(
        "(define (domain d) (:requirements :strips :typing)\n  (:types thing)\n"
        "  (:predicates (clean ?x - thing) (here ?x - thing))\n"
        "  (:action wash :parameters (?x - thing)\n"
        "    :precondition (here ?x)\n    :effect (clean ?x)))\n"
    )
    Path("p.pddl").write_text(
        "(define (problem p) (:domain d) (:objects a b - thing)\n"
        "  (:init (here a)\n    (here b))\n  (:goal (and (clean a) (clean b))))\n"
    )
    Path("plan").write_text("(wash a)\n; then\n(wash c)\n")
    steps = [{"action": "wash", "args": [name]} for name in ("a", "b")]
    Path("plan.json").write_text(json.dumps(steps, indent=1) + "\n")
    Path("pyproject.toml").write_text(
        "[tool.hvr.validate]\nquiet = false\n\n[tool.hvr.llm]\ntimeout = 3\nattempts = 1\n"
    )


def _run() -> None:
    main(["plan", "make coffee", "--save", "run", "-q"])
    Path("run/error.json").write_text('{\n"error": "X",\n"message": "m"}\n')


def _asked() -> None:
    words = "plan --task T2 --llm scripted:error=0.5 --dry-run --save asked -q"
    main(words.split())
    Path("pyproject.toml").write_text("[tool.hvr.llm]\ntimeout = 3\n")


def _prompts() -> None:
    from hvr.policies.llm.prompts import load_prompts

    load_prompts().save(Path("prompts"))


def _cache() -> None:
    main([*_SCRIPTED.split(), "--cache", "cache.sqlite"])
    shutil.rmtree("new")


def _library() -> None:
    from hvr.planning.library.library import write_library
    from tests.planning.library.library_worlds import learnt

    for form in ("ttl", "json"):
        write_library(learnt("T1"), Path(f"known.{form}"))


def _faults() -> None:
    from hvr.worlds.faults import Fault, FaultKind, FaultTiming, Schedule

    Schedule((Fault(FaultKind.DROP, FaultTiming(step=2)),)).save(Path("faults.json"))


def _bench() -> None:
    words = "bench --tasks T1 --settings HVR --models scripted:error=0 --save bench --json"
    with redirect_stdout(io.StringIO()) as said:
        main(words.split())
    Path("earlier.json").write_text(said.getvalue())
    (cell,) = Path("bench/cells").iterdir()
    cell.rename("bench/cells/cell.json")


def _tools() -> None:
    from hvr.tools.datasets import to_record
    from tests.judging.verifier.small_world import small_plans, small_tools

    graph, plans = small_tools(), small_plans()
    nodes = [{"id": t.id, "desc": t.description, "input_types": ["x"]} for t in graph.tools]
    links = [{"source": a, "target": b} for a, b in graph.links]
    records = [to_record(plan) for plan in plans[:9]]
    requests = [{"id": plan.id, "user_request": plan.request} for plan in plans[:9]]
    texts = {
        "tools/tools.json": {"nodes": nodes},
        "tools/graph.json": {"links": links},
        "tools/train.jsonl": records[:4],
        "tools/val.jsonl": records[4:],
        "tools/requests.jsonl": requests,
        "predicted.jsonl": records[4:],
        "published/tool_desc.json": {"nodes": nodes},
        "published/graph_desc.json": {"links": links},
        "published/data.json": records,
        "published/user_requests.json": requests,
        "published/split_ids.json": {"test_ids": {"chain": [plans[0].id]}},
    }
    for name, value in texts.items():
        Path(name).parent.mkdir(exist_ok=True)
        lines = value if name.endswith("l") else [value]
        Path(name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def _verifier() -> None:
    from hvr.judging.verifier.features import ToolEmbeddings
    from hvr.judging.verifier.judgement.fit import fit_judge
    from hvr.judging.verifier.judgement.judge import save_judge
    from hvr.judging.verifier.verifier import make_encoder
    from tests.judging.verifier.small_world import small_plans, small_tools, tiny_config

    config = tiny_config(encoder="lexical-hash")
    embeddings = ToolEmbeddings(small_tools(), make_encoder(config), config)
    save_judge(fit_judge(embeddings, small_plans()), Path("verifier"))


_PARTS: dict[str, Callable[[], None]] = {
    "task": _task, "run": _run, "asked": _asked, "prompts": _prompts, "cache": _cache,
    "library": _library, "faults": _faults, "bench": _bench, "tools": _tools,
    "verifier": _verifier,
}  # fmt: skip
