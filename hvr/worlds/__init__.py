"""Environments: the embedded kitchen, AI2-THOR, and PDDL worlds.

An `Environment` (`environment.py`) accepts AI2-THOR's actions and returns its events; it knows no
PDDL. `thor/observe.py` converts its metadata to hvr's names and a `SceneGraph`.

Start with `environment.py`, where `ENVIRONMENTS` lists the environments by name. `kitchen/`
simulates AI2-THOR's rooms in Python, `thor/` runs AI2-THOR, and `faults/` injects faults. `facts/`
turns any PDDL domain into a world: a folder with `world.toml` (`facts/folder.py`) and a
`FactEnvironment` (`facts/environment.py`).
"""

from hvr.worlds.environment import Environment, Event
from hvr.worlds.kitchen import Kitchen, Snapshot
from hvr.worlds.scenes import Scene, load_scene, scene_names
from hvr.worlds.thor.observe import Names, scene_graph
from hvr.worlds.thor.skills import SKILLS, SkillResult, Step, perform

__all__ = [
    "SKILLS",
    "Environment",
    "Event",
    "Kitchen",
    "Names",
    "Scene",
    "SkillResult",
    "Snapshot",
    "Step",
    "load_scene",
    "perform",
    "scene_graph",
    "scene_names",
]
