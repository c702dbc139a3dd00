"""hvr: household robot plans, proven before they run and watched while they run.

>>> import hvr
>>> run = hvr.plan("make coffee")
>>> run.reached
True
>>> domain, problem, plan = (run.folder / f"{name}.pddl" for name in ("domain", "problem", "plan"))
>>> hvr.validate(domain, problem, plan).valid
True

The names in `hvr.__all__` are the public interface: documented and stable. Everything in the
submodules is private and may change.
"""

from hvr.base.forks import register as _register_forks

# Importing typing would take longer than the rest of this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hvr.base.engines.registry import EngineChoice
    from hvr.doors.python import aplan, asolve, avalidate_many
    from hvr.doors.python import judge as judge
    from hvr.doors.python import lint as lint
    from hvr.doors.python import solve as solve
    from hvr.errors import AmbiguousError as AmbiguousError
    from hvr.errors import BudgetError as BudgetError
    from hvr.errors import CassetteError as CassetteError
    from hvr.errors import ContinuousChangeError as ContinuousChangeError
    from hvr.errors import DataFileError as DataFileError
    from hvr.errors import GroundingLimitError as GroundingLimitError
    from hvr.errors import HvrError as HvrError
    from hvr.errors import ImpossibleGoalError as ImpossibleGoalError
    from hvr.errors import InconsistentEffectError as InconsistentEffectError
    from hvr.errors import InvalidPlanError as InvalidPlanError
    from hvr.errors import LanguageError as LanguageError
    from hvr.errors import LLMError as LLMError
    from hvr.errors import MissingExtraError as MissingExtraError
    from hvr.errors import MissingObjectError as MissingObjectError
    from hvr.errors import NumberTooLargeError as NumberTooLargeError
    from hvr.errors import PddlError as PddlError
    from hvr.errors import PddlSemanticError as PddlSemanticError
    from hvr.errors import PddlSyntaxError as PddlSyntaxError
    from hvr.errors import PlannerError as PlannerError
    from hvr.errors import QueryLimitError as QueryLimitError
    from hvr.errors import SceneError as SceneError
    from hvr.errors import SimulatorError as SimulatorError
    from hvr.errors import StoreError as StoreError
    from hvr.errors import UndefinedValueError as UndefinedValueError
    from hvr.errors import UnknownObjectError as UnknownObjectError
    from hvr.errors import UsageError as UsageError
    from hvr.judging.verdict import PlanVerdict as Judgement
    from hvr.judging.verifier.verdict import Verdict as Verdict
    from hvr.knowledge.world_file import WorldFile as World
    from hvr.knowledge.world_file import load_world as load_world
    from hvr.models.choice import ModelChoice as ModelChoice
    from hvr.models.model import Answer as Answer
    from hvr.models.model import Message as Message
    from hvr.models.model import Request as Request
    from hvr.models.model import Usage as Usage
    from hvr.pddl import Domain as Domain
    from hvr.pddl import GroundAction as GroundAction
    from hvr.pddl import Problem as Problem
    from hvr.pddl import Task as Task
    from hvr.pddl import TimedAction as TimedAction
    from hvr.pddl import parse_domain as parse_domain
    from hvr.pddl import parse_formula as parse_formula
    from hvr.pddl import parse_plan as parse_plan
    from hvr.pddl import parse_problem as parse_problem
    from hvr.pddl import print_problem as print_problem
    from hvr.pddl.checker import UnprovenError as UnprovenError
    from hvr.pddl.checker import check as check_certificate
    from hvr.planning.plans import AABlock, MacroAction, Plan
    from hvr.planning.problems import graded as graded
    from hvr.planning.solving.solve import Solution as Solution
    from hvr.policies.symbolic import SymbolicPolicy
    from hvr.runs.conversation import Conversation, ConversationReply
    from hvr.runs.request import Options
    from hvr.runs.result import Run as Run
    from hvr.runs.spine import plan
    from hvr.runs.verifying import verify
    from hvr.tools.calling.calls import ToolCall
    from hvr.tools.calling.guard import Question
    from hvr.tools.calling.rewards import ToolRewards as ToolRewards
    from hvr.tools.navigation.tool_world import ToolWorld as Tools
    from hvr.tools.navigation.tool_world import open_world as open_tools
    from hvr.validation import rewards as rewards
    from hvr.validation.findings import LintFinding
    from hvr.validation.report import ValidationReport as ValidationReport
    from hvr.validation.streaming import stream
    from hvr.validation.validator import Validator as Validator
    from hvr.validation.validator import validate as validate
    from hvr.worlds.environment import Event
    from hvr.worlds.facts.environment import Observation
    from hvr.worlds.kitchen import Kitchen as Kitchen

