"""`hvr scene`: look at a kitchen, or serve one."""
