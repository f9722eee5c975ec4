"""The play of KAFKA-14139, and others, as rows."""

from functools import cache

from kiplab.plays.library import load
from kiplab.plays.runner import run_play
from kiplab.protocol.features import parse_features
from kiplab.rows.columns import Rows
from kiplab.rows.rows_of_stage import rows_of


@cache
def rows_on(name: str, kafka: str, *off: str) -> Rows:
    """The rows of a play under a release without some rules."""
    return rows_of(run_play(load(name), parse_features(kafka, off=off)))
