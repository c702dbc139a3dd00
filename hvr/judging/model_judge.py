"""A judge that asks a language model, proves its findings, and repairs the plan, in rounds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from hvr.judging.evidence import Evidence, ExecutionTrace, holds, unmet_parts
from hvr.judging.symbolic import judge
from hvr.judging.verdict import PlanVerdict
from hvr.models.model import Message, Model, Request
from hvr.pddl import GroundAction, Misfit, State
from hvr.pddl.state import set_bits
from hvr.validation.validator import Validator
from hvr.values import JsonObject

# Opinions of a model ------------------------------------------------------------------------------
# A model's opinion of a plan, in the answer format of the paper on plan verification.
#
# Each step is copied after `ACTION:` and judged after `ANNOTATION:`. `#REMOVE: reason` marks a
# redundant step; `#MISSING: steps` follows the last one. Models follow the format loosely, so the
# reader accepts steps with or without numbers and parentheses, markers in any case, and `#MISSING`
# anywhere.

_MOST_TOKENS = 4096

_SYSTEM = """\
You check plans of a household robot. For each step decide whether the goal needs it. A step is
superfluous if it repeats another one, if a later step takes it back before anything needed it,
if it deals with things that the goal does not need, or if it contradicts an earlier step or the
goal. Steps that only prepare others are needed, and so is the same step on a second object that
the goal needs. Also say what is missing."""

_FORMAT = """\
GOAL: {goal}
STEPS:
{steps}

Answer with two lines for each step, in order:
ACTION: the step, copied
ANNOTATION: what it is for; add "#REMOVE: reason" if it should go
After the last step, one line for each thing that is missing:
#MISSING: (action object ...) before step N
"""

_ACTION = re.compile(r"^\W*action\b\W*?:\s*(.*)$", re.IGNORECASE)
_REMOVE = re.compile(r"#\s*remove\b\W*(.*)$", re.IGNORECASE)
_MISSING = re.compile(r"#\s*missing\b\W*?[:\s]\s*(.*)$", re.IGNORECASE)
_NUMBER = re.compile(r"^\W*(?:step\s*)?(\d+)\s*[.):]\s*", re.IGNORECASE)
_CALL = re.compile(r"\(\s*([^()]+?)\s*\)")
_PLACE = re.compile(r"\b(before|after)\s+(?:step\s*)?(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class MissingSteps:
    """Steps reported as missing before the 1-based step `index`, or anywhere if it is None."""

    text: str
    actions: tuple[GroundAction, ...] = ()
    index: int | None = None


@dataclass(frozen=True)
class Opinion:
    """A model's unproven opinion of a plan; `remove` are 1-based step numbers with reasons."""

    remove: tuple[tuple[int, str], ...] = ()
    missing: tuple[MissingSteps, ...] = ()


def ask(model: Model, goal: str, plan: Sequence[GroundAction]) -> Opinion:
    """Ask a model for its opinion of a plan.

    Raises:
        LLMError: The model did not answer.
    """
    steps = "\n".join(f"{number}. {action}" for number, action in enumerate(plan, 1))
    text = _FORMAT.format(goal=goal, steps=steps)
    messages = Message("system", _SYSTEM), Message("user", text)
    request = Request(messages=messages, purpose="judge", max_tokens=_MOST_TOKENS)
    return read_opinion(model.answer(request).text, plan)


def read_opinion(text: str, plan: Sequence[GroundAction]) -> Opinion:
    """Parse a model's answer, ignoring parts that cannot be recognised."""
    remove: dict[int, str] = {}
    missing: list[MissingSteps] = []
    current = 0
    for line in text.splitlines():
        action = _ACTION.match(line)
        if action is not None:
            current = _step(action[1], plan, current)
        removed = _REMOVE.search(line)
        if removed is not None and 1 <= current <= len(plan):
            remove.setdefault(current, removed[1].strip())
        lack = _MISSING.search(line)
        if lack is not None:
            proposal = _missing_steps(lack[1].strip(), len(plan))
            if proposal is not None:
                missing.append(proposal)
    return Opinion(tuple(sorted(remove.items())), tuple(missing))


