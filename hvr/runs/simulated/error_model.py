"""Error rates and kinds of errors of the simulated model."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, fields
from random import Random

from hvr.errors import UsageError

PROBABILITIES = ("error", "improve", "chatty", "steps", "conditions", "macros", "choices", "slip")
MAX_RATE = 0.95
"""Upper bound of the probability of an error late in a long answer."""
STEP_KINDS = (
    "dropped",
    "swapped",
    "wrong_object",
    "hallucinated_object",
    "hallucinated_action",
    "missing_navigation",
    "superfluous",
)
CONDITION_KINDS = (
    "literal_dropped",
    "literal_negated",
    "literal_wrong_object",
    "literal_unknown_predicate",
)
MACRO_KINDS = ("macro_swapped", "macro_dropped")
CHOICE_KINDS = ("class_dropped", "class_surplus")


@dataclass(frozen=True, kw_only=True)
class ErrorModel:
    """Error rates. All but the first three are weights of kinds or shares of sorts of items.

    The weights of steps, of literals, of macro actions and of classes are each relative to one
    another; a kind with weight 0 does not occur. The default mix is a choice, not a measurement.

    Args:
        error: probability that a step, a literal, a macro action or a choice is corrupted.
        improve: probability that feedback has an error undone.
        chatty: probability that an answer has chat around it and another layout.
        length: by which share of itself the probability of an error grows with each step before
            it in the same answer: 0.05 makes it twice as high at step 21.
        slip: factor on the probability of an error where a step is written again in a corrected
            answer, 0 to 1; long answers are then hard to correct.
        steps: factor on `error` for steps, 0 to 1.
        conditions: the same for literals of conditions.
        macros: the same for macro actions.
        choices: the same for chosen classes.
        dropped: a step other than navigation is left out.
        swapped: a step and the next one change places.
        wrong_object: an argument is another listed object.
        hallucinated_object: an argument is an object that is not listed.
        hallucinated_action: the step is an action that does not exist.
        missing_navigation: a step of navigation is left out.
        superfluous: a step that is not needed stands before the step.
        literal_dropped: a literal is left out.
        literal_negated: a literal has the other sign.
        literal_wrong_object: an argument of a literal is another listed object.
        literal_unknown_predicate: a literal has a predicate that does not exist.
        macro_swapped: a macro action and the next one change places.
        macro_dropped: a macro action is left out.
        class_dropped: a class that is needed is not chosen.
        class_surplus: a class that is not needed is chosen with it.

    Raises:
        UsageError: a value is out of range.
    """

    error: float = 0.1
    improve: float = 0.7
    chatty: float = 0.0
    length: float = 0.0
    slip: float = 0.0
    steps: float = 1.0
    conditions: float = 1.0
    macros: float = 0.25
    choices: float = 1.0
    dropped: float = 3.0
    swapped: float = 1.5
    wrong_object: float = 3.0
    hallucinated_object: float = 1.0
    hallucinated_action: float = 0.5
    missing_navigation: float = 3.0
    superfluous: float = 1.5
    literal_dropped: float = 3.0
    literal_negated: float = 1.0
    literal_wrong_object: float = 2.0
    literal_unknown_predicate: float = 1.0
    macro_swapped: float = 4.0
    macro_dropped: float = 1.0
    class_dropped: float = 1.0
    class_surplus: float = 1.0

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name in PROBABILITIES and not 0 <= value <= 1:
                raise UsageError(f"scripted: {f.name} must be from 0 to 1, not {value:g}")
            if not (math.isfinite(value) and value >= 0):
                raise UsageError(f"scripted: the weight {f.name} must be 0 or more, not {value:g}")

    def rate(self, number: int) -> float:
        """Return the probability that a step is corrupted, by the number of steps before it."""
        rate = self.error * self.steps
        return min(rate * (1 + self.length * number), max(rate, MAX_RATE))

    def kind(self, possible: Collection[str], rng: Random) -> str | None:
        """Draw one of some kinds by their weights; None when all of these are 0."""
        weights = [(name, getattr(self, name)) for name in possible]
        rest = rng.random() * math.fsum(w for _, w in weights)
        for name, weight in weights:
            if weight > 0 and rest < weight:
                return name
            rest -= weight
        # Rounding may leave a remainder after the last kind.
        return next((name for name, weight in reversed(weights) if weight > 0), None)

    def __str__(self) -> str:
        """Return `error=0.3, improve=0.7` and all other values that are not the defaults."""
        shown = (
            f"{f.name}={getattr(self, f.name):g}"
            for f in fields(self)
            if f.name in PROBABILITIES[:2] or getattr(self, f.name) != f.default
        )
        return ", ".join(shown)


def read_spec(spec: str) -> tuple[ErrorModel, int | None]:
    """Read `scripted:error=0.3,improve=0.7`.

    Args:
        spec: `scripted`, or `scripted:` and parameters of `ErrorModel`, and `seed` if need be.

    Returns:
        the error model, and the seed where one is given.

    Raises:
        UsageError: it is none.
    """
    prefix, _, rest = spec.partition(":")
    if prefix != "scripted":
        raise UsageError(f"{spec!r} is no simulated model: write scripted:error=0.1,improve=0.7")
    known = [f.name for f in fields(ErrorModel)]
    values: dict[str, float] = {}
    seed: int | None = None
    for part in filter(None, (p.strip() for p in rest.split(","))):
        name, equals, text = (t.strip() for t in part.partition("="))
        if not equals or name not in (*known, "seed"):
            raise UsageError(
                f"{spec!r}: {part!r} is no parameter of scripted (parameters: "
                f"{', '.join(known)}, seed; each as name=number)"
            )
        if name in values or (name == "seed" and seed is not None):
            raise UsageError(f"{spec!r}: {name} is given twice")
        try:
            if name == "seed":
                seed = int(text)
            else:
                values[name] = float(text)
        except ValueError:
            what = "a whole number" if name == "seed" else "a number"
            raise UsageError(f"{spec!r}: {name} must be {what}, not {text!r}") from None
    return ErrorModel(**values), seed
