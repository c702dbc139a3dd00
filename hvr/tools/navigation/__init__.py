"""Navigation of tools: find, plan and make the calls that satisfy a request."""
