"""Training of the learnt reader: examples, network and evaluation."""
