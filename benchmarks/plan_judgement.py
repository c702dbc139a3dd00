"""Test the judge of tool plans on a planner's real drafts.

    python benchmarks/plan_judgement.py
        [--part verdicts|missing|new|corrections|convention|curve|ablation] [--part …]
        [--data FOLDER] [--train SPLIT] [--plans SPLIT] [--drafts FILE] [--links whole|seen]
        [--seeds 3] [--svg FILE]

Training uses true plans and simulated drafts of them; all figures come from the real drafts.

verdicts      ROC-AUC; expected calibration error in ten bins, its mean for a perfectly calibrated
              judge on as many drafts, the share of such judges with at least this error, and an
              estimate without that bias; flagged steps
missing       ROC-AUC of true plans of three steps or more against the same plans without one step,
              by its position
new           verdicts on requests whose sequence of tools is in no training plan: every fifth
              sequence is held out and drafts of its plans are simulated; drafts that copy past
              plans, all of them wrong, are reported separately
corrections   node F1, link F1, accuracy of nodes, of nodes and links in per cent, with the draft
              and a 40-line baseline of nearest plans and edit distance; requests with a new plan
              are reported separately
convention    right plans of tau2-bench's retail tasks that the judge changes after learning from
              tau-bench's plans, which omit queries (--worlds)
curve         the verdicts by number of training plans, with a paired bootstrap
ablation      the verdicts without each feature in turn, and without the texts of steps
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
from conditions import conditions
from inputs import measured, records
from tool_sets import DATA, ToolSet, add_tool_set, on_tool_set

from hvr.judging.verifier.config import VerifierConfig, no_progress
from hvr.judging.verifier.features import ToolEmbeddings
from hvr.judging.verifier.judgement.draft_reader import DraftReader, ReadDraft
from hvr.judging.verifier.judgement.fit import (
    PlannerErrors,
    fit_judge,
    judge_of,
    simulated,
    weights_of,
    with_errors,
)
from hvr.judging.verifier.judgement.judge import ChangeRule, Judge, correct, rewritten
from hvr.judging.verifier.judgement.past_plans import PastPlans
from hvr.judging.verifier.judgement.posterior import (
    FEATURES,
    PlanOpinion,
    difference,
    probabilities,
)
from hvr.judging.verifier.verdict import Verdict
from hvr.judging.verifier.verifier import make_encoder
from hvr.judging.verifier.wrong_plans import WrongPlans, roc_auc
from hvr.tools.datasets import read_graph
from hvr.tools.tool_plans import LoggedCall, ToolPlan, link_f1, node_f1

SIZES = (10, 50, 200, 600)
BINS = 10
HARD = ("other request, near", "tail missing", "order")
"""Wrong plans that are hard to tell from true ones, for the ablation."""
EDIT_COST = 3.0
"""Cost of an edit in the short baseline, in nats; 2 to 4 perform equally on held-out plans."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    add_tool_set(parser)
    parser.add_argument("--part", choices=(
        "verdicts", "missing", "new", "corrections", "convention", "curve", "ablation",
    ), action="append")  # fmt: skip
    parser.add_argument("--worlds", type=Path, default=DATA.parent / "toolworlds", help=(
        "folder of the tool worlds (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help=(
        "numbers of training plans of the learning curve"))  # fmt: skip
    parser.add_argument("--svg", type=Path, help="write the reliability diagram")
    return on_tool_set(parser, measure)


