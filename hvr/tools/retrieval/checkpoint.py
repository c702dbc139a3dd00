"""Checkpoints of retrievers: a self-contained folder, whose `retriever.json` names the rest.

retriever.json        format, settings, tools and links, transition counts, decoder, fingerprints
model-….safetensors   the parameters of the network
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

import hvr
from hvr.base.locks import digest, file_set_name, read_set, write_set
from hvr.base.texts import check_fields, read_bytes, read_json
from hvr.errors import DataFileError, UsageError
from hvr.knowledge.retrieval.text_vectors import TextVectors
from hvr.tools.retrieval.decoding import Decoder, Transitions
from hvr.tools.retrieval.retriever import Retriever, RetrieverConfig
from hvr.tools.retrieval.scorer import Scorer, TrainedScores
from hvr.tools.tool_plans import Tool, ToolGraph, ToolPlan

FORM = "hvr-tool-retriever-2"
"""Name and version of the format."""

_JSON = "retriever.json"


def graph_fingerprint(graph: ToolGraph) -> str:
    """Return the SHA-256 digest of the tools in order and of the links."""
    return _digest([[asdict(t) for t in graph.tools], graph.links])


def data_fingerprint(plans: Iterable[ToolPlan]) -> str:
    """Return the SHA-256 digest of plans in order."""
    return _digest([asdict(p) for p in plans])


def save_retriever(retriever: Retriever, folder: Path, data: str = "") -> None:
    """Write a checkpoint.

    Args:
        retriever: with scores of a trained network.
        folder: created if necessary; a retriever in it is replaced in one step.
        data: fingerprint of the training plans.

    Raises:
        UsageError: its scores are not those of a trained network.
        DataFileError: the folder cannot be written; what was there is as it was.
    """
    source, decoder = retriever.source, retriever.decoder
    if not isinstance(source, TrainedScores):
        raise UsageError("only a retriever with a trained network can be saved")
    transitions = decoder.transitions
    values = {
        "form": FORM,
        "hvr": hvr.__version__,
        "config": asdict(source.config),
        "width": source.scorer.width,
        "tools": [asdict(t) for t in source.graph.tools],
        "links": source.graph.links,
        "tools_fingerprint": graph_fingerprint(source.graph),
        "data_fingerprint": data,
        "decoder": {
            "rule": decoder.rule,
            "weight": decoder.weight,
            "temperature": decoder.temperature,
            "skip": None if decoder.skip == -math.inf else decoder.skip,
            "once": decoder.once,
        },
        "counts": {
            "links": [[*link, count] for link, count in sorted(transitions.links.items())],
            "starts": dict(sorted(transitions.starts.items())),
            "steps": transitions.steps,
            "stays": transitions.stays,
        },
    }
    parameters = save({k: v.contiguous() for k, v in source.scorer.state_dict().items()})
    values["parameters"] = digest(parameters)
    parts = {file_set_name("model", digest(parameters), ".safetensors"): parameters}
    text = json.dumps(values, indent=1, ensure_ascii=False) + "\n"
    write_set(folder / _JSON, text, parts, ("model",))


def load_retriever(
    folder: Path, graph: ToolGraph | None = None, encoder: TextVectors | None = None
) -> Retriever:
    """Read a checkpoint.

    Args:
        folder: as `save_retriever` wrote it.
        graph: tools or links other than in training, if the settings allow it (`free` off).
        encoder: of texts; the one named in the settings if None.

    Raises:
        DataFileError: the folder or a file is missing, damaged, or something else.
        UsageError: the network was trained for other tools.
        MissingExtraError: the package of the encoder is not installed.
    """
    return read_set(folder / _JSON, lambda: _load(folder, graph, encoder))


def _load(folder: Path, graph: ToolGraph | None, encoder: TextVectors | None) -> Retriever:
    path = folder / _JSON
    values = read_json(path)
    if not isinstance(values, dict) or values.get("form") != FORM:
        raise DataFileError(f"{path}: is no retriever of this version of hvr (form {FORM})")
    try:
        check_fields(RetrieverConfig, values["config"])
        config = RetrieverConfig(**values["config"])
        trained = _graph(values)
        decoder = _decoder(values, graph or trained)
        scorer = Scorer(config, int(values["width"]), len(trained))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataFileError(f"{path}: is damaged: {type(error).__name__} {error}") from None
    if values.get("tools_fingerprint") != graph_fingerprint(trained):
        raise DataFileError(f"{path}: the tools in it were changed after training")
    if config.free and graph is not None and graph.tools != trained.tools:
        raise UsageError(
            f"{folder} was trained for its own {len(trained)} tools and knows no others: train "
            "with `free` off, or on the tools at hand"
        )
    _load_parameters(scorer, folder, str(values.get("parameters")))
    encoder = encoder or TextVectors(config.encoder)
    source = TrainedScores(graph or trained, config, scorer, encoder)
    return Retriever(source, decoder)


def _graph(values: Mapping[str, Any]) -> ToolGraph:
    return ToolGraph(
        tuple(
            Tool(t["id"], t["description"], tuple(t["inputs"]), tuple(t["outputs"]))
            for t in values["tools"]
        ),
        tuple((source, target) for source, target in values["links"]),
    )


def _decoder(values: Mapping[str, Any], graph: ToolGraph) -> Decoder:
    counts, rule = values["counts"], values["decoder"]
    links = {(source, target): int(count) for source, target, count in counts["links"]}
    starts = {tool: int(count) for tool, count in counts["starts"].items()}
    check_fields(Decoder, {k: v for k, v in rule.items() if k != "skip"})
    skip = -math.inf if rule["skip"] is None else float(rule["skip"])
    return Decoder(
        Transitions(graph, links, starts, int(counts["steps"]), int(counts["stays"])),
        rule["rule"],
        rule["weight"],
        rule["temperature"],
        skip,
        rule["once"],
    )


def _load_parameters(scorer: Scorer, folder: Path, expected: str) -> None:
    path = folder / file_set_name("model", expected, ".safetensors")
    data = read_bytes(path)
    if digest(data) != expected:
        raise DataFileError(f"{path}: belongs to another retriever than {_JSON}: train it again")
    try:
        scorer.load_state_dict(load(data))
    except (SafetensorError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataFileError(f"{path}: does not hold this network's numbers: {reason}") from None
    if not all(bool(torch.isfinite(v).all()) for v in scorer.state_dict().values()):
        raise DataFileError(f"{path}: holds numbers that are not finite")


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()
