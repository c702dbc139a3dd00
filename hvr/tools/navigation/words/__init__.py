"""Reading of requests in words, without a language model."""
