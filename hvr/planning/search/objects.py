"""The objects of a problem that a plan for its goal can need, found before anything is grounded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from hvr.pddl import And, Atom, Domain, Equal, Exists, Expression, Forall, Problem, Task
from hvr.pddl.facts import necessary_literals
from hvr.pddl.formulas import When, changes_of, parts_of


def relevant_problem(domain: Domain, problem: Problem) -> Problem:
    """Return a problem without the objects that its goal hardly needs.

    Kept are the objects that the goal can mean, and those tied to a kept one by a static fact that
    an action reads: the door before a room, the key that fits the door. Other objects may still be
    needed in rare cases, so a problem without a plan must be tried whole.
    """
    kept = _Relevance(domain, problem).kept()
    inside = kept | {constant.name for constant in domain.constants}
    values = {t: v for t, v in problem.numeric_init.items() if inside.issuperset(t.args)}
    return problem.replace(
        objects=tuple(o for o in problem.objects if o.name in kept),
        init=frozenset(a for a in problem.init if inside.issuperset(a.args)),
        numeric_init=values,
    )


class _Relevance:
    def __init__(self, domain: Domain, problem: Problem) -> None:
        self.domain = domain
        self.problem = problem
        self.task = Task(domain, problem)
        self.facts: defaultdict[str, list[Atom]] = defaultdict(list)
        for atom in problem.init:
            self.facts[atom.predicate].append(atom)
        self._ties: defaultdict[str, set[str]] = defaultdict(set)

    def kept(self) -> frozenset[str]:
        for action in self.domain.actions.values():
            for literal, positive in necessary_literals(action.precondition):
                if positive and isinstance(literal, Atom):
                    self._tie(literal.predicate, both=True)
            self._tie_effects(action.effect)
        names = set(self._meant(self.problem.goal)) | set(self._in_use())
        waiting = [*names]
        while waiting:
            new = self._ties[waiting.pop()] - names
            names |= new
            waiting += new
        return frozenset(names)

    def _tie(self, predicate: str, *, both: bool, first: int = 0) -> None:
        """Tie the objects of static facts: the one at `first` needs the other."""
        if not self.task.is_static(predicate):
            return
        for atom in self.facts[predicate]:
            if len(atom.args) == 2:
                one, other = atom.args[first], atom.args[1 - first]
                self._ties[one].add(other)
                if both:
                    self._ties[other].add(one)

    def _tie_effects(self, effect: Expression) -> None:
        """Link an object that an effect changes to the main object of the action."""
        for part in _parts(effect):
            if not isinstance(part, When):
                continue
            changed = {n for a in changes_of(part.effect) if isinstance(a, Atom) for n in a.args}
            for literal, positive in necessary_literals(part.condition):
                if positive and isinstance(literal, Atom) and len(literal.args) == 2:
                    for place, name in enumerate(literal.args):
                        if name in changed:
                            self._tie(literal.predicate, both=False, first=place)

    def _meant(self, goal: Expression) -> Iterator[str]:
        """Yield the objects that a goal names, or that its descriptions fit."""
        if isinstance(goal, Exists | Forall):
            literals = list(necessary_literals(goal.body))
            for variable in goal.variables:
                tests = [
                    atom.predicate
                    for atom, positive in literals
                    if positive
                    and isinstance(atom, Atom)
                    and atom.args == (variable.name,)
                    and self.task.is_static(atom.predicate)
                ]
                fitting = [{a.args[0] for a in self.facts[test]} for test in tests]
                members = self.task.members(variable.types)
                yield from (n for n in members if all(n in names for names in fitting))
            yield from self._meant(goal.body)
            return
        if isinstance(goal, Atom | Equal):
            names = goal.args if isinstance(goal, Atom) else (goal.left, goal.right)
            yield from (name for name in map(str, names) if name in self.task.objects)
        for part in parts_of(goal):
            if isinstance(part, Expression):
                yield from self._meant(part)

    def _in_use(self) -> Iterator[str]:
        """Yield the objects in the way of a fact without objects, such as an empty hand.

        Among the actions that achieve it, the one with the fewest objects counts.
        """
        about: defaultdict[Atom, list[set[str]]] = defaultdict(list)
        for action in self.domain.actions.values():
            members = {p.name: self.task.members(p.types) for p in action.parameters}
            names = {
                name
                for literal, positive in necessary_literals(action.precondition)
                if positive
                and isinstance(literal, Atom)
                and not self.task.is_static(literal.predicate)
                for fact in self.facts[literal.predicate]
                for variable, name in zip(literal.args, fact.args, strict=True)
                if name in members.get(variable, (variable,))
            }
            for part in _parts(action.effect):
                if isinstance(part, Atom) and not part.args and part not in self.problem.init:
                    about[part].append(names)
        for choices in about.values():
            yield from min(choices, key=len)


def _parts(effect: Expression) -> Iterator[Expression]:
    yield effect
    match effect:
        case And(operands):
            for one in operands:
                yield from _parts(one)
        case Forall(_, body) | When(_, body):
            yield from _parts(body)
