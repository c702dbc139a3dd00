"""The simulated language model, which answers the prompts of the pipeline."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from random import Random

from hvr.errors import UsageError
from hvr.knowledge.wording import load_wording
from hvr.models.config import ModelOptions
from hvr.models.errors import ModelError
from hvr.models.model import Answer, Request, Usage, count_tokens, estimate_tokens
from hvr.models.replies import checked
from hvr.pddl import GroundAction
from hvr.runs.simulated.answers import (
    GOAL_PURPOSES,
    Chatty,
    Plain,
    as_json,
    goal_answer,
    steps_sentence,
)
from hvr.runs.simulated.prompt import ParsedPrompt, PromptObjects, class_of, read_prompt
from hvr.runs.simulated.script import Script, scene_name, script_of, script_of_problem
from hvr.runs.simulated.step_errors import (
    CHOICE_KINDS,
    MACRO_KINDS,
    ConditionErrors,
    ErrorModel,
    Sides,
    StepErrors,
    Steps,
    Streams,
    adapted,
    failed_step,
    helpful_steps,
    known_literals,
    literals,
    read_corrected_conditions,
    read_spec,
    reported_problems,
    undo_conditions,
    undo_step_error,
)
from hvr.runs.tasks import PaperTask, load_task
from hvr.worlds.scenes import Scene

_LITERAL = re.compile(r"\((?:not \()?[^()]+\)?\)")
_REPEATS = 0.5
"""Probability that the model repeats its answer if the feedback does not help."""


class Scripted:
    """A simulated planner; see `hvr.runs.simulated` for its assumptions."""

    simulated = True

    def __init__(self, script: Script, errors: ErrorModel | None = None, seed: int = 0) -> None:
        self.script = script
        self.errors = errors or ErrorModel()
        self.seed = seed
        self._meant = frozenset(
            [name for action in script.steps for name in action.args]
            + [
                name
                for block in script.blocks
                for x in literals((*block.macro.precondition, *block.macro.postcondition))
                for name in x.args
            ]
        )

    @property
    def name(self) -> str:
        """The model's name with its parameters: `scripted(error=0.3, improve=0.7, seed=1)`."""
        return f"scripted({self.errors}, seed={self.seed})"

    def answer(self, request: Request) -> Answer:
        """Answer a prompt of the pipeline; `request.purpose` names the prompt's template.

        Token counts are estimates, and the cost is unknown.

        Raises:
            ModelError: The prompt does not belong to the pipeline, or the answer does not follow
                the schema.
        """
        if request.purpose in GOAL_PURPOSES:
            text = goal_answer(self.script, self.errors, request, self._streams(request))
            return checked(self._answer(request, text), request)
        prompt, streams = read_prompt(request), self._streams(request)
        objects = PromptObjects(prompt.listed, self._meant, prompt.mentioned)
        chatty = streams("chatty").random() < self.errors.chatty and request.schema is None
        form = Chatty(streams("layout")) if chatty else Plain()
        match request.purpose:
            case "select":
                text = form.classes(self._classes(prompt, streams))
            case "macro_plan":
                text = form.macros(self._macros(streams))
            case "conditions" | "correct_conditions":
                text = self._conditions(prompt, objects, streams, form)
            case "block" | "plan":
                whole = request.purpose == "plan"
                steps = self._planned(objects, streams) if whole else self._block(prompt, objects)
                steps = self._errors_in(objects).corrupt(steps, streams)
                text = form.actions(steps, self._description(request.purpose, steps))
            case "blocks":
                names = prompt.macros("Macro actions")
                written = [self._block_of(name, objects) for name in names]
                text = form.blocks(names, self._with_errors(written, objects, streams))
            case "correct_block" | "correct_plan":
                text = form.actions(self._corrected(request.purpose, prompt, objects, streams))
            case _:
                raise ModelError(
                    f"the simulated model does not know the prompt {request.purpose!r}; it only "
                    "answers prompts in hvr/policies/llm/prompts",
                    kind="request",
                )
        if request.schema is not None:
            text = as_json(request.purpose, text, request.schema)
            return checked(self._answer(request, text), request)
        return self._answer(request, text)

    def _answer(self, request: Request, text: str) -> Answer:
        prompt_tokens, output = count_tokens(request.messages), estimate_tokens(text)
        usage = Usage(input=prompt_tokens, output=output, cached=0, reasoning=0, cost=None)
        return Answer(text=text, model=self.name, usage=usage)

    def _streams(self, request: Request) -> Streams:
        """Return random streams that depend only on the prompt and the seed."""
        parts = [request.purpose, repr(request.temperature), repr(request.seed)]
        parts += [part for m in request.messages for part in (m.role, m.text)]
        prompt = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()

        def stream(label: str) -> Random:
            digest = hashlib.sha256(f"{self.seed}\0{prompt}\0{label}".encode()).digest()
            return Random(int.from_bytes(digest, "big"))

        return stream

    # Atomic actions -----------------------------------------------------------------------

    def _planned(self, objects: PromptObjects, streams: Streams) -> Steps:
        blocks = [self.script.find(name) for name in self._macros(streams)]
        return _named([a for block in blocks if block for a in block.actions], objects)

    def _block(self, prompt: ParsedPrompt, objects: PromptObjects) -> Steps:
        # A macro action outside the ground truth gets the steps that establish its postcondition.
        name = prompt["Macro action"]
        if self.script.find(name) is None and self.script.kinds:
            wanted = literals(_LITERAL.findall(prompt.sections.get("At the end", "")))
            ways = [self.script.providers.get(str(literal), ()) for literal in wanted]
            return _named([way[-1][-1] for way in ways if way], objects)
        return self._block_of(name, objects)

    def _block_of(self, name: str, objects: PromptObjects) -> Steps:
        block = self.script.find(name)
        return _named(block.actions if block else (), objects)

    def _with_errors(
        self, blocks: Sequence[Steps], objects: PromptObjects, streams: Streams
    ) -> list[Steps]:
        written = []
        for number, steps in enumerate(blocks):
            before = sum(map(len, blocks[:number]))

            def stream(label: str, number: int = number) -> Random:
                return streams(f"block {number} {label}")

            errors = self._errors_in(objects)
            written.append(errors.corrupt(steps, stream, before=before))
        return written

    def _corrected(
        self, purpose: str, prompt: ParsedPrompt, objects: PromptObjects, streams: Streams
    ) -> Steps:
        written = prompt.written
        rng = streams("feedback")
        if rng.random() < self.errors.improve:
            whole = purpose == "correct_plan"
            true = _named(self.script.steps, objects) if whole else self._block(prompt, objects)
            problem = prompt["Problem"]
            helpful = _named(helpful_steps(problem, self.script.providers), objects)
            repaired = undo_step_error(written, true, problem, objects, helpful)
            failed = failed_step(problem)
            if repaired == written and failed is not None:
                held = [o.name for o in prompt.listed if o.held]
                way = adapted(written, failed, problem, self.script.providers, held)
                # If no step establishes the condition, use the true block as the last resort.
                repaired = true if way is None else _named(way, objects)
            return self._errors_in(objects).corrupt(repaired, streams, self.errors.slip)
        if rng.random() < _REPEATS:
            return written
        return self._errors_in(objects).one_more(written, rng)

    def _errors_in(self, objects: PromptObjects) -> StepErrors:
        return StepErrors(self.errors, objects, walks=not self.script.kinds)

    def _description(self, purpose: str, steps: Steps) -> str:
        if purpose == "block":
            return steps_sentence(steps)
        names = [block.macro.name for block in self.script.blocks]
        return f"{'. '.join(names)}."

    # Conditions -----------------------------------------------------------------------------

    def _conditions(
        self, prompt: ParsedPrompt, objects: PromptObjects, streams: Streams, form: Plain
    ) -> str:
        label = "Macro actions"
        correct = "Macro actions and their conditions" in prompt.sections
        if correct:
            label = "Macro actions and their conditions"
        names = prompt.macros(label)
        true = tuple(self._true_conditions(name, objects) for name in names)
        errors = ConditionErrors(self.errors, objects)
        if not correct:
            return form.conditions(names, errors.corrupt(true, streams))
        written = read_corrected_conditions(prompt[label], len(names))
        for number, problem in enumerate(reported_problems(prompt["Problem"])):
            rng = streams(f"feedback {number}")
            if rng.random() < self.errors.improve:
                written = undo_conditions(written, true, problem)
            elif rng.random() >= _REPEATS:
                written = errors.one_more(written, rng)
        return form.conditions(names, written)

    def _true_conditions(self, name: str, objects: PromptObjects) -> Sides:
        block = self.script.find(name)
        if block is None:
            return (), ()
        named = frozenset(n for action in self.script.steps for n in action.args)
        before, after = literals(block.macro.precondition), literals(block.macro.postcondition)
        return known_literals(before, named, objects), known_literals(after, named, objects)

    # Macro actions and classes ----------------------------------------------------------------

    def _macros(self, streams: Streams) -> tuple[str, ...]:
        names = [block.macro.name for block in self.script.blocks]
        kinds: dict[int, str] = {}
        for number in range(len(names)):
            rng = streams(f"macro {number}")
            wrong = rng.random() < self.errors.error * self.errors.macros
            possible = MACRO_KINDS if number + 1 < len(names) else MACRO_KINDS[1:]
            kind = self.errors.kind(possible, rng)
            if wrong and kind is not None:
                kinds[number] = kind
        written = [
            [] if kinds.get(n) == "macro_dropped" else [name] for n, name in enumerate(names)
        ]
        for number, kind in sorted(kinds.items()):
            if kind == "macro_swapped":
                written[number : number + 2] = written[number : number + 2][::-1]
        return tuple(name for part in written for name in part) or (names[0],)

    def _classes(self, prompt: ParsedPrompt, streams: Streams) -> tuple[str, ...]:
        block = self.script.find(prompt.macro) if prompt.macro else None
        steps = block.actions if block else self.script.steps
        listed = {kind.lower(): kind for kind in prompt.kinds}
        needed = [
            self.script.kinds.get(name) or _listed_class(name, listed)
            for action in steps
            for name in action.args
        ]
        true = [kind for kind in dict.fromkeys(needed) if kind]
        spare = [kind for kind in prompt.kinds if kind not in true]
        chosen: list[str] = []
        for kind in true:
            rng = streams(f"class {kind}")
            wrong = rng.random() < self.errors.error * self.errors.choices
            error = self.errors.kind(CHOICE_KINDS if spare else CHOICE_KINDS[:1], rng)
            if not (wrong and error == "class_dropped"):
                chosen.append(kind)
            if wrong and error == "class_surplus":
                chosen.append(rng.choice(spare))
        return tuple(dict.fromkeys(chosen))


