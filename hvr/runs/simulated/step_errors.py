"""Errors in sequences of actions and in conditions, and their correction."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import SequenceMatcher
from random import Random

from hvr.errors import UsageError
from hvr.knowledge.wording import load_action_annotations
from hvr.pddl import GroundAction, Task
from hvr.policies.llm.answers import read_conditions
from hvr.runs.simulated.prompt import PromptObjects

# Error model --------------------------------------------------------------------------------------
# Error rates and kinds of errors of the simulated model.

PROBABILITIES = ("error", "improve", "chatty", "steps", "conditions", "macros", "choices", "slip")
MAX_RATE = 0.95
"""Maximum error probability of late steps in a long answer."""
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

    The weights of steps, literals, macro actions and classes each form a group, within which only
    their ratios matter. An error with weight 0 does not occur. The default weights are a choice,
    not a measurement.

    Args:
        error: Probability that a step, literal, macro action or selected class is corrupted.
        improve: Probability that feedback undoes an error.
        chatty: Probability of an answer with chat and an unusual layout.
        length: Relative increase of the error probability per preceding step in the same answer:
            0.05 doubles it at step 21.
        slip: Factor from 0 to 1 on the error probability of steps rewritten in a correction. A high
            value makes long answers hard to correct.
        steps: Factor on `error` for steps, from 0 to 1.
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
        class_surplus: Weight of an unneeded class that is selected as well.
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
        """Return the error probability of a step after `number` preceding steps."""
        rate = self.error * self.steps
        return min(rate * (1 + self.length * number), max(rate, MAX_RATE))

    def kind(self, possible: Collection[str], rng: Random) -> str | None:
        """Draw one of the possible kinds of errors by weight; return None if all weights are 0."""
        weights = [(name, getattr(self, name)) for name in possible]
        rest = rng.random() * math.fsum(w for _, w in weights)
        for name, weight in weights:
            if weight > 0 and rest < weight:
                return name
            rest -= weight
        # Rounding may leave a remainder after the last kind.
        return next((name for name, weight in reversed(weights) if weight > 0), None)

    def __str__(self) -> str:
        """Return `error=0.3, improve=0.7`, followed by all values other than the defaults."""
        shown = (
            f"{f.name}={getattr(self, f.name):g}"
            for f in fields(self)
            if f.name in PROBABILITIES[:2] or getattr(self, f.name) != f.default
        )
        return ", ".join(shown)


def read_spec(spec: str) -> tuple[ErrorModel, int | None]:
    """Parse a specification such as `scripted:error=0.3,improve=0.7`.

    Returns:
        The error model, and the seed or None.

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


# Step errors --------------------------------------------------------------------------------------


Steps = tuple[GroundAction, ...]
Streams = Callable[[str], Random]
"""Returns a random number generator for a label; equal labels give equal numbers."""

_NO_ACTIONS = ("grab_with_both_hands", "wait_for", "wipe_obj", "stir", "check_obj", "push_obj")


@dataclass(frozen=True)
class StepErrors:
    """Injects a model's errors into action sequences.

    Args:
        walks: Whether moves are separate steps.
    """

    model: ErrorModel
    objects: PromptObjects
    walks: bool = True

    def corrupt(
        self, steps: Sequence[GroundAction], streams: Streams, factor: float = 1.0, before: int = 0
    ) -> Steps:
        """Corrupt each step with `factor` times its error probability; `before` steps precede."""
        kinds: dict[int, str] = {}
        rngs = [streams(f"step {number}") for number in range(len(steps))]
        for number, rng in enumerate(rngs):
            # Drawn even if there is no error, so that other rates use the same random numbers.
            wrong = rng.random() < self.model.rate(before + number) * factor
            kind = self.model.kind(possible_errors(steps, number), rng)
            if wrong and kind is not None:
                kinds[number] = kind
        return self._with(steps, kinds, rngs)

    def one_more(self, steps: Sequence[GroundAction], rng: Random) -> Steps:
        """Insert one error at a random step, unless all possible kinds of errors have weight 0."""
        if not steps:
            return ()
        number = rng.randrange(len(steps))
        kind = self.model.kind(possible_errors(steps, number), rng)
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
        yield step
        if not self.walks:
            return
        for thing in self.objects.listed:
            for name, need in load_action_annotations().idle:
                other = GroundAction(name, (thing.name,))
                same = other == step if not need else step.args[:1] == other.args
                if not same and (not need or need in thing.uses):
                    yield other


