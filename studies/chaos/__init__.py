"""Run hvr against misbehaving servers, kills, full disks, odd terminals and concurrent copies.

A check sets up one situation, runs hvr in it as a subprocess, and inspects the result. `invariants`
defines what must hold in every situation.
"""
