"""Many questions of one kind: every subset of some guards, here or on Spark."""