def _step(text: str, plan: Sequence[GroundAction], current: int) -> int:
    number = _NUMBER.match(text)
    words = _words(_NUMBER.sub("", text))
    for index in chain(range(current, len(plan)), range(current)):
        named = [plan[index].name, *plan[index].args]
        if words[: len(named)] == named:
            return index + 1
    if number is not None and 1 <= int(number[1]) <= len(plan):
        return int(number[1])
    return current + 1


def _words(text: str) -> list[str]:
    return re.sub(r"[(),\[\]`*\"']", " ", text.split("#")[0]).lower().split()


def _missing_steps(text: str, count: int) -> MissingSteps | None:
    if not text or text.lower().rstrip(".") in ("none", "nothing", "n/a", "no", "-"):
        return None
    calls = []
    for call in _CALL.findall(text):
        words = _words(call)
        if words and re.fullmatch(r"[a-z][\w-]*", words[0]):
            calls.append(GroundAction(words[0], tuple(words[1:])))
    place = _PLACE.search(text)
    index = None
    if place is not None:
        index = max(1, min(int(place[2]) + (place[1].lower() == "after"), count + 1))
    return MissingSteps(text, tuple(calls), index)


# Proven opinions ----------------------------------------------------------------------------------
# The part of a model's opinion that can be proven.
#
# A removal is accepted if the shorter plan reaches the same goal and the same end state, except for
# objects of the removed steps. An insertion is accepted if it is executable, its effects are read
# before a step undoes them, and it brings the plan closer to its goal.

_MOST_TRIALS = 400


@dataclass(frozen=True)
class ProvenOpinion:
    """The part of an opinion that improves the plan.

    Args:
        plan: Plan after the changes.
        removed: 1-based numbers of the removed steps in the judged plan.
        inserted: Pairs of the 1-based number of the following step, and the inserted step.
        rejected: Reasons why the other parts of the opinion were rejected.
    """

    plan: tuple[GroundAction, ...]
    removed: tuple[int, ...] = ()
    inserted: tuple[tuple[int, GroundAction], ...] = ()
    rejected: tuple[str, ...] = ()


Measure = tuple[int, int]
"""Defects of a plan: failing steps plus unmet parts of the goal, then the length."""


def measure(start: State, plan: Sequence[GroundAction]) -> Measure:
    """Return (failing steps + unmet parts of the goal, number of steps); less is better."""
    trace = ExecutionTrace.of(start, plan)
    unmet = unmet_parts(start.task.goal, trace.marks[-1])
    return len(trace.failing) + unmet, len(plan)


def check(start: State, plan: Sequence[GroundAction], opinion: Opinion) -> ProvenOpinion:
    trace = ExecutionTrace.of(start, plan)
    rejected: list[str] = []
    inserted: list[tuple[int, GroundAction]] = []
    for proposal in opinion.missing:
        place = _place(start, plan, tuple(inserted), proposal)
        if place is None:
            rejected.append(
                f"#MISSING {proposal.text}: it does not bring the plan closer to its goal"
            )
        else:
            inserted += [(place, action) for action in proposal.actions]
            inserted.sort(key=lambda item: item[0])
    flagged = [number - 1 for number, _ in opinion.remove]
    longer = with_steps(plan, inserted)
    removed = _removable(start, plan, inserted, flagged)
    for number, reason in opinion.remove:
        if number - 1 not in removed:
            rejected.append(f"#REMOVE {number} {plan[number - 1]}: not proven ({reason})")
    left = tuple([action for index, action in longer if index not in removed])
    # Discard the changes unless they improve the plan as a whole.
    if measure(start, left) >= measure(start, trace.plan):
        return ProvenOpinion(tuple(plan), rejected=tuple(rejected))
    numbers = tuple(sorted(index + 1 for index in removed))
    shown = tuple((place + 1, action) for place, action in inserted)
    return ProvenOpinion(left, numbers, shown, tuple(rejected))


