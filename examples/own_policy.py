"""Plan with a policy of your own: the symbolic one, with all its steps in a single block."""

import hvr


class OneBlock(hvr.SymbolicPolicy):
    """A policy without a hierarchy."""

    def plan(self, stage, graph, inventory, reason=""):
        """Return the plan as one macro action."""
        planned = super().plan(stage, graph, inventory, reason)
        block = hvr.AABlock(hvr.MacroAction("do all of it"), planned.plan.actions)
        return planned.replace(plan=planned.plan.replace(blocks=(block,)))


if __name__ == "__main__":
    run = hvr.plan("make coffee", options=hvr.Options(policy="own_policy:OneBlock"))
    print(run.reached, [block.macro.name for ready in run.plans for block in ready.plan.blocks])
