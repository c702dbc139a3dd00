"""Helpers that every other room uses, and that know nothing about plans.

They cover files and locks, text and numbers from outside, child processes, secrets and proxies.
`hvr.base.registry` holds implementations by name; each contract of hvr has such a `Registry`.
`hvr.base.engines` runs independent cells of work here, in several processes or on a Ray cluster.

Begin with `registry.py` to see how hvr finds code by name. Read `files.py` before you write a
file: hvr writes a file completely or not at all.
"""
