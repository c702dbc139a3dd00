"""Measure how well the kitchen verifier that hvr includes tells right plans from wrong ones.

    python benchmarks/kitchen_verifier.py [--examples FILE] [--model FOLDER] [--json FILE]

All plans are executable. The wrong plans miss the request: they use a different object or place,
lack final or middle steps, or serve another request in the same kitchen. The kitchens are held out
of training; `sentence` also holds out the wordings (training uses nothing from
benchmarks/sentences.txt), and `new things` the classes of the handled objects. ROC-AUC uses the
graph score, and each wording of a request counts once.

`--verdicts N` runs `hvr verify` on N of ALFRED's held-out demonstrations, each with one of its
human descriptions. Near misses have another object or place, cut plans lack steps, and far misses
belong to another request. "Others' things" are correct plans whose sentence names an object that
the demonstration does not handle.

`--paraphrases` uses only the sentences of the part `judge` in benchmarks/kitchen_paraphrases.tsv
and prints false alarms and misses at the threshold, by group. An empty plan is correct if the
request already holds.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import measured

from hvr.judging.verifier.kitchen.kitchen_verifier import FOLDER, judge, reading_of
from hvr.judging.verifier.kitchen.linked_plan import INITIAL_STATE, Fact, LinkedPlan, Need
from hvr.judging.verifier.kitchen.mentions import FAMILIES, FROM, NEAR, mentions_of
from hvr.judging.verifier.kitchen.step_features import untouched
from hvr.judging.verifier.verifier import Verifier
from hvr.judging.verifier.wrong_plans import roc_auc
from studies.kitchen_plans.contrast_groups import fulfils_as_said
from studies.kitchen_plans.examples import Example, read_examples
from studies.kitchen_plans.hard_negatives import KINDS

ROOT = Path(__file__).resolve().parent.parent
PARAPHRASES = ROOT / "tools" / "data" / "kitchen_paraphrases.jsonl.xz"
EXAMPLES = ROOT / "tools" / "data" / "kitchen_plans.jsonl.xz"
_PLACED = frozenset({"on", "in"})
_ENABLED = frozenset({"opened", "toggled", "dirty", "filled"})


@dataclass(frozen=True)
class Scored:
    """A plan with one wording of a request.

    Args:
        group: Group in which the plan is counted.
        kind: Kind of hard negative; empty for a plan that fulfils the request.
        score: Graph score S.
    """

    group: str
    kind: str
    request: str
    score: float


def groups_of(example: Example) -> list[str]:
    """Return the groups in which a held-out example is counted."""
    if not example.new_scene:
        return []
    return [example.source, "new things" if example.new_thing else "known things"]


def score(verifier: Verifier, examples: Iterable[Example]) -> list[Scored]:
    rows: list[tuple[list[str], str, str]] = []
    graphs = []
    for example in examples:
        groups = groups_of(example)
        for text in example.texts if groups else ():
            for kind, plan in (("", example.true), *example.wrong):
                rows.append((groups, kind, text))
                graphs.append(reading_of(plan, text))
    found = verifier.plausibility(graphs).tolist()
    return [
        Scored(group, kind, text, value)
        for (groups, kind, text), value in zip(rows, found, strict=True)
        for group in groups
    ]


def table(scored: Sequence[Scored], threshold: float) -> list[dict[str, Any]]:
    """Return one row per group: overall AUC, AUC by kind, and the effect of the threshold."""
    by_group: dict[str, list[Scored]] = defaultdict(list)
    for one in scored:
        by_group[one.group].append(one)
    known = [s for g in ("known things", "new things") for s in by_group.get(g, [])]
    rows = []
    for name, group in [*sorted(by_group.items()), ("all", known)]:
        good = [s.score for s in group if not s.kind]
        bad = {k: [s.score for s in group if s.kind == k] for k in KINDS}
        every = [x for k in KINDS for x in bad[k]]
        rows.append(
            {
                "group": name, "requests": len(good), "wrong plans": len(every),
                "AUC": _auc(good, every), **{k: _auc(good, bad[k]) for k in KINDS},
                "right accepted": sum(x >= threshold for x in good) / max(len(good), 1),
                "wrong refused": sum(x < threshold for x in every) / max(len(every), 1),
            }
        )  # fmt: skip
    return rows


def truths(verifier: Verifier, examples: Iterable[Example]) -> list[tuple[str, float]]:
    """For each ground truth of T1 to T12, return the lowest score over its wordings."""
    return [
        (e.id, float(min(verifier.plausibility([reading_of(e.true, t) for t in e.texts]))))
        for e in examples
        if e.source == "task" and e.id.endswith(" truth")
    ]


def _auc(good: Sequence[float], bad: Sequence[float]) -> float:
    return roc_auc([*good, *bad], [1] * len(good) + [0] * len(bad))


def nothing_done(plan: LinkedPlan) -> LinkedPlan:
    """Return the plan without steps from a plan's initial state."""
    return _standing(plan, plan.start)


def done_already(plan: LinkedPlan) -> LinkedPlan:
    """Return the plan without steps from a plan's final state, in which its goal holds."""
    facts = {(f.predicate, f.args): f for f in plan.start}
    for step in plan.steps:
        facts |= {(f.predicate, f.args): f for f in step.makes}
    kept = (f for f in facts.values() if f.predicate in FAMILIES or f.predicate in _PLACED)
    return _standing(plan, tuple(sorted(f for f in kept if f.positive or f.predicate in _ENABLED)))


