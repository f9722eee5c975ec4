"""One flag for the whole suite: `--rewrite` writes the golden transcripts anew. One profile of
hypothesis: no example is too slow.

And the play of KAFKA-14139 as rows: without KIP-903, and with it.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

from kiplab.rows.columns import Rows
from tests.kafka_14139 import rows_on

# How fast examples are made says how busy the machine is, and nothing of what is tested.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite",
        action="store_true",
        help="write golden transcripts anew; commit the difference only if you understand it",
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end: no search for garbage goes through it again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of several workers each gets the files with the fewest tests first: these take longest, and
    nobody is to begin one when the others have nothing left to do.
    """
    if hasattr(config, "workerinput"):
        tests = Counter(item.path for item in items)
        items.sort(key=lambda item: tests[item.path])


@pytest.fixture
def rewrite(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--rewrite"))


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
