"""The level "partition" as machine code: states are a few words, successors are compiled by numba.

layout.py says where each field of a state is, frame.py which plays have words, packing.py goes
from a normal form to words, unpacking.py back; rules.py has the actions, search.py the search. It
is held to the engine's own `step`, state by state, by tests/explore/test_compiled.py; what it
cannot speak of, it refuses with a reason.
Needs numba and numpy (pip install kiplab[fleet]); nothing else of the explorer does.
"""