def with_steps(
    plan: Sequence[GroundAction], inserted: Sequence[tuple[int, GroundAction]]
) -> list[tuple[int, GroundAction]]:
    """Merge a plan with steps to insert, given as pairs (index of the following step, step).

    Returns pairs (index in `plan`, or -1 if inserted; step).
    """
    merged: list[tuple[int, GroundAction]] = []
    waiting = list(inserted)
    for place in range(len(plan) + 1):
        while waiting and waiting[0][0] == place:
            merged.append((-1, waiting.pop(0)[1]))
        if place < len(plan):
            merged.append((place, plan[place]))
    return merged


def _place(
    start: State,
    plan: Sequence[GroundAction],
    inserted: tuple[tuple[int, GroundAction], ...],
    proposal: MissingSteps,
) -> int | None:
    task = start.task
    if not proposal.actions or any(
        isinstance(task.try_ground(a), Misfit) for a in proposal.actions
    ):
        return None
    now = measure(start, [action for _, action in with_steps(plan, inserted)])
    places = list(range(len(plan) + 1))
    if proposal.index is not None:
        # Try the place that the model gives first, then its neighbours.
        places.sort(key=lambda place: abs(place + 1 - (proposal.index or 0)))
    for place in places:
        more = sorted(
            [*inserted, *[(place, action) for action in proposal.actions]], key=lambda item: item[0]
        )
        merged = with_steps(plan, more)
        trace = ExecutionTrace.of(start, [action for _, action in merged])
        new = [i for i, (index, _) in enumerate(merged) if index < 0]
        defects = len(trace.failing) + unmet_parts(task.goal, trace.marks[-1])
        if defects < now[0] and not trace.failing & set(new) and not _undone(trace, new):
            return place
    return None


def _undone(trace: ExecutionTrace, new: Sequence[int]) -> bool:
    evidence = Evidence(trace, range(len(trace.plan)))
    for index in new:
        changes = evidence.changes(index)
        if changes and all(c.undone_by is not None and not c.readers for c in changes):
            return True
    return False


def _removable(
    start: State,
    plan: Sequence[GroundAction],
    inserted: Sequence[tuple[int, GroundAction]],
    flagged: Sequence[int],
) -> frozenset[int]:
    merged = with_steps(plan, inserted)
    whole = ExecutionTrace.of(start, [action for _, action in merged])
    removed: frozenset[int] = frozenset()
    trials = 0
    more = True
    while more:
        more = False
        waiting = [index for index in flagged if index not in removed]
        for group in _groups(plan, waiting):
            trials += 1
            if trials > _MOST_TRIALS:
                return removed
            if _can_go(start, merged, whole, removed | group):
                removed |= group
                more = True
                break
    return removed


def _groups(plan: Sequence[GroundAction], waiting: Sequence[int]) -> Iterator[frozenset[int]]:
    """Yield sets of steps to remove: all steps, those on one object, singles, pairs, triples."""
    if waiting:
        yield frozenset(waiting)
    for name in dict.fromkeys(name for index in waiting for name in plan[index].args):
        group = frozenset(index for index in waiting if name in plan[index].args)
        if len(group) > 1:
            yield group
    for size in (1, 2, 3):
        for some in combinations(waiting, size):
            yield frozenset(some)