def is_walk(step: GroundAction) -> bool:
    return step.name in load_action_annotations().walks


def possible_errors(steps: Sequence[GroundAction], number: int) -> list[str]:
    """Return the kinds of errors that can occur at the step with index `number`."""
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


# Correction ---------------------------------------------------------------------------------------

_STEP = re.compile(r"(?<!after )\b(?:step|line|action) (\d+)\b", re.IGNORECASE)


@dataclass(frozen=True)
class _Part:
    """Consecutive steps of a block that all match the ground truth or all differ from it.

    Args:
        start: 0-based index of the first written step.
        true: Ground-truth steps aligned with the written ones; may be empty.
    """

    start: int
    written: Steps
    true: Steps
    differs: bool

    @property
    def walks(self) -> bool:
        return all(map(is_walk, (*self.written, *self.true)))

    @property
    def is_added(self) -> bool:
        return not self.true and not self.walks

    def moved_to(self, other: _Part) -> bool:
        one_sided = not (self.written and self.true)
        return one_sided and (self.written, self.true) == (other.true, other.written)


def undo_step_error(
    written: Sequence[GroundAction],
    true: Sequence[GroundAction],
    problem: str,
    objects: PromptObjects,
    helpful: Container[GroundAction] = (),
) -> Steps:
    """Undo one error at or before the failed step, or all errors if no step failed.

    The earliest missing step that establishes the required condition is restored first, then the
    earliest error is undone. Steps added after earlier feedback stay as long as another error
    exists. A moved step is a single error. Navigation is corrected too, since the verifier inserts
    and removes it by itself. If there is no error up to the failed step, nothing changes.

    Args:
        true: The correct block, with the object names that the model knows.
        problem: The validator's message, whose first line names the step.
        helpful: Steps that establish the condition in the message.
    """
    failed = failed_step(problem)
    if failed is None:
        return tuple(true)
    parts = _parts(written, true, objects, failed)
    differences = [place for place, part in enumerate(parts) if part.differs]
    before = [place for place in differences if parts[place].start < failed]
    helps = [p for p in before if any(step in helpful for step in parts[p].true)]
    before.sort(key=lambda p: (p not in helps, parts[p].is_added))
    chosen: set[int] = set()
    # Continue until the correction is more than navigation.
    for place in before:
        chosen.add(place)
        chosen |= {p for p in differences if parts[place].moved_to(parts[p])}
        if not all(parts[p].walks for p in chosen):
            break
    chunks = (p.true if place in chosen else p.written for place, p in enumerate(parts))
    return tuple(step for chunk in chunks for step in chunk)


def failed_step(problem: str) -> int | None:
    """Return the 1-based number of the failed step; None if only the final state is wrong."""
    first = problem.strip().split("\n", 1)[0]
    match = None if first.lower().startswith("at the end") else _STEP.search(first)
    return int(match[1]) if match else None


def _parts(
    written: Sequence[GroundAction],
    true: Sequence[GroundAction],
    objects: PromptObjects,
    failed: int,
) -> list[_Part]:
    mine = [
        step if number == failed else _meant(step, true, objects)
        for number, step in enumerate(written, start=1)
    ]
    codes = SequenceMatcher(None, mine, list(true), autojunk=False).get_opcodes()
    return [
        _Part(i, tuple(written[i:k]), tuple(true[j:m]), tag != "equal") for tag, i, k, j, m in codes
    ]


def _meant(
    step: GroundAction, true: Sequence[GroundAction], objects: PromptObjects
) -> GroundAction:
    """Return the true step for which a written step stands, if it contains a guessed name."""
    # The mapper may have replaced the guess by an existing object.
    if step in true:
        return step
    for other in true:
        same = (other.name, len(other.args)) == (step.name, len(step.args))
        if same and all(
            a == b or not objects.knows(b) for a, b in zip(step.args, other.args, strict=True)
        ):
            return other
    return step


# Adaptation ---------------------------------------------------------------------------------------
# A failed earlier block leaves a different state: no knife in the hand, a door still closed. Given
# this feedback, a planner fetches the knife. The simulated one adds the ground truth's steps that
# establish the condition.

