"""Train the head of the learnt reader.

    python tools/train_learnt_reader.py --data FILE [FILE ...] [--out hvr/language/learnt/head.npz]

Only the encoder's top layers (`--tuned`) are trained and become part of the head. Held-out task
folders are ignored, and one in twenty of the others is used for calibration. `--cache` keeps the
encodings, so a second training starts at once.

    --words          train only the n-gram weights, in a minute
    --relabel        do not train; update the head to the ontology's current labels
    --no-steps       exclude the sentences of single steps
    --no-made        exclude generated sentences
    --no-scene       do not restrict classes to the scene
    --tuned 0        keep the encoder unchanged
"""

from __future__ import annotations

import argparse
import io
import json
import random
import sys
import time
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.language.learnt.encoder import LAYERS, SentenceEncoder
from hvr.language.learnt.frames import OTHER
from hvr.language.learnt.reader import POINTERS, SHIPPED, Head, ScoredFrame, Space, labels_of
from hvr.language.taxonomy import Taxonomy
from hvr.worlds.scenes import load_scene, scene_names
from studies.learnt_reader.batches import Batches, Meanings, States, Vocabulary
from studies.learnt_reader.examples import (
    Example,
    confusing_examples,
    is_kept,
    is_validation,
    made_examples,
    read_records,
    scene_classes,
    step_examples,
    task_examples,
)
from studies.learnt_reader.network import Network, loss_of
from studies.learnt_reader.ngrams import ngrams

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "alfred_language"
FILES = [DATA / "train_kitchen.jsonl.gz", DATA / "train_other_rooms.jsonl.gz"]


def say(text: str) -> None:
    print(text, flush=True)


def correct(network: Network, batches: Batches, examples: Sequence[Example]) -> dict[str, float]:
    """Return the accuracy of each slot and of whole frames."""
    network.eval()
    rows: list[dict[str, bool]] = []
    with torch.inference_mode():
        for i in range(0, len(examples), 128):
            some = examples[i : i + 128]
            batch = batches.of(some)
            targets = batch.targets
            scores = network(batch.states, batch.mask, batch.marks)
            kinds = scores["kind"].argmax(-1)
            best = {s: scores[s].masked_fill(~targets.allowed, -1e4).argmax(-1) for s in POINTERS}
            for j, example in enumerate(some):
                row = {"kind": bool(kinds[j] == targets.kind[j])}
                if example.frame.kind != OTHER:
                    row["sliced"] = bool((scores["sliced"][j] > 0) == (targets.sliced[j] > 0))
                    row["thing"] = bool(best["thing"][j] == targets.pointers["thing"][j])
                    if example.frame.kind not in ("hold", "slice"):
                        row["place"] = bool(best["place"][j] == targets.pointers["place"][j])
                    if example.frame.kind == "stack":
                        row["carrier"] = bool(best["carrier"][j] == targets.pointers["carrier"][j])
                rows.append(row)
    network.train()
    shares = {s: [r[s] for r in rows if s in r] for s in ("kind", *POINTERS, "sliced")}
    return {**{s: sum(v) / max(1, len(v)) for s, v in shares.items()},
            "all": sum(all(r.values()) for r in rows) / max(1, len(rows))}  # fmt: skip


def train(network: Network, batches: Batches, parts: Mapping[str, Sequence[Example]],
          options: argparse.Namespace) -> None:  # fmt: skip
    layers = list(network.layers.parameters())
    mine = {id(p) for p in layers}
    rest = [p for p in network.parameters() if id(p) not in mine]
    optimizer = torch.optim.AdamW(
        [{"params": layers, "lr": options.rate}, {"params": rest, "lr": 10 * options.rate}],
        weight_decay=0.01,
    )
    rng = random.Random(options.seed)
    total = options.epochs * (len(parts["train"]) // options.batch + 1)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda n: min(1.0, n / (0.06 * total)) * max(0.02, 1 - n / total)
    )
    started = time.perf_counter()
    for epoch in range(options.epochs):
        losses = []
        for number, batch in enumerate(batches.shuffled(parts["train"], options.batch, rng)):
            loss = loss_of(network(batch.states, batch.mask, batch.marks), batch.targets)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
            if number % 100 == 0:
                say(f"  {number}: loss {np.mean(losses[-100:]):.3f}, "
                    f"{time.perf_counter() - started:.0f} s")  # fmt: skip
        shares = correct(network, batches, parts["validation"])
        say(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, validation "
            + ", ".join(f"{name} {share:.3f}" for name, share in shares.items()))  # fmt: skip