def measure(data: ToolSet, args: argparse.Namespace) -> None:
    config = VerifierConfig.small()
    embeddings = ToolEmbeddings(data.tools, make_encoder(config), config)
    print(conditions())
    print(f"{len(data.train)} training plans, {len(data.drafts)} drafts, {len(data.tools)} "
          f"tools, {len(data.tools.links)} links ({args.links})\n")  # fmt: skip
    parts = args.part or ("verdicts", "missing", "corrections", "curve", "ablation")
    judges = []
    for seed in range(args.seeds if {"verdicts", "missing", "corrections"} & set(parts) else 0):
        started = time.process_time()
        judges.append(fit_judge(embeddings, data.train, seed=seed))
        spent = time.process_time() - started
        print(f"seed {seed}: {spent:.0f} s of CPU to train; {judges[-1].rule}", flush=True)
    if "verdicts" in parts:
        verdicts(judges, data, args.svg)
    if "missing" in parts:
        missing(judges, data)
    if "new" in parts:
        new_requests(embeddings, data, args.seeds)
    if "corrections" in parts:
        corrections(judges, data)
    if "convention" in parts:
        convention(args.worlds / "retail", args.seeds)
    if "curve" in parts:
        curve(embeddings, data, args.seeds, args.sizes)
    if "ablation" in parts:
        ablation(embeddings, data)


def verdicts(judges: Sequence[Judge], data: ToolSet, svg: Path | None) -> None:
    """Print AUC, calibration and flags of each seed."""
    there = {p.tools for p in data.train}
    for name, known in ("past plans", True), ("no past plans", False):
        some = [d.tools == t.tools for d, t in data.pairs if (d.tools in there) == known]
        print(f"{len(some)} drafts are {name}, {sum(some)} of them right")
    print(f"\n{'verdicts':12}{'AUC':>8}{'ECE':>8}{'ideal':>8}{'worse':>8}{'unbiased':>10}"
          f"{'mean':>8}{'right':>8}{'precision':>11}{'recall':>8}{'unknown':>9}")  # fmt: skip
    for seed, judge in enumerate(judges):
        said = judge.judge([d for d, _ in data.pairs])
        scores = np.array([v.score for v in said])
        right = np.array([d.tools == t.tools for d, t in data.pairs])
        precision, recall = flags(said, data)
        unknown = sum(bool(v.unknown) for v in said)
        auc, error = roc_auc(scores, right.astype(int)), calibration_error(scores, right)
        ideal = ideal_errors(scores)
        print(f"seed {seed:<7}{auc:8.3f}{error:8.3f}{ideal.mean():8.3f}"
              f"{(ideal >= error).mean():8.2f}{unbiased_error(scores, right):10.3f}"
              f"{scores.mean():8.2f}{right.mean():8.2f}{precision:11.2f}{recall:8.2f}"
              f"{unknown:9}")  # fmt: skip
        if svg is not None and not seed:
            svg.write_text(reliability(scores, right), encoding="utf-8")


def bins(scores: np.ndarray) -> np.ndarray:
    return np.minimum((scores * BINS).astype(int), BINS - 1)


def calibration_error(scores: np.ndarray, right: np.ndarray) -> float:
    """Return the expected calibration error in `BINS` bins of equal width."""
    of = bins(scores)
    parts = [of == k for k in range(BINS) if (of == k).any()]
    return float(sum(abs(scores[m].mean() - right[m].mean()) * m.mean() for m in parts))


def ideal_errors(scores: np.ndarray, draws: int = 1000) -> np.ndarray:
    """Return sampled calibration errors of a judge whose scores are the true probabilities."""
    rng = np.random.default_rng(0)
    drawn = (rng.random(len(scores)) < scores for _ in range(draws))
    return np.array([calibration_error(scores, right) for right in drawn])


def unbiased_error(scores: np.ndarray, right: np.ndarray) -> float:
    """Return the root-mean-square calibration error, corrected for chance.

    Unlike `calibration_error`, it is 0 on average for a perfect judge (Kumar, Liang and Ma,
    "Verified Uncertainty Calibration", 2019); the bins are the same.
    """
    of = bins(scores)
    total = 0.0
    for inside in (of == k for k in range(BINS)):
        count, share = int(inside.sum()), right[inside].mean() if inside.any() else 0.0
        if count > 1:
            chance = share * (1 - share) / (count - 1)
            total += count * ((scores[inside].mean() - share) ** 2 - chance)
    return math.sqrt(max(total / len(scores), 0.0))


