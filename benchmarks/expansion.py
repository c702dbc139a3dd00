"""Measure how well retrieval finds the objects that a plan needs, with and without expansion.

    python benchmarks/expansion.py
    python benchmarks/expansion.py --per-class 1 --json table.json

No language model is involved. The simulated pick consists of the classes named in the task's
sentences (the goal-oriented one, or both it and the constructive one). This is roughly the least
that a model can be expected to pick. Recall is the retrieved share of the objects in the task's
ground-truth plan (tasks/*.toml, in its scene). By class, an object of the same class or any other
cutting tool also counts. Tokens are an upper estimate (`hvr.models.model`) of the prompt text about
the objects.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import TASKS_HELP, measured, tasks_of

from hvr.execution.world import World, open_world
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.context import object_context
from hvr.knowledge.retrieval.embedders import make_embedder
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.retrieval.selection import PER_CLASS, expand, select
from hvr.models.model import estimate_tokens
from hvr.runs.tasks import PaperTask, load_task
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.scenes import load_scene

PICKS = ("goal-oriented", "both sentences")
_SEED = 0


@dataclass(frozen=True)
class Row:
    """One task and one pick, with or without expansion.

    Args:
        recall: Retrieved share of the ground truth's objects.
        by_class: The same share if an object of the same class suffices.
        tokens: Estimated number of tokens of the prompt text about the objects.
        missing: Ground-truth objects that were not retrieved.
    """

    task: str
    pick: str
    expanded: bool
    recall: float
    by_class: float
    objects: int
    tokens: int
    milliseconds: float
    missing: tuple[str, ...]


def named_classes(sentence: str, ontology: Ontology, present: Iterable[str]) -> list[str]:
    """Return the classes named in a sentence; "butterknife" does not count as "knife"."""
    texts = sorted(
        ((label.lower(), c) for c in set(present) for label in ontology.labels(c)),
        key=lambda pair: (-len(pair[0]), pair),
    )
    rest, found = sentence.lower(), []
    for text, cls in texts:
        rest, count = re.subn(rf"\b{re.escape(text)}s?\b", "|", rest)
        if count:
            found.append(cls)
    return found


def same(name: str, inventory: Inventory) -> object:
    """Return the equivalence class of an object: its class, or "cutting tool"."""
    return "tool" if inventory.true("cutting_tool", name) else inventory.classes[name]


def rows(task: PaperTask, world: World, per_class: int) -> list[Row]:
    embedder = make_embedder("lexical")
    inventory = world.inventory()
    needed = {a for step in task.ground_truth.steps for a in step.args}
    kinds = {same(n, inventory) for n in needed}
    result = []
    for pick in PICKS:
        sentence = task.goal_oriented
        if pick == PICKS[1]:
            sentence += ". " + task.constructive
        classes = named_classes(sentence, inventory.ontology, inventory.classes.values())
        for expanded in (False, True):
            start = time.perf_counter()
            names = list(select(classes, inventory, embedder, per_class=per_class).names)
            if expanded:
                names += expand(names, inventory)
            taken = time.perf_counter() - start
            found = {same(n, inventory) for n in names}
            result.append(
                Row(
                    task.id,
                    pick,
                    expanded,
                    len(needed & set(names)) / len(needed),
                    len(kinds & found) / len(kinds),
                    len(names),
                    estimate_tokens(object_context(world.graph, names)),
                    taken * 1000,
                    tuple(sorted(needed - set(names))),
                )
            )
    everything = tuple(inventory.classes)
    whole = estimate_tokens(object_context(world.graph, everything))
    result.append(Row(task.id, "whole graph", False, 1.0, 1.0, len(everything), whole, 0.0, ()))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--per-class", type=int, default=PER_CLASS)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--tasks", default="paper", help=TASKS_HELP)
    options = parser.parse_args()
    found: list[Row] = []
    for task_id in tasks_of(options.tasks):
        task = load_task(task_id)
        kitchen = Kitchen(load_scene(task.ground_truth.scene), _SEED)
        found += rows(task, open_world(kitchen), options.per_class)
    print(conditions(_SEED))
    print(f"per class: {options.per_class} · pick: simulated, classes named in the sentence")
    print(f"\n{'task':<6} {'pick':<15} {'expand':<6} {'recall':>6} {'by class':>8} "
          f"{'objects':>7} {'tokens':>6} {'ms':>5}  missing")  # fmt: skip
    for r in found:
        print(
            f"{r.task:<6} {r.pick:<15} {'yes' if r.expanded else 'no':<6} {r.recall:>6.0%} "
            f"{r.by_class:>8.0%} {r.objects:>7} {r.tokens:>6} {r.milliseconds:>5.1f}  "
            f"{', '.join(r.missing)}"
        )
    print()
    for pick in (*PICKS, "whole graph"):
        for expanded in (False, True):
            group = [r for r in found if (r.pick, r.expanded) == (pick, expanded)]
            if group:
                print(
                    f"mean   {pick:<15} {'yes' if expanded else 'no':<6} "
                    f"{statistics.mean(r.recall for r in group):>6.0%} "
                    f"{statistics.mean(r.by_class for r in group):>8.0%} "
                    f"{statistics.mean(r.objects for r in group):>7.1f} "
                    f"{statistics.mean(r.tokens for r in group):>6.0f} "
                    f"{statistics.mean(r.milliseconds for r in group):>5.1f}"
                )
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(r) for r in found], indent=2), "utf-8")


if __name__ == "__main__":
    sys.exit(measured(main))
