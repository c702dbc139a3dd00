"""Kitchen plans as plan graphs, and the verifier for them that comes with hvr.

The symbolic validator proves that a plan can be carried out and reaches its goal. Whether it does
what was asked it cannot see: the goal may have been misread, or there may be none. These
modules hold a plan against the words of the request.

`links` and `linked_plan` say what each step needs and who brought it about, `outcome` what a plan
has done, `asked` what a request names, `likeness` which things a name fits, `marks` what the two
have to do with each other. `graph` makes the plan graph of it all. `misses` makes plans that miss
a request and `detours` others that do not, `families` what is learnt from; `shipped` is the
trained verifier. Only the last two need torch.
"""

from hvr.judging.verifier.kitchen.graph import graph_of, kitchen_graph
from hvr.judging.verifier.kitchen.kitchen_verifier import load_kitchen_verifier, verdict_of
from hvr.judging.verifier.kitchen.linked_plan import causal_links

__all__ = [
    "causal_links",
    "graph_of",
    "kitchen_graph",
    "load_kitchen_verifier",
    "verdict_of",
]
