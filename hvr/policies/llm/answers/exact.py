"""Actions that are written to the letter: `(stack a b)`, `(charge)`, `fly(plane, x, y)`.

The reader of orders in English takes `a` for an article and no word for an action that is no verb
of a household. What is written exactly as a domain has it needs no such guesses: it is marked
before the answer is read. A plan that is written so throughout is also read by
`hvr.validation.extraction`, as rewards, `hvr judge` and `hvr validate --extract` read it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Mapping, Sequence

from hvr.errors import PddlSyntaxError
from hvr.pddl.plan import read_plan
from hvr.policies.llm.answers.actions import Actions, ActionText, read_actions
from hvr.validation.extraction import last_of, plans_in
from hvr.validation.sequences import action_of

MARK = "do_"
"""A verb before the name of an action, which makes it one for any reader."""

NOTHING = "nothing-0"
"""Stands for an object where an action has none."""

_CALL = re.compile(r"(?P<before>[\w-]+)?\((?P<body>[^()\n]{0,500})\)")


def read_written(
    text: str, arities: Mapping[str, int], predicates: Collection[str], objects: Collection[str]
) -> Actions:
    """Return the actions of an answer, and how they were read where the forms are not the usual.

    The reader of English decides, unless it reads only a part of a plan that is written exactly.

    Args:
        text: The answer.
        arities: The number of arguments of each action.
        predicates: Names of predicates, whose facts are not steps.
        objects: The names of all objects.
    """
    read = unmarked(read_actions(marked(text, arities, objects)))
    calls = [(action.name.lower(), tuple(map(str.lower, action.args))) for action in read.actions]

    def exact(name: str, args: Sequence[str]) -> bool:
        return arities.get(name) == len(args) and all(arg in objects for arg in args)

    if not all(exact(*call) for call in calls):
        return read
    try:
        plans = plans_in(
            _plain(text), "the answer", actions=arities, predicates=predicates, objects=objects
        )
        plan = last_of(plans) if plans else None
        steps = [] if plan is None else [*map(action_of, read_plan(plan.text).steps)]
    except PddlSyntaxError:
        return read
    whole = [(step.name, step.args) for step in steps]
    if plan is None or len(whole) <= max(len(calls), 1) or not all(exact(*call) for call in whole):
        return read
    rest = iter(whole)
    if not all(call in rest for call in calls):
        return read
    told = tuple(ActionText(step.name, step.args, str(step)) for step in steps)
    return Actions(told, (), plan.note)


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
