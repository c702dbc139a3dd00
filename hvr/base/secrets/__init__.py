"""Keys, and what looks like one, taken out of texts."""

from __future__ import annotations

_NAMES = ("KEY", "KEY_ID", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE")


def named_like_a_key(variable: str) -> bool:
    """Return whether an environment variable is named like one that holds a key."""
    return variable.upper().endswith(_NAMES)
