"""Constraints in requests to PDDL worlds: prohibitions, and conditions over time.

'do not use plane1', 'without the truck', 'never pick up white while green is on red'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Protocol, cast

from hvr.errors import LanguageError
from hvr.execution.facts.imperatives import PLACING, literals_of, plain_verb
from hvr.execution.facts.occurrences import occurrence
from hvr.execution.facts.orders import FactOrders
from hvr.execution.facts.properties import negation
from hvr.language.function_words import FUNCTION_WORDS
from hvr.language.lexicon import tokenize
from hvr.language.paraphrase import KEPT
from hvr.language.temporal import TimedCondition
from hvr.pddl import (
    And,
    Atom,
    Domain,
    Exists,
    Expression,
    Forall,
    Formula,
    Imply,
    Not,
    Problem,
    Trajectory,
    TypedName,
    parse_formula,
    substitute,
)
from hvr.pddl.formulas import Comparison, FunctionTerm, Number
from hvr.pddl.task import holds_initially

# Conditions over time -----------------------------------------------------------------------------

_PRONOUNS = frozenset({"it", "them", "they", "her", "him"})
_BE = frozenset({"is", "are"})
_NUMBER = re.compile(r"(?<![\w.-])(-?\d+\.\d+|-\d+)")


class ClauseReader(Protocol):
    """Interface of a parser for the statements and imperatives of a request in one world."""

    def clauses(self, text: str) -> Formula | None:
        """Parse statements joined by 'and'; return None for any other text."""
        ...

    def orders(self, text: str) -> Formula | None:
        """Parse imperatives joined by 'and'; return None for any other text."""
        ...

    def object_of(self, text: str) -> str | None:
        """Return the object that a phrase refers to, or None."""
        ...

    def objects_of(self, text: str) -> tuple[str, ...]:
        """Return the objects that a definite phrase refers to."""
        ...

    def one_at_a_time(self, predicate: str) -> bool:
        """Return whether an object can have only one value of a predicate at a time."""
        ...


class FactWords:
    """Parses the parts of a request with conditions over time; see `TimedWords`."""

    def __init__(self, reader: ClauseReader, domain: Domain, problem: Problem) -> None:
        self.reader = reader
        self.domain = domain
        self.problem = problem

    def tokens(self, request: str) -> tuple[str, ...]:
        # The grammar of scenes rejects numbers such as 5.5 and -1, with which worlds compare.
        plain, *others = _NUMBER.split(request)
        tokens = tokenize(plain) if plain.strip() or not others else ()
        for number, text in zip(others[::2], others[1::2], strict=True):
            tokens += (number, *(tokenize(text) if text.strip() else ()))
        return tokens

    def starts(self, tokens: Sequence[str]) -> bool:
        return bool(tokens) and not _BE & set(tokens) and self._is_order(" ".join(tokens))

    def _is_order(self, text: str) -> bool:
        ends = [len(text), *(n for n, c in enumerate(text) if c in ",.")]
        ends += [n for n in range(len(text)) if text.startswith(" and ", n)]
        return any(self.reader.orders(text[:end]) is not None for end in ends)

    def standing_alone(self, condition: str, clause: str) -> str:
        names = self._names(clause)
        words = condition.split()
        if not names or not _PRONOUNS & set(words):
            return condition
        return " ".join(names[0] if word in _PRONOUNS else word for word in words)

    def state(self, text: str) -> TimedCondition:
        formula = self._read(self.reader.clauses, text)
        each: tuple[tuple[str, str], ...] = ()
        if isinstance(formula, Exists) and len(formula.variables) == 1:
            (variable,) = formula.variables
            members = self.domain.members(
                {o.name: o.types for o in (*self.domain.constants, *self.problem.objects)},
                variable.types,
            )
            each = tuple(
                (name, str(substitute(formula.body, {variable.name: name})))
                for name in sorted(members)
            )
        return TimedCondition(str(formula), self._names(text), each, _as_wish(text))

    def activity(self, text: str) -> TimedCondition:
        formula = self._read(self.reader.orders, text)
        return TimedCondition(str(formula), self._names(text), wish=text, lasts=False)

    def kept(self, text: str) -> TimedCondition:
        words = text.split()
        if words[0] in FUNCTION_WORDS["maintain"]:
            words = words[1:]
        for at in range(1, len(words)):  # 'keep red clear': 'red is clear'
            said = " ".join((*words[:at], "is", *words[at:]))
            if formula := self.reader.clauses(said):
                return TimedCondition(str(formula), self._names(text), wish=said)
        return self.wished(text)

    def wished(self, text: str) -> TimedCondition:
        formula = self.reader.orders(text) or self._read(self.reader.clauses, _stated(text))
        return TimedCondition(str(formula), self._names(text), wish=text)

    def forbidden(self, text: str) -> tuple[str, ...]:
        formula = self.reader.orders(text) or self.reader.clauses(_stated(text))
        if formula is not None:
            return (str(formula),)
        verb, _, thing = text.partition(" ")
        name = self.reader.object_of(thing)
        if verb in PLACING and name is not None:  # 'do not move truck1': it stays where it is
            held = [
                Not(atom)
                for atom in sorted(self.problem.init, key=str)
                if atom.args[:1] == (name,) and self.reader.one_at_a_time(atom.predicate)
            ]
            if held:
                return tuple(map(str, held))
        raise LanguageError(f"hvr does not understand the prohibition {text!r}")

    def holds(self, text: str) -> bool:
        formula = parse_formula(text, self.domain, self.problem.objects, file="<condition>")
        return holds_initially(self.domain, self.problem, formula)

    def over_all(self, texts: Sequence[tuple[str, str]]) -> tuple[str, ...]:
        return tuple(text for _, text in texts)

    def _read(self, read: Callable[[str], Formula | None], text: str) -> Formula:
        formula = read(text)
        if formula is None:
            raise LanguageError(f"hvr does not understand the condition {text!r}")
        return formula

    def _names(self, text: str) -> tuple[str, ...]:
        words = text.replace(",", " ").split()
        spans = [" ".join(words[a:b]) for a in range(len(words)) for b in (a + 1, a + 2)]
        names = (self.reader.object_of(span) for span in spans)
        return tuple(dict.fromkeys(name for name in names if name))


def own_words(
    text: str, clauses: Callable[[str], Formula | None]
) -> tuple[list[Formula], list[Expression], list[Expression]] | None:
    """Parse hvr's own paraphrase of a goal with constraints; return None for any other text.

    Returns:
        The stages, the constraints on all stages, and the constraints on all stages but the first.
    """
    stages: list[Formula] = []
    kept: list[list[Expression]] = []
    for part in text.lower().strip().rstrip(".").split("; then "):
        goal, *constraints = part.split("; ")
        formula = _formula(goal, clauses)
        read = [_constraint(one, clauses) for one in constraints]
        if formula is None or None in read:
            return None
        stages.append(formula)
        kept.append([one for one in read if one is not None])
    whole = [one for one in kept[0] if all(one in others for others in kept)]
    later = [one for one in kept[-1] if one not in whole]
    alike = all([*whole, *later] == others for others in kept[1:]) and kept[0] == whole
    return (stages, whole, later) if kept[-1] and alike else None


def _constraint(text: str, clauses: Callable[[str], Formula | None]) -> Trajectory | None:
    for operator, phrase in KEPT.items():
        before, *between, _ = phrase.split("{}")
        if not text.startswith(before):
            continue
        rest = text.removeprefix(before)
        halves = _split(rest, between[0]) if between else [(rest,)]
        for parts in halves:
            formulas = [_formula(part, clauses) for part in parts]
            if None not in formulas:
                return Trajectory(operator, (), tuple(f for f in formulas if f is not None))
    return None


def _formula(text: str, clauses: Callable[[str], Formula | None]) -> Formula | None:
    denial = "it is not so that "
    if text.startswith("if "):
        for one, other in _split(text.removeprefix("if "), ", "):
            left, right = _formula(one, clauses), _formula(other, clauses)
            if left is not None and right is not None:
                return Imply(left, right)
    if text.startswith(denial):
        inner = _formula(text.removeprefix(denial), clauses)
        return None if inner is None else Not(inner)
    return clauses(text)


def _split(text: str, joint: str) -> list[tuple[str, ...]]:
    parts = text.split(joint)
    return [(joint.join(parts[:n]), joint.join(parts[n:])) for n in range(1, len(parts))]


def since(mark: Atom, constraint: Trajectory) -> Trajectory:
    """Return a constraint that applies only after the atom `mark` becomes true."""
    first, *rest = constraint.formulas
    later: Expression = And((mark, first))
    if constraint.operator == "always":
        later = Imply(mark, first)
    return Trajectory(constraint.operator, constraint.times, (later, *rest))


def in_words(constraint: Expression, said: Callable[[Expression], str]) -> str:
    if isinstance(constraint, Trajectory) and constraint.operator in KEPT:
        return KEPT[constraint.operator].format(*map(said, constraint.formulas))
    return f"throughout {constraint}"


def all_in_words(constraints: Iterable[Expression], said: Callable[[Expression], str]) -> str:
    return "; ".join(dict.fromkeys(in_words(one, said) for one in constraints))


def _stated(text: str) -> str:
    """Turn 'red must be clear' into 'red is clear', and 'have red on blue' into 'red on blue'."""
    words = text.split()
    for modal in ("must be", "should be", "has to be", "needs to be", "shall be"):
        text = text.replace(f" {modal} ", " is ")
    return text if words[0] not in {"have", "let"} else " ".join(words[1:])


def _as_wish(text: str) -> str:
    return text.replace(" are ", " is ") if _BE & set(text.split()) else ""


# Prohibitions -------------------------------------------------------------------------------------

_FORBIDS = re.compile(
    r"(?P<start>^|[,.;] ?(?:and |but )?| and | but )"
    r"(?:(?:please )?(?:do not|don't|dont|never) (?P<deed>(?:[^,.;]|\.\d)+?)"
    r"|leave (?P<alone>(?:[^,.;]|\.\d)+?) (?:alone|untouched|as it is|as they are)"
    r"|without (?P<means>(?:[^,.;]|\.\d)+?))(?=$|[,;]|\.(?!\d)| and | but )"
    r"|(?P<inner> without )(?P<tail>(?:[^,.;]|\.\d)+?)(?=$|[,;]|\.(?!\d)| and | but )",
    re.IGNORECASE,
)
_USING = re.compile(
    r"(?:using |touching |employing |involving |use |the use of |taking |the help of )?"
    r"(?P<thing>.+)"
)
_USE = re.compile(r"(?:use|touch|employ) (?P<thing>.+)")


_BEGINS = frozenset(
    "do don't dont never no nobody nothing without keep leave let have use using with only just "
    "please then make be also finally thanks".split()
)
_CLAUSE = re.compile(r"[^,.;]*\b(?:is|are|must|may|can|should|shall|has|have|needs?|stays?|will)\b")


def _require_end(match: re.Match[str], verbs: Collection[str]) -> None:
    """Check that a constraint is not the first part of a list: 'do not move blue and white'.

    Raises:
        LanguageError: The text after the constraint begins neither an order nor a clause.
    """
    rest = re.sub(r"^(?:[\s,.;]|and\b|but\b)+", "", match.string[match.end() :].lower())
    if rest and rest.split()[0] not in {*verbs, *_BEGINS} and not _CLAUSE.match(rest):
        raise LanguageError(
            f"hvr cannot tell whether {match[0].strip(' ,.;')!r} also applies to {rest!r}: "
            "repeat it for each object"
        )


def without_prohibitions(
    text: str, verbs: Collection[str]
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Split a request into its orders, the actions that it forbids, and the objects not to use.

    Args:
        verbs: Verbs with which orders begin.
    """
    deeds: list[str] = []
    things: list[str] = []

    def cut(match: re.Match[str]) -> str:
        _require_end(match, verbs)
        deed = match["deed"]
        if deed and (use := _USE.fullmatch(deed)) is not None:
            things.append(use["thing"])
        elif deed:
            deeds.append(deed)
        elif match["alone"]:
            things.append(match["alone"])
        else:
            means = match["means"] or match["tail"]
            doing = plain_verb(re.sub("^ever ", "", means), verbs)
            using = _USING.fullmatch(means)
            if doing.split()[0] in verbs:
                deeds.append(doing)
            else:
                things.append(using["thing"] if using else "")
        return "" if match["inner"] or not match["start"] else ","

    rest = _FORBIDS.sub(cut, text)
    return rest.strip(" ,.;"), tuple(deeds), tuple(things)


