"""Rewards for language models that write plans: a number for each completion, and why.

```python
from hvr import rewards

(score,) = rewards.PlanRewards().scores(["(pick-up a)"], domain=domain_text, problem=problem_text)
print(score.reward, score.says)
```

`trl_reward` and `verifiers_reward` are the same for trainers.
"""

from __future__ import annotations

import signal
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from hvr.errors import HvrError, UsageError
from hvr.pddl import Domain, GroundAction, State, UnsupportedPddlError, parse_domain, parse_problem
from hvr.pddl.model import parts_of
from hvr.pddl.plan import Step, TimedAction, read_plan
from hvr.validation import Outcome, Validator
from hvr.validation.extraction import Candidate, last_of, plans_in
from hvr.validation.occurrences import schemas_of
from hvr.validation.stepper import Stepper
from hvr.values import Value

# Score --------------------------------------------------------------------------------------------
# What a completion is worth, and how that comes.

REACHED = 0.6
"""The least reward of a plan that reaches the goal."""

MISSED = 0.5
"""No plan that does not reach the goal has more."""

_READ, _STEPS, _GOALS = 0.05, 0.3, 0.15


class PlanScore(Value):
    """The worth of one completion.

    Attributes:
        reward: from 0 to 1; `MISSED` at most unless the plan reaches the goal, then `REACHED` at
            least.
        valid: whether the plan can be executed and reaches the goal.
        steps: how many steps the plan has; None if the completion has no plan.
        executable: the share of the steps that come before the first one that fails.
        goals: the share of the goal's conditions that hold where the plan ends or fails.
        says: what is wrong, in words for the model; empty for a valid plan.
    """

    reward: float
    valid: bool = False
    steps: int | None = None
    executable: float = 0.0
    goals: float = 0.0
    says: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "reward": self.reward,
            "valid": self.valid,
            "steps": self.steps,
            "executable": self.executable,
            "goals": self.goals,
            "says": self.says,
        }


def no_plan(says: str) -> PlanScore:
    """Return the score of a completion in which no plan could be judged."""
    return PlanScore(0.0, says=says)


def reached(steps: int, best: int | None) -> PlanScore:
    """Return the score of a valid plan.

    Args:
        steps: how many it has.
        best: how many the best known plan has; None if that is not known.
    """
    share = 1.0 if best is None or steps <= best else best / steps
    return PlanScore(REACHED + (1 - REACHED) * share, True, steps, 1.0, 1.0)


def missed(steps: int, executable: float, goals: float, says: str) -> PlanScore:
    """Return the score of a plan that does not reach the goal.

    It grows with what can be executed and with what is reached of the goal.
    """
    reward = _READ + _STEPS * executable + _GOALS * goals
    return PlanScore(min(reward, MISSED), False, steps, executable, goals, says)


# Shaping ------------------------------------------------------------------------------------------
# Rewards step by step: potential-based shaping, which leaves the best policy the best.
#
# Ng, Harada & Russell 1999, "Policy invariance under reward transformations".

Potential: TypeAlias = Callable[[State], float]
"""How good a state is, from 0 to 1."""


class StepScore(Value):
    """The worth of each step of one completion.

    Attributes:
        rewards: One number for each step of the plan, from -1 to 1; 0 behind a step that fails.
        score: The worth of the whole completion.
    """

    rewards: tuple[float, ...]
    score: PlanScore


def goal_share(state: State) -> float:
    """Return the share of the goal's conditions that hold in a state."""
    parts = parts_of(state.task.problem.goal)
    return sum(state.holds(part) for part in parts) / len(parts) if parts else 1.0


