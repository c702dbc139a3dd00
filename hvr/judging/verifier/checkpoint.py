"""Checkpoints of verifiers: a folder whose `verifier.json` names its other files.

verifier.json                settings, tools and links; for a network also counts and thresholds
verifier-….safetensors       tensors of a network
judge-….json                 a judge (`hvr.judging.verifier.judgement.judge`)
judge-….safetensors          tensors of the judge
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hvr.base.files import digest, file_set_name, read_set, write_set
from hvr.base.texts import read_bytes, read_json
from hvr.errors import DataFileError, HvrError
from hvr.judging.verifier.config import VerifierConfig
from hvr.judging.verifier.features import Alignment, Encoder, Floats, PathCounts, ToolEmbeddings
from hvr.judging.verifier.graph import PlanGraph
from hvr.judging.verifier.verdict import Thresholds
from hvr.judging.verifier.verifier import TrainedNetwork
from hvr.tools.tool_plans import Tool, ToolGraph

if TYPE_CHECKING:
    from hvr.judging.verifier.verifier import Verifier

VALUES = "verifier.json"
_KIND = "hvr plan verifier"
_VERSION = 2


def fingerprint(graphs: Iterable[PlanGraph]) -> str:
    """Return 16 hex digits that identify a set of plans, independent of their order."""
    lines = sorted(
        json.dumps([g.id, g.request, [(n.tool, n.text) for n in g.nodes], g.edges]) for g in graphs
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def tools_fingerprint(tools: ToolGraph) -> str:
    """Return 16 hex digits that identify a set of tools and links."""
    return hashlib.sha256(json.dumps(_tools_json(tools)).encode()).hexdigest()[:16]


def save(verifier: Verifier, folder: Path, *, half: bool = False) -> None:
    """Write the checkpoint of a network atomically.

    Args:
        folder: Created if missing; replaces a verifier and its judge in one step.
        half: Whether to store the tensors in half precision, which halves the file.

    Raises:
        DataFileError: The checkpoint cannot be written; the earlier one is kept.
    """
    from safetensors.numpy import save as to_bytes

    tensors = {f"network.{k}": v for k, v in verifier.network.tensors.items()}
    tensors |= {f"alignment.{k}": v for k, v in verifier.alignment.tensors.items()}
    kept = np.float16 if half else np.float32
    data = to_bytes({k: np.asarray(v, kept, order="C") for k, v in tensors.items()})
    values = {
        "thresholds": asdict(verifier.thresholds),
        "data": verifier.data,
        "counts": [[list(p), n] for p, n in sorted(verifier.counts.counts.items())],
        "tensors": digest(data),
    }
    parts = {file_set_name("verifier", digest(data), ".safetensors"): data}
    write(folder, verifier.embeddings, values, parts)


def write(
    folder: Path, embeddings: ToolEmbeddings, values: Mapping[str, Any], parts: Mapping[str, bytes]
) -> None:
    """Replace the checkpoint in a folder atomically."""
    head = {
        "kind": _KIND,
        "version": _VERSION,
        "config": embeddings.config.to_dict(),
        "text_size": int(embeddings.vectors.shape[1]),
        "tools_fingerprint": tools_fingerprint(embeddings.tools),
        "tools": _tools_json(embeddings.tools),
        "tensors": None,
        "judge": None,
        **values,
    }
    text = json.dumps(head, ensure_ascii=False)
    write_set(folder / VALUES, text, dict(parts), ("verifier", "judge"))


def load(folder: Path, encoder: Encoder | None = None) -> Verifier:
    """Read a checkpoint.

    Args:
        folder: Folder that `save` wrote.
        encoder: Text encoder, by default the one named in the checkpoint.

    Raises:
        DataFileError: The checkpoint is missing, damaged, not a verifier, or of another version.
    """
    return read_set(folder / VALUES, lambda: _load(folder, encoder))


def _load(folder: Path, encoder: Encoder | None) -> Verifier:
    from hvr.judging.verifier.verifier import Verifier

    values = head_of(folder)
    embeddings = embeddings_of(folder, values, encoder)
    config = embeddings.config
    if values.get("tensors") is None:
        raise DataFileError(f"the verifier {folder} has no network: it is for tool plans")
    try:
        counts = PathCounts({tuple(path): int(n) for path, n in values["counts"]})
        thresholds = Thresholds(**{k: float(v) for k, v in values["thresholds"].items()})
        tensors = _tensors(folder, str(values["tensors"]))
        text, types = embeddings.vectors.shape[1], 2 * len(embeddings.types)
        alignment = Alignment(
            _part(tensors, "alignment.", Alignment.shapes(text, config.align_hidden))
        )
        network = TrainedNetwork(
            config, _part(tensors, "network.", TrainedNetwork.shapes(config, text, types))
        )
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataFileError(f"the verifier {folder} is damaged: {reason}") from error
    data = str(values.get("data", ""))
    return Verifier(config, embeddings, counts, alignment, network, thresholds, data)


def embeddings_of(
    folder: Path, values: Mapping[str, Any], encoder: Encoder | None = None
) -> ToolEmbeddings:
    """Return the embeddings of a checkpoint's tools, using its own encoder by default."""
    from hvr.judging.verifier.verifier import make_encoder

    try:
        config = VerifierConfig.from_dict(values["config"], f"{folder / VALUES}")
        tools = _tools(values["tools"])
        if tools_fingerprint(tools) != values["tools_fingerprint"]:
            raise DataFileError(f"the verifier {folder} is damaged: its tools were changed")
        embeddings = ToolEmbeddings(tools, encoder or make_encoder(config), config)
        if embeddings.vectors.shape[1] != values["text_size"]:
            raise DataFileError(
                f"the verifier {folder} needs text vectors of size {values['text_size']}, got size "
                f"{embeddings.vectors.shape[1]}: use the encoder {config.encoder}"
            )
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataFileError(f"the verifier {folder} is damaged: {reason}") from error
    except HvrError as error:
        if isinstance(error, DataFileError) or "encoder" in str(error):
            raise
        raise DataFileError(f"the verifier {folder} is damaged: {error}") from error
    return embeddings


