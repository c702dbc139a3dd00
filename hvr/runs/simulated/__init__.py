"""The `scripted` model: a simulated planner for tests and studies. It is no language model.

It answers the prompts of the HVR pipeline in the text formats of a language model, from the
ground truth of a task, and makes errors at set rates. What it knows is what a prompt says and
the ground truth. What comes of it measures the pipeline under the assumptions below and nothing
about any language model; `Model.simulated` is true, and its name begins with `scripted`.

What is assumed:

* Each step of a block, each literal of a condition, each macro action and each chosen class is
  corrupted independently with probability `error` times the share of its sort (`steps`,
  `conditions`, `macros`, `choices`); the kind of error is drawn by the weights of
  `ErrorModel` among the kinds that are possible there. Longer answers have more errors only
  because they have more steps.
* A confused model picks one of the n + 1 listed objects that could be meant, the right one
  included: of the same class if another one is listed, else of a class that could be that
  argument as the `Objects:` lines tell. So what a prompt does not list cannot be confused, and
  an error of this kind changes nothing with probability 1 / (n + 1). This is how retrieval helps.
* An object of the ground truth that no `Objects:` line names, its own or another one's, is not
  known by name: the model writes another listed object of its class, and number 1 of the class
  when none is listed (`knife-1`). It states no condition about a place that neither an action
  nor a line names.
* Asked to correct, it undoes, with probability `improve`, one of its errors at or before the step
  that failed: that by which a step is missing that brings about what is asked for, else the
  earliest; all of them when something is missing at the end. Else it repeats itself or makes one
  more error, each half the time. Of conditions it does so for each macro action that it is told
  of. Which macro actions there are, and in which order, it never corrects.
* When an earlier block came to another end than the ground truth's, it goes on as if nothing had
  happened, and only feedback can change what it writes: told of a condition that its block
  never sees to, it adds, with probability `improve`, the steps that bring it about in the ground
  truth.
* Without H it is asked for the whole plan. It leaves out the steps of a macro action, or has those
  of two in the wrong order, as often as it does so with the macro actions with H, and errs as
  often for each step as with H, unless `length` is set: then steps late in an answer are wrong
  more often, wherever they stand. With `slip` set it also errs anew in steps that it writes again
  when it corrects: with 1 as often as at first.
* Asked for a goal (`LLM+P`), it writes that of the task as JSON, and errs in its literals as in
  those of conditions: one is missing, has the other sign, is about another kind, or has a predicate
  that does not exist. Asked to correct, it writes the goal anew with probability `improve`,
  without those errors; else it writes the same again. That it understands the request is assumed.
* Macro actions are told apart by their sentences, which name classes. A macro action that the
  ground truth does not have gets an empty block and no conditions.
* For a PDDL problem (`hvr solve --llm scripted`) the ground truth is a plan of hvr's planner, cut
  into macro actions at its landmarks. There, a macro action that it does not have gets the steps
  that bring about in the ground truth what is wanted at its end; going somewhere is no step of
  its own.

The answer to a prompt is a function of the seed, the error model and the request's purpose,
messages, temperature and seed, the same in every process. All draws are common random numbers:
another `error` or weight compares the same streams. `max_tokens` and `stop` are not
applied. Tokens are counted by the estimate of `hvr.models.model`: they are estimates. There is no
price, so the cost is not known.
"""

from hvr.runs.simulated.error_model import ErrorModel
from hvr.runs.simulated.model import Scripted, make_scripted, open_scripted
from hvr.runs.simulated.script import Script, script_of

__all__ = ["ErrorModel", "Script", "Scripted", "make_scripted", "open_scripted", "script_of"]
