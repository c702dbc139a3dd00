"""Declarations that nothing uses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from hvr.pddl import OBJECT, Domain, Problem
from hvr.validation.occurrences import Occurrences, kind_of, occurrences_in, schemas_of
from hvr.validation.rules import LintFinding, issue


def check_declarations(domain: Domain, problem: Problem | None) -> Iterator[LintFinding]:
    """Yield what is declared and not used: predicates, functions, types, constants, parameters."""
    used = occurrences_in(domain, problem)
    yield from _predicates(domain, problem, used)
    yield from _functions(domain, used)
    yield from _types(domain, problem, used)
    yield from _constants(domain, problem, used)
    yield from _parameters(domain)


def _predicates(
    domain: Domain, problem: Problem | None, used: Occurrences
) -> Iterator[LintFinding]:
    initially = {atom.predicate for atom in problem.init} if problem else set()
    for name, predicate in domain.predicates.items():
        changed = name in used.added or name in used.deleted
        if name not in used.read and not changed:
            ever = " by an action, rule or goal" if problem else " by an action or rule"
            yield issue("HVR301", f"The predicate {predicate} is never used{ever}.", name,
                        predicate)  # fmt: skip
        elif name not in used.read and problem is not None:
            by = "derived" if name not in used.deleted and _is_derived(domain, name) else "changed"
            yield issue("HVR303", f"The predicate {predicate} is {by}, but no condition and not "
                        "the goal of this problem reads it.", name, predicate)  # fmt: skip
        elif problem is not None and name in used.read_true.keys() - used.added.keys() - initially:
            yield issue("HVR302", f"Nothing ever makes the predicate {predicate} true: it is not "
                        "in :init, and no effect or rule adds it.", name, predicate)  # fmt: skip


def _is_derived(domain: Domain, name: str) -> bool:
    return any(rule.predicate == name for rule in domain.derived)


def _functions(domain: Domain, used: Occurrences) -> Iterator[LintFinding]:
    for name, function in domain.functions.items():
        if name == "total-cost":
            # Its use is in the metric of the problems.
            continue
        if name not in used.read_functions and name not in used.changed_functions:
            yield issue("HVR304", f"The function {function} is never used.", name, function)


def _types(domain: Domain, problem: Problem | None, used: Occurrences) -> Iterator[LintFinding]:
    mentioned = set(used.types)
    lists = [p.parameters for p in domain.predicates.values()]
    lists += [f.parameters for f in domain.functions.values()]
    for parameter in chain.from_iterable(lists):
        mentioned.update(parameter.types)
    for thing in (*domain.constants, *(problem.objects if problem else ())):
        mentioned.update(thing.types)
    mentioned.discard(OBJECT)
    for name in domain.types:
        # A type below one that is used can sort objects; one above groups those below.
        related = any(
            domain.is_subtype(name, other) or domain.is_subtype(other, name) for other in mentioned
        )
        if not related:
            yield issue("HVR305", f"The type {name} is never used.", name)


def _constants(domain: Domain, problem: Problem | None, used: Occurrences) -> Iterator[LintFinding]:
    names = set(used.names)
    if problem is not None:
        for atom in problem.init:
            names.update(atom.args)
        for term in problem.numeric_init:
            names.update(term.args)
    # Without being named it may still be what an action or a quantifier is about, or what a
    # fact or a goal of some problem is.
    usable = set(used.types)
    for predicate in domain.predicates.values():
        usable.update(kind for parameter in predicate.parameters for kind in parameter.types)
    for function in domain.functions.values():
        usable.update(kind for parameter in function.parameters for kind in parameter.types)
    for constant in domain.constants:
        if constant.name not in names and not domain.has_type(constant.types, usable):
            where = "the domain and the problem" if problem else "the domain"
            yield issue("HVR306", f"The constant {constant} is never named in {where}, and "
                        "nothing takes its type.", constant.name, constant)  # fmt: skip


def _parameters(domain: Domain) -> Iterator[LintFinding]:
    for schema in schemas_of(domain):
        if not schema.parameters:
            continue
        used = Occurrences()
        used.schema(schema)
        for parameter in schema.parameters:
            if parameter.name not in used.names:
                place = parameter if getattr(parameter, "location", None) else schema
                yield issue("HVR307", f"The parameter {parameter} of {schema.name} occurs neither "
                            "in its condition nor in its effect; each object of its type makes "
                            f"another instance of the {kind_of(domain, schema)}.",
                            f"{schema.name} {parameter.name}",
                            place)  # fmt: skip
