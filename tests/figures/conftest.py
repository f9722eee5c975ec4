"""The play of KAFKA-14139 as rows: without KIP-903, and with it."""

from __future__ import annotations

import pytest

from kiplab.figures.columns import Rows
from kiplab.figures.rows import rows_of
from kiplab.plays.library import load
from kiplab.plays.runner import run_play
from kiplab.protocol.features import parse_features


def rows_on(name: str, kafka: str, *off: str) -> Rows:
    return rows_of(run_play(load(name), parse_features(kafka, off=off)))


@pytest.fixture(scope="session")
def lossy() -> Rows:
    return rows_on("kafka-14139", "3.4")


@pytest.fixture(scope="session")
def saved() -> Rows:
    return rows_on("kafka-14139", "3.5")


@pytest.fixture(scope="session")
def two_by_two() -> tuple[Rows, ...]:
    """Neither KIP-841 nor KIP-903, 841 alone, 903 alone, both."""
    return tuple(
        rows_on("kafka-14139", "3.5", *off) for off in (("841", "903"), ("903",), ("841",), ())
    )
