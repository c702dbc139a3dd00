"""A model with overlong or endless answers gets feedback, or the plan ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hvr.errors import BudgetError
from hvr.models.errors import ModelError
from hvr.models.limits import Budget, Budgeted, Limits
from hvr.policies.llm.answers.conditions import LiteralText, MacroConditions
from hvr.policies.llm.conditions import MAX_LITERALS, with_conditions
from hvr.policies.llm.record import BlockWritten, MacroPlanWritten, PolicyEvent
from hvr.policies.llm.settings import PolicySettings
from hvr.policies.llm.writing import Writing
from tests.policies.llm.llm_worlds import Fake, answer_of, policy, predicted_scene, write

SMALL = {
    "select": "Mug",
    "macro_plan": "1. Pick up the mug",
    "conditions": "none",
    "correct_conditions": "none",
    "block": answer_of("pick_up mug-1"),
    "correct_block": answer_of("pick_up mug-1"),
    "plan": answer_of("pick_up mug-1"),
    "correct_plan": answer_of("pick_up mug-1"),
}
MANY = "\n".join(f"{i}. Pick up the mug number {i}" for i in range(1, 20_001))
LIMITS = PolicySettings()


def test_a_macro_plan_that_is_too_long_is_asked_for_again_with_the_reason() -> None:
    model = Fake({**SMALL, "macro_plan": [MANY, SMALL["macro_plan"]]})
    events: list[PolicyEvent] = []
    record = write(model, "HR", listen=events.append)
    first, second = model.prompts("macro_plan")
    assert "macro actions. Write at most 30.)" in second and "at most 30" not in first
    assert [e for e in events if isinstance(e, MacroPlanWritten)] == [
        MacroPlanWritten(("Pick up the mug",))
    ]
    assert len(record.blocks) == 1


def test_a_macro_plan_that_stays_too_long_ends_the_plan() -> None:
    model = Fake({**SMALL, "macro_plan": MANY})
    with pytest.raises(ModelError, match="more than the limit of 30, in two attempts"):
        write(model, "HVR+")
    assert model.asked("macro_plan") == 2 and model.asked("block") == 0


@pytest.mark.slow
def test_a_macro_plan_of_as_many_as_allowed_is_taken() -> None:
    titles = "\n".join(f"{i}. Pick up mug {'x' * 500}" for i in range(LIMITS.macro_limit))
    model = Fake({**SMALL, "macro_plan": titles})
    record = write(model, "HR")
    assert model.asked("macro_plan") == 1 and len(record.blocks) == LIMITS.macro_limit
    # Every later prompt contains the names.
    assert max(len(block.macro.name) for block in record.blocks) <= 200


@pytest.mark.slow
@pytest.mark.parametrize("line", ["toggle_on faucet-1", "pick_up zork-7"])
def test_a_block_that_is_too_long_is_cut_and_the_model_is_told(line: str) -> None:
    model = Fake({**SMALL, "block": answer_of(*[line] * 20_000)})
    events: list[PolicyEvent] = []
    write(model, "HVR", listen=events.append)
    written = next(e for e in events if isinstance(e, BlockWritten))
    assert len(written.actions) <= LIMITS.block_limit
    assert "actions are too many: 50 are allowed" in written.unmapped[0]
    assert len(written.unmapped) <= 20 and max(map(len, written.unmapped)) <= 300
    problem = model.prompts("correct_block")[0]
    assert "actions are too many: 50 are allowed" in problem and len(problem) < 10_000


def test_a_condition_that_is_too_long_is_cut_and_it_is_said() -> None:
    class Mapper:
        """Accepts every literal."""

        task = None

        def map_literal(self, text: LiteralText) -> tuple[str, str]:
            return text.text, ""

    literals = tuple(
        LiteralText("opened", (f"fridge-{i}",), True, f"(opened fridge-{i})") for i in range(5000)
    )
    remarks = tuple(f"remark {i}" for i in range(5000))
    (macro,), dropped = with_conditions(
        ["Open"],
        [MacroConditions(literals, (), remarks)],
        Mapper(),  # type: ignore[arg-type]
        frozenset(),
    )
    assert len(macro.precondition) == MAX_LITERALS
    assert f"the first {MAX_LITERALS} are read" in dropped[-1] and len(dropped) <= 11


# A model that never corrects itself, in each of the settings.


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["HVR+", "HVR", "HV", "VR"])
def test_a_model_that_never_gets_it_right_ends_within_the_calls_of_a_plan(setting: str) -> None:
    wrong = answer_of("toggle_on mug-1", "open_obj mug-1", "pick_up countertop-1")
    titles = "\n".join(f"{i}. Pick up the mug number {i}" for i in range(1, 31))
    answers = dict.fromkeys(("blocks", "block", "correct_block", "plan", "correct_plan"), wrong)
    model = Fake({**SMALL, "macro_plan": titles, **answers})
    budgeted = Budgeted(model, Budget(Limits(calls=40)))
    try:
        write(budgeted, setting)
    except BudgetError as error:
        assert error.field == "max_calls"
    assert 0 < len(model.requests) <= 40


@pytest.mark.slow
def test_corrections_of_a_block_are_bounded_by_its_length() -> None:
    # Each correction makes the block longer, which raises the number of corrections.
    def longer(request: object) -> str:
        del request
        return answer_of(*["put_on mug-1 fridge-1"] * (2 * model.asked("correct_block")))

    model = Fake({**SMALL, "block": answer_of("put_on mug-1 fridge-1"), "correct_block": longer})
    short = PolicySettings(block_limit=6, block_tries=None, planner_repair=False)
    equipment = replace(policy(model, "HVR").equipment, settings=short)
    Writing(equipment, "Do it", predicted_scene()).write()
    assert short.block_limit < model.asked("correct_block") <= 2 * short.block_limit
