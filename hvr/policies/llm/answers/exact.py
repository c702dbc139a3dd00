"""Actions that are written to the letter: `(stack a b)`, `(charge)`, `fly(plane, x, y)`.

The reader of answers takes `a` for an article and no word for an action that is no verb of a
household. What is written exactly as a domain has it needs no such guesses: it is marked before
the answer is read.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping

from hvr.policies.llm.answers.actions import Actions, ActionText, read_actions

MARK = "do_"
"""A verb before the name of an action, which makes it one for any reader."""

NOTHING = "nothing-0"
"""Stands for an object where an action has none."""

_CALL = re.compile(r"(?P<before>[\w-]+)?\((?P<body>[^()\n]{0,500})\)")


def marked(text: str, arities: Mapping[str, int], objects: Container[str]) -> str:
    """Return an answer with the actions that are written to the letter made plain to readers.

    Args:
        text: the answer.
        arities: the number of arguments of each action.
        objects: the names of all objects.
    """

    def plain(match: re.Match[str]) -> str:
        words = [w for w in re.split(r"[\s,]+", match["body"].strip().lower()) if w]
        if match["before"] is not None:
            words = [match["before"].lower(), *words]
        if not words:
            return match[0]
        name, *args = words
        names = (name, name.replace("-", "_"), name.replace("_", "-"))
        known = next((n for n in names if n in arities), None)
        if known is None or arities[known] != len(args) or any(a not in objects for a in args):
            return match[0]
        if [(a.name, list(a.args)) for a in read_actions(match[0]).actions] == [(name, args)]:
            return match[0]
        return f"({', '.join((MARK + known, *(args or [NOTHING])))})"

    return _CALL.sub(plain, text)


def unmarked(read: Actions) -> Actions:
    """Return the actions of a marked answer with their own names."""
    return Actions(
        tuple(
            ActionText(_plain(a.name), tuple(x for x in a.args if x != NOTHING), _plain(a.line))
            for a in read.actions
        ),
        tuple(map(_plain, read.unread)),
    )


def _plain(text: str) -> str:
    return text.replace(f", {NOTHING}", "").replace(MARK, "")
