"""REFLECT's failure scenarios, executed in the kitchen under observation."""

from studies.reflect.player import Played, play
from studies.reflect.scenarios import Scenario, load_scenarios
from studies.reflect.score import Score, score

__all__ = ["Played", "Scenario", "Score", "load_scenarios", "play", "score"]
