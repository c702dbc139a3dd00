"""Readers of a language model's answers: pure functions from messy text to plain values.

Nothing here knows of a planning task. Whatever the text, no function raises, and all take time
linear in its length.
"""

from hvr.policies.llm.answers.actions import Actions, ActionText, read_actions
from hvr.policies.llm.answers.blocks import read_blocks
from hvr.policies.llm.answers.conditions import MacroConditions, read_conditions
from hvr.policies.llm.answers.literals import LiteralText
from hvr.policies.llm.answers.macro_plan import read_macro_plan
from hvr.policies.llm.answers.objects import read_objects

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
]
