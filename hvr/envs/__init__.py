"""Environments: what every one offers, the embedded kitchen, names, observation, skills."""

from hvr.envs.base import Environment, Event
from hvr.envs.kitchen import Kitchen, Snapshot
from hvr.envs.naming import Names
from hvr.envs.scenes import Scene, load_scene, scene_names
from hvr.envs.thor.observe import scene_graph
from hvr.envs.thor.skills import SKILLS, SkillResult, Step, perform

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
