"""The execution of a plan, from the definitions (PDDL 2.1: Fox & Long 2003; 2.2: Edelkamp &
Hoffmann 2004). Expressions are nested tuples of words, and so are atoms and numeric terms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from fractions import Fraction
from functools import reduce
from itertools import permutations, product, takewhile
from operator import add, eq, ge, gt, le, lt, mul, sub, truediv
from typing import Any

from hvr.errors import HvrError
from hvr.pddl.model import ActionSchema, Atom, Domain, Problem, changes_of, signed_parts
from hvr.pddl.plan import TimedAction
from hvr.pddl.words import words_of

TESTS = {"<": lt, "<=": le, "=": eq, ">=": ge, ">": gt}
SIGNS = {"+": add, "-": sub, "*": mul, "/": truediv}
CHANGES = {"increase": "+", "decrease": "-", "scale-up": "*", "scale-down": "/"}
UNKNOWN = object()
ALIKE = ({"add"}, {"delete"}, {"increase"}, {"decrease"}, {"increase", "decrease"})


class RefusedError(HvrError):
    """A certificate that does not prove its verdict, or not to this checker."""


class MisfitError(HvrError):
    """A step that is none of the task; the message is its number."""


class Trial:
    """A plan being executed; `state` has each true atom, and each number with a value."""

    def __init__(self, domain: Domain, problem: Problem, options: dict[str, Any]) -> None:
        self.domain, self.problem = domain, problem
        self.epsilon, self.tolerance = Fraction(options["epsilon"]), Fraction(options["tolerance"])
        self.types = {o.name: o.types for o in (*domain.constants, *problem.objects)}
        self.names, self.unknown = {*domain.predicates, *domain.functions}, set[str]()
        self.states: list[Any] = []
        self.level = {rule.predicate: 0 for rule in domain.derived}
        for _, rule in product(self.level, domain.derived):
            for part, positive in signed_parts(rule.body):
                if isinstance(part, Atom) and part.predicate in self.level:
                    least = self.level[part.predicate] + (not positive)
                    self.level[rule.predicate] = max(self.level[rule.predicate], least)
        self.rules: dict[Any, list[Any]] = {}
        for rule in domain.derived:
            body = words_of(rule.body)
            for row in self.rows((p.name, p.types) for p in rule.parameters):
                head = (rule.predicate, *row.values())
                self.rules.setdefault(head, []).append(self.expand(body, row))
        self.state: dict[Any, Any] = {(a.predicate, *a.args): True for a in problem.init}
        schemas: Any = (*domain.actions.values(), *domain.durative_actions.values())
        effects = [str(change) for schema in schemas for change in changes_of(schema.effect)]
        if any("(total-cost)" in effect.split(None, 2)[1:2] for effect in effects):
            self.state["total-cost",] = Fraction(0)
        numbers = problem.numeric_init.items()
        self.change({(t.function, *t.args): Fraction(value) for t, value in numbers})

    def change(self, new: dict[Any, Any]) -> None:
        """Change the state, and apply the rules, level by level, until nothing more follows."""
        kept = {**self.state, **new}.items()
        self.state = {k: v for k, v in kept if v is not False and k[0] not in self.level}
        for level in sorted({*self.level.values()}):
            waiting = [head for head in self.rules if self.level[head[0]] == level]
            while found := [head for head in waiting if any(map(self.holds, self.rules[head]))]:
                self.state |= dict.fromkeys(found, True)
                waiting = [head for head in waiting if head not in self.state]

    def rows(self, variables: Iterable[Any]) -> Iterator[dict[str, str]]:
        """Yield all that variables, each with its types, may stand for."""
        names, kinds = zip(*variables, strict=True) if (variables := [*variables]) else ((), ())
        known, fits = self.types.items(), self.domain.has_type
        choices = [[name for name, own in known if fits(own, types)] for types in kinds]
        return (dict(zip(names, row, strict=True)) for row in product(*choices))

    def expand(self, item: Any, binding: dict[str, Any]) -> Any:
        """Put objects in the place of variables, and all instances in that of quantifiers."""
        match item:
            case ("forall" | "exists" as kind, variables, body):
                inside = [self.expand(body, {**binding, **row}) for row in self.rows(variables)]
                return ("and" if kind == "forall" else "or", *inside)
            case tuple():
                return tuple([self.expand(part, binding) for part in item])
        return binding.get(item, item)

    def number(self, item: Any) -> Any:
        """Return the value of a numeric expression, None if it has none."""
        match item:
            case str() | Fraction():
                return Fraction(item)
            case ("+" | "-" | "*" | "/" as sign, *inside):
                return calculate(sign, [self.number(part) for part in inside])
        return self.state.get(item, UNKNOWN if item[0] in self.unknown else None)

    def holds(self, item: Any, wanted: bool = True) -> bool:
        """Say whether a formula is true, or false; it is neither where a number has no value.

        What needs what is not known may be either: the answer is yes.
        """
        match item:
            case ("not", inner):
                return self.holds(inner, not wanted)
            case ("imply", left, right):
                return self.holds(("or", ("not", left), right), wanted)
            case ("and" | "or" as kind, *inside):
                decide = all if (kind == "and") is wanted else any
                return decide(self.holds(part, wanted) for part in inside)
            case ("=", str(left), str(right)):
                return (left == right) is wanted
            case ("<" | "<=" | "=" | ">=" | ">" as sign, left, right):
                one, two = self.number(left), self.number(right)
                if one is None or two is None:
                    return False
                return UNKNOWN in (one, two) or TESTS[sign](one, two) is wanted
        if not all(isinstance(word, str) for word in item):
            raise RefusedError(f"cannot check: {text(item)}")
        value = self.state.get(item, UNKNOWN if item[0] in self.unknown else False)
        return value is UNKNOWN or value is wanted

    def falsifies(self, literals: dict[str, Any], formula: Any) -> bool:
        """Say whether literals have the values that are told, and those make a formula false."""
        witness = copy(self)
        witness.unknown = self.names
        witness.state = {}
        for words, value in literals.items():
            key = words_of(words)
            if shown(self.state.get(key, False if isinstance(value, bool) else None)) != value:
                return False
            witness.state[key] = Fraction(value) if isinstance(value, str) else value
        return formula is None or not witness.holds(formula)

    def mentioned(self, item: Any, found: set[Any]) -> None:
        """Collect the atoms and numbers that an expression mentions, and rules for its atoms."""
        if isinstance(item, tuple) and item not in found:
            if item and item[0] in self.names:
                found.add(item)
            for part in (*item, *self.rules.get(item, ())):
                self.mentioned(part, found)

    def points(self, plan: Iterable[Any]) -> list[Any]:
        """Return the steps and the timed literals in order: (time, name, start or end, parts)."""
        points: list[Any] = []
        for number, step in enumerate(plan, 1):
            one = step if isinstance(step, TimedAction) else TimedAction(step, Fraction(number))
            if not self.is_step(one):
                raise MisfitError(str(number))
            schema: Any = self.domain.schema(one.action.name)
            names = [parameter.name for parameter in schema.parameters]
            binding = {**dict(zip(names, one.action.args, strict=True)), "?duration": one.duration}
            told = {"effect": schema.effect}
            if isinstance(schema, ActionSchema):
                told["need"] = schema.precondition
            else:
                told |= {"need": schema.condition, "test": schema.duration}
            expanded = {kind: self.expand(words_of(item), binding) for kind, item in told.items()}
            parts = [part for kind, item in expanded.items() for part in self.parts(kind, item)]
            points.append((one.start, str(number), "start", parts))
            if "test" in told:
                points.append((one.start + (one.duration or 0), str(number), "end", parts))
        for number, literal in enumerate(self.problem.timed_init, 1):
            parts = [*self.parts("effect", words_of(literal.effect))]
            points.append((Fraction(literal.time), f"literal {number}", "start", parts))
        return sorted(points, key=lambda point: point[0])

    def is_step(self, one: TimedAction) -> bool:
        """Say whether a step is one of the task, and has a time and a duration that it may."""
        schema, args = self.domain.schema(one.action.name), one.action.args
        if schema is None or len(args) != len(schema.parameters) or one.start < 0:
            return False
        wanted = zip(args, schema.parameters, strict=True)
        if not all(self.domain.has_type(self.types.get(a, ()), p.types) for a, p in wanted):
            return False
        return isinstance(schema, ActionSchema) or (one.duration is not None and one.duration >= 0)

    def parts(self, kind: str, item: Any, when: str = "start", given: Any = ()) -> Iterator[Any]:
        """Take a condition or an effect apart: (kind, conditions of an effect, time, part)."""
        match item:
            case ("and", *inside):
                for part in inside:
                    yield from self.parts(kind, part, when, given)
            case ("at", "start" | "end" as time, tuple() as body) | ("over", "all" as time, body):
                yield from self.parts(kind, body, time, given)
            case ("when", condition, effect):
                group = [*self.parts("given", condition, when)]
                yield from self.parts(kind, effect, when, (*given, group))
            case ("preference", *_, body):
                yield from self.parts("wish", body, when, given)
            case ("=", duration, bound) if kind == "test":
                limits = ("and", (">=", duration, bound), ("<=", duration, bound))
                yield from self.parts(kind, limits, when)
            case (sign, duration, bound) if kind == "test":
                slack = self.tolerance if "<" in sign else -self.tolerance
                yield "need", given, when, (sign, ("-", duration, slack), bound)
            case _:
                yield kind, given, when, item

    def access(self, parts: list[Any], when: str) -> tuple[set[Any], list[Any]]:
        """Return what a start or an end reads, as it is written, and what it changes and how."""
        reads: set[Any] = set()
        changes: list[Any] = []
        for kind, given, _, item in (part for part in parts if part[2] == when):
            if any(part[2] != when for group in given for part in group):
                raise RefusedError("cannot check: an effect with conditions at several times")
            true = [*takewhile(lambda group: all(self.holds(part[3]) for part in group), given)]
            self.mentioned(tuple(part[3] for group in true for part in group), reads)
            if kind != "effect":
                self.mentioned(item, reads)
            elif len(true) == len(given):
                match item:
                    case ("assign" | "increase" | "decrease" | "scale-up" | "scale-down", *_):
                        self.mentioned(item[2], reads)
                        changes.append((item[0], item[1], self.number(item[2])))
                    case ("not", atom):
                        changes.append(("delete", atom, None))
                    case _:
                        changes.append(("add", item, None))
        return reads, changes

    def after(self, changes: list[Any]) -> dict[Any, Any]:
        """Return the new values of what changes; of an atom, an add counts."""
        new: dict[Any, Any] = {}
        for sign, target, amount in sorted(changes, key=lambda change: change[0] == "add"):
            if sign in ("add", "delete"):
                new[target] = sign == "add"
                continue
            signs = [other for other, same, _ in changes if same == target]
            old = new.get(target, self.state.get(target))
            new[target] = amount if sign == "assign" else calculate(CHANGES[sign], [old, amount])
            if new[target] is None or (len(signs) > 1 and {*signs} not in ALIKE):
                raise RefusedError(f"cannot check: {text(target)} gets no value, or several")
        return new

    def faults(self, together: list[Any], found: list[Any]) -> Iterator[Any]:
        """Yield what keeps steps from happening together: a claim, and the violated formula."""
        for _, name, when, parts in together:
            for kind, _, at, item in parts:
                if kind == "need" and at == when and not self.holds(item):
                    yield {"kind": "condition", "step": name, "at": when}, item
        for (one, _, changes), (two, reads, others) in permutations(found, 2):
            for sign, term, _ in changes:
                signs = [{sign, other} for other, same, _ in others if same == term]
                if term in reads or not all(pair in ALIKE for pair in signs):
                    over = {"kind": "interference", "step": one, "with": two, "over": text(term)}
                    yield over, None

    def execute(self, plan: Iterable[Any], evidence: list[Any]) -> list[Any]:
        """Execute a plan just as the evidence says; return the faults at its end."""
        points, running, faults = self.points(plan), dict[str, Any](), list[Any]()
        while points and not faults:
            together = [point for point in points if point[0] <= points[0][0] + self.epsilon]
            found = [(name, *self.access(parts, when)) for _, name, when, parts in together]
            faults = [*self.faults(together, found)]
            if faults:
                break
            new = self.after([change for _, _, changes in found for change in changes])
            changed = {k: v for k, v in new.items() if shown(v) != shown(self.state.get(k, False))}
            told = {
                "time": str(points[0][0]),
                "events": [[name, when] for _, name, when, _ in together],
                "changes": {text(k): shown(v) for k, v in changed.items()},
            }
            if evidence[len(self.states) : len(self.states) + 1] != [told]:
                raise RefusedError(f"at {told['time']} the plan does this: {told}")
            self.states.append(self.state)
            self.change(new)
            del points[: len(together)]
            for _, name, when, parts in sorted(together, key=lambda point: point[2] == "end"):
                running[name] = [p[3] for p in parts if p[0] == "need" and p[2] == "all"]
                if when == "end" or not running[name]:
                    del running[name]
            for name, needs in running.items():
                claim = {"kind": "invariant", "step": name}
                faults += [(claim, need) for need in needs if not self.holds(need)]
        if not points and not faults:
            goal = self.parts("need", self.expand(words_of(self.problem.goal), {}))
            needs = [part[3] for part in goal if part[0] == "need"]
            faults = [({"kind": "goal"}, need) for need in needs if not self.holds(need)]
        if len(self.states) != len(evidence):
            raise RefusedError(f"the evidence ends elsewhere than the plan: {faults[:1]}")
        self.states.append(self.state)
        return faults


def calculate(sign: str, numbers: list[Any]) -> Any:
    """Return the result of an operation, None if a number has no value or divides by 0."""
    if None in numbers or (sign == "/" and 0 in numbers[1:]):
        return None
    if UNKNOWN in numbers:
        return UNKNOWN
    return -numbers[0] if len(numbers) == 1 else reduce(SIGNS[sign], numbers)


def shown(value: Any) -> Any:
    return str(value) if isinstance(value, Fraction) else value


def text(item: Any) -> str:
    return f"({' '.join(map(text, item))})" if isinstance(item, tuple) else str(item)
