"""Every error that hvr raises for bad input or a failed dependency.

HvrError                      root: catch this to catch everything below
├── UsageError                an option or argument that cannot be used
├── DataFileError             a file that is missing, unreadable, unwritable or corrupt
├── PddlError                 root of what is wrong with PDDL text
│   ├── PddlSyntaxError       text that does not parse
│   └── PddlSemanticError     text that parses but does not fit (undeclared name, wrong arity, …)
├── UnknownObjectError        a name that no object of the scene has
├── SceneError                an unknown scene, or one that cannot be loaded
├── LanguageError             a sentence that cannot be turned into a goal
├── ImpossibleGoalError       an understood request that cannot be met, with the reason
├── PlannerError              a planner that failed, timed out or is not installed
├── LLMError                  a language model gave no usable answer
│   ├── BudgetError           the budget of tokens, cost or calls is spent
│   └── CassetteError         a recording has no answer for a prompt
├── SimulatorError            AI2-THOR cannot be started, did not answer, or has ended
├── StoreError                the graph store cannot be opened or queried
└── MissingExtraError         an optional dependency is not installed

A message says what is wrong, where, and what to do next. `exit_code` is what the
command line returns for it: 1 when the answer is "no", 2 when the question was unusable.
"""

from __future__ import annotations


class HvrError(Exception):
    """Root of all errors raised by hvr.

    Args:
        message: what is wrong; it names the field, if one is at fault, as a word of its own.
        field: the option or argument at fault, such as `max_replans`. The command line has
            names of its own for these, and puts them in place.
    """

    exit_code = 2
    field: str | None = None

    def __init__(self, *message: object, field: str | None = None) -> None:
        super().__init__(*message)
        if field is not None:
            self.field = field


class UsageError(HvrError):
    """An option or argument has a value that cannot be used."""


class DataFileError(HvrError):
    """A file is missing, unreadable, unwritable or not what it should be."""


class PddlError(HvrError):
    """Something is wrong with PDDL text."""


class PddlSyntaxError(PddlError):
    """PDDL text does not parse."""


class PddlSemanticError(PddlError):
    """PDDL text parses but does not fit: an undeclared name, a wrong number of arguments, …"""


class UnknownObjectError(HvrError):
    """A name is used that no object of the scene or problem has."""


class SceneError(HvrError):
    """A scene is unknown or cannot be loaded."""


class LanguageError(HvrError):
    """A sentence cannot be turned into a goal."""


class ImpossibleGoalError(HvrError):
    """The request is understood and cannot be met in this scene; the message says why."""

    exit_code = 1


class PlannerError(HvrError):
    """A planner failed, ran out of time or is not installed."""

    exit_code = 1


class LLMError(HvrError):
    """A language model could not be reached, or gave no usable answer; the message says which."""


class BudgetError(LLMError):
    """The budget of tokens, cost or calls is spent; nothing more was asked."""


class CassetteError(LLMError):
    """A recording has no answer for a prompt; the message shows the nearest one that it has."""


class StoreError(HvrError):
    """The graph store cannot be opened, read or written, or a query is malformed."""


class MissingExtraError(HvrError):
    """An optional dependency is needed and not installed.

    Args:
        package: the package that could not be imported.
        extra: the extra of hvr that brings it.
    """

    def __init__(self, package: str, extra: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(
            f"this needs the package {package!r}, which is not installed: "
            f"pip install 'hvr[{extra}]'"
        )
