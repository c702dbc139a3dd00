"""Every packaged scene loads and is consistent; bad names and bad bytes are distinguished."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from hvr.errors import SceneError
from hvr.worlds import load_scene, scene_names
from hvr.worlds.scenes import parse_scene
from hvr.worlds.thor.observe import load_facts

ROOT = Path(__file__).parents[2]


def test_names_are_in_natural_order() -> None:
    numbers = [*range(1, 31), *range(201, 231), *range(301, 331), *range(401, 431)]
    assert scene_names() == tuple(f"FloorPlan{n}" for n in numbers)
    assert scene_names("kitchen") == scene_names()[:30]
    assert scene_names("home") == scene_names()[30:]


@pytest.mark.parametrize("name", scene_names())
def test_every_scene_is_sensible(name: str) -> None:
    scene = load_scene(name)
    by_id = {spec.object_id: spec for spec in scene.objects}
    assert len(by_id) == len(scene.objects) >= 25
    assert (scene.start_position[0], scene.start_position[2]) in scene.grid
    assert all((x * 4).is_integer() and (z * 4).is_integer() for x, z in scene.grid)
    for spec in scene.objects:
        assert spec.box.x0 <= spec.box.x1 and spec.box.y0 <= spec.box.y1, spec.object_id
        assert all(c in by_id for c in spec.controls or ()), spec.object_id
        kinds = [by_id[p].object_type for p in spec.parents]
        if spec.is_fixture:
            assert set(kinds) <= {"Floor"}, (spec.object_id, kinds)
        if "pickupable" in spec.properties:
            assert spec.parents, f"{spec.object_id} rests nowhere"
        if len(kinds) > 1:
            assert "Floor" not in kinds, spec.object_id
        for parent in spec.parents:
            assert "receptacle" in by_id[parent].properties
            assert spec.object_id not in by_id[parent].parents


def test_innermost_parent_comes_first() -> None:
    scene = load_scene("FloorPlan14")
    spatula = next(o for o in scene.objects if o.object_type == "Spatula")
    assert [p.split("|")[0] for p in spatula.parents] == ["Pot", "StoveBurner"]


def test_ending_of_ai2thor_is_accepted() -> None:
    assert load_scene("FloorPlan3_physics") == load_scene("FloorPlan3")


def test_unknown_scene_names_the_nearest() -> None:
    with pytest.raises(SceneError, match=r"unknown scene 'FloorPlan31'; did you mean FloorPlan3"):
        load_scene("FloorPlan31")


@pytest.mark.parametrize(
    "data", [b"", b"no gzip", gzip.compress(b"[]", mtime=0), gzip.compress(b"{", mtime=0)]
)
def test_damaged_file_is_a_scene_error(data: bytes) -> None:
    with pytest.raises(SceneError, match=r"x\.json\.gz is damaged"):
        parse_scene(data, "x.json.gz")


def test_facts_cover_every_type_and_every_piece() -> None:
    facts = load_facts()
    for name in scene_names():
        for spec in load_scene(name).objects:
            assert spec.object_type in facts.types
    assert facts.pieces_of("Bread") == ("BreadSliced", 8)
    assert facts.pieces_of("Egg") == ("EggCracked", 1)
    assert facts.pieces_of("Mug") is None
    assert "Toaster" in facts.types["BreadSliced"].placeable_in
    assert facts.accepts_only["CoffeeMachine"] == {"Mug"}


def unpacked(path: Path) -> bytes:
    """Return the content of a file; headers of packed files differ between Python versions."""
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


@pytest.mark.slow
def test_packaged_data_is_what_the_tool_makes(shared: Path, tmp_path: Path) -> None:
    data = shared / "ai2thor" / "object_types.json"
    (tmp_path / "data").mkdir()
    subprocess.run(
        [
            sys.executable, str(ROOT / "tools" / "build_scenes.py"),
            str(shared / "scenes"), str(shared / "scenes_other_rooms"), str(data),
            "--output", str(tmp_path / "data"), "--worlds", str(tmp_path / "worlds"),
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    made = [path for path in sorted(tmp_path.rglob("*")) if path.is_file()]
    assert len(made) == len(scene_names()) + 1
    for path in made:
        name = path.relative_to(tmp_path)
        packaged = ROOT / ("hvr/worlds" if name.parts[0] == "data" else "") / name
        assert unpacked(path) == unpacked(packaged)
    assert sum(path.stat().st_size for path in made) < 600_000
