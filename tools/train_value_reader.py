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
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hvr.extras import load_apart
from hvr.navigation.turns.stated import places
from hvr.navigation.turns.value_network import (
    BATCH,
    ValueExample,
    ValueNetwork,
    batch,
    train,
    weights_of,
    without,
)
from hvr.navigation.turns.value_reader import SHIPPED, TokenStates, parameter_text

SETS = ("simple_python", "multiple", "parallel", "parallel_multiple", "live_simple",
        "live_multiple", "live_parallel", "live_parallel_multiple")  # fmt: skip
LONGEST = 700
"""Characters of the longest request that is learnt from."""

ROUNDS, RATE = 4, 4e-3


def examples(folder: Path, draw: random.Random) -> Iterator[ValueExample]:
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
) -> Iterator[ValueExample]:
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
                    yield ValueExample(text, tool, described, ())
                continue
            spans = places(text, [value for value in allowed if value != ""])
            if spans:
                yield ValueExample(text, tool, described, tuple(spans))
                yield ValueExample(without(text, spans, parameter, draw), tool, described, ())
            elif "" in allowed and not any(isinstance(value, bool) for value in allowed):
                yield ValueExample(text, tool, described, ())


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
    learnt = [one for one in made if zlib.crc32(one.tool.encode()) % 8]
    torch.manual_seed(options.seed)
    network = ValueNetwork(states.of(learnt[0].text)[0].shape[1])
    print("losses:", train(network, learnt, states, ROUNDS, RATE, options.seed))
    with torch.inference_mode():
        told = [network(*batch(held[i : i + BATCH], states)[:3])[1].numpy()
                for i in range(0, len(held), BATCH)]  # fmt: skip
    area = roc_auc_score([bool(one.spans) for one in held], np.concatenate(told))
    print(f"{len(held)} examples of functions held out: AUC {area:.3f}")
    weights = {name: some.astype(np.float16) for name, some in weights_of(network).items()}
    np.savez_compressed(options.out, **weights)
    print(f"{options.out}: {options.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