def _standing(plan: LinkedPlan, start: tuple[Fact, ...]) -> LinkedPlan:
    ends = tuple(Need(f, INITIAL_STATE) for f in start if f.predicate in _PLACED and f.positive)
    return LinkedPlan((), ends, plan.types, start)


def paraphrased(verifier: Verifier, examples: Iterable[Example]) -> int:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    reasonless = 0
    for example in examples:
        group, text = example.source.partition(" ")[2], example.texts[0]
        rows = [(group, True, example.true), ("done already", True, done_already(example.true))]
        if group != "clean already":
            rows.append(("nothing done", False, nothing_done(example.true)))
        for _, plan in example.wrong:
            if not fulfils_as_said(text, plan, example.true):
                rows.append((group, False, plan))
        for name, right, plan in rows:
            verdict = judge(verifier, plan, text)
            reasonless += not (verdict.accepted or verdict.findings or verdict.unknown)
            judged = not verdict.unknown
            for where in {name, "all with steps" if plan.steps else "all without steps"}:
                counts[where]["right" if right else "wrong"] += 1
                counts[where]["no verdict"] += not judged
                counts[where]["false alarms"] += right and judged and not verdict.accepted
                counts[where]["misses"] += verdict.accepted and not right
    for name, row in counts.items():
        alarms, misses = (
            f"{row[what]} of {row[of]} ({row[what] / max(row[of], 1):.1%})"
            for what, of in (("false alarms", "right"), ("misses", "wrong"))
        )
        unjudged = f", no verdict {row['no verdict']}" if row["no verdict"] else ""
        print(f"{name}: false alarms {alarms}, misses {misses}{unjudged}")
    print(f"threshold {verifier.thresholds.graph:.2f}; refused without a reason: {reasonless}")
    return 0


def verdicts(
    verifier: Verifier, examples: Sequence[Example], count: int, seed: int
) -> dict[str, Counter[str]]:
    """Return the numbers of accepted, rejected and undecided plans, by group."""
    rng = random.Random(seed)
    chosen = rng.sample(
        [e for e in examples if e.new_scene and e.source == "alfred"], count
    )  # fmt: skip
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for example in chosen:
        text = rng.choice(example.texts)
        missed = [
            t for t in untouched(example.true, mentions_of(text)) if t.role not in (FROM, NEAR)
        ]
        rows = [("right, others' things" if missed else "right", example.true)]
        rows += [
            (_MISSES.get(kind, "cut"), plan) for kind, plan in example.wrong
            if not fulfils_as_said(text, plan, example.true)
        ]  # fmt: skip
        for group, plan in rows:
            verdict = judge(verifier, plan, text)
            outcome = "accepted" if verdict.accepted else "rejected"
            counts[group]["no verdict" if verdict.unknown else outcome] += 1
    return counts


_OUTCOMES = ("accepted", "no verdict", "rejected")
_MISSES = {"wrong object": "near", "wrong place": "near", "another request": "far"}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--examples", type=Path, default=EXAMPLES)
    parser.add_argument("--model", type=Path, default=FOLDER)
    parser.add_argument("--paraphrases", action="store_true", help="use hvr's own 60 sentences")
    parser.add_argument("--verdicts", type=int, metavar="N", help="verdicts on N demonstrations")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample of --verdicts")
    parser.add_argument("--part", default="judge", help="part of the paraphrases: judge or choose")
    parser.add_argument("--json", type=Path, help="write all results to this file")
    options = parser.parse_args(arguments)
    if not options.examples.is_file():
        print(f"{options.examples} does not exist; create it with tools/collect_kitchen_plans.py",
              file=sys.stderr)  # fmt: skip
        return 2
    import torch

    torch.set_num_threads(2)
    print(conditions(options.seed))
    verifier = Verifier.load(options.model)
    if options.paraphrases:
        told = [e for e in read_examples(PARAPHRASES) if e.source.startswith(options.part)]
        return paraphrased(verifier, told)
    examples = list(read_examples(options.examples))
    if options.verdicts is not None:
        found = verdicts(verifier, examples, options.verdicts, options.seed)
        for group, row in sorted(found.items()):
            cells = (f"{what} {row[what] / row.total():.1%}" for what in _OUTCOMES)
            print(f"{group} ({row.total()}): {', '.join(cells)}")
        return 0
    started = time.perf_counter()
    scored = score(verifier, examples)
    seconds = time.perf_counter() - started
    rows = table(scored, verifier.thresholds.graph)
    for row in rows:
        print(" | ".join(f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()))
    print("columns: " + " | ".join(rows[0]))
    lowest = truths(verifier, examples)
    print(f"threshold {verifier.thresholds.graph:.2f}; ground truths of T1 to T12, lowest score "
          f"over wordings: {min((s for _, s in lowest), default=float('nan')):.3f}")  # fmt: skip
    print(f"{len(scored)} scores in {seconds:.1f} s, including reading and encoding the requests")
    if options.json is not None:
        report = {"rows": rows, "truths": lowest, "threshold": verifier.thresholds.graph}
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(measured(main))
