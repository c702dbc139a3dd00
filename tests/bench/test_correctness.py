"""Plan correctness: hand-worked cases, and brute force over all linearizations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.bench import metrics
from hvr.bench.metrics import best_correctness, plan_correctness, rename_objects
from hvr.pddl import GroundAction
from hvr.runs.tasks import GroundTruth


def truth_variants(
    plan: Sequence[GroundAction], truth: GroundTruth, valid: Callable[[GroundTruth], bool]
) -> Iterator[GroundTruth]:
    """Yield the ground truth and its valid renamings, to check the best-first search."""
    choices = [ways for _, ways in metrics._choices(plan, truth)]
    for number, chosen in enumerate(product(*choices)):
        variant = rename_objects(truth, {a: b for names in chosen for a, b in names.items()})
        if number == 0 or valid(variant):
            yield variant


def steps(text: str) -> tuple[GroundAction, ...]:
    """Parse `a b-1/c-2` as (a) (b-1 c-2): actions with arguments behind slashes."""
    return tuple(GroundAction(w.split("/")[0], tuple(w.split("/")[1:])) for w in text.split())


def truth(*blocks: str, order: tuple[tuple[int, int], ...] = ()) -> GroundTruth:
    return GroundTruth("FloorPlan1", tuple(map(steps, blocks)), order)


CHAIN = truth("a b", "c d", order=((1, 2),))
FREE = truth("a b", "c d")


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ("a b c d", 1.0),
        ("a x b x c x d x", 1.0),  # redundant steps are tolerated
        ("a b a b c a d", 1.0),
        ("", 0.0),
        ("b c d", 0.0),  # the first step is missing
        ("a b d", 0.5),  # the furthest step reached in order
        ("a c b d", 0.5),  # blocks are not interleaved
        ("c d a b", 0.5),  # the order of the blocks is fixed
    ],
)
def test_a_chain(plan: str, expected: float) -> None:
    assert plan_correctness(steps(plan), CHAIN) == expected


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ("c d a b", 1.0),  # the other linearization
        ("c d a", 0.75),
        ("a c b d", 0.5),
        ("d a c", 0.25),
        ("a c d b", 0.5),  # a, then c d or b: either block can be finished, but not both in order
    ],
)
def test_the_best_linearization_counts(plan: str, expected: float) -> None:
    assert plan_correctness(steps(plan), FREE) == expected


def test_an_empty_ground_truth_is_reached() -> None:
    assert plan_correctness(steps("a"), truth()) == 1.0


def test_arguments_matter() -> None:
    wanted = truth("pick_up/mug-1")
    assert plan_correctness(steps("pick_up/mug-2"), wanted) == 0.0
    assert plan_correctness(steps("pick_up/mug-1"), wanted) == 1.0


@st.composite
def cases(draw: st.DrawFn) -> tuple[tuple[GroundAction, ...], GroundTruth]:
    words = st.sampled_from("abc")
    blocks = draw(st.lists(st.lists(words, max_size=3), max_size=4))
    pairs = [(i, j) for i in range(1, len(blocks) + 1) for j in range(i + 1, len(blocks) + 1)]
    order = draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    plan = draw(st.lists(st.sampled_from("abcx"), max_size=14))
    return steps(" ".join(plan)), truth(*map(" ".join, blocks), order=tuple(sorted(order)))


def _brute_force(plan: tuple[GroundAction, ...], wanted: GroundTruth) -> float:
    best = 0
    numbers = range(1, len(wanted.blocks) + 1)
    for order in permutations(numbers):
        if any(order.index(a) > order.index(b) for a, b in wanted.order):
            continue
        sequence = [action for n in order for action in wanted.blocks[n - 1]]
        rest, matched = iter(plan), 0
        for action in sequence:
            if action not in rest:
                break
            matched += 1
        best = max(best, matched)
    return best / len(wanted.steps) if wanted.steps else 1.0


@pytest.mark.slow
@given(cases())
def test_it_is_what_trying_all_linearizations_gives(
    case: tuple[tuple[GroundAction, ...], GroundTruth],
) -> None:
    plan, wanted = case
    assert plan_correctness(plan, wanted) == pytest.approx(_brute_force(plan, wanted))


@pytest.mark.slow
@given(cases(), st.integers(0, 13), st.sampled_from("abcx"))
def test_a_further_step_never_lowers_it(
    case: tuple[tuple[GroundAction, ...], GroundTruth], place: int, word: str
) -> None:
    plan, wanted = case
    longer = (*plan[:place], *steps(word), *plan[place:])
    assert plan_correctness(longer, wanted) >= plan_correctness(plan, wanted)


# --- other objects of the same class ---

MUGS = truth("go/mug-1 take/mug-1", "put/mug-1/table-1 go/cup-1", order=((1, 2),))


def everything(_: GroundTruth) -> bool:
    return True


def test_another_object_of_the_class_is_as_good_where_that_is_valid() -> None:
    plan = steps("go/mug-2 take/mug-2 put/mug-2/table-1 go/cup-1")
    assert plan_correctness(plan, MUGS) == 0.0
    value, variant = best_correctness(plan, MUGS, everything)
    assert value == 1.0
    assert variant == rename_objects(MUGS, {"mug-1": "mug-2"})
    assert best_correctness(plan, MUGS, lambda _: False) == (0.0, MUGS)


def test_an_object_of_another_class_is_not() -> None:
    plan = steps("go/cup-2 take/cup-2 put/cup-2/table-1 go/cup-1")
    assert best_correctness(plan, MUGS, everything)[0] == 0.0


def test_one_object_cannot_play_two_roles() -> None:
    wanted = truth("take/mug-1 take/mug-2")
    assert best_correctness(steps("take/mug-3 take/mug-3"), wanted, everything)[0] == 0.5
    assert best_correctness(steps("take/mug-2 take/mug-1"), wanted, everything)[0] == 1.0


def test_variants_are_the_valid_renamings_that_the_plan_may_follow() -> None:
    plan = steps("take/mug-2 take/mug-3 wash/mug-4 take/cup-7")
    variants = list(truth_variants(plan, truth("take/mug-1"), everything))
    assert [str(v.steps[0]) for v in variants] == [
        "(take mug-1)", "(take mug-2)", "(take mug-3)",
    ]  # fmt: skip
    no_three = list(
        truth_variants(plan, truth("take/mug-1"), lambda v: v.steps[0].args != ("mug-3",))
    )
    assert len(no_three) == 2


def test_the_best_valid_variant_is_taken_when_a_better_one_is_not_valid() -> None:
    wanted = truth("go/mug-1 take/mug-1")
    plan = steps("go/mug-2 go/mug-3 take/mug-3")
    valid = lambda v: v.steps[0].args != ("mug-3",)  # noqa: E731
    value, variant = best_correctness(plan, wanted, valid)
    assert (value, variant.steps[0].args) == (0.5, ("mug-2",))


@st.composite
def kitchens(draw: st.DrawFn) -> tuple[tuple[GroundAction, ...], GroundTruth, set[str]]:
    def actions(numbers: st.SearchStrategy[int], size: int) -> list[str]:
        mug, cup = st.builds("mug-{}".format, numbers), st.builds("cup-{}".format, numbers)
        action = st.one_of(
            st.builds("go/{}".format, st.one_of(mug, cup)), st.builds("put/{}/{}".format, mug, cup)
        )
        return draw(st.lists(action, min_size=1, max_size=size))

    few, many = st.integers(1, 2), st.integers(1, 4)
    blocks = [" ".join(actions(few, 3)) for _ in range(draw(st.integers(1, 2)))]
    bad = draw(st.sets(st.sampled_from(["mug-2", "mug-3", "cup-3", "cup-4"]), max_size=2))
    return steps(" ".join(actions(many, 8))), truth(*blocks), bad


@pytest.mark.slow
@given(kitchens())
def test_the_best_variant_is_what_trying_all_of_them_gives(
    case: tuple[tuple[GroundAction, ...], GroundTruth, set[str]],
) -> None:
    plan, wanted, bad = case

    def valid(variant: GroundTruth) -> bool:
        return not any(name in bad for a in variant.steps for name in a.args)

    value, variant = best_correctness(plan, wanted, valid)
    assert value == max(plan_correctness(plan, v) for v in truth_variants(plan, wanted, valid))
    assert plan_correctness(plan, variant) == value
    assert variant == wanted or valid(variant)


@pytest.mark.slow
def test_other_objects_of_many_classes_are_found_all_the_same() -> None:
    kinds = ["mug", "cup", "pan", "pot", "bowl", "plate", "fork", "knife", "egg", "apple"]
    wanted = truth(*(f"go/{k}-1 take/{k}-1" for k in kinds))
    # Three candidates for each of ten classes: 59,049 renamings.
    plan = [steps(f"go/{k}-3 go/{k}-2 take/{k}-3 take/{k}-2") for k in kinds]
    value, _ = best_correctness([a for part in plan for a in part], wanted, everything)
    assert value == 1.0
