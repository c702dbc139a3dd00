"""Goals of PDDL worlds in plain language: simple clauses, comparisons and requests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import comb

from hvr.errors import AmbiguousError, HvrError, LanguageError
from hvr.execution.deviations import literal_clause
from hvr.execution.facts.conditions import decided
from hvr.execution.facts.constraints import (
    FactWords,
    all_in_words,
    forbidding,
    own_words,
    since,
    without_fixed,
    without_kept,
    without_prohibitions,
)
from hvr.execution.facts.frames import frames_of, plain_text
from hvr.execution.facts.grammar import GrammarRequests, RequestedProblem, with_constants
from hvr.execution.facts.occurrences import occurrence_clause, with_occurrences
from hvr.execution.facts.orders import FactOrders
from hvr.execution.facts.properties import all_of
from hvr.execution.facts.things import ALL, NONE, SOME
from hvr.knowledge.ontology import Ontology
from hvr.language.function_words import NUMBERS
from hvr.language.paraphrase import in_order
from hvr.language.surroundings import wishes
from hvr.language.temporal import timed_request
from hvr.pddl import (
    And,
    Atom,
    Comparison,
    Domain,
    Exists,
    Expression,
    Forall,
    Formula,
    Imply,
    Not,
    Or,
    Problem,
    Trajectory,
    TypedName,
    parse_constraint,
    parse_formula,
)
from hvr.planning.search.constraints import with_stages, with_step_limit
from hvr.worlds.facts.lexicon import WorldLexicon, words_of


@dataclass(frozen=True)
class ParsedGoal:
    formula: Formula
    said: str


def _stages(
    text: str, words: WorldLexicon, reader: FactOrders, *, orders: bool, context: str = ""
) -> tuple[ParsedGoal, ...]:
    if text.lstrip().startswith("("):
        domain, problem = reader.original
        stages = [parse_formula(text, domain, problem.objects, file="<goal>")]
    else:
        stages = reader.read(text, orders=orders, context=context)
    return tuple(ParsedGoal(formula, goal_text(formula, words)) for formula in stages)


def goal_text(formula: Expression, words: WorldLexicon) -> str:
    """Return a goal in words; parts that have no wording stay in PDDL."""
    if counted := _count_text(formula, words):
        return counted
    match formula:
        case And(operands) if operands:
            return " and ".join(goal_text(one, words) for one in operands)
        case Forall((variable,), Not(body)):
            return _quantified(NONE, variable, body, words) or str(formula)
        case Forall((variable,), body):
            return _quantified(ALL, variable, body, words) or str(formula)
        case Exists((variable,), body):
            return _quantified(SOME, variable, body, words) or str(formula)
        case Atom() | Not(Atom()) if said := occurrence_clause(formula, words):
            return said
        case Atom() | Not(Atom()) | Comparison() | Not(Comparison()):
            return literal_clause(formula, words.wording)
        case Or(operands) if operands:
            return f"either {' or '.join(goal_text(one, words) for one in operands)}"
        case Imply(left, right):
            return f"if {goal_text(left, words)}, {goal_text(right, words)}"
        case Not(operand):
            return f"it is not so that {goal_text(operand, words)}"
    return str(formula)


def _count_text(formula: Expression, words: WorldLexicon) -> str:
    """Return 'at least 2 of a, b and c are clear' for a disjunction of all pairs, else ""."""
    match formula:
        case Or(operands) if len(operands) > 1 and isinstance(operands[0], And):
            how, size = "at least {} of", len(operands[0].operands)
        case And(denials) if denials and all(isinstance(o, Not) for o in denials):
            operands = tuple(o.operand for o in denials if isinstance(o, Not))
            size = len(operands[0].operands) if isinstance(operands[0], And) else 1
            how = "at most {} of"
        case Not(And(both) as whole):
            how, size, operands = "at most {} of", len(both), (whole,)
        case And((*_, Not()) as operands):
            at = next(n for n, o in enumerate(operands) if isinstance(o, Not))
            most = _count_text(And(operands[at:]), words) if at else ""
            return f"{goal_text(And(operands[:at]), words)} and {most}" if most else ""
        case _:
            return ""
    groups = [set(o.operands) if isinstance(o, And) else {o} for o in operands]
    ones = sorted({one for group in groups for one in group}, key=str)
    atoms = [one for one in ones if isinstance(one, Atom)]
    every = len(atoms) == len(ones) > 1 and size > 1 and comb(len(ones), size) == len(operands)
    if not every or any(len(group) != size for group in groups):
        return ""
    columns = list(zip(*(atom.args for atom in atoms), strict=False))
    differ = [n for n, column in enumerate(columns) if len({*column}) > 1]
    if len({a.predicate for a in atoms}) > 1 or len(differ) != 1:
        return ""
    *names, last = columns[differ[0]]
    listed = f"{how.format(size - how.startswith('at most'))} {', '.join(names)} and {last}"
    args = tuple(listed if n == differ[0] else a for n, a in enumerate(atoms[0].args))
    return literal_clause(Atom(atoms[0].predicate, args), words.wording)


def _quantified(quantifier: str, variable: TypedName, body: Expression, words: WorldLexicon) -> str:
    inner = goal_text(body, words)
    if variable.name not in inner or inner.startswith("("):
        return ""
    names = words.types.get(variable.types[0], variable.types)
    return inner.replace(variable.name, f"{quantifier} {names[0]}")


def supports_requests(ontology: Ontology | None) -> bool:
    return ontology is not None and bool(ontology.instances("Verb"))


def problem_for(
    text: str,
    domain: Domain,
    problem: Problem,
    words: WorldLexicon,
    ontology: Ontology | None = None,
) -> RequestedProblem:
    """Return the problem with a new goal: PDDL in parentheses, a simple sentence, or a request.

    Raises:
        LanguageError: The sentence was not understood.
        AmbiguousError: The sentence has readings with different outcomes.
        ImpossibleGoalError: The sentence requests a missing object or an impossible state.
        PddlError: The PDDL is invalid.
    """
    reader = FactOrders(domain, problem, words)
    if supports_requests(ontology):
        return _problem_for(text, words, reader, ontology)
    try:
        return _problem_for(text, words, reader, None)
    except LanguageError as error:
        return _inside(text, words, reader, error)


def _inside(
    text: str, words: WorldLexicon, reader: FactOrders, refusal: LanguageError
) -> RequestedProblem:
    """Read the wish inside a request, or raise `refusal`, or AmbiguousError if it is uncertain."""
    domain, problem = reader.original

    def reads(part: str) -> bool:
        try:
            return bool(reader.read(part, orders=True))
        except HvrError:
            return False

    if isinstance(refusal, AmbiguousError) or text.lstrip().startswith("("):
        raise refusal
    for wish in wishes(text, reader.lexicon, reads)[0]:
        try:
            posed = _problem_for(" ".join(wish.tokens), words, reader, None)
        except LanguageError:
            continue
        if not wish.sure:
            raise AmbiguousError((posed.said,)) from refusal
        if any(_may_be_goal(aside, domain, problem, words) for aside in wish.asides):
            continue
        notes = tuple(f"hvr ignores {aside!r}" for aside in wish.asides)
        return replace(posed, notes=(*posed.notes, *notes))
    raise refusal


_BOUNDS = frozenset("at least most exactly only more fewer less than never not no without".split())
_PLAIN = frozenset({"a", "be", "it", "is", "not", "the"})


def _may_be_goal(aside: str, domain: Domain, problem: Problem, words: WorldLexicon) -> bool:
    """Return whether a phrase may state a goal: 'every other block is on the table'."""
    said = {word for token in aside.split() for word in (token, token.removesuffix("s"))}
    nouns = {n for nouns in words.types.values() for noun in nouns for n in noun.split()}
    nouns |= {n for thing in problem.objects for n in words_of(thing.name).lower().split()}
    nouns |= {n for f in frames_of(domain, words) for n in str(f.subject).split()}
    clauses = [wording.true.text for wording in words.wording.predicates.values()]
    facts = {word for clause in clauses for word in clause.split()} - _PLAIN - nouns
    return bool(said & nouns and said & facts) or bool(said & _BOUNDS)


def _problem_for(
    text: str, words: WorldLexicon, reader: FactOrders, ontology: Ontology | None
) -> RequestedProblem:
    domain, problem = reader.original
    verbs = ontology is not None
    if not text.lstrip().startswith("(") and (limited := _LIMIT.fullmatch(plain_text(text))):
        rest = " ".join(
            filter(None, (limited["before"].strip(" ,;"), limited["after"].strip(" ,;")))
        )
        posed = _problem_for(rest, words, reader, ontology)
        number = NUMBERS.get(limited["number"]) or int(limited["number"])
        limits = with_step_limit(posed.domain, posed.problem, number)
        return RequestedProblem(*limits, f"{posed.said}; in at most {number} steps", posed.notes)
    if not verbs and (found := decided(text, domain, problem, words)) is not None:
        rest, notes = found
        if not rest:
            empty = problem.replace(goal=And(()))
            return RequestedProblem(domain, empty, "nothing is left to do", notes)
        posed = problem_for(rest, domain, problem, words)
        return replace(posed, notes=(*notes, *posed.notes))
    if not verbs and (timed := _over_time(text, words, reader)) is not None:
        return timed
    if not verbs and (restricted := _restricted(text, words, reader)) is not None:
        return restricted
    try:
        read = _stages(text, words, reader, orders=not verbs)
    except LanguageError:
        if ontology is None:
            raise
        return GrammarRequests(domain, problem, ontology).apply(text)
    said = in_order([stage.said for stage in read])
    domain, problem = _in_stages(domain, problem, [stage.formula for stage in read])
    return RequestedProblem(domain, problem, said)


_LIMIT = re.compile(
    r"(?P<before>.*?),? ?\b(?:in|with|within|using|taking) "
    r"(?:(?:at most|no more than|up to|a maximum of|not more than) )?"
    rf"(?P<number>\d{{1,3}}|{'|'.join(NUMBERS)}) "
    r"(?:steps?|moves?|actions?)(?: or (?:less|fewer))?(?P<after>.*)"
)


def _restricted(text: str, words: WorldLexicon, reader: FactOrders) -> RequestedProblem | None:
    domain, problem = reader.original
    if text.lstrip().startswith("("):
        return None
    facts = FactWords(reader, domain, problem)
    rest, fixed = without_fixed(plain_text(text), reader)
    rest, deeds, things = without_prohibitions(rest, reader.verbs)
    rest, kept = without_kept(rest, facts)
    if not (deeds or things or kept or fixed):
        return None
    if not rest:
        raise LanguageError("the request only forbids or keeps something: say what to do")
    constraints = [*fixed, *forbidding(facts, domain, problem, deeds, things)]
    constraints += [
        parse_constraint(f"(always {state})", domain, problem.objects) for state in kept
    ]
    stages = _stages(rest, words, reader, orders=True, context=plain_text(text))
    return _posed(domain, problem, words, [stage.formula for stage in stages], constraints, [])


def _over_time(text: str, words: WorldLexicon, reader: FactOrders) -> RequestedProblem | None:
    domain, problem = reader.original
    if text.lstrip().startswith("("):
        return None
    if (own := own_words(text, reader.clauses)) is not None:
        return _posed(domain, problem, words, *own)
    timed = timed_request(text, FactWords(reader, domain, problem))
    if timed is None:
        return None
    if not (timed.main or timed.first or timed.due):
        raise LanguageError(
            "the request says only what to do if something happens, and hvr does not wait for "
            "events: add something to do"
        )
    stages = [parse_formula(f, domain, problem.objects, file="<goal>") for f in timed.first]
    stages = [all_of(stages)] if stages else []
    rest = ". ".join(part for part, end in timed.parts if not end)
    if rest or timed.main:
        read = _stages(rest or timed.main, words, reader, orders=True)
        stages += [stage.formula for stage in read]
    # What ends a condition need not last: another part may undo it.
    ends = [f"(sometime {end})" for _, end in timed.parts if end and rest]
    kept, lasting = (
        [parse_constraint(t, domain, problem.objects) for t in texts]
        for texts in (timed.constraints, (*timed.lasting, *ends))
    )
    whole = [] if timed.first and len(stages) > 1 else lasting
    later = lasting if not whole else []
    return _posed(domain, problem, words, stages or [And(())], [*kept, *whole], later)


def _posed(
    domain: Domain,
    problem: Problem,
    words: WorldLexicon,
    stages: Sequence[Formula],
    kept: Sequence[Expression],
    later: Sequence[Expression],
) -> RequestedProblem:
    said = []
    for number, stage in enumerate(stages):
        also = [] if number == 0 else later
        parts = (
            goal_text(stage, words),
            all_in_words((*kept, *also), partial(goal_text, words=words)),
        )
        said.append("; ".join(filter(None, parts)))
    mark = Atom("stage-1-reached", ())
    marked = [since(mark, one) for one in later if isinstance(one, Trajectory)]
    constraints = And((problem.constraints, *kept, *marked))
    domain = with_occurrences(domain, [constraints])
    domain, problem = _in_stages(domain, problem, stages)
    return RequestedProblem(domain, problem.replace(constraints=constraints), in_order(said))


def _in_stages(
    domain: Domain, problem: Problem, stages: Sequence[Formula]
) -> tuple[Domain, Problem]:
    # Each stage holds at some time before the next one does.
    domain = with_occurrences(domain, stages)
    problem = problem.replace(goal=stages[-1])
    earlier = [And((one, Not(later))) for one, later in pairwise(stages)]
    if not earlier:
        return domain, problem
    return with_stages(*with_constants(domain, problem, map(str, stages)), earlier)
