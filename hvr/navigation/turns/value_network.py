"""The network of `ValueReader`, and how it is trained (extra `embeddings`, for torch)."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hvr.navigation.turns.value_reader import TokenStates

INDEFINITE = ("a {}", "some {}", "the {}", "another {}", "")
"""What may stand in place of a value that is taken out."""

SIZE, INTERACTION, BATCH = 48, 16, 64
_TOKENS_COUNT = 0.1
"""Weight of finding the place of a value beside telling whether there is one."""

_LEADING = re.compile(r"\b(?:to|from|named|called|of|with|at|in|for|by|is|on)\s+$")


@dataclass(frozen=True)
class ValueExample:
    """A request, texts of a tool and of a parameter, and where the value stands, if anywhere."""

    text: str
    tool: str
    parameter: str
    spans: tuple[tuple[int, int], ...]


class ValueNetwork(torch.nn.Module):
    """Compares each token with what is asked for; the whole text by the sum of its tokens."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.token, self.query = torch.nn.Linear(width, SIZE), torch.nn.Linear(width, SIZE)
        self.inner_token = torch.nn.Linear(SIZE, INTERACTION)
        self.inner_query = torch.nn.Linear(SIZE, INTERACTION)
        self.out = torch.nn.Linear(SIZE + INTERACTION, 1)
        self.whole = torch.nn.Linear(1, 1)
        self.drop = torch.nn.Dropout(0.2)

    def forward(self, states: Any, inside: Any, query: Any) -> tuple[Any, Any]:
        tokens = torch.relu(self.token(self.drop(states)))
        asked = torch.tanh(self.query(self.drop(query)))[:, None]
        joined = torch.relu(self.inner_token(tokens) + self.inner_query(asked))
        each = self.out(torch.cat([tokens * asked, joined], -1))[..., 0]
        each = each.masked_fill(~inside, -30.0)
        return each, self.whole(torch.logsumexp(each, 1, keepdim=True))[:, 0]


def weights_of(network: ValueNetwork) -> dict[str, NDArray[np.float32]]:
    """Return the weights by name, as `ValueReader` takes them."""
    return {n.replace(".", "_"): v.numpy().copy() for n, v in network.state_dict().items()}


def network_of(weights: Mapping[str, NDArray[np.float32]]) -> ValueNetwork:
    """Return the network with such weights."""
    network = ValueNetwork(weights["token_weight"].shape[1])
    names = network.state_dict().keys()
    network.load_state_dict({n: torch.tensor(weights[n.replace(".", "_")]) for n in names})
    return network


def batch(some: Sequence[ValueExample], states: TokenStates) -> tuple[Any, ...]:
    """Return states, which of them are of tokens, queries, places of values, and whether stated."""
    rows = [states.of(one.text) for one in some]
    longest = max(len(vectors) for vectors, _ in rows)
    vectors = np.zeros((len(some), longest, rows[0][0].shape[1]), np.float32)
    inside, right = np.zeros((len(some), longest), bool), np.zeros((len(some), longest), np.float32)
    for place, (one, (found, offsets)) in enumerate(zip(some, rows, strict=True)):
        vectors[place, : len(found)], inside[place, : len(found)] = found, True
        for first, end in one.spans:
            right[place, : len(found)][(offsets[:, 0] < end) & (offsets[:, 1] > first)] = 1
    query = states.queries([(one.tool, one.parameter) for one in some])
    stated = np.array([float(bool(one.spans)) for one in some], np.float32)
    return tuple(map(torch.from_numpy, (vectors, inside, query, right, stated)))


def train(
    network: ValueNetwork, some: Sequence[ValueExample], states: TokenStates, rounds: int,
    rate: float, seed: int,
) -> list[float]:  # fmt: skip
    """Train a network in place, and return the loss of each round; the rate goes up and down."""
    torch.manual_seed(seed)
    draw = np.random.default_rng(seed)
    states.read({one.text for one in some})
    optimizer = torch.optim.AdamW(network.train().parameters(), rate, weight_decay=1e-2)
    loss_of = torch.nn.functional.binary_cross_entropy_with_logits
    steps = rounds * (-(-len(some) // BATCH))
    pace = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps + 1)
    sizes = np.array([len(states.of(one.text)[0]) for one in some])
    lost = []
    for _ in range(rounds):
        order = np.argsort(sizes + draw.random(len(some)) * 8)
        parts = [order[first : first + BATCH] for first in range(0, len(some), BATCH)]
        losses = []
        for number in draw.permutation(len(parts)):
            made = batch([some[int(i)] for i in parts[int(number)]], states)
            vectors, inside, query, right, stated = made
            each, whole = network(vectors, inside, query)
            tokens = (loss_of(each, right, reduction="none") * inside).sum(1).mean()
            loss = _TOKENS_COUNT * tokens + loss_of(whole, stated)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            pace.step()
            losses.append(float(loss.detach()))
        lost.append(sum(losses) / len(losses))
    network.eval()
    return lost


def without(text: str, spans: Sequence[tuple[int, int]], name: str, draw: random.Random) -> str:
    """Return a text without its values, something indefinite or nothing in their place.

    Args:
        text: a request.
        spans: first and end of each place of the value.
        name: of the parameter.
        draw: of the form.
    """
    form = draw.choice(INDEFINITE)
    noun = draw.choice([name.rpartition(".")[2].replace("_", " "), name.rpartition("_")[2]])
    bare = draw.random() < 0.5
    for first, end in sorted(spans, reverse=True):
        before, after = re.sub(r"['\"]$", "", text[:first]), re.sub(r"^['\"]", "", text[end:])
        if form:
            before = re.sub(r"\b(?:a|an|the)\s+$", "", before)
        elif bare:
            before = _LEADING.sub("", before)
        text = before + form.format(noun) + after
    return re.sub(r"\s+", " ", text).strip()
