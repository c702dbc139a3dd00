"""Read, decode and validate untrusted text and numbers, and split names into words."""

from __future__ import annotations

import operator
import os
import re
import stat
import sys
from collections.abc import Iterable
from math import inf, nan
from pathlib import Path
from typing import Any, BinaryIO

from hvr.errors import DataFileError, UsageError

# Texts --------------------------------------------------------------------------------------------
# Read, decode and validate untrusted text.
#
# Byte order marks are dropped and line ends normalised. Input that would break code further on is
# refused: nesting beyond MAX_DEPTH and, in files that users write, duplicate names, non-finite
# numbers and unpaired surrogates.

MAX_DEPTH = 100
"""Deepest accepted nesting; copying or printing a value recurses several times a level."""

_MOST_BITS = 1024
"""Larger integers cannot be converted to float."""

_MOST_DIGITS = 4000

_WIDE = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_SHOWN = 60


def unreadable(path: Path | str, error: Exception) -> DataFileError:
    """Return the error for a file that the system cannot read."""
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    if isinstance(error, FileNotFoundError):
        dash = "; this argument does not accept - for standard input" if str(path) == "-" else ""
        reason = f"no such file{dash}"
    elif isinstance(error, IsADirectoryError):
        reason = "it is a folder"
    name = str(path) if str(path).isprintable() else ascii(str(path))
    return DataFileError(f"cannot read {name}: {reason}")


def read_bytes(path: Path) -> bytes:
    """Return the content of a readable file or pipe; raise a DataFileError for anything else."""
    try:
        with path.open("rb") as file:
            if _never_ends(file):
                raise DataFileError(f"cannot read {path}: it is a device, not a file")
            return file.read()
    except (OSError, ValueError, MemoryError) as error:  # ValueError: the name contains a NUL
        raise unreadable(path, error) from error


def _never_ends(file: BinaryIO) -> bool:
    about = os.fstat(file.fileno())
    if stat.S_ISBLK(about.st_mode):
        return True
    if not stat.S_ISCHR(about.st_mode) or file.isatty():
        return False
    return not os.path.samestat(about, os.stat(os.devnull))  # noqa: PTH116 - a path as text


def check_stdin() -> None:
    if sys.stdin is None or sys.stdin.closed:
        raise DataFileError("cannot read standard input: it is closed")


def read_stdin() -> bytes:
    """Return the bytes of standard input; raise a DataFileError if it is closed or unreadable."""
    check_stdin()
    stream = sys.stdin
    try:
        buffer: BinaryIO | None = getattr(stream, "buffer", None)
        return stream.read().encode() if buffer is None else buffer.read()
    except OSError as error:
        raise unreadable("standard input", error) from error


def read_text(path: Path) -> str:
    r"""Return the text of a UTF-8 file, without byte order mark and with `\n` line endings.

    Raises:
        DataFileError: The file cannot be read or is not UTF-8 text; the message gives the place.
    """
    return decode(read_bytes(path), str(path))


