"""Group "kills": plan, bench and train, killed at random moments and resumed."""

from studies.chaos.checks import Group
from studies.chaos.kills import benches, plans, training

kills = Group("kills")
plans.add_to(kills)
benches.add_to(kills)
training.add_to(kills)

__all__ = ["kills"]