def head_of(folder: Path) -> dict[str, Any]:
    """Read the head of a checkpoint, `verifier.json`."""
    return read_values(folder / VALUES, "verifier", _KIND, _VERSION)


def read_values(path: Path, what: str, kind: str, version: int) -> dict[str, Any]:
    """Read a JSON file of a checkpoint; `what`, `verifier` or `judge`, is for error messages."""
    if not path.is_file():
        raise DataFileError(f"{path.parent} is not a {what} folder: {path.name} is missing")
    values = read_json(path, strict=False)
    if not isinstance(values, dict) or values.get("kind") != kind:
        raise DataFileError(f"{path} is not part of a plan {what} of hvr")
    if values.get("version") != version:
        raise DataFileError(
            f"{path} has version {values.get('version')}, but this hvr reads version {version}: "
            "train it again"
        )
    return values


def read_tensors(folder: Path, stem: str, expected: str) -> bytes:
    """Return the tensors of a checkpoint as bytes."""
    path = folder / file_set_name(stem, expected, ".safetensors")
    data = read_bytes(path)
    if digest(data) != expected:
        raise DataFileError(f"the {stem} {folder} is damaged: {path.name} was changed")
    return data


def _tensors(folder: Path, expected: str) -> dict[str, Floats]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    data = read_tensors(folder, "verifier", expected)
    try:
        tensors = load(data)
    except SafetensorError as error:
        raise DataFileError(f"the verifier {folder} is damaged: {error}") from error
    # Half precision is for storage only; computation uses single precision.
    return {name: tensor.astype(np.float32, copy=False) for name, tensor in tensors.items()}


def _part(
    tensors: dict[str, Floats], prefix: str, shapes: dict[str, tuple[int, ...]]
) -> dict[str, Floats]:
    selected = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
    for name in sorted(selected.keys() ^ shapes.keys()):
        raise ValueError(f"{prefix}{name} is {'missing' if name in shapes else 'unknown'}")
    for name, shape in shapes.items():
        if selected[name].shape != shape:
            raise ValueError(f"{prefix}{name} must have shape {shape}, got {selected[name].shape}")
    return selected


def _tools_json(tools: ToolGraph) -> dict[str, Any]:
    return {
        "tools": [[t.id, t.description, list(t.inputs), list(t.outputs)] for t in tools.tools],
        "links": [list(link) for link in tools.links],
    }


def _tools(values: dict[str, Any]) -> ToolGraph:
    return ToolGraph(
        tuple(Tool(i, d, tuple(a), tuple(b)) for i, d, a, b in values["tools"]),
        tuple((a, b) for a, b in values["links"]),
    )
