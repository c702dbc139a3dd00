"""REFLECT's failure scenarios, carried out in the kitchen and watched."""

from hvr.evaluation.reflect.player import Played, play
from hvr.evaluation.reflect.scenarios import Scenario, load_scenarios
from hvr.evaluation.reflect.score import Score, score

__all__ = ["Played", "Scenario", "Score", "load_scenarios", "play", "score"]
