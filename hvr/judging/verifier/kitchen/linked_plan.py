"""A plan with its causal links: the value between the validator and the plan graph."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hvr.errors import DataFileError
from hvr.pddl.model import GroundAction

START = -1
"""Stands for the initial state where the number of a step is expected."""

NEGATIVE_STATES = frozenset({"opened", "toggled", "dirty", "filled"})
"""Predicates whose negation is a state, too: closed, off, clean, empty."""

_WORD = re.compile(r"[^\s()]+")


@dataclass(frozen=True, order=True)
class Fact:
    """A ground literal.

    Args:
        predicate: its name.
        args: names of objects.
        positive: False for a negated atom.
    """

    predicate: str
    args: tuple[str, ...]
    positive: bool = True

    def __str__(self) -> str:
        atom = f"({' '.join((self.predicate, *self.args))})"
        return atom if self.positive else f"(not {atom})"

    @classmethod
    def parse(cls, text: str) -> Fact:
        """Return what `str` wrote."""
        words = _WORD.findall(text)
        positive = words[0] != "not"
        words = words[not positive :]
        return cls(words[0], tuple(words[1:]), positive)


@dataclass(frozen=True)
class Need:
    """Something that must hold, and since when it does.

    Args:
        fact: what.
        producer: number of the step that made it so, `START` if it was so from the beginning.
    """

    fact: Fact
    producer: int


@dataclass(frozen=True)
class LinkedStep:
    """A step and what it has to do with the others.

    Args:
        action: what is done.
        needs: its precondition, and the conditions of those of its effects that come about.
        makes: what it changes, as it is afterwards.
    """

    action: GroundAction
    needs: tuple[Need, ...]
    makes: tuple[Fact, ...]


@dataclass(frozen=True)
class LinkedPlan:
    """A plan that can be carried out, with its causal links.

    Args:
        steps: in order.
        ends: what holds at the end that steps made so, and where the things lie that they named;
            with the step that made it so.
        types: the PDDL type of each object that steps or ends name; of all objects if there is
            no step.
        start: where these lie, and in which states they are, before the first step.
    """

    steps: tuple[LinkedStep, ...]
    ends: tuple[Need, ...]
    types: Mapping[str, str]
    start: tuple[Fact, ...] = ()

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """Pairs (producer, consumer) of steps, each once."""
        links = {
            (need.producer, i): None
            for i, step in enumerate(self.steps)
            for need in step.needs
            if need.producer != START
        }
        return tuple(links)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "steps": [
                [
                    str(s.action)[1:-1],
                    [[str(n.fact), n.producer] for n in s.needs],
                    [str(f) for f in s.makes],
                ]
                for s in self.steps
            ],
            "ends": [[str(n.fact), n.producer] for n in self.ends],
            "types": dict(self.types),
            "start": [str(f) for f in self.start],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> LinkedPlan:
        """Return what `to_json` gave.

        Raises:
            DataFileError: it is something else.
        """
        try:
            steps = []
            for action, needs, makes in values["steps"]:
                name, *args = action.split()
                steps.append(
                    LinkedStep(
                        GroundAction(name, tuple(args)),
                        tuple(Need(Fact.parse(f), int(p)) for f, p in needs),
                        tuple(Fact.parse(f) for f in makes),
                    )
                )
            ends = tuple(Need(Fact.parse(f), int(p)) for f, p in values["ends"])
            start = tuple(map(Fact.parse, values.get("start", ())))
            return cls(tuple(steps), ends, dict(values["types"]), start)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise DataFileError(f"this is not a plan with causal links: {error}") from error
