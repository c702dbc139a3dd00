"""What looks like a key, by its form or by what stands before it.

A pattern takes the whole of a run of characters, and then a function decides. So no text can make
it look at the same characters again and again.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable
from typing import NamedTuple

MASK = "[key]"


class Form(NamedTuple):
    """A form of keys.

    Args:
        signs: one of them is in every text that has such a key, in small letters; none for any.
        pattern: finds what may be one.
        mask: what takes its place.
    """

    signs: tuple[str, ...]
    pattern: str
    mask: str | Callable[[re.Match[str]], str]


def without_keys(text: str) -> str:
    """Return a text without what looks like a key."""
    small = text.lower()
    for form in _FORMS:
        if not form.signs or any(sign in small for sign in form.signs):
            text = re.sub(form.pattern, form.mask, text)
    return text


def is_random(text: str) -> bool:
    """Return whether a text looks random rather than written: with digits, or capitals inside."""
    letters = any(c.isalpha() for c in text)
    if letters and any(c.isdigit() for c in text):
        return True
    return text != text.lower() and text[1:] != text[1:].lower() and text != text.upper()


def _dense(text: str) -> bool:
    """Return whether a text that need not be a key is most likely one."""
    runs = re.findall("[A-Za-z0-9]+", text)
    digits = sum(map(str.isdigit, text))
    return len(text) >= 16 and digits >= 2 and is_random(text) and max(map(len, runs)) >= 12


def _begins(match: re.Match[str]) -> bool:
    """Return whether a match begins a word, also one behind an escaped character."""
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
    """Return whether a text is the base64 of a user's name with a password."""
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
    # JSON web tokens.
    Form(("eyj",), r"eyJ[A-Za-z0-9_-]{6,}+(?:\.[A-Za-z0-9_-]+)*+", _mask_token),
    # Google, GitHub, Slack: nothing else begins like this.
    Form(("aiza", "ya29."), r"AIza[A-Za-z0-9_-]{20,}+|ya29\.[A-Za-z0-9._-]{16,}+", MASK),
    Form(
        ("gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_"),
        r"(?:gh[oprsu]|github_pat)_[A-Za-z0-9_]{16,}+",
        MASK,
    ),
    Form(("xox", "xapp-"), r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}+", MASK),
    # OpenAI, Anthropic and those who do as they do; Hugging Face, Stripe, Replicate and others.
    Form(
        ("sk-", "_live_", "_test_", "hf_", "gsk_", "xai-", "pplx-", "r8_", "glpat-", "npm_"),
        r"(?:sk-|[rs]k_live_|[rs]k_test_|hf_|gsk_|xai-|pplx-|r8_|glpat-|npm_)"
        r"[A-Za-z0-9_.*\u2026-]{16,}+",
        _mask_word,
    ),
    # AWS: an id, alone or with its secret, and what has the form of a secret.
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
    # Headers, addresses, settings.
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
