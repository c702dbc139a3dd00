"""Compare hvr with VAL on random plans: python benchmarks/random_plans.py --kind timed --count 1000

    VAL=/path/to/Validate python benchmarks/random_plans.py --kind sequence --count 10000 --seed 1

The script generates small domains, problems and plans with typed parameters, negative, disjunctive
and quantified conditions, conditional and universal effects, numbers and derived predicates. Timed
plans also have durative actions, conditional effects that span start and end, timed initial
literals, and many simultaneous steps. `--kind numbers` adds durations that depend on numbers, timed
values, preferences, and steps within epsilon of each other. The script prints the number of equal
verdicts, and each difference with the known reason for its class (`EXPLAINED`). The exit code is 1
if a difference has no known reason.

`--folder DIR` saves the files of every difference; `--record FILE` writes every case with VAL's
verdict as JSON Lines.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

from conditions import conditions

from hvr.pddl import (
    TRUE,
    And,
    Atom,
    Expression,
    Forall,
    Not,
    State,
    Task,
    Timed,
    When,
    parse_domain,
    parse_problem,
)
from hvr.validation import FailureKind, ValidationReport, Validator, temporal
from hvr.validation.happenings import Access, StepParts, TimedEvent, _Reader, access, interferences
from hvr.validation.temporal import TemporalRun

TYPES = ("red", "blue")
ATOMS = (("p", ()), ("q", ()), ("r", ()), ("s", ("red",)), ("t", ("blue",)), ("u", ("red", "blue")))
NUMBERS = (("f", ()), ("g", ("red",)))
OBJECTS = {"red": ("r1", "r2"), "blue": ("b1", "b2")}
HALVES = ("0.5", "1.5", "2.5", "3.5")
"""Bounds of comparisons: values are whole, so VAL's tolerance never decides."""


@dataclass(frozen=True)
class Case:
    domain: str
    problem: str
    plan: str


