"""Train a tiny random model for a few steps with TRL's GRPO trainer and hvr's reward.

    pip install . trl    # in a checkout: hvr has no release on the package index yet
    python train_grpo.py --steps 20

The model has some thousand weights and three steps to choose from: this shows how the pieces fit.
Take a model of your own with --model.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

DOMAIN = """(define (domain lamps) (:predicates (lit ?l))
 (:action on :parameters (?l) :precondition (not (lit ?l)) :effect (lit ?l)))"""
PROBLEM = """(define (problem two) (:domain lamps) (:objects a b) (:init)
 (:goal (and (lit a) (lit b))))"""


def tiny() -> tuple[Any, Any]:
    """Return a random model whose words are steps of plans, with its tokenizer."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    words = ["<pad>", "<end>", "light", "both", "lamps", "(on a)", "(on b)", "(on c)"]
    table = {word: number for number, word in enumerate(words)}
    raw = Tokenizer(models.WordLevel(table, unk_token="<pad>"))
    raw.pre_tokenizer = pre_tokenizers.Split(Regex(r"\([^)]*\)|\w+"), "removed", invert=True)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<pad>", eos_token="<end>", unk_token="<pad>"
    )
    config = GPT2Config(
        vocab_size=len(words), n_positions=32, n_embd=16, n_layer=1, n_head=2,
        bos_token_id=1, eos_token_id=1, pad_token_id=0,
    )  # fmt: skip
    return GPT2LMHeadModel(config), tokenizer


def main() -> None:
    """Train and print the mean rewards."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--model", help="a model of transformers (default: a tiny random one)")
    options = parser.parse_args()

    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    from hvr import rewards

    model, tokenizer = tiny() if options.model is None else (options.model, None)
    rows = [{"prompt": "light both lamps", "domain": DOMAIN, "problem": PROBLEM, "best": 2}] * 64
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=model,
            processing_class=tokenizer,
            reward_funcs=rewards.trl_reward(),
            train_dataset=Dataset.from_list(rows),
            args=GRPOConfig(
                output_dir=str(Path(folder)), max_steps=options.steps, num_generations=16,
                per_device_train_batch_size=16, max_completion_length=4, learning_rate=0.01,
                use_cpu=True, report_to=[], logging_steps=1, save_strategy="no", seed=0,
            ),
        )  # fmt: skip
        trainer.train()
        for entry in trainer.state.log_history:
            if "reward" in entry:
                print(f"step {entry['step']}: mean reward {entry['reward']:.3f}")


if __name__ == "__main__":
    main()
