"""Random library entries and libraries."""

from __future__ import annotations

from hypothesis import strategies as st

from hvr.pddl import GroundAction
from hvr.planning.library import Entry, Library, Origin, Parameter, Use
from hvr.planning.library.entry import make

_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
"""Any text, including quotes, backslashes and characters that Turtle must escape."""
_NAMES = st.builds(
    lambda words, end: f"{words} ?mug1 {end}".strip(),
    _TEXT.map(lambda t: " ".join(t.replace("?", "").split())),
    st.sampled_from(["", "on ?plate1", "on ?plate1 again"]),
)
_PARAMETERS = (Parameter("?mug1", "mug"), Parameter("?plate1", "plate"))
_LITERALS = st.sampled_from([
    "(on ?mug1 ?plate1)", "(not (on ?mug1 ?plate1))", "(hand_empty)", "(contains ?mug1 coffee)",
])  # fmt: skip
_STEPS = st.sampled_from([
    GroundAction("pick_up", ("?mug1",)), GroundAction("put_on", ("?mug1", "?plate1")),
    GroundAction("wait", ()),
])  # fmt: skip
_ORIGINS = st.builds(
    Origin, request=_TEXT, scene=st.sampled_from(["", "FloorPlan1"]), model=_TEXT,
    simulated=st.booleans(), run=st.sampled_from(["", "a", "b"]),
)  # fmt: skip


@st.composite
def _uses(draw: st.DrawFn) -> Use:
    used = draw(st.integers(0, 9))
    return Use(draw(st.sampled_from(["a", "b", "c"])), used, draw(st.integers(0, used)))


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    uses = draw(st.lists(_uses(), max_size=3, unique_by=lambda u: u.run))
    return make(
        Entry(
            names=tuple(draw(st.lists(_NAMES, min_size=1, max_size=3))),
            parameters=_PARAMETERS,
            precondition=tuple(draw(st.lists(_LITERALS, max_size=2))),
            postcondition=tuple(draw(st.lists(_LITERALS, max_size=2))),
            steps=tuple(draw(st.lists(_STEPS, min_size=1, max_size=2))),
            agent=draw(st.sampled_from(["single-arm", "pusher"])),
            origins=tuple(draw(st.lists(_ORIGINS, max_size=2))),
            uses=tuple(uses),
        )
    )


libraries = st.lists(entries(), max_size=5).map(Library)