class Drawn:
    def __init__(self, rng: random.Random, timed: bool) -> None:
        self.rng, self.timed = rng, timed
        self.derived = rng.random() < 0.25

    def case(self) -> Case:
        rng = self.rng
        schemas = [self.action(f"act{n}") for n in range(rng.randint(1, 3))]
        if self.timed:
            schemas += [self.durative(f"dur{n}") for n in range(rng.randint(1, 3))]
        domain = "\n".join(
            [
                "(define (domain random)",
                "(:requirements :adl :fluents :durative-actions :timed-initial-literals"
                " :derived-predicates :negative-preconditions)",
                "(:types red blue - object)",
                f"(:constants {constants()})",
                f"(:predicates {' '.join(declared(n, t) for n, t in ATOMS)}"
                f"{' (d ?x - red)' if self.derived else ''})",
                f"(:functions {' '.join(declared(n, t) for n, t in NUMBERS)})",
                self.rule() if self.derived else "",
                *(schema.text for schema in schemas),
                ")",
            ]
        )
        facts = [atom for atom in every_atom() if rng.random() < 0.5]
        values = [f"(= {term} {rng.randint(0, 4)})" for term in every_number()]
        literals = self.timed_literals() if self.timed else []
        goal = self.condition((), 1)
        problem = (
            f"(define (problem one) (:domain random)\n"
            f"(:init {' '.join((*facts, *values, *literals))})\n(:goal {goal}))"
        )
        return Case(domain, problem, self.plan(schemas))

    def rule(self) -> str:
        body = self.condition((("?x", "red"),), 1, derived=False, numbers=False)
        return f"(:derived (d ?x - red) {body})"

    def timed_literals(self) -> list[str]:
        rng = self.rng
        found: dict[tuple[int, str], str] = {}
        for _ in range(rng.choice((0, 0, 1, 2))):
            time, atom = rng.randint(1, 5), rng.choice(every_atom())
            found[time, atom] = atom if rng.random() < 0.5 else f"(not {atom})"
        return [f"(at {time} {literal})" for (time, _), literal in found.items()]

    # Conditions and effects -----------------------------------------------------------------

    def term(self, kinds: tuple[str, ...], scope: tuple[tuple[str, str], ...]) -> str:
        names = []
        for kind in kinds:
            fitting = [name for name, own in scope if own == kind] * 3 + list(OBJECTS[kind])
            names.append(self.rng.choice(fitting))
        return "".join(f" {name}" for name in names)

    def atom(self, scope: tuple[tuple[str, str], ...], *, derived: bool = False) -> str:
        name, kinds = self.rng.choice((*ATOMS, *((("d", ("red",)),) if derived else ())))
        return f"({name}{self.term(kinds, scope)})"

    def number(self, scope: tuple[tuple[str, str], ...]) -> str:
        name, kinds = self.rng.choice(NUMBERS)
        return f"({name}{self.term(kinds, scope)})"

    def condition(
        self,
        scope: tuple[tuple[str, str], ...],
        depth: int,
        *,
        derived: bool | None = None,
        numbers: bool = True,
    ) -> str:
        rng = self.rng
        derived = self.derived if derived is None else derived

        def inner(more: tuple[tuple[str, str], ...] = ()) -> str:
            return self.condition((*scope, *more), depth - 1, derived=derived, numbers=numbers)

        choice = rng.random()
        if depth > 0 and choice < 0.35:
            return f"(and {' '.join(inner() for _ in range(rng.randint(1, 3)))})"
        if depth > 0 and choice < 0.45:
            return f"(or {inner()} {inner()})"
        if depth > 0 and choice < 0.5:
            return f"(imply {inner()} {inner()})"
        if depth > 0 and choice < 0.58:
            kind = rng.choice(TYPES)
            variable = f"?v{len(scope)}"
            quantifier = rng.choice(("forall", "exists"))
            return f"({quantifier} ({variable} - {kind}) {inner(((variable, kind),))})"
        if numbers and choice < 0.68:
            return (
                f"({rng.choice(('<', '<=', '>', '>='))} {self.number(scope)} {rng.choice(HALVES)})"
            )
        if choice < 0.8:
            return f"(not {self.atom(scope)})"
        return self.atom(scope, derived=derived)

    def change(self, scope: tuple[tuple[str, str], ...]) -> str:
        rng = self.rng
        choice = rng.random()
        if choice < 0.2:
            operator = rng.choice(("increase", "decrease", "assign"))
            amount = rng.choice(("1", "2", self.number(scope)))
            return f"({operator} {self.number(scope)} {amount})"
        return self.atom(scope) if choice < 0.65 else f"(not {self.atom(scope)})"

    def effects(self, scope: tuple[tuple[str, str], ...]) -> list[str]:
        rng = self.rng
        found = []
        for _ in range(rng.randint(1, 3)):
            choice = rng.random()
            if choice < 0.25:
                found.append(f"(when {self.condition(scope, 1)} {self.change(scope)})")
            elif choice < 0.35:
                kind = rng.choice(TYPES)
                more = (*scope, ("?w", kind))
                body = self.change(more)
                if rng.random() < 0.5:
                    body = f"(when {self.condition(more, 0)} {body})"
                found.append(f"(forall (?w - {kind}) {body})")
            else:
                found.append(self.change(scope))
        return found

    def parameters(self) -> tuple[tuple[str, str], ...]:
        kinds = [self.rng.choice(TYPES) for _ in range(self.rng.randint(0, 2))]
        return tuple((f"?x{n}", kind) for n, kind in enumerate(kinds))

    def action(self, name: str) -> Schema:
        scope = self.parameters()
        text = (
            f"(:action {name} :parameters ({typed(scope)})\n"
            f"  :precondition {self.condition(scope, 2)}\n"
            f"  :effect (and {' '.join(self.effects(scope))}))"
        )
        return Schema(name, tuple(kind for _, kind in scope), text, None)

    def durative(self, name: str) -> Schema:
        rng = self.rng
        scope = self.parameters()
        duration = rng.choice((1, 2, 3))
        wanted = [f"({when} {self.condition(scope, 1)})" for when in self.times()]
        wanted += self.preferred(scope)
        effects = self.lasting(scope)
        for when in ("at start", "at end"):
            if rng.random() < 0.75:
                effects += [f"({when} {self.change(scope)})" for _ in range(rng.randint(1, 2))]
            if rng.random() < 0.3:
                condition, change = self.condition(scope, 0), self.change(scope)
                effects.append(f"(when ({when} {condition}) ({when} {change}))")
        if rng.random() < 0.4:
            parts = [f"({when} {self.condition(scope, 0)})" for when in self.times(least=1)]
            effects.append(f"(when (and {' '.join(parts)}) (at end {self.change(scope)}))")
        text = (
            f"(:durative-action {name} :parameters ({typed(scope)})\n"
            f"  :duration {self.bounds(duration, scope)}\n"
            f"  :condition (and {' '.join(wanted)})\n"
            f"  :effect (and {' '.join(effects)}))"
        )
        return Schema(name, tuple(kind for _, kind in scope), text, duration)

    def bounds(self, duration: int, _: tuple[tuple[str, str], ...]) -> str:
        return f"(= ?duration {duration})"

    def lasting(self, _: tuple[tuple[str, str], ...]) -> list[str]:
        return []

    def preferred(self, _: tuple[tuple[str, str], ...]) -> list[str]:
        return []

    def start(self) -> str:
        return f"{self.rng.randint(1, 3)}.0"

    def times(self, least: int = 0) -> list[str]:
        count = self.rng.randint(least, 2)
        return self.rng.sample(("at start", "over all", "at end"), count)

    # Plans ----------------------------------------------------------------------------------

    def plan(self, schemas: list[Schema]) -> str:
        rng = self.rng
        lines = []
        for _ in range(rng.randint(2, 8)):
            schema = rng.choice(schemas)
            args = "".join(f" {rng.choice(OBJECTS[kind])}" for kind in schema.kinds)
            step = f"({schema.name}{args})"
            if self.timed:
                step = f"{self.start()}: {step}"
                step += f" [{schema.duration}]" if schema.duration else ""
            lines.append(step)
        # No step twice at the same time: VAL counts it once.
        return "\n".join(dict.fromkeys(lines))