def begin(network: Network, head: Head, tuned: Sequence[int]) -> None:
    weights = {name: torch.from_numpy(array) for name, array in head.weights.items()}
    with torch.no_grad():
        for number, layer in zip(tuned, network.layers, strict=True):
            for name, tensor in layer.weights().items():
                tensor.copy_(weights[f"layer.{number}.{name}"])
        for name, tensor in network.state_dict().items():
            if not name.startswith("layers.") and name in weights and name != "labels":
                tensor.copy_(weights[name].reshape(tensor.shape))


def thinned(examples: Sequence[Example], every: int) -> list[Example]:
    """Return all sentences about whole demonstrations, and every N-th of the other sentences."""
    others = [e for e in examples if e.source != "task"]
    return [e for e in examples if e.source == "task"] + others[::every]


def in_eight_bits(name: str, array: np.ndarray) -> dict[str, np.ndarray]:
    """Return a table quantised to integers from -127 to 127, with the scale of each row."""
    scale = np.maximum(np.abs(array).max(axis=1), 1e-12) / 127
    rounded = np.round(array / scale[:, None]).astype(np.int8)
    return {name: rounded, f"{name}#scale": scale.astype(np.float32)}


def stored(network: Network, tuned: Sequence[int], vocabulary: Vocabulary) -> dict[str, np.ndarray]:
    """Return the contents of the head file: large tables in 8 bits per number, the rest in 16."""
    tensors = {
        f"layer.{number}.{name}": tensor
        for number, layer in zip(tuned, network.layers, strict=True)
        for name, tensor in layer.weights().items()
    }
    tensors |= {k: v for k, v in network.state_dict().items()
                if not k.startswith("layers.") and k != "owners"}  # fmt: skip
    file: dict[str, np.ndarray] = {}
    for name, tensor in tensors.items():
        array = tensor.numpy()
        if name.startswith("layer.") and array.ndim == 2:
            file |= in_eight_bits(name, array)
        else:
            file[name] = array.astype(np.float16)
    about = {
        "classes": vocabulary.classes, "labels": vocabulary.labels_of_classes,
        "tuned": list(tuned),
    }  # fmt: skip
    file["about"] = np.array(json.dumps(about))
    return file


