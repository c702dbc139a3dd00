"""Measure prompt lengths by task and purpose, for a context of 4,096 tokens.

    python benchmarks/prompt_sizes.py
    python benchmarks/prompt_sizes.py --tokenizer microsoft/Phi-3-mini-4k-instruct
    python benchmarks/prompt_sizes.py --settings HVR,HVR+,VR,HV
    python benchmarks/prompt_sizes.py --tasks T1-T9 --settings HVR+,LLM,LLM+P --structured

The prompts come from a run in the scene of each task's ground truth; a SIMULATED model with errors
answers them, so that corrections occur. Recall is the share of the ground truth's objects and their
locations that the prompts mention. It is measured with the simulated model's pick, which follows
the ground truth except for its errors, and with a model that picks nothing. Token counts are the
upper estimate of `hvr.models.model` (docs/how-to/models.md), or come from a local tokenizer. Each
prompt includes room for the longest possible answer. With `--structured`, a table compares the mean
prompt of each purpose with the prompt for answers in JSON and its schema.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import TASKS_HELP, measured, tasks_of

from hvr.execution.world import open_world
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.retrieval.embedders import make_embedder
from hvr.knowledge.world_file import load_world
from hvr.models.model import Answer, Layer, Message, Model, Request, count_tokens
from hvr.planning.search.planners import FastDownward
from hvr.policies.goal.policy import GoalPolicy
from hvr.policies.llm.dialogue import MAX_TOKENS, MIN_CONTEXT
from hvr.policies.llm.policy import LLMPolicy
from hvr.policies.llm.prompts import NAMES, load_prompts
from hvr.policies.llm.settings import is_goal, settings_named
from hvr.policies.llm.writing import Equipment
from hvr.runs.simulated import make_scripted
from hvr.runs.tasks import PaperTask, load_task
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.scenes import load_scene

_OBJECT = re.compile(r"^([a-z]\w*-\d+) \(", re.MULTILINE)
Count = Callable[[Sequence[Message]], int]


@dataclass(frozen=True)
class Sent:
    """Numbers of tokens in a request: in its messages, and in its schema (0 if it has none)."""

    purpose: str
    prompt: int
    schema: int


class Measured(Layer):
    """A model layer that records prompt lengths; `count` counts the tokens of a conversation."""

    def __init__(self, model: Model, count: Count) -> None:
        super().__init__(model)
        self.count = count
        self.longest: dict[str, int] = {}
        self.sent: list[Sent] = []
        self.told: set[str] = set()

    def answer(self, request: Request) -> Answer:
        prompt = self.count(request.messages)
        written = json.dumps(request.schema, separators=(",", ":")) if request.schema else ""
        schema = self.count([Message("user", written)]) if written else 0
        self.sent.append(Sent(request.purpose, prompt, schema))
        tokens = prompt + MAX_TOKENS[request.purpose]
        listed = request.messages[-1].text.partition("Task:")[0]
        self.told |= set(_OBJECT.findall(listed))
        self.longest[request.purpose] = max(tokens, self.longest.get(request.purpose, 0))
        return self._model.answer(request)


class Silent(Layer):
    """A model layer that picks no objects."""

    def answer(self, request: Request) -> Answer:
        if request.purpose == "select":
            return Answer(text="none")
        return self._model.answer(request)


@dataclass(frozen=True)
class Sizes:
    """Measurements of one run.

    Args:
        longest: Maximum number of tokens in prompt and answer, by purpose.
        missing: Ground-truth objects that no prompt mentions.
        touched: All objects of the ground truth.
        sent: All requests, in order.
    """

    longest: dict[str, int]
    missing: frozenset[str]
    touched: frozenset[str]
    sent: tuple[Sent, ...]

    @property
    def recall(self) -> str:
        """The share of mentioned objects in per cent, and the missing objects."""
        share = 100 * (1 - len(self.missing) / len(self.touched))
        return f"{share:.0f}" + (f" ({', '.join(sorted(self.missing))})" if self.missing else "")


def measure(
    task: PaperTask, setting: str, error: float, count: Count, *, picks: bool = True
) -> Sizes:
    scene = task.ground_truth.scene
    scripted = make_scripted(f"scripted:error={error}", task, load_scene(scene), 1)
    model = Measured(scripted if picks else Silent(scripted), count)
    world = open_world(Kitchen(load_scene(scene), 0))
    settings = settings_named(setting)
    equipment = Equipment(
        ontology=load_ontology(),
        domain=load_world().agent.domain(),
        model=model,
        settings=settings,
        embedder=make_embedder("lexical"),
        planner=FastDownward(),
        prompts=load_prompts(structured=settings.structured),
    )
    inventory = world.inventory()
    policy = GoalPolicy if is_goal(setting) else LLMPolicy
    policy(equipment).write(task.goal_oriented, world.graph, inventory)
    touched = {name for step in task.ground_truth.steps for name in step.args}
    movable = {name for name in touched if inventory.true("pickupable", name)}
    touched |= {inventory.parents[name] for name in movable if name in inventory.parents}
    told, sent = frozenset(touched - model.told), tuple(model.sent)
    return Sizes(model.longest, told, frozenset(touched), sent)


def main() -> int:
    """Print a table for each setting; the exit code is 1 if a prompt with R does not fit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--settings", default="HVR,HVR+,VR,HV,LLM+P")
    parser.add_argument("--tasks", "--data", default="all", help=TASKS_HELP)
    parser.add_argument("--error", type=float, default=0.3)
    parser.add_argument("--structured", action="store_true", help="compare with answers in JSON")
    parser.add_argument("--tokenizer", help="name or folder of a Hugging Face tokenizer")
    chosen = parser.parse_args()
    tasks = [load_task(name) for name in tasks_of(chosen.tasks)]
    count = _tokenizer(chosen.tokenizer) if chosen.tokenizer else count_tokens
    how = f"tokenizer {chosen.tokenizer}" if chosen.tokenizer else "estimate of hvr.models.model"
    print(f"{conditions(1)} · {how} · SIMULATED model, error {chosen.error}\n")
    if chosen.structured:
        return _beside(tasks, chosen.settings.split(","), chosen.error, count)
    fits = True
    for setting in chosen.settings.split(","):
        purposes = list(NAMES)
        print(f"### {setting}: longest prompt + longest answer, tokens\n")
        last = f" | within {MIN_CONTEXT} | recall | recall if the model picks nothing |"
        print("| task | " + " | ".join(purposes) + last)
        print("| --- |" + " --- |" * (len(purposes) + 3))
        for task in tasks:
            sizes = measure(task, setting, chosen.error, count)
            good = max(sizes.longest.values()) <= MIN_CONTEXT
            fits = fits and (good or not settings_named(setting).retrieval)
            cells = [str(sizes.longest.get(p, "–")) for p in purposes]
            # A goal prompt mentions whole kinds, so nothing is picked.
            recalls = ["–", "–"]
            if not is_goal(setting):
                alone = measure(task, setting, 0.0, count, picks=False)
                recalls = [sizes.recall, alone.recall]
            cells += ["yes" if good else "NO", *recalls]
            print(f"| {task.id} | " + " | ".join(cells) + " |", flush=True)
        print()
    return 0 if fits else 1


