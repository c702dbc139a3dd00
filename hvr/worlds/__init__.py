"""Environments: what every one offers, the embedded kitchen, names, observation, skills."""

from hvr.worlds.environment import Environment, Event
from hvr.worlds.kitchen import Kitchen, Snapshot
from hvr.worlds.naming import Names
from hvr.worlds.scenes import Scene, load_scene, scene_names
from hvr.worlds.thor.observe import scene_graph
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
