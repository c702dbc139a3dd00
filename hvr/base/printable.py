"""Untrusted text made safe to print, and HTML for notebooks."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from rich.console import Console


# Printable ----------------------------------------------------------------------------------------
# Make untrusted text safe to print.
#
# Text from servers, models, files and file names may contain control characters, which terminals
# obey, and bidirectional overrides. Printed text shows them as `\u001b`, as in JSON and Turtle.
# Styles come from rich and are not affected.

# Controls except tab and line feed; bidirectional marks and overrides; Unicode line separators;
# unpaired surrogates, which no stream can encode.
_UNPRINTABLE = (
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
    r"|\r(?!\n)"
)


_NAME = 60
# A name followed by a number is a place, that is, a file and a line.
_LONG_NAME = r"[^\s()'\",:;]{61,}+(:[0-9])?"


def printable(text: str) -> str:
    r"""Escape characters that control a terminal or the direction of text, as in `\u001b`."""
    return text if text.isprintable() else re.sub(_UNPRINTABLE, _spelled, text)


def one_line(text: str) -> str:
    """Put text on one line: escape line breaks and characters that control a terminal."""
    return printable(text).replace("\r\n", r"\n").replace("\n", r"\n")


def short_names(text: str) -> str:
    """Shorten names of more than 60 characters in a message, but not locations (`file:line`)."""
    return re.sub(_LONG_NAME, _shortened, text) if len(text) > _NAME else text


def _shortened(name: re.Match[str]) -> str:
    return name[0] if name[1] else f"{name[0][:57]}…"


def short(text: object, most: int = 200) -> str:
    """Shorten a string for quoting in a message; a shortened string ends with its full length."""
    shown = short_names(str(text))
    if len(shown) <= most:
        return shown
    return f"{shown[: most // 2]}… ({len(shown)} characters)"


def block(text: str) -> str:
    """Indent the lines after the first if one of them starts in the first column.

    Only hvr's own text may start in this column.
    """
    first, *more = text.splitlines() or [""]
    margin = "  " if any(line[:1].strip() for line in more) else ""
    return "\n".join([first, *(margin + line for line in more)])


def protect_output() -> None:
    """Escape control characters and mask keys in all further output.

    Text is scrubbed where it arrives; this function covers the rest, such as warnings from
    libraries. Standard error, which receives warnings, is also scrubbed of text that merely looks
    like a key. Call this function again after the environment has changed.
    """
    # Either stream may be missing.
    if sys.stdout is not None:
        sys.stdout = _protected(sys.stdout, _without_known_keys())
    if sys.stderr is not None:
        sys.stderr = _protected(sys.stderr, _without_keys)


def console(*, stderr: bool = False, **options: Any) -> Console:
    """Return a rich console that shows markup literally and escapes control characters."""
    from rich.console import Console
    from rich.segment import Segment

    class PrintableConsole(Console):
        def render(self, *arguments: Any, **options: Any) -> Iterator[Segment]:
            for segment in super().render(*arguments, **options):
                # Control segments come from rich itself.
                if segment.control:
                    yield segment
                else:
                    yield Segment(printable(segment.text), segment.style)

    stream = sys.stderr if stderr else sys.stdout
    # Protection would escape the styles.
    plain = {"file": getattr(stream, "unprotected", stream), "markup": False, "emoji": False}
    return PrintableConsole(stderr=stderr, **{**plain, **options})


class _ProtectedStream:
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


_KEY_NAMES = ("KEY", "KEY_ID", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE")


def named_like_a_key(variable: str) -> bool:
    """Return whether the name of an environment variable suggests that it holds a key."""
    return variable.upper().endswith(_KEY_NAMES)


def _without_known_keys() -> Callable[[str], str]:
    if not any(map(named_like_a_key, os.environ)):
        return str
    from hvr.base.secrets import Scrubber

    return Scrubber.of(os.environ).known


def _without_keys(text: str) -> str:
    if text.isspace():
        return text
    # Import lazily: most commands print nothing here.
    from hvr.base.secrets import Scrubber

    return Scrubber.of(os.environ).text(text)


def _spelled(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


# Similar names ------------------------------------------------------------------------------------

_MANY_NAMES = 300
_LONGEST = 200
"""Longer names are not compared: they are a program's mistake, and comparing is expensive."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name most similar to `name`, or "" if none is close."""
    if len(name) > _LONGEST:
        return ""
    names = list(known)
    folded = name.casefold()
    if same := [other for other in names if other.casefold() == folded]:
        return same[0]
    if len(names) > _MANY_NAMES:
        # Comparing thousands of names takes seconds; typos usually keep one end of the name.
        names = [n for n in names if n[:2] == name[:2] or n[-2:] == name[-2:]]
        names.sort(key=lambda n: abs(len(n) - len(name)))
        del names[_MANY_NAMES:]
    import difflib

    matches = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return matches[0] if matches else ""


# Notebooks ----------------------------------------------------------------------------------------
# HTML for notebooks: `_repr_html_` of runs, plans and reports.

MAX_TABLE_ROWS = 200


def html_card(
    title: str,
    sentences: Iterable[str] = (),
    header: Sequence[str] = (),
    rows: Sequence[Sequence[str]] = (),
    markup: str = "",
) -> str:
    """Return a title, paragraphs and a table of at most `MAX_TABLE_ROWS` rows as HTML.

    `markup` is HTML that is appended unchanged; all other arguments are escaped.
    """
    from html import escape  # notebooks alone need it

    def cells(row: Iterable[str]) -> str:
        return "".join(f'<td style="text-align: left">{escape(cell)}</td>' for cell in row)

    parts = [f"<p><b>{escape(title)}</b></p>"]
    parts += [f"<p>{escape(text).replace(chr(10), '<br>')}</p>" for text in sentences if text]
    if rows:
        head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
        body = "".join(f"<tr>{cells(row)}</tr>" for row in rows[:MAX_TABLE_ROWS])
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
    if len(rows) > MAX_TABLE_ROWS:
        parts.append(f"<p>and {len(rows) - MAX_TABLE_ROWS} more</p>")
    return f"<div>{''.join(parts)}{markup}</div>"
