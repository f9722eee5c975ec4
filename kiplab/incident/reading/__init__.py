"""Segments, checkpoints and dump text to one stream of records."""
