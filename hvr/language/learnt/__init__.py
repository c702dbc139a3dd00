"""A learnt reader of requests: encoder, head, frames, and agreement with the grammar."""
