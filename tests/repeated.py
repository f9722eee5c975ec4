"""Values of a parametrised test that `make test-long` tries, beside those of `make test`."""

from collections.abc import Iterable
from typing import Any

import pytest

from kiplab.plays.library import names

COVERING = (
    *("343-partitioned-broker", "343-two-processes", "380-newer-epoch"),
    *("380-overwritten-checkpoint", "380-rising-session-ids", "380-stale-controlled-shutdown"),
    *("704-consumers", "704-election-epoch", "704-one-replica", "704-transactions"),
    *("841-rejoins", "841-removed-meanwhile", "consumer-nearby", "consumer-old-leader"),
    *("delete-records", "hole-level", "kafka-14139", "producer-lost-acknowledged"),
    *("producer-retries", "unclean-election-after-upgrade"),
)
"""Plays in which each kind of move, event and offer comes up that does in any play."""


def in_long(values: Iterable[Any], quick: str = "::", *, rows: bool = False) -> list[Any]:
    """These values, marked; `quick` names the test that tries the others, if it is another one.
    With `rows`, each has a value for every argument."""
    mark = pytest.mark.long(quick=quick)
    return [pytest.param(*(value if rows else (value,)), marks=mark) for value in values]


def every_play(plays: Iterable[str] | None = None) -> list[Any]:
    """The names of `plays`, or of all: `make test` tries those in COVERING."""
    others = (name for name in plays or names() if name not in COVERING)
    return [*COVERING, *in_long(others)]
