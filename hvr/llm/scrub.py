"""The scrubbing of keys from everything that is shown or written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

MASK = "[key]"
KEY_VARIABLES = ("HVR_LLM_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")

# A shorter secret ("none", "EMPTY") is a placeholder; taking it out would garble other text.
_SHORTEST = 8
_PATTERNS = (
    (re.compile(r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_*-]{16,}"), MASK),
    (re.compile(r"AIza[0-9A-Za-z_-]{30,}"), MASK),
    (re.compile(r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}"), MASK),
    (re.compile(r"(?i)\b(bearer)\s+[A-Za-z0-9._~+/=-]{16,}"), rf"\1 {MASK}"),
    (re.compile(r"(?i)\b(basic)\s+[A-Za-z0-9+/=]{8,}"), rf"\1 {MASK}"),
    (re.compile(r"://[^/\s:@]+:[^/\s@]+@"), f"://{MASK}@"),
)


@dataclass(frozen=True)
class Scrubber:
    """Takes known secrets, and what looks like a key, out of text.

    Args:
        secrets: values to take out; those under 8 characters are placeholders and stay.
    """

    secrets: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, environ: Mapping[str, str], *more: str | None) -> Scrubber:
        """Return a scrubber of the keys in an environment and of others."""
        return cls(tuple({v for v in (*map(environ.get, KEY_VARIABLES), *more) if v}))

    def text(self, text: str) -> str:
        """Return the text without keys; taking out twice changes nothing more."""
        # The longest first: one key may begin with another.
        for secret in sorted(self._known(), key=len, reverse=True):
            text = text.replace(secret, MASK)
        for pattern, mask in _PATTERNS:
            text = pattern.sub(mask, text)
        return text

    def value(self, value: Any) -> Any:
        """Return a JSON value without keys in any of its texts."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(k)): self.value(v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(v) for v in value]
        return value

    def _known(self) -> Iterable[str]:
        return (s for s in self.secrets if len(s) >= _SHORTEST)
