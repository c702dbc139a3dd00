"""The sequence prior: plans that are usual for a request, learnt from true plans.

hvr's own, beyond the paper. GNNVerifier learns from random perturbations, but the errors of a
planner are not random: it takes the other of two similar tools, or leaves out the look-up that
plans of this kind begin with. The true plans of training tell what should have been there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from hvr.verifier.correction.nearest_plans import (
    NearestPlanIndex,
    Tools,
    log_probabilities,
    most_probable,
)
from hvr.verifier.correction.prior_models import (
    BagOfWords,
    NextTool,
    PriorConfig,
    StepTool,
    prefix_state,
)
from hvr.verifier.network.alignment_fit import minibatches
from hvr.verifier.network.arrays import row_ranges
from hvr.verifier.network.progress import Epoch, ProgressCallback, no_progress
from hvr.verifier.tool_embeddings import Floats, ToolEmbeddings


@dataclass
class Example:
    """A true plan to learn the prior from.

    Args:
        request: its text.
        tools: numbers of the tools in order.
        steps: normalised texts of the steps; empty unless there are as many as tools.
    """

    request: str
    tools: tuple[int, ...]
    steps: tuple[str, ...]


@dataclass
class _RequestCache:
    """Intermediate results for one request, of which many plans are judged in a row.

    Args:
        request: its text.
        hidden: W_r x_r of `NextTool` (1, hidden).
        neighbours: P(plan | request) of the nearest-plan index.
        rows: log p(next tool, or the end) after each prefix seen so far (tools + 1,).
    """

    request: str
    hidden: Tensor
    neighbours: dict[Tools, float]
    rows: dict[Tools, Floats]


class SequencePrior:
    """P(plan | request), as a model of tool after tool and by the plans of similar requests.

    log P(t_1 … t_n | r) = sum over k of log p(t_(k+1) | r, t_1 … t_k), where t_(n+1) is the end

    Args:
        embeddings: of texts and tools.
        words: the vocabulary.
        next_tool: p(next tool | request, prefix), trained.
        step_tool: p(tool | step, request), trained.
        nearest_plans: the true plans.
        config: the settings of its training.
    """

    def __init__(
        self,
        embeddings: ToolEmbeddings,
        words: BagOfWords,
        next_tool: NextTool,
        step_tool: StepTool,
        nearest_plans: NearestPlanIndex,
        config: PriorConfig,
    ) -> None:
        self.config = config
        self.nearest_plans = nearest_plans
        self._embeddings = embeddings
        self.words = words
        self.next_tool = next_tool.eval()
        self.step_tool = step_tool.eval()
        self._tools = len(embeddings.tools)
        self._cache: _RequestCache | None = None  # of the last request

    def log_prob(self, request: str, plans: Sequence[Tools]) -> Floats:
        """Return log P(plan | request) of plans (plans,)."""
        prefixes = [p[:i] for p in plans for i in range(len(p) + 1)]
        rows = self._next_rows(request, prefixes)
        return np.array(
            [sum(rows[p[:i]][tool] for i, tool in enumerate((*p, self._tools))) for p in plans],
            dtype=np.float32,
        )

    def next_log_probs(self, request: str, prefixes: Sequence[Tools]) -> Floats:
        """Return log p(next tool, or the end | request, prefix) (prefixes, tools + 1)."""
        rows = self._next_rows(request, prefixes)
        return np.stack([rows[p] for p in prefixes])

    @torch.no_grad()
    def step_log_probs(self, request: str, steps: Sequence[str]) -> Floats:
        """Return log p(tool | step, request) of normalised steps (steps, tools)."""
        if not steps:
            return np.zeros((0, self._tools), np.float32)
        values = torch.from_numpy(
            step_values(self._embeddings, self.words, steps, [request] * len(steps))
        )
        return np.asarray(self.step_tool(values).log_softmax(1).numpy(), dtype=np.float32)

    def neighbour_log_probs(self, request: str, plans: Sequence[Tools]) -> Floats:
        """Return log P(plan | request) of the nearest-plan index, smoothed (plans,)."""
        return log_probabilities(self._cached(request).neighbours, plans)

    def neighbour_plans(self, request: str, count: int) -> list[Tools]:
        """Return the most probable plans of the nearest-plan index, best first."""
        return most_probable(self._cached(request).neighbours, count)

    def beam_search(self, request: str, width: int = 8, longest: int = 8) -> list[Tools]:
        """Return the likeliest plans by beam search, best first.

        No tool directly follows itself.

        Args:
            request: its text.
            width: of the beam, and number of plans returned at most.
            longest: number of tools at most.
        """
        beams: list[tuple[float, Tools]] = [(0.0, ())]
        done: list[tuple[float, Tools]] = []
        for _ in range(longest):
            logs = self.next_log_probs(request, [p for _, p in beams])
            longer = []
            for (score, plan), row in zip(beams, logs, strict=True):
                for tool in np.argsort(-row, kind="stable")[: width + 1].tolist():
                    if tool == self._tools:
                        if plan:
                            done.append((score + float(row[tool]), plan))
                    elif not plan or plan[-1] != tool:
                        longer.append((score + float(row[tool]), (*plan, tool)))
            beams = sorted(longer, key=lambda b: (-b[0], b[1]))[:width]
            # Scores only fall with length, so no open beam can beat these any more.
            if len(done) >= width and min(d[0] for d in done) > beams[0][0]:
                break
        return [p for _, p in sorted(done, key=lambda b: (-b[0], b[1]))[:width]]

    @torch.no_grad()
    def _next_rows(self, request: str, prefixes: Iterable[Tools]) -> dict[Tools, Floats]:
        """Return the cached rows of a request, after those of new prefixes are computed."""
        cache = self._cached(request)
        new = [p for p in dict.fromkeys(prefixes) if p not in cache.rows]
        if new:
            last, used = prefix_state(new, self._tools)
            logits = self.next_tool(cache.hidden.expand(len(new), -1), last, used)
            cache.rows.update(zip(new, logits.log_softmax(1).numpy(), strict=True))
        return cache.rows

    @torch.no_grad()
    def _cached(self, request: str) -> _RequestCache:
        if self._cache is None or self._cache.request != request:
            values = request_values(self._embeddings, self.words, [request])
            vector = values[0, : self.nearest_plans.vectors.shape[1]]
            hidden = self.next_tool.request(torch.from_numpy(values))
            neighbours = self.nearest_plans.probabilities(vector)
            self._cache = _RequestCache(request, hidden, neighbours, {})
        return self._cache


def request_values(
    embeddings: ToolEmbeddings, words: BagOfWords, requests: Sequence[str]
) -> Floats:
    """Return the features of requests: embedding and bag of words (requests, size)."""
    rows = embeddings.texts.rows(requests)  # first, as it may add to the matrix
    vectors = embeddings.texts.matrix[rows]
    return np.concatenate([vectors, words.encode(requests)], axis=1)


def step_values(
    embeddings: ToolEmbeddings, words: BagOfWords, steps: Sequence[str], requests: Sequence[str]
) -> Floats:
    """Return the features of steps: embedding, bag of words, embedding of the request."""
    step_rows = embeddings.texts.rows(steps)
    request_rows = embeddings.texts.rows(requests)
    matrix = embeddings.texts.matrix
    return np.concatenate([matrix[step_rows], words.encode(steps), matrix[request_rows]], axis=1)


def train_prior(
    embeddings: ToolEmbeddings,
    examples: Sequence[Example],
    config: PriorConfig | None = None,
    progress: ProgressCallback = no_progress,
) -> SequencePrior:
    """Train both networks on true plans, and index the plans.

    Args:
        embeddings: of texts and tools.
        examples: the plans.
        config: the settings.
        progress: called after each epoch.
    """
    config = config or PriorConfig()
    torch.manual_seed(config.seed)
    requests = [e.request for e in examples]
    words = BagOfWords.of([*requests, *(s for e in examples for s in e.steps)], config.rare)
    draw = torch.Generator().manual_seed(config.seed)
    values = torch.from_numpy(request_values(embeddings, words, requests))
    size = len(embeddings.tools)
    next_tool = NextTool(values.shape[1], size, config)
    _minimise(
        next_tool, _next_objective(next_tool, values, examples, config), config, draw, progress
    )
    step_tool = StepTool(values.shape[1] + embeddings.vectors.shape[1], size, config)
    with_steps = [e for e in examples if e.steps]
    if with_steps:
        objective = _step_objective(step_tool, embeddings, words, with_steps, config)
        _minimise(step_tool, objective, config, draw, progress)
    vectors = embeddings.texts.matrix[embeddings.texts.rows(requests)]
    nearest_plans = NearestPlanIndex(vectors, [e.tools for e in examples])
    return SequencePrior(embeddings, words, next_tool, step_tool, nearest_plans, config)


@dataclass(frozen=True)
class _Objective:
    """A training objective.

    Args:
        stage: its name in progress reports.
        loss: of a batch, given as numbers of plans.
        plans: number of plans.
        epochs: passes over them.
    """

    stage: str
    loss: Callable[[Tensor], Tensor]
    plans: int
    epochs: int


def _next_objective(
    model: NextTool, requests: Tensor, examples: Sequence[Example], config: PriorConfig
) -> _Objective:
    """Return the cross-entropy of the next tool, or the end, after each prefix."""
    tools = model.used.in_features
    last, used = prefix_state(
        [e.tools[:k] for e in examples for k in range(len(e.tools) + 1)], tools
    )
    target = torch.tensor([t for e in examples for t in (*e.tools, tools)])
    ends = np.cumsum([0, *(len(e.tools) + 1 for e in examples)])

    def loss(part: Tensor) -> Tensor:
        rows, of, _ = row_ranges(ends, part.numpy())
        hidden = model.request(requests[part])[of]
        return nn.functional.cross_entropy(model(hidden, last[rows], used[rows]), target[rows])

    return _Objective("next_tool", loss, len(examples), config.epochs)


def _step_objective(
    model: StepTool,
    embeddings: ToolEmbeddings,
    words: BagOfWords,
    examples: Sequence[Example],
    config: PriorConfig,
) -> _Objective:
    """Return the cross-entropy of the tool of each step."""
    steps = [s for e in examples for s in e.steps]
    requests = [e.request for e in examples for _ in e.steps]
    values = torch.from_numpy(step_values(embeddings, words, steps, requests))
    target = torch.tensor([t for e in examples for t in e.tools])
    ends = np.cumsum([0, *(len(e.steps) for e in examples)])

    def loss(part: Tensor) -> Tensor:
        rows, _, _ = row_ranges(ends, part.numpy())
        return nn.functional.cross_entropy(model(values[rows]), target[rows])

    return _Objective("step_tool", loss, len(examples), config.epochs_steps)


def _minimise(
    model: nn.Module,
    objective: _Objective,
    config: PriorConfig,
    draw: torch.Generator,
    progress: ProgressCallback,
) -> None:
    """Minimise an objective by AdamW with a cosine schedule."""
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=config.lr, weight_decay=config.decay, fused=True
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, objective.epochs)
    model.train()
    for epoch in range(objective.epochs):
        total = 0.0
        for part in minibatches(objective.plans, config.batch, draw):
            loss = objective.loss(part)
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
            total += loss.item() * len(part)
        schedule.step()
        mean = total / objective.plans
        progress(Epoch(objective.stage, epoch + 1, objective.epochs, mean))


def examples_of(
    embeddings: ToolEmbeddings, plans: Iterable[tuple[str, Sequence[str], Sequence[str]]]
) -> list[Example]:
    """Return plans (request, tools, steps) as examples; those with unknown tools are left out."""
    examples = []
    for request, tools, steps in plans:
        if tools and all(embeddings.known(t) for t in tools):
            normalised = (
                tuple(embeddings.step_text(s) for s in steps) if len(steps) == len(tools) else ()
            )
            numbers = tuple(embeddings.tools.index(t) for t in tools)
            examples.append(Example(request, numbers, normalised))
    return examples
