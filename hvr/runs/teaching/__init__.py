"""Chat examples for language models: prompts of the pipeline with answers from proven plans.

Begin reading in `lessons` (requests with proven plans), then `examples` (the prompts and answers).
"""
