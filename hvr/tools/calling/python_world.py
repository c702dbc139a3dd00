"""The functions of a Python module as tools that share the module's `state` object."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import inspect
import json
import sys
import time as time_
import types
import typing
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, Union, get_args, get_origin
from uuid import UUID

from hvr.errors import UsageError
from hvr.tools.calling.calls import (
    CallFailure,
    CallOutcome,
    Json,
    ToolCall,
    check_result,
    checked_tool,
    with_nulls,
)
from hvr.tools.catalogue.python_functions import read_functions
from hvr.tools.catalogue.schema import Catalogue, quoted

# Python values ------------------------------------------------------------------------------------

_DATES = (datetime, date, time)
_WRITTEN = (UUID, PurePath)
_PLAIN = {
    str: (str,),
    int: (int,),
    float: (int, float),
    bool: (bool,),
    list: (list,),
    dict: (dict,),
}


class TypedFunction:
    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        try:
            self._hints = typing.get_type_hints(function, include_extras=True)
        except Exception:  # hints are user code and may raise anything
            self._hints = {}
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            parameters = types.MappingProxyType({}).values()
        self._by_place = [p.name for p in parameters if p.kind is p.POSITIONAL_ONLY]

    def converted(self, arguments: Mapping[str, Json]) -> dict[str, Any]:
        """Convert arguments to the types of the function's hints.

        Raises:
            ValueError: An argument cannot be converted.
        """
        found = {}
        for name, value in arguments.items():
            try:
                found[name] = _made(self._hints.get(name, Any), value)
            except Exception as error:  # user classes may raise anything
                raise ValueError(f"{quoted(name)}: {error}") from None
        return found

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """Call the function; a coroutine is run to completion."""
        named = dict(arguments)
        placed = []
        for name in self._by_place:
            if name not in named:
                break
            placed.append(named.pop(name))
        returned = self._function(*placed, **named)
        return _awaited(returned) if inspect.iscoroutine(returned) else returned


def plain(value: Any) -> Any:
    """Convert a value that JSON does not support; use this as the `default` of `json.dumps`.

    Raises:
        TypeError: The value has no JSON form.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if callable(getattr(value, "model_dump", None)):
        return value.model_dump(mode="json")
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, _DATES):
        return value.isoformat()
    if isinstance(value, _WRITTEN):
        return str(value)
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a value of type {type(value).__name__} cannot be represented in JSON")


def _awaited(coroutine: Coroutine[Any, Any, Any]) -> Any:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    # In a notebook a loop is already running in this thread.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def _made(hint: Any, value: Json) -> Any:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _any_of(parts, value)
    if hasattr(hint, "__metadata__") or origin in (typing.Required, typing.NotRequired):
        return _made(parts[0], value)
    if isinstance(value, list) and isinstance(origin, type) and parts:
        return _list_of(origin, parts, value)
    if isinstance(value, dict) and origin is not None and len(parts) == 2:
        return {_made(parts[0], key): _made(parts[1], inner) for key, inner in value.items()}
    if isinstance(hint, type):
        return _object(hint, value)
    return value


def _any_of(hints: tuple[Any, ...], value: Json) -> Any:
    if value is None and type(None) in hints:
        return None
    faults = []
    for hint in hints:
        kinds = _PLAIN.get(get_origin(hint) or hint)
        if hint is type(None) or (kinds is not None and type(value) not in kinds):
            continue
        try:
            return _made(hint, value)
        except Exception as error:  # for errors in user classes, report the last one
            faults.append(error)
    if faults:
        raise faults[-1]
    return value


def _list_of(origin: type, parts: tuple[Any, ...], value: list[Json]) -> Any:
    each = parts if origin is tuple and parts[-1] is not ... else (parts[0],) * len(value)
    if len(each) != len(value):
        raise ValueError(f"expected {len(each)} values, got {len(value)}")
    made = [_made(hint, inner) for hint, inner in zip(each, value, strict=True)]
    return origin(made) if origin in (tuple, set, frozenset) else made