class DrawnWithNumbers(Drawn):
    """Generates a temporal case with more timing and numbers.

    Durations depend on numbers, effects read durations, numbers get timed values, conditions have
    preferences, and steps lie within epsilon of each other.
    """

    def bounds(self, duration: int, scope: tuple[tuple[str, str], ...]) -> str:
        rng = self.rng
        if rng.random() < 0.4:
            return super().bounds(duration, scope)
        bound = f"({rng.choice(('<=', '>='))} ?duration {self.number(scope)})"
        if rng.random() < 0.3:
            bound = f"(at {rng.choice(('start', 'end'))} {bound})"
        return f"(and (>= ?duration 1) {bound})" if rng.random() < 0.5 else bound

    def lasting(self, scope: tuple[tuple[str, str], ...]) -> list[str]:
        if self.rng.random() < 0.6:
            return []
        when = self.rng.choice(("at start", "at end"))
        operator = self.rng.choice(("increase", "assign"))
        return [f"({when} ({operator} {self.number(scope)} ?duration))"]

    def preferred(self, scope: tuple[tuple[str, str], ...]) -> list[str]:
        if self.rng.random() < 0.7:
            return []
        when = self.rng.choice(("at start", "over all", "at end"))
        return [f"(preference wish ({when} {self.condition(scope, 0)}))"]

    def start(self) -> str:
        fraction = self.rng.choice(("0", "0", "0", "0", "0005", "002"))
        return f"{self.rng.randint(1, 3)}.{fraction}"

    def timed_literals(self) -> list[str]:
        rng = self.rng
        found = {
            (rng.randint(1, 5), rng.choice(every_number())): rng.randint(0, 4)
            for _ in range(rng.choice((0, 1, 2)))
        }
        values = [f"(at {time} (= {term} {value}))" for (time, term), value in found.items()]
        return super().timed_literals() + values