def flags(said: Sequence[Verdict], data: ToolSet) -> tuple[float, float]:
    """Return precision and recall of the flags, where a step that the true plan lacks is wrong."""
    flagged = wrong = hits = 0
    for verdict, (draft, true) in zip(said, data.pairs, strict=True):
        ids = {t: i for i, t in enumerate(dict.fromkeys((*draft.tools, *true.tools)))}
        change = difference(tuple(ids[t] for t in draft.tools), tuple(ids[t] for t in true.tools))
        kept = {i for i, j in change.pairs if draft.tools[i] == true.tools[j]}
        for i, risk in enumerate(verdict.node_risks):
            flag = risk >= verdict.thresholds.node
            flagged, wrong = flagged + flag, wrong + (i not in kept)
            hits += flag and i not in kept
    return hits / max(flagged, 1), hits / max(wrong, 1)


def missing(judges: Sequence[Judge], data: ToolSet) -> None:
    """Print the AUC of long true plans against copies without one step, by the step's position."""
    plans = [p for p in data.held if len(p.tools) > 2]
    rng = Random("missing")
    places = {
        "first": [0] * len(plans),
        "inner": [rng.randrange(1, len(p.tools) - 1) for p in plans],
        "last": [len(p.tools) - 1 for p in plans],
    }
    print(f"\n{'missing step':12}{len(plans)} plans{'AUC':>9}{'accepted':>10}{'below itself':>14}")
    for seed, judge in enumerate(judges):
        true = [v.score for v in judge.judge(plans)]
        for place, at in places.items():
            said = judge.judge(without(p, i) for p, i in zip(plans, at, strict=True))
            scores = [v.score for v in said]
            auc = roc_auc([*true, *scores], [1] * len(true) + [0] * len(scores))
            below = np.mean(np.array(scores) < np.array(true))
            accepted = np.mean([v.accepted for v in said])
            print(f"seed {seed} {place:20}{auc:9.3f}{accepted:10.2f}{below:14.2f}", flush=True)


def without(plan: ToolPlan, at: int) -> ToolPlan:
    tools, steps = list(plan.tools), list(plan.steps)
    del tools[at], steps[at : at + 1]
    links = tuple(itertools.pairwise(tools))
    return replace(plan, tools=tuple(tools), steps=tuple(steps), links=links)


def new_requests(embeddings: ToolEmbeddings, data: ToolSet, seeds: int) -> None:
    """Print AUC and calibration on requests whose sequence of tools is in no training plan."""
    print(f"\n{'new requests':14}{'plans':>6}{'AUC':>8}{'ECE':>8}{'ideal':>8}{'worse':>8}"
          f"{'unbiased':>10}{'mean':>8}{'right':>8}{'no verdict':>12}")  # fmt: skip
    for seed in range(seeds):
        sequences = sorted({p.tools for p in data.train})
        Random(f"new {seed}").shuffle(sequences)
        left = set(sequences[::5])
        known = [p for p in data.train if p.tools not in left]
        there = {p.tools for p in known}
        new = [p for p in (*data.held, *data.train) if p.tools not in there]
        new = [p for p in new if all(map(embeddings.known, p.tools))]
        judge = fit_judge(embeddings, known, seed=seed)
        drafts = [drafted(judge, p, seed) for p in new]
        said = judge.judge(drafts)
        right = np.array([d.tools == p.tools for d, p in zip(drafts, new, strict=True)])
        scores = np.array([v.score for v in said])
        judged = np.array([not v.unknown for v in said])
        past = np.array([d.tools in there for d in drafts])
        for name, some in (("all", judged | True), ("with a verdict", judged),
                           ("past plans", past), ("no past plans", ~past)):  # fmt: skip
            ideal, error = ideal_errors(scores[some]), calibration_error(scores[some], right[some])
            print(f"{name:14}{some.sum():6}{roc_auc(scores[some], right[some].astype(int)):8.3f}"
                  f"{error:8.3f}{ideal.mean():8.3f}{(ideal >= error).mean():8.2f}"
                  f"{unbiased_error(scores[some], right[some]):10.3f}{scores[some].mean():8.2f}"
                  f"{right[some].mean():8.2f}{(~judged).sum():12}", flush=True)  # fmt: skip


