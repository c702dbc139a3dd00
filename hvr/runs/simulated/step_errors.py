"""Errors in sequences of atomic actions and in conditions, and their correction."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from random import Random

from hvr.knowledge.wording import load_action_annotations
from hvr.pddl import GroundAction, Task
from hvr.policies.llm.answers import read_conditions
from hvr.runs.simulated.error_model import CONDITION_KINDS, STEP_KINDS, ErrorModel
from hvr.runs.simulated.prompt import PromptObjects

# Step errors --------------------------------------------------------------------------------------


Steps = tuple[GroundAction, ...]
Streams = Callable[[str], Random]
"""Random number generators by label; a label always gives the same numbers."""

_NO_ACTIONS = ("grab_with_both_hands", "wait_for", "wipe_obj", "stir", "check_obj", "push_obj")


@dataclass(frozen=True)
class StepErrors:
    """Makes errors in sequences of actions; `walks` if moves are separate steps."""

    model: ErrorModel
    objects: PromptObjects
    walks: bool = True

    def corrupt(
        self, steps: Sequence[GroundAction], streams: Streams, factor: float = 1.0, before: int = 0
    ) -> Steps:
        """Corrupt each step with the model's probability times `factor`.

        Args:
            steps: Intended steps.
            before: Number of preceding steps in the same answer.
        """
        kinds: dict[int, str] = {}
        rngs = [streams(f"step {number}") for number in range(len(steps))]
        for number, rng in enumerate(rngs):
            # Drawn even without an error, so that other rates use the same random numbers.
            wrong = rng.random() < self.model.rate(before + number) * factor
            kind = self.model.kind(possible_errors(steps, number), rng)
            if wrong and kind is not None:
                kinds[number] = kind
        return self._with(steps, kinds, rngs)

    def one_more(self, steps: Sequence[GroundAction], rng: Random) -> Steps:
        """Make exactly one more error somewhere."""
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
    """Return whether a step is a move."""
    return step.name in load_action_annotations().walks


def possible_errors(steps: Sequence[GroundAction], number: int) -> list[str]:
    """Return the kinds of errors that apply to a step."""
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
    """A segment of equal or differing steps in the alignment of block and ground truth.

    Args:
        start: 0-based index of the first written step.
        written: Written steps; may be empty.
        true: True steps in their place; may be empty.
        differs: Whether the two parts differ.
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
        """Return whether the redundant steps of one part are the missing steps of the other."""
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

    Preference goes to the earliest missing step that establishes the required condition, then to
    the earliest error. Steps added to establish another condition stay as long as there is another
    error: they answered earlier feedback. A moved step is a single error. Navigation is corrected
    in passing, since the verifier inserts and removes it by itself. Without errors up to the failed
    step nothing is undone.

    Args:
        true: The correct block, with the names that the model knows.
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
    """Return the 1-based index of the failed step; None if only the final state is wrong."""
    first = problem.strip().split("\n", 1)[0]
    match = None if first.lower().startswith("at the end") else _STEP.search(first)
    return int(match[1]) if match else None


def _parts(
    written: Sequence[GroundAction],
    true: Sequence[GroundAction],
    objects: PromptObjects,
    failed: int,
) -> list[_Part]:
    """Align written and true steps; the failed step is compared literally."""
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
    """Return the true step behind a step with a guessed object name.

    The mapper may have replaced the guess by an existing object.
    """
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
# A failed earlier block leaves a different state: no knife in the hand, a door still closed. On
# such feedback a planner fetches the knife; the simulated one adds the ground truth's steps that
# establish the condition.

Providers = Mapping[str, tuple[Steps, ...]]
"""For each literal, the step sequences of the ground truth that establish it, in order."""

_WANTED = re.compile(r"(\([a-z_]+(?: [\w-]+)*\)) must be (true|false)")
_MADE_BY = re.compile(r" made (?:true|false) by step \d+ \((?:\S+) ([\w-]+)")


def providers_of(task: Task, steps: Sequence[GroundAction]) -> Providers:
    """Return the step sequences of a valid plan that establish each literal."""
    providers: dict[str, list[Steps]] = {}
    bits = task.initial.bits
    walk: list[GroundAction] = []
    for step in steps:
        # A step comes with the move before it.
        walk = [step] if is_walk(step) else [*walk[:1], step]
        following = task.ground(step).apply(bits)
        gained = [str(a) for a in task.atoms_in(following & ~bits)]
        lost = [f"(not {a})" for a in task.atoms_in(bits & ~following)]
        for literal in (*gained, *lost):
            providers.setdefault(literal, []).append(tuple(walk))
        bits = following
    return {literal: tuple(ways) for literal, ways in providers.items()}


def helpful_steps(problem: str, providers: Providers) -> tuple[GroundAction, ...]:
    """Return the ground truth's steps that establish a condition named in a problem."""
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
    """Return the block with steps for the first missing condition before the failed step.

    Args:
        failed: 1-based index of the failed step.
        problem: The validator's message.
        providers: Steps of the ground truth by literal.
        held: Objects in the robot's hand according to the prompt.

    Returns:
        The new block; None if the ground truth establishes no condition.
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
    """A PDDL literal."""

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
    """Parse PDDL literals."""
    parsed = []
    for text in texts:
        positive = not text.startswith("(not ")
        words = re.findall(r"[^\s()]+", text.removeprefix("(not "))
        parsed.append(Literal(words[0], tuple(words[1:]), positive))
    return tuple(parsed)


def known_literals(
    side: Iterable[Literal], named: frozenset[str], objects: PromptObjects
) -> tuple[Literal, ...]:
    """Return the literals that the model can write: about `named` or prompted objects."""
    spoken = (x for x in side if all(objects.knows(a) or a in named for a in x.args))
    return tuple(dict.fromkeys(replace(x, args=objects.names_of(x.args)) for x in spoken))


def read_corrected_conditions(text: str, count: int) -> tuple[Sides, ...]:
    """Return the conditions in a correction prompt."""
    return tuple(
        (
            tuple(Literal(x.predicate, x.args, x.positive) for x in conditions.precondition),
            tuple(Literal(x.predicate, x.args, x.positive) for x in conditions.postcondition),
        )
        for conditions in read_conditions(text, count)
    )


@dataclass(frozen=True)
class ConditionErrors:
    """Makes errors in conditions."""

    model: ErrorModel
    objects: PromptObjects

    def corrupt(self, sides: Sequence[Sides], streams: Streams) -> tuple[Sides, ...]:
        """Corrupt each literal with the model's probability."""
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
        """Make exactly one more error somewhere."""
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
    """Return the validator's messages on each macro action; the whole text if it names none."""
    lines = [line for line in text.splitlines() if line.startswith("macro action ")]
    return lines or [text]


def undo_conditions(
    written: Sequence[Sides], true: Sequence[Sides], problem: str
) -> tuple[Sides, ...]:
    """Undo the earliest error that explains a problem.

    This is the first difference, up to the macro action in the message, that concerns an atom in
    the message; otherwise the first difference up to there; otherwise the first of all. If the
    message names no macro action, all differences are undone.
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
    """Correct the literals of one atom, and restore the order of correct literals."""
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
