"""An estimate of the tokens of a prompt without the model's own tokenizer.

From above, since budgets and limits are kept by it: an estimate too low would break them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hvr.models.model import Message

PER_MESSAGE = 8
"""Tokens that a chat template puts around a message, at most in common ones."""

_PIECES = re.compile(r"[A-Za-z]+|[0-9]|\n|[^\sA-Za-z0-9]")
_LETTERS = 4


def estimate_tokens(text: str) -> int:
    """Return an estimate from above of the tokens in English and PDDL text.

    Each run of letters counts a quarter of its length, rounded up; each digit, punctuation mark
    and line break counts 1; a character outside ASCII counts its UTF-8 bytes, which is the most
    a byte-level tokenizer can make of it; blanks count nothing. Strings of random letters can
    have more tokens than this; prompts as hvr writes them have fewer (see
    tests/models/test_llm_tokens.py).

    Returns:
        tokens, from 0 on.
    """
    return sum(map(_weight, _PIECES.findall(text)))


def count_tokens(messages: Iterable[Message]) -> int:
    """Return the estimate for a conversation, with what a chat template adds to each message."""
    return sum(estimate_tokens(m.text) + PER_MESSAGE for m in messages)


def _weight(piece: str) -> int:
    if piece.isascii():
        return -(-len(piece) // _LETTERS) if piece.isalpha() else 1
    return len(piece.encode("utf-8", "surrogatepass"))
