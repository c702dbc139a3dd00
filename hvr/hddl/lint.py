"""Rules about hierarchical domains: tasks and methods that can never be of use."""

from __future__ import annotations

from collections.abc import Iterator

from hvr.hddl.model import HierarchicalDomain
from hvr.validation.rules import LintFinding


def lint_hddl(domain: HierarchicalDomain) -> Iterator[LintFinding]:
    """Yield what is wrong, superfluous or suspicious in a domain."""
    del domain
    yield from ()
