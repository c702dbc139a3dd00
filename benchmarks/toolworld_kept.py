"""Read the held-out half of the scenarios: public scenarios that are not in the shared data.

Use it for a final report, never for development. It consists of tau2-bench's own test split and of
BFCL's base dialogues whose numbers the shared half lacks. The rows have the fields of
shared/data/toolworlds, which `toolworlds` reads; their correct calls are replayed like all others.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from hvr.base.texts import read_json_lines
from hvr.errors import DataFileError
from hvr.tools.calling.benchmark_worlds import BfclTools


def kept_rows(world: str, shared: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of a world's held-out scenarios.

    Args:
        world: `bfcl` or a domain of tau2-bench.
        shared: Ids of the scenarios in the shared half, which are excluded.
    """
    rows = _bfcl_rows() if world == "bfcl" else _tau2_rows(world)
    return [row for row in rows if row["id"] not in set(shared)]


def _tau2_rows(world: str) -> Iterator[dict[str, Any]]:
    """Yield the tasks of tau2-bench's own test split."""
    for task in import_module(f"tau2.domains.{world}.environment").get_tasks("test"):
        criteria = task.evaluation_criteria
        yield {
            "id": f"{world}/{task.id}",
            "scenario": task.user_scenario.model_dump(mode="json"),
            "ticket": task.ticket,
            "initial_state": task.initial_state and task.initial_state.model_dump(mode="json"),
            "gold_calls": [
                {"name": action.name, "arguments": action.arguments}
                for action in (criteria.actions if criteria else None) or ()
            ],
        }


def _bfcl_rows() -> Iterator[dict[str, Any]]:
    import bfcl_eval  # type: ignore[import-untyped]

    data, name = Path(bfcl_eval.__path__[0]) / "data", "BFCL_v4_multi_turn_base.json"
    answers = {row["id"]: row["ground_truth"] for _, row in
               read_json_lines(data / "possible_answer" / name, strict=False)}  # fmt: skip
    for _, row in read_json_lines(data / name, strict=False):
        tools = BfclTools(row["involved_classes"], row["initial_config"])
        takes = {t.name: [p.name for p in t.takes] for t in tools.catalogue.tools}
        yield {
            "id": row["id"],
            "classes": row["involved_classes"],
            "initial_config": row["initial_config"],
            "turns": [
                {"user": [said["content"] for said in turn if said["role"] == "user"],
                 "calls": [parsed_call(text, takes) for text in calls]}
                for turn, calls in zip(row["question"], answers[row["id"]], strict=True)
            ],
        }  # fmt: skip


def parsed_call(text: str, takes: dict[str, list[str]]) -> dict[str, Any]:
    """Parse a call in Python syntax into its name and its arguments by parameter.

    Args:
        text: Call such as `cd(folder='document')`.
        takes: Parameters of each function, in order, for positional arguments.

    Raises:
        DataFileError: The text is not a call with literal arguments.
    """
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError("expected a function call")
        name = call.func.id
        values = [ast.literal_eval(argument) for argument in call.args]
        kwargs = dict(zip(takes.get(name, ()), values, strict=False))
        kwargs |= {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
    except (SyntaxError, ValueError) as error:
        raise DataFileError(f"BFCL: {text!r} cannot be read: {error}") from None
    return {"api": name, "kwargs": kwargs}