_WHERE_IT_IS = r"(?:exactly )?(?:where (?:it|he|she|they) (?:is|are|stands?)|in place|there|put)"
_STAYS = re.compile(
    r"(?:^|(?P<joint>[,.;] ?(?:and |but )?| and | but ))(?:"
    rf"(?:leave|keep|let) (?P<left>[^,.;]+?) {_WHERE_IT_IS}(?: now)?"
    r"|(?:without|not) moving (?P<unmoved>[^,.;]+?)"
    rf"|(?P<stays>[^,.;]+?) (?:must |should |has to |is to )?stays? {_WHERE_IT_IS}"
    r")(?=$|[,.;]| and | but )"
)
_ONLY = re.compile(
    r"(?:^|[,.;] ?(?:and |but )?| and | but |,? )"
    r"(?:(?:using|with|use|by using) (?:only|just|nothing but)|only (?:use|using|with)) "
    r"(?P<thing>[^,.;]+?)(?=$|[,.;]| and | but | to )"
)


_OUT = re.compile(
    r"(?:^|[,.;] ?(?:and |but )?| and | but )keep (?P<who>[^,.;]+?) (?:out of|away from|off) "
    r"(?P<place>[^,.;]+?)(?=$|[,.;]| and | but )"
)
_MAY_NOT = re.compile(
    r"(?:^|[,.;] ?(?:and |but )?| and | but )(?P<who>[^,.;]+?) (?:must|may|should|shall|can) ?"
    r"(?:not|never) (?!be |stay |have |remain )(?P<deed>[^,.;]+?)(?=$|[,.;]| and | but )"
)


