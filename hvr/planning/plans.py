"""Plans as values, and the protocol of the policies that make them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar

from hvr.base.nested import Steps, run_trampoline
from hvr.errors import ImpossibleGoalError
from hvr.knowledge.retrieval.relevance import Relevant
from hvr.knowledge.wording import BlockTitle, load_action_annotations, load_wording
from hvr.knowledge.world_file import load_world
from hvr.pddl import Domain, Problem, Task, Trajectory
from hvr.pddl import GroundAction as GroundAction_pddl
from hvr.pddl.formulas import Atom
from hvr.pddl.model import GroundAction
from hvr.pddl.state import Conjunction, Operator
from hvr.planning.search.ground import Literals, bits
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.knowledge.graph import KnowledgeGraph
    from hvr.knowledge.ontology import Ontology
    from hvr.knowledge.retrieval.embedders import Embedder
    from hvr.knowledge.retrieval.inventory import Inventory
    from hvr.language.goal_builder import Goal
    from hvr.models.choice import ModelChoice
    from hvr.models.layers import Meter
    from hvr.planning.search.planners import Planner


class MacroAction(Value):
    """A subtask in words, with conditions on the world before and after it.

    Args:
        name: Description of the subtask in a few words.
        precondition: PDDL literals that must hold before.
        postcondition: PDDL literals that hold after.
    """

    name: str
    precondition: tuple[str, ...] = ()
    postcondition: tuple[str, ...] = ()

    json_shape = "*"


class AABlock(Value):
    """The atomic actions that carry out a macro action.

    Attributes:
        macro: The macro action.
        actions: The atomic actions, in order.
    """

    macro: MacroAction
    actions: tuple[GroundAction, ...]

    json_shape = "macro actions=calls"

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The actions with their arguments, as JSON."""
        return [{"action": a.name, "args": list(a.args)} for a in self.actions]


class Plan(Value):
    """A plan as macro actions with their blocks.

    Args:
        blocks: The macro actions with their atomic actions, in order.
        optimal: Whether it is proven that no plan of this problem has fewer actions.
        planner: Name of the planner that found the plan.
    """

    blocks: tuple[AABlock, ...]
    optimal: bool = False
    planner: str = ""
    seconds: float = 0.0

    json_shape = "blocks length optimal planner"

    @property
    def length(self) -> int:
        """The number of actions."""
        return len(self.actions)

    @property
    def actions(self) -> tuple[GroundAction, ...]:
        """All atomic actions in order."""
        return tuple(action for block in self.blocks for action in block.actions)

    def __repr__(self) -> str:
        return f"<Plan: {self._summary}>"

    @property
    def _summary(self) -> str:
        actions, blocks = len(self.actions), len(self.blocks)
        return (
            f"{actions} action{'s' * (actions != 1)} in {blocks} block{'s' * (blocks != 1)}"
            f"{', optimal' * self.optimal}"
        )

    def _repr_html_(self) -> str:
        from hvr.base.printable import html_card

        rows = [
            (str(number), block.macro.name, " ".join(map(str, block.actions)))
            for number, block in enumerate(self.blocks, 1)
        ]
        return html_card(f"Plan: {self._summary}", (), ("block", "macro action", "actions"), rows)


class Planned(Value):
    """A plan with the problem that it solves.

    Args:
        problem: The problem, restricted to the relevant objects.
        relevant: The objects in the problem, each with the reason for including it.
        assumed: Constraints that hvr adds to the request, such as predicted free space, and does
            not monitor.
    """

    problem: Problem
    task: Task
    relevant: Relevant
    plan: Plan
    planner_calls: int
    assumed: tuple[Trajectory, ...] = ()


class RecoveryStrategies(Value):
    """The recovery strategies that suit a policy; see `hvr.execution.recovery`.

    Args:
        repairs: Strategies that keep the plan, cheapest first.
        replan: Strategies that make a new plan.
    """

    repairs: tuple[str, ...] = ("retry", "re-navigate")
    replan: tuple[str, ...] = ("satisfy", "replace")


STATE_PLANNER_STRATEGIES = RecoveryStrategies()
"""For policies that plan from the observed state: a new plan achieves what is missing."""