Providers = Mapping[str, tuple[Steps, ...]]
"""For each literal, the sequences of ground-truth steps that establish it, in order."""

_WANTED = re.compile(r"(\([a-z_]+(?: [\w-]+)*\)) must be (true|false)")
_MADE_BY = re.compile(r" made (?:true|false) by step \d+ \((?:\S+) ([\w-]+)")


def providers_of(task: Task, steps: Sequence[GroundAction]) -> Providers:
    """Return the sequences of steps of a valid plan that establish each literal."""
    providers: dict[str, list[Steps]] = {}
    bits = task.initial.bits
    walk: list[GroundAction] = []
    for step in steps:
        # include the move before each step
        walk = [step] if is_walk(step) else [*walk[:1], step]
        following = task.ground(step).apply(bits)
        gained = [str(a) for a in task.atoms_in(following & ~bits)]
        lost = [f"(not {a})" for a in task.atoms_in(bits & ~following)]
        for literal in (*gained, *lost):
            providers.setdefault(literal, []).append(tuple(walk))
        bits = following
    return {literal: tuple(ways) for literal, ways in providers.items()}


def helpful_steps(problem: str, providers: Providers) -> tuple[GroundAction, ...]:
    """Return the ground-truth steps that establish a condition named in the message."""
    return tuple(
        way[-1]
        for literal, value in _WANTED.findall(problem)
        for way in providers.get(literal if value == "true" else f"(not {literal})", ())
    )


def adapted(
    written: Sequence[GroundAction],
    failed: int,
    problem: str,
    providers: Providers,
    held: Iterable[str],
) -> Steps | None:
    """Insert steps for the first missing condition before the failed step.

    Args:
        failed: 1-based number of the failed step.
        providers: Steps of the ground truth by literal.
        held: Objects in the robot's hand according to the prompt.

    Returns:
        The new block; None if the ground truth does not establish the condition, or no written
            step has the number `failed`.
    """
    if not 1 <= failed <= len(written):
        return None
    maker = _MADE_BY.search(problem)
    hands = {*held, *([maker[1]] if maker else [])}
    for literal, value in _WANTED.findall(problem):
        ways = providers.get(literal if value == "true" else f"(not {literal})", ())
        ways = tuple(way for way in ways if written[failed - 1] not in way)
        if not ways:
            continue
        # To empty the hand, prefer the steps that put down the held object.
        way = next((w for w in ways if w[-1].args[0] in hands), ways[0])
        return (*written[: failed - 1], *way, *written[failed - 1 :])
    return None


# Condition errors ---------------------------------------------------------------------------------

_NO_PREDICATES = ("grasped", "is_ready", "at_location", "accessible", "robot_free", "prepared")
_SIDES = (0, 1)


@dataclass(frozen=True)
class Literal:
    """A PDDL literal: an atom or its negation."""

    predicate: str
    args: tuple[str, ...]
    positive: bool = True

    @property
    def atom(self) -> str:
        return f"({' '.join((self.predicate, *self.args))})"

    def __str__(self) -> str:
        return self.atom if self.positive else f"(not {self.atom})"


Sides = tuple[tuple[Literal, ...], tuple[Literal, ...]]
"""Preconditions and postconditions."""


def literals(texts: Iterable[str]) -> tuple[Literal, ...]:
    parsed = []
    for text in texts:
        positive = not text.startswith("(not ")
        words = re.findall(r"[^\s()]+", text.removeprefix("(not "))
        parsed.append(Literal(words[0], tuple(words[1:]), positive))
    return tuple(parsed)


def known_literals(
    side: Iterable[Literal], named: frozenset[str], objects: PromptObjects
) -> tuple[Literal, ...]:
    """Return the literals about objects that are in `named` or mentioned in the prompt."""
    spoken = (x for x in side if all(objects.knows(a) or a in named for a in x.args))
    return tuple(dict.fromkeys(replace(x, args=objects.names_of(x.args)) for x in spoken))


def read_corrected_conditions(text: str, count: int) -> tuple[Sides, ...]:
    return tuple(
        (
            tuple(Literal(x.predicate, x.args, x.positive) for x in conditions.precondition),
            tuple(Literal(x.predicate, x.args, x.positive) for x in conditions.postcondition),
        )
        for conditions in read_conditions(text, count)
    )


