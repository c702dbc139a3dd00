"""Execution of requests to tools, by the executor that is common to all worlds."""

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
from hvr.validation.report import StepReport
from hvr.validation.trajectory import ConstraintMonitor
from hvr.validation.validator import Validator
from hvr.worlds.facts.environment import Observation, base_atoms
from hvr.worlds.facts.lexicon import lexicon_for

MAX_PLANS = 1_000
"""Maximum number of replans; the call budget usually ends a run earlier."""

COST_TOLERANCE = 25
"""Cost difference below which a cached chain still counts as the cheapest."""


@dataclass(frozen=True)
class ToolRun:
    """The result of executing a request.

    Args:
        decision: Last decision: an answer, a question, or the reason to stop.
        steps: Steps of the task, with all outcomes and completed goals.
        world: The executor's run; None if no call was made.
        questions: Open questions to the user, with candidate values.
    """

    decision: Decision
    steps: TaskSteps
    domain: ToolDomain
    world: WorldRun | None = None
    questions: tuple[UserQuestion, ...] = ()

    @property
    def outcomes(self) -> tuple[CallOutcome, ...]:
        return tuple(self.steps.outcomes)

    @property
    def exit_code(self) -> int:
        """0: goal reached; 1: unreachable; 2: a question is open; 4: a call was not permitted."""
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
    """Achieve the goals of a request by deciding, planning, calling and recovering in a loop.

    `TaskSteps` chooses the next call and its arguments. The executor makes it as the first step of
    the cheapest proven chain. It replans when an outcome differs from the prediction or a different
    call should come next.

    Args:
        learnt: Knowledge from earlier runs; outcomes are added to it.
        retrying: Policy for failed calls.
        was_done: Callback that asks the user whether an uncertain call took effect; None if the
            user cannot be asked.
        listen: Callback that receives each event as it happens.
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
    # A retry is planned like any other call; its tool just costs more.
    policy = FactPolicy(domain.domain, _ChainPlanner(env), RecoveryStrategies((), ("satisfy",)))
    run = run_in_world(world, policy, domain.problem, max_replans=MAX_PLANS, listen=listen)
    questions = () if steps.complete else steps.questions
    return ToolRun(_ended(chain, steps, questions), steps, domain, run, questions)


def decision_of(chain: TaskChain, banned: Collection[str] = ()) -> Decision:
    """Return the next move for a request and, if it is a call, the cheapest proven chain."""
    names = [tool.name for tool in chain.tools]
    facts = chain.facts
    if not banned and (direct := direct_chain(facts, chain.goal, chain.tools, chain.counts)):
        why = f"Every argument of {', '.join(map(quoted, direct.calls))} is known."
        return Decision(NextMove.CALL, why, direct, call=direct.calls[0])
    decision = decide(facts, chain.goal, chain.tools, names, counts=chain.counts, banned=banned)
    if decision.move is not NextMove.ASK:
        return decision
    ask = tuple(dict.fromkeys(map(chain.asked, decision.ask)))
    what = "it" if len(ask) == 1 else "them"
    why = f"No call gives {', '.join(map(quoted, ask))}: only the user can provide {what}."
    return replace(decision, ask=ask, why=why)


def direct_chain(
    facts: CallFacts,
    goal: CallFacts,
    tools: Sequence[NavigationTool],
    counts: Mapping[str, CallCounts],
) -> ToolChain | None:
    """Return the chain of the open goal calls alone; None if it would not reach the goal.

    Every chain contains the goal calls, so no chain is cheaper.
    """
    todo = [tool for tool in tools if tool.name in goal.done - facts.done]
    known = goal.known.union(*(tool.needs for tool in todo))
    if not todo or {tool.name for tool in todo} != goal.done - facts.done or known - facts.known:
        return None
    return ToolChain((), tuple(t.name for t in todo), sum(counts[t.name].cost for t in todo))


class ToolFacts:
    def __init__(self, steps: TaskSteps, chain: TaskChain, domain: ToolDomain) -> None:
        self.steps, self.chain, self.domain = steps, chain, domain
        self._labels = {domain.action(tool.name): tool.name for tool in chain.tools}
        self._sent: dict[str, Any] = {}

    def reset(self) -> None:
        """Do nothing: tools keep their state."""

    def step(self, name: str, args: tuple[str, ...]) -> str:
        """Make the call of a PDDL action; return its error message, or "" if it succeeded."""
        del args
        label = self.label_of(name)
        found = self.next_of(label)
        if found is None:
            error = f"{quoted(self.chain.tool(label))} cannot be called again"
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
        # the executor reports the refusal itself
        said = error if error and outcome.failure is CallFailure.REFUSED else said
        self._sent["error"] = said
        return said

    def next_of(self, label: str) -> NextCall | None:
        """Return the next call for the step `label` of a chain, or None if it is impossible now."""
        found = self.steps.next()
        if found is None or self.chain.label(found) != label:
            found = self.steps.next(self.chain.tool(label))
        return found if found is not None and self.chain.label(found) == label else None

    def label_of(self, action: str) -> str:
        return self._labels[action]

    def sent(self) -> dict[str, Any]:
        """Return the last call as an action in a run's events; empty before the first call."""
        return self._sent

    def observe(self) -> Observation:
        facts, domain = self.chain.facts, self.domain
        known = [("known", domain.meanings[m]) for m in facts.known if m in domain.meanings]
        return Observation([*known, *(("done", domain.tools[name]) for name in facts.done)])


