"""The level "partition" as machine code: states are a few words, numba compiles the successors.

word_layout.py has the place of each field of a state, fitting.py decides which plays have words and
which guards have no effect here, packing.py turns a normal form into words;
partition_actions.py has the actions, compiled_search.py the search. tests/explore/test_compiled.py
compares it with the engine's own `step`, state by state. It refuses what it cannot express, with a
reason.
Needs numba and numpy (pip install kiplab[fleet]); nothing else of the explorer does.
"""
