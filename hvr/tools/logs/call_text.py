"""Calls written as Python text: BFCL's `[f(a=1), g(b="x")]`, and the code of code agents.

Nothing is executed; the text is parsed, and arguments that are not literals stay unknown.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from hvr.tools.logs.events import Called

_JSON_WORDS = {"true": True, "false": False, "null": None}
_FENCE = re.compile(r"^\s*```\w*\n|\n```\s*$")
_BUILTINS = frozenset(dir(builtins))


def calls_in_text(text: str) -> tuple[Called, ...] | None:
    """Return the calls that a text consists of; None if it is anything else.

    Args:
        text: One call, or several in square brackets or separated by line breaks or semicolons.
    """
    parsed = _parsed(_FENCE.sub("", text).strip())
    if parsed is None:
        return None
    found: list[Called] = []
    for statement in parsed.body:
        value = statement.value if isinstance(statement, ast.Expr) else None
        parts = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
        for part in parts:
            if not isinstance(part, ast.Call) or not _name(part.func):
                return None
            found.append(_called(part))
    return tuple(found)


def calls_in_code(code: str) -> tuple[Called, ...] | None:
    """Return the calls of tools in a piece of Python code, in the order of a straight line.

    Calls of Python's own functions, of functions that the code defines or imports, and of methods
    are not calls of tools. None if the text is not Python.
    """
    parsed = _parsed(_FENCE.sub("", code))
    if parsed is None:
        return None
    own = set(_BUILTINS)
    for node in ast.walk(parsed):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            own |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return tuple(
        _called(node)
        for node in _in_order(parsed)
        if isinstance(node.func, ast.Name) and node.func.id not in own
    )


def _in_order(node: ast.AST) -> Iterator[ast.Call]:
    """Yield calls as they are made: the arguments of a call before the call."""
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)
    if isinstance(node, ast.Call):
        yield node


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text) if text else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        above = _name(node.value)
        return f"{above}.{node.attr}" if above else ""
    return ""


def _called(call: ast.Call) -> Called:
    values = [*call.args, *(k.value for k in call.keywords)]
    known, literals = True, []
    for value in values:
        try:
            literals.append(_literal(value))
        except (ValueError, TypeError, RecursionError):
            known = False
    if not known or any(k.arg is None for k in call.keywords):
        return Called(_name(call.func))
    count = len(call.args)
    named = {k.arg: v for k, v in zip(call.keywords, literals[count:], strict=True) if k.arg}
    return Called(_name(call.func), named, tuple(literals[:count]))


def _literal(node: ast.expr) -> object:
    if isinstance(node, ast.Name) and node.id in _JSON_WORDS:
        return _JSON_WORDS[node.id]
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_literal(e) for e in node.elts]
    if isinstance(node, ast.Dict):
        return {
            str(_literal(k)): _literal(v)
            for k, v in zip(node.keys, node.values, strict=True)
            if k is not None
        }
    value = ast.literal_eval(node)
    if not isinstance(value, str | int | float | bool | None):
        raise ValueError("not a value of JSON")
    return value
