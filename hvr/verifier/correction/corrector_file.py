"""Checkpoints of correctors: in the folder of their verifier, whose `verifier.json` names them.

Keys of the files keep their names, so that saved correctors load: "words" is the vocabulary of
the sequence prior, "plans" and the tensor "memory" are its nearest-plan index.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hvr.errors import DataFileError
from hvr.file_sets import digest, name_of, read_set
from hvr.verifier.checkpoint import (
    VALUES,
    head_of,
    read_tensors,
    read_values,
    save,
    tools_fingerprint,
)
from hvr.verifier.correction.corrector import Corrector
from hvr.verifier.correction.nearest_plans import NearestPlanIndex
from hvr.verifier.correction.prior_models import BagOfWords, NextTool, PriorConfig, StepTool
from hvr.verifier.correction.reranker import FEATURES
from hvr.verifier.correction.sequence_prior import SequencePrior
from hvr.verifier.tool_embeddings import ToolEmbeddings
from hvr.verifier.verifier import Verifier

if TYPE_CHECKING:
    from torch import Tensor

_KIND = "hvr plan corrector"
_VERSION = 2


def save_corrector(corrector: Corrector, folder: Path) -> None:
    """Write a corrector and its verifier, both or neither.

    Args:
        corrector: the corrector.
        folder: as for `hvr.verifier.checkpoint.save`.

    Raises:
        DataFileError: they cannot be written; what was there is as it was.
    """
    import torch
    from safetensors.torch import save as to_bytes

    prior = corrector.prior
    tensors = {f"next.{k}": v.contiguous() for k, v in prior.next_tool.state_dict().items()}
    tensors |= {f"step.{k}": v.contiguous() for k, v in prior.step_tool.state_dict().items()}
    tensors["memory"] = torch.from_numpy(prior.nearest_plans.vectors)
    data = to_bytes(tensors)
    values = {
        "kind": _KIND,
        "version": _VERSION,
        "config": asdict(prior.config),
        "words": prior.words.idf,
        "plans": prior.nearest_plans.plans,
        "weights": dict(zip(FEATURES, corrector.weights.tolist(), strict=True)),
        "tools_fingerprint": tools_fingerprint(corrector.embeddings.tools),
        "tensors": digest(data),
    }
    text = json.dumps(values, ensure_ascii=False).encode()
    name = name_of("corrector", digest(text), ".json")
    parts = {name: text, name_of("corrector", digest(data), ".safetensors"): data}
    save(corrector.verifier, folder, name, parts)


def load_corrector(folder: Path, verifier: Verifier) -> Corrector:
    """Read a corrector.

    Args:
        folder: what `save_corrector` wrote.
        verifier: of the same tools, in the same order.

    Raises:
        DataFileError: it is missing, damaged, of another version or of other tools.
    """
    return read_set(folder / VALUES, lambda: _load(folder, verifier))


def _load(folder: Path, verifier: Verifier) -> Corrector:
    from safetensors import SafetensorError
    from safetensors.torch import load

    embeddings = verifier.embeddings
    # Earlier versions did not name it.
    name = head_of(folder).get("corrector", "corrector.json")
    if name is None:
        raise DataFileError(f"there is no corrector in {folder}: train again to have one")
    values = read_values(folder / str(name), "corrector", _KIND, _VERSION)
    if values.get("tools_fingerprint") != tools_fingerprint(embeddings.tools):
        raise DataFileError(f"the corrector {folder} was trained with other tools: train it again")
    try:
        data = read_tensors(folder, "corrector", str(values["tensors"]))
        prior = _prior(values, load(data), embeddings)
        weights = np.array([values["weights"][name] for name in FEATURES], dtype=np.float32)
    except (
        KeyError,
        TypeError,
        ValueError,
        RuntimeError,
        AttributeError,
        SafetensorError,
    ) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataFileError(f"the corrector {folder} is damaged: {reason}") from error
    return Corrector(verifier, prior, weights)


def _prior(
    values: Mapping[str, Any], tensors: Mapping[str, Tensor], embeddings: ToolEmbeddings
) -> SequencePrior:
    config = PriorConfig(**values["config"])
    words = BagOfWords({str(k): float(v) for k, v in values["words"].items()})
    text, size = embeddings.vectors.shape[1], len(embeddings.tools)
    next_tool = NextTool(text + len(words.idf), size, config)
    step_tool = StepTool(2 * text + len(words.idf), size, config)
    for model, prefix in ((next_tool, "next."), (step_tool, "step.")):
        model.load_state_dict(
            {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
        )
    nearest_plans = NearestPlanIndex(
        tensors["memory"].numpy(), [tuple(map(int, p)) for p in values["plans"]]
    )
    if nearest_plans.vectors.shape != (len(nearest_plans.plans), text):
        raise ValueError("requests and plans do not match")
    if not all(0 <= tool < size for plan in nearest_plans.plans for tool in plan):
        raise ValueError("a plan has a tool that there is not")
    return SequencePrior(embeddings, words, next_tool, step_tool, nearest_plans, config)