def shaped(potentials: Sequence[float], final: float, discount: float = 1.0) -> tuple[float, ...]:
    """Return the reward of each step of an episode.

    A step is worth the discounted potential behind it less the potential before it; behind the last
    step the potential is 0, and the final reward is added. So the discounted sum is the discounted
    final reward less the potential of the first state, whatever the steps are.

    Args:
        potentials: The potential of the state before each step, from 0 to 1.
        final: The reward of the whole episode, from 0 to 1.
        discount: The discount of the learner, above 0 and at most 1.

    Raises:
        UsageError: A number is out of its range.
    """
    if not 0 < discount <= 1:
        raise UsageError(f"the discount must be above 0 and at most 1, got {discount:g}")
    if any(not 0 <= value <= 1 for value in (*potentials, final)):
        raise UsageError("potentials and the final reward must be from 0 to 1")
    if not potentials:
        return ()
    behind = [discount * value for value in potentials[1:]] + [final]
    return tuple([after - before for after, before in zip(behind, potentials, strict=True)])


# Rewards ------------------------------------------------------------------------------------------
# Scores of completions, by the validator. Nothing that a completion says is executed.


class Bounds(Value):
    """What one completion may cost.

    Attributes:
        characters: a longer completion has no plan.
        steps: nor has one with more steps.
        seconds: of judging, where the system can interrupt it: in the main thread, and not on
            Windows. The two others hold everywhere.
        problems: how many problems are kept in memory.
    """

    characters: int = 100_000
    steps: int = 2_000
    seconds: float = 10.0
    problems: int = 256


class PlanRewards:
    """Scores completions for PDDL problems; each problem is compiled once while it is in use."""

    def __init__(self, limits: Bounds | None = None) -> None:
        self._limits = limits or Bounds()
        self._validators: OrderedDict[tuple[str, str], Validator] = OrderedDict()
        self._domains: OrderedDict[str, Domain] = OrderedDict()

    def scores(
        self,
        completions: Sequence[str],
        *,
        domain: str | Sequence[str],
        problem: str | Sequence[str],
        best: int | Sequence[int | None] | None = None,
    ) -> list[PlanScore]:
        """Return the scores of completions, in their order.

        Args:
            completions: what a model wrote; the last plan in each is the one that counts.
            domain: PDDL texts, one for all or one for each completion.
            problem: likewise.
            best: how many steps the best known plan has, likewise; None if that is not known.

        Raises:
            UsageError: the numbers of texts differ, or a domain or problem cannot be used: a
                mistake of the data, which no reward should hide.
        """
        texts = _texts(completions, domain, problem, best)
        return [self._score(*each)[0] for each in texts]

    def step_scores(
        self,
        completions: Sequence[str],
        *,
        domain: str | Sequence[str],
        problem: str | Sequence[str],
        best: int | Sequence[int | None] | None = None,
        discount: float = 1.0,
        potential: Potential = goal_share,
    ) -> list[StepScore]:
        """Return the scores of completions with a reward for each step, in their order.

        The reward of a step is the change of a potential, and a plan that reaches the goal has its
        own reward at its last step (`hvr.validation.rewards`). The steps of plans with
        times, and of completions without a plan, have none.

        Args:
            completions, domain, problem, best: As in `scores`.
            discount: The discount of the learner.
            potential: How good a state is, from 0 to 1.

        Raises:
            UsageError: As in `scores`, or the discount or a potential is out of its range.
        """
        return [
            StepScore(_step_rewards(self._validator(d, p), plan, score, discount, potential), score)
            for completion, d, p, known in _texts(completions, domain, problem, best)
            for score, plan in [self._score(completion, d, p, known)]
        ]

    def _score(
        self, completion: str, domain: str, problem: str, best: int | None
    ) -> tuple[PlanScore, tuple[Step, ...]]:
        validator = self._validator(domain, problem)
        limits = self._limits
        if len(completion) > limits.characters:
            return no_plan(f"the answer has more than {limits.characters} characters"), ()
        try:
            with _alarm(limits.seconds):
                return _judged(validator, completion, best, limits)
        except _OutOfTimeError:
            return no_plan(f"judging the answer took more than {limits.seconds:g} s"), ()
        except (HvrError, RecursionError, MemoryError) as error:
            return no_plan(str(error) or "the answer cannot be read"), ()

    def _validator(self, domain: str, problem: str) -> Validator:
        key = domain, problem
        if key not in self._validators:
            try:
                if domain not in self._domains:
                    self._domains[domain] = parse_domain(domain)
                    _forget(self._domains, self._limits.problems)
                lifted = self._domains[domain]
                validator = Validator(lifted, parse_problem(problem, lifted))
            except UnsupportedPddlError as error:
                raise UsageError(f"plans of this problem cannot be judged: {error}") from error
            except HvrError as error:
                raise UsageError(f"the domain or the problem cannot be used: {error}") from error
            self._validators[key] = validator
            _forget(self._validators, self._limits.problems)
        self._validators.move_to_end(key)
        return self._validators[key]


