"""The tree of hvr's errors, and the internal signals that callers never see.

The number is the exit code of the command line:

- 1: the answer is "no";
- 2: the request is unusable;
- 3: an unexpected exception, which is not an HvrError;
- 4: something hvr depends on failed, and trying again may help. An instance of such a class has
  exit code 2 when the request or the setup is at fault.

A module in brackets defines the error; the others are defined in this file.
`tests/test_errors.py` compares the tree with the classes.

HvrError                             2  root: catch this to catch everything below
├── UsageError                       2  an option or argument is invalid
├── DataFileError                    2  a file is missing, unreadable, unwritable or corrupt
├── PddlError                        2  PDDL text is invalid
│   ├── PddlSyntaxError              2  syntax error
│   │   └── PddlTextSyntaxError      2  with a `diagnostic`  [hvr.pddl.reader]
│   │       └── SeveralPlansError    2  a text contains several plans  [hvr.validation.extraction]
│   └── PddlSemanticError            2  undeclared name, wrong arity or wrong type
│       └── PddlTextSemanticError    2  with a `diagnostic`  [hvr.pddl.reader]
│           └── UnsupportedPddlError 2  PDDL feature that hvr lacks  [hvr.pddl.reader]
├── GroundingLimitError              2  a quantifier has too many instances
├── UndefinedValueError              2  a numeric expression has no value
├── NumberTooLargeError              2  a number is too large to compute with
├── InconsistentEffectError          2  an action assigns two values to a fluent
├── ContinuousChangeError            2  hvr cannot solve a continuous change
│   ├── DivisorError                 2  a divisor may be 0  [hvr.validation.continuous.symbols]
│   ├── LostError                    2  bounds too wide  [hvr.validation.continuous.symbols]
│   └── UndecidedError               2  undecided comparison  [hvr.validation.continuous.symbols]
├── UnusableModelError               2  domain or problem is unusable  [hvr.validation.batch]
├── NoCertificateError               2  verdict without certificate  [hvr.validation.certificate]
├── UnprovenError                    1  a certificate proves nothing  [hvr.pddl.checker]
├── InteropError                     2  cannot be translated  [hvr.planning.interop.names]
├── UnknownObjectError               2  no object of the scene or problem has this name
├── SceneError                       2  a scene is unknown or cannot be loaded
├── LanguageError                    2  a sentence cannot be turned into a goal
│   ├── AmbiguousError               2  a sentence has several readings
│   ├── IncompleteError              2  a sentence leaves out a place or a thing
│   ├── NamedTwiceError              2  related to itself  [hvr.execution.facts.properties]
│   ├── ProposalError                2  a sentence only implies a request
│   └── UnachievableError            2  the request of a sentence makes no sense
├── ImpossibleGoalError              1  the goal is understood but unreachable
│   ├── MissingObjectError           1  the scene lacks an object
│   ├── AlreadyThereError            1  everything to move is in place already
│   └── LackingError                 1  an object cannot be used as requested
├── PlannerError                     4  a planner failed or timed out (2: it is not installed)
│   ├── InvalidPlanError             1  a policy wrote an invalid plan
│   └── TooManyDisjunctsError        4  a condition is too large  [hvr.planning.search.ground]
├── LLMError                         4  a language model gave no usable answer
│   ├── BudgetError                  4  the budget of tokens, cost or calls is spent
│   │   └── PlanBudgetError          4  the call budget of one plan is spent
│   ├── CassetteError                2  a recording has no answer for a prompt
│   └── ModelError                   4  provider or connection failed: `kind`  [hvr.models.errors]
├── SimulatorError                   4  AI2-THOR timed out or exited (2: it is not installed)
├── ProtocolError                    2  a client broke the protocol  [hvr.doors.stand_in.protocol]
├── StoreError                       2  the graph store cannot be opened, read or queried
│   └── QueryLimitError              4  a query exceeded its time or memory limit
├── UnansweredError                  2  a door has no answer to a request  [hvr.doors.schema]
├── MissingExtraError                2  an optional dependency is not installed

Signals are plain exceptions, caught in the package that raises them:

ActionFailedError     [hvr.worlds.kitchen.visibility]          becomes an event without success
BadRequestError       [hvr.worlds.kitchen.visibility]          becomes an event with an error
_RefusedError         [hvr.worlds.thor.skills]                     becomes the outcome of a skill
ProcessEndedError     [hvr.worlds.thor.client]                     becomes a SimulatorError
RefusedActionError    [hvr.doors.stand_in.process]            becomes a reply to the client
_EndedError           [hvr.execution.facts.running]               becomes the result of the run
_TakenError           [hvr.runs.folder]                            becomes a DataFileError
Terminated            [hvr.doors.cli.process]                      becomes exit code 143
BusyError             [hvr.doors.http.jobs]                      becomes status 429
NoJobError            [hvr.doors.http.jobs]                      becomes status 404
_GoneError            [hvr.doors.http.application]               becomes a status in the metrics
RefusedError          [hvr.doors.http.guards]                    becomes a status of HTTP
NoAnalysisError       [hvr.doors.lsp.actions]                    becomes a message to the editor
NotSentError          [hvr.tools.calling.openapi_world]         becomes a call not made
_RefusedError         [hvr.tools.calling.openapi_world]            becomes a failed call
_LimitError           [hvr.validation.reachability]              becomes a rule that is not checked
_OutOfTimeError       [hvr.validation.rewards]                     becomes a reward of 0
_CoupledError         [hvr.validation.continuous.motion]           becomes an integration
LostCellError         [hvr.base.engines.registry]                  becomes a cell without a value
_TooManyTriedError    [hvr.language.own_words]                     becomes an unread request
_UnfitError           [hvr.base.declared]                          becomes an error with its place

Each message gives the problem, its place and the remedy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class HvrError(Exception):
    """Base class of all errors raised by hvr.

    Args:
        message: A description of the error, which mentions `field`, if any, as a separate word.
        field: The invalid option or argument, such as `max_replans`. In messages of the command
            line, the name of the option replaces it.
        exit_code: The exit code, if it differs from the default of the class.
    """

    exit_code = 2
    field: str | None = None
    folder: Path | None = None
    """Folder of the run that the error ended; None if nothing was saved."""

    def __init__(
        self, *message: object, field: str | None = None, exit_code: int | None = None
    ) -> None:
        super().__init__(*message)
        if field is not None:
            self.field = field
        if exit_code is not None:
            self.exit_code = exit_code


class UsageError(HvrError):
    """An option or argument has an invalid value."""


class DataFileError(HvrError):
    """A file is missing, unreadable, unwritable or corrupt."""


class PddlError(HvrError):
    """PDDL text is invalid."""


class PddlSyntaxError(PddlError):
    """PDDL text has a syntax error."""


class PddlSemanticError(PddlError):
    """PDDL text parses, but has a semantic error, such as an undeclared name or a wrong arity."""


class GroundingLimitError(HvrError):
    """A quantifier has too many instances, so hvr cannot judge the plan."""


class UndefinedValueError(HvrError):
    """A numeric expression has no value: a function was never set, or a divisor is zero."""


class NumberTooLargeError(HvrError):
    """A number has grown too large to compute with."""


class InconsistentEffectError(HvrError):
    """An action assigns two values to a numeric fluent at the same time."""


class ContinuousChangeError(HvrError):
    """A continuous change cannot be solved exactly; the message says why."""


class UnknownObjectError(HvrError):
    """No object of the scene or problem has the given name."""


class SceneError(HvrError):
    """A scene is unknown or cannot be loaded."""


class LanguageError(HvrError):
    """A sentence cannot be translated into a goal."""

    suggestions: tuple[str, ...] = ()
    """The request with an unknown word replaced, once per known word that resembles it."""


class IncompleteError(LanguageError):
    """A sentence does not name a place or an object that it requires; the message asks for it."""


class UnachievableError(LanguageError):
    """The meaning of a sentence is clear, but its request makes no sense; the message says why."""


class AmbiguousError(LanguageError):
    """A sentence has several readings with different outcomes.

    Args:
        readings: A paraphrase of each reading, most likely first. hvr reads a paraphrase as the
            goal of its reading.
    """

    question = "Which of these is meant?"

    def __init__(self, readings: tuple[str, ...]) -> None:
        self.readings = readings
        listed = " ".join(f"({number}) {way}" for number, way in enumerate(readings, start=1))
        super().__init__(
            f"this can be read in {len(readings)} ways; choose one by number, or say it so that "
            f"only one fits: {listed}"
            if len(readings) > 1
            else f"did you mean: {readings[0]}? Choose it by its number, 1, or ask for it"
        )

    @property
    def choices(self) -> tuple[str, ...]:
        """The paraphrases of the readings, as answers to `question`."""
        return self.readings


class ProposalError(LanguageError):
    """A sentence only implies a request, as in 'the mug is dirty'.

    Args:
        requests: The possible requests, most likely first.
    """

    def __init__(self, requests: tuple[str, ...]) -> None:
        self.requests = requests
        listed = " or ".join(map(repr, requests))
        super().__init__(f"this does not say what to do; say for example {listed}")


class ImpossibleGoalError(HvrError):
    """The request is understood but cannot be met in this scene; the message says why."""

    exit_code = 1


class AlreadyThereError(ImpossibleGoalError):
    """A request only moves objects that are already in place."""


class LackingError(ImpossibleGoalError):
    """An object of the request lacks the affordance that the request needs."""


class MissingObjectError(ImpossibleGoalError):
    """The scene has no object of the required classes.

    Args:
        classes: The classes that would have been suitable.
        text: The name of the missing object in the message.
    """

    def __init__(self, scene: str, classes: tuple[str, ...], text: str) -> None:
        self.scene = scene
        self.classes = classes
        self.text = text
        super().__init__(f"{scene} has no {text}")


class PlannerError(HvrError):
    """A planner failed, timed out, is not installed or does not support the task.

    An unsolvable task is an `ImpossibleGoalError` instead.
    """

    exit_code = 4


class InvalidPlanError(PlannerError):
    """A policy wrote an invalid plan; the message explains the first failure."""

    exit_code = 1


class LLMError(HvrError):
    """A language model could not be reached or gave no usable answer."""

    exit_code = 4


class BudgetError(LLMError):
    """The budget of tokens, cost or calls is spent; the request was not sent."""


class PlanBudgetError(BudgetError):
    """The call budget of one plan is spent; other plans may continue."""


class CassetteError(LLMError):
    """A recording has no answer for a prompt; the message shows the most similar prompt in it."""

    exit_code = 2


class SimulatorError(HvrError):
    """The simulator cannot be started, timed out or exited.

    The simulator's state is lost. The message gives the interrupted action and the remedy.
    """

    exit_code = 4


class StoreError(HvrError):
    """The graph store cannot be opened, read or written, or a query is malformed."""


class QueryLimitError(StoreError):
    """A query exceeded its time or memory limit."""

    exit_code = 4


class MissingExtraError(HvrError):
    """A required optional dependency is not installed.

    Args:
        package: The package that could not be imported.
        extra: The extra of hvr that installs it.
        then: A command to run after installing the extra, if any.
    """

    def __init__(self, package: str, extra: str, then: str = "") -> None:
        self.package = package
        self.extra = extra
        super().__init__(
            f"this needs the package {package!r}, which is not installed: "
            f"pip install '.[{extra}]' in a checkout of hvr" + (f", then {then}" if then else "")
        )
