"""Checkpoints of judges: a folder whose `verifier.json` has the tools and names the judge."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Any

import numpy as np

from hvr.base.file_sets import digest, name_of, read_set
from hvr.errors import DataFileError
from hvr.judging.verifier.checkpoint import (
    VALUES,
    embeddings_of,
    head_of,
    read_tensors,
    read_values,
    tools_fingerprint,
    write,
)
from hvr.judging.verifier.judgement.judge import ChangeRule, Judge, PosteriorCalibration
from hvr.judging.verifier.judgement.past_plans import PastPlans
from hvr.judging.verifier.judgement.posterior import FEATURES
from hvr.judging.verifier.judgement.step_texts import TextModel
from hvr.judging.verifier.tool_embeddings import Encoder, ToolEmbeddings
from hvr.judging.verifier.verdict import Thresholds

_KIND = "hvr plan judge"
_VERSION = 2


def save_judge(judge: Judge, folder: Path) -> None:
    """Write a judge, whole or not at all.

    Args:
        judge: The judge.
        folder: Created if it is missing; a verifier in it is replaced in one step.

    Raises:
        DataFileError: The folder cannot be written; its earlier contents are kept.
    """
    from safetensors.numpy import save as to_bytes

    past = judge.past
    data = to_bytes({"requests": np.ascontiguousarray(past.vectors, np.float32)})
    values = {
        "kind": _KIND,
        "version": _VERSION,
        "requests": past.requests,
        "plans": past.plans,
        "weights": None
        if judge.weights is None
        else dict(zip(FEATURES, judge.weights.tolist(), strict=True)),
        "calibration": astuple(judge.calibration),
        "thresholds": asdict(judge.thresholds),
        "rule": {k: None if math.isinf(v) else v for k, v in asdict(judge.rule).items()},
        "far": judge.far,
        "texts": asdict(judge.texts),
        "tools_fingerprint": tools_fingerprint(judge.embeddings.tools),
        "tensors": digest(data),
    }
    text = json.dumps(values, ensure_ascii=False).encode()
    name = name_of("judge", digest(text), ".json")
    parts = {name: text, name_of("judge", digest(data), ".safetensors"): data}
    write(folder, judge.embeddings, {"judge": name}, parts)


def load_judge(folder: Path, encoder: Encoder | None = None) -> Judge:
    """Read a judge.

    Args:
        folder: What `save_judge` wrote, or a folder of an earlier version with a network beside it.
        encoder: Encoder of texts; the one named in the checkpoint if None.

    Raises:
        DataFileError: it is missing, damaged, of another version or of other tools.
    """
    return read_set(folder / VALUES, lambda: _load(folder, encoder))


def _load(folder: Path, encoder: Encoder | None) -> Judge:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    head = head_of(folder)
    name = head.get("judge")
    if name is None:
        raise DataFileError(f"there is no judge in {folder}: train again to have one")
    embeddings = embeddings_of(folder, head, encoder)
    values = read_values(folder / str(name), "judge", _KIND, _VERSION)
    if values.get("tools_fingerprint") != tools_fingerprint(embeddings.tools):
        raise DataFileError(f"the judge {folder} was trained with other tools: train it again")
    try:
        data = read_tensors(folder, "judge", str(values["tensors"]))
        requests = [str(r) for r in values["requests"]]
        embeddings.texts.know(requests, load(data)["requests"])
        return _judge(values, PastPlans(embeddings, requests, _plans(values, embeddings)))
    except (KeyError, TypeError, ValueError, AttributeError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataFileError(f"the judge {folder} is damaged: {reason}") from error


def _plans(values: Mapping[str, Any], embeddings: ToolEmbeddings) -> list[tuple[int, ...]]:
    plans = [tuple(map(int, p)) for p in values["plans"]]
    if len(plans) != len(values["requests"]):
        raise ValueError("requests and plans do not match")
    if not all(0 <= tool < len(embeddings.tools) for plan in plans for tool in plan):
        raise ValueError("a plan has a tool that there is not")
    return plans


def _judge(values: Mapping[str, Any], past: PastPlans) -> Judge:
    named = values["weights"]
    weights = None if named is None else np.array([named[n] for n in FEATURES], np.float32)
    calibration = PosteriorCalibration(*map(float, values["calibration"]))
    rule = {k: math.inf if v is None else float(v) for k, v in values["rule"].items()}
    limits = {k: float(v) for k, v in values["thresholds"].items()}
    said = values["texts"]
    counts = tuple(map(float, said["weights"]))
    texts = TextModel(counts, float(said["backwards"]), float(said["usual"]))
    far = float(values["far"])
    return Judge(past, weights, calibration, Thresholds(**limits), ChangeRule(**rule), far, texts)
