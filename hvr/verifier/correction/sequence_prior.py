"""What true plans look like for a request: a model of tool after tool, and of tool by step.

hvr's own, beyond the paper. GNNVerifier learns from plans made wrong at random, and a planner's
errors are not random: it takes the other one of two tools that read alike, or leaves out the
look-up that plans of this kind begin with. Which it should have been, the training plans say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from hvr.verifier.correction.nearest_plans import PlanMemory, Tools, commonest, log_shares
from hvr.verifier.correction.prior_models import HabitsConfig, NextTool, StepTool, Words, state_of
from hvr.verifier.network.alignment_fit import parts
from hvr.verifier.network.arrays import row_ranges
from hvr.verifier.network.progress import Epoch, Tell, silent
from hvr.verifier.tool_embeddings import Floats, ToolSpace


@dataclass
class Example:
    """A true plan to learn habits from.

    Args:
        request: what was asked.
        tools: numbers of the tools in order.
        steps: what each step says, cleaned; empty where there are not as many as tools.
    """

    request: str
    tools: tuple[int, ...]
    steps: tuple[str, ...]


@dataclass
class _Asked:
    """What was worked out for one request, of which many plans are judged in a row.

    Args:
        request: what was asked.
        hidden: what the first layer makes of it (1, hidden).
        shares: of the plans of requests alike.
        rows: log P(next tool, or none) after each prefix seen so far (tools + 1,).
    """

    request: str
    hidden: Tensor
    shares: dict[Tools, float]
    rows: dict[Tools, Floats]


class Habits:
    """The two models, trained, and the plans that they learned from.

    Args:
        space: of the tools, for vectors of texts.
        words: of requests.
        next_tool, step_tool: the models.
        memory: the true plans.
        config: how they were learned.
    """

    def __init__(
        self,
        space: ToolSpace,
        words: Words,
        next_tool: NextTool,
        step_tool: StepTool,
        memory: PlanMemory,
        config: HabitsConfig,
    ) -> None:
        self.config = config
        self.memory = memory
        self._space = space
        self.words = words
        self.next_tool = next_tool.eval()
        self.step_tool = step_tool.eval()
        self._tools = len(space.tools)
        self._asked: _Asked | None = None  # the last request

    def plans(self, request: str, plans: Sequence[tuple[int, ...]]) -> Floats:
        """Return log P(plan | request) of plans, each numbers of tools (plans,)."""
        prefixes = [p[:i] for p in plans for i in range(len(p) + 1)]
        rows = self._after(request, prefixes)
        return np.array(
            [sum(rows[p[:i]][tool] for i, tool in enumerate((*p, self._tools))) for p in plans],
            dtype=np.float32,
        )

    def likely(self, request: str, prefixes: Sequence[tuple[int, ...]]) -> Floats:
        """Return log P(next tool, or none) after prefixes of a plan (prefixes, tools + 1)."""
        rows = self._after(request, prefixes)
        return np.stack([rows[p] for p in prefixes])

    @torch.no_grad()
    def steps(self, request: str, steps: Sequence[str]) -> Floats:
        """Return log P(tool | step, request) of cleaned steps (steps, tools)."""
        if not steps:
            return np.zeros((0, self._tools), np.float32)
        values = torch.from_numpy(
            step_values(self._space, self.words, steps, [request] * len(steps))
        )
        return np.asarray(self.step_tool(values).log_softmax(1).numpy(), dtype=np.float32)

    def seen(self, request: str, plans: Sequence[tuple[int, ...]]) -> Floats:
        """Return log of the share that plans have among the plans of requests alike (plans,)."""
        return log_shares(self._ask(request).shares, plans)

    def alike(self, request: str, count: int) -> list[tuple[int, ...]]:
        """Return the commonest plans of requests alike, the commonest first."""
        return commonest(self._ask(request).shares, count)

    def decode(self, request: str, width: int = 8, longest: int = 8) -> list[tuple[int, ...]]:
        """Return the likeliest plans by beam search, the best first; no tool comes twice
        running.
        """
        beams: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
        done: list[tuple[float, tuple[int, ...]]] = []
        for _ in range(longest):
            logs = self.likely(request, [p for _, p in beams])
            longer = []
            for (score, plan), row in zip(beams, logs, strict=True):
                for tool in np.argsort(-row, kind="stable")[: width + 1].tolist():
                    if tool == self._tools:
                        if plan:
                            done.append((score + float(row[tool]), plan))
                    elif not plan or plan[-1] != tool:
                        longer.append((score + float(row[tool]), (*plan, tool)))
            beams = sorted(longer, key=lambda b: (-b[0], b[1]))[:width]
            if len(done) >= width and min(d[0] for d in done) > beams[0][0]:
                break
        return [p for _, p in sorted(done, key=lambda b: (-b[0], b[1]))[:width]]

    @torch.no_grad()
    def _after(self, request: str, prefixes: Iterable[Tools]) -> dict[Tools, Floats]:
        """Return the rows of prefixes, among others; each is computed once for a request."""
        asked = self._ask(request)
        new = [p for p in dict.fromkeys(prefixes) if p not in asked.rows]
        if new:
            last, used = state_of(new, self._tools)
            said = self.next_tool(asked.hidden.expand(len(new), -1), last, used)
            asked.rows.update(zip(new, said.log_softmax(1).numpy(), strict=True))
        return asked.rows

    @torch.no_grad()
    def _ask(self, request: str) -> _Asked:
        if self._asked is None or self._asked.request != request:
            values = request_values(self._space, self.words, [request])
            vector = values[0, : self.memory.vectors.shape[1]]
            hidden = self.next_tool.request(torch.from_numpy(values))
            self._asked = _Asked(request, hidden, self.memory.shares(vector), {})
        return self._asked


def request_values(space: ToolSpace, words: Words, requests: Sequence[str]) -> Floats:
    """Return what is known of requests: vectors and words (requests, size)."""
    rows = space.texts.rows(requests)  # first, as it may add to the matrix
    vectors = space.texts.matrix[rows]
    return np.concatenate([vectors, words.bags(requests)], axis=1)


def step_values(
    space: ToolSpace, words: Words, steps: Sequence[str], requests: Sequence[str]
) -> Floats:
    """Return what is known of steps: vectors and words of each, and the vector of its request."""
    rows = space.texts.rows(steps)
    asked = space.texts.rows(requests)
    matrix = space.texts.matrix
    return np.concatenate([matrix[rows], words.bags(steps), matrix[asked]], axis=1)


def learn_habits(
    space: ToolSpace,
    examples: Sequence[Example],
    config: HabitsConfig | None = None,
    tell: Tell = silent,
) -> Habits:
    """Train both models on true plans.

    Args:
        space: of the tools.
        examples: the plans.
        config: how.
        tell: is told of each epoch.
    """
    config = config or HabitsConfig()
    torch.manual_seed(config.seed)
    requests = [e.request for e in examples]
    words = Words.of([*requests, *(s for e in examples for s in e.steps)], config.rare)
    values = torch.from_numpy(request_values(space, words, requests))
    size = len(space.tools)
    draw = torch.Generator().manual_seed(config.seed)
    next_tool = NextTool(values.shape[1], size, config)
    last, used = state_of([e.tools[:k] for e in examples for k in range(len(e.tools) + 1)], size)
    wanted = torch.tensor([t for e in examples for t in (*e.tools, size)])
    ends = np.cumsum([0, *(len(e.tools) + 1 for e in examples)])

    def next_loss(part: Tensor) -> Tensor:
        rows, of, _ = row_ranges(ends, part.numpy())
        asked = next_tool.request(values[part])[of]
        return nn.functional.cross_entropy(next_tool(asked, last[rows], used[rows]), wanted[rows])

    _fit(next_tool, next_loss, len(examples), config.epochs, config, draw, "habits", tell)
    step_tool = StepTool(values.shape[1] + space.vectors.shape[1], size, config)
    told = [e for e in examples if e.steps]
    if told:
        said = torch.from_numpy(
            step_values(
                space,
                words,
                [s for e in told for s in e.steps],
                [e.request for e in told for _ in e.steps],
            )
        )
        meant = torch.tensor([t for e in told for t in e.tools])
        step_ends = np.cumsum([0, *(len(e.steps) for e in told)])

        def step_loss(part: Tensor) -> Tensor:
            rows, _, _ = row_ranges(step_ends, part.numpy())
            return nn.functional.cross_entropy(step_tool(said[rows]), meant[rows])

        _fit(step_tool, step_loss, len(told), config.epochs_steps, config, draw, "steps", tell)
    vectors = space.texts.matrix[space.texts.rows(requests)]
    memory = PlanMemory(vectors, [e.tools for e in examples])
    return Habits(space, words, next_tool, step_tool, memory, config)


def _fit(
    model: nn.Module,
    loss_of: Callable[[Tensor], Tensor],
    size: int,
    epochs: int,
    config: HabitsConfig,
    draw: torch.Generator,
    stage: str,
    tell: Tell,
) -> None:
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=config.lr, weight_decay=config.decay, fused=True
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs)
    model.train()
    for epoch in range(epochs):
        total = 0.0
        for part in parts(size, config.batch, draw):
            loss = loss_of(part)
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
            total += loss.item() * len(part)
        schedule.step()
        tell(Epoch(stage, epoch + 1, epochs, total / size))


def examples_of(
    space: ToolSpace, plans: Iterable[tuple[str, Sequence[str], Sequence[str]]]
) -> list[Example]:
    """Return plans (request, tools, steps) as examples; those with unknown tools are left out."""
    examples = []
    for request, tools, steps in plans:
        if tools and all(space.known(t) for t in tools):
            clean = tuple(space.step_text(s) for s in steps) if len(steps) == len(tools) else ()
            examples.append(Example(request, tuple(space.tools.index(t) for t in tools), clean))
    return examples
