"""What a language model's answer says: pure functions from messy text to plain values.

Nothing here knows of a planning task. Whatever the text, no function raises, and all take time
linear in its length.
"""

from hvr.planning.answers.actions import Actions, ActionText, read_actions
from hvr.planning.answers.conditions import Conditions, read_conditions
from hvr.planning.answers.literals import LiteralText
from hvr.planning.answers.macro_plan import read_macro_plan
from hvr.planning.answers.objects import read_objects

__all__ = [
    "ActionText",
    "Actions",
    "Conditions",
    "LiteralText",
    "read_actions",
    "read_conditions",
    "read_macro_plan",
    "read_objects",
]
