"""Examples for the learnt reader: sentences with their frames.

The three sources are human descriptions of whole demonstrations, human descriptions of single
steps, and generated sentences, including some that no frame can represent.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hvr.knowledge.ontology import Ontology
from hvr.language.learnt.frames import OTHER, Frame
from studies.alfred import RENAMED
from studies.learnt_reader.made import confusing_sentences, made_sentences

TASK_KINDS = {
    "pick_and_place_simple": "place",
    "pick_two_obj_and_place": "two",
    "pick_and_place_with_movable_recep": "stack",
    "pick_clean_then_place_in_recep": "clean",
    "pick_heat_then_place_in_recep": "heat",
    "pick_cool_then_place_in_recep": "cool",
    "look_at_obj_in_light": OTHER,
}
STEP_KINDS = {
    "PickupObject": "hold",
    "PutObject": "place",
    "SliceObject": "slice",
    "HeatObject": "heat",
    "CoolObject": "cool",
    "CleanObject": "clean",
    "GotoLocation": OTHER,
    "ToggleObject": OTHER,
}
"""Frame kind for the goal of each demonstration action."""

_STEPS_OF_A_KIND = 2500
_MEANS = {"heat": r"microwaves?|oven", "cool": r"fridge|refrigerator|freezer|icebox",
          "clean": r"sink|faucet|tap|basin"}  # fmt: skip
_PLACES = re.compile(
    r"\b(counter\w*|table\w*|fridge|refrigerator|freezer|sink|basin|cabinet\w*|cupboard\w*|drawers?|"
    r"shelf|shelves|bin|trash\w*|garbage|can|stove\w*|burner|hob|oven|microwave|coffee\w*|machine|"
    r"maker|brewer|island|stand|desk|side|surface|rack|top|basket|wastebasket|waste|bucket|ledge|"
    r"board|buffet|bench|cart|bar|chopping|bottom|right|left|door|range|cooktop|eye|closet|away|"
    r"floor|unit|workbench|block|dispenser|pantry|appliance)\b"
)
_PRONOUN = re.compile(r"\b(it|them|this|these|that|one|item|object)\b")


@dataclass(frozen=True)
class Example:
    """A sentence with its meaning.

    Args:
        frame: Meaning in terms of classes.
        scene: Floor plan; empty if the sentence fits any kitchen.
        folder: Task folder of the demonstration; empty for a generated sentence.
        source: `task`, `step` or `made`.
    """

    text: str
    frame: Frame
    scene: str
    folder: str
    source: str
    demonstration: str = ""


def class_names(ontology: Ontology) -> Mapping[str, str]:
    """Map each AI2-THOR type to its class; a type that the ontology lacks is mapped to itself."""

    class Names(dict[str, str]):
        def __missing__(self, name: str) -> str:
            name = RENAMED.get(name, name)
            return ontology.class_of_thor_type(name) or name

    return Names()


def read_records(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def task_examples(records: Iterable[Mapping[str, Any]], ontology: Ontology) -> Iterator[Example]:
    """Yield the descriptions of whole demonstrations, with the demonstrations' goals."""
    names = class_names(ontology)
    for record in records:
        params = record["pddl_params"]
        kind = TASK_KINDS[record["task_type"]]
        for annotation in record["annotations"]:
            text = str(annotation["task_desc"]).strip()
            if not text:
                continue
            place: str | None = names[params["parent_target"]] if params["parent_target"] else None
            if kind in _MEANS and not names_a_place(text, kind):
                place = None
            carrier = names[params["mrecep_target"]] if kind == "stack" else None
            frame = Frame(
                kind, names[params["object_target"]], place, carrier, bool(params["object_sliced"])
            )
            yield Example(text, frame, record["floor_plan"], folder_of(record), "task",
                          str(record["id"]))  # fmt: skip


def names_a_place(text: str, kind: str) -> bool:
    """Return whether a sentence names a place other than the appliance that heats or cools."""
    plain = re.sub(rf"\b(in|into|inside|with|using|by|from|out of) (the |a )?({_MEANS[kind]})\b",
                   " ", text.lower())  # fmt: skip
    return _PLACES.search(plain) is not None


