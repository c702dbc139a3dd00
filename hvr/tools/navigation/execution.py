"""A request in a world of tools, carried out by the executor of all worlds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hvr.base.printable import one_line, short
from hvr.errors import ImpossibleGoalError
from hvr.execution.deviations import DeviationKind
from hvr.execution.events import Event, StepDone
from hvr.execution.facts.acting import FactMonitor, FactPolicy, FactWorld
from hvr.execution.facts.running import WorldRun, run_in_world
from hvr.execution.monitor import failed_literals
from hvr.knowledge.retrieval.relevance import Relevant
from hvr.pddl import Expression, GroundAction, Not, State, Task
from hvr.planning.plans import AABlock, MacroAction, Plan, Planned, RecoveryStrategies
from hvr.tools.calling.calls import CallFailure, CallOutcome
from hvr.tools.calling.guard import GuardedTools
from hvr.tools.calling.log import error_text, redacted
from hvr.tools.catalogue.schema import Catalogue, Effect, quoted
from hvr.tools.catalogue.schema_matching import ParameterMeaning
from hvr.tools.navigation.binding import UserQuestion
from hvr.tools.navigation.chains import (
    CallCounts,
    CallFacts,
    Decision,
    NavigationTool,
    NextMove,
    ToolChain,
    cheapest_chain,
    decide,
    navigation_tools,
    with_enablers,
)
from hvr.tools.navigation.known_values import singular_words, values_in
from hvr.tools.navigation.preconditions import LearntEnablers
from hvr.tools.navigation.request import ToolRequest, given_leaves
from hvr.tools.navigation.task_chain import TaskChain, ToolDomain, tool_domain
from hvr.tools.navigation.tasks import (
    MAX_ERROR_CHARACTERS,
    ConfirmDone,
    FailureHandling,
    Learnt,
    NextCall,
    TaskSteps,
)
from hvr.validation import StepReport, Validator
from hvr.validation.trajectory import ConstraintMonitor
from hvr.worlds.facts.environment import Observation, base_atoms
from hvr.worlds.facts.lexicon import lexicon_for

# Execution ----------------------------------------------------------------------------------------
# A request in a world of tools, carried out by the executor of all worlds.

MAX_PLANS = 1_000
"""Most new plans of a run: the budget of calls ends it before."""

COST_TOLERANCE = 25
"""Costs that differ by less than this let a chain that was found stay the cheapest."""


@dataclass(frozen=True)
class ToolRun:
    """How a request went.

    Args:
        decision: the last one: an answer, a question, or why it does not go on.
        steps: The steps of the task, with the outcomes of all calls and what is done.
        world: the run of the executor; None if nothing was called.
        domain: what was planned in.
        questions: what only the user can say, with the values that may be meant.
    """

    decision: Decision
    steps: TaskSteps
    domain: ToolDomain
    world: WorldRun | None = None
    questions: tuple[UserQuestion, ...] = ()

    @property
    def outcomes(self) -> tuple[CallOutcome, ...]:
        """The calls, in order."""
        return tuple(self.steps.outcomes)

    @property
    def exit_code(self) -> int:
        """0: reached; 1: nothing leads to it; 2: the user is asked; 4: a call was not allowed."""
        move = self.decision.move
        if move is NextMove.STOP and any(
            outcome.failure is CallFailure.NOT_ALLOWED for outcome in self.outcomes
        ):
            return 4
        return {NextMove.ANSWER: 0, NextMove.STOP: 1, NextMove.ASK: 2}.get(move, 4)


def carry_out(
    tools: GuardedTools,
    request: ToolRequest,
    learnt: Learnt | None = None,
    *,
    retrying: FailureHandling | None = None,
    was_done: ConfirmDone | None = None,
    listen: Callable[[Event], None] | None = None,
) -> ToolRun:
    """Reach the goals of a request with calls: decide, plan, call, compare and recover.

    The tools are called in the state in which they are. `TaskSteps` says which call is next, and
    with what; the executor has it as the first step of the cheapest proven chain, and plans anew
    whenever something else came of a call than was expected, or another call is next.

    Args:
        tools: what may be called, with the budget.
        request: The goal calls and what the request says.
        learnt: what was learnt before; it learns from these calls.
        retrying: what is done where a call fails.
        was_done: asks the user about calls that may have worked; None if no one can be asked.
        listen: called with each event as it happens.
    """
    steps = TaskSteps(tools, request, learnt, retrying=retrying, was_done=was_done)
    chain = TaskChain(steps, tools.catalogue.tools)
    domain = tool_domain(chain.tools, chain.facts, chain.goal)
    if steps.missing:
        return ToolRun(_asking(chain, steps.missing), steps, domain, questions=steps.missing)
    first = decision_of(chain)
    if first.move is not NextMove.CALL:
        return ToolRun(first, steps, domain)
    env = ToolFacts(steps, chain, domain)
    world = _ToolWorld(env, domain)
    # To try again is a plan like others, in which the tool is dearer.
    policy = FactPolicy(domain.domain, _ChainPlanner(env), RecoveryStrategies((), ("satisfy",)))
    run = run_in_world(world, policy, domain.problem, max_replans=MAX_PLANS, listen=listen)
    questions = () if steps.complete else steps.questions
    return ToolRun(_ended(chain, steps, questions), steps, domain, run, questions)


def decision_of(chain: TaskChain, banned: Collection[str] = ()) -> Decision:
    """Return what to do next for a request, with the cheapest proven chain where it is a call."""
    names = [tool.name for tool in chain.tools]
    facts = chain.facts
    if not banned and (direct := direct_chain(facts, chain.goal, chain.tools, chain.counts)):
        why = f"All that {', '.join(map(quoted, direct.calls))} needs is known."
        return Decision(NextMove.CALL, why, direct, call=direct.calls[0])
    decision = decide(facts, chain.goal, chain.tools, names, counts=chain.counts, banned=banned)
    if decision.move is not NextMove.ASK:
        return decision
    ask = tuple(dict.fromkeys(map(chain.asked, decision.ask)))
    why = f"No call gives {', '.join(map(quoted, ask))}: only the user can say."
    return replace(decision, ask=ask, why=why)


def direct_chain(
    facts: CallFacts,
    goal: CallFacts,
    tools: Sequence[NavigationTool],
    counts: Mapping[str, CallCounts],
) -> ToolChain | None:
    """Return the chain of the goal calls alone where nothing is missing for them.

    Each of them has to be called, so that no chain is cheaper.
    """
    todo = [tool for tool in tools if tool.name in goal.done - facts.done]
    known = goal.known.union(*(tool.needs for tool in todo))
    if not todo or {tool.name for tool in todo} != goal.done - facts.done or known - facts.known:
        return None
    return ToolChain((), tuple(t.name for t in todo), sum(counts[t.name].cost for t in todo))


class ToolFacts:
    """A task as an environment of facts (`hvr.worlds.facts.environment.FactEnvironment`)."""

    def __init__(self, steps: TaskSteps, chain: TaskChain, domain: ToolDomain) -> None:
        self.steps, self.chain, self.domain = steps, chain, domain
        self._labels = {domain.action(tool.name): tool.name for tool in chain.tools}
        self._sent: dict[str, Any] = {}

    def reset(self) -> None:
        """Begin where the tools are."""

    def step(self, name: str, args: tuple[str, ...]) -> str:
        """Make the call of an action."""
        del args
        label = self.label_of(name)
        found = self.next_of(label)
        if found is None:
            error = f"there is nothing left to call {quoted(self.chain.tool(label))} with"
            self._sent = {"action": label, "success": False, "error": error}
            return error
        call = found.call
        outcome = self.steps.make(found)
        arguments: Any = redacted(dict(outcome.call.arguments))
        self._sent = {**arguments, "action": call.tool, "success": outcome.ok}
        if outcome.ok:
            return ""
        error = short(error_text(outcome), MAX_ERROR_CHARACTERS)
        said = f"{outcome.failure}: {error}" if error else f"{outcome.failure}"
        # The executor says itself that a step was refused.
        said = error if error and outcome.failure is CallFailure.REFUSED else said
        self._sent["error"] = said
        return said

    def next_of(self, label: str) -> NextCall | None:
        """Return the call of a step that may be made now; None if there is none."""
        found = self.steps.next()
        if found is None or self.chain.label(found) != label:
            found = self.steps.next(self.chain.tool(label))
        return found if found is not None and self.chain.label(found) == label else None

    def label_of(self, action: str) -> str:
        """Return the step that an action stands for."""
        return self._labels[action]

    def sent(self) -> dict[str, Any]:
        """Return the last call, for the events of a run."""
        return self._sent

    def observe(self) -> Observation:
        """Return what is known and done."""
        facts, domain = self.chain.facts, self.domain
        known = [("known", domain.meanings[m]) for m in facts.known if m in domain.meanings]
        return Observation([*known, *(("done", domain.tools[name]) for name in facts.done)])


class _ToolWorld(FactWorld):
    """A world of facts in which what is next is worked out after each call."""

    env: ToolFacts

    def __init__(self, env: ToolFacts, domain: ToolDomain) -> None:
        wording = lexicon_for(domain.domain).wording
        super().__init__(env, domain.domain, domain.problem, wording)

    def watch(
        self, planned: Planned, constraints: ConstraintMonitor, *, aside: bool = False
    ) -> FactMonitor:
        """See `hvr.execution.recovery.ExecutionWorld`."""
        return _ToolWatch(self, planned.task, constraints, aside=aside)


class _ToolWatch(FactMonitor):
    """Watches a plan, and gives it up where another call is next."""

    def step(
        self, number: int, action: GroundAction, block: int, before: State, report: StepReport
    ) -> StepDone:
        """See `hvr.execution.recovery.BeliefMonitor`.

        A call that went well may bring more than its schema says: nobody else has changed that.
        Nor is it a failure that a result brings less than was hoped where nothing tells what it
        holds, or that a goal which means all of some entities is not done with the first.
        """
        done = super().step(number, action, block, before, report)
        if not done.success:
            return done
        env = self.world.env
        assert isinstance(env, ToolFacts)
        hoped = env.chain.hoped(env.label_of(action.name))
        failures = tuple(
            one
            for one in done.failures
            if (
                not all(isinstance(literal, Not) for literal in one.literals)
                if one.kind is DeviationKind.CHANGED_BY_OTHERS
                else not hoped
            )
        )
        return done.replace(failures=failures)

    def outdated(self, rest: Sequence[GroundAction]) -> str:
        """See `hvr.execution.recovery.BeliefMonitor`."""
        env = self.world.env
        assert isinstance(env, ToolFacts)
        found = env.steps.next()
        if found is None or not rest:
            return "" if not rest else "Nothing leads on."
        label = env.chain.label(found)
        return "" if rest[0].name == env.domain.action(label) else f"Next is {label}: {found.why}."

    def unmet_goal(self) -> tuple[Expression, ...]:
        """Return what of the whole request is unmet: a plan may be for what is left of it only."""
        whole = self.world.task
        state = whole.state_with(base_atoms(self.state), self.state.numbers())
        return failed_literals(Validator(whole, state=state).goal_failure())


class _ChainPlanner:
    """Makes plans for the executor: the call that is next, then the cheapest chain."""

    def __init__(self, env: ToolFacts) -> None:
        self.env = env
        self._chains: dict[Hashable, ToolChain | None] = {}

    def plan(self, task: Task) -> Planned:
        """See `hvr.execution.facts.planning.FactPlanner`."""
        env, chain = self.env, self.env.chain
        found = env.steps.next()
        if found is None:
            raise ImpossibleGoalError("no chain of calls leads to what is wanted")
        by_label = {tool.name: tool for tool in chain.tools}
        first = by_label[chain.label(found)]
        facts = chain.facts
        # What is called can be called, also where names alone do not show it.
        at_hand = CallFacts(facts.known | first.needs, facts.done)
        goal = chain.open
        rest = self._rest(at_hand.after(first), goal)
        if rest is None:
            goal, rest = CallFacts(done=frozenset({first.name})), ToolChain()
        return self._planned(task, at_hand, goal, (first.name, *rest.calls))

    def _rest(self, facts: CallFacts, goal: CallFacts) -> ToolChain | None:
        """Return the cheapest chain to what is left; None if the model of it knows none."""
        env, chain = self.env, self.env.chain
        usable = [tool for tool in chain.tools if tool.name not in env.steps.given_up]
        counts = chain.counts
        if direct := direct_chain(facts, goal, usable, counts):
            return direct
        costs = tuple(round(counts[tool.name].cost / COST_TOLERANCE) for tool in usable)
        place = facts, goal, tuple(tool.name for tool in usable), costs
        if place not in self._chains:
            self._chains[place] = cheapest_chain(facts, goal, usable, counts)
        return self._chains[place]

    def _planned(
        self, task: Task, facts: CallFacts, goal: CallFacts, calls: Sequence[str]
    ) -> Planned:
        domain = self.env.domain
        problem = domain.problem_of(facts, goal)
        actions = tuple(GroundAction(domain.action(name), ()) for name in calls)
        blocks = tuple(
            AABlock(MacroAction(f"call {short(one_line(name), 80)}"), (action,))
            for name, action in zip(calls, actions, strict=True)
        )
        reasons = dict.fromkeys(task.objects, "the request or a tool names it")
        plan = Plan(blocks, True, "cheapest chain of calls", 0.0)
        return Planned(problem, Task(domain.domain, problem), Relevant(reasons), plan, 1)


def _ended(chain: TaskChain, steps: TaskSteps, questions: Sequence[UserQuestion]) -> Decision:
    """Return the decision at which a run ended, with what the tools said."""
    if steps.complete:
        return Decision(NextMove.ANSWER, "All that was asked for is known and done.", ToolChain())
    if questions:
        return _asking(chain, questions)
    banned = {*steps.given_up, *(chain.labels[number] for number in steps.left)}
    last = decision_of(chain, banned)
    why = "; ".join(dict.fromkeys(one_line(said) for said in steps.why_not().values()))
    # What a tool refused is no question to the user: other values are another request.
    if last.move is NextMove.ASK and not banned:
        return replace(last, why=f"{last.why} {why}")
    return Decision(NextMove.STOP, f"Nothing else leads to what is asked for: {why}")


def _asking(chain: TaskChain, questions: Sequence[UserQuestion]) -> Decision:
    names = [chain.meaning_of(one.goal, one.name) for one in questions]
    why = "; ".join(f"{quoted(n)}: {q.why}" for n, q in zip(names, questions, strict=True))
    return Decision(NextMove.ASK, f"{why}.", ask=tuple(dict.fromkeys(names)))


# Proposals ----------------------------------------------------------------------------------------
# Writing calls that would make a refused goal possible: proposed to the user, never just made.


def proposed_calls(
    goals: Collection[str],
    said: Collection[str],
    outcomes: Sequence[CallOutcome],
    learnt: LearntEnablers,
    catalogue: Catalogue,
    found: Iterable[ParameterMeaning],
) -> tuple[str, ...]:
    """Return the writing calls that come before goals which are refused as things are.

    Only calls that are confirmed to make a goal possible are proposed, and only where a proven
    chain leads over them to all goals.

    Args:
        goals: The tools that are to be called.
        said: The meanings of which the user gives values.
        outcomes: The calls of the run that did not reach the goals.
        learnt: Which calls make others possible.
        catalogue: The tools.
        found: The meanings of their parameters.

    Raises:
        PlannerError: The planner failed or ran out of time.
    """
    done = {outcome.call.tool for outcome in outcomes if outcome.ok}
    makers = learnt.confirmed(set(goals) - done)
    makers = {tool: names for tool, names in makers.items() if not done & set(names)}
    if not makers:
        return ()
    writers = set(goals).union(*makers.values())
    tools = [
        tool for tool in catalogue.tools if tool.effect is Effect.READS or tool.name in writers
    ]
    found = tuple(found)
    steps = with_enablers(navigation_tools(Catalogue(tuple(tools)), found), makers)
    known = CallFacts(frozenset(said) | _shown(outcomes, found))
    chain = cheapest_chain(known, CallFacts(done=frozenset(set(goals) - done)), steps)
    if chain is None:
        return ()
    reads = {tool.name for tool in tools if tool.effect is Effect.READS}
    return tuple(name for name in chain.calls if name not in reads | set(goals))


def _shown(outcomes: Iterable[CallOutcome], found: Iterable[ParameterMeaning]) -> frozenset[str]:
    """Return the meanings of which calls have taken or given a value, by their names."""
    names = {
        singular_words(name) for o in outcomes for _, name, _ in given_leaves(o.call.arguments)
    }
    for outcome in outcomes:
        paths = (path for path, _ in values_in(outcome.result) if outcome.ok)
        names |= {singular_words(step) for path in paths for step in path[-1:]}
    return frozenset(
        meaning.name
        for meaning in found
        if any(singular_words(slot.name.rpartition(".")[2]) in names for slot in meaning.slots)
    )


def proposal(calls: Sequence[str], goals: Sequence[str]) -> str:
    """Return the question whether to make calls before goals, with the options that confirm it."""
    before, after = (", ".join(map(quoted, names)) for names in (calls, goals))
    options = " ".join(f"--goal {name}" for name in (*calls, *goals))
    return (
        f"{before} made {after} possible before: to confirm that it is to be called, "
        f"too, give {options}."
    )
