"""A learnt reader of requests: encoder, head, frames, and the choice between readings."""
