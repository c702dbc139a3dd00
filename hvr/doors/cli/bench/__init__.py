"""`hvr bench`: tasks x settings x models x seeds, measured."""
