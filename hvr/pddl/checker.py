"""Check certificates: proofs that a plan is valid or invalid (docs/reference/certificates.md).

The checker follows the definitions (PDDL 2.1: Fox & Long 2003; 2.2: Edelkamp & Hoffmann 2004;
HDDL: Höller et al. 2020) and shares only the parsers with the rest of hvr. Expressions are nested
tuples of words. Atoms and numeric terms are the keys of a state.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import reduce
from hashlib import sha256
from itertools import combinations, product
from operator import add, eq, ge, gt, itemgetter, le, lt, mul, sub, truediv
from typing import Any

from hvr.errors import HvrError, PddlError
from hvr.pddl import TRUE, DurativeActionSchema, TypedName
from hvr.pddl.hierarchy.words import TaskAndPlan, read_task_and_plan
from hvr.pddl.words import action_words, dependencies, initial_words, rule_words, words_of

SIGNS = {"+": add, "-": sub, "*": mul, "/": truediv}
SIGNS |= {"<": lt, "<=": le, "=": eq, ">=": ge, ">": gt}
CHANGES = {"increase": "+", "decrease": "-", "scale-up": "*", "scale-down": "/", "assign": ""}
ALIKE = ({"read"}, {"add"}, {"delete"}, {"increase"}, {"decrease"}, {"increase", "decrease"})


class UnprovenError(HvrError):
    """A certificate does not prove its verdict, or the checker cannot follow the proof."""

    exit_code = 1


def check(proof: Any, files: Sequence[bytes]) -> str:
    """Return the verdict that a certificate (parsed JSON) proves for a domain, problem and plan.

    Raises:
        UnprovenError: The certificate does not prove its verdict.
    """
    try:
        digests = [sha256(file).hexdigest() for file in files]
        if (proof["format"], proof["digests"]) != ("hvr certificate 2", digests):
            raise UnprovenError("the certificate belongs to different files or another version")
        reading = read_task_and_plan(files, proof["language"], lenient=proof["options"]["lenient"])
        execution = PlanExecution(reading, proof["options"])
        history, faults = execution.execute()
        verdict = "invalid" if faults else "valid"
        proven = (proof["verdict"], proof["happenings"]) == (verdict, history)
        if not proven or proof["fault"] not in (faults or [None]):
            raise UnprovenError(f"contrary to the certificate, the plan is {verdict}: {faults[:1]}")
        if proof["language"] == "hddl" and not faults:
            execution.check_decomposition(proof["decomposition"], proof["options"]["any_order"])
    except (AttributeError, LookupError, PddlError, RecursionError, TypeError, ValueError) as error:
        raise UnprovenError(f"the certificate does not match the files ({error!r})") from error
    return verdict


class PlanExecution:
    """The execution of a plan; `state` maps true atoms to True and numeric terms to values."""

    def __init__(self, reading: TaskAndPlan, options: dict[str, str]) -> None:
        self.reading, self.domain, problem = reading, reading.domain, reading.problem
        self.epsilon, self.tolerance = Fraction(options["epsilon"]), Fraction(options["tolerance"])
        constrained = (self.domain.constraints, problem.constraints) != (TRUE, TRUE)
        if self.domain.is_hybrid or constrained or self.epsilon < 0:
            raise UnprovenError("cannot check continuous change, constraints or a negative epsilon")
        self.types = {o.name: o.types for o in (*self.domain.constants, *problem.objects)}
        self.names = {*self.domain.predicates, *self.domain.functions}
        self.level = {rule.predicate: 0 for rule in self.domain.derived}
        for _, (head, needed, positive) in product(self.level, dependencies(self.domain)):
            self.level[head] = max(self.level[head], self.level[needed] + (not positive))
        self.rules: dict[Any, list[Any]] = {}
        for rule in self.domain.derived:
            for head, body in self.expand(rule_words(rule), {})[1:]:
                self.rules.setdefault(head, []).append(body)
        self.state: dict[Any, Any] = {}
        self.states: list[dict[Any, Any]] = []
        self.change(initial_words(self.domain, problem))

    def change(self, new: dict[Any, Any]) -> None:
        """Enter the next state and apply the rules, level by level, to a fixpoint."""
        kept = {**self.state, **new}.items()
        self.state = {k: v for k, v in kept if v is not False and k[0] not in self.level}
        for level in sorted({*self.level.values()}):
            waiting = [head for head in self.rules if self.level[head[0]] == level]
            while found := [head for head in waiting if any(map(self.value, self.rules[head]))]:
                self.state |= dict.fromkeys(found, True)
                waiting = [head for head in waiting if head not in self.state]
        self.states.append(self.state)

    def bind(self, parameters: Sequence[TypedName], args: Sequence[str]) -> Any:
        pairs = [*zip(parameters, args, strict=False)]
        typed = [self.domain.has_type(self.types.get(arg, ()), p.types) for p, arg in pairs]
        fits = len(args) == len(parameters) and all(typed)
        return {p.name: arg for p, arg in pairs} if fits else None

    def expand(self, item: Any, binding: dict[str, Any], positive: bool = True) -> Any:
        """Replace variables, expand quantifiers, and push negations down to literals."""
        match item:
            case ("not", inner):
                return self.expand(inner, binding, not positive)
            case ("imply", left, right):
                return self.expand(("or", ("not", left), right), binding, positive)
            case ("forall" | "exists" as kind, variables, body):
                ranges = [
                    [(v, o) for o in self.domain.members(self.types, t)] for v, t in variables
                ]
                inside = [self.expand(body, binding | dict(r), positive) for r in product(*ranges)]
                return ("and" if (kind == "forall") is positive else "or", *inside)
            case ("and" | "or" as kind, *operands):
                inside = [self.expand(operand, binding, positive) for operand in operands]
                return ("and" if (kind == "and") is positive else "or", *inside)
            case tuple():
                ground = tuple([self.expand(part, binding) for part in item])
                return ground if positive else ("not", ground)
        return binding.get(item, item)

    def value(self, item: Any) -> Any:
        """Return the value of an expanded formula or number, or None if it is undefined."""
        match item:
            case str() | Fraction():
                return Fraction(item)
            case ("=", left, right) if left in self.types and right in self.types:
                return left == right
            case ("and" | "or" as kind, *inside):
                return (all if kind == "and" else any)(map(self.value, inside))
            case ("not", inner):
                truth = self.value(inner)
                return truth if truth is None else not truth
            case (sign, *inside) if sign in SIGNS:
                values = [self.value(part) for part in inside]
                if None in values or (sign == "/" and 0 in values[1:]):
                    return None
                return -values[0] if len(values) == 1 else reduce(SIGNS[sign], values)
            case (name, *_) if name in self.names:
                return self.state.get(item, False if name in self.domain.predicates else None)
        raise UnprovenError(f"cannot check {text(item)}")

    def failing(self, claim: dict[str, str], needs: Sequence[Any]) -> list[Any]:
        """Return a fault for each false condition in `needs`, with the values that falsify it."""
        false = [need for need in needs if need[0] != "preference" and not self.value(need)]
        return [{**claim, "falsifier": self.shown(self.mentioned(need, {}))} for need in false]

    def shown(self, keys: Iterable[Any]) -> dict[str, Any]:
        values = [(text(key), self.value(key)) for key in keys]
        return {k: str(v) if isinstance(v, Fraction) else v for k, v in values}

    def mentioned(self, item: Any, rules: dict[Any, Any]) -> set[Any]:
        """Return the atoms and numbers that an expression mentions, directly or through rules."""
        seen, waiting = set[Any](), [item]
        while waiting:
            one = waiting.pop()
            if isinstance(one, tuple) and one not in seen:
                seen.add(one)
                waiting += [*one, *rules.get(one, ())]
        return {one for one in seen if one and one[0] in self.names}

    def events(self, faults: list[Any]) -> list[Any]:
        """Return all events in order: (time, name, start or end, condition, limits, effect)."""
        events: list[Any] = []
        for number, step in enumerate(self.reading.steps, 1):
            schema: Any = self.domain.schema(step.action.name)
            lasts = isinstance(schema, DurativeActionSchema)
            length: Any = step.duration if lasts else 0
            binding = schema and self.bind(schema.parameters, step.action.args)
            if binding is None or length is None or min(step.start, length) < 0:
                faults.append({"kind": "step", "step": str(number), "falsifier": {}})
                continue
            ground = self.expand(action_words(schema), {**binding, "?duration": length})
            events.append((step.start, str(number), "start", *ground))
            if lasts:
                events.append((step.start + length, str(number), "end", *ground))
        for number, literal in enumerate(self.reading.problem.timed_init, 1):
            ground = ("and",), ("and",), words_of(literal.effect)
            events.append((Fraction(literal.time), f"literal {number}", "start", *ground))
        return sorted(events, key=itemgetter(0))

    def loosened(self, limits: Sequence[Any]) -> Iterator[Any]:
        for sign, length, bound in limits:
            slack = -self.tolerance if "<" in sign else self.tolerance
            yield sign, ("+", length, slack), bound

    def uses(self, needs: list[Any], effects: list[Any]) -> Iterator[tuple[Any, str, Any]]:
        """Yield (key, access, amount); the access is read, add, delete or a key of `CHANGES`."""
        read, waiting = [*needs], [*effects]
        while waiting:
            match waiting.pop():
                case ("when", condition, effect):
                    read.append(condition)  # A false condition is also a read.
                    if self.value(condition):
                        waiting.append(effect)
                case ("not", atom):
                    yield atom, "delete", None
                case (sign, term, amount) if sign in CHANGES:
                    read.append(amount)
                    yield term, sign, amount
                case atom:
                    yield atom, "add", None
        yield from ((key, "read", None) for key in self.mentioned(tuple(read), self.rules))

    def after(self, key: Any, uses: list[Any]) -> Any:
        """Return the new value of a fluent; within a step, add wins over delete."""
        changes = [(sign, amount) for _, _, sign, amount in uses if sign != "read"]
        signs, value = {sign for sign, _ in changes}, key
        if signs <= {"add", "delete"}:
            return "add" in signs if signs else self.state.get(key, False)
        for sign, amount in changes:
            value = self.value(amount if sign == "assign" else (CHANGES[sign], value, amount))
        if value is None or (len(changes) > 1 and signs not in ALIKE):
            raise UnprovenError(f"cannot check {text(key)}: it has no single value")
        return value

    def interference(self, uses: dict[Any, list[Any]]) -> Iterator[Any]:
        """Yield a fault for each pair of events that cannot happen together."""
        for key, group in uses.items():
            for (one, at, sign, _), (two, then, other, _) in combinations(group, 2):
                if (one, at) != (two, then) and {sign, other} not in ALIKE:
                    claim = {"kind": "interference", "step": one, "with": two, "over": text(key)}
                    yield {**claim, "falsifier": {}}

    def execute(self) -> tuple[list[Any], list[Any]]:
        faults: list[Any] = []
        events, history, running = self.events(faults), list[Any](), dict[str, Any]()
        while events and not faults:
            time = events[0][0]
            together = events[: bisect_right(events, time + self.epsilon, key=itemgetter(0))]
            uses: dict[Any, list[Any]] = {}
            for _, name, when, condition, limits, effect in together:
                needs = [*parts(condition, when), ("and", *self.loosened(parts(limits, when)))]
                faults += self.failing({"kind": "condition", "step": name, "at": when}, needs)
                for key, sign, amount in self.uses(needs, parts(effect, when)):
                    uses.setdefault(key, []).append((name, when, sign, amount))
            faults += self.interference(uses)
            if faults:
                break
            self.change({key: self.after(key, group) for key, group in uses.items()})
            before, now = self.states[-2:]
            changed = [k for k in uses if before.get(k) != now.get(k) and k[0] not in self.level]
            happened = [[name, when] for _, name, when, *_ in together]
            history.append({"time": str(time), "events": happened, "changes": self.shown(changed)})
            del events[: len(together)]
            running |= {name: parts(condition, "all") for _, name, _, condition, *_ in together}
            running = {k: v for k, v in running.items() if v and [k, "end"] not in happened}
            for name, needs in running.items():
                faults += self.failing({"kind": "invariant", "step": name}, needs)
        goal = self.expand(words_of(self.reading.problem.goal), {})
        return history, faults or self.failing({"kind": "goal"}, parts(goal, "start"))

    def check_decomposition(self, evidence: list[Any], any_order: bool) -> None:
        """Raise an UnprovenError unless the evidence decomposes the initial tasks into the plan."""
        waiting: dict[Any, Any] = {**self.reading.tasks}
        span: dict[Any, Any] = {name: (at, at + 1) for at, name in enumerate(self.reading.actions)}
        for one in evidence:  # Subtasks come before their parents.
            task, below, begin = waiting.pop(one["id"]), one["subtasks"], one["position"]
            values = [one["parameters"][p.name] for p in task.parameters]
            binding = self.bind(task.parameters, values)
            # Removing each subtask ensures that it has only one parent.
            inner, places = [span.pop(child) for child in below], [*map(task.subtasks.index, below)]
            calls = tuple([self.reading.calls[name] for name in (one["id"], *below)])
            self.state = self.states[begin]
            if not (
                binding is not None
                and self.expand(task.calls, binding) == calls
                and sorted(below) == sorted(task.subtasks)
                and self.value(self.expand(task.condition, binding))
                and 0 <= begin <= min([begin, *(first for first, _ in inner)])
                and all(inner[a][1] <= inner[b][0] for a, b in task.order)
                and (any_order or all(places[a] < places[b] for a, b in task.order))
            ):
                raise UnprovenError(f"the decomposition of task {one['id']} is wrong")
            span[one["id"]] = begin, max([begin, *(last for _, last in inner)])
        if waiting or [*span] != [None] or len(self.states) <= len(self.reading.actions):
            raise UnprovenError("the decomposition is not a tree of the plan's lines")


def parts(item: Any, when: str) -> list[Any]:
    """Return the parts of an expanded condition or effect that have the time `when`.

    A part without a time is at start.
    """
    match item:
        case ("and", *inside):
            return [part for each in inside for part in parts(each, when)]
        case ("at" | "over", "start" | "end" | "all" as time, tuple() as body):
            return parts(body, "start") if time == when else []
        case ("preference", *_, body):
            return [("preference", part) for part in parts(body, when)]
        case ("when", condition, effect):
            effects = parts(effect, when)
            if effects and any(parts(condition, at) for at in {"start", "all", "end"} - {when}):
                raise UnprovenError("cannot check an effect with conditions at several times")
            return [("when", ("and", *parts(condition, when)), each) for each in effects]
    return [item] if when == "start" else []


def text(item: Any) -> str:
    return f"({' '.join(map(text, item))})" if isinstance(item, tuple) else str(item)
