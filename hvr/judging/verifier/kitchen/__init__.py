"""Kitchen plans as plan graphs, and the trained verifier for them.

The symbolic validator proves that a plan is executable and reaches its goal. It cannot tell whether
the plan does what the request asks: the goal may have been misread, or be missing. The kitchen
verifier compares a plan with the words of the request.

`linked_plan` computes what each step needs and which step supplies it, `mentions` what a request
names, and `step_features` how well the steps and the final state match the request.
`kitchen_verifier` combines them in a plan graph and loads the trained verifier.
"""

from hvr.judging.verifier.kitchen.kitchen_verifier import (
    graph_of,
    load_kitchen_verifier,
    verdict_of,
)
from hvr.judging.verifier.kitchen.linked_plan import causal_links

__all__ = ["causal_links", "graph_of", "load_kitchen_verifier", "verdict_of"]
