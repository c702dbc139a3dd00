"""Whether what a result holds is what a parameter takes, by their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_INPUTS = re.compile(r"(?:_|\b)(?:by|from|with|for|of|using)(?:_|\b).*")


@lru_cache(maxsize=20_000)
def words_of(name: str) -> frozenset[str]:
    """Return the words of a name in snake_case or camelCase, in the singular."""
    return frozenset(_singular(word.lower()) for word in _WORD.findall(name))


@lru_cache(maxsize=100_000)
def fit(parameter: str, path: tuple[str, ...], tool: str) -> float:
    """Return how well the value at a path of a tool's result suits a parameter, from 0 to 1.

    Args:
        parameter: its name, such as `payment_method_id`.
        path: the keys that lead to the value; `[]` for a place in a list, `{}` for a key that is
            data; a value that is such a key itself ends in `{}`.
        tool: whose result it is; its name says what a bare value or a plain `id` is of.
    """
    wanted = words_of(parameter)
    names = [step for step in path if step not in ("[]", "{}")]
    leaf = words_of(names[-1]) if names else frozenset()
    above = words_of(names[-2]) if len(names) > 1 else frozenset()
    subject = words_of(_INPUTS.sub("", tool))
    if not wanted:
        return 0.0
    if leaf == wanted:
        return 1.0
    bare = not path or path[-1] in ("[]", "{}")
    if bare and wanted - {"id"} <= (leaf or subject) and wanted != {"id"}:
        return 0.8
    if len(leaf) > 1 and leaf < wanted:
        return 0.9
    if leaf and leaf < wanted and wanted <= leaf | above | (subject if not above else frozenset()):
        return 0.8
    if wanted < leaf and wanted != {"id"} and last_word(parameter) == last_word(names[-1]):
        return 0.5
    if wanted == {"id"} and "id" in leaf:
        return 0.4
    return 0.0


def leaf_of(name: str) -> str:
    """Return the name of a value without that of the tool or the objects around it."""
    return name.rpartition(".")[2]


def last_word(name: str) -> str:
    """Return the noun that a compound name is about: its last word that is no number, in the
    singular."""
    words = [word for word in _WORD.findall(name) if not word.isdigit()]
    return _singular(words[-1].lower()) if words else ""


def subject_of(tool: str) -> frozenset[str]:
    """Return the words for what a tool is about: of its name what is before `by`, `for` and such.

    The first word is left out, which says what the tool does.
    """
    head = _INPUTS.sub("", tool) or tool
    words = _WORD.findall(head)
    return words_of("_".join(words[1:] if len(words) > 1 else words))


def pattern(path: Sequence[str | int], data_keys: Sequence[int] = ()) -> tuple[str, ...]:
    """Return a path with `[]` for places in lists and `{}` for the keys at `data_keys`."""
    return tuple(
        "[]" if isinstance(step, int) else "{}" if index in data_keys else step
        for index, step in enumerate(path)
    )


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 2 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
