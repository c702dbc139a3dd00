"""The predicted world as the facts of any PDDL problem, told as PDDL has them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from hvr.errors import UsageError
from hvr.knowledge.retrieval.embedders import Embedder
from hvr.knowledge.retrieval.words import singular, squeezed, words
from hvr.knowledge.wording import Wording
from hvr.pddl import OBJECT, TRUE, And, Atom, Formula, FunctionTerm, Not, State, Task, Trajectory
from hvr.pddl.plan import decimal_text
from hvr.policies.llm.foresight import Foresight, Picked

MOST_OBJECTS = 80
"""Objects that are told of, as far as the request does not name more."""

_MOST_FACTS = 40
"""Facts that are told of one object."""

_NAME = re.compile(r"[\w-]+")


class FactForesight(Foresight):
    """The predicted state of a problem; see `Foresight`.

    Args:
        task: objects, facts and goal.
        wording: what actions and facts are called.
        types: what things of each type are called.

    Raises:
        UsageError: the domain has no actions, or actions that need time.
    """

    def __init__(self, task: Task, wording: Wording, types: Mapping[str, Sequence[str]]) -> None:
        _check(task)
        super().__init__(task)
        self._wording = wording
        self._types = types
        self._kinds = {name: types[0] for name, types in task.objects.items()}
        self.goal = tuple(map(str, _literals(task.problem.goal)))

    # What prompts tell --------------------------------------------------------------------

    @property
    def wording(self) -> Wording:
        """See `Foresight`."""
        return self._wording

    @property
    def kinds(self) -> tuple[str, ...]:
        """See `Foresight`."""
        return tuple(dict.fromkeys(self._kinds.values()))

    def actions(self) -> str:
        """See `Foresight`: each with what it needs and changes, and what it is in words."""
        return "\n".join(self._action_lines())

    def _action_lines(self) -> Iterator[str]:
        for name, schema in self.task.domain.actions.items():
            given = [p.name for p in schema.parameters]
            said = self._wording.actions[name].imperative.fill(given)
            needs = "nothing" if schema.precondition == TRUE else str(schema.precondition)
            kinds = ", ".join(f"{p.name} is a {' or '.join(p.types)}" for p in schema.parameters)
            yield (
                f"({', '.join((name, *given))}): {said}; {kinds + '; ' if kinds else ''}"
                f"needs {needs}; makes {schema.effect}"
            )

    def classes(self, names: Iterable[str]) -> str:
        """See `Foresight`: its objects, and the facts about them."""
        told = self._told(names)
        members: dict[str, list[str]] = defaultdict(list)
        for name in told:
            members[self._kinds[name]].append(name)
        lines = [
            f"{kind}: {', '.join(same)}; {' '.join(f for n in same for f in told[n])}".rstrip("; ")
            for kind, same in members.items()
        ]
        return "\n".join([*lines, *self._besides()])

    def objects(self, names: Iterable[str], *, contents: bool = False) -> str:
        """See `Foresight`: each fact stands with the first of the objects that it is about."""
        del contents
        lines = [
            f"{name} ({self._kinds[name]}): {' '.join(facts)}".removesuffix(": ")
            for name, facts in self._told(names).items()
        ]
        return "\n".join([*lines, *self._besides()])

    def _told(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Return the facts about each of some objects."""
        told: dict[str, list[str]] = {name: [] for name in names if name in self._kinds}
        for atom in sorted(self.state.atoms(static=True), key=str):
            owner = next((name for name in atom.args if name in told), None)
            if owner is not None and len(told[owner]) < _MOST_FACTS:
                told[owner].append(str(atom))
        for term, value in self._numbers(self.state).items():
            owner = next((name for name in term.args if name in told), None)
            if owner is not None and len(told[owner]) < _MOST_FACTS:
                told[owner].append(f"(= {term} {decimal_text(value)})")
        return told

    def _besides(self) -> list[str]:
        facts = sorted(str(a) for a in self.state.atoms(static=True) if not a.args)
        numbers = self._numbers(self.state).items()
        facts += [f"(= {term} {decimal_text(value)})" for term, value in numbers if not term.args]
        return [f"Besides: {' '.join(facts)}"] if facts else []

    def _numbers(self, state: State) -> dict[FunctionTerm, Fraction]:
        """Return the numbers in a state, but the cost."""
        given = {term: Fraction(value) for term, value in self.task.problem.numeric_init.items()}
        known = {**given, **state.numbers()}
        return {term: value for term, value in known.items() if term.function != "total-cost"}

    def usual(self, request: str, names: Iterable[str]) -> tuple[str, ...]:
        """See `Foresight`: the goal as PDDL, as far as it is plain."""
        del request, names
        return (f"the goal as PDDL: {' '.join(self.goal)}",) if self.goal else ()

    # Which objects ------------------------------------------------------------------------

    def pick(
        self,
        answered: Sequence[str],
        request: str,
        embedder: Embedder,
        *,
        knowledge: bool,
        expansion: bool,
    ) -> Picked:
        """See `Foresight`: all of a kind, or of many those that are named and what touches them."""
        del embedder  # types have few names, which are known
        spoken = dict.fromkeys(self._named((request,)), "the request speaks of it")
        reasons, unmatched = dict[str, str](spoken if knowledge else {}), list[str]()
        of_kind: dict[str, str] = {}
        for name in answered:
            own = name.strip().lower()
            kinds = self._kinds_called(name)
            if own in self._kinds:
                reasons.setdefault(own, "named by the model")
            elif kinds:
                same = (n for n, kind in self._kinds.items() if kind in kinds)
                of_kind |= dict.fromkeys(same, f"the model named {name!r}")
            else:
                unmatched.append(name)
        if len(of_kind) + len(reasons) <= MOST_OBJECTS:
            reasons = {**reasons, **of_kind}
        else:
            reasons = {**spoken, **reasons}
            for name in self._touching(reasons, of_kind):
                if len(reasons) >= MOST_OBJECTS:
                    break
                reasons.setdefault(name, of_kind[name])
        if expansion:
            near = [n for n in self._touching(reasons, self._kinds) if n not in reasons]
            room = max(0, MOST_OBJECTS - len(reasons))
            reasons |= dict.fromkeys(near[:room], "what is chosen has to do with it")
        return reasons, tuple(unmatched)

    def named_in(
        self, text: str, known: Sequence[str], embedder: Embedder, *, expansion: bool
    ) -> tuple[str, ...]:
        """See `Foresight`: what is named, with the objects of the task."""
        del embedder, expansion
        named = self._named((text,))
        return tuple(dict.fromkeys((*named, *known))) if named else ()

    def with_named(
        self, texts: Iterable[str], known: Sequence[str], embedder: Embedder, *, expansion: bool
    ) -> tuple[str, ...]:
        """See `Foresight`."""
        del embedder, expansion
        return tuple(dict.fromkeys((*known, *self._named(texts))))

    def _named(self, texts: Iterable[str]) -> tuple[str, ...]:
        spoken = (word for text in texts for word in _NAME.findall(text.lower()))
        return tuple(dict.fromkeys(word for word in spoken if word in self._kinds))

    def _kinds_called(self, name: str) -> set[str]:
        """Return the types of objects that a word names: the type, or one below it."""
        wanted = {squeezed(name), squeezed(" ".join(map(singular, words(name))))}
        domain, there = self.task.domain, set(self._kinds.values())
        called = [
            kind for kind in {OBJECT, *domain.types, *there}
            if wanted & {squeezed(one) for one in (kind, *self._types.get(kind, ()))}
        ]  # fmt: skip
        return {kind for kind in there if any(domain.is_subtype(kind, above) for above in called)}

    def _touching(self, names: Collection[str], among: Collection[str]) -> Iterator[str]:
        """Yield objects that a fact ties to some objects, the nearest first."""
        ties: dict[str, set[str]] = defaultdict(set)
        for atom in self.state.atoms(static=True):
            for name in atom.args:
                ties[name].update(atom.args)
        seen = dict.fromkeys(names)
        edge = list(seen)
        while edge:
            near = sorted({other for name in edge for other in ties[name]} - seen.keys())
            seen |= dict.fromkeys(near)
            yield from (name for name in near if name in among)
            edge = near

    # What a planner is given --------------------------------------------------------------

    def posed(
        self,
        state: State,
        goal: Formula,
        objects: Collection[str],
        relevant: Formula,
        kept: tuple[Trajectory, ...],
    ) -> Task | None:
        """See `Foresight`: the whole problem."""
        del objects, relevant
        rules = self.task.derived_predicates
        problem = self.task.problem.replace(
            init=frozenset(a for a in state.atoms(static=True) if a.predicate not in rules),
            numeric_init={
                term: Decimal(value.numerator) / Decimal(value.denominator)
                for term, value in self._numbers(state).items()
            },
            goal=goal, constraints=And(kept), metric=None,
        )  # fmt: skip
        return Task(self.task.domain, problem)


def _check(task: Task) -> None:
    domain = task.domain
    wrong = (
        "durative actions" if domain.durative_actions else "" if domain.actions else "no actions"
    )
    if wrong:
        raise UsageError(
            f"a language model plans step by step here, and this problem has {wrong}: leave --llm "
            "out", field="llm",
        )  # fmt: skip


def _literals(goal: Formula) -> Iterator[Atom | Not]:
    parts = goal.operands if isinstance(goal, And) else (goal,)
    for part in parts:
        match part:
            case And():
                yield from _literals(part)
            case Atom() | Not(Atom()):
                yield part
