"""Text that hvr did not write in the same process: read, decoded, parsed, or refused in a sentence.

A byte order mark and the line ends of Windows and old Macs make no difference. What would break
later in code that trusts its input is refused here: nesting beyond MAX_DEPTH, and in what users
write also names that are there twice, numbers that are none, and halves of surrogate pairs.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Mapping
from math import inf
from pathlib import Path
from typing import Any, BinaryIO

from hvr.errors import DataFileError

MAX_DEPTH = 100
"""Deeper values are refused: copying or printing them recurses several times a level."""

_MOST_BITS = 1024
"""Whole numbers beyond have no float."""

_MOST_DIGITS = 4000

_WIDE = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_SHOWN = 60


def unreadable(path: Path | str, error: Exception) -> DataFileError:
    """Return the error for a file that the system does not let us read."""
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    if isinstance(error, FileNotFoundError):
        reason = "there is no such file"
    elif isinstance(error, IsADirectoryError):
        reason = "it is a folder"
    name = str(path) if str(path).isprintable() else ascii(str(path))
    return DataFileError(f"cannot read {name}: {reason}")


def read_bytes(path: Path) -> bytes:
    """Return the content of a file or pipe.

    Raises:
        DataFileError: it is missing, a folder or a device, or must not be read.
    """
    try:
        with path.open("rb") as file:
            if _never_ends(file):
                raise DataFileError(f"cannot read {path}: it is a device, not a file")
            return file.read()
    except (OSError, ValueError, MemoryError) as error:  # ValueError: the name has a NUL
        raise unreadable(path, error) from error


def _never_ends(file: BinaryIO) -> bool:
    """Return whether a file is a device such as /dev/zero; a terminal and /dev/null are not."""
    about = os.fstat(file.fileno())
    if stat.S_ISBLK(about.st_mode):
        return True
    if not stat.S_ISCHR(about.st_mode) or file.isatty():
        return False
    return not os.path.samestat(about, os.stat(os.devnull))  # noqa: PTH116 - of a name


def read_stdin() -> bytes:
    """Return what standard input has.

    Raises:
        DataFileError: it is closed or cannot be read.
    """
    stream = sys.stdin
    if stream is None or stream.closed:
        raise DataFileError("cannot read standard input: it is closed")
    try:
        buffer: BinaryIO | None = getattr(stream, "buffer", None)
        return stream.read().encode() if buffer is None else buffer.read()
    except OSError as error:
        raise unreadable("standard input", error) from error


def read_text(path: Path) -> str:
    r"""Return the text of a UTF-8 file without its byte order mark, and with `\n` as line end.

    Raises:
        DataFileError: it cannot be read, or is no such text; the message says where.
    """
    return decode(read_bytes(path), str(path))


def decode(data: bytes, name: str) -> str:
    r"""Return the text of UTF-8 bytes without a byte order mark, and with `\n` as line end.

    Args:
        data: the bytes.
        name: what messages call them: the file.

    Raises:
        DataFileError: they are no such text; the message says where.
    """
    if data.startswith(_WIDE):
        raise DataFileError(f"{name}: this is UTF-16 or UTF-32; save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataFileError(
            f"{name}:{_place(error)}: the byte 0x{error.object[error.start]:02x} is not UTF-8; "
            "save the file as UTF-8"
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataFileError(f"{name}:{line}: a NUL character: this is no text; save it as UTF-8")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _place(error: UnicodeDecodeError) -> str:
    before = error.object[: error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
    return f"{line}:{column}"


def parse_json(text: str | bytes, *, strict: bool = True) -> Any:
    """Return the value of a JSON text.

    Args:
        text: the text, or its UTF-8 bytes.
        strict: refuse also names that an object has twice, NaN, Infinity, numbers beyond
            floats and halves of surrogate pairs. False is for what programs wrote; endless
            numbers are infinite there.

    Raises:
        ValueError: it is not JSON (then often a `json.JSONDecodeError`, which has the place),
            nested too deeply, or not what `strict` asks for.
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
    """Return the value of a JSON file.

    Args:
        path: the file.
        strict: as in `parse_json`.

    Raises:
        DataFileError: it cannot be read or is not JSON; the message says where.
    """
    return _json(read_text(path), str(path), strict=strict)


def read_json_lines(path: Path, *, strict: bool = True) -> list[tuple[int, Any]]:
    """Return the values of a file with a JSON value a line, with the numbers of their lines.

    Args:
        path: the file; empty lines in it are passed over.
        strict: as in `parse_json`.

    Raises:
        DataFileError: it cannot be read, or a line is not JSON; the message says which.
    """
    # Not splitlines(): it splits at characters that may stand in a JSON text.
    return [
        (number, _json(line, f"{path}:{number}", strict=strict, line=True))
        for number, line in enumerate(read_text(path).split("\n"), 1)
        if line.strip()
    ]