def with_grams(
    file: Mapping[str, np.ndarray], known: Sequence[str], arrays: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    file = {name: array for name, array in file.items() if not name.startswith("gram.")}
    about = {**json.loads(str(file["about"])), "grams": list(known)}
    return {
        **file, **in_eight_bits("gram.table", arrays["table"]),
        "gram.rarity": arrays["rarity"].astype(np.float16),
        "gram.bias": arrays["bias"].astype(np.float16),
        "about": np.array(json.dumps(about)),
    }  # fmt: skip


_FOREIGN = 0.5
"""Weight of a sentence from another room in the calibration."""


def is_kitchen(scene: str) -> bool:
    return int(scene.removeprefix("FloorPlan")) <= 30


def calibrated(
    path: Path,
    ontology: Ontology,
    examples: Sequence[Example],
    scenes: Mapping[str, frozenset[str]],
) -> dict[str, float]:
    """Return the calibration of a head on examples that are not in its training set.

    For the calibration, sentences from other rooms are also read in a kitchen, where they should be
    unlikely.
    """
    reader = Decoder(ontology, path)
    kitchens = [name for name in sorted(scenes) if is_kitchen(name)]
    rows, right, weights = [], [], []
    for number, example in enumerate(examples):
        own = is_kitchen(example.scene)
        scene = example.scene if own else kitchens[number % len(kitchens)]
        best = reader.ranked(example.text, scenes[scene])[0]
        if best.frame.kind != OTHER:
            rows.append([best.here, best.anywhere, 1.0])
            right.append(float(best.frame == example.frame))
            weights.append(1.0 if own else _FOREIGN)
    own_right = [r for r, weight in zip(right, weights, strict=True) if weight == 1.0]
    say(f"calibration: {np.mean(own_right):.3f} of {len(own_right)} frames right, "
        f"{len(right)} frames including other rooms")  # fmt: skip
    x, y = torch.tensor(rows, dtype=torch.float64), torch.tensor(right, dtype=torch.float64)
    weight = torch.tensor(weights, dtype=torch.float64)
    w = torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([w], max_iter=200)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(x @ w, y, weight)
        loss = loss + 0.001 * (w * w).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    here, anywhere, shift = (round(v, 4) for v in w.tolist())
    return {"here": here, "anywhere": anywhere, "shift": shift}


class Decoder:
    """The learnt reader up to its frames, without the objects of a scene."""

    def __init__(self, ontology: Ontology, path: Path) -> None:
        self.head = Head(SentenceEncoder(), path)
        self.labels = labels_of(self.head, ontology)
        self.space = Space(self.head.classes, Taxonomy(ontology))

    def ranked(self, text: str, classes: frozenset[str]) -> list[ScoredFrame]:
        return self.space.ranked(self.head.scores(text, self.labels), classes)


def relabelled(path: Path, ontology: Ontology) -> None:
    """Replace the labels of a head by the ontology's current labels; change nothing else."""
    encoder = SentenceEncoder()
    with np.load(path) as file:
        stored = dict(file)
    about = json.loads(str(stored["about"]))
    about["labels"] = {
        name: list(ontology.labels(name)) if ontology.has_class(name) else labels
        for name, labels in about["labels"].items()
    }
    texts = [label for labels in about["labels"].values() for label in labels]
    stored["labels"] = np.stack([encoder.sentence(t) for t in texts]).astype(np.float16)
    stored["about"] = np.array(json.dumps(about))
    write(path, stored)


def write(path: Path, file: Mapping[str, np.ndarray]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in sorted(file.items()):
            data = io.BytesIO()
            np.save(data, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), data.getvalue(),
                             zipfile.ZIP_DEFLATED)  # fmt: skip


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "--data", type=Path, nargs="+", default=FILES, help="files of sentences (.jsonl.gz)"
    )
    parser.add_argument("--out", type=Path, default=SHIPPED, help="output file")
    parser.add_argument(
        "--cache", type=Path, default=Path(".cache/learnt"), help="folder of cached encodings"
    )
    parser.add_argument("--tuned", type=int, default=2, help="number of top layers to tune")
    parser.add_argument("--epochs", type=int, default=4, help="passes over the examples")
    parser.add_argument("--batch", type=int, default=64, help="sentences per batch")
    parser.add_argument("--rate", type=float, default=1e-4, help="learning rate of the layers")
    parser.add_argument("--made", type=int, default=5000, help="number of generated sentences")
    parser.add_argument("--seed", type=int, default=0, help="seed of weights and order")
    parser.add_argument(
        "--relabel",
        action="store_true",
        help="only update the head to the ontology's current labels",
    )
    parser.add_argument(
        "--words",
        action="store_true",
        help="only train the n-gram weights of the head in --start or --out",
    )
    parser.add_argument("--share", type=float, default=0.8, help="weight of the n-gram scores")
    parser.add_argument("--start", type=Path, help="head to start from")
    parser.add_argument(
        "--thin",
        type=int,
        default=1,
        help="use every N-th sentence that is not from a demonstration",
    )
    parser.add_argument("--threads", type=int, default=2, help="number of PyTorch threads")
    parser.add_argument("--no-steps", action="store_true", help="exclude sentences of single steps")
    parser.add_argument("--no-made", action="store_true", help="exclude generated sentences")
    parser.add_argument("--no-scene", action="store_true", help="compare the classes of all scenes")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write the head; the exit code is 2 if the data are missing."""
    options = parse_arguments(arguments)
    for path in options.data:
        if not path.is_file():
            print(f"no such file: {path}; give the sentences with --data", file=sys.stderr)
            return 2
    if options.relabel:
        relabelled(options.out, load_ontology())
        return 0
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    ontology, encoder = load_ontology(), SentenceEncoder()
    records = [r for path in options.data for r in read_records(path)]
    packaged = {n: {o.object_type for o in load_scene(n).objects} for n in scene_names()}
    scenes = scene_classes(records, ontology, packaged)
    examples = open_examples(records, ontology, options)
    held_back = [e for e in examples if e.source == "task" and is_validation(e.folder)]
    validation = [e for e in held_back if is_kitchen(e.scene)]
    training = [e for e in examples if not is_validation(e.folder) or not e.folder]
    parts = {"train": thinned(training, options.thin), "validation": validation}
    vocabulary = Vocabulary.of(ontology, examples)
    earlier: dict[str, np.ndarray] = {}
    if options.words:
        with np.load(options.start or options.out) as stored_before:
            earlier = dict(stored_before)
        vocabulary = vocabulary.ordered(json.loads(str(earlier["about"]))["classes"])
    say(f"{len(parts['train'])} examples, {len(validation)} for validation, "
        f"{len(vocabulary.classes)} classes")  # fmt: skip
    meanings = Meanings(vocabulary, scenes, restricted=not options.no_scene)
    file = earlier or pointers(parts, meanings, encoder, options)
    known, arrays = ngrams(parts["train"], meanings, options.share, options.seed, say)
    file = with_grams(file, known, arrays)
    write(options.out, file)
    about = json.loads(str(file["about"]))
    about["calibration"] = calibrated(options.out, ontology, held_back, scenes)
    if not options.words:
        about["trained"] = {
            "examples": len(parts["train"]), "epochs": options.epochs, "seed": options.seed,
            "steps": not options.no_steps, "made": not options.no_made,
            "scene": not options.no_scene,
        }  # fmt: skip
    about["words"] = {"examples": len(parts["train"]), "share": options.share}
    say(f"calibration: {about['calibration']}")
    file["about"] = np.array(json.dumps(about))
    write(options.out, file)
    say(f"{options.out}: {options.out.stat().st_size / 1e6:.1f} MB")
    return 0


def open_examples(
    records: Sequence[Mapping[str, Any]], ontology: Ontology, options: argparse.Namespace
) -> list[Example]:
    records = [r for r in records if not is_kept(str(r["id"]).partition("/")[0])]
    examples = list(task_examples(records, ontology))
    examples += [] if options.no_steps else step_examples(records, ontology)
    if not options.no_made:
        examples += made_examples(ontology, options.made)
        examples += confusing_examples(ontology, options.made)
    return examples


def pointers(
    parts: Mapping[str, Sequence[Example]], meanings: Meanings, encoder: SentenceEncoder,
    options: argparse.Namespace,
) -> dict[str, np.ndarray]:  # fmt: skip
    vocabulary, layers = meanings.vocabulary, LAYERS - options.tuned
    texts = [e.text for part in parts.values() for e in part]
    states = States(texts, encoder, layers, options.cache)
    vectors = torch.tensor(np.stack([encoder.sentence(label) for label in vocabulary.labels]))
    tuned = range(layers, LAYERS)
    network = Network(encoder, tuned, vectors, torch.tensor(vocabulary.owners),
                      len(vocabulary.classes))  # fmt: skip
    if options.start:
        begin(network, Head(encoder, options.start), tuned)
    train(network, Batches(meanings, states, encoder.pieces), parts, options)
    network.eval()
    return stored(network, tuned, vocabulary)


if __name__ == "__main__":
    sys.exit(main())
