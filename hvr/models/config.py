"""Configuration of models from options, the environment and pyproject.toml, and token prices."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from hvr.base.secrets import Scrubber
from hvr.base.texts import read_toml
from hvr.errors import LLMError, UsageError
from hvr.models.choice import ModelChoice
from hvr.models.errors import ModelError
from hvr.models.model import Answer, Layer, Message, Model, ModelTool, Request, Totals, Usage
from hvr.models.replies import satisfies

# Prices -------------------------------------------------------------------------------------------

_MILLION = 1_000_000

_DATED = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{3})$")


@dataclass(frozen=True)
class Price:
    """Price of a model in US dollars per million tokens; if `cached` is None, `input` applies."""

    input: float
    output: float
    cached: float | None = None

    def cost(self, usage: Usage) -> float | None:
        """Return the cost of a usage in US dollars; None if a token count is unknown."""
        if usage.input is None or usage.output is None:
            return None
        cached = min(usage.cached or 0, usage.input)
        dollars = (
            (usage.input - cached) * self.input
            + cached * (self.input if self.cached is None else self.cached)
            + (usage.output + (usage.reasoning or 0)) * self.output
        )
        return dollars / _MILLION

    def at_most(self, prompt: int, answer: int) -> float:
        """Return an upper bound in US dollars of the cost of a request with these token counts."""
        # A user's price for cached tokens may exceed the regular price.
        input_price = max(self.input, self.cached or 0.0)
        return (prompt * input_price + answer * self.output) / _MILLION


def priced(usage: Usage, price: Price | None) -> Usage:
    return usage if price is None else replace(usage, cost=price.cost(usage))


def price_of(model: str, own: Mapping[str, Price] | None = None) -> Price | None:
    """Return the price of a model; None if unknown.

    Args:
        model: The provider's name for the model, such as `gpt-4o-mini`. A trailing date is ignored
            if no price is listed for the dated name.
        own: The user's own prices, which take precedence.
    """
    table = {**_table(), **(own or {})}
    return table.get(model) or table.get(_DATED.sub("", model))


def read_price(name: str, value: object, where: str) -> Price:
    """Decode a price: a table with `input`, `output` and optionally `cached`.

    Args:
        name: Name of the model.
        where: Place of the table, for the error message.

    Raises:
        UsageError: The value is not such a table.
    """
    required, keys = {"input", "output"}, {"input", "output", "cached"}
    known = isinstance(value, Mapping) and required <= set(value) <= keys
    if isinstance(value, Mapping) and known and all(map(_is_price, value.values())):
        return Price(**{k: float(v) for k, v in value.items()})
    raise UsageError(
        f"{where}: the price of {name!r} must be a table such as {{input = 0.15, output = 0.6}} "
        "(US dollars per million tokens, optionally with cached = …)"
    )


def _is_price(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e6


@cache
def _table() -> Mapping[str, Price]:
    text = files("hvr.models").joinpath("prices.toml").read_text(encoding="utf-8")
    models = tomllib.loads(text)["models"]
    return {name: read_price(name, value, "prices.toml") for name, value in models.items()}


# Options ------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, repr=False)
class ModelOptions:
    """Options for reaching a model; its `repr` hides the key.

    Args:
        base_url: Base URL of the server; None for the provider's default.
        api_key: Key for the server; None if the server needs none.
        effort: Reasoning effort, such as `low`; None for the model's default.
        timeout: Seconds from sending a request to the last byte of its reply.
        attempts: Maximum number of requests per answer.
        seconds: Maximum wall time of all attempts together, in seconds.
        calls_per_plan: Maximum number of requests per plan, including retries; None for the
            default.
        reply_bytes: Maximum size of a reply in bytes, both compressed and decompressed.
        concurrency: Maximum number of independent requests in flight at once.
        prices: The user's own prices, by the provider's name for the model.
        about: Task, scene and seed of the plan; only simulated models read them.

    Raises:
        UsageError: A number, the base URL or the key is invalid.
    """

    base_url: str | None = None
    api_key: str | None = None
    effort: str | None = None
    timeout: float = 60.0
    attempts: int = 5
    seconds: float = 300.0
    calls_per_plan: int | None = None
    reply_bytes: int = 4_000_000
    concurrency: int = 8
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    prices: Mapping[str, Price] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    about: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), hash=False)

    def __post_init__(self) -> None:
        for name in (setting.replace("-", "_") for setting in _NUMBERS):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise UsageError(f"{name} must be a positive number, found {value}", field=name)
        if self.base_url is not None and not self.base_url.startswith(("http://", "https://")):
            raise UsageError(
                f"the base URL {Scrubber().text(self.base_url)!r} must begin with http:// or "
                "https://, such as http://localhost:8000/v1"
            )
        if self.api_key is not None and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise UsageError(
                "the API key contains characters that are not allowed in a key; was it copied "
                "completely?"
            )

    def __repr__(self) -> str:
        scrub = self.scrubber
        shown = (
            f"{f.name}={'[key]' if f.name == 'api_key' and value else scrub.text(repr(value))}"
            for f in fields(self)
            for value in [getattr(self, f.name)]
        )
        return f"ModelOptions({', '.join(shown)})"

    def within(self, seconds: float | None) -> float:
        """Return the timeout of a request, at most `seconds`."""
        return self.timeout if seconds is None else min(self.timeout, seconds)

    @property
    def scrubber(self) -> Scrubber:
        """A scrubber that redacts `api_key` and all keys in the environment."""
        return Scrubber.of(os.environ, self.api_key, _password(self.base_url))

    def price(self, model: str) -> Price | None:
        """Return the price of a model; if `base_url` is set, only the user's own prices apply."""
        if self.base_url is None:
            return price_of(model, self.prices)
        return self.prices.get(model)


