"""Navigation of tools: finds, plans and makes the calls that satisfy a request."""
