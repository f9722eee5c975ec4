"""A Lab's history as frozen values: a bench, the tree of branches, the file."""
