"""Errors of HTTP clients as errors of models: what happened, where, and what to do."""

from __future__ import annotations

from collections.abc import Mapping

from hvr.llm.errors import Kind, ModelError, kind_of, retry_after
from hvr.llm.options import ModelOptions

_ADVICE: Mapping[Kind, str] = {
    "auth": "the key is missing or wrong; set it in the environment (docs/models.md)",
    "forbidden": "the key may not use this model",
    "missing": "there is no such model, or the base URL is wrong",
    "rate": "too many requests, or the quota is used up",
    "server": "the server failed",
    "overflow": "the prompt is too long for the server",
    "timeout": "the server did not get it done in time",
    "request": "the server refuses the request",
}
_SHOWN = 300


def refused(
    name: str,
    options: ModelOptions,
    status: int,
    message: str,
    headers: Mapping[str, str],
    kind: Kind | None = None,
) -> ModelError:
    """Return the error for a status of HTTP.

    Args:
        name: of the model.
        options: how it was reached; the key is taken out of the message.
        status: of HTTP.
        message: what the server says about it.
        headers: of its reply.
        kind: if it is known better than the status tells.
    """
    kind = kind or kind_of(status)
    shown = brief(options, message)
    return ModelError(
        f"{name}: {_ADVICE[kind]} (status {status}{': ' + shown if shown else ''})",
        kind=kind,
        status=status,
        retry_after=retry_after(headers),
    )


def late(name: str, options: ModelOptions, seconds: float | None = None) -> ModelError:
    """Return the error for an answer that is not there, or not whole, in time.

    Args:
        name: of the model.
        options: how it was reached.
        seconds: how long was waited, if that was not the time-out.
    """
    waited = max(round(options.timeout if seconds is None else seconds, 1), 0.1)
    return ModelError(
        f"{name}: no answer within {waited:g} s{_place(options)}; "
        "raise the time-out if the model is slow",
        kind="timeout",
    )


def redirected(name: str, options: ModelOptions, status: int, place: str) -> ModelError:
    """Return the error for a server that sends requests on to another address."""
    return ModelError(
        f"{name}: the server sends requests on to {brief(options, place)} (status {status}), which "
        "hvr does not follow, since the key would go there, too; give the right base URL",
        kind="request",
        status=status,
    )


def unreachable(name: str, options: ModelOptions, reason: str) -> ModelError:
    """Return the error for a connection that cannot be made or breaks off."""
    shown = brief(options, reason)
    return ModelError(
        f"{name}: no connection{_place(options)} ({shown}); is the server running, and the "
        "base URL right?",
        kind="connection",
    )


def garbled(name: str, options: ModelOptions, reason: str) -> ModelError:
    """Return the error for a reply that is not what the protocol says."""
    return ModelError(
        f"{name}: the reply{_place(options)} cannot be read ({brief(options, reason)})",
        kind="garbled",
    )


def brief(options: ModelOptions, text: str) -> str:
    """Return a text on one line, short and without the key."""
    # The key goes first: a cut could leave a part of it that is not recognised any more.
    line = " ".join(options.scrubber.text(text).split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"


def root(error: BaseException) -> str:
    """Return the message of the error at the bottom of a chain, or its name."""
    while (below := error.__cause__ or error.__context__) is not None:
        error = below
    return str(error) or type(error).__name__


def _place(options: ModelOptions) -> str:
    return f" from {options.scrubber.text(options.base_url)}" if options.base_url else ""
