"""`hvr tools`: which tools carry out the steps of a plan."""
