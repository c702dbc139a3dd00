"""Test the graph neural network and the judge on wrong plans of every kind.

    python benchmarks/gnn_verifier.py [--part kinds|ablations] [--verifier judge|paper|more]
        [--seeds 3] [--threads 2]
        [--data FOLDER] [--train SPLIT] [--plans SPLIT] [--links whole|seen] [--paper-size]

Training uses the training plans. All figures come from held-out plans, which choose no setting.
UltraTool's links come from all plans, including the validation and test plans; `--links seen` keeps
only those that occur in training plans.

kinds       ROC-AUC of true plans against wrong ones by kind (`hvr.judging.verifier.wrong_plans`),
            with means and spread over seeds: the paper's network, trained with the paper's
            negatives or with more kinds, and hvr's judge, which has no network; the share of true
            and of wrong plans accepted. `--paper-size` trains the network at the paper's width and
            rates (slow without a GPU).
ablations   ROC-AUC of graph score, node risk and edge risk on the paper's own wrong plans (other
            seeds than in training), with the paper's ablations.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import measured
from tool_sets import ToolSet, add_tool_set, on_tool_set

from hvr.judging.verifier.verdict import Verdict
from hvr.tools.tool_plans import ToolPlan

ABLATIONS: Mapping[str, dict[str, Any]] = {
    "full": {},
    "no GNN": {"use_messages": False},
    "no stage I": {"use_stage_one": False},
    "no stage II": {"use_stage_two": False},
    "no node features": {"node_features": False},
    "no edge features": {"edge_features": False},
}
Score = Callable[[Sequence[ToolPlan]], Sequence[Verdict]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    add_tool_set(parser)
    parser.add_argument("--part", choices=("kinds", "ablations"), default="kinds")
    parser.add_argument("--verifier", choices=("judge", "paper", "more"), action="append", help=(
        "for kinds: the judge, or the network with the paper's or more negatives"))  # fmt: skip
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--paper-size", action="store_true")
    return on_tool_set(parser, measure)


def measure(data: ToolSet, args: argparse.Namespace) -> None:
    import torch

    torch.set_num_threads(args.threads)
    print(conditions(), f"torch {torch.__version__}, {args.threads} threads")
    print(f"{len(data.train)} training plans, {len(data.held)} plans held out, "
          f"{len(data.tools)} tools, {args.links} links\n")  # fmt: skip
    (kinds if args.part == "kinds" else ablations)(data, args)


def kinds(data: ToolSet, args: argparse.Namespace) -> None:
    """Print the AUC for each kind of wrong plan, for the networks and the judge."""
    from hvr.judging.verifier.config import VerifierConfig
    from hvr.judging.verifier.features import ToolEmbeddings
    from hvr.judging.verifier.judgement.fit import fit_judge
    from hvr.judging.verifier.verifier import make_encoder
    from studies.plan_network.fit import train

    small = VerifierConfig.small()
    embeddings = ToolEmbeddings(data.tools, make_encoder(small), small)

    def network(seed: int, negatives: str) -> Score:
        config = {"seed": seed, "negatives": negatives}
        settings = VerifierConfig(**config) if args.paper_size else VerifierConfig.small(**config)
        return train(settings, data.train, data.tools).score

    makers: Mapping[str, tuple[str, Callable[[int], Score]]] = {
        "judge": ("judge", lambda seed: fit_judge(embeddings, data.train, seed=seed).judge),
        "paper": ("network, paper's negatives", lambda seed: network(seed, "paper")),
        "more": ("network, more negatives", lambda seed: network(seed, "more")),
    }
    for name, make in (makers[v] for v in args.verifier or makers):
        found, seconds = [], []
        for seed in range(args.seeds):
            started = time.process_time()
            score = make(seed)
            seconds.append(time.process_time() - started)
            found.append(by_kind(score, data.held, embeddings, seed))
        print(f"{name}; {statistics.mean(seconds):.0f} s of CPU to train")
        for kind in found[0]:
            aucs, shares = zip(*(f[kind] for f in found if kind in f), strict=True)
            print(f"  {kind:26}{spread(aucs):>16}{statistics.mean(shares):10.2f} accepted",
                  flush=True)  # fmt: skip


def by_kind(
    score: Score, plans: Sequence[ToolPlan], embeddings: Any, seed: int
) -> dict[str, tuple[float, float]]:
    """Return, by kind, the AUC against true plans and the share of wrong plans accepted."""
    from hvr.judging.verifier.wrong_plans import WRONG_PLAN_KINDS, WrongPlans, roc_auc

    true = score(plans)
    maker = WrongPlans(embeddings, plans, 1000 + seed)
    made = [maker.of(p) for p in plans]
    found = {"true plans": (float("nan"), statistics.mean(v.accepted for v in true))}
    for kind in WRONG_PLAN_KINDS:
        wrong = score([m[kind] for m in made if kind in m])
        scores = [v.score for v in (*true, *wrong)]
        auc = roc_auc(scores, [1] * len(true) + [0] * len(wrong))
        found[kind] = auc, statistics.mean(v.accepted for v in wrong)
    return found


def ablations(data: ToolSet, args: argparse.Namespace) -> None:
    """Print the network's AUC on the paper's wrong plans, without each of its parts in turn."""
    from hvr.judging.verifier.config import VerifierConfig
    from studies.plan_network.fit import evaluate, train

    print(f"{'ROC-AUC, mean ± spread (max - min)':36}{'graph':>16}{'node':>16}{'edge':>16}{'s':>8}")
    for name, change in ABLATIONS.items():
        found, seconds = [], []
        for seed in range(args.seeds):
            started = time.perf_counter()
            made = train(VerifierConfig.small(seed=seed, **change), data.train, data.tools)
            seconds.append(time.perf_counter() - started)
            found.append(evaluate(made, data.held, seed=1000 + seed))
        cells = "".join(
            f"{spread([getattr(a, part) for a in found]):>16}" for part in ("graph", "node", "edge")
        )
        print(f"{name:36}{cells}{statistics.mean(seconds):8.0f}", flush=True)


def spread(values: Sequence[float]) -> str:
    return f"{statistics.mean(values):.3f} ± {max(values) - min(values):.3f}"


if __name__ == "__main__":
    sys.exit(measured(main))
