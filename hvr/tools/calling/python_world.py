"""The functions of a Python module as tools; their state is the module's object `state`."""

from __future__ import annotations

import copy
import inspect
import json
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from typing import Any

from hvr.errors import UsageError
from hvr.tools.calling.checks import check_call, check_result, find_tool, with_nulls
from hvr.tools.calling.python_values import TypedFunction, plain
from hvr.tools.calling.values import CallFailure, CallOutcome, Json, ToolCall
from hvr.tools.catalogue.python_functions import read_functions
from hvr.tools.catalogue.schema import Catalogue, quoted


class PythonTools:
    """Functions called in this process.

    A function refuses by raising `ValueError`, `KeyError`, `LookupError` or `PermissionError`; any
    other error means that it broke down.

    Args:
        catalogue: what the functions take and give.
        functions: by name of the tool.
        state: what they change; it is copied to begin anew. None if they keep nothing.
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
        """The tools."""
        return self._catalogue

    def reset(self) -> None:
        """Put the first state back into the object that the functions share."""
        if self._state is not None and self._first is not None:
            self._state.clear()
            self._state.update(copy.deepcopy(self._first))

    def call(self, call: ToolCall) -> CallOutcome:
        """Call a function, if the arguments fit its schema.

        A function that fails leaves the state as it was.
        """
        refused = check_call(self._catalogue, call)
        tool = find_tool(self._catalogue, call.tool)
        if refused is not None or tool is None:
            return refused or CallOutcome(call, failure=CallFailure.UNKNOWN_TOOL)
        function = self._functions[call.tool]
        try:
            arguments = function.converted(copy.deepcopy(with_nulls(tool, call.arguments)))
        except ValueError as wrong:
            return CallOutcome(call, failure=CallFailure.BAD_ARGUMENTS, error=str(wrong))
        before = copy.deepcopy(self._state)
        start = time.perf_counter()
        failure, error, returned = None, "", None
        try:
            # What a function prints is not what the command prints.
            with redirect_stdout(sys.stderr):
                returned = function.call(arguments)
        except (ValueError, LookupError, PermissionError) as refusal:
            failure, error = CallFailure.REFUSED, str(refusal.args[0] if refusal.args else refusal)
        except (Exception, SystemExit) as broken:  # what a tool raises is data of the run
            failure, error = CallFailure.UNAVAILABLE, f"{type(broken).__name__}: {broken}"
        seconds = time.perf_counter() - start
        if failure is not None:
            if self._state is not None and before is not None:
                self._state.clear()
                self._state.update(before)
            return CallOutcome(call, None, failure, error, seconds)
        try:
            result = json.loads(json.dumps(returned, allow_nan=False, default=plain))
        except (TypeError, ValueError, RecursionError) as odd:  # the call itself went well
            error = f"its result is no JSON: {odd}"
            return CallOutcome(call, None, CallFailure.WRONG_TYPE, error, seconds)
        return check_result(tool, CallOutcome(call, result, seconds=seconds))

    def state(self) -> Json:
        """Return a copy of the state; None if the functions keep nothing."""
        copied: Json = copy.deepcopy(self._state)
        return copied

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""


def open_module(module: Any) -> PythonTools:
    """Return the public functions of an imported module as tools.

    Args:
        module: the module; its dictionary `state`, if it has one, is what the functions change.

    Raises:
        UsageError: its source cannot be read.
        DataFileError: it has no public function.
    """
    name = module.__name__
    try:
        source = inspect.getsource(module)
    except (OSError, TypeError):
        raise UsageError(f"module {quoted(name)} has no source that can be read") from None
    read = read_functions(source, name)
    tools = tuple(tool for tool in read if callable(getattr(module, tool.name, None)))
    functions = {tool.name: getattr(module, tool.name) for tool in tools}
    state = getattr(module, "state", None)
    return PythonTools(Catalogue(tools), functions, state if isinstance(state, dict) else None)
