"""What a description says of its own tool, without what it shares with those of many others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

SHARED_BY = 3
"""Descriptions that have a sentence from which on it tells none of their tools from others."""

_ENDS = re.compile(r"(?<=[.!?:;])\s+")


def own_descriptions(descriptions: Sequence[str]) -> list[str]:
    """Return the descriptions of one catalogue without the sentences that many of them share.

    Generators of schemas put a sentence on the whole service before each tool's own. A
    description of which nothing would be left stays as it is.

    Args:
        descriptions: of the tools of one catalogue, in any order.
    """
    parts = [_ENDS.split(text.strip()) for text in descriptions]
    counts = Counter(part for some in parts for part in set(some))
    own = [" ".join(part for part in some if counts[part] < SHARED_BY) for some in parts]
    return [short or text for short, text in zip(own, descriptions, strict=True)]
