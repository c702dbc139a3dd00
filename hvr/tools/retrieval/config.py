"""Settings of a retriever, with GNN4Plan's values as defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from hvr.errors import UsageError

Layer = Literal["none", "sgc", "gcn", "gat", "sage", "gin", "transformer"]
LAYERS: tuple[Layer, ...] = get_args(Layer)
"""`none`: tools are their texts alone; `sgc`: one trained number, see `Propagation`."""


@dataclass(frozen=True)
class RetrieverConfig:
    """How tools are scored for steps, and how that is learnt.

    The defaults are those of GNN4Plan (sections 4.3, E.1 and F.1), except for the encoder, whose
    e5-large is `encoder="st:intfloat/e5-large"`. `own` is what hvr found better.

    Args:
        encoder: of texts, see `hvr.retrieval.text_vectors`.
        layer: kind of graph layer over the tools.
        layers: how many.
        hidden: width between two layers; the last one has the width of the texts' vectors.
        dropout: share of values dropped, between layers and in `context`.
        types: encode what tools take and give as well.
        loss: `bpr`, of pairs with `negatives` others; `softmax`, over all tools.
        negatives: per step and epoch, with `bpr`.
        near: with probability a half a negative is one of so many tools with the most similar
            text, else any tool.
        scale: what inner products are multiplied by. GNN4Plan takes e5's vectors as they are,
            which are long; with vectors of length 1, as here, differences of scores would be
            too small for either loss.
        context: score with the request and the steps before and after as well, through a
            learnt map of their vectors; else the step's vector is compared as it is.
        free: learn a vector per tool besides its text. Such a model knows no other tools.
        unnamed: share of plans whose steps lose the tool's name in an epoch.
        tune_encoder: train the encoder along (LM co-trained); needs `minilm` or `st:NAME`.
        epochs: at most.
        patience: epochs without improvement on the held-out part before the end.
        batch: steps in one update.
        lr: Adam's learning rate.
        encoder_lr: the same for a trained encoder.
        weight_decay: Adam's (decoupled).
        held_out: share of the training plans that decides when to stop.
        refit: train again on all plans for the number of epochs that was best.
        seed: of all that is random.
    """

    encoder: str = "minilm"
    layer: Layer = "sage"
    layers: int = 1
    hidden: int = 1024
    dropout: float = 0.0
    types: bool = False
    loss: Literal["bpr", "softmax"] = "bpr"
    negatives: int = 2
    near: int = 5
    scale: float = 20.0
    context: bool = False
    free: bool = False
    unnamed: float = 0.0
    tune_encoder: bool = False
    epochs: int = 20
    patience: int = 5
    batch: int = 512
    lr: float = 1e-3
    encoder_lr: float = 2e-5
    weight_decay: float = 0.0
    held_out: float = 0.1
    refit: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.layer not in LAYERS:
            raise UsageError(f"unknown layer {self.layer!r} (layers: {', '.join(LAYERS)})")
        if self.loss not in ("bpr", "softmax"):
            raise UsageError(f"unknown loss {self.loss!r} (losses: bpr, softmax)")
        for name in ("layers", "hidden", "negatives", "epochs", "patience", "batch"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}: give at least 1")
        if not self.scale > 0:
            raise UsageError(f"scale is {self.scale}: give a number above 0")
        for name in ("dropout", "unnamed", "held_out"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} is {getattr(self, name)}: give a number from 0 to 1")


def paper(layer: Layer = "sage", seed: int = 0) -> RetrieverConfig:
    """GNN4Plan's settings, LM frozen."""
    return RetrieverConfig(layer=layer, seed=seed)


def own(layer: Layer = "sage", seed: int = 0) -> RetrieverConfig:
    """Return hvr's settings: request and neighbouring steps are read too, and all tools compete."""
    return RetrieverConfig(
        layer=layer,
        loss="softmax",
        dropout=0.3,
        hidden=512,
        context=True,
        free=True,
        unnamed=0.5,
        epochs=40,
        batch=256,
        weight_decay=1e-2,
        refit=True,
        seed=seed,
    )
