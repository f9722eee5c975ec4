"""The level "partition" as machine code: states are a few words, numba compiles the successors.

It refuses what it cannot express, with a reason. tests/explore/test_compiled.py compares it with
the engine's own `step`, state by state.
Needs numba and numpy (pip install kiplab[fleet]); nothing else of the explorer does.
"""