def make_scripted(spec: str, task: PaperTask, scene: str | Scene, seed: int) -> Scripted:
    """Return the simulated model for a task.

    Args:
        spec: `scripted`, optionally with parameters as in `scripted:error=0.3,improve=0.7`: fields
            of `ErrorModel`, and `seed`, which overrides the argument.

    Raises:
        UsageError: A parameter is invalid, or the task's ground truth belongs to another scene.
    """
    errors, own_seed = read_spec(spec)
    script = script_of(task, scene_name(scene))
    return Scripted(script, errors, seed if own_seed is None else own_seed)


def open_scripted(parameters: str, options: ModelOptions) -> Scripted:
    """Return the simulated model for the task and scene, or the PDDL problem, in the options.

    Raises:
        UsageError: The options have neither, or a parameter is invalid.
    """
    about = options.about
    if "pddl" in about:
        errors, own_seed = read_spec(f"scripted:{parameters}" if parameters else "scripted")
        script = script_of_problem(about["pddl"]["domain"], about["pddl"]["problem"])
        return Scripted(script, errors, int(about["seed"]) if own_seed is None else own_seed)
    if about.get("task") is None:
        raise UsageError(
            "a scripted model answers from the ground truth of a task such as T2, or from a PDDL "
            "problem (hvr solve): name one",
            field="task",
        )
    spec = f"scripted:{parameters}" if parameters else "scripted"
    task = load_task(str(about["task"]))
    return make_scripted(spec, task, str(about["scene"]), int(about["seed"]))


def _named(steps: Iterable[GroundAction], objects: PromptObjects) -> Steps:
    return tuple(GroundAction(a.name, objects.names_of(a.args)) for a in steps)


def _listed_class(name: str, listed: dict[str, str]) -> str | None:
    kind = class_of(name)
    whole = load_wording().wholes.get(kind, kind)
    return listed.get(kind) or listed.get(whole)
