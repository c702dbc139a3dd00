"""Language models: one protocol, its providers, and the layers around them.

A `Model` (`model.py`) turns a `Request` into an `Answer`. `connect` in `connect.py` returns a model
with a usage meter and all its layers: recording, cache, retries, budgets, rate limit and guard.

Begin with `connect.py`: `PROVIDERS` lists the providers, and `stack` defines the order of the
layers. Each provider is a module (`openai_model.py`, `gemini.py`, `huggingface.py`). Its errors are
the `ModelError` of `errors.py`, whose `kind` decides whether hvr retries. `config.py` reads keys
and limits from the environment and pyproject.toml.
"""
