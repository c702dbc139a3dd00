"""The doors of hvr: the command line, and the process that AI2-THOR takes for Unity."""