def read_log(path: Path) -> list[tuple[int, Any]]:
    """Return the values of a file to which a program of hvr appends JSON lines as things happen.

    A last line that was cut off, as by a crash, is left out.

    Args:
        path: the file; empty lines in it are passed over.

    Returns:
        The values with the numbers of their lines, from 1.

    Raises:
        DataFileError: it cannot be read, or another line is not JSON; the message says which.
    """
    data = read_bytes(path).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    whole, newline, rest = data.rpartition(b"\n")
    lines = list(enumerate(decode(whole + newline, str(path)).split("\n"), 1))
    try:
        # Without its line break the last line may be whole all the same: editors take it away.
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
        raise DataFileError(f"{name}: there is nothing in it; a JSON value is needed")
    try:
        return parse_json(text, strict=strict)
    except json.JSONDecodeError as error:
        place = error.colno if line else f"{error.lineno}:{error.colno}"
        raise DataFileError(f"{name}:{place}: not valid JSON: {error.msg}") from None
    except ValueError as error:
        raise DataFileError(f"{name}: this JSON cannot be used: {error}") from None


def read_toml(path: Path) -> dict[str, Any]:
    """Return the values of a TOML file.

    Raises:
        DataFileError: it cannot be read or is not TOML.
    """
    import tomllib

    try:
        return tomllib.loads(read_text(path))
    except RecursionError:
        raise DataFileError(f"{path} is not TOML that can be used: {_TOO_DEEP}") from None
    except ValueError as error:
        raise DataFileError(f"{path} is not TOML: {_reason(error)}") from None


def read_yaml(path: Path) -> Any:
    """Return the value of a YAML file of plain values, without aliases; None of an empty one.

    Raises:
        DataFileError: it cannot be read or is not such YAML; the message says where.
        MissingExtraError: the package PyYAML is not installed.
    """
    from hvr.base.extras import load

    yaml = load("yaml", "pyyaml", "gnn")

    class Loader(yaml.SafeLoader):  # type: ignore[misc, name-defined]
        def fetch_flow_collection_start(self, token: Any) -> None:
            # The time that PyYAML takes grows with the square of the depth.
            if self.flow_level >= MAX_DEPTH:
                raise RecursionError
            super().fetch_flow_collection_start(token)

        def compose_node(self, parent: Any, index: Any) -> Any:
            # Nothing here needs them, and a few lines of them make a value of any size.
            if self.check_event(yaml.AliasEvent):
                event = self.peek_event()
                message = f"the alias *{event.anchor}: write the value out"
                raise yaml.composer.ComposerError(None, None, message, event.start_mark)
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            if twice := _repeated(names):
                message = f"{twice} is there twice"
                raise yaml.constructor.ConstructorError(None, None, message, node.start_mark)
            return super().construct_mapping(node, deep)

    try:
        value = yaml.load(read_text(path), Loader)
        check_value(value)
        return value
    except RecursionError:
        raise DataFileError(f"{path} is not YAML that can be used: {_TOO_DEEP}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise DataFileError(f"{path}{place}: not valid YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise DataFileError(f"{path}: not valid YAML: {str(error).splitlines()[0]}") from None
    # What PyYAML makes of dates and tags that do not fit.
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise DataFileError(f"{path} is not YAML that can be used: {_reason(error)}") from None


def check_fields(cls: type, values: Mapping[str, Any]) -> None:
    """Refuse values that do not fit the fields of a dataclass that they are for.

    Args:
        cls: the dataclass; fields that are no plain texts, numbers and truth values, or None, are
            not looked at.
        values: by the names of fields; those that are missing are not looked at.

    Raises:
        TypeError: a value is of another type, or the values are no such mapping.
    """
    from dataclasses import fields

    if not isinstance(values, Mapping):
        raise TypeError(f"the {cls.__name__} is no object")
    for field in fields(cls):
        wanted = str(field.type).split(" | ")
        if field.name not in values or not all(name in _PLAIN for name in wanted):
            continue
        value = values[field.name]
        # In Python a bool is an int: `true` is no number.
        plain = "bool" if isinstance(value, bool) else ""
        if not any(n == plain if plain else isinstance(value, _PLAIN[n]) for n in wanted):
            raise TypeError(f"{field.name!r} must be {field.type}, not {ascii(value)[:_SHOWN]}")


def check_value(value: Any, *, strict: bool = True) -> None:
    """Refuse a value of JSON or YAML that code which trusts it would break on.

    Args:
        value: dicts, lists and plain values.
        strict: as in `parse_json`.

    Raises:
        ValueError: it is nested too deeply, or not what `strict` asks for.
    """
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
    what = ""
    if isinstance(value, float):
        # inf - inf and nan - nan are nan.
        what = "" if value - value == 0 else "no finite number"
    elif isinstance(value, int):
        what = "" if value.bit_length() <= _MOST_BITS else "too large for a number here"
    elif isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            what = "no text: it has half of a surrogate pair"
    if what:
        subject = ascii(name)[:_SHOWN] if name else "something in it"
        shown = ascii(value)[:_SHOWN] if isinstance(value, float | str) else "a whole number"
        raise ValueError(f"{subject} is {shown}, which is {what}")


def _whole(digits: str) -> float:
    # Python reads no longer ones, and a nonsensical count must not cost the rest.
    return int(digits) if len(digits) <= _MOST_DIGITS else inf


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError(f"{_repeated(name for name, _ in pairs)} is there twice in one object")
    return values


def _repeated(names: Iterable[str]) -> str:
    """Return the first name that is there twice, for a message; empty without one."""
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


_PLAIN: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "None": (type(None),),
}
_TOO_DEEP = f"it is nested more than {MAX_DEPTH} deep"