class _ToolWorld(FactWorld):
    env: ToolFacts

    may_repeat = True  # the retry policy of the calls decides

    def __init__(self, env: ToolFacts, domain: ToolDomain) -> None:
        wording = lexicon_for(domain.domain).wording
        super().__init__(env, domain.domain, domain.problem, wording)

    def watch(
        self, planned: Planned, constraints: ConstraintMonitor, *, aside: bool = False
    ) -> FactMonitor:
        return _ToolWatch(self, planned.task, constraints, aside=aside)


class _ToolWatch(FactMonitor):
    def step(
        self, number: int, action: GroundAction, block: int, before: State, report: StepReport
    ) -> StepDone:
        # Two deviations are expected. A successful call may reveal more than its schema states,
        # which no other agent caused. A result may lack values that were only assumed, and an
        # "every …" goal is not done after its first call.
        done = super().step(number, action, block, before, report)
        if not done.success:
            return done
        env = self.world.env
        assert isinstance(env, ToolFacts)
        uncertain = env.chain.is_uncertain(env.label_of(action.name))
        failures = tuple(
            one
            for one in done.failures
            if (
                not all(isinstance(literal, Not) for literal in one.literals)
                if one.kind is DeviationKind.CHANGED_BY_OTHERS
                else not uncertain
            )
        )
        return done.replace(failures=failures)

    def outdated(self, rest: Sequence[GroundAction]) -> str:
        env = self.world.env
        assert isinstance(env, ToolFacts)
        found = env.steps.next()
        if found is None or not rest:
            return "" if not rest else "No further call helps."
        label = env.chain.label(found)
        return "" if rest[0].name == env.domain.action(label) else f"Next is {label}: {found.why}."

    def unmet_goal(self) -> tuple[Expression, ...]:
        # a plan may cover only a part of the request
        whole = self.world.task
        state = whole.state_with(base_atoms(self.state), self.state.numbers())
        return failed_literals(Validator(whole, state=state).goal_failure())


class _ChainPlanner:
    def __init__(self, env: ToolFacts) -> None:
        self.env = env
        self._chains: dict[Hashable, ToolChain | None] = {}

    def plan(self, task: Task) -> Planned:
        env, chain = self.env, self.env.chain
        found = env.steps.next()
        if found is None:
            raise ImpossibleGoalError("no chain of calls leads to the goal")
        by_label = {tool.name: tool for tool in chain.tools}
        first = by_label[chain.label(found)]
        facts = chain.facts
        # The next call is possible even if the names of its values do not show it.
        at_hand = CallFacts(facts.known | first.needs, facts.done)
        goal = chain.open
        rest = self._rest(at_hand.after(first), goal)
        if rest is None:
            goal, rest = CallFacts(done=frozenset({first.name})), ToolChain()
        return self._planned(task, at_hand, goal, (first.name, *rest.calls))

    def _rest(self, facts: CallFacts, goal: CallFacts) -> ToolChain | None:
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
    if steps.complete:
        return Decision(NextMove.ANSWER, "Everything requested is known and done.", ToolChain())
    if questions:
        return _asking(chain, questions)
    banned = {*steps.given_up, *(chain.labels[number] for number in steps.left)}
    last = decision_of(chain, banned)
    why = "; ".join(dict.fromkeys(one_line(said) for said in steps.why_not().values()))
    # After a refusal, other values would amount to another request, so there is nothing to ask.
    if last.move is NextMove.ASK and not banned:
        return replace(last, why=f"{last.why} {why}")
    return Decision(NextMove.STOP, f"Nothing else leads to the goal: {why}")


def _asking(chain: TaskChain, questions: Sequence[UserQuestion]) -> Decision:
    names = [chain.meaning_of(one.goal, one.name) for one in questions]
    why = "; ".join(f"{quoted(n)}: {q.why}" for n, q in zip(names, questions, strict=True))
    return Decision(NextMove.ASK, f"{why}.", ask=tuple(dict.fromkeys(names)))


# Proposals ----------------------------------------------------------------------------------------
# Writing calls that would enable a refused goal are proposed to the user, never made unasked.


def proposed_calls(
    goals: Collection[str],
    said: Collection[str],
    outcomes: Sequence[CallOutcome],
    learnt: LearntEnablers,
    catalogue: Catalogue,
    found: Iterable[ParameterMeaning],
) -> tuple[str, ...]:
    """Return the writing calls that would enable the goals that have not been reached.

    Only confirmed enablers are proposed, and only if a proven chain with them reaches all goals.

    Args:
        goals: Names of the goals' tools.
        said: Meanings whose values the user has given.
        outcomes: Outcomes of the run's calls.

    Returns:
        The names of the tools in order; empty if there are none.

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
    """Return a question about making enabling calls, with the `--goal` options that approve it."""
    before, after = (", ".join(map(quoted, names)) for names in (calls, goals))
    options = " ".join(f"--goal {name}" for name in (*calls, *goals))
    return f"{before} made {after} possible before: to approve this call too, give {options}."
