"""Rewards for language models that write plans: a number for each completion, with an explanation.

```python
from hvr import rewards

(score,) = rewards.PlanRewards().scores(["(pick-up a)"], domain=domain_text, problem=problem_text)
print(score.reward, score.says)
```

`trl_reward` and `verifiers_reward` adapt them to trainers.
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
from hvr.pddl.facts import conjuncts
from hvr.pddl.plan import Step, TimedAction, read_plan
from hvr.validation.extraction import Candidate, last_of, plans_in
from hvr.validation.extraction.lines import KnownSymbols
from hvr.validation.report import Outcome
from hvr.validation.stepper import Stepper
from hvr.validation.validator import Validator
from hvr.values import Value

# Score --------------------------------------------------------------------------------------------

REACHED = 0.6
"""Lowest reward of a plan that reaches the goal."""

MISSED = 0.5
"""Highest reward of a plan that misses the goal."""

_READ, _STEPS, _GOALS = 0.05, 0.3, 0.15


class PlanScore(Value):
    """The score of one completion.

    Attributes:
        reward: The reward, from 0 to 1: at least `REACHED` if the plan reaches the goal, else at
            most `MISSED`.
        steps: The number of steps, or None if the completion contains no plan.
        executable: The share of the steps before the first failing step.
        goals: The share of the goal's conditions that hold where the plan ends or fails.
        says: The error, worded for the model, or "" for a valid plan.
    """

    reward: float
    valid: bool = False
    steps: int | None = None
    executable: float = 0.0
    goals: float = 0.0
    says: str = ""

    json_shape = "*"


def no_plan(says: str) -> PlanScore:
    return PlanScore(0.0, says=says)


def reached(steps: int, best: int | None) -> PlanScore:
    """Return the score of a valid plan; `best` is the length of the best known plan, if any."""
    share = 1.0 if best is None or steps <= best else best / steps
    return PlanScore(REACHED + (1 - REACHED) * share, True, steps, 1.0, 1.0)


def missed(steps: int, executable: float, goals: float, says: str) -> PlanScore:
    """Return the score of a plan that misses the goal; both shares increase the reward."""
    reward = _READ + _STEPS * executable + _GOALS * goals
    return PlanScore(min(reward, MISSED), False, steps, executable, goals, says)


# Shaping ------------------------------------------------------------------------------------------
# Step rewards by potential-based shaping, which preserves the optimal policy.
#
# Ng, Harada & Russell 1999, "Policy invariance under reward transformations".

Potential: TypeAlias = Callable[[State], float]


class StepScore(Value):
    """The reward of each step of one completion, from -1 to 1; 0 after a failing step.

    A timed plan and a completion without a plan have no rewards.
    """

    rewards: tuple[float, ...]
    score: PlanScore


def goal_share(state: State) -> float:
    parts = tuple(conjuncts(state.task.problem.goal))
    return sum(state.holds(part) for part in parts) / len(parts) if parts else 1.0


def shaped(potentials: Sequence[float], final: float, discount: float = 1.0) -> tuple[float, ...]:
    """Return the reward of each step of an episode.

    A step earns the discounted potential after it minus the potential before it. After the last
    step, the potential is 0 and the final reward is added. The discounted sum is therefore the
    discounted final reward minus the potential of the first state, whatever the steps are.

    Args:
        potentials: The potential of the state before each step, from 0 to 1.
        final: The reward of the whole episode, from 0 to 1.
        discount: The learner's discount factor, above 0 and at most 1.

    Raises:
        UsageError: A number is out of range.
    """
    if not 0 < discount <= 1:
        raise UsageError(f"the discount must be above 0 and at most 1, got {discount:g}")
    if any(not 0 <= value <= 1 for value in (*potentials, final)):
        raise UsageError("potentials and the final reward must be between 0 and 1")
    if not potentials:
        return ()
    behind = [discount * value for value in potentials[1:]] + [final]
    return tuple([after - before for after, before in zip(behind, potentials, strict=True)])


# Rewards ------------------------------------------------------------------------------------------
# The validator scores completions. Nothing in a completion is executed.


class Bounds(Value):
    """Limits for one completion.

    Attributes:
        characters: The maximum length of a completion; longer completions count as having no plan.
        steps: The maximum number of steps; longer plans count as no plan.
        seconds: The time limit for judging, enforced only in the main thread and not on Windows.
            The other limits hold everywhere.
        problems: The number of problems to keep in memory.
    """

    characters: int = 100_000
    steps: int = 2_000
    seconds: float = 10.0
    problems: int = 256


class PlanRewards:
    """Scores completions for PDDL problems, caching the compiled problems."""

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
        """Return the scores of completions, in order.

        Args:
            completions: The texts that a model wrote; the last plan in each text counts.
            domain, problem: PDDL texts, one for all completions or one per completion.
            best: The number of steps of the best known plan, one for all or one per completion.

        Raises:
            UsageError: The numbers of texts differ, or a domain or problem is unusable. No reward
                should hide such mistakes in the data.
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
        """Return the scores of completions with a reward for each step, in order.

        The reward of a step is the change of a potential. A plan that reaches the goal earns its
        own reward at its last step (see `shaped`). Timed plans and completions without a plan have
        no step rewards.

        Args:
            completions, domain, problem, best: See `scores`.
            discount: The learner's discount factor, above 0 and at most 1.
            potential: The value of a state, from 0 to 1.

        Raises:
            UsageError: The discount or a potential is out of range; see also `scores`.
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
    count = len(completions)
    domains = _each(domain, count, "domains")
    problems = _each(problem, count, "problems")
    known = [best] * count if best is None or isinstance(best, int) else list(best)
    if len(known) != count:
        raise UsageError(f"expected {count} best lengths, one per completion, found {len(known)}")
    return list(zip(completions, domains, problems, known, strict=True))


def _step_rewards(
    validator: Validator,
    plan: Sequence[Step],
    score: PlanScore,
    discount: float,
    potential: Potential,
) -> tuple[float, ...]:
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
    plans = _plans(completion, validator)
    if not plans:
        return no_plan("there is no plan in the answer"), ()
    score = _score_of(validator, last_of(plans).text, best, limits)
    if score[0].valid or len(plans) == 1:
        return score
    # The plans may be parts of one plan, interrupted by words. If the parts before the last one
    # already reach the goal, the last one is a plan of its own, and the one that counts.
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
    task = validator.task
    return plans_in(completion, "the answer", KnownSymbols.of(task.domain, task.problem))


def _each(given: str | Sequence[str], count: int, what: str) -> Sequence[str]:
    values = [given] * count if isinstance(given, str) else given
    if len(values) != count:
        raise UsageError(f"expected {count} {what}, one per completion, found {len(values)}")
    return values


def _forget(known: OrderedDict[Any, Any], most: int) -> None:
    while len(known) > most:
        known.popitem(last=False)


class _OutOfTimeError(Exception):
    pass


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    # A timer set by other code is left alone.
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
# Adapters to the interfaces of trainers.
#
# TRL's GRPO trainer: https://huggingface.co/docs/trl/grpo_trainer, "Using a custom reward
# function". The package verifiers: https://verifiers.readthedocs.io, "Rubrics".

Completion = str | Sequence[Mapping[str, Any]]


def trl_reward(limits: Bounds | None = None) -> Callable[..., list[float]]:
    """Return a reward function for TRL's trainers.

    The data set needs the columns `domain` and `problem` with PDDL texts; `best`, the length of the
    best known plan, is optional. `limits` applies to each completion.
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

    The data set's `info` needs the PDDL texts `domain` and `problem`; `best` is optional. If
    `domain` or `problem` is missing, the function raises a UsageError. `limits` applies to each
    completion.
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
    """Return the text of a completion or of a conversation's last message; "" if there is none."""
    if isinstance(completion, str):
        return completion
    for message in reversed(completion):
        content = message.get("content") if isinstance(message, Mapping) else None
        parts = content if isinstance(content, list) else [content]
        texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
        return "\n".join(text for text in texts if isinstance(text, str))
    return ""
