"""The options by which a provider reaches a model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from hvr.base.secrets.scrubber import Scrubber
from hvr.errors import UsageError
from hvr.models.prices import Price, price_of

_POSITIVE = (
    "timeout", "attempts", "seconds", "calls_per_plan", "requests_per_minute", "tokens_per_minute",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, repr=False)
class ModelOptions:
    """The options of reaching a model; printing them does not show the key.

    Args:
        base_url: address of the server; None for the provider's own.
        api_key: the key; None where none is needed.
        timeout: seconds for a request at most, until the last byte of its reply.
        attempts: requests at most for an answer.
        seconds: wall time for all attempts together.
        calls_per_plan: requests at most for a plan, each attempt counted; None for the usual limit.
        reply_bytes: size of a reply at most, as it comes and unpacked; an answer has thousands.
        requests_per_minute: None for no limit.
        tokens_per_minute: None for no limit.
        prices: the user's prices by model.
        about: the task, the scene and the seed that are planned for; only a simulated model,
            which has to know what it gets wrong, looks at it.
    """

    base_url: str | None = None
    api_key: str | None = None
    timeout: float = 60.0
    attempts: int = 5
    seconds: float = 300.0
    calls_per_plan: int | None = None
    reply_bytes: int = 4_000_000
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    prices: Mapping[str, Price] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    about: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), hash=False)

    def __post_init__(self) -> None:
        for name in _POSITIVE:
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise UsageError(f"{name} must be a positive number, not {value}", field=name)
        if self.base_url is not None and not self.base_url.startswith(("http://", "https://")):
            raise UsageError(
                f"the base URL {Scrubber().text(self.base_url)!r} must begin with http:// or "
                "https://, such as http://localhost:8000/v1"
            )
        if self.api_key is not None and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise UsageError("the key has characters that no key has; was it copied whole?")

    def __repr__(self) -> str:
        scrub = self.scrubber
        shown = (
            f"{f.name}={'[key]' if f.name == 'api_key' and value else scrub.text(repr(value))}"
            for f in fields(self)
            for value in [getattr(self, f.name)]
        )
        return f"ModelOptions({', '.join(shown)})"

    def within(self, seconds: float | None) -> float:
        """Return the seconds that a request may take, of those that are left for it."""
        return self.timeout if seconds is None else min(self.timeout, seconds)

    @property
    def scrubber(self) -> Scrubber:
        """A scrubber that takes keys out of texts: this one, those of the environment, others."""
        return Scrubber.of(os.environ, self.api_key, _password(self.base_url))

    def price(self, model: str) -> Price | None:
        """Return the price of a model of the provider.

        At another address than the provider's own only the user's prices hold.
        """
        if self.base_url is None:
            return price_of(model, self.prices)
        return self.prices.get(model)


def _password(url: str | None) -> str | None:
    """Return the password in an address, if there is one."""
    try:
        return urlsplit(url or "").password
    except ValueError:
        return None
