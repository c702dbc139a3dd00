"""Navigation of tools: plans and makes the calls that satisfy a request."""
