"""hvr under servers that misbehave, kills, full disks, odd terminals, and many of itself.

A check is a small function that makes one situation, lets hvr run in it as a process of its own,
and looks at what is left: `invariants` says what must hold in all of them.
"""