def without_fixed(text: str, reader: FactOrders) -> tuple[str, list[Expression]]:
    """Split a request into its rest and its constraints, such as "leave X where it is"."""
    found: list[Expression] = []

    def out(match: re.Match[str]) -> str:
        _require_end(match, reader.verbs)
        names = reader.objects_of(match["who"])
        there = [reader.clauses(f"{name} is in {match['place']}") for name in names]
        known = [one for one in there if one is not None]
        held = any(holds_initially(reader.domain, reader.problem, one) for one in known)
        if not known or len(known) < len(names) or held:
            return match[0]
        found.extend(_always(negation(one)) for one in known)
        return ","

    def may_not(match: re.Match[str]) -> str:
        _require_end(match, reader.verbs)
        deeds = reader.occurrences(match["who"], match["deed"])
        found.extend(_always(Not(deed)) for deed in deeds)
        return "," if deeds else match[0]

    def stay(match: re.Match[str]) -> str:
        phrase = match["left"] or match["unmoved"] or match["stays"]
        names = reader.objects_of(phrase)
        places = [atom for name in names for atom in reader.places_now(name)]
        if not places:
            return match[0]
        found.extend(map(_always, places))
        return match["joint"] or ""

    def only(match: re.Match[str]) -> str:
        _require_end(match, reader.verbs)
        names = reader.objects_of(match["thing"])
        kinds = {reader.objects[name] for name in names}
        others = [o for o, types in reader.objects.items() if types in kinds and o not in names]
        if not names or not others:
            return match[0]
        for other in others:
            found.extend(map(_always, unchanged(other, reader.domain, reader.problem)))
        return ""

    rest = _MAY_NOT.sub(may_not, _OUT.sub(out, _ONLY.sub(only, _STAYS.sub(stay, text))))
    rest = rest.strip(" ,.;")
    return re.sub(r"^(?:and|but) |(?:,)? (?:and|but)$", "", rest), found


