"""Rules about the model itself: what is wrong, superfluous or suspicious in it."""
