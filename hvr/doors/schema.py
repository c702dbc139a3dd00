"""hvr's operations for programs: the request and the answer of each, as declared types.

The MCP server, the HTTP service, `--json` and the reference page all use these types. Answers from
other packages (`Judged`, `Finding`, `Solution`, `PlanVerdict`, `Run`) declare their own JSON form.
`hvr.base.declared` derives the JSON Schemas and checks requests.

A request contains texts, or names files instead: `domain` is PDDL text, `domain_file` is the name
of a file. A text is never interpreted as a file name. The server reads the named files, and passes
on both text and name.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from importlib import import_module
from typing import Annotated, Any

from hvr.base.declared import Between, json_schema
from hvr.errors import HvrError
from hvr.validation.findings import Finding
from hvr.validation.report import OnFailure, Repair, StepReport, ValidationReport
from hvr.validation.timeline import Curve, ProcessSpan
from hvr.values import SCHEMA_VERSION, JsonObject, Value

MAX_TEXT = 10_000_000
"""Maximum number of characters in a text, and of bytes in a file."""
MAX_SECONDS = 300.0
MAX_STEPS = 10_000
"""Maximum number of steps in a session."""

# Requests -----------------------------------------------------------------------------------------


class ModelRequest(Value):
    """A request about a domain and a problem, each given as PDDL text or as a file.

    Attributes:
        domain: PDDL or HDDL text of the domain; or use domain_file.
        domain_file: Path of the domain file, below the served folder.
        problem: PDDL or HDDL text of the problem; or use problem_file.
        problem_file: Path of the problem file, below the served folder.
        seconds: Time limit in seconds.
    """

    domain: Annotated[str, Between(0, MAX_TEXT)] = ""
    domain_file: str = ""
    problem: Annotated[str, Between(0, MAX_TEXT)] = ""
    problem_file: str = ""
    seconds: Annotated[float, Between(0.1, MAX_SECONDS)] = 30.0


class PlanTextRequest(ModelRequest):
    """A request about a plan for a problem.

    Attributes:
        plan: The plan: one step (name object …) per line, or any text that contains it.
        plan_file: Path of the plan file, below the served folder.
    """

    plan: Annotated[str, Between(0, MAX_TEXT)] = ""
    plan_file: str = ""


class ValidateRequest(PlanTextRequest):
    """Validate a plan, and search for a repair if it is invalid.

    Attributes:
        advise: Whether to search for a repair of an invalid plan.
        minimise: Whether to search for redundant steps of a valid plan.
        on_failure: Reaction to a failing step: stop, or continue and report every failure.
        state_at: Number of a step whose resulting state to report; 0 is the initial state.
        lenient: Whether to accept non-standard PDDL that VAL accepts.
        tolerance: Maximum deviation from a required duration; null for VAL's default.
    """

    advise: bool = True
    minimise: bool = False
    on_failure: OnFailure = OnFailure.STOP
    state_at: Annotated[int, Between(0, 1_000_000)] | None = None
    lenient: bool = False
    tolerance: Annotated[Fraction, Between(0, 1_000_000)] | None = None


class DecompositionRequest(PlanTextRequest):
    """Validate a hierarchical (HDDL) plan with its decomposition.

    Attributes:
        any_order: Whether to accept the tasks of a method in any order.
        no_decomposition: Whether to read only the actions, and search for a decomposition.
    """

    any_order: bool = False
    no_decomposition: bool = False


class ExplainStepRequest(PlanTextRequest):
    """Explain one step of a plan without times.

    Attributes:
        step: 1-based number of the step.
    """

    step: Annotated[int, Between(1, 1_000_000)] = 1


class LintRequest(ModelRequest):
    """Find suspicious parts of a domain and, if given, of a problem.

    Attributes:
        lenient: Whether to accept non-standard PDDL that VAL accepts.
    """

    lenient: bool = False


class FindPlanRequest(ModelRequest):
    """Find a plan.

    Attributes:
        optimal: Whether to search until the plan is proven optimal, or the time is up.
        planner: Name of a planner: fast-downward, downward, forward, temporal or up:ENGINE; empty
            to run all that support the problem.
    """

    optimal: bool = False
    planner: str = ""


class PlanRequest(Value):
    """Plan a request in words for a robot in a household scene.

    Attributes:
        request: The request, such as "put two slices of tomato on a plate".
        scene: Name of a scene; empty for the default one.
        execute: Whether to execute the plan in the simulated scene; false to only plan and prove.
        run: Name of the new folder of the run, below runs/: letters, digits, "-" and "_"; empty for
            a number.
        faults: Kinds of faults to inject, such as "drop" or "blocked"; each occurs once, at the
            first action that it can affect.
        sight: What the robot sees: "omniscient", "doors" (nothing behind closed doors) or
            "visible"; empty for the default.
        seconds: Time limit in seconds.
    """

    request: Annotated[str, Between(1, 2_000)]
    scene: str = ""
    execute: bool = False
    faults: tuple[str, ...] = ()
    sight: str = ""
    run: Annotated[str, Between(0, 80)] = ""
    seconds: Annotated[float, Between(0.1, MAX_SECONDS)] = 30.0


class PlanToolsRequest(Value):
    """Decide the next call for a request to tools. No tool is called.

    Attributes:
        request: The request in words; or use goals.
        tools: The tools: a JSON list of function schemas (OpenAI, Anthropic), an MCP tool list, or
            an OpenAPI 3 document; or use tools_file.
        tools_file: Path of the tools file, below the served folder.
        goals: Tools to call, or parameters whose values to find.
        given: Values that the user has stated, by parameter.
        seconds: Time limit in seconds.
    """

    request: Annotated[str, Between(0, 10_000)] = ""
    tools: Annotated[str, Between(0, MAX_TEXT)] = ""
    tools_file: str = ""
    goals: tuple[str, ...] = ()
    given: Mapping[str, Any] = {}
    seconds: Annotated[float, Between(0.1, MAX_SECONDS)] = 30.0


class OpenSessionRequest(ModelRequest):
    """Open a session that executes actions one by one from the initial state."""


class SessionRequest(Value):
    """A request about an open session.

    Attributes:
        session: Id of the session.
    """

    session: Annotated[str, Between(1, 100)]


class ApplicableRequest(SessionRequest):
    """List the actions that can be executed now.

    Attributes:
        limit: Maximum number of actions to list.
        mentions: List only actions that contain this text, such as an object or action name.
    """

    limit: Annotated[int, Between(1, 1000)] = 100
    mentions: str = ""


class ApplyRequest(SessionRequest):
    """Execute an action.

    Attributes:
        action: The action, such as (move truck1 depot).
    """

    action: Annotated[str, Between(1, 10_000)]


# Answers ------------------------------------------------------------------------------------------


class ConditionState(Value):
    """A part of a step's precondition.

    Attributes:
        condition: The ground condition.
        holds: Whether the condition holds before the step.
        made_true_by: Number of the step that last made it true; 0 if it held initially, null if it
            does not hold or is not a single fact.
    """

    condition: str
    holds: bool
    made_true_by: int | None = None

    json_shape = "*"


class TracedStep(Value):
    """A step of a plan, with its conditions and changes.

    Attributes:
        step: Number of the step; 0 for an event or a timed initial literal.
        action: The step, event or timed initial literal.
        time: Time of the step, in the plan's unit; null for a plan without times.
        ok: Whether the step can be executed; execution ends at the first step that cannot be.
        needs: The parts of its precondition, with the steps that made them true. In a plan with
            times, the start of an action has the conditions at its start, and the end has all
            others.
        added: The facts that the step makes true.
        deleted: The facts that the step makes false.
    """

    step: int
    action: str
    time: float | None
    ok: bool
    needs: tuple[ConditionState, ...]
    added: tuple[str, ...]
    deleted: tuple[str, ...]

    json_shape = "*"


class TaskNode(Value):
    """A task or an action in the decomposition of a hierarchical plan.

    Attributes:
        task: The ground task or action; empty for the initial tasks.
        method: Name of the method that decomposes the task; null for an action and for the initial
            tasks.
        step: Number of the step; null for a task.
        children: The indices of the subtasks in the list of nodes.
    """

    task: str
    method: str | None
    step: int | None
    children: tuple[int, ...]

    json_shape = "*"


class PlanTrace(Value):
    """A plan with every change of the state.

    Attributes:
        initial: The facts of the initial state that can change.
        constants: The facts that never change.
        objects: The type of each object; several if it is declared with `either`.
        steps: The executed steps, and the first step that cannot be executed, if any. A step with a
            duration occurs twice: where it starts and where it ends.
        spans: Name, start and duration of each step of a plan with times.
        missing: The unmet parts of the goal after the last step; empty for a plan with times if one
            of its steps cannot be executed.
        report: The verdict.
        curves: The numeric fluents over time, exactly as they were validated; in a plan without
            times, each step takes one unit.
        processes: When the processes (PDDL+) were active.
        decomposition: The nodes of a hierarchical plan, root first; empty for other plans.
    """

    initial: tuple[str, ...]
    constants: tuple[str, ...]
    objects: Mapping[str, tuple[str, ...]]
    steps: tuple[TracedStep, ...]
    spans: tuple[tuple[str, float, float], ...]
    missing: tuple[str, ...]
    report: ValidationReport
    curves: tuple[Curve, ...] = ()
    processes: tuple[ProcessSpan, ...] = ()
    decomposition: tuple[TaskNode, ...] = ()

    json_shape = "*"


class EffectLink(Value):
    """An effect of a step, and the steps that depend on it.

    Attributes:
        literal: A literal that the step makes true.
        needed_by: Numbers of the steps that need it; the number after the last step is the goal.
        undone_by: Number of the step that makes it false again, if any.
    """

    literal: str
    needed_by: tuple[int, ...]
    undone_by: int | None

    json_shape = "*"


class StepExplanation(Value):
    """An explanation of one step: its conditions, effects and links to other steps.

    Attributes:
        step: Number of the step.
        action: The action of the step.
        ok: Whether the step can be executed at its position.
        conditions: The parts of its precondition, with the steps that made them true.
        links: The effects of the step, with the steps that need them.
        before: The facts that hold before the step.
        after: The facts that hold after the step.
        failure: Why the step cannot be executed; null if it can.
    """

    step: int
    action: str
    ok: bool
    conditions: tuple[ConditionState, ...]
    links: tuple[EffectLink, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    report: StepReport

    json_shape = "step action ok conditions links before after failure=report.failure"


class LintAnswer(Value):
    """The findings of a linter; an empty list does not prove that the model is right.

    Attributes:
        findings: The findings.
    """

    findings: tuple[Finding, ...]

    json_shape = "*"


class RepairAnswer(Value):
    """A repair of a plan.

    Attributes:
        outcome: `valid` if the plan needs no repair, `repaired` if the new plan is proven valid,
            `partial` if the repair fixes only the first failure, `unrepaired` if none was found,
            `unknown` if the plan could not be judged.
        repair: The change to the plan; null if there is none.
        note: Why there is no repair.
        plan: The valid plan after the repair; null if there is none.
        before: The verdict on the given plan.
        after: The verdict on the repaired plan; null if there is no repair.
    """

    outcome: str
    repair: Repair | None
    note: str
    plan: tuple[str, ...] | None
    before: ValidationReport
    after: ValidationReport | None

    json_shape = "outcome repair note? plan before after"


class MinimiseAnswer(Value):
    """A plan without redundant steps.

    Attributes:
        outcome: The verdict on the given plan; only valid plans are minimised.
        steps: The shorter plan, proven valid; no single step can be removed from it. Null if the
            given plan is not valid.
        removed: Numbers of the omitted steps.
        before: The verdict on the given plan.
        after: The verdict on the shorter plan; null if the given plan is not valid.
    """

    outcome: str
    steps: tuple[str, ...] | None
    removed: tuple[int, ...]
    before: ValidationReport
    after: ValidationReport | None

    json_shape = "*"


class PlanToolsAnswer(Value):
    """The next move for a request to tools.

    Attributes:
        request: The request in words.
        decision: `answer`, `ask`, `call` or `stop`.
        why: The reason for the decision.
        ask: Values that only the user can give.
        calls: The cheapest chain of calls to the goal.
        next_call: The first call of the chain.
        cost: Cost of the chain.
        left_out: Tools that were left out because their description is invalid, with the reason.
    """

    request: str
    decision: str
    why: str
    ask: tuple[str, ...]
    calls: tuple[str, ...]
    next_call: str | None
    cost: float | None
    left_out: tuple[str, ...]

    json_shape = "*"


class SessionAnswer(Value):
    """The state of a session.

    Attributes:
        session: Id of the session; it is closed after 15 minutes without a request.
        steps: The actions executed so far.
        goal_reached: Whether the goal holds now.
        state: The facts and numbers that hold now.
        missing: The unmet parts of the goal.
        report: The effect of the last action, or why it could not be executed; null at first.
    """

    session: str
    steps: tuple[str, ...]
    goal_reached: bool
    state: tuple[str, ...]
    missing: tuple[str, ...]
    report: StepReport | None

    json_shape = "*"


class ApplicableAnswer(Value):
    """The actions that can be executed now.

    Attributes:
        session: Id of the session.
        actions: The actions, in a fixed order.
        complete: Whether the list contains all of them.
    """

    session: str
    actions: tuple[str, ...]
    complete: bool

    json_shape = "*"


class ClosedAnswer(Value):
    """A session that was closed.

    Attributes:
        session: Id of the session.
    """

    session: str

    json_shape = "*"


class ErrorAnswer(Value):
    """Why a request could not be answered.

    Attributes:
        error: The kind of error, such as PddlSyntaxError.
        message: The error, its position and the remedy.
        rule: Id of the rule that the input violates, such as HVR001.
        file: The file or text that contains the error.
        line: 1-based line.
        column: 1-based column.
        suggestion: The most similar known name.
        again: Whether trying again may help.
    """

    error: str
    message: str
    rule: str = ""
    file: str = ""
    line: int | None = None
    column: int | None = None
    suggestion: str = ""
    again: bool = False

    json_shape = "error message rule? file? line column suggestion? again"


class UnansweredError(HvrError):
    """A request was not answered, for example because it exceeded a limit; `answer` says why."""

    def __init__(self, answer: ErrorAnswer) -> None:
        self.answer = answer
        super().__init__(answer.message)


# Operations ---------------------------------------------------------------------------------------


class Operation(Value):
    """An operation that the servers offer.

    Attributes:
        summary: One sentence for those who choose an operation.
        answers: The type of the answer, as `module:name`.
        reads_only: Whether the operation changes neither files nor sessions.
        session: Whether the operation concerns a session, which the server stores.
    """

    name: str
    title: str
    summary: str
    request: type
    answers: str
    reads_only: bool = True
    session: bool = False

    @property
    def answer(self) -> type[JsonObject]:
        """The type of the answer."""
        module, _, name = self.answers.partition(":")
        found: type[JsonObject] = getattr(import_module(module), name)
        return found

    def request_schema(self) -> dict[str, Any]:
        return json_schema(self.request)

    def answer_schema(self) -> dict[str, Any]:
        schema = json_schema(self.answer)
        version = {"type": "integer", "const": SCHEMA_VERSION}
        properties = {"schema_version": version} | schema["properties"]
        return schema | {
            "properties": properties,
            "required": ["schema_version", *schema["required"]],
        }


_JUDGED = "hvr.validation.findings:Judged"
_HERE = "hvr.doors.schema:"

OPERATIONS: Mapping[str, Operation] = {
    one.name: one
    for one in (
        Operation(
            "validate_plan",
            "Validate a plan",
            "Check whether a PDDL plan is valid. Reports the failing step, the violated "
            "conditions, the steps that falsified them, the place in the files and a repair.",
            ValidateRequest,
            _JUDGED,
        ),
        Operation(
            "explain_step",
            "Explain a step",
            "Explain one step of a plan: its conditions, the steps it depends on, the steps that "
            "depend on it, and the state before and after.",
            ExplainStepRequest,
            f"{_HERE}StepExplanation",
        ),
        Operation(
            "trace_plan",
            "Trace a plan",
            "Execute a PDDL plan and list what each step needs and changes.",
            PlanTextRequest,
            f"{_HERE}PlanTrace",
        ),
        Operation(
            "lint_model",
            "Lint a model",
            "Find suspicious parts of a PDDL or HDDL domain and problem.",
            LintRequest,
            f"{_HERE}LintAnswer",
        ),
        Operation(
            "find_plan",
            "Find a plan",
            "Find a plan for a PDDL problem, or prove that there is none. Each plan is validated.",
            FindPlanRequest,
            "hvr.planning.solving.solve:Solution",
        ),
        Operation(
            "repair_plan",
            "Repair a plan",
            "Search for steps or a changed step that make an invalid plan valid, with the proof.",
            PlanTextRequest,
            f"{_HERE}RepairAnswer",
        ),
        Operation(
            "minimise_plan",
            "Shorten a plan",
            "Remove redundant steps from a valid plan; the result is validated.",
            PlanTextRequest,
            f"{_HERE}MinimiseAnswer",
        ),
        Operation(
            "judge_plan",
            "Judge a plan",
            "Find the redundant and the missing steps of a plan, with proofs.",
            PlanTextRequest,
            "hvr.judging.verdict:PlanVerdict",
        ),
        Operation(
            "validate_decomposition",
            "Validate a decomposition",
            "Check whether a hierarchical (HDDL) plan and its decomposition are valid.",
            DecompositionRequest,
            _JUDGED,
        ),
        Operation(
            "plan_request",
            "Plan a request",
            "Turn a sentence into a goal and a proven robot plan for a household scene. Executes "
            "nothing unless asked to. The run is saved under runs/.",
            PlanRequest,
            "hvr.runs.result:Run",
            reads_only=False,
        ),
        Operation(
            "plan_tools",
            "Plan tool calls",
            "Decide the next call for a request to a set of tools, and the cheapest chain of calls "
            "to the goal, with reasons. No tool is called.",
            PlanToolsRequest,
            f"{_HERE}PlanToolsAnswer",
        ),
        Operation(
            "open_session",
            "Open a session",
            "Open a session at the initial state of a problem, to execute actions one by one.",
            OpenSessionRequest,
            f"{_HERE}SessionAnswer",
            reads_only=False,
            session=True,
        ),
        Operation(
            "applicable_actions",
            "List applicable actions",
            "List the actions that can be executed in the current state of a session.",
            ApplicableRequest,
            f"{_HERE}ApplicableAnswer",
            session=True,
        ),
        Operation(
            "apply_action",
            "Execute an action",
            "Execute an action in a session. If it cannot be executed, the answer explains why "
            "and the state stays the same.",
            ApplyRequest,
            f"{_HERE}SessionAnswer",
            reads_only=False,
            session=True,
        ),
        Operation(
            "fork_session",
            "Fork a session",
            "Copy a session, to try actions without losing the current state.",
            SessionRequest,
            f"{_HERE}SessionAnswer",
            reads_only=False,
            session=True,
        ),
        Operation(
            "close_session",
            "Close a session",
            "Close a session.",
            SessionRequest,
            f"{_HERE}ClosedAnswer",
            reads_only=False,
            session=True,
        ),
    )
}
"""All operations, by name."""