FEEDBACK_PLANNER_STRATEGIES = RecoveryStrategies(
    ("retry", "re-navigate", "satisfy"), ("ask", "replace")
)
"""For policies that need a report of the failure: inserting missing steps comes before asking."""


Wanted = TypeVar("Wanted")
"""The type of a policy's goals: a condition, or a request in words."""

FindObjects = Callable[[Wanted], "Inventory"]
"""Searches for unseen objects that a goal needs; returns the updated inventory."""


@dataclass(frozen=True)
class Understanding(Generic[Wanted]):
    """A policy's interpretation of a request.

    Args:
        stages: Goals to reach in this order, usually one.
        goal: The goal according to hvr's grammar, or None if the grammar cannot read the request.
        impossible: The reason why `goal` cannot be met in the scene, if any.
        judged_only: Whether the goal only judges the result and is hidden from the policy.
    """

    stages: tuple[Wanted, ...]
    goal: Goal | None
    impossible: str = ""
    judged_only: bool = False


class Judgement(Value):
    """The answer to whether a request was met.

    Args:
        reached: Whether the request was met, or None if hvr cannot tell.
        reason: The basis of the answer, or "" if it is the observed goal itself.
    """

    reached: bool | None
    reason: str = ""

    def noting(self, remark: str) -> Judgement:
        return Judgement(self.reached, f"{self.reason}; {remark}" if self.reason else remark)


@dataclass(frozen=True, kw_only=True)
class PolicyContext:
    """The dependencies and settings of a policy.

    Args:
        agent: The robot of the domain, for the library.
        prompts: The folder of prompt templates, by default the default world's folder.
        about: Request, task, scene and seed, with their names in transcripts.
        folder: The run folder, or None to save nothing.
        header: Further fields of the transcript's first line; empty if the run is a replay.
        transcript: The file of the language model's transcript, if any.
        ledger: The file of model costs, for a budget shared by several processes.
        embedder: An existing embedder, or None to create the embedder that `model` names.
        compile_task: A function that creates tasks, for callers that cache them.
        listen: A function to call with each event of the policy, if any.
        reader: The name of a reader in `hvr.language.grammar.READERS`, by default the best
            installed reader.
        reading: The 1-based number of the intended reading of an ambiguous request.
    """

    ontology: Ontology
    domain: Domain
    planner: Planner
    model: ModelChoice
    agent: str = field(default_factory=lambda: load_world().agent.name)
    prompts: Path | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    transcript: Path | None = None
    header: Mapping[str, Any] = field(default_factory=dict)
    ledger: Path | None = None
    embedder: Embedder | None = None
    compile_task: Callable[[Domain, Problem], Task] = Task
    listen: Callable[[Any], None] | None = None
    reader: str | None = None
    reading: int | None = None


