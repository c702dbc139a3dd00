"""Languages beside PDDL: chosen by what a domain says, and imported where a domain is in one."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from hvr.errors import HvrError
from hvr.validation.report import OnFailure, ValidationReport

if TYPE_CHECKING:
    from hvr.pddl import Diagnostic
    from hvr.validation.batch import BatchOptions
    from hvr.validation.rules import LintFinding

_HDDL = "hvr.validation.hierarchical.language"
_COMMENT = re.compile(r";[^\r\n]*")
_HIERARCHY = re.compile(r":hierarchy\b|\(\s*:(?:task|method)\b", re.IGNORECASE)


class PlanJudge(Protocol):
    """What judges plans of a problem."""

    def check_file(
        self,
        source: str | Path,
        *,
        file: str | None = None,
        on_failure: OnFailure = OnFailure.STOP,
        lenient: bool = False,
    ) -> ValidationReport:
        """Read a plan and say whether it is valid."""
        ...


class Language(Protocol):
    """A module that knows a language. Its domains and problems are its own affair."""

    def parse_domain(
        self, source: str | Path, *, file: str, lenient: bool, warnings: list[Diagnostic]
    ) -> Any:
        """Parse a domain."""
        ...

    def parse_problem(
        self,
        source: str | Path,
        domain: Any,
        *,
        file: str,
        lenient: bool,
        warnings: list[Diagnostic],
    ) -> Any:
        """Parse a problem of a domain."""
        ...

    def judge_of(self, domain: Any, problem: Any, options: BatchOptions) -> PlanJudge:
        """Return what judges plans of a problem."""
        ...

    def lint(self, domain: Any, problem: Any) -> list[LintFinding]:
        """Say what is suspicious in a domain, and in a problem if it is not None."""
        ...


def language_of(domain: str | Path, name: str = "") -> Language | None:
    """Return the language of a domain; None for PDDL, or if its file cannot be read.

    Args:
        domain: the text of the domain, or its file.
        name: the name of the file.
    """
    text = domain if isinstance(domain, str) else _text_of(domain, name)
    # Comments are taken out only where something is there to be found in them.
    if _HIERARCHY.search(text) and _HIERARCHY.search(_COMMENT.sub("", text)):
        return cast("Language", import_module(_HDDL))
    return None


def _text_of(path: Path, name: str) -> str:
    from hvr.base.texts import read_bytes
    from hvr.pddl.lexer import decode

    try:
        # A pipe can be read only once, and that is not for here.
        return decode(read_bytes(path), name) if path.is_file() else ""
    except (HvrError, OSError, ValueError):
        return ""
