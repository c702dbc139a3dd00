"""REFLECT's failure scenarios, executed in the kitchen under observation."""

from studies.reflect.player import Played, Score, play, score
from studies.reflect.scenarios import Scenario, load_scenarios

__all__ = ["Played", "Scenario", "Score", "load_scenarios", "play", "score"]
