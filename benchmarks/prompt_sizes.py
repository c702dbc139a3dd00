"""How long the prompts are, by task and purpose: do they fit a context of 4,096 tokens?

    python benchmarks/prompt_sizes.py
    python benchmarks/prompt_sizes.py --tokenizer microsoft/Phi-3-mini-4k-instruct
    python benchmarks/prompt_sizes.py --settings HVR,HVR+,VR,HV

The prompts are those of a run in the scene of each task's ground truth; a SIMULATED model with
errors answers them, so that corrections occur. Tokens are estimated from above by
`hvr.llm.tokens` (docs/models.md), or counted by a tokenizer that is on this machine. To each
prompt the longest answer that is allowed is added.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions

from hvr.agents import DEFAULT_AGENT, load_agent
from hvr.envs.kitchen import Kitchen
from hvr.envs.scenes import load_scene
from hvr.execution.world import open_world
from hvr.knowledge.ontology import load_ontology
from hvr.llm.layer import Layer
from hvr.llm.model import Answer, Message, Model, Request
from hvr.llm.tokens import count_tokens
from hvr.policies.llm.policy import LLMPolicy
from hvr.policies.llm.prompts import NAMES, load_prompts
from hvr.policies.llm.settings import named
from hvr.policies.llm.writing import Equipment
from hvr.retrieval.embedders import make_embedder
from hvr.scripted import make_scripted
from hvr.search.planners import FastDownward
from hvr.tasks import PaperTask, load_task, task_ids

CONTEXT = 4096
Count = Callable[[Sequence[Message]], int]


class Measured(Layer):
    """A model whose prompts are measured.

    Args:
        model: who answers.
        count: tokens of a conversation.
    """

    def __init__(self, model: Model, count: Count) -> None:
        super().__init__(model)
        self.count = count
        self.longest: dict[str, int] = {}

    def answer(self, request: Request) -> Answer:
        """See `Model`."""
        tokens = self.count(request.messages) + request.max_tokens
        self.longest[request.purpose] = max(tokens, self.longest.get(request.purpose, 0))
        return self._model.answer(request)


def measure(task: PaperTask, setting: str, error: float, count: Count) -> dict[str, int]:
    """The longest prompt and answer of each purpose in one run."""
    scene = task.ground_truth.scene
    model = Measured(make_scripted(f"scripted:error={error}", task, load_scene(scene), 1), count)
    world = open_world(Kitchen(load_scene(scene), 0))
    equipment = Equipment(
        ontology=load_ontology(),
        domain=load_agent(DEFAULT_AGENT).domain(),
        model=model,
        settings=named(setting),
        embedder=make_embedder("lexical"),
        planner=FastDownward(),
        prompts=load_prompts(),
    )
    LLMPolicy(equipment).write(task.goal_oriented, world.graph, world.inventory())
    return model.longest


def main() -> int:
    """Print a table for each setting; exit code 1 when a prompt with R does not fit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--settings", default="HVR,HVR+,VR,HV")
    parser.add_argument("--error", type=float, default=0.3)
    parser.add_argument("--tokenizer", help="name or folder of a Hugging Face tokenizer")
    chosen = parser.parse_args()
    count = _tokenizer(chosen.tokenizer) if chosen.tokenizer else count_tokens
    how = f"tokenizer {chosen.tokenizer}" if chosen.tokenizer else "estimate of hvr.llm.tokens"
    print(f"{conditions(1)} · {how} · SIMULATED model, error {chosen.error}\n")
    fits = True
    for setting in chosen.settings.split(","):
        purposes = list(NAMES)
        print(f"### {setting}: longest prompt + longest answer, tokens\n")
        print("| task | " + " | ".join(purposes) + f" | within {CONTEXT} |")
        print("| --- |" + " --- |" * (len(purposes) + 1))
        for task_id in task_ids():
            longest = measure(load_task(task_id), setting, chosen.error, count)
            good = max(longest.values()) <= CONTEXT
            fits = fits and (good or not named(setting).retrieval)
            cells = [str(longest.get(p, "–")) for p in purposes]
            print(f"| {task_id} | " + " | ".join(cells) + f" | {'yes' if good else 'NO'} |")
        print()
    return 0 if fits else 1


def _tokenizer(name: str) -> Count:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(name)

    def count(messages: Sequence[Message]) -> int:
        turns = [{"role": m.role, "content": m.text} for m in messages]
        return len(tokenizer.apply_chat_template(turns, add_generation_prompt=True))

    return count


if __name__ == "__main__":
    sys.exit(main())
