"""The append-only log of calls: one line of JSON a call."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from hvr.base.printable import one_line, short
from hvr.base.secrets import named_like_a_key
from hvr.base.secrets.forms import without_keys
from hvr.tools.argument_checks import type_name
from hvr.tools.calling.origins import ValueOrigin
from hvr.tools.calling.provenance import sources_json
from hvr.tools.calling.values import CallOutcome, Json

MASK = "***"
DEEPEST = 4
"""Objects within objects beyond are shown by their type alone."""
DEEPEST_KEPT = 64
"""Values within values beyond are left out of what is kept whole."""
ERROR = 2_000
"""Characters of what a tool said of a failure."""
MOST = 50
"""Keys of one object that a shape names."""


def log_line(
    world: str,
    outcome: CallOutcome,
    origins: Mapping[str, ValueOrigin],
    time: datetime,
    *,
    secrets: bool = False,
) -> dict[str, Json]:
    """Return what the log says of a call.

    Of a result the log holds the shape, not the values.

    Args:
        world: the name of the environment.
        outcome: of the call.
        origins: where each argument came from.
        time: when it was called.
        secrets: whether values that look like keys are kept.
    """
    arguments: Json = dict(outcome.call.arguments)
    return {
        "time": time.astimezone(UTC).isoformat(),
        "world": world,
        "tool": outcome.call.tool,
        "arguments": _shown(arguments, secrets=secrets),
        "failure": None if outcome.failure is None else outcome.failure.value,
        "error": error_text(outcome, secrets=secrets),
        "seconds": round(outcome.seconds, 6),
        "shape": shape(outcome.result),
        "sources": _shown(sources_json(outcome.call, outcome.sources), secrets=secrets),
        "origins": {name: _origin(origin) for name, origin in origins.items()},
    }


def error_text(outcome: CallOutcome, *, secrets: bool = False) -> str:
    """Return what was said of a failure, on one line, its beginning, without what looks like a key.

    Args:
        outcome: of the call.
        secrets: whether what looks like a key stays.
    """
    # A key that begins before the cut ends before twice as many characters.
    text = outcome.error[: 2 * ERROR]
    return short(one_line(text if secrets else without_keys(text)), ERROR)


def redacted(value: Json, depth: int = 0) -> Json:
    """Return a value without what looks like a key or is named like one.

    What lies deeper than `DEEPEST_KEPT` is told by its type alone.
    """
    if isinstance(value, str):
        return without_keys(value)
    if isinstance(value, (list, dict)) and depth >= DEEPEST_KEPT:
        return type_name(value)
    if isinstance(value, list):
        return [redacted(inner, depth + 1) for inner in value]
    if isinstance(value, dict):
        return {
            without_keys(key): MASK
            if inner and named_like_a_key(key)
            else redacted(inner, depth + 1)
            for key, inner in value.items()
        }
    return value


def excerpt(value: Json, characters: int, depth: int = 0) -> Json:
    """Return the beginning of a value: of texts some characters, of lists and objects `MOST` parts.

    Args:
        value: of a result; nobody knows how large.
        characters: of each text in it.
        depth: of the value within others.
    """
    if isinstance(value, str):
        return value[:characters]
    if isinstance(value, (list, dict)) and depth >= DEEPEST:
        return type_name(value)
    if isinstance(value, list):
        return [excerpt(inner, characters, depth + 1) for inner in value[:MOST]]
    if isinstance(value, dict):
        return {
            key[:characters]: excerpt(value[key], characters, depth + 1)
            for key in list(value)[:MOST]
        }
    return value


def shape(value: Json, depth: int = 0) -> Json:
    """Return a value's types: of an object those of its keys, of a list that of its first part."""
    if depth >= DEEPEST:
        return type_name(value)
    if isinstance(value, dict):
        return {without_keys(key): shape(value[key], depth + 1) for key in list(value)[:MOST]}
    if isinstance(value, list):
        return [shape(inner, depth + 1) for inner in value[:1]]
    return type_name(value)


def _shown(value: Json, *, secrets: bool) -> Json:
    return value if secrets else redacted(value)


def _origin(origin: ValueOrigin) -> Json:
    if origin.call is None:
        return {"source": origin.source.value}
    path: list[Json] = list(origin.path)
    return {"source": origin.source.value, "call": origin.call, "path": path}
