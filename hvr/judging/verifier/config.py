"""Settings of a verifier and its training, also read from YAML files."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hvr.base.files import write_whole
from hvr.base.texts import read_yaml
from hvr.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class VerifierConfig:
    """Settings of a verifier and its training.

    The defaults follow GNNVerifier (section 4.1 and appendices A and B), unless noted otherwise.
    `small()` trains in minutes on a CPU.

    Args:
        encoder: Text encoder, as named in `hvr.knowledge.retrieval.embedders`. The paper uses
            `st:intfloat/e5-large`; hvr's default comes with a package and needs no download.
        tool_text: Text that represents a tool: its description (the paper), or its name and
            description.
        step_names: Whether to keep tool names in the texts of steps. If the text was written for a
            tool, the name reveals the answer.
        own_counts: Whether a training plan's own paths count in its statistics, which the paper
            leaves open. If not, an edge is as rare in training as in use.
        own_margins: Whether the scorer g behind a plan's margins may be trained on that plan. If
            not (hvr's addition), two scorers are each trained on the other half of the plans.
        neighbours: K, the number of similar tools per tool.
        hidden: Width of every layer.
        layers: L, the number of message-passing rounds.
        readout: Aggregation of the nodes into the graph: `mean` (the paper), or mean and maximum.
        align_hidden, align_lr, align_batch, align_epochs, align_patience: Training of the scorer g;
            the paper specifies only the patience.
        graphs: Relative probabilities of 2, 3 or 4 perturbed graphs per plan (equation 11).
        budgets: Relative probabilities of 1, 2 or 3 operations per graph (equation 12).
        wrong_tool: Probability of a Wrong Tool rather than a Missing Step operation (A.1.1).
        near: Probability that REPLACE takes one of the K similar tools, a hard negative (A.1.2).
        drop: Probability of DROP rather than COMPRESS in a Missing Step operation (A.1.3).
        spans: Relative probabilities of lengths 1 to 5 for DROP (equation 14).
        by_motif: Probability of drawing a span in proportion to its path's count (A.1.3).
        compress_spans: Span lengths for COMPRESS.
        negatives: `paper`, or `more` to add the kinds of `hvr.judging.verifier.wrong_plans`: other
            requests, missing tails, redundant steps, wrong order, unknown tools.
        tau: Temperature of the soft target (equation 9), the best on UltraTool by figure 11.
        margin: Margin of the ranking loss per unit of cost (equation 21).
        lambda_graph, lambda_edge: Weights of the losses (equations 22 and 24), which the paper
            tunes for each data set.
        keep_graph: Weight of stage I's loss in stage II (hvr's addition, 0 in the paper): stage II
            trains the last layer, on which the graph score depends too. Requires stage I.
        lr: Learning rate of stage I.
        lr_local: Learning rate of stage II; the paper uses one rate for both stages.
        schedule: Learning-rate schedule within a stage: `constant`, or `cosine` decay to 0; the
            paper names none.
        batch: Graphs per batch, in whole contrast groups (a plan with its perturbations).
        epochs_graph, epochs_local: Maximum number of epochs of stages I and II (not in the paper).
        patience: Number of epochs without improvement on held-out plans before a stage ends.
        held_out: Fraction of training plans for early stopping and the choice of thresholds.
        use_messages, use_stage_one, use_stage_two, node_features, edge_features: False selects one
            of the paper's ablations (section 4.3).
        device: Training device: `auto`, `cpu` or `cuda`. Inference runs on the CPU.
    """

    encoder: str = "minilm"
    tool_text: Literal["description", "name_and_description"] = "description"
    step_names: Literal["keep", "remove"] = "keep"
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
    negatives: Literal["paper", "more"] = "paper"
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

    def __post_init__(self) -> None:
        for name in (f.name for f in fields(self) if f.type == "int" and f.name != "seed"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1, found {getattr(self, name)}")
        for name in ("dropout", "wrong_tool", "near", "drop", "by_motif", "held_out"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} must be from 0 to 1, found {getattr(self, name)}")
        for name in ("graphs", "budgets", "spans"):
            weights = getattr(self, name)
            if not any(weights) or not all(0 <= weight < math.inf for weight in weights):
                raise UsageError(
                    f"{name} must be finite weights of at least 0, not all 0, found {weights}"
                )
        if min(self.compress_spans, default=0) < 2:
            raise UsageError(
                f"each of compress_spans must be at least 2, found {self.compress_spans}"
            )
        for name in ("tau", "lr", "lr_local", "align_lr"):
            if not 0 < getattr(self, name) < math.inf:
                raise UsageError(f"{name} must be above 0, found {getattr(self, name)}")
        for name in ("margin", "lambda_graph", "lambda_edge", "keep_graph"):
            if not 0 <= getattr(self, name) < math.inf:
                raise UsageError(f"{name} must be 0 or more, found {getattr(self, name)}")

    @classmethod
    def small(cls, **changes: Any) -> VerifierConfig:
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
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    @classmethod
    def from_dict(
        cls, mapping: object, where: str = "the configuration", base: VerifierConfig | None = None
    ) -> VerifierConfig:
        """Create a configuration from JSON values.

        Args:
            where: Description of the source, for error messages.
            base: Configuration that provides missing fields; by default `VerifierConfig()`.

        Raises:
            UsageError: A field is unknown or has a value of the wrong type.
        """
        if not isinstance(mapping, dict):
            raise UsageError(f"{where} must be a table of names and values")
        base = base or cls()
        known = {f.name: getattr(base, f.name) for f in fields(cls)}
        values: dict[str, Any] = {}
        for name, value in mapping.items():
            if name not in known:
                raise UsageError(
                    f"{where}: unknown field {name!r} (fields: {', '.join(sorted(known))})"
                )
            values[name] = _fitting(name, value, known[name], where)
        return replace(base, **values)

    def save(self, path: Path) -> None:
        import yaml

        write_whole(path, yaml.safe_dump(self.to_dict(), sort_keys=False))

    @classmethod
    def load(cls, path: Path, base: VerifierConfig | None = None) -> VerifierConfig:
        """Read a YAML configuration file; `base`, by default `small()`, provides missing fields.

        Raises:
            UsageError: A field is unknown or has a value of the wrong type.
        """
        mapping = read_yaml(path)
        return cls.from_dict({} if mapping is None else mapping, str(path), base or cls.small())


_CHOICES = {
    name: get_args(hint)
    for name, hint in get_type_hints(VerifierConfig).items()
    if get_origin(hint) is Literal
}


def _fitting(name: str, value: Any, default: Any, where: str) -> Any:
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
        try:  # YAML reads 2e-5 as a string
            return float(value)
        except ValueError:
            pass
    raise UsageError(f"{where}: {name} must have the form of {default!r}, found {value!r}")


# Progress -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Epoch:
    """Figures of a pass over the training plans.

    Args:
        stage: Stage of a network's training: `alignment`, `graph` (stage I) or `local` (stage II);
            or `judge`, whose epochs are simulated drafts.
        number: Number of the epoch within the stage.
        of: Maximum number of epochs in the stage.
        validation: Criterion for early stopping (higher is better); None if it is the loss.
    """

    stage: str
    number: int
    of: int
    loss: float
    validation: float | None = None


ProgressCallback = Callable[[Epoch], None]
"""Function to call after each epoch."""


def no_progress(_: Epoch) -> None: ...