@dataclass(frozen=True)
class Schema:
    """An action schema; `kinds` are the types of its parameters, `duration` is None without one."""

    name: str
    kinds: tuple[str, ...]
    text: str
    duration: int | None


def declared(name: str, kinds: tuple[str, ...]) -> str:
    return f"({name}{''.join(f' ?a{n} - {kind}' for n, kind in enumerate(kinds))})"


def constants() -> str:
    return " ".join(f"{' '.join(names)} - {kind}" for kind, names in OBJECTS.items())


def typed(scope: tuple[tuple[str, str], ...]) -> str:
    return " ".join(f"{name} - {kind}" for name, kind in scope)


def every_atom() -> list[str]:
    return [term for name, kinds in ATOMS for term in instances(name, kinds)]


def every_number() -> list[str]:
    return [term for name, kinds in NUMBERS for term in instances(name, kinds)]


def instances(name: str, kinds: tuple[str, ...]) -> list[str]:
    rows = [""]
    for kind in kinds:
        rows = [f"{row} {item}" for row in rows for item in OBJECTS[kind]]
    return [f"({name}{row})" for row in rows]


# Verdicts -----------------------------------------------------------------------------------


def repaired(rng: random.Random, case: Case) -> Case:
    """Drop failing steps in most cases, so that about half of the plans are valid."""
    domain = parse_domain(case.domain)
    problem = parse_problem(case.problem, domain)
    for _ in range(8):
        report = Validator(domain, problem).check_file(case.plan)
        failure = report.failure
        if failure is None or rng.random() < 0.15:
            break
        if failure.step is None:
            if failure.kind is FailureKind.GOAL and rng.random() < 0.8:
                text, _ = case.problem.rsplit("(:goal", 1)
                case = Case(case.domain, f"{text}(:goal (and)))", case.plan)
                problem = parse_problem(case.problem, domain)
                continue
            break
        lines = case.plan.splitlines()
        if len(lines) == 1:  # VAL does not read an empty plan
            break
        del lines[failure.step - 1]
        case = Case(case.domain, case.problem, "\n".join(lines))
    return case


def judged(case: Case) -> ValidationReport:
    domain = parse_domain(case.domain)
    return Validator(domain, parse_problem(case.problem, domain)).check_file(case.plan)


def judged_by_val(val: str, case: Case, folder: Path) -> tuple[str, str]:
    """Return VAL's verdict (`valid`, `invalid` or another outcome) and its output."""
    paths = []
    for name, text in (("domain", case.domain), ("problem", case.problem), ("plan", case.plan)):
        path = folder / f"{name}.pddl"
        path.write_text(text + "\n")
        paths.append(str(path))
    try:
        done = subprocess.run(
            [val, "-v", *paths], capture_output=True, timeout=20, check=False, cwd=folder
        )
    except subprocess.TimeoutExpired:
        return "time-out", ""
    output = done.stdout.decode(errors="replace")
    if done.returncode < 0:
        return f"signal {-done.returncode}", output
    if "Plan valid" in output and "Failed plans" not in output:
        return "valid", output
    if any(said in output for said in ("Plan invalid", "Plan failed", "Goal not satisfied")):
        return "invalid", output
    return "error", output