__version__ = "0.1.0"

_NAMES = {
    "hvr.base.engines.registry": "EngineChoice",
    "hvr.doors.python": "aplan asolve avalidate_many judge lint solve",
    "hvr.errors": (
        "AmbiguousError BudgetError CassetteError ContinuousChangeError DataFileError "
        "GroundingLimitError HvrError ImpossibleGoalError InconsistentEffectError "
        "InvalidPlanError LLMError LanguageError MissingExtraError MissingObjectError "
        "NumberTooLargeError PddlError PddlSemanticError PddlSyntaxError PlannerError "
        "QueryLimitError SceneError SimulatorError StoreError UndefinedValueError "
        "UnknownObjectError UsageError"
    ),
    "hvr.judging.verifier.verdict": "Verdict",
    "hvr.knowledge.world_file": "load_world",
    "hvr.models.choice": "ModelChoice",
    "hvr.models.model": "Answer Message Request Usage",
    "hvr.pddl": (
        "Domain GroundAction Problem Task TimedAction parse_domain parse_formula parse_plan "
        "parse_problem print_problem"
    ),
    "hvr.pddl.checker": "UnprovenError",
    "hvr.planning.plans": "AABlock MacroAction Plan",
    "hvr.planning.problems": "graded",
    "hvr.planning.solving.solve": "Solution",
    "hvr.policies.symbolic": "SymbolicPolicy",
    "hvr.runs.verifying": "verify",
    "hvr.runs.conversation": "Conversation ConversationReply",
    "hvr.runs.request": "Options",
    "hvr.runs.result": "Run",
    "hvr.runs.spine": "plan",
    "hvr.tools.calling.calls": "ToolCall",
    "hvr.tools.calling.guard": "Question",
    "hvr.tools.calling.rewards": "ToolRewards",
    "hvr.validation.findings": "LintFinding",
    "hvr.validation.report": "ValidationReport",
    "hvr.validation.streaming": "stream",
    "hvr.validation.validator": "Validator validate",
    "hvr.worlds.environment": "Event",
    "hvr.worlds.facts.environment": "Observation",
    "hvr.worlds.kitchen": "Kitchen",
}
"""Public names by the module to import them from on first use.

No public name may equal the name of a submodule: importing the submodule would replace it.
"""

_WHERE = {name: f"{module}:{name}" for module, names in _NAMES.items() for name in names.split()}
_WHERE |= {
    "Judgement": "hvr.judging.verdict:PlanVerdict",
    "Tools": "hvr.tools.navigation.tool_world:ToolWorld",
    "World": "hvr.knowledge.world_file:WorldFile",
    "check_certificate": "hvr.pddl.checker:check",
    "open_tools": "hvr.tools.navigation.tool_world:open_world",
    "rewards": "hvr.validation.rewards",
}
"""The location of each public name; here, the names that differ from the original ones."""

__all__ = [*sorted(_WHERE), "__version__"]  # noqa: PLE0604

_register_forks()


def __getattr__(name: str) -> "Any":
    # Lazy imports keep `import hvr` and `hvr --help` fast.
    if name in _WHERE:
        from importlib import import_module

        module, _, attribute = _WHERE[name].partition(":")
        try:
            found = import_module(module)
            return getattr(found, attribute) if attribute else found
        except ModuleNotFoundError as error:
            from hvr.base.registry import explained

            raise explained(error) or error from None
    raise AttributeError(f"module 'hvr' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