@dataclass(frozen=True)
class ConditionErrors:
    model: ErrorModel
    objects: PromptObjects

    def corrupt(self, sides: Sequence[Sides], streams: Streams) -> tuple[Sides, ...]:
        rate = self.model.error * self.model.conditions
        result = []
        for number, pair in enumerate(sides):
            written = []
            for side in _SIDES:
                kept: list[Literal] = []
                for place, literal in enumerate(pair[side]):
                    rng = streams(f"literal {number} {side} {place}")
                    wrong = rng.random() < rate
                    kept += self._written(literal, rng) if wrong else (literal,)
                written.append(tuple(dict.fromkeys(kept)))
            result.append((written[0], written[1]))
        return tuple(result)

    def one_more(self, sides: Sequence[Sides], rng: Random) -> tuple[Sides, ...]:
        places = [(n, s, p) for n, x in enumerate(sides) for s in _SIDES for p in range(len(x[s]))]
        if not places:
            return tuple(sides)
        number, side, place = rng.choice(places)
        old = sides[number][side]
        new = (*old[:place], *self._written(old[place], rng), *old[place + 1 :])
        return _with_side(sides, number, side, tuple(dict.fromkeys(new)))

    def _written(self, literal: Literal, rng: Random) -> tuple[Literal, ...]:
        kinds = [k for k in CONDITION_KINDS if literal.args or k != "literal_wrong_object"]
        match self.model.kind(kinds, rng):
            case "literal_dropped":
                return ()
            case "literal_negated":
                return (replace(literal, positive=not literal.positive),)
            case "literal_wrong_object":
                place = rng.randrange(len(literal.args))
                name = self.objects.confused(literal.args[place], literal.predicate, place, rng)
                args = (*literal.args[:place], name, *literal.args[place + 1 :])
                return (replace(literal, args=args),)
            case "literal_unknown_predicate":
                return (replace(literal, predicate=rng.choice(_NO_PREDICATES)),)
        return (literal,)


def reported_problems(text: str) -> list[str]:
    """Return the messages about each macro action, or all messages if they name none."""
    lines = [line for line in text.splitlines() if line.startswith("macro action ")]
    return lines or [text]


def undo_conditions(
    written: Sequence[Sides], true: Sequence[Sides], problem: str
) -> tuple[Sides, ...]:
    """Undo the error that most likely caused a reported problem.

    That is the first difference, up to the macro action named in the message, that concerns an atom
    named in the message; failing that, the first difference up to this macro action; failing that,
    the first difference of all. If the message names no macro action, all differences are undone.
    """
    named = re.search(r"macro action (\d+)", problem, re.IGNORECASE)
    if named is None:
        return tuple(true)
    last = int(named[1]) - 1
    differences = list(_differences(written, true))
    before = [d for d in differences if d[0] <= last]
    telling = [d for d in before if d[2] in problem]
    for number, side, atom in (telling or before or differences)[:1]:
        return _set(written, true, number, side, atom)
    return tuple(written)


def _differences(written: Sequence[Sides], true: Sequence[Sides]) -> Iterable[tuple[int, int, str]]:
    for number, (mine, yours) in enumerate(zip(written, true, strict=True)):
        for side in _SIDES:
            for atom in dict.fromkeys(x.atom for x in (*mine[side], *yours[side])):
                if _signs(mine[side], atom) != _signs(yours[side], atom):
                    yield number, side, atom


def _signs(side: Iterable[Literal], atom: str) -> set[bool]:
    return {x.positive for x in side if x.atom == atom}


def _set(
    written: Sequence[Sides], true: Sequence[Sides], number: int, side: int, atom: str
) -> tuple[Sides, ...]:
    right = [x for x in true[number][side] if x.atom == atom]
    others = [x for x in written[number][side] if x.atom != atom]
    order = {x: place for place, x in enumerate(true[number][side])}
    new = sorted([*others, *right], key=lambda x: order.get(x, len(order)))
    return _with_side(written, number, side, tuple(new))


def _with_side(
    sides: Sequence[Sides], number: int, side: int, new: tuple[Literal, ...]
) -> tuple[Sides, ...]:
    pair = (new, sides[number][1]) if side == 0 else (sides[number][0], new)
    return (*sides[:number], pair, *sides[number + 1 :])