class Policy(Protocol[Wanted]):
    """A planning method: it understands requests, makes plans, and judges results.

    Subclasses must define `open`, `understand`, `plan` and `clearing`; other methods have defaults.
    """

    recovery_strategies: ClassVar[RecoveryStrategies] = STATE_PLANNER_STRATEGIES

    asks_model: ClassVar[bool] = False

    @property
    def meter(self) -> Meter | None:
        """The usage of the policy's language model, if any."""
        return None

    @classmethod
    def open(cls, context: PolicyContext) -> Self:
        """Create the policy; raise an HvrError if a dependency is missing or unusable."""
        ...

    def understand(
        self, request: str, graph: KnowledgeGraph, inventory: Inventory
    ) -> Understanding[Wanted]:
        """Return the goals of a request.

        Raises:
            LanguageError: The request was not understood.
            ImpossibleGoalError: The request cannot be met in this scene.
        """
        ...

    def plan(
        self, stage: Wanted, graph: KnowledgeGraph, inventory: Inventory, reason: str = ""
    ) -> Planned:
        """Return a plan from the observed state; `reason` says why the previous plan failed.

        Raises:
            ImpossibleGoalError: It is proven that no plan exists.
            PlannerError: No plan was found in time.
            LLMError: The language model did not answer.
        """
        ...

    def clearing(self, things: Sequence[str], place: str) -> Wanted:
        """Return the goal that no object in `things` is on or in a place."""
        ...

    def needs(self, stage: Wanted, graph: KnowledgeGraph, inventory: Inventory) -> tuple[str, ...]:
        """Return the objects that a plan would use, including those whose location is unknown.

        The robot looks for them before planning (`hvr.execution.world`). By default, the result is
        empty.
        """
        del stage, graph, inventory
        return ()

    def untidy(self, stage: Wanted, graph: KnowledgeGraph, inventory: Inventory) -> tuple[str, ...]:
        """Return the objects that the robot must still tidy, such as a fridge that it opened.

        A plan must include them, even if an earlier plan moved or switched them. By default, the
        result is empty.
        """
        del stage, graph, inventory
        return ()

    def opening(
        self,
        place: str,
        closing: Sequence[str],
        stage: Wanted,
        graph: KnowledgeGraph,
        inventory: Inventory,
    ) -> Planned:
        """Return a plan to open a place and look inside.

        Args:
            closing: Places to close, which the robot opened in an earlier search.
            stage: The goal to reach after the search; its constraints already apply.

        Raises:
            ImpossibleGoalError: No plan exists, or the policy does not support this.
            PlannerError: No plan was found in time.
        """
        del closing, stage, graph, inventory
        raise ImpossibleGoalError(f"this policy cannot inspect {place}")

    def visiting(
        self,
        thing: str,
        closing: Sequence[str],
        stage: Wanted,
        graph: KnowledgeGraph,
        inventory: Inventory,
    ) -> Planned:
        """Return a plan to go to an object and see it; for arguments and errors, see `opening`."""
        del closing, stage, graph, inventory
        raise ImpossibleGoalError(f"this policy cannot go and observe {thing}")

    def keeping(self, stage: Wanted, constraints: Sequence[str]) -> Wanted:
        """Return a stage with the given PDDL constraints instead of its trajectory constraints.

        The default returns the stage unchanged.
        """
        del constraints
        return stage

    def judge(
        self,
        understanding: Understanding[Wanted],
        done: Judgement,
        graph: KnowledgeGraph,
        inventory: Inventory,
    ) -> Judgement:
        """Return whether the request was met after executing the plans.

        Args:
            done: Whether the goals of the plans were observed to hold, with the reason if not.
            graph: The world as observed at the end.
        """
        del graph, inventory
        if understanding.goal is None and done.reached:
            return Judgement(True, "the policy's own goal holds; hvr did not read the request")
        return Judgement(done.reached)

    def records(self) -> Mapping[str, Any]:
        """Return JSON values that explain the plans, by file name, for the run folder."""
        return {}

    def keep(self, planned: Planned, run: str) -> None:
        """Learn from a successful plan of a run; raise a DataFileError if that cannot be saved."""
        del planned, run


# Macro actions ------------------------------------------------------------------------------------
# Split a plan into macro actions: at accomplishments, or at landmarks reached permanently.

# A block ends where something has been accomplished. The ontology says which actions end a block,
# and which next actions continue it (`k:endsBlock`, `k:continuedBy`): their effects may be goals in
# themselves. The precondition of a block contains the literals that its actions need but do not
# achieve themselves; its postcondition contains its lasting changes.

_NEARNESS = "near"


def macro_blocks(task: Task, actions: Sequence[GroundAction_pddl]) -> tuple[AABlock, ...]:
    """Split a plan, which must be applicable in the initial state, into blocks."""
    state = task.initial.bits
    blocks = []
    for block in _cut(actions):
        precondition, postcondition, after = block_conditions(task, state, block)
        macro = MacroAction(block_name(task, block, state, after), precondition, postcondition)
        blocks.append(AABlock(macro, tuple(block)))
        state = after
    return tuple(blocks)


def block_conditions(
    task: Task, state: int, block: Sequence[GroundAction_pddl]
) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """Return the precondition and postcondition of a block, and the mask of the state after it.

    The precondition contains the literals that the actions need but do not achieve themselves; the
    postcondition contains the permanent changes. Literals about nearness are omitted.

    `state` is the mask of the state before the block, in which the block must be applicable.
    """
    after = state
    needs = have = Literals()
    for action in block:
        operator = task.ground(action)
        # The block needs only what its earlier actions have not achieved.
        used = support(operator.precondition, after)
        needs = Literals(
            needs.true | used.true & ~have.true, needs.false | used.false & ~have.false
        )
        following = operator.apply(after)
        # Changes that are undone within the block do not count as achieved.
        have = Literals(
            (have.true | following & ~after) & following,
            (have.false | after & ~following) & ~following,
        )
        after = following
    changes = Literals(after & ~state, state & ~after)
    return tuple(_literals(task, needs)), tuple(_literals(task, changes)), after


