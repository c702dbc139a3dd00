"""Domains, problems and goals from text.

Strict: what is undeclared, of the wrong arity or type, defined twice or left over is an error
with its place; a lenient reading overlooks with a warning what leaves the meaning clear. What
hvr cannot execute (processes, events, continuous effects, object fluents) is an
UnsupportedPddlError.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hvr.pddl.diagnostics import Diagnostic
from hvr.pddl.domain_parser import DomainParser
from hvr.pddl.expressions import ExpressionReader
from hvr.pddl.lexer import SourceText
from hvr.pddl.model import (
    Domain,
    Formula,
    Problem,
    TypedName,
)
from hvr.pddl.problem_parser import ProblemParser
from hvr.pddl.reader import Node, read_nodes


def parse_domain(
    source: str | Path,
    *,
    file: str | None = None,
    lenient: bool = False,
    warnings: list[Diagnostic] | None = None,
) -> Domain:
    """Parse a domain.

    Args:
        source: the text, or the path of a file.
        file: the name that messages give the text.
        lenient: whether to overlook what leaves the meaning clear, such as a second declaration.
        warnings: what was overlooked is added to this list.

    Raises:
        DataFileError: the file cannot be read.
        PddlSyntaxError, PddlSemanticError: the text is not a domain; the message says where.
        UnsupportedPddlError: the domain uses a part of PDDL that is not supported.
    """
    text = SourceText.read(source, file=file, default="<domain>", lenient=lenient)
    domain = DomainParser(text).parse()
    if warnings is not None:
        warnings += text.warnings
    return domain


def parse_problem(
    source: str | Path,
    domain: Domain,
    *,
    file: str | None = None,
    lenient: bool = False,
    warnings: list[Diagnostic] | None = None,
) -> Problem:
    """Parse a problem of a domain. The arguments are those of `parse_domain`.

    Raises:
        DataFileError: the file cannot be read.
        PddlSyntaxError, PddlSemanticError: the text is not a problem of this domain.
        UnsupportedPddlError: the problem uses a part of PDDL that is not supported.
    """
    text = SourceText.read(source, file=file, default="<problem>", lenient=lenient)
    problem = ProblemParser(text, domain).parse()
    if warnings is not None:
        warnings += text.warnings
    return problem


def parse_formula(
    text: str, domain: Domain, objects: Iterable[TypedName] = (), *, file: str | None = None
) -> Formula:
    """Parse a single formula, such as the goal of a task.

    Args:
        text: the formula.
        domain: the domain; its constants may be named.
        objects: the other objects that may be named.
        file: the name that messages give the text.

    Raises:
        PddlSyntaxError, PddlSemanticError: the text is not one formula over these names.
        UnsupportedPddlError: the formula uses a part of PDDL that is not supported.
    """
    reader, node = _single(text, domain, objects, file or "<formula>")
    return reader.formula(node, {})


def parse_constraint(
    text: str, domain: Domain, objects: Iterable[TypedName] = (), *, file: str | None = None
) -> Formula:
    """Parse a single trajectory constraint. The arguments are those of `parse_formula`.

    Raises:
        PddlSyntaxError, PddlSemanticError: the text is not one constraint over these names.
        UnsupportedPddlError: the constraint uses a part of PDDL that is not supported.
    """
    reader, node = _single(text, domain, objects, file or "<constraint>")
    return reader.constraints(node, {})


def _single(
    text: str, domain: Domain, objects: Iterable[TypedName], file: str
) -> tuple[ExpressionReader, Node]:
    """Return the only node of a text, with a reader for it."""
    source = SourceText.read(text, file=file, default=file)
    nodes = read_nodes(source)
    known = {o.name: o.types for o in (*domain.constants, *objects)}
    reader = ExpressionReader(source, domain, known)
    if not nodes:
        source.syntax_error(0, "no formula", expected="a formula", found="end of text")
    if len(nodes) > 1:
        reader.syntax(nodes[1], "text after the end of the formula", "end of text")
    return reader, nodes[0]