def _password(url: str | None) -> str | None:
    try:
        return urlsplit(url or "").password
    except ValueError:
        return None


# Sources ------------------------------------------------------------------------------------------

FILE = "pyproject.toml"
SECTION = "tool.hvr.llm"

KEYLESS = "none"
"""The SDKs require a key; servers without keys ignore this placeholder."""

_KEYS: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "responses": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}
_NUMBERS: Mapping[str, type] = {
    "timeout": float,
    "attempts": int,
    "seconds": float,
    "calls-per-plan": int,
    "concurrency": int,
    "requests-per-minute": int,
    "tokens-per-minute": int,
}
"""Numeric settings; the environment variable of each is `HVR_LLM_` plus its upper-case name."""
_TEXTS = ("model", "base-url", "effort")
_SETTINGS = (*_TEXTS, *_NUMBERS, "prices")


@dataclass(frozen=True)
class ConfiguredModel:
    """The model to use and the options for reaching it.

    Args:
        spec: Specification such as `openai:gpt-4o-mini`; None if no model was named.
        untrusted: Error message if the model depends on untrusted settings in pyproject.toml;
            otherwise empty.
    """

    spec: str | None
    options: ModelOptions
    untrusted: str = ""

    def trusted(self) -> ConfiguredModel:
        """Return this configuration, unless it depends on untrusted settings.

        Raises:
            UsageError: An untrusted pyproject.toml names the model or its base URL.
        """
        if self.untrusted:
            raise UsageError(self.untrusted)
        return self


