"""Labelled plans as JSON Lines: a problem, a plan, and the plan's errors."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hvr.base.texts import parse_json
from hvr.errors import DataFileError, HvrError
from hvr.pddl import Domain, GroundAction, Problem, parse_domain, parse_plan, parse_problem
from studies.judging import demonstrations

FULL_HANDS = "kitchen-full-hands"
"""Name of the domain of ALFRED's demonstrations (see `demonstrations.domain_text`)."""


@dataclass(frozen=True)
class Missing:
    """A missing step, which belongs before step `step` (1-based), or after the last one."""

    step: int
    action: str
    kind: str = ""


@dataclass(frozen=True)
class Case:
    """A plan labelled with its errors.

    Args:
        domain: PDDL text, a file relative to the data, or `kitchen-full-hands`.
        problem: PDDL text, or a file relative to the data.
        remove: Sets of 1-based numbers of redundant steps; removing any one set is correct.
        base: Length of the plan before errors were injected.
        added: Kind of error of each injected step, by step number.
        inserted: Number of steps to restore.
        length: Number of steps after the best repair.
        oracle: Method that computed the labels: `exhaustive` or `search`.
    """

    id: str
    source: str
    domain: str
    problem: str
    plan: tuple[str, ...]
    kinds: tuple[str, ...] = ()
    remove: tuple[tuple[int, ...], ...] = ((),)
    missing: tuple[Missing, ...] = ()
    base: int = 0
    added: Mapping[str, str] = field(default_factory=dict)
    inserted: int = 0
    length: int = 0
    sentences: tuple[str, ...] = ()
    record: str = ""
    oracle: str = "exhaustive"

    def actions(self) -> tuple[GroundAction, ...]:
        return parse_plan("\n".join(self.plan)) if self.plan else ()


def read_cases(path: Path) -> Iterator[Case]:
    """Yield the cases of a file, which may be gzipped.

    Raises:
        DataFileError: The file is unreadable or contains an invalid case.
    """
    try:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _case(line, f"{path}:{number}")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataFileError(f"{path}: {error}") from error


def _case(line: str, where: str) -> Case:
    try:
        values = parse_json(line)
        if not isinstance(values, dict):
            raise TypeError(f"expected a JSON object, found {type(values).__name__}")
        known = {name: values[name] for name in values if name in Case.__dataclass_fields__}
        for name in ("id", "source", "domain", "problem"):
            if not isinstance(known.get(name), str):
                raise TypeError(f"{name!r} must be a string")
        known["missing"] = tuple([_missing(m) for m in known.get("missing", ())])
        known["remove"] = tuple([tuple(map(int, r)) for r in known.get("remove", [()])])
        for name in ("plan", "kinds", "sentences"):
            texts = known.get(name, [])
            if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                raise TypeError(f"{name!r} must be a list of strings")
            known[name] = tuple(texts)
        if not known["remove"]:
            raise ValueError("'remove' must have at least one set of steps; use [[]] for none")
        case = Case(**known)
        count = len(case.actions())
        numbers = [n for steps in case.remove for n in steps]
        if any(not 1 <= n <= count for n in numbers):
            raise ValueError(f"'remove' must name steps from 1 to {count}")
        return case
    except (TypeError, ValueError, HvrError) as error:
        raise DataFileError(
            f"{where}: {error} (docs/how-to/judging.md describes the format)"
        ) from error


def _missing(value: Any) -> Missing:
    match value:
        case {"step": int(step), "action": str(action)}:
            return Missing(step, action, str(value.get("kind", "")))
    raise TypeError(
        "'missing' must be a list of objects with a number 'step' and a string 'action'"
    )


def write_cases(path: Path, cases: Iterable[Case]) -> int:
    everything = list(cases)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8") as file:
        for case in everything:
            file.write(json.dumps(asdict(case), ensure_ascii=False) + "\n")
    return len(everything)


def load(case: Case, beside: Path, domains: dict[str, Domain]) -> tuple[Domain, Problem]:
    """Return the domain and problem of a case, caching domains in `domains`.

    Raises:
        DataFileError: The domain or problem cannot be read.
    """
    try:
        domain = domains.get(case.domain)
        if domain is None:
            if case.domain == FULL_HANDS:
                domain = demonstrations.domain()
            else:
                domain = parse_domain(_text(case.domain, beside))
            domains[case.domain] = domain
        return domain, parse_problem(_text(case.problem, beside), domain)
    except (OSError, HvrError) as error:
        raise DataFileError(f"case {case.id}: {error}") from error


def _text(source: str, beside: Path) -> str:
    if source.lstrip().startswith(("(", ";")):
        return source
    return (beside / source).read_text(encoding="utf-8")
