"""Breadth-first search over every interleaving: the question, its engine, the answer."""