def drafted(judge: Judge, plan: ToolPlan, seed: int) -> ToolPlan:
    """Return a simulated draft of a true plan; kept steps keep their texts."""
    ids = [t.id for t in judge.embeddings.tools.tools]
    true = tuple(map(judge.embeddings.tools.index, plan.tools))
    rng = Random(f"drafted {seed} {plan.id} {plan.request}")
    draft = with_errors(rng, judge.past.expect(plan.request), true, PlannerErrors())
    tools = tuple(ids[t] for t in draft)
    texts = dict(zip(plan.tools, plan.steps, strict=False))
    steps = tuple(texts.get(t, t.replace("_", " ")) for t in tools)
    return replace(plan, tools=tools, steps=steps, links=tuple(itertools.pairwise(tools)))


def convention(folder: Path, seeds: int) -> None:
    """Print the correct plans that a judge changes if it was trained on a different convention."""
    tools = read_graph(folder / "tools.json")
    config = VerifierConfig.small()
    embeddings = ToolEmbeddings(tools, make_encoder(config), config)
    known, right = retail(folder / "v1_train.jsonl.gz"), retail(folder / "tasks_train.jsonl.gz")
    for seed in range(seeds):
        judge = fit_judge(embeddings, known, seed=seed)
        said = judge.judge(right)
        changed = [
            c.plan.tools != p.tools for c, p in zip(correct(judge, right), right, strict=True)
        ]
        refused = sum(not v.unknown and not v.accepted for v in said)
        print(f"retail, seed {seed}: {len(known)} training plans; of {len(right)} right plans "
              f"{sum(changed)} changed, {refused} refused, "
              f"{sum(bool(v.unknown) for v in said)} without a verdict", flush=True)  # fmt: skip


def retail(path: Path) -> list[ToolPlan]:
    """Return the correct calls of each of tau-bench's retail tasks as a plan."""
    plans = []
    for task in records(path, "id", "gold_calls"):
        told = task.get("scenario", {}).get("instructions", {})
        request = task.get("instruction") or f"{told['known_info']} {told['reason_for_call']}"
        made = [LoggedCall(c["name"], c["arguments"]) for c in task["gold_calls"]]
        if made:
            tools = tuple(c.tool for c in made)
            links = tuple(itertools.pairwise(tools))
            plans.append(ToolPlan(task["id"], request, (), tools, links, tuple(made)))
    return plans


def corrections(judges: Sequence[Judge], data: ToolSet) -> None:
    """Print the drafts, the short baseline, and the corrections of each seed."""
    past = judges[0].past
    names = [t.id for t in past.embeddings.tools.tools]
    known = {tuple(names[t] for t in p) for p in past.counts}
    new = np.array([t.tools not in known for _, t in data.pairs])
    drafts = [d for d, _ in data.pairs]
    base = scored(drafts, data)
    print(f"\n{'corrections':32}{'all':>26}{'plan is new':>34} ({int(new.sum())})")
    row("draft", base, base, new)
    row("nearest plans, edit distance", scored(nearest(judges[0], drafts), data), base, new)
    for seed, judge in enumerate(judges):
        row(
            f"corrected, seed {seed}",
            scored([c.plan for c in correct(judge, drafts)], data),
            base,
            new,
        )
    always = Judge(past, judges[0].weights, rule=ChangeRule(0, 0, 0))
    row("the best plan, whatever the rule", scored([c.plan for c in correct(always, drafts)], data),
        base, new)  # fmt: skip


def nearest(judge: Judge, drafts: Sequence[ToolPlan]) -> list[ToolPlan]:
    """Return, for each draft, the most similar plan of similar requests (the baseline)."""
    found = []
    for draft in drafts:
        read = DraftReader(judge.embeddings).read(draft)
        expected = judge.past.expect(draft.request)
        plans = [read.tools, *(p for p in expected.plans if p != read.tools)]
        values = [expected.seen(p) - EDIT_COST * difference(read.tools, p).cost for p in plans]
        found.append(rewritten(judge, read, plans[int(np.argmax(values))]))
    return found


