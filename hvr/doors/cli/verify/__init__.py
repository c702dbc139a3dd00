"""`hvr verify`: does a plan do what was asked? Scored as a whole, by step and by link."""
