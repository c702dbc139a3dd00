"""Read hvr's own paraphrases: the inverse of `hvr.language.paraphrase`.

A paraphrase that the user types, or chooses as the answer to a question, must mean the goal that it
describes. The templates of the paraphrase parse the sentences, and a parse counts only if its own
paraphrase equals the text. The grammar reads all other texts.

    paraphrase := stage ('; then ' stage)*
    stage      := sentence ('; ' sentence)* ('; ' constraint)*
    sentence   := thing clause ((', ' | ' and ') clause)*
                | 'either ' sentence (' or ' sentence)* | 'if ' sentence ', ' sentence
    thing      := 'the mug' | 'a mug' | 'a second mug' | 'mug-1 or mug-2' | 'every mug' | …
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from hvr.errors import HvrError
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.wording import wording_of
from hvr.language.goal_builder import Goal, Stage, end_conditions, end_predicates
from hvr.language.lexicon import MAX_CHARACTERS, plurals
from hvr.language.paraphrase import (
    AGAIN,
    ANYTHING,
    APART,
    KEPT,
    NOTHING_LEFT,
    ORDINALS,
    THAT,
    paraphrase,
)
from hvr.language.taxonomy import Taxonomy
from hvr.pddl import Domain, TypedName, parse_formula
from hvr.pddl.formulas import And, Atom, Exists, Expression, Forall, Not, Or, When
from hvr.values import cached_property

_NAME = re.compile(r"[a-z][a-z0-9_]*-\d+(?![\w-])")
_LIFTED = re.compile(r"\(forall \((\?\S+) - (.+?)\) (\(.*\))\)")
_PIECE = re.compile(r"\{(\d)\}")
_MOST_PARSES = 3000
"""Maximum number of parses of one text that are compared."""

_MOST_TRIED = 10_000
"""Maximum number of parts that are tried, since each 'and' or 'or' can double them."""


@dataclass(frozen=True)
class _Thing:
    """The referent of a noun phrase.

    Args:
        terms: Objects or variables; several for 'each of …' and 'every …'.
        inner: Variable, with its types, of an object that no other clause mentions.
        none: Whether the literal is denied for all such objects: 'nothing', 'any drawer'.
        every: Type of a universally quantified variable.
    """

    terms: tuple[str, ...]
    inner: str = ""
    none: bool = False
    every: str = ""


@dataclass(frozen=True)
class _Heard:
    """The parsed beginning of a text.

    Args:
        variables: The types of each variable.
        spoken: The variable of each phrase that later phrases can refer to.
        taken: The variables of each noun.
        parts: The parsed conditions.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    spoken: Mapping[str, str] = field(default_factory=dict)
    taken: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    parts: tuple[str, ...] = ()

    def add(self, *parts: str) -> _Heard:
        return replace(self, parts=(*self.parts, *parts))

    def new(self, noun: str, types: str, phrase: str = "") -> tuple[str, _Heard]:
        name = f"?x{len(self.variables)}"
        taken = (*self.taken.get(noun, ()), name)
        spoken = {**self.spoken, phrase: name} if phrase else self.spoken
        return name, replace(
            self,
            variables={**self.variables, name: types},
            spoken=spoken,
            taken={**self.taken, noun: taken},
        )


class _TooManyTriedError(Exception):
    """A text can be split at 'and' and 'or' in more ways than can be tried."""


