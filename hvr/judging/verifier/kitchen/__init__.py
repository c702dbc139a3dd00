"""Kitchen plans as plan graphs, and the verifier for them that comes with hvr.

The symbolic validator proves that a plan can be carried out and reaches its goal. Whether it does
what was asked it cannot see: the goal may have been misread, or there may be none. These
modules hold a plan against the words of the request.

`linked_plan` says what each step needs and which step supplies it, `mentions` what a request
names, and `step_features` how well the steps and the plan's end match the request. `graph` makes
the plan graph of all three. `kitchen_verifier` loads the trained verifier.
"""

from hvr.judging.verifier.kitchen.kitchen_verifier import (
    graph_of,
    kitchen_graph,
    load_kitchen_verifier,
    verdict_of,
)
from hvr.judging.verifier.kitchen.linked_plan import causal_links

__all__ = [
    "causal_links",
    "graph_of",
    "kitchen_graph",
    "load_kitchen_verifier",
    "verdict_of",
]