def decode(data: bytes, name: str) -> str:
    r"""Decode UTF-8 bytes, without byte order mark and with `\n` line endings.

    Raises:
        DataFileError: The bytes are not UTF-8 text; the message gives the place.
    """
    if data.startswith(_WIDE):
        raise DataFileError(
            f"{name}: expected UTF-8, found UTF-16 or UTF-32; save the file as UTF-8"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataFileError(
            f"{name}:{_place(error)}: the byte 0x{error.object[error.start]:02x} is not UTF-8; "
            "save the file as UTF-8"
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataFileError(f"{name}:{line}: found a NUL character, expected UTF-8 text")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _place(error: UnicodeDecodeError) -> str:
    before = error.object[: error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
    return f"{line}:{column}"


def parse_json(text: str | bytes, *, strict: bool = True) -> Any:
    """Parse JSON and check its value.

    Args:
        strict: Whether to also refuse duplicate names, NaN, Infinity, numbers that exceed a float,
            and unpaired surrogates. If False, as suits files written by programs, oversized
            integers become infinity.

    Raises:
        ValueError: The text is not JSON (usually a `json.JSONDecodeError` with the place), is
            nested too deeply, or violates `strict`.
    """
    import json

    if isinstance(text, bytes):
        text = text.decode("utf-8-sig")
    hooks: dict[str, Any] = {"object_pairs_hook": _once_each} if strict else {"parse_int": _whole}
    try:
        value = json.loads(text.removeprefix("\ufeff"), **hooks)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        raise ValueError(_reason(error)) from None
    check_value(value, strict=strict)
    return value


def read_json(path: Path, *, strict: bool = True) -> Any:
    """Read a JSON file; see `parse_json` for `strict`.

    Raises:
        DataFileError: The file cannot be read or is not JSON; the message gives the place.
    """
    return _json(read_text(path), str(path), strict=strict)


def read_json_lines(path: Path, *, strict: bool = True) -> list[tuple[int, Any]]:
    """Read a JSON Lines file as pairs of 1-based line numbers and values.

    Blank lines are skipped; see `parse_json` for `strict`.

    Raises:
        DataFileError: The file cannot be read, or a line is not JSON; the message names the line.
    """
    # str.splitlines() also splits at characters that JSON strings may contain.
    return [
        (number, _json(line, f"{path}:{number}", strict=strict, line=True))
        for number, line in enumerate(read_text(path).split("\n"), 1)
        if line.strip()
    ]


def read_log(path: Path) -> list[tuple[int, Any]]:
    """Read a JSON Lines log of hvr as pairs of 1-based line numbers and values.

    A truncated last line, as left by a crash, is ignored.

    Raises:
        DataFileError: The file cannot be read, or an earlier line is not JSON.
    """
    data = read_bytes(path).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    whole, newline, rest = data.rpartition(b"\n")
    lines = list(enumerate(decode(whole + newline, str(path)).split("\n"), 1))
    try:
        # A last line without a line break may still be complete: some editors strip it.
        last = [(len(lines), parse_json(rest, strict=False))] if rest.strip() else []
    except ValueError:
        last = []
    values = [
        (number, _json(line, f"{path}:{number}", strict=False, line=True))
        for number, line in lines
        if line.strip()
    ]
    return values + last


def _json(text: str, name: str, *, strict: bool, line: bool = False) -> Any:
    import json

    if not text.strip():
        raise DataFileError(f"{name}: expected a JSON value, found nothing")
    try:
        return parse_json(text, strict=strict)
    except json.JSONDecodeError as error:
        place = error.colno if line else f"{error.lineno}:{error.colno}"
        raise DataFileError(f"{name}:{place}: not valid JSON ({error.msg})") from None
    except ValueError as error:
        raise DataFileError(f"{name}: this JSON cannot be used: {error}") from None


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; raise a DataFileError if it cannot be read or is not TOML."""
    import tomllib

    try:
        return tomllib.loads(read_text(path))
    except RecursionError:
        raise DataFileError(f"{path}: this TOML cannot be used: {_TOO_DEEP}") from None
    except ValueError as error:
        raise DataFileError(f"{path}: not valid TOML ({_reason(error)})") from None


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file of plain values without aliases; None if the file is empty.

    Raises:
        DataFileError: The file cannot be read, or is not YAML of this kind; the message gives the
            place.
        MissingExtraError: PyYAML is not installed.
    """
    from hvr.base.registry import load

    yaml = load("yaml", "pyyaml", "gnn")

    class Loader(yaml.SafeLoader):  # type: ignore[misc, name-defined]
        def fetch_flow_collection_start(self, token: Any) -> None:
            # PyYAML's time grows with the square of the depth.
            if self.flow_level >= MAX_DEPTH:
                raise RecursionError
            super().fetch_flow_collection_start(token)

        def compose_node(self, parent: Any, index: Any) -> Any:
            # No file needs aliases, and a few lines of them expand to a value of any size.
            if self.check_event(yaml.AliasEvent):
                event = self.peek_event()
                message = f"the alias *{event.anchor} is not supported: write the value out"
                raise yaml.composer.ComposerError(None, None, message, event.start_mark)
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            if twice := _repeated(names):
                message = f"duplicate name {twice}"
                raise yaml.constructor.ConstructorError(None, None, message, node.start_mark)
            return super().construct_mapping(node, deep)

    try:
        value = yaml.load(read_text(path), Loader)
        check_value(value)
        return value
    except RecursionError:
        raise DataFileError(f"{path}: this YAML cannot be used: {_TOO_DEEP}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise DataFileError(f"{path}{place}: not valid YAML ({error.problem})") from None
    except yaml.YAMLError as error:
        raise DataFileError(f"{path}: not valid YAML ({str(error).splitlines()[0]})") from None
    # PyYAML raises these for dates and tags that do not match their values.
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise DataFileError(f"{path}: this YAML cannot be used: {_reason(error)}") from None


def check_value(value: Any, *, strict: bool = True) -> None:
    """Raise a ValueError if a value is nested too deeply or violates `strict`; see `parse_json`."""
    _check(value, "", 0, strict)


def _check(value: Any, name: str, depth: int, strict: bool) -> None:
    if isinstance(value, dict | list):
        if depth >= MAX_DEPTH:
            raise ValueError(_TOO_DEEP)
        if isinstance(value, list):
            for item in value:
                _check(item, name, depth + 1, strict)
            return
        for key, item in value.items():
            if strict and isinstance(key, str):
                _check_plain(key, "")
            _check(item, str(key), depth + 1, strict)
    elif strict:
        _check_plain(value, name)


def _check_plain(value: Any, name: str) -> None:
    fault = ""
    if isinstance(value, float):
        # The difference is NaN for infinities and NaN.
        fault = "" if value - value == 0 else f"must be a finite number, got {value}"
    elif isinstance(value, int):
        fault = "" if value.bit_length() <= _MOST_BITS else "is an integer too large for a float"
    elif isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            fault = f"has an unpaired surrogate: {ascii(value)[:_SHOWN]}"
    if fault:
        raise ValueError(f"{ascii(name)[:_SHOWN] if name else 'a value'} {fault}")


def _whole(digits: str) -> float:
    # Python refuses to parse longer integers; one absurd number must not make the file unreadable.
    return int(digits) if len(digits) <= _MOST_DIGITS else inf


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError(f"duplicate name {_repeated(name for name, _ in pairs)} in an object")
    return values


def _repeated(names: Iterable[str]) -> str:
    known: set[str] = set()
    for name in names:
        if name in known:
            return ascii(name)[:_SHOWN]
        known.add(name)
    return ""


def _reason(error: Exception) -> str:
    text = str(error)
    if "int_max_str_digits" in text:
        return "a number has too many digits"
    return (text.splitlines() or [type(error).__name__])[0][:200]


_TOO_DEEP = f"it is nested more than {MAX_DEPTH} levels deep"


# English ------------------------------------------------------------------------------------------
# Names split into words: `StoveBurner-1` and "stove burners" share two.

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


def words(text: str) -> tuple[str, ...]:
    """Return the lower-case words of a name: `StoveBurner-1` gives stove, burner, 1."""
    return tuple(p.lower() for p in _PARTS.findall(text))


def squeezed(text: str) -> str:
    """Return the words of a name joined in lower case: `stoveburner1`."""
    return "".join(words(text))


def singular(word: str) -> str:
    """Return the singular of a noun, including irregular plurals such as knives and tomatoes."""
    for ending, instead in (
        ("nives", "nife"),
        ("leaves", "leaf"),
        ("loaves", "loaf"),
        ("helves", "helf"),
        ("ies", "y"),
        ("oes", "o"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("sses", "ss"),
        ("xes", "x"),
    ):
        if word.endswith(ending) and len(word) > len(ending) - len(instead) + 2:
            return word[: -len(ending)] + instead
    if word.endswith("s") and len(word) > 3 and word[-2] not in "su":
        return word[:-1]
    return word


# Numbers ------------------------------------------------------------------------------------------


MAX_INTEGER = 999_999_999_999
"""Largest integer that SQLite columns and the seeds of numpy and torch can hold."""
MAX_REAL = 1e6
"""Largest real number, which timers also accept as a number of seconds."""

# Stricter than Python, which also accepts "1_000", " 1" and the digits of other scripts.
_WHOLE = r"-?[0-9]{1,12}"
_REAL = r"-?([0-9]{1,20}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,3})?"
_SHOWN_NUMBER = 40


def parse_integer(text: str, least: int = 0, most: int = MAX_INTEGER) -> int:
    """Parse an integer from `least` to `most`; raise a ValueError for any other string."""
    if not re.fullmatch(_WHOLE, text):
        raise ValueError(f"{brief(text)} is not a whole number of at most 12 digits")
    _check_range(text, int(text), least, most)
    return int(text)


def parse_real(text: str, least: float = 0, most: float = MAX_REAL) -> float:
    """Parse a decimal number from `least` to `most`; raise a ValueError for any other string."""
    if not re.fullmatch(_REAL, text):
        raise ValueError(f"{brief(text)} is not a number such as 2 or 0.5")
    _check_range(text, float(text), least, most)
    return float(text)


def check_integer(field: str, value: object, least: int = 0, most: int = MAX_INTEGER) -> None:
    """Raise a UsageError unless the option `field` is an integer from `least` to `most`."""
    try:
        usable = least <= operator.index(value) <= most  # type: ignore[arg-type]
    except TypeError:
        usable = False
    if not usable:
        raise UsageError(
            f"{field} must be a whole number from {least} to {most}, not {brief(value)}",
            field=field,
        )


def check_real(field: str, value: object, least: float = 0, most: float = MAX_REAL) -> None:
    """Raise a UsageError unless the option `field` is a number from `least` to `most`."""
    if not least <= as_float(value) <= most:
        raise UsageError(
            f"{field} must be a number from {least:.12g} to {most:.12g}, not {brief(value)}",
            field=field,
        )


def check_positive(field: str, value: object, most: float = MAX_REAL) -> None:
    """Raise a UsageError unless the option `field` is positive and at most `most`."""
    if not 0 < as_float(value) <= most:
        raise UsageError(
            f"{field} must be positive and at most {most:.12g}, not {brief(value)}", field=field
        )


def as_float(value: object) -> float:
    """Return a number as a float, or NaN for other values; NaN fails every range check."""
    if not hasattr(value, "__float__"):  # str and None
        return nan
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        return nan


def brief(value: object) -> str:
    """Return the `repr` of a value, shortened for a message."""
    try:
        shown = repr(value)
    except ValueError:  # Python refuses to print integers of thousands of digits
        return "a number with thousands of digits"
    return shown if len(shown) <= _SHOWN_NUMBER else f"{shown[:_SHOWN_NUMBER]}…"


def _check_range(text: str, value: float, least: float, most: float) -> None:
    if value < least:
        limit = (
            "must not be negative" if least == 0 else f"is too small: the minimum is {least:.12g}"
        )
        raise ValueError(f"{brief(text)} {limit}")
    if value > most:
        raise ValueError(f"{brief(text)} is too large: the maximum is {most:.12g}")
