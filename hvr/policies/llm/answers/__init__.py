"""Parsers for a language model's answers, from free text to plain values.

They are pure functions, independent of the planning task, never raise exceptions, and take linear
time.
"""

from hvr.policies.llm.answers.conditions import (
    LiteralText,
    MacroConditions,
    read_conditions,
    says_nothing,
)
from hvr.policies.llm.answers.plans import (
    Actions,
    ActionText,
    read_actions,
    read_blocks,
    read_macro_plan,
    read_objects,
)

__all__ = [
    "ActionText",
    "Actions",
    "LiteralText",
    "MacroConditions",
    "read_actions",
    "read_blocks",
    "read_conditions",
    "read_macro_plan",
    "read_objects",
    "says_nothing",
]
