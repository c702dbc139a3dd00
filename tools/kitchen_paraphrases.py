"""Generate correct and wrong plans for paraphrases that the kitchen verifier is not trained on.

    python tools/kitchen_paraphrases.py --output tools/data/kitchen_paraphrases.jsonl.xz

`benchmarks/kitchen_paraphrases.tsv` pairs each paraphrase with a plainer sentence. hvr plans for
the plain sentence; the verifier sees only the paraphrase. The part `choose` sets the threshold and
uses the early-stopping kitchens; the part `judge` uses held-out kitchens. If a sentence asks for "a
clean plate", a plan that takes an already clean plate is also correct.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from collect_kitchen_plans import HELD_OUT, Request, plan_world, with_misses

from hvr.execution.world import World
from hvr.judging.verifier.kitchen.linked_plan import Fact, LinkedPlan
from hvr.knowledge.graph import KnowledgeGraph
from hvr.worlds import Kitchen
from studies.kitchen_plans.examples import Example, write_examples

SENTENCES = Path(__file__).resolve().parent.parent / "benchmarks" / "kitchen_paraphrases.tsv"
KITCHENS = {
    "choose": ("FloorPlan7", "FloorPlan14", "FloorPlan22", "FloorPlan27"),
    "judge": HELD_OUT,
}
EACH = 2
"""Number of kitchens to plan for each sentence in."""


def rows(path: Path) -> list[tuple[str, str, str, str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    split = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return [(part, group, plain, text) for part, group, plain, text in split]


def examples(part: str, sentences: Sequence[tuple[str, str, str, str]]) -> Iterator[Example]:
    """Yield the sentences of a part with plans in the first kitchens that allow them."""
    kitchens = KITCHENS[part]
    worlds = {s: World(Kitchen(s), KnowledgeGraph.create()) for s in kitchens}
    for number, (_, group, plain, text) in enumerate(sentences):
        order = [kitchens[(number + i) % len(kitchens)] for i in range(len(kitchens))]
        found = (e for s in order for e in planned(s, worlds[s], part, group, plain, text))
        some = list(islice(found, EACH))
        if not some:
            print(f"no plan in any kitchen: {plain}", file=sys.stderr)
        yield from some


def planned(
    scene: str, world: World, part: str, group: str, plain: str, text: str
) -> Iterator[Example]:
    ways = [(group, plain)]
    if " a clean " in plain:
        ways.append(("clean already", plain.replace(" a clean ", " a ")))
    for name, sentence in ways:
        request = Request(f"{name}: {text}", f"{part} {name}", (sentence, text))
        entries = plan_world(scene, world, [request], forced=False)["entries"]
        for values in with_misses(scene, entries, world, forced=False):
            if name != group and any(f.startswith("(dirty ") for f in values["start"]):
                continue
            yield Example(
                values["id"], scene, values["source"], (text,),
                LinkedPlan.from_json(values["true"]),
                tuple((kind, LinkedPlan.from_json(plan)) for kind, plan in values["wrong"]),
            ).started(map(Fact.parse, values["start"]))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sentences", type=Path, default=SENTENCES)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    known = rows(options.sentences)
    found = [e for part in KITCHENS for e in examples(part, [r for r in known if r[0] == part])]
    write_examples(options.output, found)
    print(f"{len({e.id for e in found})} of {len(known)} sentences, {len(found)} plans")


if __name__ == "__main__":
    main()