class OwnWords:
    """Reads hvr's own paraphrases as goals in one scene."""

    def __init__(self, taxonomy: Taxonomy, inventory: Inventory, domain: Domain) -> None:
        self.taxonomy = taxonomy
        self.inventory = inventory
        self.domain = domain
        self._staged = False
        self._tried = 0

    def goal(self, text: str) -> Goal | None:
        """Return the goal of a paraphrase, or None for other text or too many possible splits."""
        plain = re.sub(r"\s+", " ", text.strip().rstrip(".!").strip()).lower()
        if len(plain) > MAX_CHARACTERS or not self._may_be(plain):
            return None
        self._tried = 0
        try:
            return self._goal(plain)
        except _TooManyTriedError:
            return None

    def _goal(self, plain: str) -> Goal | None:
        texts = plain.split("; then ")
        self._staged = len(texts) > 1
        stages = []
        for number, part in enumerate(texts, start=1):
            stage = self._stage(part, last=number == len(texts))
            if stage is None:
                return None
            stages.append(stage)
        said = paraphrase(stages, self.taxonomy, self.inventory, self.domain)
        return Goal(tuple(stages), paraphrase=said)

    def _may_be(self, text: str) -> bool:
        return text == NOTHING_LEFT or any(f" {word} " in text for word in self._copulas)

    @cached_property
    def _copulas(self) -> frozenset[str]:
        tails = (text for _, _, text in self._templates)
        return frozenset(
            _PIECE.split(text)[-1 if "{1}" not in text else 2].split()[0]
            for text in tails
            if "{0}" in text and _PIECE.split(text)[2].split()
        )

    @cached_property
    def _templates(self) -> tuple[tuple[str, bool, str], ...]:
        """Clauses that affirm or deny predicates, as (predicate, positive, template) triples."""
        words = wording_of(self.taxonomy.ontology).predicates
        return tuple(
            (name, positive, template.text.lower())
            for name, said in words.items()
            if name in self.domain.predicates
            for positive, template in ((True, said.true), (False, said.false))
            if template
        )

    # --- stages --------------------------------------------------------------------------

    def _stage(self, text: str, *, last: bool) -> Stage | None:
        parts = text.split("; ")
        starts = [n for n, part in enumerate(parts) if _constraint(part)] + [len(parts)]
        wanted, kept = parts[: starts[0]], pairwise(starts)
        texts = ["; ".join(parts[a:b]) for a, b in kept]
        for count, formula in enumerate(self._formulas(wanted)):
            if count > _MOST_PARSES:
                break
            for constraints in self._constraints(texts):
                stage = self._checked(formula, constraints, text, last=last)
                if stage is not None:
                    return stage
        return None

    def _checked(
        self, wanted: str, constraints: tuple[str, ...], text: str, *, last: bool
    ) -> Stage | None:
        try:
            formula = parse_formula(wanted, self.domain, self._objects, file="<goal>")
            ends = () if wanted == "(and)" else self._ends(formula, last=last)
            stage = Stage(wanted, ends, constraints)
            (said,) = paraphrase([stage], self.taxonomy, self.inventory, self.domain)
        except HvrError:
            return None
        return stage if said.lower() == text and self._achievable(formula) else None

    @cached_property
    def _objects(self) -> list[TypedName]:
        kinds = self.inventory.classes.items()
        return [TypedName(n, (self.taxonomy.pddl_type(c),)) for n, c in kinds]

    def _achievable(self, formula: Expression, *, positive: bool = True) -> bool:
        match formula:
            case Atom():
                return (formula.predicate, positive) in self._effects
            case Not(operand):
                return self._achievable(operand, positive=not positive)
            case And(operands) | Or(operands):
                return all(self._achievable(o, positive=positive) for o in operands)
            case Exists(_, body) | Forall(_, body):
                return self._achievable(body, positive=positive)
        return True

    @cached_property
    def _effects(self) -> frozenset[tuple[str, bool]]:
        return effects_of(self.domain)

    def _ends(self, formula: Expression, *, last: bool) -> tuple[str, ...]:
        preferred = end_predicates(self.taxonomy)
        types = dict(self._types_in(formula))
        exempt: set[str] = set()
        holding = not last
        for atom in _atoms(formula):
            holding = holding or atom.predicate == "holding"
            if atom.predicate in preferred and len(atom.args) == 1:
                kinds = types.get(atom.args[0], ())
                exempt |= {c for kind in kinds if (c := self.taxonomy.class_of_type(kind))}
                exempt |= {c for n, c in self.inventory.classes.items() if n == atom.args[0]}
        exempt = self.taxonomy.with_controls(exempt)
        return tuple(end_conditions(self.taxonomy, exempt, holding=holding))

    def _types_in(self, formula: Expression) -> Iterator[tuple[str, tuple[str, ...]]]:
        match formula:
            case Exists(variables, body) | Forall(variables, body):
                yield from ((v.name, v.types) for v in variables)
                yield from self._types_in(body)
            case And(operands) | Or(operands):
                for operand in operands:
                    yield from self._types_in(operand)
            case Not(operand):
                yield from self._types_in(operand)

    # --- constraints ---------------------------------------------------------------------

    def _constraints(self, texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
        if not texts:
            yield ()
            return
        for first in self._constraint(texts[0]):
            for rest in self._constraints(texts[1:]):
                yield (first, *rest)

    def _constraint(self, text: str) -> Iterator[str]:
        operator, phrase = next(
            (o, p) for o, p in KEPT.items() if text.startswith(p.partition("{")[0])
        )
        before = phrase.partition("{")[0]
        rest = text.removeprefix(before)
        if phrase.count("{}") == 1:
            for formula in self._formulas(rest.split("; "), quantified=True):
                whole = re.fullmatch(r"\(forall (\(\?\S+ - .+?\)) (\(.*\))\)", formula)
                if whole and operator == "at-most-once":
                    yield f"(forall {whole[1]} ({operator} {whole[2]}))"
                yield f"({operator} {formula})"
            return
        self._quantified = True
        between = phrase.split("{}")[1]
        for joint in re.finditer(re.escape(between), rest):
            one, other = rest[: joint.start()], rest[joint.end() :]
            yield from self._of_each(operator, one, other)
            for first in self._inside(one, _Heard()):
                for second in self._inside(other, _Heard()):
                    yield f"({operator} {first} {second})"

    def _of_each(self, operator: str, one: str, other: str) -> Iterator[str]:
        for end, noun, _ in self._articled(one, 0):
            if THAT + noun not in other:
                continue
            halves = f"every {noun}{one[end:]}", other.replace(THAT, "every ")
            for first in self._inside(halves[0], _Heard()):
                for second in self._inside(halves[1], _Heard()):
                    texts = [_LIFTED.fullmatch(text) for text in (first, second)]
                    if texts[0] and texts[1]:
                        (name, kind, body), (was, _, result) = (m.groups() for m in texts if m)
                        result = result.replace(was, name)
                        yield f"(forall ({name} - {kind}) ({operator} {body} {result}))"

    # --- formulas ------------------------------------------------------------------------

    def _formulas(self, sentences: Sequence[str], *, quantified: bool = False) -> Iterator[str]:
        self._quantified = quantified
        if list(sentences) == [NOTHING_LEFT]:
            yield "(and)"
            return
        for heard in self._all(sentences, _Heard()):
            yield _closed(heard)

    def _all(self, sentences: Sequence[str], heard: _Heard) -> Iterator[_Heard]:
        if not sentences:
            yield heard
            return
        for after in self._sentence(sentences[0], heard):
            yield from self._all(sentences[1:], after)

    def _sentence(self, text: str, heard: _Heard) -> Iterator[_Heard]:
        self._tried += 1
        if self._tried > _MOST_TRIED:
            raise _TooManyTriedError
        if text.startswith("either "):
            yield from self._choice(text.removeprefix("either "), heard, ())
        elif text.startswith("if "):
            for joint in re.finditer(", ", text):
                for one in self._inside(text[3 : joint.start()], heard):
                    for other in self._inside(text[joint.end() :], heard):
                        yield heard.add(f"(imply {one} {other})")
        elif text.startswith("at most "):
            yield from self._at_most(text.removeprefix("at most "), heard)
        elif text.startswith("it is not so that "):
            for inner in self._inside(text.removeprefix("it is not so that "), heard):
                yield heard.add(f"(not {inner})")
        else:
            yield from self._plain(text, heard)

    def _inside(self, text: str, heard: _Heard) -> Iterator[str]:
        for after in self._joined(text, replace(heard, parts=())):
            own = {n: t for n, t in after.variables.items() if n not in heard.variables}
            yield _closed(replace(after, variables=own))

    def _joined(self, text: str, heard: _Heard) -> Iterator[_Heard]:
        yield from self._sentence(text, heard)
        for joint in re.finditer(" and ", text):
            for first in self._plain(text[: joint.start()], heard):
                yield from self._joined(text[joint.end() :], first)

    def _choice(self, text: str, heard: _Heard, options: tuple[str, ...]) -> Iterator[_Heard]:
        for last in self._inside(text, heard):
            if options:
                yield heard.add(f"(or {' '.join((*options, last))})")
        for joint in re.finditer(" or ", text):
            for one in self._inside(text[: joint.start()], heard):
                yield from self._choice(text[joint.end() :], heard, (*options, one))

    def _at_most(self, text: str, heard: _Heard) -> Iterator[_Heard]:
        match = re.match(r"(\d+) ", text)
        count = int(match[1]) if match else 0
        for noun, types in self._nouns.items():
            many = noun if count == 1 else plurals(noun)[0]
            subject = f"{count} {many} "
            if not text.startswith(subject):
                continue
            names = [f"?x{len(heard.variables) + n}" for n in range(count + 1)]
            for name, positive, template in self._templates:
                if positive and template == "{0} " + text.removeprefix(subject):
                    apart = [f"(not (= {a} {b}))" for n, a in enumerate(names) for b in names[:n]]
                    so = [f"({name} {v})" for v in names]
                    body = f"(and {' '.join((*apart, *so))})"
                    yield heard.add(f"(not (exists ({' '.join(names)} - {types}) {body}))")

    # --- sentences -----------------------------------------------------------------------

    def _plain(self, text: str, heard: _Heard) -> Iterator[_Heard]:
        for name, positive, template in self._templates:
            if "{0}" not in template and template == text:
                yield heard.add(f"({name})" if positive else f"(not ({name}))")
        for end, thing, after in self._things(text, 0, heard):
            if text[end : end + 1] == " ":
                other = text[end + 1 :].removeprefix(APART)
                if other != text[end + 1 :]:
                    yield from self._apart(other, thing, after)
                for at, more in self._clause(text, end + 1, thing, after, "{0} "):
                    yield from self._more(text, at, text[:end], thing, more)
        for _, _, template in self._templates:
            before = template.partition("{0}")[0]
            if before and "{0}" in template and text.startswith(before):
                for end, thing, after in self._things(text, len(before), heard):
                    said = text[len(before) : end]
                    for at, more in self._clause(text, end, thing, after, before + "{0}"):
                        yield from self._more(text, at, said, thing, more)

    def _apart(self, text: str, thing: _Thing, heard: _Heard) -> Iterator[_Heard]:
        for end, other, after in self._things(text, 0, heard):
            if end == len(text) and len(thing.terms) == len(other.terms) == 1:
                yield after.add(f"(not (= {thing.terms[0]} {other.terms[0]}))")

    def _more(
        self, text: str, at: int, subject: str, thing: _Thing, heard: _Heard
    ) -> Iterator[_Heard]:
        if at == len(text):
            yield heard
            return
        joint = next((j for j in (", ", " and ") if text.startswith(j, at)), None)
        if joint is None:
            return
        at += len(joint)
        for end, after in self._clause(text, at, thing, heard, "{0} "):
            yield from self._more(text, end, subject, thing, after)
        for before in {t.partition("{0}")[0] for _, _, t in self._templates if "{0}" in t}:
            opening = before + subject
            if before and text.startswith(opening, at):
                start = at + len(opening)
                for end, after in self._clause(text, start, thing, heard, before + "{0}"):
                    yield from self._more(text, end, subject, thing, after)

    def _clause(
        self, text: str, at: int, thing: _Thing, heard: _Heard, opening: str
    ) -> Iterator[tuple[int, _Heard]]:
        for name, positive, template in self._templates:
            if not template.startswith(opening):
                continue
            before, second, after = template.removeprefix(opening).partition("{1}")
            if not text.startswith(before, at):
                continue
            if not second:
                yield from self._literal(name, positive, thing, None, heard, at + len(before))
                continue
            for end, other, known in self._things(text, at + len(before), heard):
                if text.startswith(after, end):
                    yield from self._literal(name, positive, thing, other, known, end + len(after))

    def _literal(
        self,
        name: str,
        positive: bool,
        thing: _Thing,
        other: _Thing | None,
        heard: _Heard,
        end: int,
    ) -> Iterator[tuple[int, _Heard]]:
        if other is not None and (other.every or len(other.terms) != 1):
            return
        if thing.none and not positive:
            return
        parts: list[str] = []
        for term in thing.terms:
            atom = f"({' '.join((name, term, *(other.terms if other else ())))})"
            denied = thing.none or (other is not None and other.none)
            inner = [t.inner for t in (thing, other) if t is not None and t.inner]
            if denied:
                if positive is not thing.none:
                    return
                parts.append(f"(not (exists ({' '.join(inner)}) {atom}))")
                continue
            literal = atom if positive else f"(not {atom})"
            literal = f"(exists ({' '.join(inner)}) {literal})" if inner else literal
            parts.append(f"(forall ({term} - {thing.every}) {literal})" if thing.every else literal)
        yield end, heard.add(*parts)

    # --- things --------------------------------------------------------------------------

    @cached_property
    def _nouns(self) -> Mapping[str, str]:
        nouns = {ANYTHING: self.taxonomy.roles.thing_type}
        for kind in self.domain.types:
            object_class = self.taxonomy.class_of_type(kind)
            if object_class:
                nouns.setdefault(self.taxonomy.label(object_class).lower(), kind)
        return nouns

    @cached_property
    def _labels(self) -> re.Pattern[str]:
        longest = sorted(self._nouns, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest)))

    def _kinds(self, text: str, at: int) -> Iterator[tuple[int, str, str]]:
        end, found = at, []
        while match := self._labels.match(text, end):
            found.append(self._nouns[match[0]])
            kinds = found[0] if len(found) == 1 else f"(either {' '.join(found)})"
            if len(found) == 1 or text[:end].endswith(" or "):
                yield match.end(), text[at : match.end()], kinds
            joint = next((j for j in (", ", " or ") if text.startswith(j, match.end())), None)
            if joint is None or text[:end].endswith(" or "):
                return
            end = match.end() + len(joint)

    def _articled(self, text: str, at: int) -> Iterator[tuple[int, str, str]]:
        for article in ("a ", "an "):
            if text.startswith(article, at):
                yield from self._kinds(text, at + len(article))
        for end, noun, kinds in self._kinds(text, at):
            object_class = self.taxonomy.class_of_type(kinds)
            if object_class and self.taxonomy.a_label(object_class).lower() == noun:
                yield end, noun, kinds

    def _things(self, text: str, at: int, heard: _Heard) -> Iterator[tuple[int, _Thing, _Heard]]:
        for phrase, name in sorted(heard.spoken.items(), key=lambda item: -len(item[0])):
            if text.startswith(phrase, at):
                yield at + len(phrase), _Thing((name,)), heard
        if match := _NAME.match(text, at):
            yield from self._named(text, at, match, heard)
        for constant in self.domain.constants:
            if text.startswith(constant.name, at):
                yield at + len(constant.name), _Thing((constant.name,)), heard
        yield from self._groups(text, at, heard)
        yield from self._only(text, at, heard)
        inner = f"?i{len(heard.parts)}x{at}"
        for end, noun, kinds in self._articled(text, at):
            if noun not in heard.taken:
                name, more = heard.new(noun, kinds, f"the {noun}")
                yield from self._excepting(text, end, name, kinds, more)
            yield end, _Thing((inner,), f"{inner} - {kinds}"), heard
        for number, ordinal in enumerate(ORDINALS, start=1):
            yield from self._further(text, at, f"{ordinal} ", number, heard)
        yield from self._further(text, at, AGAIN, 0, heard)
        for word in ("any ", "no "):
            if text.startswith(word, at):
                for end, _, kinds in self._kinds(text, at + len(word)):
                    yield end, _Thing((inner,), f"{inner} - {kinds}", none=True), heard
        if text.startswith("nothing", at):
            kinds = self._nouns[ANYTHING]
            yield at + 7, _Thing((inner,), f"{inner} - {kinds}", none=True), heard

    def _only(self, text: str, at: int, heard: _Heard) -> Iterator[tuple[int, _Thing, _Heard]]:
        if not text.startswith("the ", at):
            return
        inner = f"?i{len(heard.parts)}x{at}"
        for end, noun, kinds in self._kinds(text, at + 4):
            object_class = self.taxonomy.class_of_type(kinds)
            alike = [n for n, c in self.inventory.classes.items() if c == object_class]
            if len(alike) != 1:
                continue
            if noun not in heard.taken and not (self._staged or self._quantified):
                name, more = heard.new(noun, kinds, f"the {noun}")
                yield end, _Thing((name,)), more
            yield end, _Thing((alike[0],)), heard
            yield end, _Thing((inner,), f"{inner} - {kinds}"), heard

    def _excepting(
        self, text: str, end: int, name: str, kinds: str, heard: _Heard
    ) -> Iterator[tuple[int, _Thing, _Heard]]:
        yield end, _Thing((name,)), heard
        if not text.startswith(" other than ", end):
            return
        for after, left_out in self._listed(text, end + 12, " and "):
            others = [n for n in self._of_types(kinds) if n not in left_out]
            options = " ".join(f"(= {name} {n})" for n in others)
            yield after, _Thing((name,)), heard.add(f"(or {options})")

    def _further(
        self, text: str, at: int, word: str, number: int, heard: _Heard
    ) -> Iterator[tuple[int, _Thing, _Heard]]:
        if not text.startswith(word, at):
            return
        for end, noun, kinds in self._kinds(text, at + len(word)):
            before = heard.taken.get(noun, ())
            count = len(before)
            if not before or (number and min(count, len(ORDINALS)) != number):
                continue
            nth = ORDINALS[min(count, len(ORDINALS)) - 1].removeprefix("a ")
            name, more = heard.new(noun, kinds, f"the {nth} {noun}")
            if number:
                more = more.add(*(f"(not (= {name} {other}))" for other in before))
            yield end, _Thing((name,)), more

    def _named(
        self, text: str, at: int, match: re.Match[str], heard: _Heard
    ) -> Iterator[tuple[int, _Thing, _Heard]]:
        if match[0] not in self.inventory.classes:
            return
        yield match.end(), _Thing((match[0],)), heard
        for end, names in self._listed(text, at, " or "):
            kinds = list(
                dict.fromkeys(self.taxonomy.pddl_type(self.inventory.classes[n]) for n in names)
            )
            types = kinds[0] if len(kinds) == 1 else f"(either {' '.join(kinds)})"
            noun = next((n for n, kind in self._nouns.items() if kind == types), "")
            count = len(heard.taken.get(noun, ()))
            nth = f"{ORDINALS[min(count, len(ORDINALS)) - 1].removeprefix('a ')} " if count else ""
            name, more = heard.new(noun, types, f"the {nth}{noun}")
            options = " ".join(f"(= {name} {n})" for n in names)
            yield end, _Thing((name,)), more.add(f"(or {options})")

    def _groups(self, text: str, at: int, heard: _Heard) -> Iterator[tuple[int, _Thing, _Heard]]:
        if text.startswith("every ", at):
            for end, _, kinds in self._kinds(text, at + 6):
                if self._quantified:
                    name = f"?e{at}"
                    yield end, _Thing((name,), every=kinds), heard
                alike = self._of_types(kinds)
                if alike:
                    yield end, _Thing(tuple(alike)), heard
                if text.startswith(" other than ", end):
                    for after, names in self._listed(text, end + 12, " and "):
                        others = tuple(n for n in alike if n not in names)
                        yield after, _Thing(others), heard
        if not text.startswith("each of ", at):
            return
        for end, names in self._listed(text, at + 8, " and "):
            yield end, _Thing(names), heard
        match = re.compile(r"(\d{1,2}) ").match(text, at + 8)
        if match is None:
            return
        for noun, kinds in self._plurals(text, match.end()):
            many = plurals(noun)[0]
            terms, more = [], heard
            for number in range(int(match[1])):
                nth = ("first", *(o.removeprefix("a ") for o in ORDINALS))[min(number, 4)]
                name, more = more.new(noun, kinds, f"the {nth} of the {many}")
                terms.append(name)
            apart = [f"(not (= {a} {b}))" for n, a in enumerate(terms) for b in terms[:n]]
            yield match.end() + len(many), _Thing(tuple(terms)), more.add(*apart)

    def _plurals(self, text: str, at: int) -> Iterator[tuple[str, str]]:
        rest = text[at:]
        for noun, kinds in self._nouns.items():
            if rest.startswith(plurals(noun)[0]):
                yield noun, kinds
        for joint in re.finditer(" or ", rest):
            start = rest[: joint.end()]
            for noun in self._nouns:
                if rest.startswith(start + plurals(noun)[0]):
                    for end, whole, kinds in self._kinds(start + noun, 0):
                        if end == len(start + noun):
                            yield whole, kinds

    def _listed(self, text: str, at: int, last: str) -> Iterator[tuple[int, tuple[str, ...]]]:
        names: list[str] = []
        while match := self._one(text, at):
            names.append(match[1])
            if len(names) > 1 or last == " and ":
                yield match[0], tuple(names)
            joint = next((j for j in (", ", last) if text.startswith(j, match[0])), None)
            if joint is None:
                return
            at = match[0] + len(joint)

    def _one(self, text: str, at: int) -> tuple[int, str] | None:
        match = _NAME.match(text, at)
        if match is not None:
            return (match.end(), match[0]) if match[0] in self.inventory.classes else None
        for end, thing, _ in self._only(text, at, _Heard()):
            if thing.terms[0] in self.inventory.classes:
                return end, thing.terms[0]
        return None

    def _of_types(self, kinds: str) -> list[str]:
        wanted = set(re.findall(r"[\w-]+", kinds)) - {"either"}
        return [o.name for o in self._objects if o.types[0] in wanted]


