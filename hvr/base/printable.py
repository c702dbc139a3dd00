"""Texts from elsewhere, made fit to print: they command no terminal and forge no line.

What a server, a model, a file or its name says may have control characters, which a terminal
obeys, and marks that turn the order of letters round. In all that is printed they are spelled
`\\u001b`, as in JSON and Turtle. Styles are rich's, which knows them from the text.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TextIO, cast

from hvr.base.secrets import named_like_a_key

if TYPE_CHECKING:
    from rich.console import Console

# All controls but tab and line break; marks and overrides of direction; what breaks lines for some;
# lone surrogates, which no stream encodes.
_UNPRINTABLE = (
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
    r"|\r(?!\n)"
)


_NAME = 60
# What a number follows is the place of something: the name of a file and a line.
_LONG_NAME = r"[^\s()'\",:;]{61,}+(:[0-9])?"


def printable(text: str) -> str:
    """Return a text in which characters that command a terminal are spelled out, as `\\u001b`."""
    return text if text.isprintable() else re.sub(_UNPRINTABLE, _spelled, text)


def one_line(text: str) -> str:
    """Return a text on one line, its line breaks spelled out with what else commands a terminal."""
    return printable(text).replace("\r\n", r"\n").replace("\n", r"\n")


def short_names(text: str) -> str:
    """Return a message in which no name is longer than 60 characters; places stay whole."""
    return re.sub(_LONG_NAME, _shortened, text) if len(text) > _NAME else text


def _shortened(name: re.Match[str]) -> str:
    return name[0] if name[1] else f"{name[0][:57]}…"


def short(text: object, most: int = 200) -> str:
    """Return a text that a message quotes; of a long one the beginning, and how long it is."""
    shown = short_names(str(text))
    if len(shown) <= most:
        return shown
    return f"{shown[: most // 2]}… ({len(shown)} characters)"


def block(text: str) -> str:
    """Return a message in which no line but the first begins at the margin.

    What stands there is said by hvr, not by what it read.
    """
    first, *more = text.splitlines() or [""]
    margin = "  " if any(line[:1].strip() for line in more) else ""
    return "\n".join([first, *(margin + line for line in more)])


def protect_output() -> None:
    """Make what is printed from now on printable, and free of the keys of the environment.

    Texts are freed of keys where they come from; this is for what nobody has thought of, such as
    the warnings of a library. These go to standard error, so there what only looks like a key is
    taken out, too. It may be called again, when the environment has changed.
    """
    # A process may have been started without one of them.
    if sys.stdout is not None:
        sys.stdout = _protected(sys.stdout, _without_known_keys())
    if sys.stderr is not None:
        sys.stderr = _protected(sys.stderr, _without_keys)


def console(*, stderr: bool = False, **options: Any) -> Console:
    """Return a console of rich that makes texts printable and leaves rich's own styles alone.

    Texts mean what they say: `[bold]` and `:mug:` in them are no commands.

    Args:
        stderr: print on standard error instead of standard output.
        options: others of `rich.console.Console`.
    """
    from rich.console import Console
    from rich.segment import Segment

    class PrintableConsole(Console):
        def render(self, *given: Any, **named: Any) -> Iterator[Segment]:
            for segment in super().render(*given, **named):
                # Rich's own commands to the terminal are marked as such.
                if segment.control:
                    yield segment
                else:
                    yield Segment(printable(segment.text), segment.style)

    stream = sys.stderr if stderr else sys.stdout
    # Protection would spell out the styles.
    plain = {"file": getattr(stream, "unprotected", stream), "markup": False, "emoji": False}
    return PrintableConsole(stderr=stderr, **{**plain, **options})


class _ProtectedStream:
    """A stream that cleans what is written."""

    def __init__(self, stream: TextIO, clean: Callable[[str], str]) -> None:
        self.unprotected = stream
        self._clean = clean

    def write(self, text: str) -> int:
        self.unprotected.write(printable(self._clean(text)))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unprotected, name)


def _protected(stream: TextIO, clean: Callable[[str], str]) -> TextIO:
    return cast(TextIO, _ProtectedStream(getattr(stream, "unprotected", stream), clean))


def _without_known_keys() -> Callable[[str], str]:
    if not any(map(named_like_a_key, os.environ)):
        return str
    from hvr.base.secrets.scrubber import Scrubber

    return Scrubber.of(os.environ).known


def _without_keys(text: str) -> str:
    if text.isspace():
        return text
    # Imported when something is said, since most commands say nothing here.
    from hvr.base.secrets.scrubber import Scrubber

    return Scrubber.of(os.environ).text(text)


def _spelled(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