def support(condition: Conjunction, state: int) -> Literals:
    """Return literals that make a condition true in a state (for a disjunction, one true part).

    The result is empty if the condition is false.
    """
    return run_trampoline(_support(condition, state, True)) or Literals(0, 0)


def _support(condition: Conjunction, state: int, sure: bool) -> Steps[Literals | None]:
    # No literal supports a condition that is false.
    if not sure and not condition.holds_without_clauses(state, ()):
        return None
    true, false = condition.positive, condition.negative
    for clause in condition.clauses:
        held = clause.positive & state
        missing = clause.negative & ~state
        # One literal supports a disjunction; taking the lowest bit is deterministic.
        if held:
            true |= held & -held
        elif missing:
            false |= missing & -missing
        else:
            inner: Literals | None = None
            for part in clause.parts:
                inner = yield _support(part, state, False)
                if inner is not None:
                    true |= inner.true
                    false |= inner.false
                    break
            if inner is None and not sure:
                return None
    return Literals(true, false)


def _cut(actions: Sequence[GroundAction_pddl]) -> Iterator[list[GroundAction_pddl]]:
    annotations = load_action_annotations()
    block: list[GroundAction_pddl] = []
    for number, action in enumerate(actions):
        block.append(action)
        following = actions[number + 1].name if number + 1 < len(actions) else ""
        if action.name in annotations.ends and following not in annotations.continued[action.name]:
            yield block
            block = []
    if block:
        yield block


def _literals(task: Task, literals: Literals) -> Iterator[str]:
    signed = [(task.fluent(bit), True) for bit in bits(literals.true)]
    signed += [(task.fluent(bit), False) for bit in bits(literals.false)]
    for atom, positive in sorted(signed, key=lambda pair: (str(pair[0]), pair[1])):
        if atom.predicate != _NEARNESS:
            yield str(atom) if positive else f"(not {atom})"


def block_name(task: Task, block: Sequence[GroundAction_pddl], before: int, after: int) -> str:
    """Return a short description of what a block accomplishes."""
    annotations = load_action_annotations()
    gained = [task.fluent(bit) for bit in bits(after & ~before)]
    last = block[-1]
    # Name a block that uses an appliance by its result, not by the final switching off.
    used = [a for a in block if a.name in annotations.used]
    if used:
        return _used(used[-1].args[0], gained, annotations.uses) or _titled(used[-1])
    text = _titled(last) or f"go to {last.args[0]}"
    first = [a for a in block if a.name in annotations.both]
    if first and last.name not in annotations.both:
        text = f"{_titled(first[0])} and {text}"
    return text


def _titled(action: GroundAction_pddl) -> str:
    wording = load_wording().actions.get(action.name)
    return wording.title.fill(action.args) if wording is not None else ""


def _used(tool: str, gained: Sequence[Atom], uses: Sequence[BlockTitle]) -> str:
    for use in uses:
        names = [
            a.args[0] for a in gained if a.predicate == use.predicate and a.args[1:] == use.rest
        ]
        if names:
            return use.title.fill((" and ".join(sorted(names)), tool))
    return ""


# Landmark blocks ----------------------------------------------------------------------------------
# Blocks of arbitrary plans end where a landmark is reached permanently.
#
# A fact is a landmark of a plan if the plan's actions, even without deletes, cannot reach the
# goal without it (Hoffmann, Porteous and Sebastia 2004). Considering only the plan's own actions
# makes this fast for any problem.

_NAMED = 3


