"""Forms that a student fills in and reads: predictions, orderings, an overview."""
