"""Plans over tools instead of robot actions: chains of calls, carried out and learnt from logs.

`Tool`, `ToolGraph` and `ToolPlan` (`tool_plans.py`) are the values of this room. `catalogue/`
makes tools from their descriptions, `logs/` plans from the logs of agents, `retrieval/` finds the
tools for the steps of a plan.

Begin with `open_world` in `navigation/tool_world.py` (`hvr.open_tools`): it plans a request and
carries it out. `navigation/chains.py` decides the next call, and `calling/environment.py` defines
the protocol `ToolEnvironment`; `calling/` implements it for Python, MCP and OpenAPI, and has the
guard between an agent and its tools.
"""
