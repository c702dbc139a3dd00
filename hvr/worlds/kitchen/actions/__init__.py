"""AI2-THOR's actions, played by rules of our own; `table.ACTIONS` lists them all."""
