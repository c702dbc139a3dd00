"""Plans with known errors, for measuring judges: demonstrations, damage, labels, scores."""
