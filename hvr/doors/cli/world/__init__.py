"""`hvr world`: folders that say what there is to plan and act in."""