def judged_by_rules_of_val(case: Case, rules: frozenset[str]) -> ValidationReport:
    """Judge a case under some of VAL's own interference rules; see `EXPLAINED`."""
    own_effect, own_execute, own_firing = _Reader._effect, TemporalRun._execute, TemporalRun._firing
    own_access, own_check = temporal.access, TemporalRun.check_interference

    def effect_where_held(self: Any, effect: Any, binding: Any, bits: int, values: Any) -> Any:
        if not isinstance(effect, When):
            yield from own_effect(self, effect, binding, bits, values)
        elif self.task.condition(effect.condition, binding).holds(bits, values):
            self.formula(effect.condition, binding)
            yield effect_where_held(self, effect.effect, binding, bits, values)

    def access_as_val(state: State, step: StepParts) -> Access:
        result = own_access(state, step)
        if "own number" in rules:
            result.numbers_read -= result.increased
        if "own delete" in rules:
            result.deleted &= ~result.added
        return result

    def execute_apart(self: Any, time: Any, events: list[TimedEvent]) -> None:
        state = State(self.task, self.bits, self.values)
        steps = []
        for event in events:
            whole = self._parts(event).replace(further=())
            steps.append(access_as_val(state, whole.replace(operators=whole.operators[:1])))
            for effect in event.start.spanning if event.start else ():
                looks = StepParts(effect.binding, effect.condition_at_start, TRUE, ())
                steps.append(access_as_val(state, looks))
            for effect in self._pending(event) if event.end else ():
                fires = StepParts(effect.binding, TRUE, effect.effect, (effect.effects,))
                steps.append(access_as_val(state, fires))
        number = next((event.number for event in events if event.number is not None), None)
        if number is not None and any(True for _ in interferences(self.task, steps)):
            self._fail(number, FailureKind.INTERFERENCE, "interferes in VAL", time=time)
        else:
            own_execute(self, time, events)

    temporal.access = access_as_val
    if "held" in rules:
        _Reader._effect = effect_where_held  # type: ignore[method-assign]
    if "spanning" in rules:
        TemporalRun._execute = execute_apart  # type: ignore[method-assign]
        TemporalRun.check_interference = lambda *_: None  # type: ignore[method-assign]
        TemporalRun._firing = TemporalRun._pending  # type: ignore[method-assign]
    try:
        return judged(case)
    finally:
        temporal.access = own_access
        _Reader._effect = own_effect  # type: ignore[method-assign]
        TemporalRun._execute = own_execute  # type: ignore[method-assign]
        TemporalRun.check_interference = own_check  # type: ignore[method-assign]
        TemporalRun._firing = own_firing  # type: ignore[method-assign]


EXPLAINED = {
    "held": "The condition of a conditional effect is read although it does not hold: flattened "
    "(Fox & Long 2003, definition 7), the action has its negation as a precondition. VAL skips it.",
    "spanning": "VAL takes a conditional effect that spans start and end for a step of its own, "
    "which interferes with its own action, and ignores the (at end ...) part of its condition.",
    "own number": "A step that reads a number and increases it interferes with another that "
    "increases it, since their order matters. VAL forgets that the step reads it.",
    "own delete": "A step that deletes and adds an atom deletes it in the sense of the definition. "
    "VAL lets another step add it at the same time.",
    "twice": "VAL refuses a step that adds an atom of its own condition after it has changed it, "
    "if another step happens at the same time.",
}
"""Explanation of each class of cases in which VAL departs from the definition."""


def reason(case: Case, val: str, output: str) -> str:
    """Return the classes of `EXPLAINED` that account for a difference; empty if none does."""
    rules = [name for name in EXPLAINED if name != "twice"]
    for count in range(1, len(rules) + 1):
        for chosen in combinations(rules, count):
            if judged_by_rules_of_val(case, frozenset(chosen)).outcome.value == val:
                return " and ".join(chosen)
    # VAL stops without naming a conflict only in its `ownsForAdd`, at a second add.
    stops = "Plan failed to execute" in output and "Mutex violation" not in output
    times = _HAPPENING.findall(output)
    if val == "invalid" and stops and "nsatisfied" not in output and times:
        return "twice" if changes_own_condition_twice(case, Fraction(times[-1])) else ""
    return ""


_HAPPENING = re.compile(r"Checking next happening \(time ([0-9.]+)\)")


