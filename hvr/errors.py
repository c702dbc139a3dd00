"""The errors of hvr: one tree, and the signals that no caller sees.

The number is the exit code of the command line: 1 when the answer is "no", 2 when the question
was unusable, 4 when it was not answered: something that hvr needs did not deliver, and asking
again may help. An error of one of the classes with 4 has 2 where the question or its set-up is at
fault. (3 is for what nobody foresaw, which is no HvrError.) In brackets stands the module of an
error that lives beside what raises it; the others are in this file. `tests/test_errors.py`
compares the tree with the classes.

HvrError                             2  root: catch this to catch everything below
├── UsageError                       2  an option or argument cannot be used
├── DataFileError                    2  a file is missing, unreadable, unwritable or corrupt
├── PddlError                        2  PDDL text cannot be used
│   ├── PddlSyntaxError              2  it does not parse
│   │   └── PddlTextSyntaxError      2  … here: `diagnostic`  [hvr.pddl.diagnostics]
│   └── PddlSemanticError            2  it parses but does not fit: undeclared name, arity, …
│       └── PddlTextSemanticError    2  … here: `diagnostic`  [hvr.pddl.diagnostics]
│           └── UnsupportedPddlError 2  in a part that hvr lacks  [hvr.pddl.diagnostics]
├── GroundingLimitError              2  a quantifier has too many instances
├── UndefinedValueError              2  a numeric expression has no value
├── NumberTooLargeError              2  a number has grown too large to compute with
├── InconsistentEffectError          2  an action gives a fluent two values at once
├── ContinuousChangeError            2  numbers change in a way that hvr cannot follow
│   ├── DivisorError                 2  a divisor may be 0  [hvr.validation.continuous.symbols]
│   ├── LostError                    2  bounds became wide  [hvr.validation.continuous.symbols]
│   └── UndecidedError               2  undecided comparison  [hvr.validation.continuous.symbols]
├── UnusableModelError               2  domain or problem is unusable  [hvr.validation.batch]
├── NoCertificateError               2  it proves no such verdict  [hvr.validation.certificate]
├── UnprovenError                    1  a certificate proves nothing  [hvr.pddl.checker]
├── InteropError                     2  cannot be translated  [hvr.planning.interop.names]
├── UnknownObjectError               2  no object of the scene or problem has the name
├── SceneError                       2  a scene is unknown or cannot be loaded
├── LanguageError                    2  a sentence cannot be turned into a goal
│   └── AmbiguousError               2  … because it has readings that end differently
├── ImpossibleGoalError              1  an understood request cannot be met, with the reason
│   └── MissingObjectError           1  … because the scene lacks what it needs
├── PlannerError                     4  a planner failed or ran out of time; 2: it is missing, …
│   └── InvalidPlanError             1  … or a policy wrote a plan that does not validate
├── LLMError                         4  a language model gave no usable answer
│   ├── BudgetError                  4  the budget of tokens, cost or calls is spent
│   ├── CassetteError                2  a recording has no answer for a prompt
│   └── ModelError                   4  it or the way to it failed: `kind`  [hvr.models.errors]
│       └── CancelledError           4  the caller no longer wants it  [hvr.models.errors]
├── SimulatorError                   4  AI2-THOR did not answer or has ended; 2: it is missing, …
├── ProtocolError                    2  a client broke the protocol  [hvr.doors.stand_in.protocol]
├── StoreError                       2  the graph store cannot be opened, read or queried
│   └── QueryLimitError              4  a query ran out of time or memory
├── MissingExtraError                2  an optional dependency is not installed

Signals are plain exceptions that are caught in the room that raises them:

ActionFailedError     [hvr.worlds.kitchen.action_context]          becomes an event without success
BadRequestError       [hvr.worlds.kitchen.actions]                 becomes an event with an error
_RefusedError         [hvr.worlds.thor.skills]                     becomes the outcome of a skill
ProcessEndedError     [hvr.worlds.thor.client]                     becomes a SimulatorError
RefusedActionError    [hvr.doors.stand_in.process]            becomes a reply to the client
_TakenError           [hvr.runs.folder]                            becomes a DataFileError
Terminated            [hvr.doors.cli.process]                      becomes exit code 143
NotSentError          [hvr.tools.calling.openapi_requests]         becomes a call not made
_RefusedError         [hvr.tools.calling.openapi_world]            becomes a failed call
_OutOfTimeError       [hvr.validation.rewards]                     becomes a reward of 0
_CoupledError         [hvr.validation.continuous.motion]           becomes an integration
LostCellError         [hvr.base.engines.registry]                  becomes a cell without a value

A message says what is wrong, where, and what to do next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class HvrError(Exception):
    """Root of all errors raised by hvr.

    Args:
        message: what is wrong; it names the field, if one is at fault, as a word of its own.
        field: the option or argument at fault, such as `max_replans`. The command line has
            names of its own for these, and puts them in place.
        exit_code: of the command line, where it is not that of the class.
    """

    exit_code = 2
    field: str | None = None
    folder: Path | None = None
    """The folder of the run that broke off with it; None when nothing is kept."""

    def __init__(
        self, *message: object, field: str | None = None, exit_code: int | None = None
    ) -> None:
        super().__init__(*message)
        if field is not None:
            self.field = field
        if exit_code is not None:
            self.exit_code = exit_code


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


class GroundingLimitError(HvrError):
    """A quantifier has more instances than the limit of the task; the plan cannot be judged."""


class UndefinedValueError(HvrError):
    """A numeric expression has no value: a function was never set, or a division by zero."""


class NumberTooLargeError(HvrError):
    """A number has grown beyond what is reasonable to compute with."""


class InconsistentEffectError(HvrError):
    """An action gives a numeric fluent two values at once."""


class ContinuousChangeError(HvrError):
    """Numbers change continuously in a way that is not solved exactly; it says what is needed."""


class UnknownObjectError(HvrError):
    """A name is used that no object of the scene or problem has."""


class SceneError(HvrError):
    """A scene is unknown or cannot be loaded."""


class LanguageError(HvrError):
    """A sentence cannot be turned into a goal."""


class AmbiguousError(LanguageError):
    """A sentence can be read in ways that end differently.

    Args:
        readings: each way said in plain words, the likeliest first.
    """

    def __init__(self, readings: tuple[str, ...]) -> None:
        self.readings = readings
        listed = " ".join(f"({number}) {way}" for number, way in enumerate(readings, start=1))
        super().__init__(
            f"this can be read in {len(readings)} ways; choose one by number, or say it so that "
            f"only one fits: {listed}"
        )


class ImpossibleGoalError(HvrError):
    """The request is understood and cannot be met in this scene; the message says why."""

    exit_code = 1


class MissingObjectError(ImpossibleGoalError):
    """The scene has no object of the wanted classes.

    Args:
        scene: name of the scene.
        classes: the classes, any of which would do.
        text: what was asked for, for the message.
    """

    def __init__(self, scene: str, classes: tuple[str, ...], text: str) -> None:
        self.scene = scene
        self.classes = classes
        self.text = text
        super().__init__(f"{scene} has no {text}")


class PlannerError(HvrError):
    """A planner failed or ran out of time; or it is not installed, or not made for the task.

    It says nothing about whether there is a plan: that there is none is an `ImpossibleGoalError`.
    """

    exit_code = 4


class InvalidPlanError(PlannerError):
    """A policy wrote a plan that does not validate; the message explains the first failure."""

    exit_code = 1


class LLMError(HvrError):
    """A language model could not be reached, or gave no usable answer; the message says which."""

    exit_code = 4


class BudgetError(LLMError):
    """The budget of tokens, cost or calls is spent; nothing more was asked."""


class CassetteError(LLMError):
    """A recording has no answer for a prompt; the message shows the nearest one that it has."""

    exit_code = 2


class SimulatorError(HvrError):
    """The simulator cannot be started, did not answer in time, or has ended.

    The world it had is lost; the message says what was going on and what to do.
    """

    exit_code = 4


class StoreError(HvrError):
    """The graph store cannot be opened, read or written, or a query is malformed."""


class QueryLimitError(StoreError):
    """A query was not answered within its time or its memory."""

    exit_code = 4


class MissingExtraError(HvrError):
    """An optional dependency is needed and not installed.

    Args:
        package: the package that could not be imported.
        extra: the extra of hvr that brings it.
        then: a command after that of the extra; empty if there is none.
    """

    def __init__(self, package: str, extra: str, then: str = "") -> None:
        self.package = package
        self.extra = extra
        super().__init__(
            f"this needs the package {package!r}, which is not installed: "
            f"pip install '.[{extra}]' in a checkout of hvr" + (f", then {then}" if then else "")
        )
