"""Segments, checkpoints and dump text to one stream of records."""

from .log_reading import LogItems, read_items

__all__ = ["LogItems", "read_items"]