_KEPT = re.compile(
    r"(?:^|[,.;] ?(?:and )?| and )keep (?P<state>[^,.;]+?)(?=$|[,.;]| and )", re.IGNORECASE
)


def without_kept(text: str, words: FactWords) -> tuple[str, tuple[str, ...]]:
    """Split a request into the remaining text and the current states to preserve."""
    states: list[str] = []

    def cut(match: re.Match[str]) -> str:
        try:
            state = words.kept(match["state"].lower()).text
        except LanguageError:
            return match[0]
        if not words.holds(state):
            return match[0]  # an order to bring it about
        states.append(state)
        return ","

    rest = _KEPT.sub(cut, text).strip(" ,.;")
    return re.sub(r"^and ", "", rest), tuple(states)


def forbidding(
    words: FactWords,
    domain: Domain,
    problem: Problem,
    deeds: tuple[str, ...],
    things: tuple[str, ...],
) -> Iterator[Expression]:
    """Yield the constraints that forbid the actions `deeds` and the use of `things`.

    Raises:
        LanguageError: An action or object is unknown, or a forbidden state already holds.
    """
    for deed in deeds:
        for text in words.forbidden(deed.strip()):
            formula = parse_formula(text, domain, problem.objects, file="<goal>")
            if words.holds(text):
                raise LanguageError(f"{deed!r} is forbidden but already holds: undo it first")
            yield from map(_always, _denials(formula))
    for thing in things:
        names = words.reader.objects_of(thing.strip())
        if not names:
            raise LanguageError(f"the request forbids the use of an unknown thing: {thing!r}")
        for name in names:
            yield from map(_always, unchanged(name, domain, problem))


