"""The `scripted` model: a simulated planner for tests and studies. It is not a language model.

It answers the prompts of the HVR pipeline in the text formats of a language model and makes errors
at set rates. It knows only the prompt and the ground truth of a task. Its results measure the
pipeline under the assumptions below and say nothing about any language model: `Model.simulated` is
true, and its name begins with `scripted`.

Assumptions:

* Each step of a block, each literal of a condition, each macro action and each selected class is
  corrupted independently, with probability `error` times the factor of its category (`steps`,
  `conditions`, `macros`, `choices`). The kind of error is drawn by the weights of `ErrorModel`
  among the applicable kinds. Longer answers have more errors only because they have more steps.
* A confused model picks one of the n + 1 listed candidates, including the right one: objects of the
  same class if another one is listed, or else of any class that fits the argument according to the
  `Objects:` lines. Objects missing from the prompt therefore cannot be confused, and an error of
  this kind has no effect with probability 1 / (n + 1). This is how retrieval helps.
* The model does not know the name of a ground-truth object that no `Objects:` line mentions. It
  writes another listed object of its class, or number 1 of the class if none is listed (`knife-1`).
  It states no condition about a place that neither an action nor a line mentions.
* When asked for a correction, it undoes, with probability `improve`, one of its errors at or before
  the failed step: preferably a missing step that establishes the required condition, otherwise the
  earliest error; or all errors if the final state is wrong. Otherwise it repeats itself or makes
  one more error, with equal probability. For conditions it does so for each reported macro action.
  It never corrects the choice and order of macro actions.
* If an earlier block missed the ground truth's state, the model continues as if nothing had
  happened. Only feedback changes its answer: if told of a condition that its block never
  establishes, it adds, with probability `improve`, the ground truth's steps that establish it.
* Without H it writes the whole plan. It then drops or swaps the steps of macro actions as often as
  it drops or swaps macro actions with H, and errs as often per step as with H. With `length` set,
  late steps of an answer are wrong more often. With `slip` set, it also makes new errors in steps
  that it rewrites during corrections; 1 means as often as at first.
* When asked for a goal (`LLM+P`), it writes the task's goal as JSON, with errors as in conditions:
  a literal is missing, has the opposite sign, concerns another kind, or has an unknown predicate.
  When asked for a correction, it writes the goal without these errors with probability `improve`,
  and otherwise repeats itself. It is assumed to understand the request.
* Macro actions are recognised by their sentences, which name classes. A macro action outside the
  ground truth gets an empty block and no conditions.
* For a PDDL problem (`hvr solve --llm scripted`) the ground truth is a plan of hvr's planner, split
  into macro actions at its landmarks. There, a macro action outside the ground truth gets the
  ground truth's steps that establish its postcondition; moves are not separate steps.

The answer to a prompt is a function of the seed, the error model, and the request's purpose,
messages, temperature and seed; it is the same in every process. All draws use common random
numbers, so that different error rates and weights compare the same streams. `max_tokens` and `stop`
are ignored. Token counts are the estimates of `hvr.models.model`. The cost is unknown, since there
is no price.
"""

from hvr.runs.simulated.model import Scripted, make_scripted, open_scripted
from hvr.runs.simulated.script import Script, script_of
from hvr.runs.simulated.step_errors import ErrorModel

__all__ = ["ErrorModel", "Script", "Scripted", "make_scripted", "open_scripted", "script_of"]