def _texts(
    completions: Sequence[str],
    domain: str | Sequence[str],
    problem: str | Sequence[str],
    best: int | Sequence[int | None] | None,
) -> list[tuple[str, str, str, int | None]]:
    """Return each completion with its domain, problem and best length."""
    count = len(completions)
    domains = _each(domain, count, "domains")
    problems = _each(problem, count, "problems")
    known = [best] * count if best is None or isinstance(best, int) else list(best)
    if len(known) != count:
        raise UsageError(f"there are {count} completions and {len(known)} best lengths")
    return list(zip(completions, domains, problems, known, strict=True))


def _step_rewards(
    validator: Validator,
    plan: Sequence[Step],
    score: PlanScore,
    discount: float,
    potential: Potential,
) -> tuple[float, ...]:
    """Return the rewards of the steps of a plan; those behind a failing one have 0."""
    if not plan or any(isinstance(step, TimedAction) for step in plan):
        return ()
    potentials: list[float] = []
    stepper = Stepper(validator.task)
    for step in plan:
        assert isinstance(step, GroundAction)
        potentials.append(potential(stepper.state))
        if stepper.apply(step).failure is not None:
            break
    rewards = shaped(potentials, score.reward if score.valid else 0.0, discount)
    return (*rewards, *(0.0 for _ in plan[len(rewards) :]))


def _judged(
    validator: Validator, completion: str, best: int | None, limits: Bounds
) -> tuple[PlanScore, tuple[Step, ...]]:
    """Return the score of a completion, and the plan that it is for."""
    plans = _plans(completion, validator)
    if not plans:
        return no_plan("there is no plan in the answer"), ()
    score = _score_of(validator, last_of(plans).text, best, limits)
    if score[0].valid or len(plans) == 1:
        return score
    # The plans may be parts of one, with words between them. They are not if those before the last
    # reach the goal: then the last is another plan, and the one that counts.
    before, whole = _joined(plans[:-1]), _joined(plans)
    if whole.count("(") > limits.steps or _reaches(validator, before) is not None:
        return score
    joined = _reaches(validator, whole)
    return score if joined is None else (reached(len(joined), best), joined)


def _reaches(validator: Validator, text: str) -> tuple[Step, ...] | None:
    plan = read_plan(text, file="the answer").steps
    return plan if validator.check(plan).valid else None


def _joined(plans: Sequence[Candidate]) -> str:
    return "\n".join(step for plan in plans for _, step in plan.steps)


def _score_of(
    validator: Validator, text: str, best: int | None, limits: Bounds
) -> tuple[PlanScore, tuple[Step, ...]]:
    """Return the score of the text of a plan, and its steps."""
    if text.count("(") > limits.steps:
        return no_plan(f"the plan has more than {limits.steps} steps"), ()
    plan = read_plan(text, file="the answer").steps
    return _score_of_plan(validator, plan, best), plan


