"""Ways through tools: which calls lead from what is known to what is wanted."""
