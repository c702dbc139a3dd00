"""Agreement of call arguments: parameter type F1 and parameter value F1.

GNN4Plan (appendix G.2) adopts both from TaskBench without formulas; hvr defines them as follows. An
argument is a named or an unnamed value.

type F1    over pairs (tool, type). The type is the argument's name if it has one. Otherwise it is
           `image`, `audio` or `video` for a value with such a file extension, the first output type
           of tool j for a value `<node-j>`, and `text` for all others.
value F1   over triples (tool, type, value); values are compared in lower case, without surrounding
           blanks and quotes.

Both are list F1 scores as in `hvr.tools.tool_plans`, without duplicates and averaged over requests.
A request is skipped if both of its lists are empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hvr.tools.tool_plans import ToolGraph, f1

_ENDINGS = {
    "image": ("jpg", "jpeg", "png", "gif", "bmp", "tiff", "svg", "webp"),
    "audio": ("wav", "mp3", "ogg", "aac", "flac", "wma", "aiff"),
    "video": ("mp4", "avi", "mov", "mkv", "webm", "wmv", "mpg", "mpeg", "flv"),
}
_NODE = re.compile(r"<node-(\d+)>")


@dataclass(frozen=True)
class Call:
    """A call of a tool; `arguments` are pairs of name and value, where the name may be empty."""

    tool: str
    arguments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class ArgumentAgreement:
    """Means over requests, from 0 to 1.

    Args:
        type_f1: F1 over pairs (tool, type).
        value_f1: F1 over triples (tool, type, value).
    """

    requests: int
    type_f1: float
    value_f1: float


def read_calls(nodes: Any) -> tuple[Call, ...]:
    """Read the calls in `task_nodes`, as leniently as `hvr.tools.datasets`.

    A node has `task` and `arguments`, each of which is a value or {"name", "value"}; anything else
    is skipped.
    """
    calls = []
    for node in nodes if isinstance(nodes, list) else []:
        if isinstance(node, dict) and isinstance(node.get("task"), str):
            given = node.get("arguments")
            arguments = tuple(_argument(a) for a in given if _readable(a)) if isinstance(
                given, list
            ) else ()  # fmt: skip
            calls.append(Call(node["task"], arguments))
    return tuple(calls)


def argument_agreement(
    predicted: Mapping[str, Sequence[Call]],
    truth: Mapping[str, Sequence[Call]],
    graph: ToolGraph | None = None,
) -> ArgumentAgreement:
    """Compare the arguments of predicted calls with those of true calls.

    Args:
        predicted: Calls by request id; a request without calls scores 0.
        truth: True calls by request id.
        graph: Tool graph that gives the output types for values `<node-j>`.
    """
    types: list[float] = []
    values: list[float] = []
    for key, true in truth.items():
        calls = predicted.get(key, ())
        mine, theirs = list(dict.fromkeys(_triples(calls, graph))), list(
            dict.fromkeys(_triples(true, graph))
        )  # fmt: skip
        if not mine and not theirs:
            continue
        values.append(f1(mine, theirs))
        types.append(f1(_pairs(mine), _pairs(theirs)))
    count = max(1, len(values))
    return ArgumentAgreement(len(values), sum(types) / count, sum(values) / count)


def _readable(argument: Any) -> bool:
    return isinstance(argument, str) or (isinstance(argument, dict) and "value" in argument)


def _argument(argument: Any) -> tuple[str, str]:
    if isinstance(argument, str):
        return "", argument
    return str(argument.get("name") or ""), str(argument["value"])


def _pairs(triples: Iterable[tuple[str, str, str]]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((tool, kind) for tool, kind, _ in triples))


def _triples(calls: Sequence[Call], graph: ToolGraph | None) -> Iterable[tuple[str, str, str]]:
    for call in calls:
        for name, value in call.arguments:
            plain = value.strip().strip("'\"").lower()
            yield call.tool, name or _type(plain, calls, graph), plain


def _type(value: str, calls: Sequence[Call], graph: ToolGraph | None) -> str:
    node = _NODE.search(value)
    if node is not None and int(node[1]) < len(calls) and graph is not None:
        tool = calls[int(node[1])].tool
        if tool in graph and graph.tool(tool).outputs:
            return graph.tool(tool).outputs[0]
    ending = value.rpartition(".")[2]
    return next((kind for kind, endings in _ENDINGS.items() if ending in endings), "text")
