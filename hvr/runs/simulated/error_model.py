"""Error rates and kinds of errors of the simulated model."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, fields
from random import Random

from hvr.errors import UsageError

PROBABILITIES = ("error", "improve", "chatty", "steps", "conditions", "macros", "choices", "slip")
MAX_RATE = 0.95
"""Maximum error probability late in a long answer."""
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
    """Error probabilities, factors and weights.

    The weights of steps, literals, macro actions and classes are each relative to one another; a
    kind with weight 0 does not occur. The default mix is a choice, not a measurement.

    Args:
        error: Probability that a step, literal, macro action or selected class is corrupted.
        improve: Probability that feedback undoes an error.
        chatty: Probability of an answer with chat and an unusual layout.
        length: Relative increase of the error probability per preceding step in the same answer:
            0.05 doubles it at step 21.
        slip: Factor on the error probability of steps rewritten in a correction, 0 to 1. A high
            value makes long answers hard to correct.
        steps: Factor on `error` for steps, 0 to 1.
        conditions: Factor on `error` for literals of conditions.
        macros: Factor on `error` for macro actions.
        choices: Factor on `error` for selected classes.
        dropped: Weight of a missing step other than navigation.
        swapped: Weight of two swapped steps.
        wrong_object: Weight of an argument replaced by another listed object.
        hallucinated_object: Weight of an argument replaced by an unlisted object.
        hallucinated_action: Weight of an action that does not exist.
        missing_navigation: Weight of a missing navigation step.
        superfluous: Weight of a redundant step inserted before the step.
        literal_dropped: Weight of a missing literal.
        literal_negated: Weight of a literal with the opposite sign.
        literal_wrong_object: Weight of an argument of a literal replaced by another listed object.
        literal_unknown_predicate: Weight of a predicate that does not exist.
        macro_swapped: Weight of two swapped macro actions.
        macro_dropped: Weight of a missing macro action.
        class_dropped: Weight of a needed class that is not selected.
        class_surplus: Weight of an unneeded class that is also selected.

    Raises:
        UsageError: A value is out of range.
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
                raise UsageError(f"scripted: {f.name} must be from 0 to 1, got {value:g}")
            if not (math.isfinite(value) and value >= 0):
                raise UsageError(f"scripted: the weight {f.name} must be at least 0, got {value:g}")

    def rate(self, number: int) -> float:
        """Return the error probability of a step after a number of preceding steps."""
        rate = self.error * self.steps
        return min(rate * (1 + self.length * number), max(rate, MAX_RATE))

    def kind(self, possible: Collection[str], rng: Random) -> str | None:
        """Draw one of the possible kinds by weight; None if all weights are 0."""
        weights = [(name, getattr(self, name)) for name in possible]
        rest = rng.random() * math.fsum(w for _, w in weights)
        for name, weight in weights:
            if weight > 0 and rest < weight:
                return name
            rest -= weight
        # Rounding may leave a remainder after the last kind.
        return next((name for name, weight in reversed(weights) if weight > 0), None)

    def __str__(self) -> str:
        """Return `error=0.3, improve=0.7` followed by all values that are not defaults."""
        shown = (
            f"{f.name}={getattr(self, f.name):g}"
            for f in fields(self)
            if f.name in PROBABILITIES[:2] or getattr(self, f.name) != f.default
        )
        return ", ".join(shown)


def read_spec(spec: str) -> tuple[ErrorModel, int | None]:
    """Parse a specification such as `scripted:error=0.3,improve=0.7`.

    Args:
        spec: `scripted`, optionally followed by a colon and parameters of `ErrorModel` and `seed`.

    Returns:
        The error model, and the seed if given.

    Raises:
        UsageError: The specification is invalid.
    """
    prefix, _, rest = spec.partition(":")
    if prefix != "scripted":
        raise UsageError(
            f"{spec!r} is not a simulated model such as scripted:error=0.1,improve=0.7"
        )
    known = [f.name for f in fields(ErrorModel)]
    values: dict[str, float] = {}
    seed: int | None = None
    for part in filter(None, (p.strip() for p in rest.split(","))):
        name, equals, text = (t.strip() for t in part.partition("="))
        if not equals or name not in (*known, "seed"):
            raise UsageError(
                f"{spec!r}: {part!r} is not a parameter of scripted (parameters: "
                f"{', '.join(known)}, seed; each as name=number)"
            )
        if name in values or (name == "seed" and seed is not None):
            raise UsageError(f"{spec!r}: duplicate parameter {name}")
        try:
            if name == "seed":
                seed = int(text)
            else:
                values[name] = float(text)
        except ValueError:
            what = "a whole number" if name == "seed" else "a number"
            raise UsageError(f"{spec!r}: {name} must be {what}, got {text!r}") from None
    return ErrorModel(**values), seed