def _object(kind: type, value: Json) -> Any:
    if dataclasses.is_dataclass(kind) and isinstance(value, dict):
        return kind(**_fields(kind, value))
    if typing.is_typeddict(kind) and isinstance(value, dict):
        return _fields(kind, value)
    if callable(getattr(kind, "model_validate", None)):
        return kind.model_validate(value)  # type: ignore[attr-defined]
    if issubclass(kind, Enum):
        return kind(value)
    if issubclass(kind, _DATES) and isinstance(value, str):
        return kind.fromisoformat(value)
    if issubclass(kind, (*_WRITTEN, Decimal)) and isinstance(value, (str, int, float)):
        return kind(str(value))
    if kind in (tuple, set, frozenset) and isinstance(value, list):
        return kind(value)
    return value


def _fields(kind: type, value: dict[str, Json]) -> dict[str, Any]:
    hints = typing.get_type_hints(kind, include_extras=True)
    return {name: _made(hints.get(name, Any), inner) for name, inner in value.items()}


# Environment --------------------------------------------------------------------------------------


class PythonTools:
    """Python functions as tools, called in this process.

    A function refuses a call by raising `ValueError`, `LookupError` or `PermissionError`; any other
    exception counts as a bug in the function.

    Args:
        state: State that the functions share, copied for resets; None if they have none.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        functions: Mapping[str, Callable[..., Any]],
        state: dict[str, Any] | None = None,
    ) -> None:
        missing = [tool.name for tool in catalogue.tools if tool.name not in functions]
        if missing:
            raise UsageError(f"tool {quoted(missing[0])} has no function")
        self._catalogue = catalogue
        self._functions = {name: TypedFunction(one) for name, one in functions.items()}
        self._state = state
        self._first = copy.deepcopy(state)

    @property
    def catalogue(self) -> Catalogue:
        return self._catalogue

    def reset(self) -> None:
        if self._state is not None and self._first is not None:
            self._state.clear()
            self._state.update(copy.deepcopy(self._first))

    def call(self, call: ToolCall) -> CallOutcome:
        """Call a function if the arguments match its schema; after a failure, restore the state."""
        tool = checked_tool(self._catalogue, call)
        if isinstance(tool, CallOutcome):
            return tool
        function = self._functions[call.tool]
        try:
            arguments = function.converted(copy.deepcopy(with_nulls(tool, call.arguments)))
        except ValueError as wrong:
            return CallOutcome(call, failure=CallFailure.BAD_ARGUMENTS, error=str(wrong))
        before = copy.deepcopy(self._state)
        start = time_.perf_counter()
        failure, error, returned = None, "", None
        try:
            # Redirect printed text, which would mix with the command's output.
            with redirect_stdout(sys.stderr):
                returned = function.call(arguments)
        except (ValueError, LookupError, PermissionError) as refusal:
            failure, error = CallFailure.REFUSED, str(refusal.args[0] if refusal.args else refusal)
        except (Exception, SystemExit) as broken:  # a tool may raise anything
            failure, error = CallFailure.UNAVAILABLE, f"{type(broken).__name__}: {broken}"
        seconds = time_.perf_counter() - start
        if failure is not None:
            if self._state is not None and before is not None:
                self._state.clear()
                self._state.update(before)
            return CallOutcome(call, None, failure, error, seconds)
        try:
            result = json.loads(json.dumps(returned, allow_nan=False, default=plain))
        except (TypeError, ValueError, RecursionError) as invalid:  # the call itself succeeded
            error = f"its result is not JSON: {invalid}"
            return CallOutcome(call, None, CallFailure.WRONG_TYPE, error, seconds)
        return check_result(tool, CallOutcome(call, result, seconds=seconds))

    def state(self) -> Json:
        copied: Json = copy.deepcopy(self._state)
        return copied

    def close(self) -> None: ...


def open_module(module: Any) -> PythonTools:
    """Return the public functions of an imported module as tools.

    They share the module's dictionary `state`, if it has one.

    Raises:
        UsageError: The module's source code is not available.
        DataFileError: The module has no public function.
    """
    name = module.__name__
    try:
        source = inspect.getsource(module)
    except (OSError, TypeError):
        raise UsageError(f"the source of module {quoted(name)} cannot be read") from None
    read = read_functions(source, name)
    tools = tuple(tool for tool in read if callable(getattr(module, tool.name, None)))
    functions = {tool.name: getattr(module, tool.name) for tool in tools}
    state = getattr(module, "state", None)
    return PythonTools(Catalogue(tools), functions, state if isinstance(state, dict) else None)
