"""Check certificates: proofs that a plan is valid or invalid (docs/certificates.md).

Written from the definitions (PDDL 2.1: Fox & Long 2003; 2.2: Edelkamp & Hoffmann 2004; HDDL:
Höller et al. 2020). It shares the readers of texts with hvr, and nothing else. Expressions are
nested tuples of words, and so are atoms and numeric terms, the keys of a state.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from fractions import Fraction
from functools import reduce
from hashlib import sha256
from itertools import combinations, product, takewhile
from operator import add, eq, ge, gt, le, lt, mul, sub, truediv
from typing import Any

from hvr.errors import HvrError, PddlError
from hvr.hddl.parse import parse_hddl_domain, parse_hddl_problem
from hvr.hddl.plan import PlanLine, read_hierarchical_plan
from hvr.pddl import model as m
from hvr.pddl.lexer import decode
from hvr.pddl.parser import parse_domain, parse_problem
from hvr.pddl.plan import TimedAction, read_plan
from hvr.pddl.words import words_of

TESTS = {"<": lt, "<=": le, "=": eq, ">=": ge, ">": gt}
SIGNS = {"+": add, "-": sub, "*": mul, "/": truediv}
CHANGES = {"increase": "+", "decrease": "-", "scale-up": "*", "scale-down": "/"}
ALIKE = ({"add"}, {"delete"}, {"increase"}, {"decrease"}, {"increase", "decrease"})
UNKNOWN = object()


class UnprovenError(HvrError):
    """A certificate does not prove its verdict, or not to this checker."""

    exit_code = 1


def check(told: Any, files: Sequence[bytes]) -> str:
    """Return what the JSON of a certificate proves of a domain, a problem and a plan.

    Raises:
        UnprovenError: It does not prove its verdict, or not to this checker.
    """
    try:
        if told["format"] != "hvr certificate 1":
            raise UnprovenError("this is not a certificate, or one of another version")
        if told["digests"] != [sha256(file).hexdigest() for file in files]:
            raise UnprovenError("the certificate is about other files")
        return _proven(told, *[decode(file, "") for file in files])
    except (AttributeError, LookupError, PddlError, RecursionError, TypeError, ValueError) as error:
        raise UnprovenError(f"the certificate does not fit the files: {error!r}") from error


def _proven(told: dict[str, Any], domain_text: str, problem_text: str, plan_text: str) -> str:
    options, fault, hierarchical = told["options"], told["fault"], told["language"] == "hddl"
    if hierarchical:
        tasks = parse_hddl_domain(domain_text)
        network, lines = parse_hddl_problem(problem_text, tasks), read_hierarchical_plan(plan_text)
        domain, problem = tasks.domain, network.problem
        steps: list[Any] = [m.GroundAction(line.name, line.args) for line in lines.actions]
    else:
        domain = parse_domain(domain_text, lenient=options["lenient"])
        problem = parse_problem(problem_text, domain, lenient=options["lenient"])
        steps = [*read_plan(plan_text, lenient=options["lenient"]).steps]
    execution = PlanExecution(domain, problem, options)
    faults = execution.execute(steps, told["happenings"])
    under = f"{len(steps)} steps, epsilon {execution.epsilon}, tolerance {execution.tolerance}"
    under += "".join(f", {name}" for name in ("lenient", "any_order") if options[name])
    if told["verdict"] == "invalid":
        claimed = {key: value for key, value in fault.items() if key != "falsifier"}
        found = [formula for claim, formula in faults if claim == claimed]
        if not any(execution.falsifies(fault["falsifier"], formula) for formula in found):
            raise UnprovenError(f"the plan does not fail by {claimed}, but by {faults[:1]}")
        return f"invalid ({under}): {', '.join(map(' '.join, claimed.items()))}"
    if told["verdict"] != "valid" or faults or fault is not None:
        raise UnprovenError(f"the plan is not proven to be valid: {faults[:1]}")
    if hierarchical:
        check_decomposition(execution, tasks.methods, network.root, lines, told)
    return f"valid ({under})"


class PlanExecution:
    """A plan being executed; `state` has each true atom, and each number with a value."""

    def __init__(self, domain: m.Domain, problem: m.Problem, options: dict[str, str]) -> None:
        self.domain, self.problem = domain, problem
        self.epsilon, self.tolerance = Fraction(options["epsilon"]), Fraction(options["tolerance"])
        self.types = {o.name: o.types for o in (*domain.constants, *problem.objects)}
        self.names, self.unknown = {*domain.predicates, *domain.functions}, set[str]()
        limits = self.parts("need", m.And((domain.constraints, problem.constraints)), {})
        if domain.moves or any(part[0] == "need" for part in limits):
            raise UnprovenError("cannot check: continuous change and trajectory constraints")
        self.level = {rule.predicate: 0 for rule in domain.derived}
        for _, rule in product(self.level, domain.derived):
            for part, positive in m.signed_parts(rule.body):
                if isinstance(part, m.Atom) and part.predicate in self.level:
                    least = self.level[part.predicate] + (not positive)
                    self.level[rule.predicate] = max(self.level[rule.predicate], least)
        self.rules: dict[Any, list[Any]] = {}
        for rule in domain.derived:
            for row in self.rows([(p.name, p.types) for p in rule.parameters]):
                bodies = self.rules.setdefault((rule.predicate, *row.values()), [])
                bodies.append(self.expand(words_of(rule.body), row))
        self.states: list[Any] = []
        self.state: dict[Any, Any] = {(a.predicate, *a.args): True for a in problem.init}
        schemas: Any = (*domain.actions.values(), *domain.durative_actions.values())
        changes = [words_of(each) for schema in schemas for each in m.changes_of(schema.effect)]
        if any(("total-cost",) in change for change in changes):
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

    def rows(self, variables: Sequence[Any]) -> Iterator[dict[str, str]]:
        """Yield all that variables, each with its types, may stand for."""
        choices = [self.domain.members(self.types, types) for _, types in variables]
        for row in product(*choices):
            yield {name: value for (name, _), value in zip(variables, row, strict=True)}

    def is_of(self, name: str, types: Sequence[str]) -> bool:
        return self.domain.has_type(self.types.get(name, ()), types)

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
            raise UnprovenError(f"cannot check: {text(item)}")
        value = self.state.get(item, UNKNOWN if item[0] in self.unknown else False)
        return value is UNKNOWN or value is wanted

    def falsifies(self, literals: dict[str, Any], formula: Any) -> bool:
        """Say whether literals have the values that are told, and those make a formula false."""
        witness = copy(self)
        witness.unknown = self.names
        witness.state = {}
        for words, value in literals.items():
            key = words_of(words)
            absent = False if key[0] in self.domain.predicates else None
            if shown(self.state.get(key, absent)) != value:
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

    def points(self, plan: Iterable[Any], faults: list[Any]) -> list[Any]:
        """Return the steps and the timed literals in order: (time, name, start or end, parts)."""
        points: list[Any] = []
        for number, step in enumerate(plan, 1):
            one = step if isinstance(step, TimedAction) else TimedAction(step, Fraction(number))
            schema: Any = self.domain.schema(one.action.name)
            args, lasts = one.action.args, isinstance(schema, m.DurativeActionSchema)
            parameters = schema.parameters if schema else ()
            typed = [self.is_of(a, p.types) for a, p in zip(args, parameters, strict=False)]
            timely = one.start >= 0 and not (lasts and (one.duration is None or one.duration < 0))
            if not (schema and len(args) == len(parameters) and all(typed) and timely):
                faults.append(({"kind": "step", "step": str(number)}, None))
                continue
            names = [parameter.name for parameter in parameters]
            binding = {**dict(zip(names, args, strict=True)), "?duration": one.duration}
            told = {"effect": schema.effect, "test": schema.duration if lasts else m.TRUE}
            told["need"] = schema.condition if lasts else schema.precondition
            parts = [p for kind in told for p in self.parts(kind, told[kind], binding)]
            points.append((one.start, str(number), "start", parts))
            if lasts:
                points.append((one.start + (one.duration or 0), str(number), "end", parts))
        for number, literal in enumerate(self.problem.timed_init, 1):
            parts = [*self.parts("effect", literal.effect, {})]
            points.append((Fraction(literal.time), f"literal {number}", "start", parts))
        return sorted(points, key=lambda point: point[0])

    def parts(self, kind: str, item: Any, binding: dict[str, Any]) -> Iterator[Any]:
        """Take a condition or an effect apart: (kind, conditions of an effect, time, part)."""
        return self.split(kind, self.expand(words_of(item), binding), "start", ())

    def split(self, kind: str, item: Any, when: str, given: Any) -> Iterator[Any]:
        match item:
            case ("and", *inside):
                for part in inside:
                    yield from self.split(kind, part, when, given)
            case ("at" | "over", "start" | "end" | "all" as time, tuple() as body):
                yield from self.split(kind, body, time, given)
            case ("when", condition, effect):
                group = [*self.split("given", condition, when, ())]
                yield from self.split(kind, effect, when, (*given, group))
            case ("preference", *_, body):
                yield from self.split("wish", body, when, given)
            case ("=", duration, bound) if kind == "test":
                limits = ("and", (">=", duration, bound), ("<=", duration, bound))
                yield from self.split(kind, limits, when, given)
            case (sign, duration, bound) if kind == "test":
                slack = self.tolerance if "<" in sign else -self.tolerance
                yield "need", given, when, (sign, ("-", duration, slack), bound)
            case _:
                yield kind, given, when, item

    def access(self, parts: list[Any], when: str) -> tuple[set[Any], dict[Any, list[Any]]]:
        """Return what a start or an end reads, as it is written, and what it changes and how."""
        reads: set[Any] = set()
        changes: dict[Any, list[Any]] = {}
        for kind, given, _, item in (part for part in parts if part[2] == when):
            if any(part[2] != when for group in given for part in group):
                raise UnprovenError("cannot check: an effect with conditions at several times")
            true = [*takewhile(lambda group: all(self.holds(part[3]) for part in group), given)]
            looked_at = given[: len(true) + 1]  # The first that is false is read as well.
            self.mentioned(tuple(part[3] for group in looked_at for part in group), reads)
            if kind != "effect":
                self.mentioned(item, reads)
            elif len(true) == len(given):
                target, change = item, ("add", None)
                if item[0] == "not":
                    target, change = item[1], ("delete", None)
                elif item[0] not in self.names:
                    self.mentioned(item[2], reads)
                    target, change = item[1], (item[0], self.number(item[2]))
                changes.setdefault(target, []).append(change)
        return reads, changes

    def after(self, target: Any, changes: list[Any]) -> Any:
        """Return the value of what changes; of an atom both deleted and added, the add counts."""
        signs = {sign for sign, _ in changes}
        if signs <= {"add", "delete"}:
            return "add" in signs
        value = self.state.get(target)
        for sign, amount in changes:
            value = amount if sign == "assign" else calculate(CHANGES[sign], [value, amount])
        if value is None or (len(changes) > 1 and signs not in ALIKE):
            raise UnprovenError(f"cannot check: {text(target)} gets no value, or several")
        return value

    def faults(self, together: list[Any], found: list[Any]) -> Iterator[Any]:
        """Yield what keeps steps from happening together: a claim, and the violated formula."""
        for _, name, when, parts in together:
            for kind, _, at, item in parts:
                if kind == "need" and at == when and not self.holds(item):
                    yield {"kind": "condition", "step": name, "at": when}, item
        for (one, seen, first), (two, reads, second) in combinations(found, 2):
            over = first.keys() & reads | second.keys() & seen
            for target in first.keys() & second.keys():
                if {sign for sign, _ in first[target] + second[target]} not in ALIKE:
                    over.add(target)
            for target in over:
                claim = {"kind": "interference", "step": one, "with": two, "over": text(target)}
                yield claim, None

    def execute(self, plan: Iterable[Any], evidence: list[Any]) -> list[Any]:
        """Execute a plan just as the evidence says; return the faults at its end."""
        faults: list[Any] = []
        points, running = self.points(plan, faults), dict[str, Any]()
        while points and not faults:
            last = points[0][0] + self.epsilon
            together = points[: bisect_right(points, last, key=lambda point: point[0])]
            found = [(name, *self.access(parts, when)) for _, name, when, parts in together]
            faults = [*self.faults(together, found)]
            if faults:
                break
            changes: dict[Any, list[Any]] = {}
            for target, change in (item for _, _, one in found for item in one.items()):
                changes.setdefault(target, []).extend(change)
            new = {target: self.after(target, change) for target, change in changes.items()}
            changed = {k: v for k, v in new.items() if shown(v) != shown(self.state.get(k, False))}
            told = {
                "time": str(points[0][0]),
                "events": [[name, when] for _, name, when, _ in together],
                "changes": {text(k): shown(v) for k, v in changed.items()},
            }
            if evidence[len(self.states) : len(self.states) + 1] != [told]:
                raise UnprovenError(f"at {told['time']} the plan does this: {told}")
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
            goal = self.parts("need", self.problem.goal, {})
            needs = [part[3] for part in goal if part[0] == "need"]
            faults = [({"kind": "goal"}, need) for need in needs if not self.holds(need)]
        if len(self.states) != len(evidence):
            raise UnprovenError(f"the evidence ends elsewhere than the plan: {faults[:1]}")
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


def check_decomposition(
    execution: PlanExecution, methods: Any, root: Any, plan: Any, told: Any
) -> None:
    """Refuse evidence that does not decompose the initial network into the actions of a plan."""
    nodes = {one["id"]: one for one in told["decomposition"]}
    lines: dict[Any, Any] = {line.identifier: line for line in (*plan.actions, *plan.tasks)}
    span = {action.identifier: (at, at + 1) for at, action in enumerate(plan.actions)}
    below = [child for one in told["decomposition"] for child in one["subtasks"]]
    order: list[Any] = [None] if sorted(below) == sorted(lines) else []
    for node in order:  # It grows: each task comes before those below it.
        order += [child for child in nodes[node]["subtasks"] if child not in span]
    if not order or len(order) != len(told["decomposition"]):
        raise UnprovenError("the decomposition is not a tree of the lines of the plan")
    lines[None] = PlanLine(-1, "", (), "", plan.root or (), 0)
    for node in reversed(order):
        line, binding, below = lines[node], nodes[node]["parameters"], nodes[node]["subtasks"]
        method = root if node is None else methods[line.method]
        network, position = method.network, nodes[node]["position"]
        inner, places = [span[child] for child in below], [*map(line.subtasks.index, below)]
        execution.state = execution.states[position]
        calls = [(method.task, *method.args), *map(words_of, network.subtasks)]
        conditions = [words_of(method.precondition), words_of(network.constraints)]
        fits = (
            [execution.expand(call, binding) for call in calls]
            == [(one.name, *one.args) for one in (line, *(lines[child] for child in below))]
            and sorted(places) == [*range(len(line.subtasks))]
            and {*binding} == {p.name for p in method.parameters}
            and all(execution.is_of(binding[p.name], p.types) for p in method.parameters)
            and all(
                execution.holds(execution.expand(condition, binding)) for condition in conditions
            )
            and all(0 <= position <= begin for begin, _ in [(position, position), *inner])
            and all(inner[a][1] <= inner[b][0] for a, b in network.order)
            and (
                told["options"]["any_order"] or all(places[a] < places[b] for a, b in network.order)
            )
        )
        if not fits:
            raise UnprovenError(f"the decomposition of {line or 'the initial network'} is wrong")
        times = [position, *(time for both in inner for time in both)]
        span[node] = min(times), max(times)
