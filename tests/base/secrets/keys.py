"""Fake keys of many kinds, and the spellings of a known key in a text."""

from __future__ import annotations

import base64
import html
import json
import urllib.parse
from collections.abc import Iterator, Mapping

KNOWN = "Zk9-qT4xWv/27+mBnR8sLp=cYd3uHe6j"
"""A private server's key, which only its owner can recognise."""

LOOKALIKES: Mapping[str, str] = {
    "OpenAI": "sk-proj-4Vb7Q2xN9mK1tYz8Lw3Rc6Hd5Jf0Gs",
    "Anthropic": "sk-ant-api03-Xy7Zw9Qp2Lm4Nk6Jh8Gf1Ds3As5_Rt",
    "Google": "AIzaSyB4v7Q2xN9mK1tYz8Lw3Rc6Hd5Jf0GsPqR",
    "Google OAuth": "ya29.a0AfB7_Xy7Zw9Qp2Lm4Nk6Jh8Gf1Ds3As5",
    "GitHub": "ghp_4Vb7Q2xN9mK1tYz8Lw3Rc6Hd5Jf0GsPqRtUv",
    "GitHub, fine-grained": "github_pat_11ABCDEFG0x7Zw9Qp2Lm4N_k6Jh8Gf1Ds3As5",
    "Hugging Face": "hf_VbQxNmKtYzLwRcHdJfGsPqRtUvWx",
    "AWS": "AKIAQ2X7N9M4K1T8Y5Z3",
    "AWS, secret": "wJ4lrX8Utn7FEMI/K2MDENG+bPx9RfiCYzEK3aY5",
    "Slack": "xoxb-2718281828-3141592653-AbCdEfGhIjKl",
    "JWT": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
}

IN_CONTEXT: Mapping[str, tuple[str, str]] = {
    "bearer": ("Authorization: Bearer {}", "q7Zw9Qp2Lm4Nk6Jh8Gf1"),
    "basic": ("authorization: Basic {}", base64.b64encode(b"robot:tea4two").decode()),
    "header": ("x-api-key: {}", "q7zw9qp2lm4nk6jh"),
    "header in Python": ("{{'api-key': '{}'}}", "q7zw9qp2lm4nk6jh"),
    "JSON": ('{{"api_key": "{}"}}', "hunter2-hunter2"),
    "JSON in JSON": (r"{{\"client_secret\": \"{}\"}}", "q7Zw9Qp2Lm4N"),
    "password": ('{{"password": "{}"}}', "correct horse".replace(" ", "-")),
    "query": ("https://example.org/v1?key={}&x=1", "q7zw9qp2"),
    "address": ("https://robot:{}@example.org/v1", "tea4two"),
    "setting": ("OPENAI_API_KEY={}", "q7Zw9Qp2Lm4Nk6Jh"),
    "token": ('"token": "{}"', "q7Zw9Qp2Lm4Nk6Jh8Gf1"),
}
"""Texts in which the context marks a word as a key."""


def spellings(key: str) -> Iterator[tuple[str, str]]:
    """Yield spellings of a key with their names."""
    data = key.encode()
    yield "as it is", key
    yield "capitals", key.upper()
    yield "small letters", key.lower()
    yield "other case", key.swapcase()
    yield "percent-encoded", urllib.parse.quote(key, safe="")
    yield "percent-encoded twice", urllib.parse.quote(urllib.parse.quote(key, safe=""), safe="")
    yield "percent-encoded throughout", "".join(f"%{c:02X}" for c in data)
    yield "in JSON", json.dumps(key)[1:-1]
    yield "slashes escaped", key.replace("/", "\\/")
    yield "in JSON throughout", "".join(f"\\u{c:04x}" for c in data)
    yield "in Python throughout", "".join(f"\\x{c:02x}" for c in data)
    yield "in HTML", html.escape(key)
    yield "in HTML throughout", "".join(f"&#{c};" for c in data)
    yield "in HTML, hexadecimal", "".join(f"&#x{c:X};" for c in data)
    yield "hexadecimal", data.hex()
    for before in (b"", b"a", b"ab"):
        yield f"base64 behind {len(before)}", base64.b64encode(before + data + b"!").decode()
        yield (
            f"base64 of URLs behind {len(before)}",
            base64.urlsafe_b64encode(before + data).decode(),
        )
    yield "over two lines", f"{key[:9]}\n    {key[9:]}"
    yield "over two lines in JSON", f"{key[:9]}\\n{key[9:]}"
    yield "over two literals", f'{key[:9]}" + "{key[9:]}'
    yield "letter by letter", " ".join(key)
    yield "as a list", str(list(key))[1:-1]
    yield "with invisible marks", "\u200b".join(key)
    yield "its first part", key[:-7]
    yield "its last part", key[7:]


def traces(key: str) -> Iterator[str]:
    """Yield lower-case fragments of a key, in several spellings, that must not survive."""
    data = key.encode()
    yield key[4:20].lower()
    yield urllib.parse.quote(key, safe="")[6:24].lower()
    yield data.hex()[8:40]
    for before in (b"", b"a", b"ab"):
        yield base64.b64encode(before + data).decode()[8:32].lower()
