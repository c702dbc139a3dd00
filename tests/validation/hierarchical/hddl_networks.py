"""Small random hierarchical problems with plans, many of them nearly solutions."""

from __future__ import annotations

from random import Random

OBJECTS = ("o0", "o1")

Network = tuple[list[tuple[str, list[str]]], list[tuple[int, int]]]
"""Subtasks with their arguments, and ordered pairs of indexes."""


class Model:
    """The texts of a random domain and problem, with the data for making plans.

    Args:
        chance: Source of randomness.
        total: Whether all networks are totally ordered.
    """

    def __init__(self, chance: Random, *, total: bool = False) -> None:
        self.chance = chance
        self.total = total
        self.arity = {f"a{i}": chance.randrange(2) for i in range(3)}
        self.arity |= {f"t{i}": chance.randrange(2) for i in range(3)}
        self.methods: dict[str, tuple[str, Network, list[str]]] = {}
        actions = "".join(self._action(f"a{i}") for i in range(3))
        methods = "".join(
            self._method(f"m{i}-{k}", f"t{i}", i)
            for i in range(3)
            for k in range(chance.choice((1, 1, 2)))
        )
        tasks = "".join(
            f"(:task t{i} :parameters ({'?x' if self.arity[f't{i}'] else ''}))" for i in range(3)
        )
        self.domain = (
            "(define (domain d) (:requirements :hierarchy :negative-preconditions)"
            f"(:constants {' '.join(OBJECTS)}) (:predicates (p) (q ?x)) "
            f"{tasks} {methods} {actions})"
        )
        self.root = self._network(list(OBJECTS), -1, 1 + chance.randrange(3))
        facts = " ".join(f for f in ("(p)", "(q o0)", "(q o1)") if chance.random() < 0.6)
        goal = self._literal(list(OBJECTS)) if chance.random() < 0.2 else "(and)"
        self.problem = (
            f"(define (problem x) (:domain d)"
            f"(:htn {self._text(self.root)}) (:init {facts}) (:goal {goal}))"
        )

    def _literal(self, names: list[str]) -> str:
        atom = f"(q {self.chance.choice(names)})" if names and self.chance.random() < 0.6 else "(p)"
        return atom if self.chance.random() < 0.6 else f"(not {atom})"

    def _condition(self, names: list[str], most: float) -> str:
        return f"(and {self._literal(names)})" if self.chance.random() < most else "(and)"

    def _action(self, name: str) -> str:
        names = ["?x"] if self.arity[name] else []
        effects = {self._literal(names or list(OBJECTS)) for _ in range(self.chance.randrange(3))}
        names_text = " ".join(names)
        return (
            f"(:action {name} :parameters ({names_text}) :precondition "
            f"{self._condition(names, 0.3)} :effect (and {' '.join(sorted(effects))}))"
        )

    def _method(self, name: str, task: str, level: int) -> str:
        names = ["?x"] if self.arity[task] else []
        own = [*names, "?y"] if self.chance.random() < 0.4 else names
        network = self._network(own, level, self.chance.randrange(4))
        self.methods[name] = (task, network, own)
        apart = self.chance.random() < 0.3 and own == ["?x", "?y"]
        constraint = ":constraints (not (= ?x ?y))" if apart else ""
        return (
            f"(:method {name} :parameters ({' '.join(own)}) :task ({' '.join((task, *names))}) "
            f":precondition {self._condition(own, 0.5)} {self._text(network)} {constraint})"
        )

    def _network(self, names: list[str], level: int, count: int) -> Network:
        chance = self.chance
        # A task leads only to later tasks, so that every decomposition ends.
        choice = [n for n in self.arity if n[0] == "a" or int(n[1:]) > level]
        subtasks = []
        for _ in range(count):
            name = chance.choice(choice)
            subtasks.append((name, [chance.choice(names or list(OBJECTS))] * self.arity[name]))
        pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
        order = pairs if self.total else [pair for pair in pairs if chance.random() < 0.4]
        return subtasks, order

    def _text(self, network: Network) -> str:
        subtasks, order = network
        tasks = " ".join(f"(s{i} ({' '.join((n, *a))}))" for i, (n, a) in enumerate(subtasks))
        pairs = " ".join(f"(< s{a} s{b})" for a, b in order)
        return f":subtasks (and {tasks}) :ordering (and {pairs})"

    # Plans ------------------------------------------------------------------------------------

    def plan(self) -> str:
        """Return a random decomposition, possibly in a wrong order, rarely with a fault."""
        chance = self.chance
        self._next = 0
        self._lines: dict[int, str] = {}
        self._leaves: dict[int, str] = {}
        self._order: set[tuple[int, int]] = set()
        root, _ = self._decompose(self.root, {})
        waiting = list(self._leaves)
        chance.shuffle(waiting)
        ordered: list[int] = []
        while waiting:
            ready = [n for n in waiting if not any((m, n) in self._order for m in waiting)]
            ordered.append(chance.choice(ready))
            waiting.remove(ordered[-1])
        if chance.random() < 0.2 and len(ordered) > 1:
            i = chance.randrange(len(ordered) - 1)
            ordered[i], ordered[i + 1] = ordered[i + 1], ordered[i]
        lines = [f"{n} {self._leaves[n]}" for n in ordered]
        lines.append(" ".join(("root", *map(str, root))))
        lines += [f"{n} {text}" for n, text in self._lines.items()]
        return "\n".join(("==>", *lines, "<==", ""))

    def _decompose(
        self, network: Network, binding: dict[str, str]
    ) -> tuple[list[int], list[list[int]]]:
        chance = self.chance
        subtasks, order = network
        ids, leaves = [], []
        for name, terms in subtasks:
            args = [binding.get(t, t) for t in terms]
            identifier = self._next
            self._next += 1
            ids.append(identifier)
            text = " ".join((name, *args))
            if name[0] == "a":
                self._leaves[identifier] = text
                leaves.append([identifier])
                continue
            method = chance.choice([m for m, (task, *_) in self.methods.items() if task == name])
            _, inner, own = self.methods[method]
            values = {n: chance.choice(OBJECTS) for n in own}
            values |= dict(zip(["?x"], args, strict=False))
            below, under = self._decompose(inner, values)
            shown = chance.choice(list(self.methods)) if chance.random() < 0.03 else method
            self._lines[identifier] = " ".join((text, "->", shown, *map(str, below)))
            leaves.append([leaf for group in under for leaf in group])
        for a, b in order:
            self._order |= {(m, n) for m in leaves[a] for n in leaves[b]}
        if chance.random() < 0.3:
            chance.shuffle(ids)
            return ids, leaves
        return ids, leaves
