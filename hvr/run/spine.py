"""The spine: open, understand, plan, validate, execute and watch, judge, save.

Planning and validation are the executor's: it asks the policy for a plan of each stage, and for
another one when the world turns out otherwise.
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

from hvr.envs.scenes import scenes_with
from hvr.errors import DataFileError, ImpossibleGoalError, InvalidPlanError, MissingObjectError
from hvr.execution.events import Finished
from hvr.plans import Judgement, Understanding
from hvr.run.account import accounted
from hvr.run.assembly import Assembly, assembled
from hvr.run.folder import RunFolder
from hvr.run.options import Options
from hvr.run.recorder import Listener
from hvr.run.request import read_request
from hvr.run.result import Run, result_of, summary


def plan(
    text: str | None = None,
    *,
    task: str | None = None,
    options: Options | None = None,
    listen: Listener | None = None,
) -> Run:
    """Plan a request, prove the plan, execute and watch it, and save the run.

    Args:
        text: the request, such as "make coffee"; or
        task: the id of one of the paper's tasks, such as "T2". Its sentence is the request;
            its gold goal is not looked at.
        options: how to run.
        listen: called with each event as it happens.

    Raises:
        LanguageError: the request was not understood.
        ImpossibleGoalError: it cannot be met in this scene; the message says why.
        PlannerError: no plan was found in the time allowed, or it does not validate.
        LLMError: the language model gave no usable answer; what it was asked and answered so
            far is in the error's `folder`.
        SceneError, UsageError, DataFileError: an option cannot be used.
        SimulatorError, MissingExtraError: AI2-THOR cannot be started, or has ended.
    """
    started = time.perf_counter()
    request = read_request(text, task, options or Options())
    folder = RunFolder.create(request.options.save, request.name, datetime.now())
    with accounted(folder, request.to_json()) as account:
        with assembled(request, folder, listen) as run:
            understanding = _understand(run)
            finished = _pursue(run, understanding)
            judgement = _judge(run, understanding, finished)
        seconds = time.perf_counter() - started
        result = result_of(run, understanding.goal, finished, judgement, seconds)
        account.finish(summary(result))
    return result


def _understand(run: Assembly) -> Understanding[Any]:
    """Return how the policy understands the request.

    When an object is missing, the error names scenes that have one.
    """
    try:
        understanding = run.policy.understand(
            run.request.text, run.world.graph, run.world.inventory()
        )
    except MissingObjectError as error:
        scenes = scenes_with(error.classes)
        where = f"scenes that have one: {', '.join(scenes)}" if scenes else "no scene has one"
        raise ImpossibleGoalError(f"{error}; {where}") from error
    run.recorder.understood(understanding)
    return understanding


def _pursue(run: Assembly, understanding: Understanding[Any]) -> Finished | None:
    """Plan, validate, execute and watch; return None if the plan is only made."""
    try:
        if run.request.options.execute:
            return run.executor.run(understanding.stages)
        run.executor.prepare(understanding.stages[0])
        return None
    except InvalidPlanError as error:
        if not run.policy.asks_model:
            raise
        # Without verification a model may well write what cannot be done: that is a result.
        steps, replans = len(run.recorder.steps), run.executor.replans
        finished = Finished(False, steps, replans, str(error))
        run.recorder(finished)
        return finished
    finally:
        for name, record in run.policy.records().items():
            run.folder.write_json(name, record)


def _judge(
    run: Assembly, understanding: Understanding[Any], finished: Finished | None
) -> Judgement:
    """Return whether the request was met, and let the policy keep a plan that met it."""
    if finished is None:
        return Judgement(None)
    judgement = run.policy.judge(
        understanding,
        Judgement(finished.reached, finished.reason),
        run.world.graph,
        run.world.inventory(),
    )
    if judgement.reached and len(run.recorder.planned) == 1:
        try:
            run.policy.keep(run.recorder.planned[0], run.folder.path.name)
        except DataFileError as error:
            reason = f"{judgement.reason}; nothing was added to the library: {error}"
            return Judgement(judgement.reached, reason)
    return judgement