def changes_own_condition_twice(case: Case, time: Fraction) -> bool:
    """Return whether a step at `time` adds an atom of its condition and changes it twice."""
    found: list[bool] = []
    own_check = TemporalRun.check_interference

    def look(self: Any, now: Fraction, events: list[TimedEvent]) -> None:
        state = State(self.task, self.bits, self.values)
        for event in events if now == time else ():
            read = access(state, self._parts(event)).read
            changes = list(ground_changes(self.task, event.effect, event.binding))
            times = Counter(atom for atom, _ in changes)
            found.extend(
                added and times[atom] > 1 and bool(read >> self.task.index(atom) & 1)
                for atom, added in changes
            )
        own_check(self, now, events)

    TemporalRun.check_interference = look  # type: ignore[method-assign]
    try:
        judged(case)
    finally:
        TemporalRun.check_interference = own_check  # type: ignore[method-assign]
    return any(found)


def ground_changes(
    task: Task, effect: Expression, binding: Mapping[str, str]
) -> Iterator[tuple[Atom, bool]]:
    """Yield each atom that an effect changes, conditionally or not, and whether it is added."""
    match effect:
        case Atom():
            yield Atom(effect.predicate, tuple(binding.get(a, a) for a in effect.args)), True
        case Not(atom):
            yield from ((found, False) for found, _ in ground_changes(task, atom, binding))
        case And(operands):
            for operand in operands:
                yield from ground_changes(task, operand, binding)
        case When(_, body) | Timed(_, body):
            yield from ground_changes(task, body, binding)
        case Forall(variables, body):
            for row in product(*(task.members(v.types) for v in variables)):
                own = dict(zip((v.name for v in variables), row, strict=True))
                yield from ground_changes(task, body, {**binding, **own})


KINDS = {"sequence": Drawn, "timed": Drawn, "numbers": DrawnWithNumbers}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--kind", choices=tuple(KINDS), default="timed")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--val", default=os.environ.get("VAL"), help="VAL's Validate (default: $VAL)"
    )
    parser.add_argument("--folder", type=Path, help="folder for the files of every difference")
    parser.add_argument("--record", type=Path, help="file for all cases with VAL's verdicts")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    args = parser.parse_args()
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    open_cases: list[int] = []
    recorded: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        for number in range(args.count):
            rng = random.Random(f"{args.kind}-{args.seed}-{number}")
            case = repaired(rng, KINDS[args.kind](rng, args.kind != "sequence").case())
            report = judged(case)
            own = report.outcome.value
            val, output = "not asked", ""
            if args.val:
                val, output = judged_by_val(args.val, case, Path(name))
            counts[f"hvr {own}, VAL {val}"] += 1
            if val in ("valid", "invalid"):
                recorded.append(json.dumps({**asdict(case), "hvr": own, "val": val}))
            if val == own or val not in ("valid", "invalid"):
                continue
            why = reason(case, val, output)
            reasons[why or "unexplained"] += 1
            if not why:
                open_cases.append(number)
            if args.folder is not None:
                kept = args.folder / f"{args.kind}-{args.seed}-{number}"
                kept.mkdir(parents=True, exist_ok=True)
                for part in ("domain", "problem", "plan"):
                    (kept / f"{part}.pddl").write_text(getattr(case, part) + "\n")
                (kept / "verdicts.txt").write_text(f"hvr: {report.explain(1)}\nVAL: {val}\n{why}\n")
    if args.record is not None:
        args.record.write_text("\n".join(recorded) + "\n")
    figures = {
        "kind": args.kind,
        "seed": args.seed,
        "count": args.count,
        "verdicts": dict(counts),
        "differences": dict(reasons),
        "unexplained": open_cases,
    }
    if args.json:
        print(json.dumps(figures, indent=2))
    else:
        print(conditions(args.seed))
        for text, count in counts.most_common():
            print(f"{count:7}  {text}")
        for kind, count in reasons.most_common():
            print(f"{count:7}  differ: {kind}. {EXPLAINED.get(kind, '')}")
        if open_cases:
            print(f"unexplained: {', '.join(map(str, open_cases[:50]))}")
        if not args.val:
            print("VAL did not run: name its binary with --val or $VAL")
    return 1 if open_cases else 0


if __name__ == "__main__":
    sys.exit(main())
