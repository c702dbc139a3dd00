"""A paraphrase of a goal in plain words, from its PDDL alone, whichever reader produced it.

    (exists (?m - mug ?t - diningtable) (and (contains ?m coffee) (on ?m ?t)))
    a mug contains coffee and is on a dining table

The words describe the proven goal, since both come from the same formula.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.wording import wording_of
from hvr.language.goal_builder import Stage
from hvr.language.lexicon import plurals
from hvr.language.taxonomy import Taxonomy
from hvr.pddl import Domain, TypedName, parse_constraint, parse_formula
from hvr.pddl.formulas import (
    And,
    Atom,
    Equal,
    Exists,
    Expression,
    Forall,
    Imply,
    Not,
    Or,
    Trajectory,
)

ORDINALS = ("a second", "a third", "a fourth", "a fifth")
ANYTHING = "thing"
AGAIN = "the same or another "
"""Before a noun: another variable of the same type, which may be the same object."""

THAT = "that "
"""Before a noun: the object that the first part of a constraint mentions."""

APART = "is not the same as "
"""Between two objects that must differ."""

NOTHING_LEFT = "nothing is left to do"
_FEW = 3
"""Maximum number of alternatives that are listed; more are described by 'other than'."""

_MOST = 12
"""Maximum number of alternatives, or objects of a class, that are listed individually."""


def paraphrase(
    stages: Sequence[Stage], taxonomy: Taxonomy, inventory: Inventory, domain: Domain
) -> tuple[str, ...]:
    """Return a paraphrase of each stage of a goal, without end-state preferences."""
    objects = [TypedName(n, (taxonomy.pddl_type(c),)) for n, c in inventory.classes.items()]
    return tuple(_stage(stage, domain, objects, taxonomy, inventory) for stage in stages)


def paraphrase_constraints(
    constraints: Sequence[Expression], taxonomy: Taxonomy, inventory: Inventory
) -> str:
    """Return a paraphrase of trajectory constraints, without duplicates."""
    texts = (_Speaker(taxonomy, inventory).kept(constraint) for constraint in constraints)
    return "; ".join(dict.fromkeys(texts))


def in_order(sentences: Sequence[str]) -> str:
    return "; then ".join(sentences)


def _stage(
    stage: Stage,
    domain: Domain,
    objects: Sequence[TypedName],
    taxonomy: Taxonomy,
    inventory: Inventory,
) -> str:
    parts = [_Speaker(taxonomy, inventory).whole(parse_formula(stage.wanted, domain, objects))]
    for constraint in stage.constraints:
        formula = parse_constraint(constraint, domain, objects)
        parts.append(_Speaker(taxonomy, inventory).kept(formula))
    return "; ".join(parts)


KEPT = {
    "always": "at all times {}",
    "sometime": "at some time {}",
    "at-most-once": "at most once {}",
    "at end": "in the end {}",
    "sometime-before": "before {}, {}",
    "sometime-after": "whenever {}, then or later {}",
}
"""Phrases for trajectory constraints."""


class _Speaker:
    """Generates text from formulas, and records which objects it has mentioned."""

    def __init__(self, taxonomy: Taxonomy, inventory: Inventory) -> None:
        self._taxonomy = taxonomy
        self._wording = wording_of(taxonomy.ontology)
        self._classes = inventory.classes
        self._copies = Counter(inventory.classes.values())
        self._nouns: dict[str, str] = {}  # by variable: "mug"
        self._spoken: dict[str, str] = {}  # by variable: "the mug", once mentioned
        self._types: dict[str, tuple[str, ...]] = {}  # by variable
        self._articles: dict[str, str] = {}  # by noun: "a mug", "bread"
        self._only: set[str] = set()  # nouns with a single object in the scene
        self._among: dict[str, tuple[str, ...]] = {}  # by variable: its possible objects
        self._apart: set[frozenset[str]] = set()  # pairs that must differ, not yet expressed
        self._named: dict[str, list[str]] = {}  # by noun: variables mentioned so far

    def whole(self, formula: Expression) -> str:
        literals: list[Expression] = []
        self._collect(formula, literals)
        self._apart = {pair for part in literals if (pair := _tells_apart(part))}
        literals = [part for part in dict.fromkeys(literals) if not _tells_apart(part)]
        sentences = self._sentences(literals)
        return "; ".join([*sentences, *self._differences()]) or NOTHING_LEFT

    def _differences(self) -> list[str]:
        order = {name: n for n, name in enumerate(self._spoken)}
        pairs = [sorted(pair, key=lambda n: (order.get(n, -1), n)) for pair in self._apart]
        return [f"{self._name(one)} {APART}{self._name(other)}" for one, other in sorted(pairs)]

    def kept(self, constraint: Expression) -> str:
        if isinstance(constraint, And):
            return "; ".join(map(self.kept, constraint.operands))
        if isinstance(constraint, Forall):
            self._speak_of_all(constraint.variables)
            body, (variable, *others) = constraint.body, constraint.variables
            if isinstance(body, Trajectory) and len(body.formulas) > 1 and not others:
                return self._kept_by_each(body, variable.name)
            return self.kept(body)
        if isinstance(constraint, Trajectory) and constraint.operator in KEPT:
            one = len(constraint.formulas) == 1
            parts = map(self.whole if one else self._within, constraint.formulas)
            return KEPT[constraint.operator].format(*parts)
        return f"throughout {constraint}"

    def _kept_by_each(self, constraint: Trajectory, variable: str) -> str:
        noun = self._nouns[variable]
        parts: list[str] = []
        for called in (self._articles.get(noun, _a(noun)), f"{THAT}{noun}"):
            self._spoken[variable] = called
            parts.append(self._within(constraint.formulas[len(parts)]))
        return KEPT[constraint.operator].format(*parts)

    def _collect(self, formula: Expression, found: list[Expression]) -> None:
        if isinstance(formula, And):
            for operand in formula.operands:
                self._collect(operand, found)
        elif isinstance(formula, Exists):
            self._learn(formula.variables)
            if isinstance(formula.body, Atom):  # 'in a drawer', whichever: no later reference
                whichever = [variable.name for variable in formula.variables]
                self._spoken |= {name: self._any(name) for name in whichever}
            self._collect(formula.body, found)
        elif (among := one_of(formula)) is not None:
            variable, names = among
            if set(names) != set(self._of_kind(variable)):
                self._among[variable] = names
        elif formula not in found:
            found.append(formula)

    def _any(self, variable: str) -> str:
        noun = self._nouns[variable]
        if noun in self._only:
            return f"the {noun}"
        return self._articles.get(noun, _a(noun))

    def _learn(self, variables: Iterable[TypedName]) -> None:
        for variable in variables:
            noun = self._nouns[variable.name] = self._noun(variable.types)
            self._types[variable.name] = tuple(variable.types)
            classes = [self._taxonomy.class_of_type(name) for name in variable.types]
            if len(classes) == 1 and classes[0]:
                self._articles[noun] = self._taxonomy.a_label(classes[0])
                if self._copies[classes[0]] == 1:
                    self._only.add(noun)

    def _noun(self, types: Sequence[str]) -> str:
        labels = [self._label_of_type(name) for name in types]
        everything = (self._taxonomy.roles.thing_type,)
        if len(labels) > _MOST or tuple(types) in (everything, ("object",)):
            return ANYTHING
        return ", ".join(labels[:-1]) + " or " * (len(labels) > 1) + labels[-1]

    def _label_of_type(self, name: str) -> str:
        object_class = self._taxonomy.class_of_type(name)
        return self._taxonomy.label(object_class) if object_class else name

    def _sentences(self, parts: Sequence[Expression]) -> list[str]:
        by_subject: dict[str, list[Atom | Not]] = {}
        others = []
        for part in map(self._without_none, parts):
            atom = part.operand if isinstance(part, Not) else part
            if isinstance(atom, Atom) and isinstance(part, Atom | Not):
                subject = atom.args[0] if atom.args else ""
                by_subject.setdefault(subject, []).append(part)
            else:
                others.append(part)
        sentences = []
        while by_subject:
            alike = self._alike(by_subject)
            sentences.append(self._about(alike, by_subject[alike[0]]))
            for subject in alike:
                del by_subject[subject]
        return [*sentences, *map(self._other, others)]

    def _without_none(self, part: Expression) -> Expression:
        if not (
            isinstance(part, Not)
            and isinstance(part.operand, Exists)
            and isinstance(part.operand.body, Atom)
        ):
            return part
        atom = part.operand.body
        self._learn(part.operand.variables)
        for variable in part.operand.variables:
            self._spoken[variable.name] = f"any {self._nouns[variable.name]}"
        subject = atom.args[0] if atom.args else ""
        if subject not in {variable.name for variable in part.operand.variables}:
            return Not(atom)
        noun = self._nouns[subject]
        self._spoken[subject] = "nothing" if noun == ANYTHING else f"no {noun}"
        return atom

    def _alike(self, by_subject: Mapping[str, Sequence[Atom | Not]]) -> list[str]:
        first, *rest = by_subject
        kind = self._kind(first)
        if not kind or first in self._spoken or first in self._among:
            return [first]
        wanted = [_without_subject(part) for part in by_subject[first]]
        alike = [first]
        for other in rest:
            if (
                self._kind(other) == kind
                and [_without_subject(part) for part in by_subject[other]] == wanted
                and all(self._joins(other, one) for one in alike)
            ):
                alike.append(other)
        return alike if first not in self._nouns or not self._named.get(kind) else [first]

    def _joins(self, one: str, other: str) -> bool:
        if one not in self._nouns:
            return other not in self._nouns
        said = one in self._spoken or one in self._among
        return not said and frozenset((one, other)) in self._apart

    def _kind(self, subject: str) -> str:
        if subject in self._nouns:
            return self._nouns[subject]
        object_class = self._classes.get(subject)
        return self._taxonomy.label(object_class) if object_class else ""

    def _about(self, subjects: Sequence[str], literals: Sequence[Atom | Not]) -> str:
        first, *_ = subjects
        alone = self._name(first) if first and len(subjects) == 1 else ""
        subject = self._each(subjects) if len(subjects) > 1 else alone
        clauses = [self._literal(literal, subject) for literal in literals]
        # "the mug is clean and is hot"; a clause that does not start with the subject stands alone.
        own = [text for text in clauses if text.startswith(f"{subject} ")]
        others = [text for text in clauses if text not in own]
        rest = [text.removeprefix(f"{subject} ") for text in own[1:]]
        return " and ".join(part for part in (_joined([*own[:1], *rest]), *others) if part)

    def _each(self, subjects: Sequence[str]) -> str:
        first, *_ = subjects
        kind = self._kind(first)
        if first in self._nouns:
            for number, name in enumerate(subjects):
                self._mention(name, kind)
                nth = "first" if number == 0 else _nth(number)
                self._spoken[name] = f"the {nth} of the {plurals(kind)[0]}"
            self._apart -= {frozenset((a, b)) for a in subjects for b in subjects}
            return f"each of {len(subjects)} {plurals(kind)[0]}"
        alike = [n for n, c in self._classes.items() if c == self._classes[first]]
        if len(subjects) == len(alike):
            return f"every {kind}"
        others = [name for name in alike if name not in subjects]
        if len(subjects) > _FEW and len(others) < len(subjects):
            return f"every {kind} other than {_joined(others)}"
        return f"each of {_joined(subjects)}"

    def _of_kind(self, variable: str) -> list[str]:
        types = self._types.get(variable, ())
        classes = {self._taxonomy.class_of_type(name) for name in types}
        return [name for name, c in self._classes.items() if c in classes]

    def _mention(self, variable: str, noun: str) -> int:
        named = self._named.setdefault(noun, [])
        named.append(variable)
        return len(named) - 1

    def _literal(self, literal: Atom | Not, subject: str) -> str:
        atom = literal.operand if isinstance(literal, Not) else literal
        assert isinstance(atom, Atom)
        args = [subject, *map(self._name, atom.args[1:])] if atom.args else []
        positive = isinstance(literal, Atom)
        return self._wording.clause(atom.predicate, args, positive=positive) or str(literal)

    def _name(self, arg: str) -> str:
        if arg in self._spoken:
            return self._spoken[arg]
        if arg not in self._nouns:
            return self._own_name(arg)
        noun = self._nouns[arg]
        before = list(self._named.get(noun, ()))
        number = self._mention(arg, noun)
        self._spoken[arg] = f"the {_nth(number)} {noun}" if number else f"the {noun}"
        if arg in self._among:
            return self._alternatives(arg, noun)
        if number == 0:
            return self._spoken[arg] if noun in self._only else self._articles.get(noun, _a(noun))
        pairs = {frozenset((arg, other)) for other in before}
        if not pairs <= self._apart:
            return f"{AGAIN}{noun}"
        self._apart -= pairs
        return f"{ORDINALS[min(number, 4) - 1]} {noun}"

    def _alternatives(self, variable: str, noun: str) -> str:
        names = self._among[variable]
        others = [name for name in self._of_kind(variable) if name not in names]
        if len(names) > _FEW and len(others) < len(names):
            return f"{self._articles.get(noun, _a(noun))} other than {_joined(others)}"
        return f"{', '.join(names[:-1])}{' or ' * (len(names) > 1)}{names[-1]}"

    def _own_name(self, name: str) -> str:
        object_class = self._classes.get(name)
        if object_class is None or self._copies[object_class] > 1:
            return name
        return f"the {self._taxonomy.label(object_class)}"

    def _other(self, part: Expression) -> str:
        if isinstance(part, Or):
            return self._either(part)
        if isinstance(part, Forall):
            self._speak_of_all(part.variables)
            return self._within(part.body)
        if isinstance(part, Imply):
            return f"if {self._within(part.left)}, {self._within(part.right)}"
        if isinstance(part, Not) and isinstance(part.operand, Exists):
            if (few := self._at_most(part.operand)) is not None:
                return few
            return f"it is not so that {self._within(part.operand)}"
        if isinstance(part, Not) and isinstance(part.operand, And | Or | Imply):
            return f"it is not so that {self._within(part.operand)}"
        return str(part)

    def _speak_of_all(self, variables: Sequence[TypedName]) -> None:
        self._learn(variables)
        for variable in variables:
            noun = self._nouns[variable.name]
            self._spoken[variable.name] = f"{'the' if noun in self._only else 'every'} {noun}"

    def _either(self, part: Or) -> str:
        options = []
        before = dict(self._spoken), {noun: [*names] for noun, names in self._named.items()}
        for operand in part.operands[:_MOST]:
            self._spoken = dict(before[0])
            self._named = {noun: [*names] for noun, names in before[1].items()}
            literals: list[Expression] = []
            self._collect(operand, literals)
            options.append(self._sentences([p for p in literals if not _tells_apart(p)]))
        if not options:
            return str(part)
        shared = [s for s in options[0] if all(s in option for option in options)]
        own = [" and ".join(s for s in option if s not in shared) for option in options]
        choice = f"either {' or '.join(filter(None, own))}"
        return "; ".join((*shared, choice) if all(own) else shared)

    def _at_most(self, part: Exists) -> str | None:
        literals: list[Expression] = []
        self._collect(part.body, literals)
        self._learn(part.variables)
        unary = [p for p in literals if isinstance(p, Atom) and len(p.args) == 1]
        others = [p for p in literals if p not in unary and not _tells_apart(p)]
        names = [variable.name for variable in part.variables]
        if others or [p.args[0] for p in unary] != names or len({p.predicate for p in unary}) != 1:
            return None
        noun = self._nouns[names[0]]
        many = f"at most {len(names) - 1} {noun if len(names) == 2 else plurals(noun)[0]}"
        return self._literal(unary[0], many)

    def _within(self, part: Expression) -> str:
        literals: list[Expression] = []
        self._collect(part, literals)
        return " and ".join(self._sentences([p for p in literals if not _tells_apart(p)]))


def one_of(part: Expression) -> tuple[str, tuple[str, ...]] | None:
    """Return (variable, objects) if a formula only lists alternatives for a variable, else None."""
    options = part.operands if isinstance(part, Or) else (part,)
    if not options or not all(isinstance(o, Equal) for o in options):
        return None
    sides = [(o.left, o.right) for o in options if isinstance(o, Equal)]
    return sides[0][0], tuple(name for _, name in sides)


def _tells_apart(part: Expression) -> frozenset[str]:
    if isinstance(part, Not) and isinstance(part.operand, Equal):
        return frozenset((part.operand.left, part.operand.right))
    return frozenset()


def _without_subject(literal: Atom | Not) -> tuple[object, ...]:
    atom = literal.operand if isinstance(literal, Not) else literal
    assert isinstance(atom, Atom)
    return isinstance(literal, Not), atom.predicate, atom.args[1:]


def _joined(clauses: Sequence[str]) -> str:
    if len(clauses) < 2:
        return "".join(clauses)
    return f"{', '.join(clauses[:-1])} and {clauses[-1]}"


def _nth(number: int) -> str:
    return ORDINALS[min(number, 4) - 1].removeprefix("a ")


def _a(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"
