"""Plans over tools instead of robot actions: chains of calls, executed and learnt from logs.

`Tool`, `ToolGraph` and `ToolPlan` (`tool_plans.py`) are the values of this room. `catalogue/`
reads descriptions of tools, `logs/` reads plans from agents' logs, and `retrieval/` finds the
tools for the steps of a plan.

Begin with `open_world` in `navigation/tool_world.py` (`hvr.open_tools`): it plans and executes a
request. `navigation/chains.py` decides the next call. `calling/environment.py` defines the
protocol `ToolEnvironment`; `calling/` implements it for Python, MCP and OpenAPI, and has the
guard between an agent and its tools.
"""
