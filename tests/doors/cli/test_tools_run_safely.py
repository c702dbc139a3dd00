"""`hvr tools run` in unfamiliar worlds: unknown effects, kills, repeated commands."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hvr.tools.calling.calls import ToolCall
from hvr.tools.calling.log import CallLedger, CallState
from tests.command_line import Hvr

USERS = '''
from pathlib import Path


def _note(text):
    with Path(__file__).with_name("done").open("a") as file:
        file.write(f"{text}\\n")


def delete_user(email: str) -> dict:
    """Delete a user."""
    _note(f"delete {email}")
    return {"user_id": "U-1", "deleted": True}


def create_user(email: str) -> dict:
    """Create a user."""
    _note(f"create {email}")
    return {"user_id": "U-1"}


def get_user(user_id: str) -> dict:
    """Get a user."""
    return {"user_id": user_id, "name": "Ann"}


def pay(user_id: str, amount: int) -> str:
    """Pay a fine."""
    _note(f"pay {user_id} {amount}")
    if amount == 13:
        raise RuntimeError("the connection was lost")
    return "paid"
'''
SERVER = """
import sys
sys.path.insert(0, {folder!r})
import users
from mcp.server.mcpserver import MCPServer

server = MCPServer("users")
for function in (users.delete_user, users.create_user, users.get_user, users.pay):
    server.tool()(function)
server.run()
"""
PAYS = ("--goal", "pay", "--given", "user_id=U-1", "--given", "amount=5")


def python_world(folder: Path, more: str = "") -> Path:
    (folder / "users.py").write_text(USERS)
    (folder / "world.toml").write_text(f'[tools]\nmodule = "users"\n{more}')
    return folder


def mcp_world(folder: Path, more: str = "") -> Path:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    (folder / "users.py").write_text(USERS)
    (folder / "server.py").write_text(SERVER.format(folder=str(folder)))
    command = json.dumps([sys.executable, "server.py"])
    (folder / "world.toml").write_text(f"[tools]\nmcp = {{ command = {command} }}\n{more}")
    return folder


def done(folder: Path) -> list[str]:
    file = folder / "done"
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.slow
@pytest.mark.parametrize("world", [python_world, mcp_world])
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_no_tool_of_unknown_effect_looks_something_up(
    world: object, hvr_: Hvr, tmp_path: Path
) -> None:
    assert callable(world)
    folder = world(tmp_path)
    ran = hvr_("tools", "run", str(folder), "--goal", "get_user", "--given", "email=ann@x.org",
               "--yes-destructive", "--json")  # fmt: skip
    assert ran.code in (1, 2), ran.err
    told = json.loads(ran.out)
    assert not told["reached"] and done(folder) == []
    assert "get_user" in told["unknown_effects"]


@pytest.mark.slow
@pytest.mark.parametrize("world", [python_world, mcp_world])
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_the_same_command_twice_pays_once(world: object, hvr_: Hvr, tmp_path: Path) -> None:
    assert callable(world)
    folder = world(tmp_path, 'reads = ["get_user"]\n')
    asked = ("tools", "run", str(folder), *PAYS, "--json")
    waits = hvr_(*asked)
    (proposed,) = json.loads(waits.out)["confirm"]
    assert waits.code == 2 and proposed["arguments"] == {"user_id": "U-1", "amount": 5}
    assert {one["source"] for one in proposed["sources"]} == {"said"} and done(folder) == []
    assert hvr_(*asked, "--yes").code == 0
    again = hvr_(*asked, "--yes")
    told = json.loads(again.out)
    assert again.code == 2 and told["confirm"][0]["before"]["state"] == "done"
    assert done(folder) == ["pay U-1 5"]
    assert hvr_(*asked, "--yes", "--repeat").code == 0
    assert done(folder) == ["pay U-1 5"] * 2


def test_a_call_that_a_kill_left_open_is_uncertain(hvr_: Hvr, tmp_path: Path) -> None:
    folder = python_world(tmp_path, 'reads = ["get_user"]\n')
    ledger = CallLedger(folder / "ledger.jsonl", "another request")
    ledger.begin(ToolCall("pay", {"user_id": "U-1", "amount": 5}), {})
    ran = hvr_("tools", "run", str(folder), *PAYS, "--yes", "--json")
    told = json.loads(ran.out)
    assert (ran.code, told["outcome"], done(folder)) == (5, "uncertain", [])
    assert told["uncertain"][0]["state"] == "open"
    assert hvr_("tools", "run", str(folder), *PAYS, "--yes", "--repeat", "-q").code == 0
    assert done(folder) == ["pay U-1 5"]


def test_a_call_that_broke_down_is_uncertain_and_not_impossible(hvr_: Hvr, tmp_path: Path) -> None:
    folder = python_world(tmp_path, 'reads = ["get_user"]\n')
    asked = ("tools", "run", str(folder), *PAYS[:-1], "amount=13", "--yes", "--json")
    for _ in range(2):
        ran = hvr_(*asked)
        assert ran.code == 5 and json.loads(ran.out)["outcome"] == "uncertain", ran.out
    assert done(folder) == ["pay U-1 13"]
    (entry,) = CallLedger(folder / "ledger.jsonl").entries()
    assert entry.state is CallState.UNCERTAIN and "connection was lost" in entry.error
