"""Redact keys in everything that hvr shows or writes.

It finds both known keys and text that looks like a key, in time linear in the length of the text.
"""

from __future__ import annotations

import binascii
import re
from binascii import b2a_base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hvr.base.printable import named_like_a_key

# Forms of keys ------------------------------------------------------------------------------------
# Text that looks like a key, by its form or by the words before it.
#
# Each pattern matches a whole run of characters, then a function decides: no text can cause
# backtracking.

MASK = "[key]"


class Form(NamedTuple):
    """A format by which secret keys are recognised.

    Args:
        signs: Lower-case strings. Text that contains none of them has no key of this format. If
            empty, every text is searched.
    """

    signs: tuple[str, ...]
    pattern: str
    mask: str | Callable[[re.Match[str]], str]


def without_keys(text: str) -> str:
    """Mask everything in a string that looks like a key."""
    small = text.lower()
    for form in _FORMS:
        if not form.signs or any(sign in small for sign in form.signs):
            text = re.sub(form.pattern, form.mask, text)
    return text


def is_random(text: str) -> bool:
    """Return whether a string looks random: letters and digits mixed, or inner capitals."""
    letters = any(c.isalpha() for c in text)
    if letters and any(c.isdigit() for c in text):
        return True
    return text != text.lower() and text[1:] != text[1:].lower() and text != text.upper()


def _dense(text: str) -> bool:
    runs = re.findall("[A-Za-z0-9]+", text)
    digits = sum(map(str.isdigit, text))
    return len(text) >= 16 and digits >= 2 and is_random(text) and max(map(len, runs)) >= 12


def _begins(match: re.Match[str]) -> bool:
    """Return whether a match begins a word; a preceding escape sequence counts as a boundary."""
    at, text = match.start(), match.string
    if at == 0 or not text[at - 1].isalnum():
        return True
    before = text[max(0, at - 3) : at]
    return (
        before[-2:] in (r"\n", r"\r", r"\t") or re.fullmatch("%[0-9A-Fa-f]{2}", before) is not None
    )


def _mask_word(match: re.Match[str]) -> str:
    word = match[0].rstrip(".")
    rest = match[0][len(word) :]
    runs = re.split("[^A-Za-z0-9]", word)
    written = not is_random(word[3:]) and "*" not in word and max(map(len, runs)) < 20
    return match[0] if written or not _begins(match) else MASK + rest


def _mask_token(match: re.Match[str]) -> str:
    return match[0] if "." not in match[0] and len(match[0]) < 30 else MASK


def _mask_secret(match: re.Match[str]) -> str:
    kinds = (str.isupper, str.islower, str.isdigit)
    secret = all(sum(map(kind, match[2])) >= 2 for kind in kinds)
    return f"{match[1] or ''}{MASK}" if secret else match[0]


def _mask_scheme(found: re.Match[str]) -> str:
    scheme, between, value = found.groups()
    match scheme.lower():
        case "bearer":
            secret = len(value) >= 20 or (len(value) >= 12 and is_random(value))
        case "basic":
            secret = _is_user(value)
        case _:
            secret = _dense(value)
    return f"{scheme}{between}{MASK}" if secret else found[0]


