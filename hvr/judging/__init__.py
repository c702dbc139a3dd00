"""The judge of plans: which steps are superfluous, which are missing, and the proof of each."""
