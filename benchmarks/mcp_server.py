"""Test the MCP server under fuzzed calls, scripted agents and repeated starts.

Calls go through the official client in memory; starts are real processes over stdio. Each answer
is checked against its schema, and for the text of files outside the served folder.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import jsonschema
from mcp import Client, MCPError

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions

from hvr.doors.mcp.server import mcp_server
from hvr.doors.schema import OPERATIONS
from hvr.doors.service import Service

EXAMPLES = Path(__file__).parents[1] / "examples"
DOMAIN = (EXAMPLES / "blocks/domain.pddl").read_text(encoding="utf-8")
HDDL = [(EXAMPLES / f"parcels/{part}.hddl").read_text("utf-8") for part in ("domain", "problem")]
CANARY = "canary-7f3a"
"""Content of a file outside the served folder, which must never appear in an answer."""
_MOST_TEXT = 2000

# Inputs -------------------------------------------------------------------------------------------


def tower(blocks: list[str]) -> str:
    """Return a problem whose goal is one tower of blocks that initially lie on the table."""
    facts = " ".join(f"(clear {b}) (on-table {b})" for b in blocks)
    goal = " ".join(f"(on {a} {b})" for a, b in pairwise(blocks))
    names = " ".join(blocks)
    return (
        f"(define (problem tower) (:domain blocks) (:objects {names})"
        f" (:init (hand-empty) {facts}) (:goal (and {goal})))"
    )


def building(blocks: list[str]) -> list[str]:
    pairs = reversed(list(pairwise(blocks)))
    return [step for a, b in pairs for step in (f"(pick-up {a})", f"(stack {a} {b})")]


def damaged(plan: list[str], drawn: random.Random) -> list[str]:
    """Return a plan with a step left out, repeated, swapped or changed."""
    steps, at = list(plan), drawn.randrange(len(plan))
    match drawn.randrange(4):
        case 0:
            del steps[at]
        case 1:
            steps.insert(at, steps[at])
        case 2:
            other = drawn.randrange(len(plan))
            steps[at], steps[other] = steps[other], steps[at]
        case _:
            steps[at] = steps[at].replace("pick-up", "put-down")
    return steps


def served(folder: Path) -> Path:
    """Create a folder to serve, with links to a file outside it."""
    root = folder / "root"
    (root / "runs").mkdir(parents=True)
    (folder / "secret.pddl").write_text(f"(define (domain {CANARY}))", encoding="utf-8")
    (root / "link.pddl").symlink_to(folder / "secret.pddl")
    (root / "out").symlink_to(folder)
    (root / "domain.pddl").write_text(DOMAIN, encoding="utf-8")
    (root / "problem.pddl").write_text(tower(["a", "b", "c"]), encoding="utf-8")
    (root / "plan.txt").write_text("\n".join(building(["a", "b", "c"])), encoding="utf-8")
    return root


_PATHS = [
    "domain.pddl", "problem.pddl", "plan.txt", "link.pddl", "out/secret.pddl", "../secret.pddl",
    "out", ".", "/etc/passwd", "/dev/zero", "a\0b", "x" * 300, "runs/../../secret.pddl", "~", "",
]  # fmt: skip
_ODD: list[Any] = [
    None, True, -1, 0, 10**30, 1e308, 0.5, "", "x", "\u202e(a)", "\x1b[2J", "(" * 3000, "é\ud83d",
    [], {}, [1], {"a": [None]}, "(define", "nan", ["lend_book"],
]  # fmt: skip
_TOOLS = json.dumps(
    [
        {
            "name": "lend_book",
            "parameters": {
                "type": "object",
                "properties": {"title": {"type": "string"}, "reader": {"type": "string"}},
                "required": ["title"],
            },
        }
    ]
)


def _mutated(text: str, drawn: random.Random) -> str:
    if drawn.random() < 0.85:
        return text
    at, size = drawn.randrange(len(text) + 1), drawn.randrange(6)
    put = drawn.choice(["", "(", ")", " ", "?x", "not", "\u202e", "\x07", ";", "1e9"])
    return text[:at] + put + text[at + size :]


def _value(name: str, drawn: random.Random, sessions: list[str], model: tuple[str, str]) -> Any:
    if drawn.random() < 0.02:
        return drawn.choice(_ODD)
    if name.endswith("_file"):
        good_name = "plan.txt" if name == "plan_file" else name.replace("_file", ".pddl")
        return drawn.choice([good_name] * 15 + _PATHS)
    plan = building(["a", "b", "c"])
    good: dict[str, Any] = {
        "domain": _mutated(model[0], drawn),
        "problem": _mutated(model[1], drawn),
        "plan": _mutated("\n".join(damaged(plan, drawn)), drawn),
        "tools": _mutated(_TOOLS, drawn),
        "session": drawn.choice([*sessions, "none"]),
        "action": _mutated(drawn.choice(plan), drawn),
        "request": drawn.choice(["make coffee", "lend Emma", "fly to the moon", "wash a plate"]),
        "scene": drawn.choice(["", "FloorPlan1", "FloorPlan1.json", "../secret", "nowhere"]),
        "goals": ["lend_book"],
        "given": {"title": "Emma"},
        "planner": "forward",
        "seconds": 5,
        "step": drawn.randrange(1, 6),
        "limit": drawn.randrange(1, 50),
        "mentions": drawn.choice(["", "a", "\u202e"]),
        "on_failure": drawn.choice(["stop", "skip", "force"]),
        "state_at": drawn.randrange(4),
        "tolerance": 0.01,
    }
    return good.get(name, drawn.random() < 0.5)


def calls(number: int, seed: int, sessions: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield random calls, most of them well-formed, with damaged texts, paths and values."""
    drawn = random.Random(seed)
    # Planning a request takes a thousand times as long as listing actions.
    names = [name for name in OPERATIONS for _ in range(1 if name == "plan_request" else 12)]
    for _ in range(number):
        name = drawn.choice(names) if drawn.random() > 0.01 else "validat_plan"
        request = OPERATIONS.get(name, OPERATIONS["validate_plan"]).request
        members = [m for m in request.__match_args__ if not m.endswith("_file")]
        hierarchical = (name == "validate_decomposition") == (drawn.random() < 0.9)
        model = (HDDL[0], HDDL[1]) if hierarchical else (DOMAIN, tower(["a", "b", "c"]))
        data = {m: _value(m, drawn, sessions, model) for m in members if drawn.random() > 0.02}
        for part in ("domain", "problem", "plan"):
            if f"{part}_file" in request.__match_args__ and drawn.random() < 0.15:
                data.pop(part, None)
                data[f"{part}_file"] = _value(f"{part}_file", drawn, sessions, model)
        if drawn.random() < 0.03:
            data[drawn.choice(["domian", "x", ""])] = drawn.choice(_ODD)
        if drawn.random() < 0.9 and name in ("find_plan", "plan_request"):
            data |= {"seconds": 5} | ({"planner": "forward"} if name == "find_plan" else {})
        yield name, data


