"""Tools from Python functions with type hints, read from their source; nothing is executed."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator

from hvr.errors import DataFileError
from hvr.tools.catalogue.schema import ToolParameter, ToolSchema

_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean",
          "list": "array", "tuple": "array", "set": "array", "frozenset": "array",
          "List": "array", "Tuple": "array", "Sequence": "array", "Iterable": "array",
          "dict": "object", "Dict": "object", "Mapping": "object", "TypedDict": "object",
          "None": "", "Any": "", "object": ""}  # fmt: skip


def read_functions(source: str, place: str) -> tuple[ToolSchema, ...]:
    """Return the public functions of a module, and the public methods of its public classes.

    Parameters have the types of their hints, `Literal` the choices, and what the docstring's
    section `Args` says of them. A function whose result is a dataclass or `TypedDict` of the same
    module gives its fields.

    Args:
        source: of the module.
        place: where it is, for messages.

    Raises:
        DataFileError: it is no Python, or has no such function.
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise DataFileError(
            f"{place}{f':{line}' if line else ''}: this is no Python: {error.args[0]}"
        ) from None
    records = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
    tools = []
    for node in module.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            tools += [_tool(f, records, f"{node.name}.{f.name}") for f in _functions(node.body)]
    tools += [_tool(f, records, f.name) for f in _functions(module.body)]
    if not tools:
        raise DataFileError(f"{place}: there is no public function in this module")
    return tuple(tools)


_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _functions(body: list[ast.stmt]) -> Iterator[_Function]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name[0] != "_":
            yield node


def _tool(function: _Function, records: dict[str, ast.ClassDef], name: str) -> ToolSchema:
    told = ast.get_docstring(function) or ""
    described = _arguments(told)
    given = function.args
    ordered = [*given.posonlyargs, *given.args]
    defaults = len(ordered) - len(given.defaults)
    takes = []
    for index, argument in enumerate(ordered):
        if index or argument.arg not in ("self", "cls"):
            takes.append(_parameter(argument, index < defaults, described))
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        takes.append(_parameter(argument, default is None, described))
    return ToolSchema(
        name=name,
        description=" ".join(told.partition("\n\n")[0].split()),
        takes=tuple(takes),
        gives=_gives(function.returns, records),
    )


def _parameter(argument: ast.arg, required: bool, described: dict[str, str]) -> ToolParameter:
    kind, choices = _type(argument.annotation)
    return ToolParameter(argument.arg, kind, described.get(argument.arg, ""), required, choices)


def _gives(hint: ast.expr | None, records: dict[str, ast.ClassDef]) -> tuple[ToolParameter, ...]:
    mark, inner = "", _unquoted(hint)
    while isinstance(inner, ast.Subscript) and _TYPES.get(_name(inner.value)) == "array":
        mark, inner = mark + "[]", _unquoted(inner.slice)
    record = records.get(_name(inner)) if inner is not None else None
    if record is not None:
        fields = [n for n in record.body if isinstance(n, ast.AnnAssign)]
        return tuple(
            ToolParameter(f"{mark}.{n.target.id}".removeprefix("."), *_kind(n.annotation))
            for n in fields
            if isinstance(n.target, ast.Name)
        )
    kind, choices = _type(hint)
    return (ToolParameter("result", kind, required=True, choices=choices),) if kind else ()


def _kind(hint: ast.expr) -> tuple[str]:
    return (_type(hint)[0],)


def _type(hint: ast.expr | None) -> tuple[str, tuple[str, ...]]:
    """Return JSON Schema's name of a hint's type, and the choices of a `Literal`."""
    hint = _unquoted(hint)
    if hint is None:
        return "", ()
    if isinstance(hint, ast.BinOp) and isinstance(hint.op, ast.BitOr):
        left, right = _type(hint.left), _type(hint.right)
        return "|".join(dict.fromkeys(t for t in (left[0], right[0]) if t)), left[1] + right[1]
    if isinstance(hint, ast.Constant):
        return "", ()
    if isinstance(hint, ast.Subscript):
        name = _name(hint.value)
        parts = hint.slice.elts if isinstance(hint.slice, ast.Tuple) else [hint.slice]
        if name == "Literal":
            values = [p.value for p in parts if isinstance(p, ast.Constant)]
            kinds = [_TYPES.get(type(v).__name__, "") for v in values]
            return "|".join(dict.fromkeys(kinds)), tuple(json.dumps(v) for v in values)
        if name in ("Optional", "Union", "Annotated"):
            some = [_type(p) for p in (parts[:1] if name == "Annotated" else parts)]
            return "|".join(dict.fromkeys(t for t, _ in some if t)), sum((c for _, c in some), ())
        return _TYPES.get(name, "object"), ()
    return _TYPES.get(_name(hint), "object"), ()


def _unquoted(hint: ast.expr | None) -> ast.expr | None:
    if isinstance(hint, ast.Constant) and isinstance(hint.value, str):
        try:
            return ast.parse(hint.value, mode="eval").body
        except (SyntaxError, ValueError):
            return None
    return hint


def _name(node: ast.expr | None) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _arguments(told: str) -> dict[str, str]:
    """Return what a docstring in Google's or reST's style says of each parameter."""
    found: dict[str, str] = {}
    section, name = False, ""
    for line in told.splitlines():
        words = line.strip()
        if words.startswith(":param "):
            name, _, text = words.removeprefix(":param ").partition(":")
            found[name.split()[-1] if name.split() else ""] = text.strip()
        elif words in ("Args:", "Arguments:", "Parameters:"):
            section = True
        elif section and words and not line.startswith(" "):
            section = False
        elif section and words:
            head, colon, text = words.partition(":")
            word = head.partition("(")[0].strip()
            if colon and word.isidentifier():
                name = word
                found[name] = text.strip()
            elif name:
                found[name] = f"{found[name]} {words}"
    return found
