"""The scrubbing of keys from everything that is shown or written.

Both known keys and what only looks like one are found in a time in proportion to the length of the
text, whatever it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hvr.base.secrets import named_like_a_key
from hvr.base.secrets.forms import MASK, is_random, without_keys
from hvr.base.secrets.spellings import spans, spellings

KEY_VARIABLES = ("HVR_LLM_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")
"""The environment variables that hvr itself reads keys from."""

# A shorter secret ("none", "EMPTY") is a placeholder; taking it out would garble other text.
_SHORTEST = 8
# A variable that is not hvr's has to look like a key as well: TOKEN=version2 is none.
_SHORTEST_FOREIGN = 12


class Scrubber:
    """Takes known secrets, and what looks like a key, out of text.

    Args:
        secrets: values to take out; those under 8 characters are placeholders and stay.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {s for secret in secrets if len(s := secret.strip()) >= _SHORTEST}
        spelled = (text for secret in sorted(known) for text in spellings(secret))
        self._secrets = tuple(text for text in spelled if len(text) >= _SHORTEST)

    @classmethod
    def of(cls, environ: Mapping[str, str], *more: str | None) -> Scrubber:
        """Return a scrubber of the keys in an environment and of others.

        The keys of an environment are those that hvr reads, and what is called and looks like one,
        such as the value of GITHUB_TOKEN.
        """
        own = (environ.get(name) for name in KEY_VARIABLES)
        return cls(v for v in (*own, *_foreign(environ), *more) if v)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def text(self, text: str) -> str:
        """Return the text without keys; taking out twice changes nothing more."""
        return without_keys(self.known(text))

    def known(self, text: str) -> str:
        """Return the text without the known secrets."""
        if not self._secrets:
            return text
        pieces = []
        at = 0
        for begin, end in spans(text, self._secrets):
            pieces += [text[at:begin], MASK]
            at = end
        return "".join([*pieces, text[at:]])

    def value(self, value: Any) -> Any:
        """Return a JSON value without keys in any of its texts."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(k)): self.value(v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(v) for v in value]
        return value


def _foreign(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of an environment that are called and look like a key."""
    for name, value in environ.items():
        if named_like_a_key(name) and len(value) >= _SHORTEST_FOREIGN:
            # A path names the file with the key.
            path = value.startswith(("/", "./", "~")) and "/" in value[1:]
            if not path and is_random(value):
                yield value
