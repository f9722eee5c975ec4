"""A Lab's history as frozen values: a playback, the tree of branches, the file."""