def _score_of_plan(validator: Validator, plan: Sequence[Step], best: int | None) -> PlanScore:
    report = validator.check(plan)
    steps = len(plan)
    if report.outcome is Outcome.VALID:
        return reached(steps, best)
    if report.outcome is Outcome.UNKNOWN:
        return no_plan(report.reason)
    failure = report.failure
    whole = failure is None or failure.step is None
    done = steps if whole else min(report.executed, steps)
    return missed(
        steps,
        done / steps if steps else 0.0,
        goal_share(validator.state_after(plan, done)),
        "" if failure is None else failure.explain(5),
    )


def _plans(completion: str, validator: Validator) -> tuple[Candidate, ...]:
    """Return the plans in a text, in its order."""
    domain, problem = validator.task.domain, validator.task.problem
    return plans_in(
        completion,
        "the answer",
        actions=[schema.name for schema in schemas_of(domain)],
        predicates=tuple(domain.predicates),
        objects=[item.name for item in (*domain.constants, *problem.objects)],
    )


def _each(given: str | Sequence[str], count: int, what: str) -> Sequence[str]:
    values = [given] * count if isinstance(given, str) else given
    if len(values) != count:
        raise UsageError(f"there are {count} completions and {len(values)} {what}")
    return values


def _forget(known: OrderedDict[Any, Any], most: int) -> None:
    while len(known) > most:
        known.popitem(last=False)


class _OutOfTimeError(Exception):
    """A completion has had its seconds."""


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise `_OutOfTimeError` in the body after some seconds, where the system can do that.

    A timer that somebody else has set is left alone.
    """
    usable = hasattr(signal, "setitimer") and (
        threading.current_thread() is threading.main_thread()
    )
    if not usable or seconds <= 0 or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return

    def ring(*_: object) -> None:
        raise _OutOfTimeError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# Trainers -----------------------------------------------------------------------------------------
# The rewards in the forms that trainers call.
#
# TRL's GRPO trainer: https://huggingface.co/docs/trl/grpo_trainer, "Using a custom reward
# function". The package verifiers: https://verifiers.readthedocs.io, "Rubrics".

Completion = str | Sequence[Mapping[str, Any]]
"""What a model wrote: a text, or the messages of a conversation."""


def trl_reward(limits: Bounds | None = None) -> Callable[..., list[float]]:
    """Return a reward function for TRL's trainers.

    The data set has columns `domain` and `problem` with PDDL texts, and may have `best`, the length
    of the best known plan.
    """
    rewards = PlanRewards(limits)

    def plan_reward(
        *,
        completions: Sequence[Completion],
        domain: Sequence[str],
        problem: Sequence[str],
        best: Sequence[int | None] | None = None,
        **_: Any,
    ) -> list[float]:
        texts = [text_of(completion) for completion in completions]
        scores = rewards.scores(texts, domain=domain, problem=problem, best=best)
        return [score.reward for score in scores]

    return plan_reward


def verifiers_reward(limits: Bounds | None = None) -> Callable[..., float]:
    """Return a reward function for a `Rubric` of the package verifiers.

    The data set has in `info` the PDDL texts `domain` and `problem`, and may have `best`.
    """
    rewards = PlanRewards(limits)

    def plan_reward(completion: Completion, info: Mapping[str, Any], **_: Any) -> float:
        if missing := [name for name in ("domain", "problem") if name not in info]:
            raise UsageError(f"the data set's info has no {missing[0]!r}")
        (score,) = rewards.scores(
            [text_of(completion)],
            domain=info["domain"],
            problem=info["problem"],
            best=info.get("best"),
        )
        return score.reward

    return plan_reward


def text_of(completion: Completion) -> str:
    """Return what a model wrote: of a conversation, what its last message says."""
    if isinstance(completion, str):
        return completion
    for message in reversed(completion):
        content = message.get("content") if isinstance(message, Mapping) else None
        parts = content if isinstance(content, list) else [content]
        texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
        return "\n".join(text for text in texts if isinstance(text, str))
    return ""


# --------------------------------------------------------------------------------------------------
