"""What a tool does to the world, by its hints, its HTTP method, its name and its description.

Names and descriptions only ever make a tool more dangerous: none is taken for a reader because of
what it is called.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hvr.tools.catalogue.schema import Effect

_DESTROYING = frozenset({
    "abort", "cancel", "clear", "delete", "deprovision", "destroy", "discard", "drop", "erase",
    "evict", "expunge", "kill", "overwrite", "purge", "remove", "reset", "revoke", "rollback",
    "terminate", "trash", "truncate", "undo", "uninstall", "wipe", "withdraw",
})  # fmt: skip
"""Verbs of calls after which something is gone."""

_WRITING = frozenset({
    "accept", "add", "apply", "approve", "append", "assign", "book", "borrow", "buy", "change",
    "close", "commit", "copy", "create", "deploy", "disable", "edit", "enable", "execute", "grant",
    "insert", "install", "invite", "issue", "launch", "lend", "lock", "merge", "modify", "move",
    "open", "order", "patch", "pay", "place", "post", "publish", "push", "put", "redirect",
    "refund", "register", "rename", "renew", "replace", "reply", "reserve", "restart", "return",
    "run", "save", "schedule", "sell", "send", "set", "share", "sign", "start", "stop", "submit",
    "subscribe", "transfer", "unlock", "update", "upgrade", "upload", "write",
})  # fmt: skip
"""Verbs of calls that change something and leave what was there."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def effect_of_hints(hints: Mapping[str, Any], *, trusted: bool) -> Effect:
    """Return the effect that MCP's annotations of a tool say.

    A tool that is not said to only read may destroy, unless `destructiveHint` says otherwise:
    so the protocol has it.

    Args:
        hints: The annotations, as the server sent them.
        trusted: Whether the server is trusted. The hints of another can only warn.
    """
    if hints.get("readOnlyHint") is True and hints.get("destructiveHint") is not True:
        return Effect.READS if trusted else Effect.UNKNOWN
    if hints.get("destructiveHint") is True:
        return Effect.DESTROYS
    if hints.get("destructiveHint") is False and trusted:
        return Effect.WRITES
    return Effect.UNKNOWN


def effect_of_method(method: str) -> Effect:
    """Return the effect of an HTTP method (RFC 9110, section 9.2)."""
    if method.lower() in ("get", "head", "options", "trace"):
        return Effect.READS
    return Effect.DESTROYS if method.lower() == "delete" else Effect.WRITES


def worsened(effect: Effect, name: str, description: str = "") -> Effect:
    """Return the effect of a tool, made more dangerous where its name or description is.

    Args:
        effect: What hints, methods or formats say.
        name: The tool's name.
        description: What it does; its first words count.
    """
    words = _words(name)
    told = _words(" ".join(description.split()[:2]))
    if effect is Effect.READS:
        # A reader may be about what is gone, as `list_deleted_files`: only its verb counts.
        words, told = words[:1], told[:1]
    return Effect.DESTROYS if {*words, *told} & _DESTROYING else effect


def seems(name: str, description: str = "") -> Effect:
    """Return the effect that a name suggests, to be put to the user and never to be relied on."""
    worst = worsened(Effect.UNKNOWN, name, description)
    if worst is not Effect.UNKNOWN:
        return worst
    verbs = {*_words(name)[:1], *_words(" ".join(description.split()[:1]))}
    return Effect.WRITES if verbs & _WRITING else Effect.READS


def _words(text: str) -> list[str]:
    return list(_base(text))


def _base(text: str) -> Iterator[str]:
    """Give the words of a name or text, without the ending of the third person."""
    for word in map(str.lower, _WORD.findall(text)):
        known = _DESTROYING | _WRITING
        forms = (word, word.removesuffix("s"), word.removesuffix("es"))
        yield next((form for form in forms if form in known), word)
