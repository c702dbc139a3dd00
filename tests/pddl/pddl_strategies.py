"""Random well-typed domains, problems, formulas and plans, small enough for brute force."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from itertools import product

from hypothesis import strategies as st

from hvr.pddl import (
    OBJECT,
    ActionSchema,
    And,
    Arithmetic,
    Atom,
    Domain,
    Effect,
    Equal,
    Exists,
    Expression,
    Forall,
    Formula,
    Function,
    FunctionTerm,
    GroundAction,
    Imply,
    Increase,
    Metric,
    Not,
    Number,
    Or,
    Predicate,
    Problem,
    TypedName,
    When,
)

Scope = tuple[TypedName, ...]
COST = FunctionTerm("total-cost")


@dataclass(frozen=True)
class World:
    domain: Domain
    problem: Problem


@st.composite
def types(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    result: dict[str, tuple[str, ...]] = {}
    for i in range(draw(st.integers(0, 3))):
        parents = st.lists(st.sampled_from([OBJECT, *result]), min_size=1, max_size=2, unique=True)
        result[f"t{i}"] = tuple(draw(parents))
    return result


def typing(domain: Domain) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(
        st.sampled_from([OBJECT, *domain.types]), min_size=1, max_size=2, unique=True
    ).map(tuple)


@st.composite
def typed_names(draw: st.DrawFn, domain: Domain, prefix: str, most: int) -> Scope:
    count = draw(st.integers(0, most))
    return tuple(TypedName(f"{prefix}{i}", draw(typing(domain))) for i in range(count))


def _terms(domain: Domain, scope: Scope, objects: Scope, wanted: tuple[str, ...]) -> list[str]:
    found = [v.name for v in scope if domain.fits(v.types, wanted)]
    return found + [o.name for o in objects if domain.has_type(o.types, wanted)]


@st.composite
def atoms(draw: st.DrawFn, domain: Domain, scope: Scope, objects: Scope) -> Atom:
    """An atom over names in scope; `(p)`, which always exists, where none other fits."""
    predicate = draw(st.sampled_from(list(domain.predicates.values())))
    args = []
    for parameter in predicate.parameters:
        terms = _terms(domain, scope, objects, parameter.types)
        if not terms:
            return Atom("p")
        args.append(draw(st.sampled_from(terms)))
    return Atom(predicate.name, tuple(args))


@st.composite
def formulas(
    draw: st.DrawFn, domain: Domain, scope: Scope, objects: Scope, depth: int = 3
) -> Formula:
    kinds = ["atom", "atom", "equal"]
    if depth:
        kinds += ["not", "and", "and", "or", "imply", "forall", "exists"]
    kind = draw(st.sampled_from(kinds))
    names = [t.name for t in (*scope, *objects)]
    if kind == "equal" and names:
        return Equal(draw(st.sampled_from(names)), draw(st.sampled_from(names)))
    if kind in ("atom", "equal"):
        return draw(atoms(domain, scope, objects))
    inner = formulas(domain, scope, objects, depth - 1)
    match kind:
        case "not":
            return Not(draw(inner))
        case "and":
            return And(tuple(draw(st.lists(inner, max_size=3))))
        case "or":
            return Or(tuple(draw(st.lists(inner, max_size=3))))
        case "imply":
            return Imply(draw(inner), draw(inner))
    # The same variable name at some depths, so that shadowing is met.
    variables = (TypedName(f"?v{draw(st.integers(0, 2))}", draw(typing(domain))),)
    visible = tuple(v for v in scope if v.name != variables[0].name) + variables
    body = draw(formulas(domain, visible, objects, depth - 1))
    return (Forall if kind == "forall" else Exists)(variables, body)


@st.composite
def effects(
    draw: st.DrawFn, domain: Domain, scope: Scope, objects: Scope, depth: int = 2
) -> Effect:
    kinds = ["add", "delete", "cost"]
    if depth:
        kinds += ["and", "and", "forall", "when"]
    kind = draw(st.sampled_from(kinds))
    inner = effects(domain, scope, objects, depth - 1)
    match kind:
        case "delete":
            return Not(draw(atoms(domain, scope, objects)))
        case "cost":
            amount = draw(st.decimals(0, 99, places=2))
            return Increase(COST, Number(amount))
        case "and":
            return And(tuple(draw(st.lists(inner, max_size=3))))
        case "when":
            return When(draw(formulas(domain, scope, objects, 1)), draw(inner))
        case "forall":
            variables = (TypedName(f"?v{draw(st.integers(0, 2))}", draw(typing(domain))),)
            visible = tuple(v for v in scope if v.name != variables[0].name) + variables
            return Forall(variables, draw(effects(domain, visible, objects, depth - 1)))
    return draw(atoms(domain, scope, objects))


@st.composite
def domains(draw: st.DrawFn) -> Domain:
    requirements = draw(st.frozensets(st.sampled_from([":strips", ":typing", ":adl"])))
    domain = Domain("d", requirements, draw(types()))
    constants = draw(typed_names(domain, "c", 1))
    predicates = {"p": Predicate("p")}
    for i in range(draw(st.integers(1, 4))):
        predicates[f"q{i}"] = Predicate(f"q{i}", draw(typed_names(domain, "?x", 2)))
    functions = {"total-cost": Function("total-cost")}
    if draw(st.booleans()):
        functions["w"] = Function("w", draw(typed_names(domain, "?x", 1)))
    domain = Domain("d", requirements, domain.types, constants, predicates, functions)
    actions = {}
    for i in range(draw(st.integers(1, 3))):
        parameters = draw(typed_names(domain, "?v", 2))
        precondition = draw(formulas(domain, parameters, constants))
        effect = draw(effects(domain, parameters, constants))
        actions[f"a{i}"] = ActionSchema(f"a{i}", parameters, precondition, effect)
    return Domain("d", requirements, domain.types, constants, predicates, functions, actions)


def ground_atoms(domain: Domain, objects: Scope) -> list[Atom]:
    result = []
    for predicate in domain.predicates.values():
        choices = [_terms(domain, (), objects, p.types) for p in predicate.parameters]
        result += [Atom(predicate.name, args) for args in product(*choices)]
    return result


@st.composite
def worlds(draw: st.DrawFn) -> World:
    domain = draw(domains())
    own = draw(typed_names(domain, "o", 3))
    objects = (*domain.constants, *own)
    init = draw(st.frozensets(st.sampled_from(ground_atoms(domain, objects))))
    goal = draw(formulas(domain, (), objects))
    numeric = {COST: draw(st.decimals(0, 9, places=1))} if draw(st.booleans()) else {}
    metric = None
    if draw(st.booleans()):
        metric = Metric("minimize", Arithmetic("*", (Number(Decimal("0.5")), COST)))
    problem = Problem("q", "d", own, init, goal, numeric, metric)
    return World(domain, problem)


def all_actions(world: World) -> list[GroundAction]:
    """Every well-typed ground action, by brute force."""
    objects = (*world.domain.constants, *world.problem.objects)
    result = []
    for schema in world.domain.actions.values():
        choices = [
            [o.name for o in objects if world.domain.has_type(o.types, p.types)]
            for p in schema.parameters
        ]
        result += [GroundAction(schema.name, args) for args in product(*choices)]
    return result


# --- the semantics again, in the plainest way -------------------------------------------------


class Naive:
    """Formulas and effects over a set of atoms, quantifiers by trying every object."""

    def __init__(self, world: World) -> None:
        self.domain = world.domain
        self.objects = (*world.domain.constants, *world.problem.objects)

    def holds(self, state: frozenset[Atom], formula: Expression, binding: dict[str, str]) -> bool:
        match formula:
            case Atom(predicate, args):
                return Atom(predicate, tuple(binding.get(a, a) for a in args)) in state
            case Equal(left, right):
                return binding.get(left, left) == binding.get(right, right)
            case Not(operand):
                return not self.holds(state, operand, binding)
            case And(operands):
                return all(self.holds(state, o, binding) for o in operands)
            case Or(operands):
                return any(self.holds(state, o, binding) for o in operands)
            case Imply(left_, right_):
                return not self.holds(state, left_, binding) or self.holds(state, right_, binding)
            case Forall(variables, body):
                return all(self.holds(state, body, b) for b in self.bind(variables, binding))
            case Exists(variables, body):
                return any(self.holds(state, body, b) for b in self.bind(variables, binding))
        raise AssertionError(formula)

    def bind(self, variables: Scope, binding: dict[str, str]) -> list[dict[str, str]]:
        choices = [
            [o.name for o in self.objects if self.domain.has_type(o.types, v.types)]
            for v in variables
        ]
        names = [v.name for v in variables]
        return [{**binding, **dict(zip(names, c, strict=True))} for c in product(*choices)]

    def changes(
        self, state: frozenset[Atom], effect: Expression, binding: dict[str, str]
    ) -> tuple[set[Atom], set[Atom], Decimal]:
        """What an effect adds, deletes and costs in a state."""
        match effect:
            case Atom(predicate, args):
                return {Atom(predicate, tuple(binding.get(a, a) for a in args))}, set(), Decimal(0)
            case Not(operand):
                add, _, _ = self.changes(state, operand, binding)
                return set(), add, Decimal(0)
            case Increase(_, Number(value)):
                return set(), set(), value
            case When(condition, inner):
                if not self.holds(state, condition, binding):
                    return set(), set(), Decimal(0)
                return self.changes(state, inner, binding)
            case And(operands):
                parts = [self.changes(state, o, binding) for o in operands]
            case Forall(variables, body):
                parts = [self.changes(state, body, b) for b in self.bind(variables, binding)]
            case _:
                raise AssertionError(effect)
        add = set().union(*(p[0] for p in parts))
        delete = set().union(*(p[1] for p in parts))
        return add, delete, sum((p[2] for p in parts), Decimal(0))

    def step(
        self, state: frozenset[Atom], action: GroundAction
    ) -> tuple[frozenset[Atom], Decimal] | None:
        """The state after an action and its cost, or None if it is not applicable."""
        schema = self.domain.actions[action.name]
        binding = {p.name: a for p, a in zip(schema.parameters, action.args, strict=True)}
        if not self.holds(state, schema.precondition, binding):
            return None
        add, delete, cost = self.changes(state, schema.effect, binding)
        return (state - delete) | add, cost
