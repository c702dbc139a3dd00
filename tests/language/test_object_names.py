"""Objects whose names are written with a space."""

from __future__ import annotations

import pytest

from hvr.language.spelling import with_object_names
from tests.language.test_own_words import scene


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("open drawer 9", "open drawer-9"),
        ("put the mug in cabinet number 3.", "put the mug in cabinet-3."),
        ("if Cabinet 2 holds a cup, wash it", "if cabinet-2 holds a cup, wash it"),
        ("put in the drawer 2 forks", "put in the drawer 2 forks"),
        ("cook the egg 1 minute", "cook the egg 1 minute"),
        ("open drawer 77", "open drawer 77"),
    ],
)
def test_a_noun_with_a_number_is_a_name(text: str, meant: str) -> None:
    reader, inventory = scene("FloorPlan1")
    assert with_object_names(text, inventory, reader.taxonomy, reader.lexicon) == meant
