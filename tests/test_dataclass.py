"""Lazy dataclasses against the standard ones."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

import hvr.dataclass as lazy

KINDS: list[dict[str, bool]] = [
    {"frozen": frozen, "slots": slots, "order": order}
    for frozen in (False, True)
    for slots in (False, True)
    for order in (False, True)
]


def make(module: Any, kind: dict[str, bool]) -> Callable[..., Any]:
    """Make the same class with either module."""

    @module.dataclass(**kind)
    class Place:
        name: str
        line: int = 1
        parts: list[int] = module.field(default_factory=list)
        hidden: str = module.field(default="x", compare=False, repr=False, kw_only=True)
        known: ClassVar[int] = 3

        def shown(self) -> str:
            return f"{self.name}:{self.line}"

    return Place


@lazy.dataclass(frozen=True, slots=True)
class Base:
    name: str
    size: int = 1


@lazy.dataclass(frozen=True, slots=True)
class Derived(Base):
    more: tuple[int, ...] = ()


@lazy.dataclass(frozen=True, slots=True)
class Own:
    value: float

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own) and round(self.value) == round(other.value)

    def __hash__(self) -> int:
        return round(self.value)

    def __repr__(self) -> str:
        return f"<{self.value}>"


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_it_does_what_the_standard_module_does(kind: dict[str, bool]) -> None:
    ours, theirs = make(lazy, kind), make(dataclasses, kind)
    for one, two in (
        (ours("a"), theirs("a")),
        (ours("b", 2, [3], hidden="y"), theirs("b", 2, [3], hidden="y")),
        (ours(name="c", parts=[1]), theirs(name="c", parts=[1])),
    ):
        assert repr(one) == repr(two)
        assert one.shown() == two.shown()
        assert one.hidden == two.hidden
        assert (one == ours("a")) == (two == theirs("a"))
        assert one != two
        assert one.__match_args__ == two.__match_args__
        assert dataclasses.asdict(one) == dataclasses.asdict(two)
        names = [f.name for f in dataclasses.fields(one)]
        assert names == [f.name for f in dataclasses.fields(two)]
        assert dataclasses.replace(one, line=9) == lazy.replace(one, line=9)
        assert repr(lazy.replace(one, hidden="z")) == repr(dataclasses.replace(two, hidden="z"))
        assert lazy.replace(two, line=9) == dataclasses.replace(two, line=9)
        assert hasattr(one, "__dict__") == hasattr(two, "__dict__")
    assert ours("a").parts is not ours("a").parts
    assert ours("a", hidden="1") == ours("a", hidden="2")
    if kind["order"]:
        assert ours("a") < ours("b")
        assert ours("a", 2) >= ours("a", 1)
        assert sorted([ours("b"), ours("a", 3), ours("a", 1)])[0].line == 1
    else:
        with pytest.raises(TypeError):
            _ = ours("a") < ours("b")


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_bad_calls_are_refused(kind: dict[str, bool]) -> None:
    ours = make(lazy, kind)
    for call in (lambda: ours(), lambda: ours("a", 1, [], "x"), lambda: ours("a", other=1)):
        with pytest.raises(TypeError, match="__init__"):
            call()


def test_frozen_values_do_not_change_and_can_be_hashed() -> None:
    value = Base("a", 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.name = "b"  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del value.name
    assert hash(value) == hash(Base("a", 2)) == hash(("a", 2))
    assert len({value, Base("a", 2), Base("b")}) == 2
    with pytest.raises(TypeError):
        hash(make(lazy, {})("a"))


def test_inheritance() -> None:
    value = Derived("a", more=(1,))
    assert repr(value) == "Derived(name='a', size=1, more=(1,))"
    assert value != Base("a")
    assert Derived.__slots__ == ("more",)  # type: ignore[attr-defined]
    assert dataclasses.is_dataclass(Derived)
    assert [f.name for f in dataclasses.fields(Derived)] == ["name", "size", "more"]
    assert [f.name for f in dataclasses.fields(Base)] == ["name", "size"]

    class Plain(Base):
        pass

    assert Plain("a").name == "a"
    assert Plain("a") == Plain("a")


def test_methods_of_the_class_are_kept() -> None:
    assert Own(1.2) == Own(0.9)
    assert len({Own(1.2), Own(0.9)}) == 1
    assert repr(Own(1.5)) == "<1.5>"


@pytest.mark.parametrize("value", [Base("a", 2), Derived("b", 3, (4,))])
def test_copies(value: Base) -> None:
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == copy.copy(value) == value


def test_pattern_matching() -> None:
    match Derived("a", 2, (3,)):
        case Derived(name, size, more):
            assert (name, size, more) == ("a", 2, (3,))


def test_the_standard_module_is_not_imported() -> None:
    code = (
        "import sys\nfrom hvr.dataclass import dataclass, replace\n"
        "@dataclass(frozen=True, slots=True)\nclass A:\n    x: int\n    y: int = 2\n"
        "assert replace(A(1), y=3) == A(1, 3) and hash(A(1)) and repr(A(1)) == 'A(x=1, y=2)'\n"
        "assert not {'dataclasses', 'inspect', 'typing'} & set(sys.modules), sys.modules"
    )
    root = Path(lazy.__file__).parents[1]
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": str(root)})
