"""Requests with correct and wrong plans, as files.

The format is JSON Lines, compressed if the name ends in `.xz`. hvr's kitchen verifier was trained
and tested on `tools/data/kitchen_plans.jsonl.xz` in the repository. Its requests are T1 to T12,
goals and requests drawn at random, the sentences of `benchmarks/sentences.txt`, and wordings and
goals of ALFRED (MIT License, Copyright 2019 ALFRED).
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hvr.errors import DataFileError
from hvr.judging.verifier.kitchen.linked_plan import Fact, LinkedPlan, class_of

HELD_OUT_SCENES = frozenset(
    {"FloorPlan4", "FloorPlan11", "FloorPlan15", "FloorPlan20", "FloorPlan25", "FloorPlan28"}
)
"""Kitchens held out of training."""
HELD_OUT_THINGS = frozenset({"Ladle", "SoapBottle", "PepperShaker", "Spatula", "Pot", "DishSponge"})
"""Object classes held out of training."""


@dataclass(frozen=True)
class Example:
    """A request with its plans.

    Args:
        id: Id, unique within the world.
        world: Scene name, followed by the demonstration id for ALFRED.
        source: `task`, `made`, `said`, `sentence` or `alfred`.
        wrong: Wrong plans, each with its kind from `hard_negatives.KINDS`.
    """

    id: str
    world: str
    source: str
    texts: tuple[str, ...]
    true: LinkedPlan
    wrong: tuple[tuple[str, LinkedPlan], ...]
    also: tuple[LinkedPlan, ...] = ()

    @property
    def plans(self) -> tuple[LinkedPlan, ...]:
        return (self.true, *(plan for _, plan in self.wrong), *self.also)

    def started(self, start: Iterable[Fact]) -> Example:
        """Return the example with initial facts; each plan gets those about its objects."""
        facts = tuple(start)

        def with_start(plan: LinkedPlan) -> LinkedPlan:
            own = tuple(sorted(f for f in facts if f.args[0] in plan.types))
            return replace(plan, start=own)

        wrong = tuple((kind, with_start(plan)) for kind, plan in self.wrong)
        return replace(
            self, true=with_start(self.true), wrong=wrong, also=tuple(map(with_start, self.also))
        )

    @property
    def scene(self) -> str:
        return self.world.partition(" ")[0]

    @property
    def new_scene(self) -> bool:
        """Whether all plans of the example's kitchen are held out of training."""
        return self.scene in HELD_OUT_SCENES

    @property
    def new_thing(self) -> bool:
        """Whether the plan handles an object class that is held out of training."""
        return handles_new(self.true)


def handles_new(plan: LinkedPlan) -> bool:
    return any(
        class_of(a, plan.types) in HELD_OUT_THINGS for s in plan.steps for a in s.action.args
    )


def read_examples(path: Path) -> Iterator[Example]:
    """Yield the examples of a file.

    Raises:
        DataFileError: The file is unreadable or has invalid content.
    """
    try:
        opened = lzma.open if path.suffix == ".xz" else open
        with opened(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    values = json.loads(line)
                    start = tuple(map(Fact.parse, values.get("start", ())))
                    yield Example(
                        str(values["id"]),
                        str(values["world"]),
                        str(values["source"]),
                        tuple(map(str, values["texts"])),
                        LinkedPlan.from_json(values["true"]),
                        tuple((str(k), LinkedPlan.from_json(p)) for k, p in values["wrong"]),
                        tuple(map(LinkedPlan.from_json, values.get("also", ()))),
                    ).started(start)
                except (KeyError, TypeError, ValueError) as error:
                    raise DataFileError(f"{path}:{number}: invalid example: {error}") from error
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise DataFileError(f"cannot read the examples {path}: {error}") from error


def write_examples(path: Path, examples: Iterable[Example]) -> None:
    """Write examples to a file; equal examples give equal bytes.

    Raises:
        DataFileError: The file cannot be written.
    """
    lines = [
        json.dumps(
            {
                "id": e.id,
                "world": e.world,
                "source": e.source,
                "texts": list(e.texts),
                "true": _without_start(e.true),
                "wrong": [[kind, _without_start(plan)] for kind, plan in e.wrong],
                "also": [_without_start(plan) for plan in e.also],
                # All plans of a request share one world, so this is computed once.
                "start": sorted({str(f) for plan in e.plans for f in plan.start}),
            },
            ensure_ascii=False,
            separators=(",", ":"),
        )
        for e in examples
    ]
    data = ("\n".join(lines) + "\n").encode("utf-8")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lzma.compress(data) if path.suffix == ".xz" else data)
    except OSError as error:
        raise DataFileError(f"cannot write {path}: {error.strerror}") from error


def _without_start(plan: LinkedPlan) -> dict[str, Any]:
    values = plan.to_json()
    del values["start"]
    return values