def _can_go(
    start: State,
    merged: Sequence[tuple[int, GroundAction]],
    whole: ExecutionTrace,
    removed: frozenset[int],
) -> bool:
    left = ExecutionTrace.of(start, [action for index, action in merged if index not in removed])
    kept = [i for i, (index, _) in enumerate(merged) if index not in removed]
    if any(place not in whole.failing for i in left.failing if (place := kept[i]) >= 0):
        return False
    task = start.task
    if holds(task.goal, whole.marks[-1]):
        if not holds(task.goal, left.marks[-1]):
            return False
    elif unmet_parts(task.goal, left.marks[-1]) > unmet_parts(task.goal, whole.marks[-1]):
        return False
    # Only objects of the removed steps may have another final state.
    own = {name for index, action in merged if index in removed for name in action.args}
    changed = (left.marks[-1][0] ^ whole.marks[-1][0]) & ~task.derived_bits
    atoms = [task.fluent(bit) for bit in set_bits(changed)]
    return all(not atom.args or own & set(atom.args) for atom in atoms)


# Loop of judge and planner ------------------------------------------------------------------------
# Judge and repair in turn until there are no more findings.
#
# Every round reduces the measure of the plan, which is a pair of natural numbers, so the loop ends
# even without a limit on the rounds. A round that does not reduce it is discarded.

MAX_ROUNDS = 5
"""The limit in the paper."""


@dataclass(frozen=True)
class JudgeRound(JsonObject):
    """A round in which the plan was judged and changed.

    Args:
        by: Judge of the round: `symbolic`, or the name of the model.
        inserted: Pairs of the 1-based number of the following step, and the inserted step.
    """

    json_shape = "*"
    by: str
    before: Measure
    after: Measure
    removed: tuple[int, ...]
    inserted: tuple[tuple[int, GroundAction], ...]
    rejected: tuple[str, ...]
    plan: tuple[GroundAction, ...]


@dataclass(frozen=True)
class LoopResult:
    """The result of judging and repairing a plan in rounds.

    Args:
        rounds: Rounds that changed the plan.
        verdict: Verdict of the symbolic judge on the original plan; None if it took no part.
        converged: Whether the last round had no findings.
    """

    plan: tuple[GroundAction, ...]
    rounds: tuple[JudgeRound, ...]
    verdict: PlanVerdict | None
    converged: bool


def run_loop(
    validator: Validator,
    plan: Sequence[GroundAction],
    *,
    opinion: Callable[[Sequence[GroundAction]], Opinion] | None = None,
    symbolic: bool = True,
    most: int = MAX_ROUNDS,
) -> LoopResult:
    """Judge and repair a plan in rounds until there are no more findings.

    Args:
        opinion: Function that asks a model for its opinion; None to use no model.
        symbolic: Whether the symbolic judge takes part; its findings are final.
        most: Maximum number of rounds.
    """
    start = validator.state
    now = tuple(plan)
    rounds: list[JudgeRound] = []
    first: PlanVerdict | None = None
    for _ in range(most):
        size = measure(start, now)
        done: JudgeRound | None = None
        if symbolic:
            verdict = judge(validator, now)
            first = first or verdict
            done = _symbolic_round(validator, verdict, size)
        if done is None and opinion is not None:
            checked = check(start, now, opinion(now))
            after = measure(start, checked.plan)
            if after < size:
                done = JudgeRound(
                    "model",
                    size,
                    after,
                    checked.removed,
                    checked.inserted,
                    checked.rejected,
                    checked.plan,
                )
        if done is None:
            return LoopResult(now, tuple(rounds), first, True)
        rounds.append(done)
        now = done.plan
    return LoopResult(now, tuple(rounds), first, False)


def _symbolic_round(validator: Validator, verdict: PlanVerdict, size: Measure) -> JudgeRound | None:
    if verdict.repaired is None or not verdict.critiques:
        return None
    after = measure(validator.state, verdict.repaired)
    if after >= size:
        return None
    inserted = tuple((c.index, action) for c in verdict.missing for action in c.actions)
    removed = tuple(sorted(verdict.removed))
    return JudgeRound("symbolic", size, after, removed, inserted, (), verdict.repaired)