def _is_user(text: str) -> bool:
    try:
        return b":" in binascii.a2b_base64(text[: len(text) // 4 * 4])
    except binascii.Error:
        return False


def _mask_user(match: re.Match[str]) -> str:
    user = match[1]
    secret = ":" in user or (len(user) >= 16 and is_random(user))
    return f"://{MASK}@" if secret else match[0]


def _mask_named(match: re.Match[str]) -> str:
    before, quote, value = match[1], match[2], match[3]
    enough = len(value) >= 16 or is_random(value)
    return f"{before}{MASK}" if quote or enough else match[0]


def _mask_maybe(match: re.Match[str]) -> str:
    return f"{match[1]}{MASK}" if _dense(match[3]) else match[0]


_ASSIGNED = r"(?:\\*[\"'])?\s{0,8}(?::|=>?|%3[ad])\s{0,8}(\\*[\"'])?)"

_FORMS = (
    Form(
        ("-----begin",),
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY[A-Z ]{0,10}-----[^-]*+"
        r"(?:-----END [A-Z ]{0,30}PRIVATE KEY[A-Z ]{0,10}-----)?",
        MASK,
    ),
    Form(("://",), r"://([^/\s?#\"'<>]+)@", _mask_user),
    # JSON web tokens
    Form(("eyj",), r"eyJ[A-Za-z0-9_-]{6,}+(?:\.[A-Za-z0-9_-]+)*+", _mask_token),
    # Google, GitHub, Slack: these prefixes are unambiguous.
    Form(("aiza", "ya29."), r"AIza[A-Za-z0-9_-]{20,}+|ya29\.[A-Za-z0-9._-]{16,}+", MASK),
    Form(
        ("gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_"),
        r"(?:gh[oprsu]|github_pat)_[A-Za-z0-9_]{16,}+",
        MASK,
    ),
    Form(("xox", "xapp-"), r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}+", MASK),
    # OpenAI, Anthropic and compatible providers; Hugging Face, Stripe, Replicate and others
    Form(
        ("sk-", "_live_", "_test_", "hf_", "gsk_", "xai-", "pplx-", "r8_", "glpat-", "npm_"),
        r"(?:sk-|[rs]k_live_|[rs]k_test_|hf_|gsk_|xai-|pplx-|r8_|glpat-|npm_)"
        r"[A-Za-z0-9_.*\u2026-]{16,}+",
        _mask_word,
    ),
    # AWS: a key id with or without its secret, and 40 characters in the form of a secret
    Form(
        ("akia", "asia"),
        r"A[KS]IA[A-Z0-9]{12,20}+(?:[\s:,;|\"'=]{1,8}[A-Za-z0-9/+=]{40}(?![A-Za-z0-9/+=]))?",
        lambda found: MASK if _begins(found) else found[0],
    ),
    Form(
        (),
        r"(?<![A-Za-z0-9/+])((?<=\\)[nrt]|(?<=%)[0-9A-Fa-f]{2})?([A-Za-z0-9/+]{40})"
        r"(?![A-Za-z0-9/+=])",
        _mask_secret,
    ),
    # Headers, addresses and settings
    Form(
        ("bearer", "basic", "token"),
        r"(?i)\b(bearer|basic|token)(\s+|%20)([A-Za-z0-9._~+/=-]{8,}+)",
        _mask_scheme,
    ),
    Form(
        ("=",),
        r"(?i)([?&;][\w.-]{0,20}(?:key|token|secret|sig|signature|passw(?:or)?d|pwd|auth)=)"
        r"(?!\[key\])[^&\s\"'<>#\\]{4,}+",
        rf"\1{MASK}",
    ),
    Form(
        ("key", "token", "secret", "passw", "passphrase", "authorization"),
        r"(?i)((?:(?:api|access|private|secret)[-_ ]?key"
        r"|(?:access|auth|refresh|session|id)[-_]?token"
        r"|client[-_]?secret|passw(?:or)?d|passphrase|authorization)[\w-]{0,20}"
        + _ASSIGNED
        + r"([^\s\"'\\,;<>(){}\[\]&]{4,})",
        _mask_named,
    ),
    Form(
        ("key", "token", "secret"),
        r"(?i)(?<![a-z])((?:key|token|secret)" + _ASSIGNED + r"([A-Za-z0-9_.~+/=-]{16,}+)",
        _mask_maybe,
    ),
)


# Spellings ----------------------------------------------------------------------------------------
# Known keys in a text, in whole or in part, in any case, percent-encoded, escaped as in JSON,
# Python or HTML, in base64 or hexadecimal, or broken over lines or literals.

_JOINTS = " \t\n\r\f\v\"'`,+\u00a0\u00ad\u2028\u2029\u200b\u200c\u200d\u2060\ufeff"
"""Characters between the parts of a text that is broken over lines or literals."""

_ESCAPED = re.compile(
    r"%(?:25)*([0-9a-f]{2})"  # in a URL, encoded once or repeatedly
    r"|(?<!\\)\\++(?:(?:u00|x)([0-9a-f]{2})|[nrt])?"  # in JSON or Python
    r"|&\#0*(\d{2,3});|&\#x0*([0-9a-f]{2});",  # in HTML
    re.IGNORECASE,
)
_NO_JOINTS = str.maketrans(dict.fromkeys(_JOINTS))
# Length of the shortest part of a long secret that is found.
_PART = 12


def spellings(secret: str) -> Iterator[str]:
    """Yield a secret in plain, base64 and hexadecimal form, normalised as `spans` expects."""
    data = secret.encode("utf-8", "surrogatepass")
    spelled = [secret, data.hex()]
    for shift in range(3):
        # Inside a longer text, the base64 depends on the secret's offset modulo three; the first
        # and last letters also depend on the neighbouring bytes.
        letters = b2a_base64(b"\0" * shift + data, newline=False).decode("ascii").rstrip("=")
        core = letters[-(-shift * 8 // 6) : len(letters) - bool((shift + len(data)) % 3)]
        spelled += [core, core.translate(str.maketrans("+/", "-_"))]
    for text in dict.fromkeys(spelled):
        yield _joined(text)


def spans(text: str, secrets: Iterable[str]) -> list[tuple[int, int]]:
    """Return disjoint (begin, end) spans of secrets, or of parts of long secrets, in a string."""
    found = _found(text, text, (), secrets)
    # Search the raw text as well: an apparent escape may contain the beginning of a key.
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
    places = list(_places(_joined(unescaped), secrets))
    if not places:
        return []
    origins = _origins(text, escapes)
    return [(origins[first][0], origins[last - 1][1]) for first, last in places]


def _joined(text: str) -> str:
    # İ is the only letter whose lower-case form has two characters, which would shift positions.
    return text.translate(_NO_JOINTS).replace("\u0130", "i").lower()


def _unescaped(escaped: re.Match[str]) -> str:
    percent, backslash, decimal, html = escaped.groups()
    code = percent or backslash or html
    if code:
        return chr(int(code, 16))
    return chr(int(decimal)) if decimal else ""


def _places(text: str, secrets: Iterable[str]) -> Iterator[tuple[int, int]]:
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
    if len(secret) < 2 * _PART:
        yield 0
        return
    yield from range(0, len(secret) - _PART, _PART)
    yield len(secret) - _PART


def _origins(text: str, escapes: Iterable[re.Match[str]]) -> list[tuple[int, int]]:
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


# Scrubber -----------------------------------------------------------------------------------------

KEY_VARIABLES = (
    "HVR_LLM_API_KEY",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
)
"""Environment variables that hvr reads keys from."""

# Shorter values ("none", "EMPTY") are placeholders; masking them would garble other text.
_SHORTEST = 8
# Values of other variables must also look like a key: TOKEN=version2 does not.
_SHORTEST_FOREIGN = 12


class Scrubber:
    """Masks text that looks like a key, and known secrets of at least 8 characters."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {s for secret in secrets if len(s := secret.strip()) >= _SHORTEST}
        spelled = (text for secret in sorted(known) for text in spellings(secret))
        self._secrets = tuple(text for text in spelled if len(text) >= _SHORTEST)

    @classmethod
    def of(cls, environ: Mapping[str, str], *more: str | None) -> Scrubber:
        """Return a scrubber for the keys of an environment and further secrets.

        The keys come from the variables that hvr reads, and from others whose name and value look
        like a key's, such as GITHUB_TOKEN.
        """
        own = (environ.get(name) for name in KEY_VARIABLES)
        return cls(v for v in (*own, *_foreign(environ), *more) if v)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def text(self, text: str) -> str:
        return without_keys(self.known(text))

    def known(self, text: str) -> str:
        if not self._secrets:
            return text
        pieces = []
        at = 0
        for begin, end in spans(text, self._secrets):
            pieces += [text[at:begin], MASK]
            at = end
        return "".join([*pieces, text[at:]])

    def value(self, value: Any) -> Any:
        """Mask secrets in all strings of a JSON value, including names of members."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(k)): self.value(v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(v) for v in value]
        return value


def _foreign(environ: Mapping[str, str]) -> Iterator[str]:
    for name, value in environ.items():
        if named_like_a_key(name) and len(value) >= _SHORTEST_FOREIGN:
            # The path of a key file is not secret.
            path = value.startswith(("/", "./", "~")) and "/" in value[1:]
            if not path and is_random(value):
                yield value
