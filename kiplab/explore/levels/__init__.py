"""Levels of a search: how finely it divides events, and which states count as the same."""
