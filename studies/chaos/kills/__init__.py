"""Group "kills": plan, bench and train, killed at moments that are drawn, and gone on with."""

from studies.chaos.checks import Group
from studies.chaos.kills import benches, plans, training

kills = Group("kills")
plans.add_to(kills)
benches.add_to(kills)
training.add_to(kills)

__all__ = ["kills"]
