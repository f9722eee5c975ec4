"""Breadth first over every interleaving: the question, who searches, the answer."""
