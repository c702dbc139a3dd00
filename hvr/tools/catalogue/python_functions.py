"""Tools from Python functions with type hints, read from source code that is not executed."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any

from hvr.errors import DataFileError
from hvr.tools.catalogue.schema import ToolParameter, ToolSchema

_ARRAYS = tuple(
    """
    list tuple set frozenset deque List Tuple Set FrozenSet Sequence MutableSequence Iterable
    Iterator Collection AbstractSet
    """.split()
)
_OBJECTS = tuple(
    """
    dict Dict Mapping MutableMapping TypedDict defaultdict OrderedDict Counter
    """.split()
)
_TEXTS = ("str", "date", "datetime", "time", "UUID", "Path", "PurePath")
_TYPES = {
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "Decimal": "number|string",
    **dict.fromkeys(_ARRAYS, "array"),
    **dict.fromkeys(_OBJECTS, "object"),
    **dict.fromkeys(_TEXTS, "string"),
}
_WRAPPERS = ("Annotated", "Required", "NotRequired", "ReadOnly", "Final", "ClassVar")
_ENUMS = ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag")
_NO_TOOLS = ("property", "cached_property", "setter", "deleter", "overload")
"""Decorators of methods that are not tools."""

MAX_RECORD_DEPTH = 4
"""Maximum nesting depth of records; a deeper record is one value of type object."""
_ALIASES = 10
"""Maximum length of a chain of aliases or base classes."""


def read_functions(source: str, place: str) -> tuple[ToolSchema, ...]:
    """Return the public functions and the public methods of public classes in a module.

    Parameters have the types of their hints, the choices of `Literal` and enums, and descriptions
    from the docstring (Google, NumPy or reST style). If the return type is a class of the module
    with typed fields (a dataclass, `TypedDict` or pydantic model), these fields become the tool's
    results. A hint that cannot be resolved permits every value. `place` names the module in errors.

    Raises:
        DataFileError: The source is not valid Python, or has no public function.
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise DataFileError(
            f"{place}{f':{line}' if line else ''}: not valid Python ({error.args[0]})"
        ) from None
    hints = _Hints(module)
    tools = []
    for node in module.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            tools += [_tool(f, hints, f"{node.name}.{f.name}") for f in _functions(node.body)]
    tools += [_tool(f, hints, f.name) for f in _functions(module.body)]
    if not tools:
        raise DataFileError(f"{place}: this module has no public function")
    return tuple(tools)


_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _functions(body: list[ast.stmt]) -> Iterator[_Function]:
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name[0] == "_":
            continue
        if not any(_name(decorator) in _NO_TOOLS for decorator in node.decorator_list):
            yield node


def _tool(function: _Function, hints: _Hints, name: str) -> ToolSchema:
    told = ast.get_docstring(function) or ""
    described = {**_arguments(told), **_numpy_arguments(told)}
    given = function.args
    ordered = [*given.posonlyargs, *given.args]
    defaults = len(ordered) - len(given.defaults)
    takes = []
    for index, argument in enumerate(ordered):
        if index or argument.arg not in ("self", "cls"):
            takes.append(_parameter(argument, index < defaults, described, hints))
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        takes.append(_parameter(argument, default is None, described, hints))
    returned = hints.read(function.returns)
    return ToolSchema(
        name=name,
        description=" ".join(told.partition("\n\n")[0].split()),
        takes=tuple(takes),
        gives=tuple(hints.leaves(returned, "", not returned.nullable, ())),
    )


def _parameter(
    argument: ast.arg, required: bool, described: dict[str, str], hints: _Hints
) -> ToolParameter:
    hint = hints.read(argument.annotation)
    return ToolParameter(
        argument.arg,
        hint.type,
        described.get(argument.arg, ""),
        required and not hint.nullable,
        hint.choices,
        required and hint.nullable,
    )


@dataclass(frozen=True)
class _Hint:
    """A type hint as JSON Schema; `record` is the name of its class if that has typed fields."""

    types: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    nullable: bool = False
    record: str = ""
    items: _Hint | None = None

    @property
    def type(self) -> str:
        return "|".join(self.types)


