"""Secrets that must not appear in any output or file."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
_CHUNK = 1 << 22


@dataclass(frozen=True)
class Secrets:
    """The key that hvr gets, and other people's keys that a server leaks.

    Args:
        key: Key without a recognisable format.
        lookalikes: Texts in the formats of providers' keys.
    """

    key: str
    lookalikes: tuple[str, ...]

    @classmethod
    def draw(cls, source: random.Random) -> Secrets:
        def letters(count: int) -> str:
            return "".join(source.choice(_LETTERS) for _ in range(count))

        return cls(
            key=f"chaos+{letters(20)}/{letters(12)}",
            lookalikes=(
                f"sk-{letters(40)}",
                f"sk-proj-{letters(48)}",
                f"AIza{letters(35)}",
                f"hf_{letters(34)}",
                letters(44),
            ),
        )

    @property
    def spoken(self) -> str:
        """A sentence with all secrets, as a careless server might put it into a message."""
        sk, project, google, face, bearer = self.lookalikes
        return (
            f"key {self.key} was refused, so were {sk}, {project}, {google}, {face} and "
            f"Authorization: Bearer {bearer}"
        )

    def patterns(self) -> Iterator[tuple[str, bytes]]:
        """Yield the name and the bytes of each secret to search for."""
        key = self.key.encode()
        yield "the key", key
        yield "the key in base64", base64.b64encode(key).rstrip(b"=")
        yield "the key in percent signs", quote(self.key, safe="").encode()
        for text in self.lookalikes:
            yield f"a key like {text[:4]}…", text.encode()

    def found_in(self, data: bytes) -> str:
        """Return the name of the first secret in the data; empty if there is none."""
        return next((name for name, pattern in self.patterns() if pattern in data), "")

    def found_under(self, folder: Path) -> str:
        """Return the first file with a secret, and the secret's name; empty if there is none."""
        for path in sorted(folder.rglob("*")):
            if path.is_symlink() or not path.is_file():
                continue
            if name := self._found_in_file(path):
                return f"{name} is in {path.relative_to(folder)}"
        return ""

    def _found_in_file(self, path: Path) -> str:
        overlap = b""
        try:
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    if name := self.found_in(overlap + chunk):
                        return name
                    overlap = chunk[-200:]
        except OSError:
            return ""
        return ""