def step_examples(records: Iterable[Mapping[str, Any]], ontology: Ontology) -> list[Example]:
    """Return descriptions of single steps with the steps' goals, a limited number per action."""
    names = _StepNames(ontology, records := list(records))
    kept: dict[str, list[Example]] = defaultdict(list)
    for record in records:
        for annotation in record["annotations"]:
            if len(annotation["high_descs"]) != sum(s["action"] != "NoOp" for s in
                                                    record["high_plan"]):  # fmt: skip
                continue
            for step, text in zip(record["high_plan"], annotation["high_descs"], strict=False):
                frame = names.frame(step)
                if frame is None or len(text) > 120 or not text.strip():
                    continue
                if frame.kind != OTHER and _PRONOUN.search(text.lower()):
                    continue
                kept[step["action"]].append(
                    Example(text.strip(), frame, record["floor_plan"], folder_of(record), "step")
                )
    rng = random.Random(0)
    chosen: list[Example] = []
    for action in sorted(kept):
        examples = kept[action]
        rng.shuffle(examples)
        chosen += examples[:_STEPS_OF_A_KIND]
    return chosen


class _StepNames:
    """The classes of the lower-case names that occur in plans."""

    def __init__(self, ontology: Ontology, records: Iterable[Mapping[str, Any]]) -> None:
        names = class_names(ontology)
        types = {v for r in records for v in r["pddl_params"].values() if isinstance(v, str) and v}
        self.known = {t.lower(): names[t] for t in sorted(types)}
        self.known |= {t.lower(): t for t in ontology.object_types}
        self.known["glassbottle"] = names["Glassbottle"]

    def frame(self, step: Mapping[str, Any]) -> Frame | None:
        kind = STEP_KINDS.get(step["action"])
        if kind is None:
            return None
        args = [self.known.get(a) for a in step["args"]]
        if kind == OTHER:
            return Frame(OTHER, args[0] or "Apple")
        if None in args or not args:
            return None
        thing = str(args[0])
        sliced = thing.endswith("Sliced")
        return Frame(kind, thing.removesuffix("Sliced"), args[1] if kind == "place" else None,
                     None, sliced)  # fmt: skip


def folder_of(record: Mapping[str, Any]) -> str:
    return str(record["id"]).partition("/")[0]


def share_of(folder: str, shares: int) -> int:
    """Assign a task folder to one of `shares` equal parts, and return the part's index."""
    return zlib.crc32(folder.encode()) % shares


def is_kept(folder: str) -> bool:
    return share_of(folder, 5) == 0


def is_validation(folder: str) -> bool:
    return share_of(folder, 20) == 1


def made_examples(ontology: Ontology, number: int) -> list[Example]:
    return [Example(text, frame, "", "", "made")
            for text, frame in made_sentences(ontology, number)]  # fmt: skip


def confusing_examples(ontology: Ontology, number: int) -> list[Example]:
    """Return sentences that resemble ones with a frame but have none."""
    return [Example(text, frame, "", "", "made")
            for text, frame in confusing_sentences(ontology, number)]  # fmt: skip


def scene_classes(
    records: Iterable[Mapping[str, Any]], ontology: Ontology, packaged: Mapping[str, Iterable[str]]
) -> dict[str, frozenset[str]]:
    """Return the classes in each floor plan, from its packaged scene and its demonstrations.

    `packaged` has the AI2-THOR types in each packaged scene.
    """
    records = list(records)
    names, steps = class_names(ontology), _StepNames(ontology, records)
    classes: dict[str, set[str]] = defaultdict(set)
    for record in records:
        scene = classes[record["floor_plan"]]
        scene |= {names[v] for k, v in record["pddl_params"].items() if k != "object_sliced" and v}
        scene |= {
            steps.known[a] for s in record["high_plan"] for a in s["args"] if a in steps.known
        }
    for scene_name, types in packaged.items():
        classes[scene_name] |= {names[t] for t in types}
    return {name: frozenset(found) for name, found in sorted(classes.items())}