class _Hints:
    def __init__(self, module: ast.Module) -> None:
        self._classes: dict[str, ast.ClassDef] = {}
        self._aliases: dict[str, ast.expr] = {}
        for node in module.body:
            if isinstance(node, ast.ClassDef):
                self._classes[node.name] = node
            elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                self._aliases |= {t.id: node.value for t in targets if isinstance(t, ast.Name)}
            elif type(node).__name__ == "TypeAlias":  # a `type` statement of Python 3.12
                self._aliases[_name(getattr(node, "name", None))] = getattr(node, "value")  # noqa: B009

    def read(self, hint: ast.expr | None, depth: int = 0) -> _Hint:
        hint = _unquoted(hint)
        if hint is None or depth > _ALIASES:
            return _Hint()
        if isinstance(hint, ast.BinOp) and isinstance(hint.op, ast.BitOr):
            return _joined([self.read(hint.left, depth + 1), self.read(hint.right, depth + 1)])
        if isinstance(hint, ast.Constant):
            return _Hint(nullable=hint.value is None)
        name = _name(hint.value if isinstance(hint, ast.Subscript) else hint)
        if isinstance(hint, ast.Subscript):
            parts = hint.slice.elts if isinstance(hint.slice, ast.Tuple) else [hint.slice]
            if name == "Literal":
                return _chosen([p.value for p in parts if isinstance(p, ast.Constant)])
            if name in ("Optional", "Union"):
                some = [self.read(part, depth + 1) for part in parts]
                return _joined([*some, _Hint(nullable=True)] if name == "Optional" else some)
            if name in _WRAPPERS:
                return self.read(parts[0], depth + 1)
            if _TYPES.get(name) == "array":
                # The items of a fixed-length tuple may have different types.
                fixed = name in ("tuple", "Tuple") and len(parts) > 1
                one = not fixed or getattr(parts[1], "value", None) is ...
                return _Hint(("array",), items=self.read(parts[0], depth + 1) if one else None)
        if name in self._classes:
            return self._of_class(name)
        if name in self._aliases and not isinstance(hint, ast.Attribute):
            return self.read(self._aliases[name], depth + 1)
        return _Hint(tuple(_TYPES[name].split("|")) if name in _TYPES else ())

    def leaves(
        self, hint: _Hint, name: str, required: bool, above: tuple[str, ...]
    ) -> Iterator[ToolParameter]:
        marks, inner = "", hint
        while inner.items is not None and inner.types == ("array",):
            marks, inner = marks + "[]", inner.items
        fields = self._fields(inner.record) if inner.record else {}
        if fields and inner.record not in above and len(above) < MAX_RECORD_DEPTH:
            for field, annotation in fields.items():
                path = f"{name}{marks}.{field}".removeprefix(".")
                yield from self.leaves(self.read(annotation), path, False, (*above, inner.record))
        elif not name:
            if hint.types:
                yield ToolParameter("result", hint.type, required=required, choices=hint.choices)
        else:
            yield ToolParameter(
                name + marks,
                inner.type,
                required=required,
                choices=inner.choices,
                resource=above[-1] if above else "",
            )

    def _of_class(self, name: str) -> _Hint:
        node = self._classes[name]
        if any(_name(base) in _ENUMS for base in node.bases):
            return _chosen(_members(node))
        return _Hint(("object",), record=name) if self._fields(name) else _Hint()

    def _fields(self, name: str, depth: int = 0) -> dict[str, ast.expr]:
        node = self._classes.get(name)
        if node is None or depth > _ALIASES:
            return {}
        found: dict[str, ast.expr] = {}
        for base in node.bases:
            found |= self._fields(_name(base), depth + 1)
        for part in node.body:
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                of = part.annotation
                constant = isinstance(of, ast.Subscript) and _name(of.value) == "ClassVar"
                if not constant and not part.target.id.startswith("_"):
                    found[part.target.id] = of
        return found


def _joined(some: list[_Hint]) -> _Hint:
    told = [hint for hint in some if hint != _Hint(nullable=True)]
    nullable = any(hint.nullable for hint in some)
    if len(told) == 1:
        return replace(told[0], nullable=nullable)
    if any(not hint.types for hint in told):
        return _Hint(nullable=nullable)
    types = dict.fromkeys(kind for hint in told for kind in hint.types)
    # The choices are complete only if every member of the union has choices.
    choices = [hint.choices for hint in told] if all(hint.choices for hint in told) else []
    return _Hint(tuple(types), tuple(chain.from_iterable(choices)), nullable)


def _chosen(values: list[Any]) -> _Hint:
    told = [value for value in values if isinstance(value, str | int | float)]
    kinds = dict.fromkeys(_TYPES[type(value).__name__] for value in told)
    return _Hint(tuple(kinds), tuple(map(json.dumps, told)), None in values)


def _members(node: ast.ClassDef) -> list[Any]:
    # Empty if the source code does not determine all values.
    bases = set(map(_name, node.bases))
    values: list[Any] = []
    for part in node.body:
        if not isinstance(part, ast.Assign) or not isinstance(part.targets[0], ast.Name):
            continue
        name = part.targets[0].id
        if name.startswith("_"):
            continue
        if isinstance(part.value, ast.Constant):
            values.append(part.value.value)
        elif isinstance(part.value, ast.Call) and _name(part.value.func) == "auto":
            values.append(_following(values[-1] if values else 0, name, bases))
        else:
            return []
    return values if all(isinstance(value, str | int | float) for value in values) else []


def _following(last: Any, name: str, bases: set[str]) -> Any:
    if "StrEnum" in bases:
        return name.lower()
    if not isinstance(last, int):
        return None
    return 1 << last.bit_length() if bases & {"Flag", "IntFlag"} else last + 1


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


def _numpy_arguments(told: str) -> dict[str, str]:
    found: dict[str, str] = {}
    lines = told.splitlines()
    inside, names = False, list[str]()
    for line, after in pairwise([*lines, ""]):
        if after.strip() and set(after.strip()) == {"-"}:
            inside, names = line.strip() in ("Parameters", "Other Parameters"), []
        elif inside and line.strip() and set(line.strip()) != {"-"}:
            if line[0] != " ":
                names = [name.strip(" *") for name in line.partition(":")[0].split(",")]
            else:
                for name in names:
                    found[name] = f"{found.get(name, '')} {line.strip()}".strip()
    return found
