"""Plans as the symbolic policy does, and makes a single block of the plan."""

from hvr import AABlock, MacroAction, SymbolicPolicy


class OneBlock(SymbolicPolicy):
    """A policy without a hierarchy."""

    def plan(self, stage, graph, inventory, reason=""):
        """Return the plan as one macro action."""
        planned = super().plan(stage, graph, inventory, reason)
        block = AABlock(MacroAction("do all of it"), planned.plan.actions)
        return planned.replace(plan=planned.plan.replace(blocks=(block,)))
