"""Train the kitchen verifier that comes with hvr.

    python tools/train_kitchen_verifier.py [--examples FILE] [--output FOLDER] [--encoder NAME]

It learns from requests with a plan that does them and plans that miss them
(`studies.kitchen_plans.examples`, made by tools/collect_kitchen_plans.py), with the network and
the two stages of `hvr.judging.verifier`. Held out: six kitchens, six classes of things, and every
sentence of benchmarks/sentences.txt; see
docs/explanation/kitchen_verifier.md. The graph threshold is the one
chosen on kitchens that training is stopped by, lowered where it would refuse too many right plans
for paraphrases (tools/kitchen_paraphrases.py), or a ground truth of T1 to T12.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import torch

from hvr.base.files import write_whole
from hvr.judging.verifier.checkpoint import VALUES
from hvr.judging.verifier.config import Epoch, VerifierConfig
from hvr.judging.verifier.features import count_paths
from hvr.judging.verifier.kitchen.kitchen_verifier import FOLDER, kitchen_tools, reading_of
from hvr.judging.verifier.tool_embeddings import ToolEmbeddings
from hvr.judging.verifier.verifier import Verifier, make_encoder
from studies.kitchen_plans.contrast_groups import kitchen_family
from studies.kitchen_plans.examples import Example, handles_new, read_examples
from studies.plan_network.alignment_fit import train_alignment
from studies.plan_network.fit import TrainingData, train_on
from studies.plan_network.perturbations import Perturbed

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "tools" / "data" / "kitchen_plans.jsonl.xz"
PARAPHRASES = ROOT / "tools" / "data" / "kitchen_paraphrases.jsonl.xz"
FALSE_ALARMS = 0.05
"""Share of right plans for paraphrases that may be refused, at most."""
CONFIDENCE = 0.95
"""With which that share is at most `FALSE_ALARMS`, judged by the paraphrases that choose."""
INNER = frozenset({"FloorPlan7", "FloorPlan14", "FloorPlan22", "FloorPlan27"})
"""Training kitchens that the stages are stopped by and thresholds are chosen on."""

WORDINGS = {"task": 2, "made": 2, "said": 2, "alfred": 1}
"""Wordings of a request to learn from, by its source."""
REPEATS = 3
"""Times that a ground truth of T1 to T12 counts: there are 13, among thousands of plans."""

ContrastGroup = tuple[Perturbed, ...]
"""Plans that do a request, then plans that miss it."""


def configuration(encoder: str, seed: int) -> VerifierConfig:
    """Return the settings of the shipped verifier."""
    return VerifierConfig.small(
        encoder=encoder, step_names="keep", tool_text="description",
        layers=2, align_hidden=16, align_epochs=2, dropout=0.4, lambda_graph=2.0, epochs_graph=20,
        epochs_local=4, patience=20, seed=seed,
    )  # fmt: skip


def contrast_groups(
    examples: Iterable[Example], most: Mapping[str, int], seed: int, repeats: int = 1
) -> list[ContrastGroup]:
    """Return a contrast group for each wording.

    Args:
        examples: requests with their plans.
        most: how many wordings of a request, by source.
        seed: chooses them.
        repeats: how often the ground truths of T1 to T12 count, which have every wording.
    """
    groups = []
    for example in examples:
        texts = list(example.texts)
        Random(f"{seed} {example.world} {example.id}").shuffle(texts)
        wrong = [w for w in example.wrong if not handles_new(w[1])]
        also = [p for p in example.also if not handles_new(p)]
        truth = is_truth(example)
        for number, text in enumerate(texts if truth else texts[: most[example.source]]):
            name = f"{example.world} {example.id} {number}"
            group = kitchen_family(text, name, example.true, wrong, also)
            groups += [group] * (repeats if truth else 1)
    return groups


def is_truth(example: Example) -> bool:
    """Return whether an example is a ground truth of T1 to T12."""
    return example.source == "task" and example.id.endswith(" truth")


def not_held_out(examples: Iterable[Example]) -> list[Example]:
    """Return the examples that are neither of a new kitchen nor of a new thing or wording."""
    return [
        e for e in examples
        if not (e.new_scene or e.new_thing or e.source == "sentence") and e.wrong
    ]  # fmt: skip


def held_groups(examples: Iterable[Example], seed: int) -> list[ContrastGroup]:
    """Return the contrast groups of the kitchens that training is stopped by."""
    inner = [e for e in not_held_out(examples) if e.scene in INNER]
    return contrast_groups(inner, WORDINGS, seed)


def train(examples: Sequence[Example], config: VerifierConfig) -> Verifier:
    """Train on the examples that are not held out."""
    kept = not_held_out(examples)
    fit = contrast_groups((e for e in kept if e.scene not in INNER), WORDINGS, config.seed, REPEATS)
    held = held_groups(examples, config.seed)
    print(f"{len(kept)} requests; {len(fit)} groups to learn from, {len(held)} to stop by; "
          f"{sum(map(len, fit))} and {sum(map(len, held))} plans")  # fmt: skip
    graphs = [p.graph for f in (*fit, *held) for p in f]
    embeddings = ToolEmbeddings(kitchen_tools(graphs), make_encoder(config), config)
    embeddings.prepare(graphs)
    counts = count_paths({p[0].graph.tools: p[0].graph.tools for p in fit}.values())
    pairs = sorted({(n.text, n.tool) for f in fit for n in f[0].graph.nodes})
    alignment = train_alignment(config, embeddings, pairs)
    verifier = train_on(config, embeddings, counts, alignment, TrainingData(fit, held), _report)
    return with_fair_threshold(verifier, held)


def with_fair_threshold(verifier: Verifier, held: Sequence[ContrastGroup]) -> Verifier:
    """Choose the graph threshold with the best balanced accuracy on held-out kitchens.

    That is the mean of the fractions of right plans accepted and of wrong plans refused: that
    wrong ones are several to each right one is only because so many were made.
    """
    plans = [p for group in held for p in group]
    score = verifier.plausibility([p.graph for p in plans])
    wrong = np.array([bool(p.operations) for p in plans])

    def fractions(limit: float) -> tuple[float, float]:
        return float((score[~wrong] >= limit).mean()), float((score[wrong] < limit).mean())

    chosen = max((round(0.05 * i, 2) for i in range(1, 20)), key=lambda x: sum(fractions(x)))
    right, refused = fractions(chosen)
    print(f"threshold {chosen}: {right:.1%} of the right plans of the kitchens it was chosen on "
          f"are accepted, {refused:.1%} of the wrong ones refused")  # fmt: skip
    return replace(verifier, thresholds=replace(verifier.thresholds, graph=chosen))


def with_few_false_alarms(verifier: Verifier, examples: Iterable[Example]) -> Verifier:
    """Lower the graph threshold until it surely refuses few of the right plans of paraphrases.

    Of n plans so many may be refused that the share in all paraphrases is at most `FALSE_ALARMS`
    with `CONFIDENCE` (the bound of Clopper & Pearson 1934).

    Args:
        verifier: with the threshold of the kitchens that training is stopped by, where most
            wordings are known.
        examples: paraphrases of the part `choose`, in words that were not trained on.
    """
    graphs = [reading_of(e.true, text) for e in examples for text in e.texts]
    few = refusals_allowed(len(graphs))
    lowest = float(np.sort(verifier.plausibility(graphs))[few])
    chosen = min(verifier.thresholds.graph, max(0.01, int(100 * lowest) / 100))
    print(f"threshold {chosen}, with which {few} of {len(graphs)} right plans for paraphrases are "
          "refused at most")  # fmt: skip
    return replace(verifier, thresholds=replace(verifier.thresholds, graph=chosen))


def refusals_allowed(plans: int) -> int:
    """Return how many of some right plans may be refused; 0 where there are too few to be sure."""

    def as_few(refused: int) -> float:
        return sum(
            math.comb(plans, n) * FALSE_ALARMS**n * (1 - FALSE_ALARMS) ** (plans - n)
            for n in range(refused + 1)
        )

    allowed = 0
    while as_few(allowed + 1) <= 1 - CONFIDENCE:
        allowed += 1
    return allowed


def write_threshold(folder: Path, threshold: float) -> None:
    """Change the graph threshold of a checkpoint, and nothing else."""
    values = json.loads((folder / VALUES).read_text(encoding="utf-8"))
    values["thresholds"]["graph"] = threshold
    write_whole(folder / VALUES, json.dumps(values, ensure_ascii=False))


def with_tasks_accepted(verifier: Verifier, examples: Sequence[Example]) -> Verifier:
    """Lower the graph threshold until it accepts the ground truths of T1 to T12."""
    graphs = [reading_of(e.true, text) for e in examples if is_truth(e) for text in e.texts]
    lowest = float(min(verifier.plausibility(graphs)))
    chosen = verifier.thresholds.graph
    print(f"threshold {chosen}; the lowest score of {len(graphs)} wordings of ground truths is "
          f"{lowest:.3f}")  # fmt: skip
    # A hundredth of room, so that other processors round to the same side.
    lowered = min(chosen, max(0.01, int(100 * lowest - 1) / 100))
    return replace(verifier, thresholds=replace(verifier.thresholds, graph=lowered))


def _report(epoch: Epoch) -> None:
    value = "" if epoch.validation is None else f", validation {epoch.validation:.4f}"
    print(f"{epoch.stage} {epoch.number} of {epoch.of}: loss {epoch.loss:.4f}{value}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, set the threshold, write."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--examples", type=Path, default=EXAMPLES)
    parser.add_argument("--output", type=Path, default=FOLDER)
    parser.add_argument("--encoder", default="lexical-hash", help="lexical-hash, minilm or st:NAME")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threshold-only", action="store_true", help="choose it anew for --output")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    if not options.examples.is_file():
        print(f"no examples at {options.examples}: make them with tools/collect_kitchen_plans.py",
              file=sys.stderr)  # fmt: skip
        return 2
    torch.set_num_threads(options.threads)
    started = time.perf_counter()
    examples = list(read_examples(options.examples))
    if options.threshold_only:
        verifier = Verifier.load(options.output)
        verifier = with_fair_threshold(verifier, held_groups(examples, verifier.config.seed))
    else:
        verifier = train(examples, configuration(options.encoder, options.seed))
    choosing = (e for e in read_examples(PARAPHRASES) if e.source.startswith("choose "))
    verifier = with_few_false_alarms(verifier, choosing)
    verifier = with_tasks_accepted(verifier, examples)
    if options.threshold_only:
        write_threshold(options.output, verifier.thresholds.graph)
    else:
        verifier.save(options.output, half=True)
    size = sum(f.stat().st_size for f in options.output.iterdir()) / 1e6
    print(f"{options.output}: {size:.1f} MB, {time.perf_counter() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
