"""The plan verifier on UltraTool: does it tell right from wrong, and do corrections help?

    python benchmarks/gnn_verifier.py [--data DIR] [--seeds 3] [--no-ablations] [--threads 2]
        [--links whole|seen]

Trains on `train.jsonl`; everything is measured on `val.jsonl`, on which nothing is chosen.
UltraTool's links were made from all plans, validation and test ones among them; `--links seen`
has those that occur in training plans only.

- ROC-AUC of graph score, node risk and edge risk on validation plans made wrong (other seeds than
  in training), mean and spread over seeds, with the paper's ablations.
- Correction without a language model, of plans made wrong with another mix than in training, and
  of real plans by a planner (`predictions_direct_val.jsonl`): node F1, link F1, accuracy of nodes,
  accuracy of nodes and links, in per cent. The control has names spelt as the tools and links
  from each step to the next. `one by one` knows nothing of the planner's other drafts.

No code that corrects sees the truth.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import measured

from hvr.errors import HvrError
from hvr.extras import need_gnn
from hvr.tools.agreement import agreement
from hvr.tools.datasets import load_data, only_seen
from hvr.tools.plan_files import read_plans
from hvr.tools.tool_plan import ToolPlan
from studies.tool_planning.repair import relinked, renamed

ROOT = Path(__file__).resolve().parent.parent
ABLATIONS: dict[str, dict[str, Any]] = {
    "full": {},
    "no GNN": {"use_messages": False},
    "no stage I": {"use_stage_one": False},
    "no stage II": {"use_stage_two": False},
    "no node features": {"node_features": False},
    "no edge features": {"edge_features": False},
}
CORRUPTION: dict[str, Any] = {
    "wrong_tool": 0.4, "near": 0.9, "insert": 0.2, "drop_tail": True, "budgets": (0.8, 0.2),
}  # fmt: skip


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    default = ROOT.parent / "shared" / "data" / "toolgraphs"
    parser.add_argument("--data", type=Path, default=default, help=f"folder (default: {default})")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--no-ablations", action="store_true")
    parser.add_argument("--links", choices=("whole", "seen"), default="whole")
    args = parser.parse_args()
    folder = args.data / "ultratool"
    if not (folder / "train.jsonl").exists():
        print(
            f"no data: {folder / 'train.jsonl'} is missing; say where with --data", file=sys.stderr
        )
        return 2
    try:
        need_gnn()
        measure(folder, args)
    except HvrError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def measure(folder: Path, args: argparse.Namespace) -> None:
    """All measurements."""
    import torch

    from hvr.verifier.config import VerifierConfig
    from hvr.verifier.correction.corrector_fit import fit_corrector
    from hvr.verifier.correction.reranker import FEATURES
    from hvr.verifier.network.fit import evaluate, train
    from hvr.verifier.verifier import Verifier

    torch.set_num_threads(args.threads)
    data = load_data(folder)
    plans, held = data.split("train"), data.split("val")
    tools = only_seen(data.graph, plans) if args.links == "seen" else data.graph
    print(conditions(), f"torch {torch.__version__}, {args.threads} threads")
    print(f"{len(plans)} training plans, {len(held)} validation plans, {len(tools)} tools, "
          f"{len(tools.links)} links ({args.links})\n")  # fmt: skip
    print(f"{'ROC-AUC, mean ± spread (max - min)':36}{'graph':>16}{'node':>16}{'edge':>16}{'s':>8}")
    full: list[Verifier] = []
    for name, change in [("full", {})] if args.no_ablations else ABLATIONS.items():
        found, seconds = [], []
        for seed in range(args.seeds):
            started = time.perf_counter()
            made = train(VerifierConfig.small(seed=seed, **change), plans, tools)
            seconds.append(time.perf_counter() - started)
            found.append(evaluate(made, held, seed=1000 + seed))
            if name == "full":
                full.append(made)
        cells = "".join(
            f"{_spread([getattr(a, part) for a in found]):>16}"
            for part in ("graph", "node", "edge")
        )
        print(f"{name:36}{cells}{statistics.mean(seconds):8.0f}", flush=True)

    verifier = full[0]
    many = [*plans, *plans][:4000]
    verifier.score(many)
    rates = []
    for _ in range(5):
        started = time.perf_counter()
        verifier.score(many)
        rates.append(len(many) / (time.perf_counter() - started))
    print(
        f"\nscoring: {statistics.median(rates):.0f} plans/s, vectors cached; "
        f"{min(rates):.0f} to {max(rates):.0f} in {len(rates)} passes"
    )

    started = time.perf_counter()
    corrector = fit_corrector(verifier, plans)
    weights = dict(zip(FEATURES, corrector.weights.round(2).tolist(), strict=True))
    print(f"corrector trained in {time.perf_counter() - started:.0f} s; weights {weights}\n")
    print(
        f"{'per cent':44}{'n-F1':>8}{'l-F1':>8}{'acc n':>8}{'acc nl':>8}{'mean S':>8}{'plans':>7}"
    )
    real = folder / "predictions_direct_val.jsonl"
    sets = {"corrupted": _corrupted(verifier, held)}
    if real.exists():
        requests = {p.id: p.request for p in held}
        sets["real planner"] = [
            replace(p, request=requests[p.id]) for p in read_plans(real) if p.id in requests
        ]
    for name, drafts in sets.items():
        wanted = {p.id for p in drafts}
        truth = [p for p in held if p.id in wanted]
        linked = [relinked(renamed(p, tools)) for p in drafts]
        started = time.perf_counter()
        together = [c.plan for c in corrector.correct_all(drafts)]
        each = (time.perf_counter() - started) / len(drafts)
        alone = [c.plan for c in corrector.correct_all(drafts, one_planner=False)]
        _row(f"{name}: raw", drafts, truth, verifier)
        _row(f"{name}: rename + relink", linked, truth, verifier)
        _row(f"{name}: corrected one by one", alone, truth, verifier)
        _row(f"{name}: corrected ({each * 1000:.0f} ms a plan)", together, truth, verifier)


def _corrupted(verifier: object, plans: Iterable[ToolPlan]) -> list[ToolPlan]:
    """One wrong plan of each true one, by another seed and mix than in training."""
    from hvr.verifier.graph import plan_graph
    from hvr.verifier.network.perturbations import Perturber
    from hvr.verifier.verifier import Verifier

    assert isinstance(verifier, Verifier)
    config = replace(verifier.config, **CORRUPTION)
    maker = Perturber(config, verifier.embeddings, verifier.counts, verifier.alignment, seed=77)
    graphs = [plan_graph(p, verifier.tools) for p in plans]
    maker.prepare(graphs)
    groups = [maker.contrast_group(g) for g in graphs]
    return [group[1].graph.plan() for group in groups if len(group) > 1]


def _row(name: str, plans: Sequence[ToolPlan], truth: Sequence[ToolPlan], verifier: object) -> None:
    from hvr.verifier.verifier import Verifier

    assert isinstance(verifier, Verifier)
    found = agreement({p.id: p for p in plans}, truth)
    score = statistics.mean(v.score for v in verifier.score([p for p in plans if p.tools]))
    cells = (found.node_f1, found.link_f1, found.node_accuracy, found.plan_accuracy)
    print(
        f"{name:44}{''.join(f'{100 * c:8.1f}' for c in cells)}{score:8.2f}{len(truth):7}",
        flush=True,
    )


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.mean(values):.3f} ± {max(values) - min(values):.3f}"


if __name__ == "__main__":
    sys.exit(measured(main))
