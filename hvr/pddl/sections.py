"""What domains and problems share: `(define (what name) (:section …) …)` and requirements."""

from __future__ import annotations

from hvr.pddl.diagnostics import PddlTextSyntaxError, nearest
from hvr.pddl.expressions import ExpressionReader
from hvr.pddl.lexer import SourceText, Word
from hvr.pddl.lists import ListReader, describe
from hvr.pddl.model import (
    Formula,
)
from hvr.pddl.reader import Group, Node, head_of, read_nodes

REQUIREMENTS = frozenset(
    {
        ":strips",
        ":typing",
        ":equality",
        ":negative-preconditions",
        ":disjunctive-preconditions",
        ":existential-preconditions",
        ":universal-preconditions",
        ":quantified-preconditions",
        ":conditional-effects",
        ":adl",
        ":action-costs",
        ":fluents",
        ":numeric-fluents",
        ":object-fluents",
        ":durative-actions",
        ":duration-inequalities",
        ":continuous-effects",
        ":derived-predicates",
        ":timed-initial-literals",
        ":timed-initial-fluents",
        ":preferences",
        ":constraints",
        ":goal-utilities",
        ":time",
        ":domain-axioms",
        ":foreach-expansions",
        ":dag-expansions",
        ":safety-constraints",
        ":hierarchy",
        ":htn",
        ":method-preconditions",
        ":htn-method-prec",
    }
)
"""The requirement flags of PDDL 1.2 to 3.1, PDDL+ and HDDL. They are checked for spelling only."""


def requirements(reader: ListReader, group: Group) -> frozenset[str]:
    """Read the flags of :requirements; an unknown one is a warning."""
    reader.context = ":requirements"
    result: set[str] = set()
    for node in group.items[1:]:
        word = reader.word(node, "a requirement such as :typing")
        if word.text not in REQUIREMENTS:
            colon = ":" + word.text
            reader.source.warn(
                word.offset,
                f"{word.text!r} is not a requirement of PDDL",
                expected="a requirement such as :typing",
                suggestion=colon if colon in REQUIREMENTS else nearest(word.text, REQUIREMENTS),
            )
        result.add(word.text)
    return frozenset(result)


def define(
    reader: ListReader, what: str, sections: tuple[str, ...], unsupported: dict[str, str]
) -> tuple[Word, list[tuple[Word, Group]]]:
    """Take `(define (what name) (:section …) …)` apart."""
    shape = f"(define ({what} name) …)"
    source = reader.source
    nodes = read_nodes(source)
    if not nodes:
        source.syntax_error(
            0, f"there is no {what} in this text", expected=shape, found="end of text"
        )
    top = reader.group(nodes[0], shape)
    if reader.head(top, shape).text != "define":
        reader.syntax(top, f"this is not a {what}", shape)
    for node in nodes[1:]:
        _overlook_late(source, what, sections, node)
    if len(top.items) < 2:
        reader.syntax(top, f"the {what} has no name", shape)
    header = reader.group(top.items[1], f"({what} name)")
    head = reader.head(header, f"({what} name)")
    if head.text != what:
        other = "problem" if what == "domain" else "domain"
        hint = f"; this is a {other} where a {what} is needed" if head.text == other else ""
        reader.syntax(header, f"this does not name a {what}{hint}", f"({what} name)")
    if len(header.items) != 2:
        reader.syntax(header, f"the {what} needs one name", f"({what} name)")
    name = reader.name(header.items[1], what)
    result: list[tuple[Word, Group]] = []
    for node in (*top.items[2:], *nodes[1:]):
        group = reader.group(node, f"a section: {', '.join(sections)}")
        keyword = reader.head(group, f"a section: {', '.join(sections)}")
        if keyword.text in unsupported:
            reader.unsupported(group, unsupported[keyword.text])
        if keyword.text not in sections:
            known = (*sections, *unsupported)
            source.semantic_error(
                keyword.offset,
                f"a {what} has no section {keyword.text!r}",
                expected=", ".join(sections),
                suggestion=nearest(keyword.text, known),
            )
        result.append((keyword, group))
    return name, result


def _overlook_late(source: SourceText, what: str, sections: tuple[str, ...], node: Node) -> None:
    """Refuse text after the end of a definition; in a lenient reading warn of late sections."""
    if isinstance(node, Group) and head_of(node) in sections:
        source.overlook(
            node.offset,
            f"the section '({head_of(node)}' comes after the end of the {what}",
            expected="end of text, or a ')' less before it",
            error=PddlTextSyntaxError,
        )
    else:
        source.syntax_error(
            node.offset,
            f"text after the end of the {what}",
            expected="end of text",
            found=describe(node),
        )


def constraints(reader: ExpressionReader, group: Group) -> Formula:
    """Read :constraints."""
    reader.context = ":constraints"
    if len(group.items) != 2:
        reader.syntax(group, ":constraints takes one list", "(:constraints (and constraint …))")
    return reader.constraints(group.items[1], {})
