"""Every choice that a verifier is trained with, as a value and as a YAML file."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from hvr.errors import DataFileError, UsageError


@dataclass(frozen=True, kw_only=True)
class VerifierConfig:
    """How a verifier is made and trained.

    The defaults are GNNVerifier's (section 4.1 and appendices A and B) where the paper gives a
    figure. Where it gives none, or hvr goes another way, it says so here. `small()` is what
    trains in minutes on a CPU.

    Args:
        encoder: of texts, as `hvr.retrieval.text_vectors` names it. The paper's is
            `st:intfloat/e5-large`; the default comes with a package and needs no download.
        tool_text: what stands for a tool: its description (the paper) or its name as well.
        step_names: steps as they are, or with the names of tools taken out. Data whose steps
            were written for the true tool give it away by name.
        compatibility: whether two tools fit: by their types (equation 4), by the links of the
            tool graph (1 or 0, for data without types), or `auto`: types where there are any.
        own_counts: a training plan's own paths count in its statistics. The paper does not
            say. Without them an edge is as rare in training as it will be in use.
        own_margins: a training plan's margins come from a scorer g that learned from it. False
            is hvr's own: two scorers learn from a half of the plans each and judge the other.
        neighbours: K, how many similar tools a tool has.
        hidden: width of every layer.
        layers: L, rounds of messages.
        dropout: share of values left out while training.
        readout: of the nodes into the graph: `mean` (the paper), or mean and largest.
        align_hidden, align_lr, align_batch, align_epochs, align_patience: of the scorer g.
            The paper gives the patience; the others are hvr's.
        graphs: chances of 2, 3 or 4 perturbed graphs for a plan (equation 11).
        budgets: chances of 1, 2 or 3 operations on a graph (equation 12).
        wrong_tool: chance of the family Wrong Tool (A.1.1).
        near: chance that REPLACE takes one of the K similar tools (A.1.2).
        drop: chance of DROP in the family Missing Step (A.1.3).
        spans: chances of DROP's lengths 1, 2, 3, 4 and 5 (equation 14).
        by_motif: chance that a span is drawn by how often its path is seen (A.1.3).
        compress_spans: lengths of COMPRESS.
        insert: chance that an operation puts in a superfluous step; hvr's own, 0 in the paper.
        drop_tail: spans may end with the last step; hvr's own, never in the paper.
        tau: temperature of the soft target (equation 9); the best on UltraTool, figure 11.
        margin: of the ranking loss per unit of cost (equation 21).
        lambda_graph, lambda_edge: weights of the losses (equations 22 and 24). The paper
            tunes them for each data set.
        keep_graph: weight of stage I's loss in stage II; hvr's own, 0 in the paper. Stage II
            trains the last layer, which the whole plan's score is read from as well. Of no
            effect without stage I.
        lr: learning rate of stage I.
        lr_local: learning rate of stage II; the paper gives one rate for both.
        schedule: of both rates over the epochs of a stage: `constant`, or `cosine`, which falls
            to nothing. The paper names none.
        batch: graphs in a batch, in whole families.
        epochs_graph, epochs_local: at most, of stages I and II. Not in the paper.
        patience: epochs without a better validation before a stage ends.
        held_out: share of the training plans that stages are stopped by and thresholds are
            chosen on.
        use_messages, use_stage_one, use_stage_two, node_features, edge_features: False takes
            a part away, as the paper's ablations do (section 4.3).
        seed: of everything drawn.
        device: to train on, `auto`, `cpu` or `cuda`; plans are judged on the CPU.
        autocast: compute in bfloat16 where it is safe; on CUDA only.
    """

    encoder: str = "minilm"
    tool_text: Literal["description", "name_and_description"] = "description"
    step_names: Literal["keep", "remove"] = "keep"
    compatibility: Literal["auto", "types", "links"] = "auto"
    own_counts: bool = True
    own_margins: bool = True
    neighbours: int = 10
    hidden: int = 1024
    layers: int = 3
    dropout: float = 0.1
    readout: Literal["mean", "mean_max"] = "mean"
    align_hidden: int = 1024
    align_lr: float = 1e-4
    align_batch: int = 64
    align_epochs: int = 20
    align_patience: int = 5
    graphs: tuple[float, ...] = (0.25, 0.5, 0.25)
    budgets: tuple[float, ...] = (0.6, 0.3, 0.1)
    wrong_tool: float = 0.5
    near: float = 0.75
    drop: float = 0.5
    spans: tuple[float, ...] = (0.55, 0.25, 0.10, 0.07, 0.03)
    by_motif: float = 0.75
    compress_spans: tuple[int, ...] = (2, 3, 4)
    insert: float = 0.0
    drop_tail: bool = False
    tau: float = 0.6
    margin: float = 0.2
    lambda_graph: float = 1.0
    lambda_edge: float = 0.5
    keep_graph: float = 0.0
    lr: float = 2e-5
    lr_local: float = 2e-5
    schedule: Literal["constant", "cosine"] = "constant"
    batch: int = 512
    epochs_graph: int = 50
    epochs_local: int = 20
    patience: int = 5
    held_out: float = 0.1
    use_messages: bool = True
    use_stage_one: bool = True
    use_stage_two: bool = True
    node_features: bool = True
    edge_features: bool = True
    seed: int = 0
    device: Literal["auto", "cpu", "cuda"] = "auto"
    autocast: bool = False

    def __post_init__(self) -> None:
        for name in _COUNTS:
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("dropout", "wrong_tool", "near", "drop", "by_motif", "insert", "held_out"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} must be from 0 to 1, not {getattr(self, name)}")
        for name in ("graphs", "budgets", "spans"):
            chances = getattr(self, name)
            if not any(chances) or not all(0 <= chance < math.inf for chance in chances):
                raise UsageError(f"{name} must be chances, not {chances}")
        if min(self.compress_spans, default=0) < 2:
            raise UsageError(f"compress_spans must be lengths from 2 on, not {self.compress_spans}")
        for name in ("tau", "lr", "lr_local", "align_lr"):
            if not 0 < getattr(self, name) < math.inf:
                raise UsageError(f"{name} must be above 0, not {getattr(self, name)}")
        for name in ("margin", "lambda_graph", "lambda_edge", "keep_graph"):
            if not 0 <= getattr(self, name) < math.inf:
                raise UsageError(f"{name} must be 0 or more, not {getattr(self, name)}")

    @classmethod
    def small(cls, **changes: Any) -> VerifierConfig:
        """Return what trains in minutes on two cores: narrow layers, a higher rate, hvr's
        choices.
        """
        chosen: dict[str, Any] = {
            "tool_text": "name_and_description",
            "step_names": "remove",
            "own_counts": False,
            "own_margins": False,
            "hidden": 128,
            "align_hidden": 256,
            "align_lr": 2e-3,
            "align_batch": 256,
            "align_epochs": 8,
            "readout": "mean_max",
            "dropout": 0.3,
            "keep_graph": 1.0,
            "lr": 2e-3,
            "lr_local": 2e-3,
            "schedule": "cosine",
            "batch": 256,
            "epochs_graph": 14,
            "epochs_local": 10,
            "patience": 8,
        }
        return cls(**{**chosen, **changes})

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    @classmethod
    def from_dict(cls, given: object, where: str = "the configuration") -> VerifierConfig:
        """Return a configuration from plain values; fields that are left out have their defaults.

        Raises:
            UsageError: a field is unknown or has a value of another kind.
        """
        if not isinstance(given, dict):
            raise UsageError(f"{where} must be a table of names and values")
        known = {f.name: getattr(cls(), f.name) for f in fields(cls)}
        values: dict[str, Any] = {}
        for name, value in given.items():
            if name not in known:
                raise UsageError(
                    f"{where}: unknown field {name!r} (fields: {', '.join(sorted(known))})"
                )
            values[name] = _fitting(name, value, known[name], where)
        return replace(cls(), **values)

    def save(self, path: Path) -> None:
        """Write a YAML file.

        Raises:
            DataFileError: it cannot be written.
        """
        import yaml

        try:
            path.write_text(yaml.safe_dump(self.to_dict(), sort_keys=False), encoding="utf-8")
        except OSError as error:
            raise DataFileError(f"cannot write {path}: {error.strerror}") from error

    @classmethod
    def load(cls, path: Path) -> VerifierConfig:
        """Read a YAML file.

        Raises:
            DataFileError: it cannot be read or is not YAML.
            UsageError: a field is unknown or has a value of another kind.
        """
        import yaml

        try:
            given = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            reason = str(error).splitlines()[0]
            raise DataFileError(f"cannot read the configuration {path}: {reason}") from error
        return cls.from_dict({} if given is None else given, str(path))


_COUNTS = (
    "neighbours", "hidden", "layers", "batch", "epochs_graph", "epochs_local", "patience",
    "align_hidden", "align_batch", "align_epochs", "align_patience",
)  # fmt: skip
_CHOICES = {
    "tool_text": ("description", "name_and_description"),
    "step_names": ("keep", "remove"),
    "compatibility": ("auto", "types", "links"),
    "readout": ("mean", "mean_max"),
    "schedule": ("constant", "cosine"),
    "device": ("auto", "cpu", "cuda"),
}


def _fitting(name: str, value: Any, default: Any, where: str) -> Any:
    """Return the value as the field's own type."""
    if name in _CHOICES and value not in _CHOICES[name]:
        raise UsageError(f"{where}: {name} must be one of {', '.join(_CHOICES[name])}")
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if isinstance(default, float) and number:
        return float(value)
    if isinstance(default, tuple) and isinstance(value, (list, tuple)):
        return tuple(_fitting(name, each, default[0], where) for each in value)
    if type(value) is type(default):
        return value
    if isinstance(default, float) and isinstance(value, str):
        try:  # YAML reads 2e-5 as a text
            return float(value)
        except ValueError:
            pass
    raise UsageError(f"{where}: {name} must be like {default!r}, not {value!r}")