def _denials(formula: Formula) -> Iterator[Formula]:
    """Yield the conditions that together make every part of a formula false."""
    match formula:
        case And(operands):
            for operand in operands:
                yield from _denials(cast(Formula, operand))
        case Forall(variables, body):
            yield from (Forall(variables, one) for one in _denials(cast(Formula, body)))
        case _:
            yield negation(formula)


def unchanged(name: str, domain: Domain, problem: Problem) -> Iterator[Formula]:
    """Yield conditions that together keep an object unused and every fact about it as it is."""
    objects = {o.name: o.types for o in (*domain.constants, *problem.objects)}
    for action in domain.actions.values():
        for at, parameter in enumerate(action.parameters):
            mentioned = any(parameter.name in a.args for a, _ in literals_of(action.effect))
            if not mentioned and domain.has_type(objects[name], parameter.types):
                yield Not(occurrence(action.name, {at: name}))
    changed = {
        atom.predicate
        for action in domain.actions.values()
        for atom, _ in literals_of(action.effect)
    }
    for predicate in sorted(changed):
        parameters = domain.predicates[predicate].parameters
        for at, parameter in enumerate(parameters):
            if not domain.has_type(objects[name], parameter.types):
                continue
            held = [
                atom
                for atom in sorted(problem.init, key=str)
                if atom.predicate == predicate and atom.args[at] == name
            ]
            yield from held
            args = tuple(name if n == at else f"?v{n}" for n in range(len(parameters)))
            others = tuple(
                TypedName(f"?v{n}", p.types) for n, p in enumerate(parameters) if n != at
            )
            if not held:
                atom = Not(Atom(predicate, args))
                yield Forall(others, atom) if others else atom
    for fluent, value in problem.numeric_init.items():
        if name in fluent.args:
            yield Comparison("=", FunctionTerm(fluent.function, fluent.args), Number(value))


def _always(formula: Formula) -> Expression:
    return Trajectory("always", (), (formula,))