def read_config(
    choice: ModelChoice | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> ConfiguredModel:
    """Merge a choice, the environment and the nearest pyproject.toml, in this order of precedence.

    The environment variables are HVR_LLM (the model), HVR_LLM_BASE_URL, HVR_LLM_API_KEY,
    HVR_LLM_EFFORT, HVR_LLM_TIMEOUT and one for each other number in `ModelOptions`, and per
    provider OPENAI_BASE_URL, OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY and GOOGLE_API_KEY.

    A downloaded project must get neither your key nor your prompts. A provider's key is therefore
    never sent to a base URL from a file (HVR_LLM_API_KEY goes to any URL), and a model or base URL
    in pyproject.toml is ignored unless the project is trusted.

    Args:
        choice: The user's choice; None leaves everything to the environment and pyproject.toml.
        environ: Environment variables; by default, the variables of this process.
        folder: Folder where the search for pyproject.toml starts; by default the working folder.

    Raises:
        UsageError: A setting is unknown or invalid, or pyproject.toml contains a key.
    """
    environ = os.environ if environ is None else environ
    section, file = _section(folder or Path.cwd())
    named, model = section.get("base-url"), section.get("model")
    untrusted = ""
    choice = choice or ModelChoice()
    trust_project = choice.trust_project
    spec = choice.spec or environ.get("HVR_LLM")
    if spec is None and model is not None:
        spec = model if trust_project else None
        untrusted = "" if trust_project else _ignored(file, f"model = {model!r}", f"--llm {model}")
    provider = (spec or "").partition(":")[0]
    address = choice.base_url or environ.get("HVR_LLM_BASE_URL")
    if not address and provider in ("openai", "responses"):
        address = environ.get("OPENAI_BASE_URL")
    if named and not address and not trust_project:
        if provider in _KEYS:
            untrusted = _ignored(file, f"base-url = {named!r}", f"--base-url {named}")
        named = None
    from_file = bool(choice.base_url and choice.recorded_url) or bool(named and not address)
    key = environ.get("HVR_LLM_API_KEY")
    if not key and not from_file:
        key = _own_key(provider, environ)
    numbers = {"timeout": choice.timeout, "calls_per_plan": choice.calls_per_plan}
    options = ModelOptions(
        base_url=address or named,
        api_key=key.strip() if key else None,
        effort=environ.get("HVR_LLM_EFFORT") or section.get("effort"),
        prices=_prices(section.get("prices", {}), file),
        **{**_numbers(section, environ), **{n: v for n, v in numbers.items() if v is not None}},
    )
    return ConfiguredModel(spec, options, untrusted)


def _ignored(file: str, setting: str, option: str) -> str:
    return (
        f"{file}: {setting} in [{SECTION}] is ignored: an untrusted project must not decide "
        f"who receives the prompts; pass {option} or --trust-project"
    )


def require_access(provider: str, model: str, options: ModelOptions) -> None:
    """Raise a `UsageError` if a model has neither a base URL nor a key."""
    if options.base_url is None and options.api_key is None:
        raise UsageError(
            f"{provider}:{model} needs a key: set {' or '.join(_KEYS[provider])} in the "
            "environment, or give the base URL of a server that needs none"
        )


def read_embedder_config(
    spec: str, *, environ: Mapping[str, str] | None = None, folder: Path | None = None
) -> ModelOptions:
    """Return the options for an embedder whose provider differs from the language model's.

    The language model's base URL and key must not go to another provider, so only the variables of
    the embedder's provider are read. Timeouts and other numbers apply to both.
    """
    environ = os.environ if environ is None else environ
    section, _ = _section(folder or Path.cwd())
    provider = spec.partition(":")[0]
    key = _own_key(provider, environ)
    return ModelOptions(
        base_url=(environ.get("OPENAI_BASE_URL") if provider == "openai" else None) or None,
        api_key=key.strip() if key else None,
        **_numbers(section, environ),
    )


def _own_key(provider: str, environ: Mapping[str, str]) -> str | None:
    return next((k for n in _KEYS.get(provider, ()) if (k := environ.get(n))), None)


def _numbers(section: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    given = {}
    for name, kind in _NUMBERS.items():
        field = name.replace("-", "_")
        variable = f"HVR_LLM_{field.upper()}"
        if text := environ.get(variable, "").strip():
            given[field] = _number(text, kind, variable)
        elif name in section:
            given[field] = section[name]
    return given


def _number(text: str, kind: type, variable: str) -> float:
    try:
        value: float = kind(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        what = "whole number" if kind is int else "number"
        raise UsageError(f"{variable} must be a positive {what}, found {text!r}")
    return value


def _section(folder: Path) -> tuple[dict[str, Any], str]:
    file = next((p for f in (folder, *folder.parents) if (p := f / FILE).is_file()), None)
    if file is None:
        return {}, ""
    section: Any = read_toml(file)
    for name in SECTION.split("."):
        section = section.get(name, {})
        if not isinstance(section, dict):
            raise UsageError(f"{file}: {name!r} in [{SECTION}] must be a table")
    for name, value in section.items():
        _check(name, value, str(file))
    return section, str(file)


def _check(name: str, value: object, file: str) -> None:
    where = f"{file}: [{SECTION}]"
    if "key" in name.lower() or ("token" in name.lower() and name not in _NUMBERS):
        raise UsageError(
            f"{where} has {name!r}: a key does not belong in a file; remove it there (and revoke "
            "it if the file was shared), and set HVR_LLM_API_KEY, OPENAI_API_KEY, "
            "ANTHROPIC_API_KEY or GEMINI_API_KEY in the environment"
        )
    if name not in _SETTINGS:
        raise UsageError(
            f"{where}: unknown setting {name!r}; known settings: {', '.join(_SETTINGS)}"
        )
    if name in _TEXTS and not (isinstance(value, str) and value):
        raise UsageError(f"{where}: {name!r} must be a non-empty string")
    if name in _NUMBERS:
        whole = _NUMBERS[name] is int
        good = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        if not good or not 0 < value < float("inf"):  # type: ignore[operator]
            kind = "whole number" if whole else "number"
            raise UsageError(f"{where}: {name!r} must be a positive {kind}")


def _prices(value: object, file: str) -> Mapping[str, Price]:
    where = f"{file}: [{SECTION}.prices]"
    if not isinstance(value, Mapping):
        raise UsageError(f"{where} must be a table with one entry per model")
    return {name: read_price(name, price, where) for name, price in value.items()}


# Abilities ----------------------------------------------------------------------------------------
# Capabilities of a model: structured output, tool calls, context length and price.

_TRIES = 6
"""Maximum number of requests to find the form in which a server enforces schemas."""

_TOKENS = 256
_WORD = "violet"
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"word": {"type": "string", "enum": [_WORD]}},
    "required": ["word"],
    "additionalProperties": False,
}
_ANY: Mapping[str, Any] = {"type": "object"}
_QUESTION = 'Answer with JSON: {"word": "ready"}'
_TOOL = ModelTool("ready", "Report that you are ready.", {"type": "object", "properties": {}})


@dataclass
class _Asking:
    model: Model
    totals: Totals = field(default_factory=Totals)

    def ask(self, text: str, **more: Any) -> Answer | None:
        request = Request(
            messages=(Message("user", text),), purpose="check", max_tokens=_TOKENS, **more
        )
        try:
            answer = self.model.answer(request)
        except ModelError as error:
            if error.kind not in ("schema", "empty"):
                raise
            return None
        self.totals = self.totals.plus(answer.usage)
        return answer


def abilities_of(model: Model, chosen: ConfiguredModel) -> dict[str, str]:
    """Test a model, and return one line each for `schema`, `tools`, `context` and `cost`.

    The test schema permits only an answer that contradicts the question, so the answer shows
    whether the server enforces schemas.
    """
    asking = _Asking(model)
    lines = {}
    for name, find in (("schema", _schema), ("tools", _tools)):
        try:
            lines[name] = find(asking)
        except LLMError as error:
            lines[name] = f"{name}: unknown ({error})"
    length = getattr(_inner(model), "context_length", lambda: None)()
    lines["context"] = f"context: {length} tokens" if length else "context: unknown"
    lines["cost"] = _cost(asking.totals, chosen)
    return lines


def _inner(model: Model) -> Any:
    while isinstance(model, Layer):
        model = model.wrapped
    return model


def _schema(asking: _Asking) -> str:
    for _ in range(_TRIES):
        form = _form(asking.model)
        answer = asking.ask(_QUESTION, schema=_SCHEMA, accept=_ANY)
        if answer is not None and satisfies(answer.text, _SCHEMA):
            found = _form(asking.model)
            return f"schema: enforced{f', as {found}' if found else ''}"
        if _form(asking.model) == form:
            break
    return "schema: not enforced; hvr describes it in the prompt and checks the answers"


def _form(model: Model) -> str:
    return str(getattr(getattr(_inner(model), "settings", None), "form", ""))


def _tools(asking: _Asking) -> str:
    answer = asking.ask("Call the tool.", tools=(_TOOL,)) or asking.ask(
        "Call the tool.", tools=(_TOOL,)
    )
    dialect = getattr(_inner(asking.model), "settings", None)
    if answer is None or not answer.calls:
        return "tools: not called"
    native = getattr(dialect, "tools", True)
    unsupported = "tools: not supported by the server; hvr asks for calls as JSON"
    return "tools: called" if native else unsupported


def _cost(totals: Totals, chosen: ConfiguredModel) -> str:
    price = chosen.options.price(str(chosen.spec).partition(":")[2])
    tokens = f"{totals.input} tokens in, {totals.output} out for these checks"
    if price is None:
        return f"cost: unknown price; {tokens}"
    each = f"${price.input:g} in, ${price.output:g} out per million tokens"
    return f"cost: {each}; {tokens}, ${totals.cost}"