def scored(plans: Sequence[ToolPlan], data: ToolSet) -> np.ndarray:
    """Return node F1, link F1 and both accuracies, shape (plans, 4)."""
    rows = [(node_f1(p, t), link_f1(p, t)) for p, (_, t) in zip(plans, data.pairs, strict=True)]
    return np.array([(n, k, n >= 0.99, n > 0.99 and k > 0.99) for n, k in rows], dtype=float)


def row(name: str, values: np.ndarray, base: np.ndarray, new: np.ndarray) -> None:
    """Print the means, the means over requests with a new plan, and the gain over the baseline."""
    cells = "".join(f"{100 * v:6.1f}" for v in values.mean(0))
    apart = "".join(f"{100 * v:6.1f}" for v in values[new].mean(0)) if new.any() else ""
    print(f"{name:32}{cells}   | {apart}   {gained(values, base)}", flush=True)


def gained(values: np.ndarray, base: np.ndarray, draws: int = 2000) -> str:
    """Return the gains in node F1 and node accuracy with 95 % paired bootstrap intervals."""
    rng = np.random.default_rng(0)
    change = (values - base)[:, [0, 2]]
    means = np.array(
        [change[rng.integers(0, len(change), len(change))].mean(0) for _ in range(draws)]
    )
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    return "  ".join(
        f"{100 * m:+.1f} [{100 * a:+.1f}, {100 * b:+.1f}]"
        for m, a, b in zip(change.mean(0), low, high, strict=True)
    )


def curve(embeddings: ToolEmbeddings, data: ToolSet, seeds: int, sizes: Sequence[int]) -> None:
    """Print corrections by number of training plans, with a new sample for each seed.

    Drafts of sampled plans are excluded, so that one split serves for both training and testing.
    """
    print("\nlearning curve; all, requests with a new plan, gains in node F1 and accuracy of "
          "nodes, with 95 % intervals")  # fmt: skip
    for size in (s for s in sizes if s < len(data.train)):
        for seed in range(seeds):
            some = Random(f"curve {seed}").sample(list(data.train), size)
            known = {(p.id, p.request) for p in some}
            apart = replace(data, drafts=[d for d in data.drafts if (d.id, d.request) not in known])
            base = scored(apart.drafts, apart)
            judge = fit_judge(embeddings, some, seed=seed)
            made = scored([c.plan for c in correct(judge, apart.drafts)], apart)
            seen = {p.tools for p in some}
            new = np.array([t.tools not in seen for _, t in apart.pairs], bool)
            row(f"{size} plans, seed {seed}: {len(base)} drafts", base, base, new)
            row("", made, base, new)


@dataclass(frozen=True)
class Asked:
    """The inputs to the ablation for one plan, which do not depend on the weights.

    Args:
        read: Plan as read by the judge.
        opinion: Candidates for the plan, and their features.
        order: What the order of the steps adds to the log-odds.
        same: Probability that the steps match the request.
    """

    read: ReadDraft
    opinion: PlanOpinion
    order: float
    same: float


