"""Rules in a world's `drawing.toml` that describe how its objects are drawn.

A rule maps a fact or a type to a position (`above`, `inside`, `right-of`, `below`, `column`,
`row`), a line (`link`) or a style (`mark`, `hide`, `label`, `shape`, `tone`). The studio draws the
states of a plan with these rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hvr.base.printable import nearest
from hvr.base.texts import read_toml
from hvr.errors import DataFileError
from hvr.pddl import Domain, parse_domain
from hvr.validation.suites import language_of
from hvr.values import Value

DRAWING_FILE = "drawing.toml"

_ARITY = {"above": 2, "inside": 2, "right-of": 2, "below": 2, "column": 2, "row": 2, "link": 2}
_FACT_VERBS: Mapping[str, int] = {**_ARITY, "mark": 1, "hide": 1}
_SHAPES = ("box", "round")
_TYPE_VERBS = ("shape", "tone", "hide", "label", "cell", "inside")
_TONES = 4
_THINGS = " (things = […] lists them)"
_CELL = re.compile(r"[^{}]*(\{column\}|\{row\})[^{}]*(\{column\}|\{row\})?[^{}]*")


class DrawingRule(Value):
    """One effect of a fact or a type on the picture.

    Attributes:
        fact: The words of the fact's pattern, such as `on ?x ?y`; a numeric pattern ends with `=`
            and the value. Empty for a rule about types.
        types: The types of the rule and their subtypes; empty for a rule about facts.
        verb: The effect, such as `above`, `link` or `mark`.
        terms: Arguments of the effect: variables of the fact, drawn items or strings.
    """

    fact: tuple[str, ...]
    types: tuple[str, ...]
    verb: str
    terms: tuple[str, ...]

    json_shape = "*"


class DrawingRules(Value):
    """How the objects of a domain are drawn.

    Attributes:
        things: Drawn items that are not PDDL objects, such as the hand that holds a block.
    """

    things: tuple[str, ...]
    rules: tuple[DrawingRule, ...]

    json_shape = "*"


def read_drawing(file: Path, domain: Domain) -> tuple[DrawingRules, tuple[str, ...]]:
    """Return the usable rules of a file, and one message with file and line per fault."""
    content = read_toml(file)
    reader = _Reader(file, domain, content)
    rules = tuple(reader.rules())
    return DrawingRules(reader.things, rules), tuple(reader.findings)


class _Reader:
    def __init__(self, file: Path, domain: Domain, content: Mapping[str, Any]) -> None:
        self.file, self.domain, self.content = file, domain, content
        self.findings: list[str] = []
        self.lines = [
            number
            for number, line in enumerate(file.read_text("utf-8", "replace").splitlines(), 1)
            if line.replace(" ", "").startswith("[[draw]]")
        ]
        self.at = 1
        things = content.get("things", [])
        self.things: tuple[str, ...] = ()
        if _is_texts(things):
            self.things = tuple(things)
        else:
            self._wrong("things must be a list of names")
        for key in content:
            if key not in ("things", "draw"):
                self._unknown("entry", key, ("things", "draw"))

    def rules(self) -> Iterator[DrawingRule]:
        tables = self.content.get("draw", [])
        if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
            self._wrong("expected rules as [[draw]] tables")
            return
        for number, table in enumerate(tables):
            self.at = self.lines[number] if number < len(self.lines) else 1
            yield from self._rule(table)

    def _rule(self, table: Mapping[str, Any]) -> Iterator[DrawingRule]:
        subjects = [key for key in ("fact", "type") if key in table]
        if len(subjects) != 1 or not isinstance(table[subjects[0]], str):
            self._wrong('a rule needs either fact = "(…)" or type = "…"')
            return
        if subjects == ["type"]:
            yield from self._type_rule(table)
            return
        fact = self._fact(table["fact"])
        verbs = {key: value for key, value in table.items() if key != "fact"}
        if fact is None:
            return
        if not verbs:
            self._wrong(
                f"the rule has no effect for {table['fact']}: add one of {_listed(_FACT_VERBS)}"
            )
        for verb, value in verbs.items():
            if verb not in _FACT_VERBS:
                self._unknown("effect of a fact", verb, _FACT_VERBS)
            elif (terms := self._terms(verb, value, fact)) is not None:
                yield DrawingRule(fact, (), verb, terms)

    def _fact(self, text: str) -> tuple[str, ...] | None:
        words = re.sub(r"[()]", " ", text.lower()).split()
        if not words or not text.strip().startswith("("):
            self._wrong(f'fact must be a pattern such as "(on ?x ?y)", got {text!r}')
            return None
        number = words[0] == "="
        name, args = (words[1], words[2:-1]) if number and len(words) > 2 else (words[0], words[1:])
        known: Mapping[str, Any] = self.domain.functions if number else self.domain.predicates
        kind = "function" if number else "predicate"
        if name not in known:
            self._unknown(kind, name, known)
        elif not number and any(rule.predicate == name for rule in self.domain.derived):
            self._wrong(f"the predicate {name!r} is derived: name the facts that it follows from")
        elif len(args) != (wanted := len(known[name].parameters)):
            self._wrong(
                f"the {kind} {name!r} takes {wanted} object{'s' * (wanted != 1)}, but {text} has "
                f"{len(args)}"
            )
        else:
            return tuple(words)
        return None

    def _terms(self, verb: str, value: Any, fact: Sequence[str]) -> tuple[str, ...] | None:
        wanted = _FACT_VERBS[verb]
        terms = [value] if isinstance(value, str) else value
        if not _is_texts(terms) or len(terms) != wanted:
            texts = "a name" if wanted == 1 else f"a list of {wanted} names"
            self._wrong(f"{verb} must be {texts}, got {value!r}")
            return None
        constants = {thing.name for thing in self.domain.constants}
        for place, term in enumerate(terms):
            known = fact if term.startswith("?") else (*self.things, *constants)
            free = verb in ("column", "row") and place == 1 and not term.startswith("?")
            if term in known or free:
                continue
            if term.startswith("?"):
                self._unknown("variable of the fact", term, [w for w in fact if w[0] == "?"])
            else:
                self._unknown("thing", term, known, _THINGS)
            return None
        return tuple(terms)

    def _type_rule(self, table: Mapping[str, Any]) -> Iterator[DrawingRule]:
        name = table["type"].lower()
        known = {"object": None, **self.domain.types}
        if name not in known:
            self._unknown("type", name, known)
            return
        types = tuple(one for one in known if self.domain.is_subtype(one, name))
        for verb, value in table.items():
            if verb == "type":
                continue
            if verb not in _TYPE_VERBS:
                self._unknown("look of a type", verb, _TYPE_VERBS)
            elif problem := _bad_look(verb, value):
                self._wrong(problem)
            elif verb == "inside" and value not in self.things:
                self._unknown("thing", value, self.things, _THINGS)
            else:
                term = str(value).lower() if isinstance(value, bool) else str(value)
                yield DrawingRule((), types, verb, (term,))

    def _unknown(self, kind: str, name: str, known: Any, hint: str = "") -> None:
        near = nearest(name, [str(one) for one in known])
        guess = f"; did you mean {near!r}?" if near else ""
        self._wrong(f"no {kind} named {name!r}{guess}{hint}")

    def _wrong(self, text: str) -> None:
        self.findings.append(f"{self.file}:{self.at}: {text}")


def _bad_look(verb: str, value: Any) -> str:
    if verb == "shape" and value not in _SHAPES:
        return f"shape must be {' or '.join(_SHAPES)}, got {value!r}"
    if verb == "tone" and (type(value) is not int or not 1 <= value <= _TONES):
        return f"tone must be a number from 1 to {_TONES}, got {value!r}"
    if verb in ("hide", "label") and not isinstance(value, bool):
        return f"{verb} must be true or false, got {value!r}"
    if verb == "inside" and not isinstance(value, str):
        return f"inside must be the name of a thing, got {value!r}"
    if verb == "cell" and not (isinstance(value, str) and _CELL.fullmatch(value)):
        return f"cell must be a pattern such as 'pos-{{column}}-{{row}}', got {value!r}"
    return ""


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one for one in value)


def _listed(names: Any) -> str:
    return ", ".join(names)


def drawing_of(domain_file: Path, text: str) -> DrawingRules | None:
    """Return the drawing rules in the folder of a domain file with a given text, or None.

    Raises:
        DataFileError: The file cannot be read, or a rule does not match the domain.
        PddlError: The domain cannot be read.
    """
    file = domain_file.parent / DRAWING_FILE
    if not file.is_file():
        return None
    drawing, findings = read_drawing(file, _domain(text, str(domain_file)))
    if findings:
        raise DataFileError("\n".join(findings))
    return drawing


def _domain(text: str, name: str) -> Domain:
    if language_of(text) is None:
        return parse_domain(text, file=name)
    from hvr.pddl.hierarchy.parser import parse_hddl_domain

    return parse_hddl_domain(text, file=name).domain
