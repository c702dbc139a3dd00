"""Utilities that are independent of plans.

They cover files and locks, untrusted text and numbers, child processes, secrets and proxies.
`registry.py` finds implementations by name; each contract of hvr has such a `Registry`.
`engines/` runs independent cells of work in this process, in worker processes or on a Ray cluster.

Start with `registry.py`. Use `files.py` to write files: each write is atomic.
"""
