"""Judged dialogues from files: what was said, which tools were called, and what was right.

A line of JSON a dialogue:

```
{"dialogue": "d-1", "turns": [
  {"user": "I want to pick up a parcel", "move": "ask"},
  {"user": "I am bob@example.org", "calls": ["find_customer", "list_parcels"]}]}
```

`move` is call, find, ask or answer (none of the tools is of use); a turn with `calls` is a call.
`tools`, of a dialogue or from a turn on, are those at hand: names, or schemas of other tools than
the catalogue's; all of the catalogue if nothing is said. The others are known, and not at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hvr.base.texts import read_json_lines
from hvr.errors import DataFileError
from hvr.tools.catalogue.formats import read_tool
from hvr.tools.catalogue.schema import quoted
from hvr.tools.navigation.decision import NextMove
from hvr.tools.navigation.turns.turn import MOVES, JudgedTurn, OfferedTool, Turn

Dialogue = Mapping[str, Any]


def read_dialogues(path: Path) -> list[Dialogue]:
    """Return the dialogues of a file, each with a name.

    Raises:
        DataFileError: it cannot be read, is empty, or a line is no object.
    """
    found: list[Dialogue] = []
    for number, record in read_json_lines(path, strict=False):
        if not isinstance(record, dict):
            raise DataFileError(f"{path}: line {number}: a dialogue is an object with 'turns'")
        found.append({"dialogue": f"line {number}", **record})
    if not found:
        raise DataFileError(f"{path}: has no dialogue")
    return found


def judged_turns(
    record: Dialogue, tools: Mapping[str, OfferedTool], place: str
) -> list[JudgedTurn]:
    """Return the turns of a dialogue with what was right in them.

    Args:
        record: the dialogue.
        tools: of the catalogue, by name.
        place: where it is, for messages.

    Raises:
        DataFileError: it is none, or names a tool that is not there.
    """
    turns = record.get("turns")
    if not isinstance(turns, list) or not turns:
        raise DataFileError(f"{place}: a dialogue has a list of 'turns'")
    known = dict(tools)
    here = _at_hand(record.get("tools"), known, place) or tuple(known)
    found: list[JudgedTurn] = []
    earlier: list[str] = []
    idle = False
    for number, said in enumerate(turns, 1):
        where = f"{place}: turn {number}"
        if not isinstance(said, dict):
            raise DataFileError(f"{where}: a turn is an object with 'user'")
        here = _at_hand(said.get("tools"), known, where) or here
        text, used, move = _said(said, where)
        for name in used:
            if name not in known:
                raise DataFileError(f"{where}: there is no tool {quoted(name)}")
        at_hand = tuple(known[name] for name in here)
        outside = tuple(tool for name, tool in known.items() if name not in set(here))
        turn = Turn(text, at_hand, outside, tuple(earlier), idle)
        found.append(JudgedTurn(turn, move, frozenset(used), str(record.get("dialogue", place))))
        earlier += [text] if text else []
        idle = not used
    return found


def _said(turn: Mapping[str, Any], place: str) -> tuple[str, list[str], NextMove]:
    user, calls = turn.get("user", ""), turn.get("calls", [])
    texts = user if isinstance(user, list) else [user]
    if not all(isinstance(text, str) for text in texts):
        raise DataFileError(f"{place}: 'user' is a text, or a list of texts")
    if not isinstance(calls, list) or not all(isinstance(name, str) for name in calls):
        raise DataFileError(f"{place}: 'calls' is a list of names of tools")
    move = turn.get("move", "call" if calls else None)
    if move not in {one.value for one in MOVES} or (move != "call" and calls):
        moves = ", ".join(one.value for one in MOVES)
        raise DataFileError(f"{place}: 'move' is one of {moves}, and call where there are calls")
    return " ".join(texts), calls, NextMove(move)


def _at_hand(listed: Any, known: dict[str, OfferedTool], place: str) -> tuple[str, ...]:
    """Return the names of the tools at hand; schemas among them become known."""
    if listed is None:
        return ()
    if not isinstance(listed, list):
        raise DataFileError(f"{place}: 'tools' is a list of names or of schemas")
    names = []
    for entry in listed:
        if isinstance(entry, dict):
            schema = read_tool(entry, place)
            known[schema.name] = OfferedTool(schema)
            names.append(schema.name)
        elif entry in known:
            names.append(entry)
        else:
            raise DataFileError(f"{place}: there is no tool {quoted(entry)}")
    return tuple(dict.fromkeys(names))
