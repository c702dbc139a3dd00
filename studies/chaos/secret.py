"""Secrets that must not be found anywhere afterwards."""

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
    """A key that hvr is given, and others' keys that a server speaks of.

    Args:
        key: the key, of no known form.
        lookalikes: strings of the forms that providers' keys have.
    """

    key: str
    lookalikes: tuple[str, ...]

    @classmethod
    def draw(cls, source: random.Random) -> Secrets:
        """Return new ones."""

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
        """All of them in a sentence, as a careless server has them in its messages."""
        sk, project, google, face, bearer = self.lookalikes
        return (
            f"key {self.key} was refused, so were {sk}, {project}, {google}, {face} and "
            f"Authorization: Bearer {bearer}"
        )

    def patterns(self) -> Iterator[tuple[str, bytes]]:
        """Yield what to look for: a name, and the bytes."""
        key = self.key.encode()
        yield "the key", key
        yield "the key in base64", base64.b64encode(key).rstrip(b"=")
        yield "the key in percent signs", quote(self.key, safe="").encode()
        for text in self.lookalikes:
            yield f"a key like {text[:4]}…", text.encode()

    def found_in(self, data: bytes) -> str:
        """Return the name of the first that is in the data; empty for none."""
        return next((name for name, pattern in self.patterns() if pattern in data), "")

    def found_under(self, folder: Path) -> str:
        """Return the first file with a secret in it, and which; empty for none."""
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
