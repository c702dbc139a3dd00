"""The training of the learnt reader: examples, the network, and what it is measured by."""