# Fuzzing ------------------------------------------------------------------------------------------


async def fuzzed(number: int, seed: int) -> Counter[str]:
    """Return the outcomes of random calls.

    Raises:
        AssertionError: hvr failed, or an answer breaks its schema or reveals a file from outside.
    """
    seen, sessions = Counter[str](), list[str]()
    schemas = {
        name: jsonschema.Draft202012Validator(one.answer_schema())
        for name, one in OPERATIONS.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        async with Service(served(Path(folder))) as service, Client(mcp_server(service)) as client:
            for name, data in calls(number, seed, sessions):
                try:
                    result = await client.call_tool(name, data)
                except (MCPError, UnicodeEncodeError, ValueError) as error:
                    # An unknown tool, or arguments that the client itself refuses to send.
                    assert name not in OPERATIONS or not isinstance(error, MCPError), (name, data)
                    seen["protocol error"] += 1
                    continue
                text = "".join(part.text for part in result.content)
                answer = result.structured_content
                shown = text + json.dumps(answer)
                assert CANARY not in shown and len(text) <= _MOST_TEXT, (name, data)
                assert "\u202e" not in text + json.dumps(answer, ensure_ascii=False), (name, data)
                assert "hvr failed" not in text and "WorkerLost" not in text, (name, data, text)
                if result.is_error:
                    seen[f"error {text.split(':')[0].split(' [')[0]}"] += 1
                    continue
                schemas[name].validate(answer)
                seen[f"answer {name}"] += 1
                if name in ("open_session", "fork_session"):
                    sessions[:] = [*sessions[-20:], answer["session"]]
    return seen


# Agents -------------------------------------------------------------------------------------------


async def mended(number: int, seed: int) -> Counter[str]:
    """Repair broken plans with only `validate_plan` and `repair_plan`, and return the outcomes."""
    drawn, seen = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        async with Service(Path(folder)) as service, Client(mcp_server(service)) as client:
            while seen.total() < number:
                blocks = [f"b{i}" for i in range(drawn.randint(3, 6))]
                model = {"domain": DOMAIN, "problem": tower(blocks)}
                plan = damaged(building(blocks), drawn)
                first = await _called(client, "validate_plan", **model, plan="\n".join(plan))
                if first["outcome"] != "invalid":
                    continue
                for _ in range(10):
                    found = await _called(client, "repair_plan", **model, plan="\n".join(plan))
                    changed = found["repair"] and (
                        found["repair"]["plan"] or _inserted(plan, found["repair"])
                    )
                    if not changed:
                        break
                    plan = changed
                    last = await _called(client, "validate_plan", **model, plan="\n".join(plan))
                    if last["outcome"] == "valid":
                        break
                last = await _called(client, "validate_plan", **model, plan="\n".join(plan))
                seen["mended" if last["outcome"] == "valid" else "not mended"] += 1
    return seen


def _inserted(plan: list[str], repair: dict[str, Any]) -> list[str]:
    at = len(plan) if repair["before_step"] is None else repair["before_step"] - 1
    return [*plan[:at], *repair["insert"], *plan[at:]]


async def stepped(number: int, seed: int) -> Counter[str]:
    """Solve problems with only sessions: fork, try each action, keep the best state."""
    drawn, seen = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        async with Service(Path(folder)) as service, Client(mcp_server(service)) as client:
            for _ in range(number):
                blocks = [f"b{i}" for i in range(drawn.randint(3, 4))]
                model = {"domain": DOMAIN, "problem": tower(blocks)}
                steps = await _solved(client, model)
                plan = "\n".join(steps)
                last = await _called(client, "validate_plan", **model, plan=plan)
                seen["solved" if last["outcome"] == "valid" else "not solved"] += 1
    return seen


async def _solved(client: Client, model: dict[str, str]) -> list[str]:
    """Search depth-first, with one session per state of the path, and return the plan."""
    first = await _called(client, "open_session", **model)
    limit = model["problem"].count("(on ") * 2
    return await _deeper(client, first, limit, {}) or []


async def _deeper(
    client: Client, state: dict[str, Any], left: int, known: dict[tuple[str, ...], int]
) -> list[str] | None:
    session, here = state["session"], tuple(state["state"])
    try:
        if state["goal_reached"]:
            return list(state["steps"])
        if left == 0 or known.get(here, -1) >= left:
            return None
        known[here] = left
        for action in (await _called(client, "applicable_actions", session=session))["actions"]:
            fork = await _called(client, "fork_session", session=session)
            after = await _called(client, "apply_action", session=fork["session"], action=action)
            if (plan := await _deeper(client, after, left - 1, known)) is not None:
                return plan
        return None
    finally:
        await _called(client, "close_session", session=session)


async def _called(client: Client, name: str, **data: Any) -> dict[str, Any]:
    result = await client.call_tool(name, data)
    assert not result.is_error, (name, data, result.content)
    answer: dict[str, Any] = result.structured_content
    return answer


# Start --------------------------------------------------------------------------------------------

_HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "start", "version": "1"},
    },
}  # fmt: skip


def started() -> float:
    """Return the CPU seconds of `hvr mcp` from its start to its first answer and exit."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "hvr", "mcp"],
        input=json.dumps(_HELLO) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "hvr"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def imported() -> float:
    """Return the CPU seconds for importing the SDK's server alone."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = "import gc, os; gc.disable(); import mcp.server.lowlevel.server as s; os._exit(0)"
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--plans", type=int, default=20)
    parser.add_argument("--problems", type=int, default=10)
    parser.add_argument("--starts", type=int, default=9)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(conditions(seed=options.seed))
    if options.starts:
        whole, alone = zip(*((started(), imported()) for _ in range(options.starts)), strict=True)
        print(f"start: {1000 * median(whole):.0f} ms of CPU")
        print(f"of which the SDK's import: {1000 * median(alone):.0f} ms")
    print("repair:", dict(asyncio.run(mended(options.plans, options.seed))))
    print("sessions:", dict(asyncio.run(stepped(options.problems, options.seed))))
    for outcome, times in sorted(asyncio.run(fuzzed(options.calls, options.seed)).items()):
        print(f"{times:6}  {outcome}")


if __name__ == "__main__":
    main()
