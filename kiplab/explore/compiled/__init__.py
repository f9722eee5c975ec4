"""The level "partition" as machine code: states are a few words, successors are compiled by numba.

word_layout.py says where each field of a state is, fitting.py which plays have words,
compiled_guards.py which guards are compiled, packing.py goes from a normal form to words;
partition_actions.py has the actions, compiled_search.py the search. It is held to the engine's own
`step`, state by state, by tests/explore/test_compiled.py; what it cannot speak of, it refuses with
a reason.
Needs numba and numpy (pip install kiplab[fleet]); nothing else of the explorer does.
"""