def _beside(tasks: Sequence[PaperTask], settings: Sequence[str], error: float, count: Count) -> int:
    """Print the mean tokens of prompts for answers in plain text and in JSON."""
    print("| setting | purpose | prompts | tokens | prompts for JSON | tokens | schema |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for setting in settings:
        plain, structured = (
            [part for task in tasks for part in measure(task, name, error, count).sent]
            for name in (setting, f"{setting}+structured")
        )
        for purpose in (*NAMES, "all"):
            sides = [
                [p for p in sent if purpose in (p.purpose, "all")] for sent in (plain, structured)
            ]
            if not all(sides):
                continue
            free, by_schema = sides
            cells = (
                f"{len(free)}",
                f"{fmean(p.prompt for p in free):,.0f}",
                f"{len(by_schema)}",
                f"{fmean(p.prompt for p in by_schema):,.0f}",
                f"{fmean(p.schema for p in by_schema):,.0f}",
            )
            print(f"| `{setting}` | {purpose} | {' | '.join(cells)} |", flush=True)
    return 0


def _tokenizer(name: str) -> Count:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(name)

    def count(messages: Sequence[Message]) -> int:
        turns = [{"role": m.role, "content": m.text} for m in messages]
        return len(tokenizer.apply_chat_template(turns, add_generation_prompt=True))

    return count


if __name__ == "__main__":
    sys.exit(measured(main))
