"""A corrector on disk: `corrector.json` and `corrector.safetensors` in a folder."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

from hvr.errors import DataFileError
from hvr.verifier.checkpoint import read_values, tools_fingerprint
from hvr.verifier.correction.corrector import Corrector
from hvr.verifier.correction.nearest_plans import PlanMemory
from hvr.verifier.correction.prior_models import HabitsConfig, NextTool, StepTool, Words
from hvr.verifier.correction.reranker import CLUES
from hvr.verifier.correction.sequence_prior import Habits
from hvr.verifier.verifier import Verifier

VALUES = "corrector.json"
TENSORS = "corrector.safetensors"
_KIND = "hvr plan corrector"
_VERSION = 2


def save_corrector(corrector: Corrector, folder: Path) -> None:
    """Write a corrector.

    Raises:
        DataFileError: it cannot be written.
    """
    import torch
    from safetensors.torch import save_file

    habits = corrector.habits
    tensors = {f"next.{k}": v.contiguous() for k, v in habits.next_tool.state_dict().items()}
    tensors |= {f"step.{k}": v.contiguous() for k, v in habits.step_tool.state_dict().items()}
    tensors["memory"] = torch.from_numpy(habits.memory.vectors)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        save_file(tensors, folder / TENSORS)
        values = {
            "kind": _KIND,
            "version": _VERSION,
            "config": asdict(habits.config),
            "words": habits.words.known,
            "plans": habits.memory.plans,
            "weights": dict(zip(CLUES, corrector.weights.tolist(), strict=True)),
            "tools_fingerprint": tools_fingerprint(corrector.space.tools),
            "tensors": hashlib.sha256((folder / TENSORS).read_bytes()).hexdigest(),
        }
        (folder / VALUES).write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")
    except OSError as error:
        raise DataFileError(f"cannot write the corrector {folder}: {error.strerror}") from error


def load_corrector(folder: Path, verifier: Verifier) -> Corrector:
    """Read a corrector.

    Args:
        folder: what `save_corrector` wrote.
        verifier: of the same tools, in the same order.

    Raises:
        DataFileError: it is missing, damaged, of another version or of other tools.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    space = verifier.space
    values = read_values(folder / VALUES, "corrector", _KIND, _VERSION)
    if values.get("tools_fingerprint") != tools_fingerprint(space.tools):
        raise DataFileError(f"the corrector {folder} was trained with other tools: train it again")
    path = folder / TENSORS
    try:
        if hashlib.sha256(path.read_bytes()).hexdigest() != values["tensors"]:
            raise DataFileError(f"the corrector {folder} is damaged: {TENSORS} was changed")
        tensors = load_file(path)
        config = HabitsConfig(**values["config"])
        words = Words({str(k): float(v) for k, v in values["words"].items()})
        text, size = space.vectors.shape[1], len(space.tools)
        next_tool = NextTool(text + len(words.known), size, config)
        step_tool = StepTool(2 * text + len(words.known), size, config)
        next_tool.load_state_dict(
            {k.removeprefix("next."): v for k, v in tensors.items() if k.startswith("next.")}
        )
        step_tool.load_state_dict(
            {k.removeprefix("step."): v for k, v in tensors.items() if k.startswith("step.")}
        )
        memory = PlanMemory(
            tensors["memory"].numpy(), [tuple(map(int, p)) for p in values["plans"]]
        )
        if memory.vectors.shape != (len(memory.plans), text):
            raise ValueError("requests and plans do not match")
        if not all(0 <= tool < size for plan in memory.plans for tool in plan):
            raise ValueError("a plan has a tool that there is not")
        weights = np.array([values["weights"][c] for c in CLUES], dtype=np.float32)
    except OSError as error:
        raise DataFileError(f"cannot read {path}: {error.strerror}") from error
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
    habits = Habits(space, words, next_tool, step_tool, memory, config)
    return Corrector(verifier, habits, weights)