def effects_of(domain: Domain) -> frozenset[tuple[str, bool]]:
    """Return the values that actions or axioms can give predicates, as (predicate, value) pairs."""
    found = {(rule.predicate, True) for rule in domain.derived}
    waiting: list[tuple[Expression, bool]] = [(a.effect, True) for a in domain.actions.values()]
    while waiting:
        match waiting.pop():
            case Atom(predicate, _), positive:
                found.add((predicate, positive))
            case Not(operand), positive:
                waiting.append((operand, not positive))
            case And(operands), positive:
                waiting += [(operand, positive) for operand in operands]
            case ((Forall(_, body) | When(_, body)), positive):
                waiting.append((body, positive))
            case _:
                pass
    return frozenset(found)


def _closed(heard: _Heard) -> str:
    body = heard.parts[0] if len(heard.parts) == 1 else f"(and {' '.join(heard.parts)})"
    declared = " ".join(f"{name} - {kinds}" for name, kinds in heard.variables.items())
    return f"(exists ({declared}) {body})" if declared else body


def _constraint(text: str) -> bool:
    return any(text.startswith(phrase.partition("{")[0]) for phrase in KEPT.values())


def _atoms(formula: Expression) -> Iterator[Atom]:
    match formula:
        case Atom():
            yield formula
        case And(operands) | Or(operands):
            for operand in operands:
                yield from _atoms(operand)
        case Exists(_, body) | Forall(_, body):
            yield from _atoms(body)
