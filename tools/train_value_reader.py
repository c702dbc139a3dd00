"""Train the reader that tells whether a text states a value for a parameter.

    python tools/train_value_reader.py [--out hvr/navigation/turns/value_reader.npz] [--seed N]

Learnt from the requests for single calls of BFCL v4 (Gorilla project, Apache-2.0), as the package
bfcl-eval has them: simple, multiple and parallel, their live forms, with the correct arguments. The
multi-turn dialogues and the irrelevance requests, which benchmarks judge, are not looked at. Where
a value stands in a request, the same request without it, or with something indefinite in its place,
is an example of a value that is missing. MiniLM stays as it is. One function in eight is held out;
what the reader tells of these is printed.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hvr.extras import load_apart
from hvr.navigation.turns.stated import places
from hvr.navigation.turns.value_reader import SHIPPED, TokenStates, parameter_text

SETS = ("simple_python", "multiple", "parallel", "parallel_multiple", "live_simple",
        "live_multiple", "live_parallel", "live_parallel_multiple")  # fmt: skip
LONGEST = 700
"""Characters of the longest request that is learnt from."""

INDEFINITE = ("a {}", "some {}", "the {}", "another {}", "")
SIZE, INTERACTION, EPOCHS, BATCH = 48, 16, 4, 64

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Example:
    """A request, a parameter, and where the request states its value; nowhere if empty."""

    text: str
    tool: str
    parameter: str
    spans: Spans


def examples(folder: Path, draw: random.Random) -> Iterator[Example]:
    """Give examples of all functions of the sets."""
    for name in SETS:
        asked = _rows(folder / f"BFCL_v4_{name}.json")
        right = _rows(folder / "possible_answer" / f"BFCL_v4_{name}.json")
        for row, answer in zip(asked, right, strict=True):
            text = " ".join(m["content"] for m in row["question"][0] if m["role"] == "user")
            if len(row["question"]) == 1 and len(text) <= LONGEST:
                yield from _of_request(text, row["function"], answer["ground_truth"], draw)


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _of_request(
    text: str, functions: Sequence[Mapping[str, Any]], calls: Sequence[Any], draw: random.Random
) -> Iterator[Example]:
    by_name = {function["name"]: function for function in functions}
    values: dict[tuple[str, str], list[Any]] = {}
    for call in calls:
        for name, arguments in call.items():
            for parameter, allowed in arguments.items():
                values.setdefault((name, parameter), []).extend(allowed)
    called = {name for name, _ in values}
    for name in called & set(by_name):
        function = by_name[name]
        tool = f"{re.sub('[_.]', ' ', name)}. {function.get('description', '')}"
        for parameter, schema in function["parameters"].get("properties", {}).items():
            described = parameter_text(parameter, schema.get("description", ""))
            allowed = values.get((name, parameter))
            if allowed is None:
                if parameter not in function["parameters"].get("required", ()):
                    yield Example(text, tool, described, ())
                continue
            spans = places(text, [value for value in allowed if value != ""])
            if spans:
                yield Example(text, tool, described, tuple(spans))
                yield Example(_without(text, spans, parameter, draw), tool, described, ())
            elif "" in allowed and not any(isinstance(value, bool) for value in allowed):
                yield Example(text, tool, described, ())


def _without(text: str, spans: Sequence[tuple[int, int]], name: str, draw: random.Random) -> str:
    """Return a text without its values, something indefinite or nothing in their place."""
    form = draw.choice(INDEFINITE)
    noun = draw.choice([name.rpartition(".")[2].replace("_", " "), name.rpartition("_")[2]])
    bare = draw.random() < 0.5
    for first, end in sorted(spans, reverse=True):
        before, after = re.sub(r"['\"]$", "", text[:first]), re.sub(r"^['\"]", "", text[end:])
        if form:
            before = re.sub(r"\b(?:a|an|the)\s+$", "", before)
        elif bare:
            before = re.sub(
                r"\b(?:to|from|named|called|of|with|at|in|for|by|is|on)\s+$", "", before
            )
        text = before + form.format(noun) + after
    return re.sub(r"\s+", " ", text).strip()


class Network(torch.nn.Module):
    """The network of `hvr.navigation.turns.value_reader`, to be trained."""

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


def _batch(some: Sequence[Example], states: TokenStates) -> tuple[Any, ...]:
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


def train(some: Sequence[Example], states: TokenStates, seed: int) -> Network:
    """Return the network after `EPOCHS` rounds; what each lost is printed."""
    torch.manual_seed(seed)
    draw = np.random.default_rng(seed)
    network = Network(states.of(some[0].text)[0].shape[1])
    steps = len(some) // BATCH
    optimizer = torch.optim.AdamW(network.parameters(), 4e-3, weight_decay=1e-2)
    pace = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=EPOCHS * steps + 1)
    loss_of = torch.nn.functional.binary_cross_entropy_with_logits
    sizes = np.array([len(states.of(one.text)[0]) for one in some])
    for epoch in range(EPOCHS):
        order = np.argsort(sizes + draw.random(len(some)) * 8)
        lost = 0.0
        for step in draw.permutation(steps):
            chosen = [some[int(i)] for i in order[step * BATCH : (step + 1) * BATCH]]
            vectors, inside, query, right, stated = _batch(chosen, states)
            each, whole = network(vectors, inside, query)
            tokens = (loss_of(each, right, reduction="none") * inside).sum(1).mean() / 10
            loss = tokens + loss_of(whole, stated)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            pace.step()
            lost += float(loss.detach())
        print(f"round {epoch + 1}: {lost / max(steps, 1):.3f}", flush=True)
    return network.eval()


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n\n")[0])
    parser.add_argument("--out", type=Path, default=SHIPPED)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    package: Any = load_apart("bfcl_eval")
    folder = Path(package.__file__).parent / "data"
    made = list(examples(folder, random.Random(options.seed)))
    print(f"{len(made)} examples, {sum(bool(one.spans) for one in made)} with a value", flush=True)
    states = TokenStates()
    states.read({one.text for one in made})
    held = [one for one in made if zlib.crc32(one.tool.encode()) % 8 == 0]
    network = train([one for one in made if zlib.crc32(one.tool.encode()) % 8], states,
                    options.seed)  # fmt: skip
    with torch.inference_mode():
        told = [network(*_batch(held[i : i + BATCH], states)[:3])[1].numpy()
                for i in range(0, len(held), BATCH)]  # fmt: skip
    area = roc_auc_score([bool(one.spans) for one in held], np.concatenate(told))
    print(f"{len(held)} examples of functions held out: AUC {area:.3f}")
    weights = {
        name.replace(".", "_"): value.numpy().astype(np.float16)
        for name, value in network.state_dict().items()
    }
    np.savez_compressed(options.out, **weights)
    print(f"{options.out}: {options.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
