"""Goals by description, for worlds whose objects are discovered during the run.

Elsewhere the objects of a request are chosen before planning (`object_choice`). Where some of them
have not been seen, the goal keeps the descriptions: `(exists (?x1 - ball) (and (red ?x1) …))`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from hvr.errors import AmbiguousError, ImpossibleGoalError, LanguageError
from hvr.knowledge.roles import ADJOINS, PORTABLE
from hvr.knowledge.wording import Wording, wording_of
from hvr.language.grammar import Reader, readings
from hvr.language.lexicon import Adjective
from hvr.language.meaning import NEXT_TO, Condition, Entity, Meaning, SpatialRelation
from hvr.pddl import Atom, Exists, Expression
from hvr.pddl.problem_parser import parse_formula
from hvr.values import Value


class DescribedStage(Value):
    """A part of a request that must be done before the next one begins.

    Args:
        text: The condition in PDDL; its objects are variables.
        said: The condition in words.
    """

    text: str
    said: str


def described_stages(
    request: str, reader: Reader, reading: int | None = None
) -> tuple[DescribedStage, ...]:
    """Return the stages of a request, with descriptions in place of objects.

    Args:
        reading: 1-based number of the reading to use if there are several.

    Raises:
        LanguageError: The request was not understood, or needs objects that are all known.
        AmbiguousError: The request has several readings, and none was chosen.
        ImpossibleGoalError: No object of the kind can meet the request.
    """
    found: dict[tuple[DescribedStage, ...], None] = {}
    for choices in readings(request, reader.lexicon, reader.taxonomy):
        for meaning in choices:
            found[tuple(_Description(meaning, reader).stages())] = None
    if len(found) > 1 and reading is None:
        raise AmbiguousError(tuple(", then ".join(s.said for s in stages) for stages in found))
    return list(found)[min(reading or 1, len(found)) - 1]


class _Description:
    def __init__(self, meaning: Meaning, reader: Reader) -> None:
        self.meaning = meaning
        self.reader = reader
        self.taxonomy = reader.taxonomy
        self.wording: Wording = wording_of(reader.ontology)
        self._words: dict[str, str] = {}
        for entries in reader.lexicon.entries.values():
            for entry in entries:
                if isinstance(entry, Adjective) and entry.selects:
                    self._words.setdefault(entry.condition, entry.word)

    def stages(self) -> Iterator[DescribedStage]:
        if self.meaning.bans:
            raise self._unsupported("a prohibition")
        begins = (0, *self.meaning.ordered, self.meaning.clauses)
        for begin, end in pairwise(begins):
            asked = list(self._asked(begin, end))
            if asked:
                texts = [text for text, _ in asked]
                text = texts[0] if len(texts) == 1 else f"(and {' '.join(texts)})"
                yield DescribedStage(text, " and ".join(said for _, said in asked))

    def _asked(self, begin: int, end: int) -> Iterator[tuple[str, str]]:
        """Yield the condition of each group of related things, with its words."""
        relations = [r for r in self.meaning.relations if begin <= r.clause < end]
        wanted = {
            number: [c for c in entity.conditions if begin <= c.clause < end]
            for number, entity in enumerate(self.meaning.entities)
        }
        left = [n for n, conditions in wanted.items() if conditions]
        left += [n for r in relations for n in (r.inner, r.outer) if n not in left]
        while left:
            group, related = [left.pop(0)], []
            while joined := [r for r in relations if {r.inner, r.outer} & {*group}]:
                related += joined
                relations = [r for r in relations if r not in joined]
                group += [n for r in joined for n in (r.inner, r.outer)]
            group = list(dict.fromkeys(group))
            left = [n for n in left if n not in group]
            yield self._condition(group, wanted, related)

    def _condition(
        self,
        group: Sequence[int],
        wanted: dict[int, list[Condition]],
        related: Iterable[SpatialRelation],
    ) -> tuple[str, str]:
        variables = {number: f"?x{place}" for place, number in enumerate(group, 1)}
        moved = {relation.inner for relation in related}
        parts: list[str] = []
        goals: list[str] = []
        for number in group:
            entity = self.meaning.entities[number]
            self._check(entity)
            parts += [s.replace("?x", variables[number]) for s in entity.selectors]
            goals += [c.template.replace("?x", variables[number]) for c in wanted[number]]
        for relation in related:
            predicate = self.taxonomy.roles.predicate(ADJOINS)
            if relation.word != NEXT_TO or predicate is None:
                raise self._unsupported(f"{relation.word!r} as a place")
            goals.append(f"({predicate} {variables[relation.inner]} {variables[relation.outer]})")
        declared = [f"{variables[n]} - {self._type(n, wanted[n], n in moved)}" for n in group]
        text = f"(exists ({' '.join(declared)}) (and {' '.join([*parts, *goals])}))"
        names = {variables[n]: self._said(self.meaning.entities[n]) for n in group}
        return text, " and ".join(self._clause(goal, declared, names) for goal in goals)

    def _check(self, entity: Entity) -> None:
        """Refuse what only known objects can be asked."""
        if entity.count != 1:
            raise self._unsupported(f"{entity.text!r} (several things)")
        if entity.name is not None:
            raise self._unsupported(f"the name {entity.name!r}")
        more = (entity.liquid, entity.place_from, entity.near, entity.besides, entity.distinct)
        if any(more) or entity.returns is not None:
            raise self._unsupported(f"{entity.text!r} with where it is or what is in it")

    def _unsupported(self, what: str) -> LanguageError:
        return LanguageError(
            f"{self.meaning.text.strip()!r}: hvr does not understand {what} in a world whose "
            "objects are found on the way; describe one thing at a time"
        )

    def _type(self, number: int, conditions: Iterable[Condition], moved: bool) -> str:
        """Return the type of the kinds of an entity that allow the required action."""
        entity = self.meaning.entities[number]
        needed = [(c.word, c.requires) for c in conditions]
        needed += [("put", self.taxonomy.roles.class_of(PORTABLE))] if moved else []
        classes = entity.classes
        for word, needs in needed:
            classes = tuple(c for c in classes if not needs or self.taxonomy.is_a(c, needs))
            if not classes:
                raise ImpossibleGoalError(f"{self._said(entity)} is not a thing to {word}")
        types = list(dict.fromkeys(self.taxonomy.pddl_type(c) for c in classes))
        return types[0] if len(types) == 1 else f"(either {' '.join(types)})"

    def _said(self, entity: Entity) -> str:
        words = [self._words.get(s, s) for s in entity.selectors]
        before = [word for word in words if " " not in word]
        after = [word for word in words if " " in word]
        first = (before or [entity.text])[0]
        article = "an" if first[0] in "aeiou" else "a"
        return " ".join([article, *before, entity.text, *after])

    def _clause(self, goal: str, declared: Iterable[str], names: dict[str, str]) -> str:
        formula: Expression = parse_formula(
            f"(exists ({' '.join(declared)}) {goal})", self.reader.domain, ()
        )
        while isinstance(formula, Exists):
            formula = formula.body
        if not isinstance(formula, Atom):
            return goal
        return self.wording.clause(formula.predicate, [names[a] for a in formula.args]) or goal
