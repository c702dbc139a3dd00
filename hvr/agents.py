"""The robots that hvr plans for: each has a domain of its own over the same knowledge graph.

Objects, types and facts mean the same for all of them, so that a problem for any robot is
derived from one graph by `graph.problem(load_agent(name).domain(), …)`.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hvr.errors import UsageError
from hvr.files import data_path
from hvr.pddl import Domain, parse_domain


@dataclass(frozen=True)
class Agent:
    """A kind of robot.

    Args:
        name: the name that users give.
        domain_file: the file of its domain, below the folder `domains`.
        description: what it can do, in a sentence.
    """

    name: str
    domain_file: str
    description: str

    @property
    def path(self) -> Path:
        """The file of its domain.

        Raises:
            DataFileError: hvr's data folder is missing.
        """
        return data_path("domains") / self.domain_file

    def domain(self) -> Domain:
        """Return its domain, which is read only once.

        Raises:
            DataFileError, PddlError: the file is missing or damaged.
        """
        return _domain(self.path)


@cache
def _domain(path: Path) -> Domain:
    return parse_domain(path)


AGENTS: Mapping[str, Agent] = {
    agent.name: agent
    for agent in (
        Agent("single-arm", "kitchen/domain.pddl", "has one hand"),
        Agent(
            "dual-arm",
            "kitchen-dual-arm/domain.pddl",
            "has two hands: it may hold two things, and opens doors with one thing in a hand",
        ),
        Agent(
            "pusher",
            "kitchen-pusher/domain.pddl",
            "has no hand: it pushes things from surface to surface, opens, closes and switches",
        ),
    )
}
"""All agents by name."""

DEFAULT_AGENT = "single-arm"


def load_agent(name: str) -> Agent:
    """Return an agent by name.

    Raises:
        UsageError: there is no such agent; the message lists them all.
    """
    agent = AGENTS.get(name.strip().lower())
    if agent is None:
        near = difflib.get_close_matches(name.lower(), AGENTS, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(f"unknown agent {name!r}{hint} (agents: {', '.join(AGENTS)})")
    return agent
