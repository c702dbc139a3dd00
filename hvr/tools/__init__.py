"""Chains of tool calls: planned, executed, and read from agents' logs.

`tool_plans.py` defines the package's values: `Tool`, `ToolGraph` and `ToolPlan`. `catalogue/` reads
tool descriptions, `logs/` reads agents' logs, and `retrieval/` finds the tools for the steps of a
plan.

Begin with `open_world` in `navigation/tool_world.py` (`hvr.open_tools`), which plans and executes
requests. `navigation/chains.py` chooses the next call. `calling/calls.py` defines the protocol
`ToolEnvironment`, which `calling/` implements for Python, MCP and OpenAPI; `calling/guard.py`
checks the calls between an agent and its tools.
"""
