"""Errors in a sequence of atomic actions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from hvr.knowledge.conduct import load_conduct
from hvr.pddl import GroundAction
from hvr.runs.simulated.error_model import STEP_KINDS, ErrorModel
from hvr.runs.simulated.prompt_objects import PromptObjects

Steps = tuple[GroundAction, ...]
Streams = Callable[[str], Random]
"""Random numbers by label; the same label always gives the same numbers."""

_NO_ACTIONS = ("grab_with_both_hands", "wait_for", "wipe_obj", "stir", "check_obj", "push_obj")


@dataclass(frozen=True)
class StepErrors:
    """Errors in sequences of actions.

    Args:
        model: the error rates.
        objects: of the prompt.
        walks: whether going somewhere is a step of its own.
    """

    model: ErrorModel
    objects: PromptObjects
    walks: bool = True

    def corrupt(
        self,
        steps: Sequence[GroundAction],
        streams: Streams,
        factor: float = 1.0,
        before: int = 0,
    ) -> Steps:
        """Corrupt each step with the probability of the model times a factor.

        Args:
            steps: the intended ones.
            streams: random numbers.
            factor: of the probability.
            before: steps that stand before these in the same answer.
        """
        kinds: dict[int, str] = {}
        rngs = [streams(f"step {number}") for number in range(len(steps))]
        for number, rng in enumerate(rngs):
            # Drawn even if there is no error: other rates must see the same random numbers.
            wrong = rng.random() < self.model.rate(before + number) * factor
            kind = self.model.kind(possible(steps, number), rng)
            if wrong and kind is not None:
                kinds[number] = kind
        return self._with(steps, kinds, rngs)

    def one_more(self, steps: Sequence[GroundAction], rng: Random) -> Steps:
        """Make exactly one more error somewhere."""
        if not steps:
            return ()
        number = rng.randrange(len(steps))
        kind = self.model.kind(possible(steps, number), rng)
        return self._with(steps, {number: kind} if kind else {}, [rng] * len(steps))

    def _with(
        self, steps: Sequence[GroundAction], kinds: dict[int, str], rngs: Sequence[Random]
    ) -> Steps:
        written = [
            self._written(steps, number, kinds.get(number), rngs[number])
            for number in range(len(steps))
        ]
        for number, kind in sorted(kinds.items()):
            if kind == "swapped":
                written[number : number + 2] = written[number : number + 2][::-1]
        return tuple(step for part in written for step in part)

    def _written(
        self, steps: Sequence[GroundAction], number: int, kind: str | None, rng: Random
    ) -> Steps:
        """Return the steps written in place of a step, with an error of some kind or none."""
        step = steps[number]
        match kind:
            case "dropped" | "missing_navigation":
                return ()
            case "wrong_object":
                place = rng.randrange(len(step.args))
                name = self.objects.confused(step.args[place], step.name, place, rng)
                return (_with_argument(step, place, name),)
            case "hallucinated_object":
                place = rng.randrange(len(step.args))
                return (_with_argument(step, place, self.objects.invented(step.args[place], rng)),)
            case "hallucinated_action":
                return (GroundAction(rng.choice(_NO_ACTIONS), step.args[:1]),)
            case "superfluous":
                return (rng.choice(list(self._superfluous(step))), step)
        return (step,)

    def _superfluous(self, step: GroundAction) -> Iterator[GroundAction]:
        """Yield plausible but superfluous steps before a step."""
        yield step
        if not self.walks:
            return
        for thing in self.objects.listed:
            for name, need in load_conduct().idle:
                other = GroundAction(name, (thing.name,))
                same = other == step if not need else step.args[:1] == other.args
                if not same and (not need or need in thing.uses):
                    yield other


def is_walk(step: GroundAction) -> bool:
    """Return whether a step only leads to something."""
    return step.name in load_conduct().walks


def possible(steps: Sequence[GroundAction], number: int) -> list[str]:
    """Return the kinds of errors that a step can have."""
    step = steps[number]
    moves = is_walk(step)
    is_possible = dict.fromkeys(STEP_KINDS, True)
    is_possible["dropped"] = not moves
    is_possible["missing_navigation"] = moves
    is_possible["swapped"] = number + 1 < len(steps) and steps[number + 1] != step
    is_possible["wrong_object"] = is_possible["hallucinated_object"] = bool(step.args)
    return [kind for kind in STEP_KINDS if is_possible[kind]]


def _with_argument(step: GroundAction, place: int, name: str) -> GroundAction:
    return GroundAction(step.name, (*step.args[:place], name, *step.args[place + 1 :]))
