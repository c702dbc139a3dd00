"""Known keys in a text, however they are spelled.

Whole or in part, in either case, percent-encoded, escaped as in JSON, Python or HTML, in base64 or
hexadecimal, broken over lines or literals.
"""

from __future__ import annotations

import re
from binascii import b2a_base64
from collections.abc import Iterable, Iterator

_JOINTS = " \t\n\r\f\v\"'`,+\u00a0\u00ad\u2028\u2029\u200b\u200c\u200d\u2060\ufeff"
"""What stands between the parts of a text that is broken over lines or literals."""

_ESCAPED = re.compile(
    r"%(?:25)*([0-9a-f]{2})"  # in a URL, encoded once or more often
    r"|(?<!\\)\\++(?:(?:u00|x)([0-9a-f]{2})|[nrt])?"  # in JSON or Python
    r"|&\#0*(\d{2,3});|&\#x0*([0-9a-f]{2});",  # in HTML
    re.IGNORECASE,
)
_NO_JOINTS = str.maketrans(dict.fromkeys(_JOINTS))
# Any part of a long secret that has so many of its characters in a row is found.
_PART = 12


def spellings(secret: str) -> Iterator[str]:
    """Yield a secret as it is, in base64 and in hexadecimal, in the form that `spans` looks for."""
    data = secret.encode("utf-8", "surrogatepass")
    spelled = [secret, data.hex()]
    for shift in range(3):
        # In a longer text the base64 of the secret depends on where it begins in a group of
        # three; the first and the last letter also on what stands beside it.
        letters = b2a_base64(b"\0" * shift + data, newline=False).decode("ascii").rstrip("=")
        core = letters[-(-shift * 8 // 6) : len(letters) - bool((shift + len(data)) % 3)]
        spelled += [core, core.translate(str.maketrans("+/", "-_"))]
    for text in dict.fromkeys(spelled):
        yield _joined(text)


def spans(text: str, secrets: Iterable[str]) -> list[tuple[int, int]]:
    """Return where secrets stand in a text, or parts of long ones; none overlap.

    Args:
        text: as it came.
        secrets: as `spellings` yields them.
    """
    found = _found(text, text, (), secrets)
    # Both ways: what looks escaped may be the end of something else and the beginning of a key.
    if any(sign in text for sign in "%\\&"):
        unescaped = _ESCAPED.sub(_unescaped, text)
        found += _found(text, unescaped, _ESCAPED.finditer(text), secrets)
    apart: list[tuple[int, int]] = []
    for begin, end in sorted(found):
        if apart and begin < apart[-1][1]:
            apart[-1] = apart[-1][0], max(end, apart[-1][1])
        else:
            apart.append((begin, end))
    return apart


def _found(
    text: str, unescaped: str, escapes: Iterable[re.Match[str]], secrets: Iterable[str]
) -> list[tuple[int, int]]:
    """Return where secrets of an unescaped text stand in the text as it came."""
    places = list(_places(_joined(unescaped), secrets))
    if not places:
        return []
    origins = _origins(text, escapes)
    return [(origins[first][0], origins[last - 1][1]) for first, last in places]


def _joined(text: str) -> str:
    """Return a text in one piece and in small letters."""
    # Only this letter has a small form of two characters, and places must not move.
    return text.translate(_NO_JOINTS).replace("\u0130", "i").lower()


def _unescaped(escaped: re.Match[str]) -> str:
    percent, backslash, decimal, html = escaped.groups()
    code = percent or backslash or html
    if code:
        return chr(int(code, 16))
    return chr(int(decimal)) if decimal else ""


def _places(text: str, secrets: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yield where parts of secrets begin and end in a joined text, each as far as it goes on."""
    for secret in secrets:
        for first in _parts(secret):
            part = secret[first : first + _PART] if len(secret) >= 2 * _PART else secret
            at = text.find(part)
            while at >= 0:
                begin, end = at, at + len(part)
                left, right = first - 1, first + len(part)
                while begin and left >= 0 and text[begin - 1] == secret[left]:
                    begin, left = begin - 1, left - 1
                while end < len(text) and right < len(secret) and text[end] == secret[right]:
                    end, right = end + 1, right + 1
                yield begin, end
                at = text.find(part, end)


def _parts(secret: str) -> Iterator[int]:
    """Yield where the parts of a secret begin that are looked for."""
    if len(secret) < 2 * _PART:
        yield 0
        return
    yield from range(0, len(secret) - _PART, _PART)
    yield len(secret) - _PART


def _origins(text: str, escapes: Iterable[re.Match[str]]) -> list[tuple[int, int]]:
    """Return where each character of the joined text begins and ends in the text.

    Args:
        text: as it came.
        escapes: what was unescaped in it before it was joined.
    """
    origins: list[tuple[int, int]] = []
    at = 0
    for escaped in escapes:
        origins += ((i, i + 1) for i in range(at, escaped.start()) if text[i] not in _JOINTS)
        letter = _unescaped(escaped)
        if letter and letter not in _JOINTS:
            origins.append(escaped.span())
        at = escaped.end()
    origins += ((i, i + 1) for i in range(at, len(text)) if text[i] not in _JOINTS)
    return origins