def ablation(embeddings: ToolEmbeddings, data: ToolSet) -> None:
    """Print the AUC and the best plans with each feature removed in turn.

    Drafts are simulated once, and the features of the judged plans are computed once.
    """
    usable = [p for p in data.train if p.tools and all(map(embeddings.known, p.tools))]
    numbers = [tuple(map(embeddings.tools.index, p.tools)) for p in usable]
    past = PastPlans(embeddings, [p.request for p in usable], numbers)
    trials = simulated(past, PlannerErrors(), 0, no_progress)
    judge = judge_of(past, usable, trials)
    wrong = [WrongPlans(embeddings, data.held, 1000).of(p, HARD) for p in data.held]
    judged = {"true": asked(judge, data.held)}
    judged |= {k: asked(judge, [m[k] for m in wrong if k in m]) for k in HARD}
    judged["drafts"] = asked(judge, [d for d, _ in data.pairs])
    right = [int(d.tools == t.tools) for d, t in data.pairs]
    print(f"\n{'without':22}{'AUC':>8}{'n-F1':>8}{'l-F1':>8}{'acc n':>8}{'acc nl':>8}"
          + "".join(f"{k:>22}" for k in HARD))  # fmt: skip
    for name in ("nothing", *FEATURES, "order of steps", "words of steps"):
        weights = weights_of(trials, np.array([float(f != name) for f in FEATURES]))
        found: dict[str, list[float]] = {}
        for group, plans in judged.items():
            found[group] = [
                judge.calibrated(weighed(a, weights), a.order * (name != "order of steps"))
                * (a.same if name != "words of steps" else 1)
                for a in plans
            ]
        opinions = [weighed(a, weights).among(a.read.allows) for a in judged["drafts"]]
        best = [
            rewritten(judge, a.read, o.plans[o.best])
            for a, o in zip(judged["drafts"], opinions, strict=True)
        ]
        made = scored(best, data).mean(0)
        cells = "".join(f"{100 * v:8.1f}" for v in made)
        for kind in HARD:
            scores = [*found["true"], *found[kind]]
            auc = roc_auc(scores, [1] * len(found["true"]) + [0] * len(found[kind]))
            cells += f"{auc:22.3f}"
        print(f"{name:22}{roc_auc(found['drafts'], right):8.3f}{cells}", flush=True)


def asked(judge: Judge, plans: Sequence[ToolPlan]) -> list[Asked]:
    found = []
    for read in map(DraftReader(judge.embeddings).read, plans):
        opinion, texts = judge.opinion(read), judge.step_texts(read)
        assert opinion is not None
        order = judge.texts.order(texts) if texts else 0.0
        found.append(Asked(read, opinion, order, judge.texts.same_request(texts) if texts else 1.0))
    return found


def weighed(plan: Asked, weights: np.ndarray) -> PlanOpinion:
    return replace(plan.opinion, shares=probabilities(plan.opinion.features @ weights))


def reliability(scores: np.ndarray, right: np.ndarray) -> str:
    """Return a reliability diagram (share of right drafts by score) as an SVG document."""
    side, edge = 300, 46
    of = bins(scores)

    def x(value: float) -> float:
        return edge + side * value

    def y(value: float) -> float:
        return 12 + side * (1 - value)

    ends = f'x1="{x(0)}" y1="{y(0)}" x2="{x(1)}" y2="{y(1)}"'
    parts = [f'<line {ends} stroke="#999" stroke-dasharray="4"/>']
    for tick in (0, 0.25, 0.5, 0.75, 1):
        parts.append(f'<text x="{x(tick)}" y="{y(0) + 18}" text-anchor="middle">{tick:g}</text>')
        parts.append(f'<text x="{x(0) - 8}" y="{y(tick) + 4}" text-anchor="end">{tick:g}</text>')
    for k in range(BINS):
        inside = of == k
        if inside.any():
            score, share, size = scores[inside].mean(), right[inside].mean(), int(inside.sum())
            parts.append(
                f'<circle cx="{x(score):.1f}" cy="{y(share):.1f}" r="{2 + size**0.5:.1f}" '
                f'fill="#2a6f97" fill-opacity="0.7"><title>{size} drafts, score {score:.2f}, '
                f"right {share:.2f}</title></circle>"
            )
    parts.append(f'<text x="{x(0.5)}" y="{y(0) + 38}" text-anchor="middle">score</text>')
    parts.append(f'<text x="{x(0) + 8}" y="{y(1) + 14}">share of right drafts</text>')
    box = f'width="{side}" height="{side}" fill="none" stroke="#555"'
    frame = f'<rect x="{x(0)}" y="{y(1)}" {box}/>'
    body = "\n".join([frame, *parts])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{side + edge + 20}" height="{side + 60}" '
        f'font-family="sans-serif" font-size="12" role="img">\n{body}\n</svg>\n'
    )


if __name__ == "__main__":
    sys.exit(measured(main))
