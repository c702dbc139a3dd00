"""`hvr tools`: plans and executes requests in tool worlds, and finds tools for plans."""