def landmark_blocks(task: Task, actions: Sequence[GroundAction_pddl]) -> tuple[AABlock, ...]:
    """Split a valid plan into blocks that end where a landmark is reached permanently.

    The precondition of a block lists the literals that its actions read but do not achieve
    themselves. The postcondition lists the literals that it achieves and that a later block or the
    goal reads. Negative literals are limited to facts that the plan makes true at some time.
    """
    operators = [task.ground(action) for action in actions]
    states = [task.initial.bits]
    for operator in operators:
        states.append(operator.apply(states[-1]))
    reads = [support(o.precondition, state) for o, state in zip(operators, states, strict=False)]
    reads = [_with_triggers(r, o, s) for r, o, s in zip(reads, operators, states, strict=False)]
    goal = support(task.goal, states[-1])
    landmarks = _landmarks(operators, states[0], goal)
    lasting = _lasting(states)
    ends = _ends(lasting, landmarks)
    ever = reduce(or_, states)
    blocks = []
    start = 0
    for end in ends:
        later = _needed(reads[end:], states[end:], goal)
        own = _needed(reads[start:end], states[start : end + 1], Literals())
        before, after = states[start], states[end]
        gained = Literals(after & ~before & later.true, before & ~after & later.false)
        reached = lasting[end] & ~lasting[start] & landmarks
        named = islice(bits(reached), _NAMED)
        name = ", ".join(str(task.fluent(bit)).strip("()") for bit in named)
        macro = MacroAction(
            name or str(actions[end - 1]).strip("()"),
            _texts(task, Literals(own.true, own.false & ever)),
            _texts(task, gained),
        )
        blocks.append(AABlock(macro, tuple(actions[start:end])))
        start = end
    return tuple(blocks)


def _with_triggers(read: Literals, operator: Operator, state: int) -> Literals:
    for condition, add, delete in operator.conditional:
        if condition.holds(state) and (add & ~state or delete & state):
            used = support(condition, state)
            read = Literals(read.true | used.true, read.false | used.false)
    return read


def _needed(reads: Sequence[Literals], states: Sequence[int], goal: Literals) -> Literals:
    """Regress `goal` through steps, and return the literals that must hold before them."""
    true, false = goal.true, goal.false
    for number in range(len(reads) - 1, -1, -1):
        before, after = states[number], states[number + 1]
        true = true & ~(after & ~before) | reads[number].true
        false = false & ~(before & ~after) | reads[number].false
    return Literals(true, false)


def _lasting(states: Sequence[int]) -> list[int]:
    stays = states[-1]
    lasting = []
    for state in reversed(states):
        stays &= state
        lasting.append(stays)
    return lasting[::-1]


def _ends(lasting: Sequence[int], landmarks: int) -> list[int]:
    steps = len(lasting) - 1
    ends = [n for n in range(1, steps) if lasting[n] & ~lasting[n - 1] & landmarks]
    return [*ends, steps] if steps else []


def _landmarks(operators: Sequence[Operator], initial: int, goal: Literals) -> int:
    added = 0
    for operator in operators:
        added |= operator.add
        for _, add, _ in operator.conditional:
            added |= add
    landmarks = goal.true & ~initial
    # A fact is a landmark if the goal is unreachable without it in the delete relaxation.
    for bit in bits(added & ~initial & ~landmarks):
        if not _reaches(operators, initial, goal.true, ~(1 << bit)):
            landmarks |= 1 << bit
    return landmarks


def _reaches(operators: Sequence[Operator], initial: int, goal: int, allowed: int) -> bool:
    true = initial
    waiting = list(operators)
    while goal & ~true:
        before = true
        blocked = []
        for operator in waiting:
            # Only positive literals are checked, which overestimates what is reachable.
            if operator.precondition.positive & ~true:
                blocked.append(operator)
                continue
            true |= operator.add & allowed
            triggered = [not condition.positive & ~true for condition, _, _ in operator.conditional]
            for (_, add, _), takes_place in zip(operator.conditional, triggered, strict=True):
                if takes_place:
                    true |= add & allowed
            if not all(triggered):
                blocked.append(operator)
        if true == before:
            return False
        waiting = blocked
    return True


def _texts(task: Task, literals: Literals) -> tuple[str, ...]:
    true = sorted(str(task.fluent(bit)) for bit in bits(literals.true))
    false = sorted(f"(not {task.fluent(bit)})" for bit in bits(literals.false))
    return (*true, *false)
