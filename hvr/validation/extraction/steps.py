"""The steps of a plan file, or of the plan in an answer that is more than one."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from hvr.errors import PddlSyntaxError
from hvr.pddl.plan import Step, read_plan
from hvr.validation.extraction import extract


def read_steps(
    path: Path,
    *,
    actions: Collection[str],
    predicates: Collection[str],
    objects: Collection[str] | None = None,
    lenient: bool = False,
) -> tuple[tuple[Step, ...], str]:
    """Return the steps in a file, and how an answer was read; "" if the file is a plan.

    Args:
        path: The file.
        actions: Names of actions.
        predicates: Names of predicates; a line that is a fact is not taken for a step.
        objects: Names of objects, if they are known.
        lenient: Whether to accept what VAL accepts of what the language forbids.

    Raises:
        DataFileError: The file cannot be read.
        PddlSyntaxError: It has no plan, several different ones, or a line that may be a step and
            cannot be read.
    """
    from hvr.pddl.lexer import SourceText

    try:
        return read_plan(path, lenient=lenient).steps, ""
    except PddlSyntaxError:
        text = SourceText.read(path, lenient=True).text
        if _is_json(text):
            raise
        plan = extract(
            text, str(path), actions=actions, predicates=predicates, objects=objects, asked=True
        )
        if plan is None:
            raise
        return read_plan(plan.text, file=str(path)).steps, plan.note


def _is_json(text: str) -> bool:
    from hvr.base.texts import parse_json

    try:
        parse_json(text)
    except ValueError:
        return False
    return True
