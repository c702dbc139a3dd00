"""Plans over tools instead of robot actions: chains of calls, carried out and learnt from logs.

`Tool`, `ToolGraph` and `ToolPlan` (`tool_plans.py`) are the values of this room. `catalogue/`
makes tools from their descriptions, `logs/` plans from the logs of agents, `retrieval/` finds the
tools for the steps of a plan.

Begin with `open_world` in `navigation/tool_world.py` (`hvr.open_tools`): it plans a request and
carries it out. `navigation/chains.py` decides the next call, and `calling/environment.py` defines
the protocol `ToolEnvironment`; `calling/` implements it for Python, MCP and OpenAPI, and has the
guard between an agent and its tools.
"""

from importlib import import_module
from typing import Any

_WHERE = {"open": ("hvr.tools.navigation.tool_world", "open_world")}
"""Names that are imported on first use, like the names of `hvr`."""


def __getattr__(name: str) -> Any:
    """Return a name of the door.

    Raises:
        AttributeError: There is no such name.
    """
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _WHERE[name]
    return getattr(import_module(module), attribute)
