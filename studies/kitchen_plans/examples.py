"""Requests with a plan that does what was asked and plans that miss it, as a file.

One line of JSON each, packed where the name ends in `.xz`. The file that the shipped
verifier was trained and tested on is `tools/data/kitchen_plans.jsonl.xz` in the repository; its
requests are T1 to T12, drawn goals and requests, the sentences of
`benchmarks/sentences.txt`, and wordings and goals of ALFRED (MIT License, Copyright 2019 ALFRED).
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
"""Kitchens that no plan of the training comes from."""
HELD_OUT_THINGS = frozenset({"Ladle", "SoapBottle", "PepperShaker", "Spatula", "Pot", "DishSponge"})
"""Classes of things that no plan of the training handles."""


@dataclass(frozen=True)
class Example:
    """A request and plans for it.

    Args:
        id: unique with the world.
        world: name of the scene, with the demonstration's id for ALFRED's.
        source: `task`, `made`, `said`, `sentence` or `alfred`.
        texts: how the request is worded.
        true: a plan that does it.
        wrong: plans that miss it, each with its kind of `hard_negatives.KINDS`.
        also: other plans that do it.
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
        """All its plans."""
        return (self.true, *(plan for _, plan in self.wrong), *self.also)

    def started(self, start: Iterable[Fact]) -> Example:
        """Return the example with what is so at the start; each plan gets what it names."""
        facts = tuple(start)

        def told(plan: LinkedPlan) -> LinkedPlan:
            own = tuple(sorted(f for f in facts if f.args[0] in plan.types))
            return replace(plan, start=own)

        wrong = tuple((kind, told(plan)) for kind, plan in self.wrong)
        return replace(self, true=told(self.true), wrong=wrong, also=tuple(map(told, self.also)))

    @property
    def scene(self) -> str:
        """Name of the kitchen."""
        return self.world.partition(" ")[0]

    @property
    def new_scene(self) -> bool:
        """Its kitchen is held out of training."""
        return self.scene in HELD_OUT_SCENES

    @property
    def new_thing(self) -> bool:
        """Its plan handles a thing that is held out of training."""
        return handles_new(self.true)


def handles_new(plan: LinkedPlan) -> bool:
    """Return whether a plan handles something of a class that is held out of training."""
    return any(
        class_of(a, plan.types) in HELD_OUT_THINGS for s in plan.steps for a in s.action.args
    )


def read_examples(path: Path) -> Iterator[Example]:
    """Yield the examples of a file.

    Raises:
        DataFileError: it cannot be read, or is something else.
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
                    raise DataFileError(f"{path}:{number}: not an example: {error}") from error
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise DataFileError(f"cannot read the examples {path}: {error}") from error


def write_examples(path: Path, examples: Iterable[Example]) -> None:
    """Write a file of examples; the same examples give the same bytes.

    Raises:
        DataFileError: it cannot be written.
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
                # Once for all plans of a request, which are of one world.
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
